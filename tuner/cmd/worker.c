/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - the worker's end of tuner/work/pool.c: a process of its own that owns the
 * device context, or compiles. It reads jobs from one descriptor and reports to another. It
 * may die.
 */
#include "core/io.h"
#include "tuner/base/parallel.h"
#include "tuner/cmd/cmd.h"
#include "tuner/work/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct worker {
    int in, out;
    struct gt_families *families;
    struct gt_lab *lab; /* opened for the first job that needs the device */
    struct gt_job job;
};

static void tell_stage(void *user, enum gt_stage stage) {
    const struct worker *w = user;
    struct gt_report report;
    gt_report_init(&report, w->job.id, stage);
    (void)gt_write_all(w->out, &report,
                       /* if the parent has gone, the next read will notice */
                       sizeof report);
}

static gt_status run_job(struct gt_report *report, struct worker *w, struct gt_err *err) {
    gemmtune_problem p;
    gt_status status = gt_problem_from_name(&p, w->job.problem, err);
    if (status == GEMMTUNE_OK && !w->lab)
        status = gt_lab_create(&w->lab, &w->job.device, err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_setup(w->lab, &p, w->job.seed, err);
    if (status == GEMMTUNE_OK)
        gt_lab_set_spread(w->lab, w->job.spread);
    if (status == GEMMTUNE_OK && w->job.kind != GT_JOB_CHECK)
        status = gt_lab_setup_inputs(w->lab, err);
    if (status == GEMMTUNE_OK && w->job.kind != GT_JOB_PREPARE)
        gt_trial_run(report, w->lab, w->families, &w->job, tell_stage, w);
    return status;
}

static gt_status compile_job(struct gt_report *report, struct worker *w,
                             struct gt_err *err) {
    const bool apart = gt_driver_of(w->job.device.backend)->compiles_apart;
    gt_status status = GEMMTUNE_OK;
    if (!apart && w->lab == NULL)
        status = gt_lab_create(&w->lab, &w->job.device, err);
    return status == GEMMTUNE_OK
               ? gt_trial_compile(report, apart ? NULL : gt_lab_gpu(w->lab), w->families,
                                  &w->job, err)
               : status;
}

static gt_status do_job(struct gt_report *report, struct worker *w, struct gt_err *err) {
    return w->job.kind == GT_JOB_COMPILE ? compile_job(report, w, err)
                                         : run_job(report, w, err);
}

/* A failure here is ignored: it will occur again in the next job, which reports it. */
static void open_ahead(struct worker *w) {
    struct gt_err unread;
    gemmtune_problem p;
    gt_status status = gt_problem_from_name(&p, w->job.problem, &unread);
    if (status == GEMMTUNE_OK && !w->lab)
        status = gt_lab_create(&w->lab, &w->job.device, &unread);
    if (status == GEMMTUNE_OK)
        (void)gt_lab_setup_types(w->lab, &p, w->job.seed, &unread);
}

/* The program's cores are busy with compilers, but the data of a large problem take longer
 * than a compiler when a single core makes them. */
static void borrow_cores(void) {
    struct gt_core_set program;
    gt_cores_allowed_other(&program, getppid());
    gt_parallel_borrow(&program);
}

static void serve(struct worker *w) {
    struct gt_err err;
    struct gt_report report;
    while (gt_job_read(w->in, &w->job)) {
        if (w->job.kind == GT_JOB_OPEN) {
            open_ahead(w);
            continue;
        }
        err.line[0] = '\0';
        gt_report_init(&report, w->job.id, GT_STAGE_DONE);
        const gt_status status = do_job(&report, w, &err);
        if (status != GEMMTUNE_OK) {
            report.stage = GT_STAGE_FAILED;
            report.status = status;
            snprintf(report.error, sizeof report.error, "%s", err.line);
        }
        if (!gt_write_all(w->out, &report, sizeof report))
            return;
    }
}

static gt_status load_families(struct worker *w, int argc, char **argv,
                               struct gt_err *err) {
    gt_status status = gt_families_create(&w->families, err);
    for (int i = 3; status == GEMMTUNE_OK && i < argc; i++)
        /* the parent has said which families are left out */
        status = gt_families_add_sound(w->families, argv[i], GEMMTUNE_LOG_DEBUG, err);
    return status;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct worker w = {0};
    struct gt_err err = {""};
    (void)cmd;
    if (argc < 3)
        return gt_die(GT_EXIT_USAGE, "worker is for gemmtune's own use");
    w.in = atoi(argv[1]);
    w.out = atoi(argv[2]);
    if (load_families(&w, argc, argv, &err) != GEMMTUNE_OK)
        return gt_die(GT_EXIT_FAILURE, "%s", err.line);
    borrow_cores();
    serve(&w);
    gt_lab_destroy(w.lab);
    gt_families_destroy(w.families);
    return GT_EXIT_OK;
}

const struct gt_cmd gt_cmd_worker = {
    .name = "worker",
    .operands = "IN OUT [TEMPLATES...]",
    .about = "Serve jobs to gemmtune itself.",
    .options = NULL,
    .run = run,
    .hidden = true,
};
