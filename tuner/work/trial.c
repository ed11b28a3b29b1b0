/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.c - how a candidate becomes an outcome. Read this file first: it is the program in
 * one
 * page.
 *
 *     bind the point to the device and the problem      -> constraints
 *     build and load it, as the library would           -> compile, launch
 *     run it on every case, compare every element       -> launch, wrong_result, crashed
 *     time it on random inputs (finalists in turn)      -> implausible
 *     run it once more                                  -> wrong_result, correct
 */
#include "tuner/work/trial.h"

#include "core/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A candidate under way. */
struct attempt {
    struct gt_exec *exec;
    /* for the cases of exec; no longer needed when they are checked */
    struct gt_suite *suite;
    struct gt_result *result;
};

static void end(struct gt_result *r, gt_outcome outcome, const char *text) {
    r->outcome = outcome;
    snprintf(r->error, sizeof r->error, "%s", text);
    for (char *c = r->error; *c; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t')
            *c = ' ';
}

/* The outcome for a failure to make or run the kernel. */
static gt_outcome outcome_of(gt_status status, gt_outcome otherwise) {
    switch (status) {
    case GEMMTUNE_EINVAL:
    case GEMMTUNE_EUNSUPPORTED:
        return GT_CONSTRAINTS;
    case GEMMTUNE_EBUILD:
        return GT_COMPILE;
    case GEMMTUNE_ENOMEM:
        return GT_OUT_OF_MEMORY;
    default:
        return otherwise;
    }
}

static void drop(struct attempt *a) {
    gt_suite_destroy(a->suite);
    gt_exec_destroy(a->exec);
    a->suite = NULL;
    a->exec = NULL;
}

static gt_status find(const struct gt_family **f, struct gt_point *point,
                      const struct gt_families *families, const struct gt_candidate *c,
                      struct gt_err *err) {
    *f = gt_families_find(families, c->family);
    if (!*f)
        return gt_fail(err, GEMMTUNE_EINVAL, "there is no family called %s", c->family);
    return gt_point_parse(point, c->point, err);
}

static void build(struct attempt *a, struct gt_lab *lab, const struct gt_families *families,
                  const struct gt_candidate *c, const gemmtune_problem *p) {
    struct gt_err err = {""};
    const struct gt_family *family = NULL;
    struct gt_point point;
    char *log = NULL;
    gt_status status = find(&family, &point, families, c, &err);
    if (status == GEMMTUNE_OK)
        status = gt_exec_create(&a->exec, gt_lab_gpu(lab), family, &point, p, &log, &err);
    free(log);
    if (status == GEMMTUNE_OK)
        status = gt_lab_reserve(&a->suite, lab, a->exec, &err);
    if (status != GEMMTUNE_OK) {
        end(a->result, outcome_of(status, GT_LAUNCH), err.line);
        drop(a);
        return;
    }
    struct gt_exec_info info;
    gt_exec_describe(a->exec, &info);
    a->result->registers = info.registers;
    a->result->spill_bytes = info.spill_bytes;
    a->result->smem_bytes = info.smem_bytes;
    a->result->workspace_bytes = info.fit->passes.workspace_bytes;
    a->result->compile_ms = info.compile_ms;
}

/* When a driver refuses a launch, the candidate is at fault. When it reports a fault after
 * the launch, the context is lost with all data. */
static void fault(struct attempt *a, gt_status status, const struct gt_err *err) {
    end(a->result, status == GEMMTUNE_EINVAL ? GT_LAUNCH : outcome_of(status, GT_CRASHED),
        err->line);
    a->result->fatal = a->result->outcome == GT_CRASHED;
    drop(a);
}

/* A kernel that computes wrong results may have written anywhere: to inputs, or to a
 * reference that others are checked against. The next candidate therefore gets a fresh
 * worker. */
static void wrong(struct attempt *a, const char *why) {
    end(a->result, GT_WRONG_RESULT, why);
    a->result->fatal = true;
}

static void check(struct attempt *a, struct gt_lab *lab) {
    struct gt_err err = {""};
    char why[GT_VERDICT_MAX];
    bool right = false;
    gt_status status = gt_lab_check(&right, why, lab, a->suite, &err);
    if (status != GEMMTUNE_OK) {
        fault(a, status, &err);
    } else if (!right) {
        wrong(a, why);
        drop(a);
    }
}

/* A time that the arithmetic or a launch cannot reach is an error of measuring or
 * computing. */
static bool plausible(const struct gt_measurement *m, const struct gt_device *d,
                      const gemmtune_problem *p) {
    enum { FLOOR_NS = 50 };
    const double ceiling = gt_device_ceiling(d, gt_dtype_of(p));
    const double least = ceiling > 0 ? gt_problem_flops(p) / ceiling * 1e9 / 1.05 : 0;
    return m->median_ns > FLOOR_NS && m->median_ns >= least;
}

static gt_status measure_error(struct gt_result *r, struct gt_lab *lab,
                               struct gt_err *err) {
    struct gt_error error = {0, 0};
    const gt_status status = gt_lab_error(&error, &r->has_error, lab, err);
    r->error_max = error.most;
    r->error_mean = error.mean;
    return status;
}

static void judge(struct attempt *a, struct gt_lab *lab, const gemmtune_problem *p,
                  enum gt_job_kind kind) {
    struct gt_err err = {""};
    char why[GT_VERDICT_MAX];
    bool right = false;
    if (!plausible(&a->result->time, gt_lab_device(lab), p)) {
        snprintf(why, sizeof why, "%.0f ns is less than this device needs",
                 a->result->time.median_ns);
        end(a->result, GT_IMPLAUSIBLE, why);
        return;
    }
    gt_status status = gt_lab_recheck(&right, why, lab, a->exec, &err);
    if (status == GEMMTUNE_OK && right && kind == GT_JOB_FINAL)
        status = measure_error(a->result, lab, &err);
    if (status != GEMMTUNE_OK)
        fault(a, status, &err);
    else if (right)
        end(a->result, GT_CORRECT, "");
    else
        wrong(a, why);
}

static struct gt_time_budget budget_of(const struct gt_job *job) {
    struct gt_time_budget b = job->kind == GT_JOB_FINAL     ? gt_final_budget
                              : job->kind == GT_JOB_COMPARE ? gt_compare_budget
                                                            : gt_screen_budget;
    if (job->kind == GT_JOB_FINAL && job->patience > 1) {
        b.sample_ns *= job->patience;
        b.rule.total_ns *= job->patience;
    }
    if (job->kind == GT_JOB_TRIAL)
        b.rule.rival_ns = job->best_ns * (1 + GT_SCREEN_MARGIN);
    return b;
}

/* Times the remaining attempts together. A fault while several run is charged to all of
 * them; the caller then tries them again one by one. */
static void time_all(struct attempt *a, int count, struct gt_lab *lab,
                     const struct gt_job *job) {
    const struct gt_exec *execs[GT_JOB_POINTS_MAX];
    struct gt_measurement out[GT_JOB_POINTS_MAX];
    struct attempt *live[GT_JOB_POINTS_MAX];
    struct gt_err err = {""};
    int n = 0;
    for (int i = 0; i < count; i++)
        if (a[i].exec) {
            execs[n] = a[i].exec;
            live[n++] = &a[i];
        }
    const struct gt_time_budget budget = budget_of(job);
    const gt_status status = gt_lab_time(out, lab, execs, n, &budget, &err);
    for (int i = 0; i < n; i++) {
        if (status != GEMMTUNE_OK)
            fault(live[i], status, &err);
        else
            live[i]->result->time = out[i];
    }
}

/* The remaining attempts are correct, which is all that the job asked. */
static void accept(struct attempt *a, int count) {
    for (int i = 0; i < count; i++)
        if (a[i].exec) {
            end(a[i].result, GT_CORRECT, "");
            drop(&a[i]);
        }
}

/* Seconds since the last call. */
static double lap(double *since) {
    const double now = gt_seconds(), spent = now - *since;
    *since = now;
    return spent;
}

void gt_trial_run(struct gt_report *report, struct gt_lab *lab,
                  const struct gt_families *families, const struct gt_job *job,
                  gt_stage_fn stage, void *user) {
    struct attempt a[GT_JOB_POINTS_MAX] = {{0}};
    struct gt_spent *spent = &report->result[0].spent; /* of all attempts together */
    const gemmtune_problem *const p = gt_lab_problem(lab);
    double since = gt_seconds();
    report->count = job->count;
    stage(user, GT_STAGE_COMPILING);
    for (int i = 0; i < job->count; i++) {
        a[i].result = &report->result[i];
        build(&a[i], lab, families, &job->candidate[i], p);
    }
    (void)lap(&since);
    stage(user, GT_STAGE_LAUNCHING);
    for (int i = 0; i < job->count; i++)
        if (a[i].exec)
            check(&a[i], lab);
    spent->check_s = lap(&since);
    if (job->kind == GT_JOB_CHECK)
        accept(a, job->count);
    else
        time_all(a, job->count, lab, job);
    spent->time_s = lap(&since);
    for (int i = 0; i < job->count; i++)
        if (a[i].exec)
            judge(&a[i], lab, p, job->kind);
    for (int i = 0; i < job->count; i++)
        drop(&a[i]);
    spent->check_s += lap(&since);
}

/* Fits the candidate as a plan would, and not only as a trial: a narrow kernel is for
 * pointers about which nothing is known. */
static gt_status fit_candidate(struct gt_fit *out, const struct gt_families *families,
                               const struct gt_job *job, const gemmtune_problem *p,
                               struct gt_err *err) {
    const struct gt_family *family = NULL;
    struct gt_point point;
    int64_t values[GT_POINT_MAX];
    gt_status status = find(&family, &point, families, &job->candidate[0], err);
    if (status == GEMMTUNE_OK)
        status = gt_point_values(values, family, &point, err);
    return status == GEMMTUNE_OK ? gt_fit_values(out, family, &job->device, p,
                                                 job->pointer_align, values, err)
                                 : status;
}

static gt_status compile_apart(double *compile_ms, const struct gt_device *d,
                               const struct gt_fit *fit, struct gt_err *err) {
    struct gt_image image = {0};
    struct gt_build_stats stats = {0};
    char *source = NULL;
    gt_status status = gt_source_of(&source, &fit->binding, d, err);
    if (status == GEMMTUNE_OK)
        status = gt_build(&image, gt_driver_of(d->backend), d, source, &stats, err);
    *compile_ms = stats.compile_ms;
    gt_image_clear(&image);
    free(source);
    return status;
}

gt_status gt_trial_compile(struct gt_report *report, struct gt_gpu *gpu,
                           const struct gt_families *families, const struct gt_job *job,
                           struct gt_err *err) {
    struct gt_result *r = &report->result[0];
    struct gt_fit fit;
    struct gt_err why = {""};
    gemmtune_problem p;
    char toolchain[GT_TOOLCHAIN_MAX];
    gt_status status = gt_problem_from_name(&p, job->problem, err);
    if (status != GEMMTUNE_OK)
        return status;
    report->count = 1;
    status = fit_candidate(&fit, families, job, &p, &why);
    if (status == GEMMTUNE_OK)
        status = gpu != NULL ? gt_exec_compile(gpu, &fit, &why)
                             : compile_apart(&r->compile_ms, &job->device, &fit, &why);
    if (status == GEMMTUNE_OK)
        return GEMMTUNE_OK;
    end(r, outcome_of(status, GT_COMPILE), why.line);
    /* Where there is no compiler, that is not the candidate's fault. This is asked last:
     * a compiler that is loaded keeps the build from noting its toolchain. */
    return gt_driver_of(job->device.backend)->toolchain(toolchain, &job->device, err);
}
