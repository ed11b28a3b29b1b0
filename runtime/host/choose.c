/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.c - the choice of tiles and numbers of slots. Candidates are divisions of m, n and
 * k into nearly equal parts, from a short list of numbers of parts. Each is tried with
 * several ways to spend the remaining memory on more slots of A and B. The forecast
 * decides.
 */
#include "runtime/host/forecast.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    FINE = 16,      /* tile sizes are multiples of this */
    COARSE = 128,   /* larger ones, from eight times this on, are multiples of this */
    TILES_MAX = 32, /* tiles of C along one side of a usual candidate */
    FEW_MAX = 2048, /* products of a usual candidate */
    PRODUCTS_MAX = 1 << 24, /* products of any candidate, since a run keeps notes of each */
    STRIPS = 4,             /* of the last tile of C */
    SLABS_FIVE = 8          /* slabs as large as a tile of C, in the paper's scheme */
};

static const int divisions[] = {1,  2,  3,  4,  6,   8,   12,  16,  24,
                                32, 48, 64, 96, 128, 256, 512, 1024};
enum { DIVISIONS = sizeof divisions / sizeof *divisions };

static int64_t rounded_up(int64_t x, int64_t unit) {
    return (x + unit - 1) / unit * unit;
}

/* The size of `parts` nearly equal parts of a side, rounded to a multiple. With one part:
 * the side itself. */
static int64_t part_size(int64_t side, int64_t parts) {
    const int64_t part = (side + parts - 1) / parts;
    const int64_t size = rounded_up(part, part >= 8 * COARSE ? COARSE : FINE);
    return size < side ? size : side > 0 ? side : 1;
}

/* ---- memory -------------------------------------------------------------------------- */

static double products_of(const struct gt_host_cut *cut) {
    return (double)gt_host_tiles_along(cut, 0) * (double)gt_host_tiles_along(cut, 1) *
           (cut->sums ? (double)gt_host_tiles_along(cut, 2) : 1);
}

/* Bytes of the largest tile that the device holds. */
static int64_t largest_tile(const struct gt_host_cut *cut) {
    int64_t bytes = 0;
    for (int i = 0; i < GT_OPERANDS; i++) {
        const int64_t own = gt_host_buffer_of(cut, (enum gt_operand)i).bytes;
        if ((cut->sums || i == GT_C) && own > bytes)
            bytes = own;
    }
    return bytes;
}

static bool fits(const struct gt_host_cut *cut, const struct gt_host_limits *limits) {
    return largest_tile(cut) <= limits->max_alloc &&
           gt_host_slot_bytes(cut) <= limits->memory && products_of(cut) <= PRODUCTS_MAX;
}

/* How many slots of an operand are useful for its tiles. */
static int64_t useful_slots(const struct gt_host_cut *cut, enum gt_operand operand) {
    const int other = operand == GT_A ? 0 : 1;
    const int64_t all = gt_host_tiles_along(cut, other) * gt_host_tiles_along(cut, 2);
    return all > 2 ? all : 2;
}

/* Gives an operand all slots that are useful, or as many as fit. */
static void add_slots(struct gt_host_cut *cut, enum gt_operand operand, int64_t most,
                      const struct gt_host_limits *limits) {
    const int64_t left = limits->memory - gt_host_slot_bytes(cut);
    const int64_t room = left / gt_host_buffer_of(cut, operand).bytes;
    const int64_t useful = useful_slots(cut, operand);
    int64_t slots = cut->slots[operand] + room;
    slots = slots < useful ? slots : useful;
    slots = slots < most ? slots : most;
    if (slots > cut->slots[operand])
        cut->slots[operand] = (int)slots;
}

/* Ways to spend the memory on slots of A and B: as many as fit of one and then of the
 * other, or only a panel of one tile's row or column and then the other. */
enum spending { A_THEN_B, B_THEN_A, PANELS, FEW, SPENDINGS };

static void spend(struct gt_host_cut *cut, enum spending how,
                  const struct gt_host_limits *limits) {
    const int64_t panel = gt_host_tiles_along(cut, 2) + 2, all = 1024;
    switch (how) {
    case A_THEN_B:
        add_slots(cut, GT_B, 3, limits);
        add_slots(cut, GT_A, all, limits);
        add_slots(cut, GT_B, all, limits);
        break;
    case B_THEN_A:
        add_slots(cut, GT_A, 3, limits);
        add_slots(cut, GT_B, all, limits);
        add_slots(cut, GT_A, all, limits);
        break;
    case PANELS:
        add_slots(cut, GT_B, panel, limits);
        add_slots(cut, GT_A, panel, limits);
        break;
    default:
        add_slots(cut, GT_A, 4, limits);
        add_slots(cut, GT_B, 4, limits);
        break;
    }
}

/* ---- the search ---------------------------------------------------------------------- */

