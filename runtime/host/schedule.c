/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/schedule.h"

#include "core/bytes.h"

#include <stdlib.h>
#include <string.h>

/* The rows of a strip are a multiple of this, so that kernels get full tiles of their own.
 * The last strip of a tile has the rest of its rows. */
enum { STRIP_ROWS = 64 };

/* The axes of each operand's tile: A along m and k, B along k and n, C along m and n. */
static const int axes[GT_OPERANDS][2] = {{0, 2}, {2, 1}, {0, 1}};

static int64_t extent(const gemmtune_problem *p, int axis) {
    const int64_t all[3] = {p->m, p->n, p->k};
    return all[axis];
}

static int64_t least(int64_t x, int64_t y) {
    return x < y ? x : y;
}

/* ---- tiles --------------------------------------------------------------------------- */

int64_t gt_host_tiles_along(const struct gt_host_cut *cut, int axis) {
    return (extent(&cut->problem, axis) + cut->tile[axis] - 1) / cut->tile[axis];
}

static gemmtune_dtype type_of(const gemmtune_problem *p, enum gt_operand operand) {
    const gemmtune_dtype type[GT_OPERANDS] = {p->type_a, p->type_b, p->type_c};
    return type[operand];
}

static bool is_turned(const gemmtune_problem *p, enum gt_operand operand) {
    return (operand == GT_A && p->trans_a == GEMMTUNE_TRANS) ||
           (operand == GT_B && p->trans_b == GEMMTUNE_TRANS);
}

struct gt_host_buffer gt_host_buffer_of(const struct gt_host_cut *cut,
                                        enum gt_operand operand) {
    const gemmtune_problem *p = &cut->problem;
    const int64_t size = gt_host_element_bytes(cut, operand);
    const int turned = is_turned(p, operand);
    const int64_t rows = cut->tile[axes[operand][turned]];
    const int64_t cols = cut->tile[axes[operand][!turned]];
    const int64_t line = GT_HOST_ROW_ALIGN / size;
    const int64_t ld = (cols + line - 1) / line * line;
    return (struct gt_host_buffer){rows, cols, ld, gt_bytes_product(rows, ld * size)};
}

int64_t gt_host_slot_bytes(const struct gt_host_cut *cut) {
    int64_t bytes = 0;
    for (int i = 0; i < GT_OPERANDS; i++)
        if (cut->sums || i == GT_C)
            bytes = gt_bytes_sum(
                bytes, gt_bytes_product(cut->slots[i],
                                        gt_host_buffer_of(cut, (enum gt_operand)i).bytes));
    return bytes;
}

/* Tile i of C in the order of the walk. */
static struct gt_host_tile tile_at(const struct gt_host_cut *cut, int64_t i) {
    const int64_t down = gt_host_tiles_along(cut, 0);
    const int64_t col = i / down, step = i % down;
    const int64_t row = col % 2 == 0 ? step : down - 1 - step;
    struct gt_host_tile t = {.at = {row * cut->tile[0], col * cut->tile[1]}};
    for (int axis = 0; axis < 2; axis++)
        t.size[axis] = least(cut->tile[axis], extent(&cut->problem, axis) - t.at[axis]);
    return t;
}

/* Cuts a tile into at most `strips` strips of rows; returns how many. */
static size_t put_strips(struct gt_host_tile *out, struct gt_host_tile tile, int strips) {
    const int64_t all = tile.size[0], part = (all + strips - 1) / strips;
    const int64_t rows = (part + STRIP_ROWS - 1) / STRIP_ROWS * STRIP_ROWS;
    size_t count = 0;
    for (int64_t done = 0; done < all; done += rows, count++) {
        out[count] = tile;
        out[count].at[0] = tile.at[0] + done;
        out[count].size[0] = least(rows, all - done);
    }
    return count;
}

