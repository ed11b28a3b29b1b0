/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_plan.c - the plan of a host product: which memory and rates its devices have, which
 * tiles and slots the product gets, and which device begins with which tiles of C.
 */
#include "runtime/host/call.h"

#include "runtime/host/forecast.h"
#include "runtime/host/slab.h"

#include <inttypes.h>

enum { WORKSPACE_SHARE = 8 }; /* the part of the memory that may be workspace: 1 / 8 */

/* Seconds of a product for which a second of trying several tiles may pay. */
static const double worth_measuring = 0.5;

/* ---- devices ------------------------------------------------------------------------- */

/* The least memory that any device has free for slots and workspace. */
static gt_status find_memory(struct gt_host_call *c, struct gt_host_limits *limits,
                             struct gt_err *err) {
    limits->memory = limits->max_alloc = INT64_MAX;
    for (int i = 0; i < c->devices; i++) {
        struct gt_link *link = NULL;
        int64_t unused = 0;
        const int64_t largest = gt_ctx_device(c->ctx[i])->max_alloc;
        gt_status status = gt_link_open(&link, c->ctx[i]->gpu, err);
        if (status == GEMMTUNE_OK)
            status = link->ops->attach(link, err);
        if (status == GEMMTUNE_OK) {
            status = link->ops->free_bytes(&unused, link, err);
            link->ops->detach(link);
        }
        gt_link_close(link);
        if (status != GEMMTUNE_OK)
            return status;
        unused = unused / 10 * 9;
        limits->memory = unused < limits->memory ? unused : limits->memory;
        if (largest > 0 && largest < limits->max_alloc)
            limits->max_alloc = largest;
    }
    if (c->options.memory_max > 0 && c->options.memory_max < (size_t)limits->memory)
        limits->memory = (int64_t)c->options.memory_max;
    c->memory = limits->memory;
    c->workspace_max = c->memory / WORKSPACE_SHARE;
    return GEMMTUNE_OK;
}

static gt_status find_rates(struct gt_host_call *c, struct gt_err *err) {
    double link[2] = {0};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < c->devices; i++) {
        status = gt_host_rates_of(&c->rates[i], link, c->ctx[i], &c->cut, c->memory,
                                  c->run.copier, err);
        c->report.link_in += link[0] / c->devices;
        c->report.link_out += link[1] / c->devices;
    }
    return status;
}

/* Devices differ in speed; the plan is made for their mean. */
static struct gt_host_rates mean_rates(const struct gt_host_call *c) {
    struct gt_host_rates mean = {0};
    for (int i = 0; i < c->devices; i++) {
        mean.in += c->rates[i].in / c->devices;
        mean.out += c->rates[i].out / c->devices;
        mean.both_in += c->rates[i].both_in / c->devices;
        mean.both_out += c->rates[i].both_out / c->devices;
        mean.row += c->rates[i].row / c->devices;
        mean.flops += c->rates[i].flops / c->devices;
    }
    return mean;
}

/* ---- tiles --------------------------------------------------------------------------- */

/* The forecast of one choice with the rate that its own kernel has on the first device,
 * scaled to the mean of all devices. */
static gt_status measured_forecast(double *seconds, struct gt_host_call *c,
                                   struct gt_link *link, const struct gt_host_cut *cut,
                                   const struct gt_host_rates *mean, struct gt_err *err) {
    const int64_t *tile = cut->tile;
    struct gt_host_rates own = *mean;
    double slab = 0;
    const gt_status status =
        gt_host_slab_time(&slab, link, c->ctx[0], cut, c->workspace_max, err);
    if (status != GEMMTUNE_OK)
        return status;
    own.flops = gt_host_product_flops(tile[0], tile[1], tile[2], slab) * mean->flops /
                c->rates[0].flops;
    return gt_host_forecast_even(seconds, cut, c->devices, &own, err);
}

/* Kernels of different tiles differ by a few percent, which no forecast knows: where the
 * product is long enough for it, the slabs of the best choices are timed. */