struct search {
    const struct gt_host_limits *limits;
    const struct gt_host_rates *rates;
    struct gt_host_choices best; /* no two with the same tiles */
};

static bool has_tiles_of(const struct gt_host_cut *x, const struct gt_host_cut *y) {
    return x->tile[0] == y->tile[0] && x->tile[1] == y->tile[1] && x->tile[2] == y->tile[2];
}

/* Takes out the candidate at a place. */
static void drop(struct gt_host_choices *best, int at) {
    for (best->count--; at < best->count; at++) {
        best->cut[at] = best->cut[at + 1];
        best->seconds[at] = best->seconds[at + 1];
    }
}

/* Puts a candidate into its place among the best, unless one with the same tiles is faster;
 * the last one leaves when there are too many. */
static void keep(struct gt_host_choices *best, const struct gt_host_cut *cut,
                 double seconds) {
    for (int i = 0; i < best->count; i++)
        if (has_tiles_of(&best->cut[i], cut)) {
            if (best->seconds[i] <= seconds)
                return;
            drop(best, i);
        }
    if (best->count == GT_HOST_CHOICES) {
        if (best->seconds[best->count - 1] <= seconds)
            return;
        drop(best, best->count - 1);
    }
    int at = best->count++;
    for (; at > 0 && seconds < best->seconds[at - 1]; at--) {
        best->cut[at] = best->cut[at - 1];
        best->seconds[at] = best->seconds[at - 1];
    }
    best->cut[at] = *cut;
    best->seconds[at] = seconds;
}

static gt_status consider(struct search *s, const struct gt_host_cut *cut,
                          struct gt_err *err) {
    double seconds = 0;
    if (!fits(cut, s->limits))
        return GEMMTUNE_OK;
    const gt_status status =
        gt_host_forecast_even(&seconds, cut, s->limits->devices, s->rates, err);
    if (status == GEMMTUNE_OK)
        keep(&s->best, cut, seconds);
    return status;
}

/* A lower bound in seconds for every choice of slots: the products themselves, the first
 * tiles of A and B, which must arrive before the first product, and the last rows of C,
 * which leave after the last product. */
static double least_seconds(const struct search *s, const struct gt_host_cut *cut) {
    const double first = (double)gt_host_buffer_of(cut, GT_A).bytes +
                         (double)gt_host_buffer_of(cut, GT_B).bytes;
    const double last = (double)gt_host_buffer_of(cut, GT_C).bytes / STRIPS;
    return gt_host_compute_seconds(cut, s->rates->flops) / s->limits->devices +
           first / s->rates->both_in + last / s->rates->both_out;
}

/* Whether a candidate cannot be the best, or has more tiles and products than usual and
 * more of them than the best so far. */
static bool is_hopeless(const struct search *s, const struct gt_host_cut *cut) {
    if (s->best.count == 0)
        return false;
    const double worst = s->best.seconds[s->best.count - 1];
    const bool many = gt_host_tiles_along(cut, 0) > TILES_MAX ||
                      gt_host_tiles_along(cut, 1) > TILES_MAX || products_of(cut) > FEW_MAX;
    return (many && products_of(cut) >= products_of(&s->best.cut[0])) ||
           least_seconds(s, cut) > worst;
}

static gt_status try_slots(struct search *s, struct gt_host_cut cut, enum spending how,
                           int slots_c, int strips, struct gt_err *err) {
    cut.slots[GT_A] = cut.slots[GT_B] = 2;
    cut.slots[GT_C] = slots_c;
    cut.tail = strips;
    if (!fits(&cut, s->limits))
        return GEMMTUNE_OK;
    spend(&cut, how, s->limits);
    return consider(s, &cut, err);
}

/* Tries all ways to spend memory with one cut. */
static gt_status try_spendings(struct search *s, struct gt_host_cut cut,
                               struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int how = 0; how < SPENDINGS; how++)
        for (int c = 1; c <= 2; c++)
            for (int n = 1; status == GEMMTUNE_OK && n <= STRIPS; n *= STRIPS)
                status = try_slots(s, cut, (enum spending)how, c, n, err);
    return status;
}

static bool is_slanted(int64_t x, int64_t y) {
    return x > 8 * y || y > 8 * x;
}

/* The tile sizes to try along one axis: the given one, or the sizes of all divisions.
 * Returns how many. */
static int sizes_of(int64_t out[DIVISIONS], int64_t side, int64_t given) {
    if (given > 0) {
        out[0] = given < side ? given : side;
        return 1;
    }
    int count = 0;
    for (int i = 0; i < DIVISIONS; i++) {
        const int64_t size = part_size(side, divisions[i]);
        if (count == 0 || size < out[count - 1])
            out[count++] = size;
    }
    return count;
}

/* With a C narrower than the sums, each slab of k would round the sum once more. */
static bool must_keep_k_whole(const struct gt_host_cut *cut) {
    const gemmtune_problem *p = &cut->problem;
    return !cut->sums || gt_type_size(p->type_c) < gt_type_size(p->type_acc);
}

