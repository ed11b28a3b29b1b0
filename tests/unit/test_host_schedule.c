/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules of host products. A checker replays a schedule with the contents of all slots:
 * every product must see the right tiles of A, B and C, and every access to a slot must be
 * ordered after the accesses that it conflicts with, by lanes and by `after` alone.
 */
#include "tests/unit/problems.h"

#include "runtime/host/schedule.h"

#include <stdlib.h>

enum { SIDE_MAX = 160, SLABS_MAX = 64, SLOTS_MAX = 12, NOTHING = -1 };

static struct gt_err err;

/* ---- cuts ---------------------------------------------------------------------------- */

static struct gt_host_cut cut_of(const char *name, int64_t tile_m, int64_t tile_n,
                                 int64_t tile_k) {
    struct gt_host_cut cut = {
        .sums = true, .tile = {tile_m, tile_n, tile_k}, .slots = {2, 2, 1}, .tail = 1};
    assert_int_equal(gt_problem_from_name(&cut.problem, name, &err), GEMMTUNE_OK);
    return cut;
}

static uint32_t seed = 1;

/* From `low` to `high`. */
static int64_t random_from(int64_t low, int64_t high) {
    seed = seed * 1664525U + 1013904223U;
    return low + (int64_t)((seed >> 8) % (uint32_t)(high - low + 1));
}

static struct gt_host_cut random_cut(void) {
    static const char *const layout[] = {"nn", "nt", "tn", "tt"};
    char name[64];
    const int64_t m = random_from(1, SIDE_MAX), n = random_from(1, SIDE_MAX),
                  k = random_from(1, SIDE_MAX);
    snprintf(name, sizeof name, "f32-%s-%dx%dx%d", layout[random_from(0, 3)], (int)m,
             (int)n, (int)k);
    struct gt_host_cut cut = cut_of(name, random_from(m / 6 + 1, m),
                                    random_from(n / 6 + 1, n), random_from(k / 6 + 1, k));
    cut.slots[GT_A] = (int)random_from(2, SLOTS_MAX);
    cut.slots[GT_B] = (int)random_from(2, SLOTS_MAX);
    cut.slots[GT_C] = (int)random_from(1, 3);
    cut.tail = (int)random_from(1, 4);
    cut.reads_c = random_from(0, 1) == 1;
    cut.sums = random_from(0, 9) > 0;
    return cut;
}

/* All tiles in one range. The caller frees them. */
static struct gt_host_tile *tiles_of(const struct gt_host_cut *cut, size_t *count) {
    struct gt_host_tile *tile = NULL;
    const double whole = 1;
    assert_int_equal(gt_host_tiles_make(&tile, count, cut, 1, &whole, &err), GEMMTUNE_OK);
    return tile;
}