static gt_status choose_measured(struct gt_host_call *c, const struct gt_host_choices *some,
                                 const struct gt_host_rates *mean, struct gt_err *err) {
    struct gt_link *link = NULL;
    double best = 0;
    gt_status status = gt_link_open(&link, c->ctx[0]->gpu, err);
    if (status == GEMMTUNE_OK)
        status = link->ops->attach(link, err);
    if (status == GEMMTUNE_OK) {
        for (int i = 0; status == GEMMTUNE_OK && i < some->count; i++) {
            double seconds = 0;
            status = measured_forecast(&seconds, c, link, &some->cut[i], mean, err);
            if (status == GEMMTUNE_OK && (i == 0 || seconds < best)) {
                best = seconds;
                c->cut = some->cut[i];
            }
        }
        link->ops->detach(link);
    }
    gt_link_close(link);
    return status;
}

static gt_status choose(struct gt_host_call *c, const struct gt_host_limits *limits,
                        const struct gt_host_rates *mean, struct gt_err *err) {
    struct gt_host_choices some;
    if (c->options.order == GEMMTUNE_HOST_FIVE_BUFFERS)
        return gt_host_choose_five(&c->cut, limits, err);
    const gt_status status = gt_host_choose_some(&some, &c->cut, limits, mean, err);
    if (status != GEMMTUNE_OK)
        return status;
    c->cut = some.cut[0];
    return c->cut.sums && some.count > 1 && some.seconds[0] >= worth_measuring
               ? choose_measured(c, &some, mean, err)
               : GEMMTUNE_OK;
}

/* ---- the plan ------------------------------------------------------------------------ */

static gt_status make_board(struct gt_host_call *c, struct gt_err *err) {
    double share[GT_HOST_DEVICES_MAX], sum = 0;
    size_t end[GT_HOST_DEVICES_MAX];
    for (int i = 0; i < c->devices; i++)
        sum += c->rates[i].flops;
    for (int i = 0; i < c->devices; i++)
        share[i] = c->rates[i].flops / sum;
    const gt_status status =
        gt_host_tiles_make(&c->tile, end, &c->cut, c->devices, share, err);
    if (status != GEMMTUNE_OK)
        return status;
    for (int i = 0; i < c->devices; i++)
        c->range[i] = (struct gt_host_range){i > 0 ? end[i - 1] : 0, end[i]};
    c->run.board = (struct gt_host_board){c->tile, c->devices, c->range};
    c->report.tiles = (int64_t)end[c->devices - 1];
    return GEMMTUNE_OK;
}

static void note_plan(struct gt_host_call *c, double forecast,
                      const struct gt_host_rates *mean) {
    gemmtune_host_report *r = &c->report;
    r->forecast_seconds = forecast;
    r->bound_seconds = gt_host_lower_bound(&c->cut, mean) / c->devices;
    r->tile_m = c->cut.tile[0];
    r->tile_n = c->cut.tile[1];
    r->tile_k = c->cut.sums ? c->cut.tile[2] : 0;
    r->slots_a = c->cut.sums ? c->cut.slots[GT_A] : 0;
    r->slots_b = c->cut.sums ? c->cut.slots[GT_B] : 0;
    r->slots_c = c->cut.slots[GT_C];
}

gt_status gt_host_call_plan(struct gt_host_call *c, struct gt_err *err) {
    struct gt_host_limits limits = {.devices = c->devices};
    double forecast = 0;
    gt_status status = find_memory(c, &limits, err);
    if (status == GEMMTUNE_OK)
        status = find_rates(c, err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_host_rates mean = mean_rates(c);
    limits.memory -= c->workspace_max;
    c->cut.tile[0] = c->options.tile_m;
    c->cut.tile[1] = c->options.tile_n;
    c->cut.tile[2] = c->options.tile_k;
    status = choose(c, &limits, &mean, err);
    if (status == GEMMTUNE_EINVAL)
        status = gt_fail_within(err, status,
                                "of %" PRId64 " bytes, %" PRId64 " are kept for workspace",
                                c->memory, c->workspace_max);
    if (status == GEMMTUNE_OK)
        status = make_board(c, err);
    if (status == GEMMTUNE_OK)
        status = gt_host_forecast_even(&forecast, &c->cut, c->devices, &mean, err);
    if (status == GEMMTUNE_OK)
        note_plan(c, forecast, &mean);
    return status;
}