/* The depth that the caller or the type of C asks for; 0: any. */
static int64_t given_depth(const struct gt_host_cut *cut) {
    return must_keep_k_whole(cut) ? cut->problem.k : cut->tile[2];
}

static gt_status try_depths(struct search *s, struct gt_host_cut cut, const int64_t depth[],
                            int depths, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < depths; i++) {
        cut.tile[2] = depth[i];
        for (int c = 2; status == GEMMTUNE_OK && c >= 1; c--)
            if (!is_hopeless(s, &cut))
                status = try_slots(s, cut, PANELS, c, STRIPS, err);
    }
    return status;
}

/* Says why not even the smallest tiles are possible. */
static gt_status fail_to_fit(const struct gt_host_cut *smallest,
                             const struct gt_host_limits *limits, struct gt_err *err) {
    struct gt_host_cut cut = *smallest;
    char tiles[96];
    cut.slots[GT_A] = cut.slots[GT_B] = 2;
    cut.slots[GT_C] = 1;
    (void)snprintf(tiles, sizeof tiles,
                   "the smallest tiles of this product, %lld x %lld x %lld",
                   (long long)cut.tile[0], (long long)cut.tile[1], (long long)cut.tile[2]);
    const int64_t bytes = gt_host_slot_bytes(&cut);
    if (bytes > limits->memory)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "%s, need %lld bytes of device memory, and there are %lld", tiles,
                       (long long)bytes, (long long)limits->memory);
    if (largest_tile(&cut) > limits->max_alloc)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "%s, have up to %lld bytes each, and one allocation of the device "
                       "has at most %lld",
                       tiles, (long long)largest_tile(&cut), (long long)limits->max_alloc);
    return gt_fail(
        err, GEMMTUNE_EINVAL,
        "%s, make %.4g products, and at most %d are possible; larger tiles do not "
        "fit into %lld bytes of device memory",
        tiles, products_of(&cut), PRODUCTS_MAX, (long long)limits->memory);
}

gt_status gt_host_choose_some(struct gt_host_choices *out, const struct gt_host_cut *given,
                              const struct gt_host_limits *limits,
                              const struct gt_host_rates *rates, struct gt_err *err) {
    struct search s = {.limits = limits, .rates = rates};
    struct gt_host_cut own = *given, *cut = &own;
    const gemmtune_problem *p = &cut->problem;
    int64_t row[DIVISIONS], col[DIVISIONS], depth[DIVISIONS];
    const bool fixed = cut->tile[0] > 0 || cut->tile[1] > 0;
    const bool slanted = fixed || is_slanted(p->m, p->n);
    const int rows = sizes_of(row, p->m, cut->tile[0]);
    const int cols = sizes_of(col, p->n, cut->tile[1]);
    const int depths = sizes_of(depth, p->k, given_depth(cut));
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < rows; i++)
        for (int j = 0; status == GEMMTUNE_OK && j < cols; j++) {
            cut->tile[0] = row[i];
            cut->tile[1] = col[j];
            if (slanted || !is_slanted(row[i], col[j]))
                status = try_depths(&s, *cut, depth, depths, err);
        }
    if (status != GEMMTUNE_OK)
        return status;
    if (s.best.count == 0) {
        cut->tile[2] = depth[depths - 1];
        return fail_to_fit(cut, limits, err);
    }
    const struct gt_host_choices first = s.best;
    for (int i = 0; status == GEMMTUNE_OK && i < first.count; i++)
        status = try_spendings(&s, first.cut[i], err);
    *out = s.best;
    return status;
}

/* The size of a tile along one axis: the given one, or the size of `parts` parts. */
static int64_t size_five(int64_t side, int64_t given, int64_t parts) {
    return given > 0 ? (given < side ? given : side) : part_size(side, parts);
}

gt_status gt_host_choose_five(struct gt_host_cut *cut, const struct gt_host_limits *limits,
                              struct gt_err *err) {
    const gemmtune_problem *p = &cut->problem;
    const int64_t given[3] = {cut->tile[0], cut->tile[1], given_depth(cut)};
    cut->slots[GT_A] = cut->slots[GT_B] = 2;
    cut->slots[GT_C] = cut->tail = 1;
    for (int i = 0; i < DIVISIONS; i++) {
        const int64_t rows = size_five(p->m, given[0], divisions[i]);
        const int64_t cols = size_five(p->n, given[1], divisions[i]);
        const int64_t side = rows > cols ? rows : cols;
        cut->tile[0] = rows;
        cut->tile[1] = cols;
        cut->tile[2] = size_five(p->k, given[2], 1 + p->k * SLABS_FIVE / side);
        if (fits(cut, limits))
            return GEMMTUNE_OK;
    }
    return fail_to_fit(cut, limits, err);
}
