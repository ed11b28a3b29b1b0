/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/forecast.h"

#include <stdlib.h>

enum {
    BLOCK = 128,     /* rows and columns of C of a usual block of threads */
    RAMP = 32,       /* cost of a launch's beginning and end, in steps along k */
    WALK_MAX = 16384 /* operations that a forecast walks through */
};

static const double launch_seconds = 8e-6; /* of a launch with an event on its stream */
static const double copy_seconds = 10e-6;  /* of the shortest copy */

static double in_blocks(int64_t x) {
    return (double)((x + BLOCK - 1) / BLOCK * BLOCK);
}

/* Seconds of one product of m x n x k in a single launch. A tile that is no multiple of a
 * block of threads costs as much as whole blocks. The beginning and the end of a launch
 * cost as much as some steps along k. */
static double product_seconds(double flops, int64_t m, int64_t n, int64_t k) {
    return 2 * in_blocks(m) * in_blocks(n) * (double)(k + RAMP) / flops + launch_seconds;
}

double gt_host_product_flops(int64_t m, int64_t n, int64_t k, double seconds) {
    const double own = seconds - launch_seconds; /* a shorter product measures nothing */
    return 2 * in_blocks(m) * in_blocks(n) * (double)(k + RAMP) /
           (own > launch_seconds / 8 ? own : launch_seconds / 8);
}

/* A side's length in whole blocks, over all its tiles. */
static double side_in_blocks(const struct gt_host_cut *cut, int axis, int64_t side) {
    const int64_t tiles = gt_host_tiles_along(cut, axis), tile = cut->tile[axis];
    return tiles == 0 ? 0
                      : (double)(tiles - 1) * in_blocks(tile) +
                            in_blocks(side - (tiles - 1) * tile);
}

double gt_host_compute_seconds(const struct gt_host_cut *cut, double flops) {
    const gemmtune_problem *p = &cut->problem;
    const double slabs = cut->sums ? (double)gt_host_tiles_along(cut, 2) : 1;
    const double depth = cut->sums ? (double)p->k : 0;
    const double launches =
        slabs * (double)(gt_host_tiles_along(cut, 0) * gt_host_tiles_along(cut, 1));
    return 2 * side_in_blocks(cut, 0, p->m) * side_in_blocks(cut, 1, p->n) *
               (depth + slabs * RAMP) / flops +
           launches * launch_seconds;
}

static double larger(double x, double y) {
    return x > y ? x : y;
}

/* ---- forecast ------------------------------------------------------------------------ */

/* The link has one engine a direction, so both lanes that copy in share one clock. */
enum clock { IN, RUN, OUT, CLOCKS };
static const enum clock clock_of[GT_LANES] = {
    [GT_LANE_AB] = IN, [GT_LANE_C] = IN, [GT_LANE_RUN] = RUN, [GT_LANE_OUT] = OUT};

/* A copy engine needs some time for each row of a box, which long rows hide. A box with
 * whole rows of the matrix is one row. */
static double rows_seconds(const struct gt_host_cut *cut, const struct gt_host_op *op,
                           const struct gt_host_rates *rates) {
    const enum gt_operand x = gt_host_operand_of(op);
    const gemmtune_problem *p = &cut->problem;
    const int64_t ld[GT_OPERANDS] = {p->lda, p->ldb, p->ldc};
    const struct gt_host_region r = gt_host_region_of(cut, x, op);
    const double bytes = (double)(r.cols * gt_host_element_bytes(cut, x));
    if (r.cols == ld[x] || bytes >= GT_HOST_LONG_ROW)
        return 0;
    return (double)r.rows * rates->row * (1 - bytes / GT_HOST_LONG_ROW);
}

static double op_seconds(const struct gt_host_cut *cut, const struct gt_host_op *op,
                         const struct gt_host_rates *rates) {
    const double bytes = gt_host_op_bytes(cut, op);
    switch (clock_of[op->lane]) {
    case IN:
        return bytes / rates->both_in + rows_seconds(cut, op, rates) + copy_seconds;
    case OUT:
        return bytes / rates->both_out + rows_seconds(cut, op, rates) + copy_seconds;
    default:
        return product_seconds(rates->flops, op->size[0], op->size[1], op->size[2]);
    }
}

static void count_op(struct gt_host_forecast *f, const struct gt_host_cut *cut,
                     const struct gt_host_op *op, double seconds) {
    const enum clock c = clock_of[op->lane];
    f->compute_seconds += c == RUN ? seconds : 0;
    f->bytes_in += c == IN ? gt_host_op_bytes(cut, op) : 0;
    f->bytes_out += c == OUT ? gt_host_op_bytes(cut, op) : 0;
}