static void make(struct gt_host_schedule *s, const struct gt_host_cut *cut) {
    size_t count = 0;
    struct gt_host_tile *tile = tiles_of(cut, &count);
    assert_int_equal(gt_host_schedule_init(s, cut, &err), GEMMTUNE_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(gt_host_schedule_tile(s, &tile[i], &err), GEMMTUNE_OK);
    free(tile);
}

/* ---- the checker --------------------------------------------------------------------- */

/* The contents of a slot, and the operations that touched it last. */
struct held {
    int64_t at[3], size[3]; /* of the operation that loaded it */
    bool filled;
    int64_t depth;          /* C: length of k that has been summed */
    bool slab[SLABS_MAX];   /* C: slabs that have been summed */
    int64_t write;          /* the last operation that wrote to it; NOTHING: none */
    int64_t read[GT_LANES]; /* the last of each lane that read it since then */
};

struct replay {
    const struct gt_host_schedule *s;
    struct held held[GT_OPERANDS][SLOTS_MAX];
    int64_t (*known)[GT_LANES]; /* of each operation: the last operation of each lane that
                                 * has ended before it begins */
    int64_t last[GT_LANES];     /* the last operation of each lane so far */
    int depth[SIDE_MAX][SIDE_MAX];  /* of each element of C: summed length of k */
    int loads[SIDE_MAX][SIDE_MAX];  /* how often it was copied in */
    int stores[SIDE_MAX][SIDE_MAX]; /* and out */
};

static const struct gt_host_op *op_at(const struct replay *r, int64_t i) {
    return &r->s->op[i];
}

/* Operation i knows all operations before it in its lane, the operations that it waits for,
 * and all that they know. */
static void learn(struct replay *r, int64_t i) {
    const struct gt_host_op *op = op_at(r, i);
    for (int lane = 0; lane < GT_LANES; lane++)
        r->known[i][lane] = NOTHING;
    for (int j = -1; j < GT_HOST_AFTER; j++) {
        const int64_t before = j < 0 ? r->last[op->lane] : op->after[j];
        if (before == NOTHING)
            continue;
        assert_in_range(before, 0, i - 1);
        for (int lane = 0; lane < GT_LANES; lane++)
            if (r->known[before][lane] > r->known[i][lane])
                r->known[i][lane] = r->known[before][lane];
        if (before > r->known[i][op_at(r, before)->lane])
            r->known[i][op_at(r, before)->lane] = before;
    }
    r->last[op->lane] = i;
}

static void assert_before(const struct replay *r, int64_t first, int64_t second) {
    if (first != NOTHING && r->known[second][op_at(r, first)->lane] < first)
        fail_msg("operation %d may begin while operation %d runs", (int)second, (int)first);
}

static void note_read(struct replay *r, struct held *h, int64_t i) {
    assert_before(r, h->write, i);
    h->read[op_at(r, i)->lane] = i;
}

static void note_write(struct replay *r, struct held *h, int64_t i) {
    assert_before(r, h->write, i);
    for (int lane = 0; lane < GT_LANES; lane++) {
        assert_before(r, h->read[lane], i);
        h->read[lane] = NOTHING;
    }
    h->write = i;
}

static struct held *held_by(struct replay *r, enum gt_operand x,
                            const struct gt_host_op *op) {
    assert_in_range(op->slot[x], 0, r->s->cut->slots[x] - 1);
    return &r->held[x][op->slot[x]];
}

/* The slot has what the operation needs along an axis. */
static void assert_axis(const struct held *h, const struct gt_host_op *op, int axis) {
    assert_true(h->filled);
    assert_int_equal(h->at[axis], op->at[axis]);
    assert_int_equal(h->size[axis], op->size[axis]);
}

static void begin_slot(struct held *h, const struct gt_host_op *op) {
    memcpy(h->at, op->at, sizeof h->at);
    memcpy(h->size, op->size, sizeof h->size);
    memset(h->slab, 0, sizeof h->slab);
    h->filled = true;
    h->depth = 0;
}

static void add_to(int cells[SIDE_MAX][SIDE_MAX], const struct gt_host_op *op, int value) {
    for (int64_t i = 0; i < op->size[0]; i++)
        for (int64_t j = 0; j < op->size[1]; j++)
            cells[op->at[0] + i][op->at[1] + j] += value;
}

static void replay_load(struct replay *r, int64_t i, enum gt_operand x) {
    const struct gt_host_op *op = op_at(r, i);
    struct held *h = held_by(r, x, op);
    note_write(r, h, i);
    begin_slot(h, op);
    if (x == GT_C)
        add_to(r->loads, op, 1);
}

static void replay_run(struct replay *r, int64_t i) {
    const struct gt_host_op *op = op_at(r, i);
    const struct gt_host_cut *cut = r->s->cut;
    struct held *c = held_by(r, GT_C, op);
    for (int x = GT_A; cut->sums && x <= GT_B; x++) {
        struct held *h = held_by(r, (enum gt_operand)x, op);
        note_read(r, h, i);
        assert_axis(h, op, x == GT_A ? 0 : 1);
        assert_axis(h, op, 2);
    }
    note_write(r, c, i);
    if (op->first && !cut->reads_c)
        begin_slot(c, op);
    assert_axis(c, op, 0);
    assert_axis(c, op, 1);
    assert_true(op->first == (c->depth == 0 || !cut->sums));
    if (cut->sums) {
        bool *slab = &c->slab[op->at[2] / cut->tile[2]];
        assert_false(*slab);
        *slab = true;
    }
    c->depth += op->size[2];
    assert_true(op->last == (!cut->sums || c->depth == cut->problem.k));
    add_to(r->depth, op, (int)op->size[2]);
}

static void replay_store(struct replay *r, int64_t i) {
    const struct gt_host_op *op = op_at(r, i);
    struct held *c = held_by(r, GT_C, op);
    note_read(r, c, i);
    assert_axis(c, op, 0);
    assert_axis(c, op, 1);
    assert_int_equal(c->depth, r->s->cut->sums ? r->s->cut->problem.k : 0);
    assert_int_equal(op_at(r, c->write)->kind, GT_RUN);
    add_to(r->stores, op, 1);
}

static void replay_op(struct replay *r, int64_t i) {
    static const enum gt_lane lane[] = {GT_LANE_AB, GT_LANE_AB, GT_LANE_C, GT_LANE_RUN,
                                        GT_LANE_OUT};
    const struct gt_host_op *op = op_at(r, i);
    assert_int_equal(op->lane, lane[op->kind]);
    learn(r, i);
    switch (op->kind) {
    case GT_RUN:
        replay_run(r, i);
        break;
    case GT_STORE_C:
        replay_store(r, i);
        break;
    default:
        replay_load(r, i, (enum gt_operand)op->kind);
        break;
    }
}

static void assert_covered(const struct replay *r) {
    const struct gt_host_cut *cut = r->s->cut;
    for (int64_t i = 0; i < cut->problem.m; i++)
        for (int64_t j = 0; j < cut->problem.n; j++) {
            assert_int_equal(r->depth[i][j], cut->sums ? cut->problem.k : 0);
            assert_int_equal(r->stores[i][j], 1);
            assert_int_equal(r->loads[i][j], cut->reads_c);
        }
}

static void check(const struct gt_host_cut *cut) {
    static struct replay r;
    struct gt_host_schedule s;
    make(&s, cut);
    memset(&r, 0, sizeof r);
    r.s = &s;
    r.known = calloc((size_t)s.count + 1, sizeof *r.known);
    assert_non_null(r.known);
    for (int lane = 0; lane < GT_LANES; lane++)
        r.last[lane] = NOTHING;
    for (int x = 0; x < GT_OPERANDS; x++)
        for (int i = 0; i < SLOTS_MAX; i++) {
            r.held[x][i].write = NOTHING;
            for (int lane = 0; lane < GT_LANES; lane++)
                r.held[x][i].read[lane] = NOTHING;
        }
    for (int64_t i = 0; i < s.count; i++)
        replay_op(&r, i);
    assert_covered(&r);
    free(r.known);
    gt_host_schedule_clear(&s);
}

static void test_random_cuts(void **state) {
    (void)state;
    for (int i = 0; i < 400; i++) {
        const struct gt_host_cut cut = random_cut();
        check(&cut);
    }
}

static void test_degenerate_cuts(void **state) {
    static const char *const name[] = {"f32-nn-1x1x1", "f32-tt-1x160x3", "f32-nt-160x1x90",
                                       "f32-tn-5x7x1"};
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (int64_t tile = 1; tile < 200; tile = 5 * tile + 3) {
            const struct gt_host_cut cut = cut_of(name[i], 4 * tile, 3 * tile, 2 * tile);
            check(&cut);
        }
}

/* ---- reuse --------------------------------------------------------------------------- */

static double bytes_of(const struct gt_host_schedule *s, enum gt_host_kind kind) {
    double bytes = 0;
    for (int64_t i = 0; i < s->count; i++)
        bytes += s->op[i].kind == kind ? gt_host_op_bytes(s->cut, &s->op[i]) : 0;
    return bytes;
}

/* 4 x 4 tiles of 16 x 16 and 4 slabs of 16: a tile of A or B has 1024 bytes. */
static void test_bytes(void **state) {
    static const struct {
        int slots_a, slots_b;
        double tiles_a, tiles_b; /* copied */
    } rows[] = {
        {16, 16, 16, 16}, /* everything is copied once */
        {16, 4, 16, 16},  /* A stays, and a panel of B serves a column of C */
        /* Of 16 tiles of C, each copies 4 tiles of A and 4 of B. At each of the 15 turns
         * the last slab is used again: with a row of C B's stays, at a new column A's
         * stays. */
        {2, 2, 64 - 3 * 2, 64 - 12 * 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_host_cut cut = cut_of("f32-nn-64x64x64", 16, 16, 16);
        struct gt_host_schedule s;
        cut.slots[GT_A] = rows[i].slots_a;
        cut.slots[GT_B] = rows[i].slots_b;
        cut.reads_c = true;
        make(&s, &cut);
        assert_true(bytes_of(&s, GT_LOAD_A) == 1024 * rows[i].tiles_a);
        assert_true(bytes_of(&s, GT_LOAD_B) == 1024 * rows[i].tiles_b);
        assert_true(bytes_of(&s, GT_LOAD_C) == 4 * 64 * 64);
        assert_true(bytes_of(&s, GT_STORE_C) == 4 * 64 * 64);
        assert_true(bytes_of(&s, GT_RUN) == 0);
        gt_host_schedule_clear(&s);
    }
}

/* With beta 0 no C is copied in, and with alpha 0 neither A nor B. */
static void test_what_is_not_needed(void **state) {
    struct gt_host_cut cut = cut_of("f32-nn-64x64x64", 16, 16, 16);
    struct gt_host_schedule s;
    (void)state;
    cut.sums = false;
    make(&s, &cut);
    assert_int_equal(s.count, 2 * 16);
    assert_true(bytes_of(&s, GT_STORE_C) == 4 * 64 * 64);
    gt_host_schedule_clear(&s);
    assert_int_equal(gt_host_slot_bytes(&cut), 16 * 16 * 4);
}

/* ---- tiles --------------------------------------------------------------------------- */

static void mark(int cells[SIDE_MAX][SIDE_MAX], const struct gt_host_tile *t) {
    for (int64_t i = 0; i < t->size[0]; i++)
        for (int64_t j = 0; j < t->size[1]; j++)
            cells[t->at[0] + i][t->at[1] + j]++;
}

/* Ranges of several devices cover C once, in proportion to their shares. */
static void test_ranges(void **state) {
    enum { PARTS = 5 };
    static int cells[SIDE_MAX][SIDE_MAX];
    (void)state;
    for (int round = 0; round < 100; round++) {
        struct gt_host_cut cut = random_cut();
        struct gt_host_tile *tile = NULL;
        double share[PARTS], sum = 0;
        size_t end[PARTS];
        const int parts = (int)random_from(1, PARTS);
        const double tiles =
            (double)(gt_host_tiles_along(&cut, 0) * gt_host_tiles_along(&cut, 1));
        cut.tail = 1;
        for (int i = 0; i < parts; i++)
            sum += share[i] = (double)random_from(1, 100);
        for (int i = 0; i < parts; i++)
            share[i] /= sum;
        assert_int_equal(gt_host_tiles_make(&tile, end, &cut, parts, share, &err),
                         GEMMTUNE_OK);
        for (int i = 0; i < parts; i++) {
            const size_t begin = i > 0 ? end[i - 1] : 0;
            assert_true(end[i] >= begin);
            assert_true((double)(end[i] - begin) >= share[i] * tiles - 1.001);
            assert_true((double)(end[i] - begin) <= share[i] * tiles + 1.001);
        }
        memset(cells, 0, sizeof cells);
        for (size_t i = 0; i < end[parts - 1]; i++)
            mark(cells, &tile[i]);
        for (int64_t i = 0; i < cut.problem.m; i++)
            for (int64_t j = 0; j < cut.problem.n; j++)
                assert_int_equal(cells[i][j], 1);
        free(tile);
    }
}

/* The last tile of each range is cut into strips of a multiple of 64 rows. */
static void test_tail(void **state) {
    static const struct {
        int64_t tile_m;
        int tail, strips;
        int64_t rows[4];
    } rows[] = {
        {160, 1, 1, {160}},    {160, 4, 3, {64, 64, 32}}, {160, 2, 2, {128, 32}},
        {128, 4, 2, {64, 64}}, {64, 4, 1, {64}},          {7, 3, 1, {7}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_host_cut cut = cut_of("f32-nn-160x40x8", rows[i].tile_m, 20, 8);
        struct gt_host_tile *tile = NULL;
        const double share[2] = {0.5, 0.5};
        size_t end[2];
        cut.problem.m = rows[i].tile_m;
        cut.tail = rows[i].tail;
        assert_int_equal(gt_host_tiles_make(&tile, end, &cut, 2, share, &err), GEMMTUNE_OK);
        assert_int_equal(end[0], rows[i].strips);
        assert_int_equal(end[1], 2 * rows[i].strips);
        for (int range = 0; range < 2; range++) {
            int64_t from = 0;
            for (int j = 0; j < rows[i].strips; j++) {
                const struct gt_host_tile *t = &tile[range * rows[i].strips + j];
                assert_int_equal(t->at[0], from);
                assert_int_equal(t->size[0], rows[i].rows[j]);
                assert_int_equal(t->at[1], 20 * range);
                assert_int_equal(t->size[1], 20);
                from += t->size[0];
            }
        }
        free(tile);
    }
}

/* Stored matrices: a transposed operand's rows run along k. */
static void test_regions(void **state) {
    struct gt_host_cut cut = cut_of("f32-tt-100x90x80", 50, 30, 20);
    const struct gt_host_op op = {
        .kind = GT_LOAD_A, .at = {50, 60, 20}, .size = {41, 23, 17}};
    struct gt_host_region a = gt_host_region_of(&cut, GT_A, &op);
    struct gt_host_region b = gt_host_region_of(&cut, GT_B, &op);
    struct gt_host_region c = gt_host_region_of(&cut, GT_C, &op);
    (void)state;
    assert_true(a.row == 20 && a.col == 50 && a.rows == 17 && a.cols == 41);
    assert_true(b.row == 60 && b.col == 20 && b.rows == 23 && b.cols == 17);
    assert_true(c.row == 50 && c.col == 60 && c.rows == 41 && c.cols == 23);
    assert_true(gt_host_op_bytes(&cut, &op) == 4.0 * 17 * 41);
    const struct gt_host_buffer buffer = gt_host_buffer_of(&cut, GT_A);
    assert_int_equal(buffer.rows, 20);
    assert_int_equal(buffer.cols, 50);
    assert_int_equal(buffer.ld, 64); /* rows begin at multiples of 64 bytes */
    assert_int_equal(buffer.bytes, 20 * 64 * 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_cuts), cmocka_unit_test(test_degenerate_cuts),
        cmocka_unit_test(test_bytes),       cmocka_unit_test(test_what_is_not_needed),
        cmocka_unit_test(test_ranges),      cmocka_unit_test(test_tail),
        cmocka_unit_test(test_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