gt_status gt_host_tiles_make(struct gt_host_tile **out, size_t *end,
                             const struct gt_host_cut *cut, int parts, const double *share,
                             struct gt_err *err) {
    const int64_t tiles = gt_host_tiles_along(cut, 0) * gt_host_tiles_along(cut, 1);
    const size_t room = (size_t)tiles + (size_t)parts * (size_t)cut->tail;
    struct gt_host_tile *list = calloc(room > 0 ? room : 1, sizeof *list);
    *out = list;
    if (list == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    double upto = 0;
    int64_t i = 0;
    size_t count = 0;
    for (int part = 0; part < parts; part++) {
        upto += share[part];
        const int64_t stop =
            part == parts - 1 ? tiles : least(tiles, (int64_t)(upto * (double)tiles + 0.5));
        for (; i < stop; i++)
            count +=
                put_strips(list + count, tile_at(cut, i), i == stop - 1 ? cut->tail : 1);
        end[part] = count;
    }
    return GEMMTUNE_OK;
}

/* ---- operations ---------------------------------------------------------------------- */

const char *gt_host_lane_name(enum gt_lane lane) {
    static const char *const name[GT_LANES] = {"A and B in", "C in", "products", "C out"};
    return name[lane];
}

gt_status gt_host_schedule_init(struct gt_host_schedule *s, const struct gt_host_cut *cut,
                                struct gt_err *err) {
    *s = (struct gt_host_schedule){.cut = cut};
    for (int i = 0; i < GT_OPERANDS; i++) {
        s->slot[i] = calloc((size_t)cut->slots[i], sizeof *s->slot[i]);
        if (s->slot[i] == NULL) {
            gt_host_schedule_clear(s);
            return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        }
        for (int j = 0; j < cut->slots[i]; j++)
            s->slot[i][j].ready = s->slot[i][j].use = -1;
    }
    return GEMMTUNE_OK;
}

void gt_host_schedule_clear(struct gt_host_schedule *s) {
    for (int i = 0; i < GT_OPERANDS; i++) {
        free(s->slot[i]);
        s->slot[i] = NULL;
    }
    free(s->op);
    s->op = NULL;
}

static gt_status append(struct gt_host_schedule *s, const struct gt_host_op *op,
                        struct gt_err *err) {
    if (s->count == s->room) {
        const int64_t room = s->room > 0 ? 2 * s->room : 256;
        struct gt_host_op *grown = realloc(s->op, (size_t)room * sizeof *grown);
        if (grown == NULL)
            return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        s->op = grown;
        s->room = room;
    }
    s->op[s->count++] = *op;
    return GEMMTUNE_OK;
}

static bool holds(const struct gt_host_slot *slot, const int64_t at[2],
                  const int64_t size[2]) {
    return slot->ready >= 0 && memcmp(slot->at, at, sizeof slot->at) == 0 &&
           memcmp(slot->size, size, sizeof slot->size) == 0;
}

/* The slot that holds the tile, else the least recently used slot. */
static int slot_for(const struct gt_host_schedule *s, enum gt_operand operand,
                    const int64_t at[2], const int64_t size[2]) {
    int oldest = 0;
    for (int i = 0; i < s->cut->slots[operand]; i++) {
        const struct gt_host_slot *slot = &s->slot[operand][i];
        if (holds(slot, at, size))
            return i;
        if (slot->use < s->slot[operand][oldest].use)
            oldest = i;
    }
    return oldest;
}

/* Brings the tile of A or B that `run` needs into a slot, unless it is there. */
static gt_status provide(struct gt_host_schedule *s, struct gt_host_op *run,
                         enum gt_operand operand, struct gt_err *err) {
    const int *axis = axes[operand];
    const int64_t at[2] = {run->at[axis[0]], run->at[axis[1]]};
    const int64_t size[2] = {run->size[axis[0]], run->size[axis[1]]};
    const int i = slot_for(s, operand, at, size);
    struct gt_host_slot *slot = &s->slot[operand][i];
    run->slot[operand] = i;
    if (!holds(slot, at, size)) {
        struct gt_host_op load = {.kind = operand == GT_A ? GT_LOAD_A : GT_LOAD_B,
                                  .lane = GT_LANE_AB,
                                  .slot = {-1, -1, -1},
                                  .after = {slot->use, -1, -1}};
        load.slot[operand] = i;
        memcpy(load.at, run->at, sizeof load.at);
        memcpy(load.size, run->size, sizeof load.size);
        memcpy(slot->at, at, sizeof at);
        memcpy(slot->size, size, sizeof size);
        slot->ready = s->count;
        slot->use = s->count; /* until `run` is appended */
        const gt_status status = append(s, &load, err);
        if (status != GEMMTUNE_OK)
            return status;
    }
    run->after[operand] = slot->ready;
    return GEMMTUNE_OK;
}

/* Appends the product of one slab. */
static gt_status add_slab(struct gt_host_schedule *s, struct gt_host_op run,
                          struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = GT_A; s->cut->sums && status == GEMMTUNE_OK && i <= GT_B; i++)
        status = provide(s, &run, (enum gt_operand)i, err);
    if (status != GEMMTUNE_OK)
        return status;
    for (int i = 0; i < GT_OPERANDS; i++)
        if (run.slot[i] >= 0)
            s->slot[i][run.slot[i]].use = s->count;
    return append(s, &run, err);
}

