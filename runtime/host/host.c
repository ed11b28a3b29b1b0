/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - gemmtune_host_gemm: reads the arguments (call_read.c), plans tiles
 * (call_plan.c), starts an engine for each device, reports progress while they run, and
 * fills in the report.
 */
#include "runtime/host/call.h"
#include "runtime/host/small.h"
#include "runtime/host/timeline.h"

#include "core/clock.h"
#include "core/growth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PROGRESS_MS = 200 };

/* The struct of the first release of this ABI is the present one. */
static const struct gt_growth report_growth = {sizeof(gemmtune_host_report),
                                               sizeof(gemmtune_host_report), "host report",
                                               "gemmtune_host_report_init"};

gemmtune_status gemmtune_host_report_init_sized(gemmtune_host_report *report, size_t size) {
    return gt_growth_init(report, size, &report_growth, gt_public_entry());
}

/* ---- progress ------------------------------------------------------------------------ */

static void wait_a_while(struct gt_host_run *run) {
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PROGRESS_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_cond_timedwait(&run->change, &run->lock, &until);
}

/* Calls the caller's progress function, without the lock. */
static void tell(struct gt_host_call *c) {
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
static void watch(struct gt_host_call *c) {
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

/* ---- running ------------------------------------------------------------------------- */

static gt_status create_engines(struct gt_host_call *c, struct gt_err *err) {
    const size_t workspace = (size_t)c->workspace_max;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < c->devices; i++)
        status =
            gt_host_engine_create(&c->engine[i], &c->run, c->ctx[i], i, workspace, err);
    return status;
}

static void run_engines(struct gt_host_call *c) {
    struct gt_err err = {""};
    gt_status status = GEMMTUNE_OK;
    c->run.began = gt_seconds();
    for (int i = 0; status == GEMMTUNE_OK && i < c->devices; i++)
        status = gt_host_engine_start(c->engine[i], &err);
    if (status != GEMMTUNE_OK)
        gt_host_run_fail(&c->run, status, &err);
    watch(c);
    for (int i = 0; i < c->devices; i++)
        gt_host_engine_join(c->engine[i]);
}

/* The end of the run, with one line about the state of C. */
static gt_status outcome(const struct gt_host_call *c, struct gt_err *err) {
    const struct gt_host_run *run = &c->run;
    if (run->status == GEMMTUNE_OK && run->tiles_stored == c->report.tiles)
        return GEMMTUNE_OK;
    const gt_status status = run->status != GEMMTUNE_OK ? run->status : GEMMTUNE_ESTOPPED;
    return gt_fail(err, status,
                   "%.300s; %" PRId64 " of %" PRId64 " tiles of C are complete",
                   run->status != GEMMTUNE_OK ? run->err.line : "stopped by the caller",
                   run->tiles_stored, c->report.tiles);
}

static void note_engines(struct gt_host_call *c) {
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

static gt_status multiply(struct gt_host_call *c, struct gt_err *err) {
    const double began = gt_seconds();
    gt_status status = gt_host_call_find_staged(c, err);
    if (status == GEMMTUNE_OK)
        status = gt_host_call_plan(c, err);
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

static gt_status run_call(struct gt_host_call *c, struct gt_err *err) {
    gt_status status = gt_host_run_init(&c->run, &c->cut, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = multiply(c, err);
    for (int i = 0; i < c->devices; i++)
        gt_host_engine_destroy(c->engine[i]);
    gt_copier_destroy(c->run.copier);
    free(c->tile);
    gt_host_run_clear(&c->run);
    return status;
}

/* ---- public -------------------------------------------------------------------------- */

/* Fills the caller's report, also after a failure, which stays the first error. */
static gt_status hand_out(gemmtune_host_report *to, const gemmtune_host_report *report,
                          gt_status status, struct gt_err *err) {
    struct gt_err own;
    const gt_status written =
        gt_growth_write(to, to->struct_size, report, &report_growth, &own);
    return status == GEMMTUNE_OK && written != GEMMTUNE_OK
               ? gt_fail(err, written, "%s", own.line)
               : status;
}

gemmtune_status gemmtune_host_gemm(gemmtune_ctx *const *ctx, int32_t devices,
                                   const gemmtune_problem *p, const gemmtune_args *args,
                                   const gemmtune_host_options *options,
                                   gemmtune_host_report *report) {
    struct gt_err *err = gt_public_entry();
    bool idle = false;
    if (p == NULL || args == NULL)
        return p == NULL ? gt_fail_null(err, "problem", GEMMTUNE_ARG_PROBLEM)
                         : gt_fail_null(err, "args", GEMMTUNE_ARG_ARGS);
    struct gt_host_call *c = calloc(1, sizeof *c);
    if (c == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    c->ctx = ctx;
    c->devices = (int)devices;
    c->report.devices = devices;
    gt_status status = gt_host_call_read(&idle, c, p, args, options, err);
    if (status == GEMMTUNE_OK && !idle)
        status = gt_host_is_small(c) ? gt_host_small(c, err) : run_call(c, err);
    if (report != NULL)
        status = hand_out(report, &c->report, status, err);
    free(c);
    return status;
}
