/* SPDX-License-Identifier: Apache-2.0 */
/* bench_ask.c - see bench_ask.h. */
#include "tuner/bench/bench_ask.h"

#include "tuner/bench/bench_process.h"

struct question {
    const struct gt_device *device;
    const struct gt_bench_options *options;
    const gemmtune_problem *problem;
    bool (*stopped)(void);
    gt_bench_job *job;
    enum gt_bench_frame_kind answer;
};

static bool is_stopped(void *user) {
    const struct question *q = user;
    return q->stopped != NULL && q->stopped();
}

static gt_status ask(struct gt_bench_frame *f, struct question *q, struct gt_err *err) {
    struct gt_sweep_item item = {.problem = *q->problem};
    const struct gt_sweep one = {.count = 1, .item = &item};
    struct gt_bench_task task = {.device = q->device, .options = q->options, .sweep = &one};
    struct gt_bench_process child;
    gt_problem_name(q->problem, item.name);
    gt_status status = gt_bench_process_start(&child, q->job, &task, err);
    if (status != GEMMTUNE_OK)
        return status;
    const enum gt_bench_event event = gt_bench_process_receive(f, &child, is_stopped, q);
    gt_bench_process_end(&child, event);
    if (event == GT_GOT_FRAME && f->kind != q->answer)
        status = gt_bench_process_failure(f, err);
    else if (event != GT_GOT_FRAME)
        status = gt_fail(err, GEMMTUNE_EDEVICE, "the measuring process %s",
                         event == GT_STOPPED     ? "was stopped"
                         : event == GT_TIMED_OUT ? "took too long"
                                                 : child.end);
    return status;
}

gt_status gt_bench_ask_rivals(struct gt_absence why[GT_RIVALS], const struct gt_device *d,
                              const struct gt_bench_options *options,
                              const gemmtune_problem *p, bool (*stopped)(void),
                              struct gt_err *err) {
    struct gt_bench_frame f;
    struct question q = {d, options, p, stopped, gt_bench_child_rivals, GT_FRAME_RIVALS};
    const gt_status status = ask(&f, &q, err);
    for (int i = 0; status == GEMMTUNE_OK && i < GT_RIVALS; i++) {
        why[i] = f.why[i];
        why[i].text[sizeof why[i].text - 1] = '\0';
    }
    return status;
}

gt_status gt_bench_ask_overhead(struct gt_overhead *out, const struct gt_device *d,
                                const struct gt_bench_options *options,
                                const gemmtune_problem *p, bool (*stopped)(void),
                                struct gt_err *err) {
    struct gt_bench_frame f;
    struct question q = {
        d, options, p, stopped, gt_bench_child_overhead, GT_FRAME_OVERHEAD};
    const gt_status status = ask(&f, &q, err);
    if (status == GEMMTUNE_OK)
        *out = f.overhead;
    return status;
}

gt_status gt_bench_ask_errors(struct gt_errors *out, const struct gt_device *d,
                              const struct gt_bench_options *options,
                              const gemmtune_problem *p, bool (*stopped)(void),
                              struct gt_err *err) {
    struct gt_bench_frame f;
    struct question q = {d, options, p, stopped, gt_bench_child_errors, GT_FRAME_ERRORS};
    const gt_status status = ask(&f, &q, err);
    if (status == GEMMTUNE_OK)
        *out = f.errors;
    return status;
}
