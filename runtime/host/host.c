/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - gemmtune_host_gemm: checks the arguments, plans tiles, starts an engine for each
 * device, reports progress while they run, and fills in the report.
 */
#include "runtime/host/engine.h"
#include "runtime/host/forecast.h"
#include "runtime/host/rates.h"
#include "runtime/host/slab.h"
#include "runtime/host/timeline.h"

#include "core/clock.h"
#include "core/element.h"
#include "core/growth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEVICES_MAX = 64, PROGRESS_MS = 200 };

/* Seconds of a product for which a second of trying several tiles may pay. */
static const double worth_measuring = 0.5;

/* A call that is running. */
struct call {
    gemmtune_ctx *const *ctx;
    int devices;
    gemmtune_host_options options;
    gemmtune_host_report report;
    struct gt_host_cut cut;
    struct gt_host_run run;
    struct gt_host_rates rates[DEVICES_MAX];
    struct gt_host_range range[DEVICES_MAX];
    struct gt_host_tile *tile;
    struct gt_host_engine *engine[DEVICES_MAX];
    int64_t memory; /* bytes that a device may use */
    double flops;
};

static const struct gt_growth options_growth = {
    sizeof(gemmtune_host_options), sizeof(gemmtune_host_options), "host options",
    "gemmtune_host_options_init"};
static const struct gt_growth report_growth = {sizeof(gemmtune_host_report),
                                               sizeof(gemmtune_host_report), "host report",
                                               "gemmtune_host_report_init"};

/* ---- what the caller asks ------------------------------------------------------------ */

static gt_status check_list(gemmtune_ctx *const *ctx, int32_t devices, struct gt_err *err) {
    if (ctx == NULL || devices < 1 || devices > DEVICES_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL, "a list of %d devices, must be from 1 to %d",
                       ctx == NULL ? 0 : (int)devices, DEVICES_MAX);
    for (int i = 0; i < devices; i++) {
        if (ctx[i] == NULL)
            return gt_fail(err, GEMMTUNE_EINVAL, "context %d of the list is NULL", i);
        for (int j = 0; j < i; j++)
            if (ctx[j] == ctx[i])
                return gt_fail(err, GEMMTUNE_EINVAL, "contexts %d and %d are the same", j,
                               i);
    }
    return GEMMTUNE_OK;
}

static gt_status read_options(struct call *c, const gemmtune_host_options *options,
                              struct gt_err *err) {
    gemmtune_host_options_init(&c->options);
    if (options == NULL)
        return GEMMTUNE_OK;
    const gt_status status = gt_growth_read(&c->options, options, &options_growth, err);
    if (status != GEMMTUNE_OK)
        return status;
    const gemmtune_host_options *o = &c->options;
    if ((unsigned)o->order > GEMMTUNE_HOST_FIVE_BUFFERS ||
        (unsigned)o->copies > GEMMTUNE_HOST_STAGED || o->threads < 0 || o->tile_m < 0 ||
        o->tile_n < 0 || o->tile_k < 0)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "host options: order %u, copies %u, threads %d, tiles %" PRId64
                       " x %" PRId64 " x %" PRId64 " are not all valid",
                       (unsigned)o->order, (unsigned)o->copies, (int)o->threads, o->tile_m,
                       o->tile_n, o->tile_k);
    return GEMMTUNE_OK;
}

static gt_status read_args(struct call *c, const gemmtune_args *args, bool swapped,
                           struct gt_err *err) {
    gemmtune_args own;
    const gt_status status = gt_args_read(&own, args, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (own.rows != NULL || own.operands != 0 || own.operand != NULL || own.d2 != NULL)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "host products have neither rows, operands nor a second output");
    if (own.alpha == NULL || own.beta == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL",
                       own.alpha == NULL ? "alpha" : "beta");
    c->run.alpha = own.alpha;
    c->run.beta = own.beta;
    c->run.host[GT_A] = gt_device_pointer(swapped ? own.b : own.a);
    c->run.host[GT_B] = gt_device_pointer(swapped ? own.a : own.b);
    c->run.host[GT_C] = own.c;
    return GEMMTUNE_OK;
}

/* ---- where matrices lie -------------------------------------------------------------- */

struct extent {
    uintptr_t begin;
    int64_t row_bytes, rows, pitch;
};

static struct extent extent_of(const struct call *c, enum gt_operand operand) {
    const gemmtune_problem *p = &c->cut.problem;
    const struct gt_shape shape[GT_OPERANDS] = {
        gt_problem_shape_a(p), gt_problem_shape_b(p), gt_problem_shape_c(p)};
    const int64_t ld[GT_OPERANDS] = {p->lda, p->ldb, p->ldc};
    const int64_t size = gt_host_element_bytes(&c->cut, operand);
    return (struct extent){(uintptr_t)c->run.host[operand], shape[operand].cols * size,
                           shape[operand].rows, ld[operand] * size};
}