/* Copies a tile of C in when it is needed. *ready: the operation after which the slot may
 * be written to. */
static gt_status begin_tile(struct gt_host_schedule *s, const struct gt_host_op *base,
                            int64_t *ready, struct gt_err *err) {
    struct gt_host_slot *slot = &s->slot[GT_C][base->slot[GT_C]];
    *ready = slot->ready; /* the slot's last tile has been copied out */
    if (!s->cut->reads_c)
        return GEMMTUNE_OK;
    struct gt_host_op load = *base;
    load.kind = GT_LOAD_C;
    load.lane = GT_LANE_C;
    load.after[0] = *ready;
    *ready = s->count;
    return append(s, &load, err);
}

static gt_status end_tile(struct gt_host_schedule *s, const struct gt_host_op *base,
                          struct gt_err *err) {
    struct gt_host_op store = *base;
    store.kind = GT_STORE_C;
    store.lane = GT_LANE_OUT;
    store.after[0] = s->count - 1;
    s->slot[GT_C][base->slot[GT_C]].ready = s->count;
    return append(s, &store, err);
}

gt_status gt_host_schedule_tile(struct gt_host_schedule *s, const struct gt_host_tile *tile,
                                struct gt_err *err) {
    const struct gt_host_cut *cut = s->cut;
    const int64_t depth = cut->problem.k;
    const int64_t slabs = cut->sums ? gt_host_tiles_along(cut, 2) : 1;
    const bool back = s->walked % 2 == 1;
    struct gt_host_op base = {.slot = {-1, -1, (int)(s->walked % cut->slots[GT_C])},
                              .at = {tile->at[0], tile->at[1], 0},
                              .size = {tile->size[0], tile->size[1], 0},
                              .after = {-1, -1, -1}};
    int64_t ready = -1;
    gt_status status = begin_tile(s, &base, &ready, err);
    for (int64_t i = 0; status == GEMMTUNE_OK && i < slabs; i++) {
        struct gt_host_op run = base;
        run.kind = GT_RUN;
        run.lane = GT_LANE_RUN;
        run.first = i == 0;
        run.last = i == slabs - 1;
        run.after[2] = i == 0 ? ready : -1;
        if (cut->sums) {
            run.at[2] = (back ? slabs - 1 - i : i) * cut->tile[2];
            run.size[2] = least(cut->tile[2], depth - run.at[2]);
        }
        status = add_slab(s, run, err);
    }
    s->walked++;
    return status == GEMMTUNE_OK ? end_tile(s, &base, err) : status;
}

struct gt_host_region gt_host_region_of(const struct gt_host_cut *cut,
                                        enum gt_operand operand,
                                        const struct gt_host_op *op) {
    const int turned = is_turned(&cut->problem, operand);
    const int row = axes[operand][turned], col = axes[operand][!turned];
    return (struct gt_host_region){op->at[row], op->at[col], op->size[row], op->size[col]};
}

int64_t gt_host_element_bytes(const struct gt_host_cut *cut, enum gt_operand operand) {
    return (int64_t)gt_type_size(type_of(&cut->problem, operand));
}

enum gt_operand gt_host_operand_of(const struct gt_host_op *op) {
    static const enum gt_operand operand[] = {[GT_LOAD_A] = GT_A,
                                              [GT_LOAD_B] = GT_B,
                                              [GT_LOAD_C] = GT_C,
                                              [GT_RUN] = GT_C,
                                              [GT_STORE_C] = GT_C};
    return operand[op->kind];
}

double gt_host_op_bytes(const struct gt_host_cut *cut, const struct gt_host_op *op) {
    if (op->kind == GT_RUN)
        return 0;
    const enum gt_operand x = gt_host_operand_of(op);
    const struct gt_host_region r = gt_host_region_of(cut, x, op);
    return (double)(r.rows * r.cols * gt_host_element_bytes(cut, x));
}
