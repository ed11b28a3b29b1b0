/* SPDX-License-Identifier: Apache-2.0 */
/* bench_child.c - see bench_child.h. */
#include "tuner/bench/bench_child.h"

#include "core/io.h"
#include "tuner/lab/ratio.h"

#include <stdio.h>
#include <unistd.h>

static void send(int to, const struct gt_bench_frame *f) {
    if (!gt_write_all(to, f, sizeof *f))
        _exit(1);
}

_Noreturn static void fail(int to, gt_status status, const struct gt_err *err) {
    struct gt_bench_frame f = {.kind = GT_FRAME_FAILED, .failed = {.status = status}};
    snprintf(f.failed.text, sizeof f.failed.text, "%s", err->line);
    send(to, &f);
    _exit(0);
}

static unsigned bit_of_self(void) {
    unsigned bit = 0;
    for (int i = 0; i < GT_RIVALS; i++)
        bit |= gt_rivals[i] == &gt_rival_self ? 1u << i : 0;
    return bit;
}

/* Compares our kernel with itself, in the same way as with rivals. */
static void send_floor(struct gt_bench_task *t, struct gt_bench *b,
                       const gemmtune_problem *p, int to) {
    struct gt_bench_line line;
    struct gt_bench_frame f = {.kind = GT_FRAME_FLOOR,
                               .floor = {.row = gt_dtype_index(gt_dtype_of(p))}};
    if (!t->with_floor || t->has_floor[f.floor.row])
        return;
    if (gt_bench_measure(&line, b, p, bit_of_self(), NULL) != GEMMTUNE_OK || line.fatal ||
        line.best < 0)
        return; /* the line itself will report the reason */
    t->has_floor[f.floor.row] = true;
    f.floor.value = gt_ratio_floor(&line.rival[line.best].ratio);
    send(to, &f);
}

static void send_line(const struct gt_bench_task *t, struct gt_bench *b,
                      const gemmtune_problem *p, int to) {
    struct gt_err err = {""};
    struct gt_bench_frame f = {.kind = GT_FRAME_LINE};
    const gt_status status = gt_bench_measure(&f.line.measured, b, p, t->rivals, &err);
    if (status != GEMMTUNE_OK) {
        f.line.outcome = status == GEMMTUNE_ENOMEM ? GT_OUT_OF_MEMORY : GT_LAUNCH;
        snprintf(f.line.text, sizeof f.line.text, "%s", err.line);
    }
    send(to, &f);
    if (f.line.measured.fatal || (status != GEMMTUNE_OK && status != GEMMTUNE_ENOMEM))
        _exit(0); /* the next process opens the device again */
}

void gt_bench_child_compare(struct gt_bench_task *t, int to) {
    struct gt_err err = {""};
    struct gt_bench_options options = *t->options;
    struct gt_bench *b = NULL;
    struct gt_bench_frame f = {.kind = GT_FRAME_RIVALS};
    options.rivals = t->rivals | (t->with_floor ? bit_of_self() : 0);
    options.active = t->active;
    const gt_status status = gt_bench_create(&b, t->device, &options, f.why, &err);
    if (status != GEMMTUNE_OK)
        fail(to, status, &err);
    send(to, &f);
    const size_t end = t->only_one ? t->first + 1 : t->sweep->count;
    for (size_t i = t->first; i < end; i++) {
        const gemmtune_problem *p = &t->sweep->item[i].problem;
        send_floor(t, b, p, to);
        send_line(t, b, p, to);
    }
}

void gt_bench_child_rivals(struct gt_bench_task *t, int to) {
    struct gt_err err = {""};
    struct gt_bench *b = NULL;
    struct gt_bench_frame f = {.kind = GT_FRAME_RIVALS};
    const gt_status status = gt_bench_create(&b, t->device, t->options, f.why, &err);
    if (status != GEMMTUNE_OK)
        fail(to, status, &err);
    send(to, &f);
}

void gt_bench_child_overhead(struct gt_bench_task *t, int to) {
    struct gt_err err = {""};
    struct gt_bench_frame f = {.kind = GT_FRAME_OVERHEAD};
    const gt_status status = gt_overhead_measure(&f.overhead, t->device, t->options,
                                                 &t->sweep->item[0].problem, &err);
    if (status != GEMMTUNE_OK)
        fail(to, status, &err);
    send(to, &f);
}

void gt_bench_child_errors(struct gt_bench_task *t, int to) {
    struct gt_err err = {""};
    struct gt_bench_frame f = {.kind = GT_FRAME_ERRORS};
    const gt_status status = gt_errors_measure(&f.errors, t->device, t->options,
                                               &t->sweep->item[0].problem, &err);
    if (status != GEMMTUNE_OK)
        fail(to, status, &err);
    send(to, &f);
}