static int64_t bytes_of(struct extent x) {
    return x.rows == 0 ? 0 : (x.rows - 1) * x.pitch + x.row_bytes;
}

/* Whether two matrices lie beside each other in the columns of one larger matrix. Their
 * rows then interleave, and they share no element. */
static bool lie_beside(struct extent x, struct extent y) {
    if (x.pitch != y.pitch)
        return false;
    const struct extent first = x.begin <= y.begin ? x : y;
    const struct extent second = x.begin <= y.begin ? y : x;
    const int64_t column = (int64_t)(second.begin - first.begin) % x.pitch;
    return column >= first.row_bytes && column + second.row_bytes <= x.pitch;
}

static gt_status check_overlap(const struct call *c, struct gt_err *err) {
    const struct extent out = extent_of(c, GT_C);
    for (int i = GT_A; i <= GT_B; i++) {
        const struct extent in = extent_of(c, (enum gt_operand)i);
        const bool apart = out.begin + (uintptr_t)bytes_of(out) <= in.begin ||
                           in.begin + (uintptr_t)bytes_of(in) <= out.begin;
        if (!apart && !lie_beside(in, out))
            return gt_fail(err, GEMMTUNE_EINVAL,
                           "C, %" PRId64 " bytes at %p, overlaps an input, %" PRId64
                           " bytes at %p",
                           bytes_of(out), c->run.host[GT_C], bytes_of(in), c->run.host[i]);
    }
    return GEMMTUNE_OK;
}

static gt_status check_matrices(const struct call *c, struct gt_err *err) {
    for (int i = 0; i < GT_OPERANDS; i++)
        if (c->run.host[i] == NULL && (i == GT_C || c->cut.sums))
            return gt_fail(err, GEMMTUNE_EINVAL, "the pointer to %s is NULL",
                           i == GT_C ? "C" : "a matrix");
    return c->cut.sums ? check_overlap(c, err) : GEMMTUNE_OK;
}

/* A matrix counts as pinned when its first and its last byte are pinned. */
static gt_status find_staged(struct call *c, struct gt_err *err) {
    struct gt_link *link = NULL;
    bool any = false;
    gt_status status = gt_link_open(&link, c->ctx[0]->gpu, err);
    if (status == GEMMTUNE_OK)
        status = link->ops->attach(link, err);
    if (status == GEMMTUNE_OK) {
        for (int i = 0; i < GT_OPERANDS; i++) {
            const struct extent x = extent_of(c, (enum gt_operand)i);
            const char *first = c->run.host[i];
            const bool used = i == GT_C || c->cut.sums;
            c->run.staged[i] =
                used && (c->options.copies == GEMMTUNE_HOST_STAGED ||
                         !link->ops->is_pinned(link, first) ||
                         !link->ops->is_pinned(link, first + bytes_of(x) - 1));
            any = any || c->run.staged[i];
        }
        link->ops->detach(link);
    }
    gt_link_close(link);
    if (status == GEMMTUNE_OK && any)
        status = gt_copier_create(&c->run.copier, c->options.threads, err);
    return status;
}

/* ---- planning ------------------------------------------------------------------------ */

/* The least memory that any device has free for slots and workspace. */
static gt_status find_memory(struct call *c, struct gt_host_limits *limits,
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
    return GEMMTUNE_OK;
}

static gt_status find_rates(struct call *c, struct gt_err *err) {
    const bool staged = c->run.copier != NULL;
    double link[2] = {0};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < c->devices; i++) {
        status = gt_host_rates_of(&c->rates[i], link, c->ctx[i], &c->cut, c->memory,
                                  staged ? c->run.copier : NULL, err);
        c->report.link_in += link[0] / c->devices;
        c->report.link_out += link[1] / c->devices;
    }
    return status;
}