/* Operations come after the operations that they wait for, so one pass finds when each
 * ends. */
static gt_status walk(struct gt_host_forecast *out, const struct gt_host_schedule *s,
                      const struct gt_host_rates *rates, struct gt_err *err) {
    double *over = calloc((size_t)s->count + 1, sizeof *over);
    double clock[CLOCKS] = {0};
    if (over == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (int64_t i = 0; i < s->count; i++) {
        const struct gt_host_op *op = &s->op[i];
        double *now = &clock[clock_of[op->lane]];
        for (int j = 0; j < GT_HOST_AFTER; j++)
            if (op->after[j] >= 0)
                *now = larger(*now, over[op->after[j]]);
        const double seconds = op_seconds(s->cut, op, rates);
        *now += seconds;
        over[i] = *now;
        out->seconds = larger(out->seconds, *now);
        count_op(out, s->cut, op, seconds);
    }
    free(over);
    return GEMMTUNE_OK;
}

static double area_of(const struct gt_host_tile *tile, size_t tiles) {
    double area = 0;
    for (size_t i = 0; i < tiles; i++)
        area += (double)tile[i].size[0] * (double)tile[i].size[1];
    return area;
}

static void scale(struct gt_host_forecast *f, double factor) {
    f->seconds *= factor;
    f->compute_seconds *= factor;
    f->bytes_in *= factor;
    f->bytes_out *= factor;
}

gt_status gt_host_forecast(struct gt_host_forecast *out, const struct gt_host_cut *cut,
                           const struct gt_host_tile *tile, size_t tiles,
                           const struct gt_host_rates *rates, struct gt_err *err) {
    struct gt_host_schedule s;
    *out = (struct gt_host_forecast){0};
    gt_status status = gt_host_schedule_init(&s, cut, err);
    size_t walked = 0;
    for (; status == GEMMTUNE_OK && walked < tiles && s.count < WALK_MAX; walked++)
        status = gt_host_schedule_tile(&s, &tile[walked], err);
    if (status == GEMMTUNE_OK)
        status = walk(out, &s, rates, err);
    if (status == GEMMTUNE_OK && walked < tiles)
        scale(out, area_of(tile, tiles) / area_of(tile, walked));
    gt_host_schedule_clear(&s);
    return status;
}

/* The range with most rows times columns of C. */
static int longest_range(const struct gt_host_tile *tile, const size_t *end, int ranges) {
    int longest = 0;
    double most = -1;
    for (int i = 0; i < ranges; i++) {
        double work = 0;
        for (size_t j = i > 0 ? end[i - 1] : 0; j < end[i]; j++)
            work += (double)tile[j].size[0] * (double)tile[j].size[1];
        if (work > most) {
            most = work;
            longest = i;
        }
    }
    return longest;
}

gt_status gt_host_forecast_even(double *seconds, const struct gt_host_cut *cut, int devices,
                                const struct gt_host_rates *rates, struct gt_err *err) {
    struct gt_host_tile *tile = NULL;
    struct gt_host_forecast f = {0};
    double *share = calloc((size_t)devices, sizeof *share);
    size_t *end = calloc((size_t)devices, sizeof *end);
    gt_status status = GEMMTUNE_OK;
    if (share == NULL || end == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (int i = 0; status == GEMMTUNE_OK && i < devices; i++)
        share[i] = 1.0 / devices;
    if (status == GEMMTUNE_OK)
        status = gt_host_tiles_make(&tile, end, cut, devices, share, err);
    if (status == GEMMTUNE_OK) {
        const int i = longest_range(tile, end, devices);
        const size_t first = i > 0 ? end[i - 1] : 0;
        status = gt_host_forecast(&f, cut, tile + first, end[i] - first, rates, err);
    }
    *seconds = f.seconds;
    free(tile);
    free(share);
    free(end);
    return status;
}

double gt_host_lower_bound(const struct gt_host_cut *cut,
                           const struct gt_host_rates *rates) {
    const gemmtune_problem *p = &cut->problem;
    const double m = (double)p->m, n = (double)p->n, k = cut->sums ? (double)p->k : 0;
    const double c = m * n * (double)gt_type_size(p->type_c);
    const double in = m * k * (double)gt_type_size(p->type_a) +
                      n * k * (double)gt_type_size(p->type_b) + (cut->reads_c ? c : 0);
    return larger(2 * m * n * k / rates->flops, larger(in / rates->in, c / rates->out));
}