/* Devices differ in speed; the plan is made for their mean. */
static struct gt_host_rates mean_rates(const struct call *c) {
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

enum { WORKSPACE_SHARE = 8 }; /* the part of the memory that may be workspace: 1 / 8 */

static gt_status make_board(struct call *c, struct gt_err *err) {
    double share[DEVICES_MAX], sum = 0;
    size_t end[DEVICES_MAX];
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

static void note_plan(struct call *c, double forecast, const struct gt_host_rates *mean) {
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

/* The forecast of one choice with the rate that its own kernel has on the first device,
 * scaled to the mean of all devices. */
static gt_status measured_forecast(double *seconds, struct call *c, struct gt_link *link,
                                   const struct gt_host_cut *cut,
                                   const struct gt_host_rates *mean, struct gt_err *err) {
    const int64_t *tile = cut->tile;
    struct gt_host_rates own = *mean;
    double slab = 0;
    const gt_status status =
        gt_host_slab_time(&slab, link, c->ctx[0], cut, c->memory / WORKSPACE_SHARE, err);
    if (status != GEMMTUNE_OK)
        return status;
    own.flops = gt_host_product_flops(tile[0], tile[1], tile[2], slab) * mean->flops /
                c->rates[0].flops;
    return gt_host_forecast_even(seconds, cut, c->devices, &own, err);
}

/* Kernels of different tiles differ by a few percent, which no forecast knows: where the
 * product is long enough for it, the slabs of the best choices are timed. */
static gt_status choose_measured(struct call *c, const struct gt_host_choices *some,
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

static gt_status choose(struct call *c, const struct gt_host_limits *limits,
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

static gt_status plan(struct call *c, struct gt_err *err) {
    struct gt_host_limits limits = {.devices = c->devices};
    double forecast = 0;
    gt_status status = find_memory(c, &limits, err);
    if (status == GEMMTUNE_OK)
        status = find_rates(c, err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_host_rates mean = mean_rates(c);
    limits.memory -= limits.memory / WORKSPACE_SHARE;
    c->cut.tile[0] = c->options.tile_m;
    c->cut.tile[1] = c->options.tile_n;
    c->cut.tile[2] = c->options.tile_k;
    status = choose(c, &limits, &mean, err);
    if (status == GEMMTUNE_EINVAL)
        status = gt_fail_within(err, status,
                                "of %" PRId64 " bytes, %" PRId64 " are kept for workspace",
                                c->memory, c->memory - limits.memory);
    if (status == GEMMTUNE_OK)
        status = make_board(c, err);
    if (status == GEMMTUNE_OK)
        status = gt_host_forecast_even(&forecast, &c->cut, c->devices, &mean, err);
    if (status == GEMMTUNE_OK)
        note_plan(c, forecast, &mean);
    return status;
}

/* ---- running ------------------------------------------------------------------------- */

static void wait_a_while(struct gt_host_run *run) {
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PROGRESS_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_cond_timedwait(&run->change, &run->lock, &until);
}

/* Calls the caller's progress function, without the lock. */
static void tell(struct call *c) {
    struct gt_host_run *run = &c->run;
    gemmtune_host_progress now = {
        .struct_size = sizeof now,
        .tiles = c->report.tiles,
        .tiles_done = run->tiles_stored,
        .flops = c->flops,
        .flops_done = run->flops_done,
        .seconds = gt_seconds() - run->began,
    };
    if (c->options.progress == NULL)
        return;
    (void)pthread_mutex_unlock(&run->lock);
    const bool stop = c->options.progress(c->options.user, &now) != 0;
    (void)pthread_mutex_lock(&run->lock);
    if (stop && !run->stop) {
        run->stop = true;
        (void)pthread_cond_broadcast(&run->change);
    }
}

/* Waits until all lanes have ended, and reports progress after each tile and from time to
 * time. */
static void watch(struct call *c) {
    struct gt_host_run *run = &c->run;
    double told = run->began;
    int64_t tiles = 0;
    (void)pthread_mutex_lock(&run->lock);
    while (run->lanes > 0) {
        wait_a_while(run);
        const double now = gt_seconds();
        if (run->tiles_stored == tiles && now - told < PROGRESS_MS * 1e-3)
            continue;
        told = now;
        tiles = run->tiles_stored;
        tell(c);
    }
    c->report.seconds = gt_seconds() - run->began;
    tell(c);
    (void)pthread_mutex_unlock(&run->lock);
}

static void stop_all(struct call *c, gt_status status, const struct gt_err *err) {
    (void)pthread_mutex_lock(&c->run.lock);
    gt_host_run_fail_locked(&c->run, status, err);
    (void)pthread_mutex_unlock(&c->run.lock);
}

static gt_status create_engines(struct call *c, struct gt_err *err) {
    const size_t workspace = (size_t)(c->memory / WORKSPACE_SHARE);
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < c->devices; i++)
        status =
            gt_host_engine_create(&c->engine[i], &c->run, c->ctx[i], i, workspace, err);
    return status;
}

static void run_engines(struct call *c) {
    struct gt_err err = {""};
    gt_status status = GEMMTUNE_OK;
    c->run.began = gt_seconds();
    for (int i = 0; status == GEMMTUNE_OK && i < c->devices; i++)
        status = gt_host_engine_start(c->engine[i], &err);
    if (status != GEMMTUNE_OK)
        stop_all(c, status, &err);
    watch(c);
    for (int i = 0; i < c->devices; i++)
        gt_host_engine_join(c->engine[i]);
}

/* The end of the run, with one line about the state of C. */
static gt_status outcome(const struct call *c, struct gt_err *err) {
    const struct gt_host_run *run = &c->run;
    if (run->status == GEMMTUNE_OK && run->tiles_stored == c->report.tiles)
        return GEMMTUNE_OK;
    const gt_status status = run->status != GEMMTUNE_OK ? run->status : GEMMTUNE_ESTOPPED;
    return gt_fail(err, status,
                   "%.300s; %" PRId64 " of %" PRId64 " tiles of C are complete",
                   run->status != GEMMTUNE_OK ? run->err.line : "stopped by the caller",
                   run->tiles_stored, c->report.tiles);
}

static void note_engines(struct call *c) {
    for (int i = 0; i < c->devices; i++) {
        struct gt_host_engine_facts facts;
        gt_host_engine_describe(c->engine[i], &facts);
        c->report.pinned_bytes += facts.pinned_bytes;
        if (facts.device_bytes > c->report.device_bytes)
            c->report.device_bytes = facts.device_bytes;
        if (i > 0)
            continue;
        c->report.match = facts.match;
        (void)snprintf(c->report.kernel, sizeof c->report.kernel, "%.255s", facts.kernel);
    }
}

static gt_status multiply(struct call *c, struct gt_err *err) {
    const double began = gt_seconds();
    gt_status status = find_staged(c, err);
    if (status == GEMMTUNE_OK)
        status = plan(c, err);
    if (status == GEMMTUNE_OK)
        status = create_engines(c, err);
    c->report.prepare_seconds = gt_seconds() - began;
    if (status != GEMMTUNE_OK)
        return status;
    note_engines(c);
    run_engines(c);
    c->report.tiles_done = c->run.tiles_stored;
    for (int i = 0; i < c->devices; i++)
        gt_host_timeline_add(&c->report, &c->cut, c->engine[i], i, c->devices, &c->options);
    return outcome(c, err);
}

static gt_status open_run(struct call *c, struct gt_err *err) {
    c->run.cut = &c->cut;
    if (pthread_mutex_init(&c->run.lock, NULL) != 0)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (pthread_cond_init(&c->run.change, NULL) == 0)
        return GEMMTUNE_OK;
    (void)pthread_mutex_destroy(&c->run.lock);
    return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

static gt_status run_call(struct call *c, struct gt_err *err) {
    gt_status status = open_run(c, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = multiply(c, err);
    for (int i = 0; i < c->devices; i++)
        gt_host_engine_destroy(c->engine[i]);
    gt_copier_destroy(c->run.copier);
    free(c->tile);
    (void)pthread_cond_destroy(&c->run.change);
    (void)pthread_mutex_destroy(&c->run.lock);
    return status;
}

/* ---- public -------------------------------------------------------------------------- */

/* Decides which operands are needed. As in BLAS, A and B are not read when alpha or k is 0,
 * and C is not read when beta is 0. *idle: C stays unchanged. */
static gt_status settle(struct call *c, const gemmtune_problem *p,
                        const gemmtune_args *args, bool *idle, struct gt_err *err) {
    bool swapped = false;
    gt_status status = gt_problem_canonical(&c->cut.problem, &swapped, p, err);
    if (status == GEMMTUNE_OK)
        status = read_args(c, args, swapped, err);
    if (status != GEMMTUNE_OK)
        return status;
    const gemmtune_problem *own = &c->cut.problem;
    const double beta = gt_element_get(c->run.beta, own->type_acc);
    c->cut.sums = own->k > 0 && gt_element_get(c->run.alpha, own->type_acc) != 0;
    c->cut.reads_c = beta != 0;
    *idle = own->m == 0 || own->n == 0 || (!c->cut.sums && beta == 1);
    c->flops = c->cut.sums ? gt_problem_flops(own) : 0;
    return *idle ? GEMMTUNE_OK : check_matrices(c, err);
}

gemmtune_status gemmtune_host_gemm(gemmtune_ctx *const *ctx, int32_t devices,
                                   const gemmtune_problem *p, const gemmtune_args *args,
                                   const gemmtune_host_options *options,
                                   gemmtune_host_report *report) {
    struct gt_err *err = gt_public_entry();
    bool idle = false;
    if (p == NULL || args == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL", p == NULL ? "problem" : "args");
    struct call *c = calloc(1, sizeof *c);
    if (c == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    c->ctx = ctx;
    c->devices = (int)devices;
    c->report.devices = devices;
    gt_status status = check_list(ctx, devices, err);
    if (status == GEMMTUNE_OK)
        status = read_options(c, options, err);
    if (status == GEMMTUNE_OK)
        status = settle(c, p, args, &idle, err);
    if (status == GEMMTUNE_OK && !idle)
        status = run_call(c, err);
    if (report != NULL) {
        struct gt_err report_err;
        const gt_status written = gt_growth_write(report, report->struct_size, &c->report,
                                                  &report_growth, &report_err);
        if (status == GEMMTUNE_OK && written != GEMMTUNE_OK)
            status = gt_fail(err, written, "%s", report_err.line);
    }
    free(c);
    return status;
}
