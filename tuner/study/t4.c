/* SPDX-License-Identifier: Apache-2.0 */
/* t4.c - see t4.h. */
#include "tuner/study/t4.h"

#include "core/json.h"
#include "core/new_file.h"
#include "core/point.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The words of the format. Our own word, which tells more apart, is a measurement. */
static const char *const invalidity[GT_OUTCOMES] = {
    [GT_CORRECT] = "correct",          [GT_CONSTRAINTS] = "constraints",
    [GT_COMPILE] = "compile",          [GT_LAUNCH] = "runtime",
    [GT_WRONG_RESULT] = "correctness", [GT_TIMEOUT] = "timeout",
    [GT_CRASHED] = "runtime",          [GT_OUT_OF_MEMORY] = "runtime",
    [GT_IMPLAUSIBLE] = "correctness",
};

/* ---- the problem ---- */

struct problems {
    int64_t count;
    char *name; /* the last one */
};

static gt_status see_problem(void *user, const struct gt_trial_row *row,
                             struct gt_err *err) {
    struct problems *p = user;
    (void)err;
    if (row->state == GT_TRIAL_RUNNING || strcmp(p->name, row->subject.problem) == 0)
        return GEMMTUNE_OK;
    p->count++;
    (void)snprintf(p->name, GT_PROBLEM_NAME_MAX, "%s", row->subject.problem);
    return GEMMTUNE_OK;
}

gt_status gt_t4_problem(char name[GT_PROBLEM_NAME_MAX], struct gt_db *db,
                        const char *device_key, struct gt_err *err) {
    struct problems p = {.name = name};
    name[0] = '\0';
    const gt_status status = gt_db_trials(db, device_key, NULL, see_problem, &p, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (p.count == 0)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "there are no trials of %s", device_key);
    return p.count == 1 ? GEMMTUNE_OK
                        : gt_fail(err, GEMMTUNE_EINVAL,
                                  "a T4 file has the trials of one problem; %s has %" PRId64
                                  ": name one with --problem",
                                  device_key, p.count);
}

/* ---- results ---- */

struct writing {
    FILE *out;
    double flops;
    int64_t count;
};

static void put_time_of_day(FILE *out, int64_t ms) {
    const time_t seconds = (time_t)(ms / 1000);
    struct tm when;
    char text[32] = "";
    if (gmtime_r(&seconds, &when) != NULL)
        (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S+00:00", &when);
    fprintf(out, "\"timestamp\": \"%s\", ", text);
}

static void put_configuration(FILE *out, const struct gt_trial_row *row) {
    struct gt_point point = {.count = 0};
    (void)gt_point_parse(&point, row->subject.point, NULL);
    (void)fputs("\"configuration\": {\"FAMILY\": ", out);
    gt_json_quote(out, row->subject.family);
    for (int i = 0; i < point.count; i++)
        fprintf(out, ", \"%s\": %" PRId64, point.entry[i].name, point.entry[i].value);
    (void)fputs("}, ", out);
}

static void put_times(FILE *out, const struct gt_trial_row *row) {
    fprintf(out, "\"times\": {\"compilation\": %.6g, \"runtimes\": [", row->compile_ms);
    for (int i = 0; i < row->time.samples; i++)
        fprintf(out, "%s%.6g", i > 0 ? ", " : "", 1e-6 * (double)row->time.sample_ns[i]);
    (void)fputs("]}, ", out);
}

static void put_measurement(FILE *out, const char *name, double value, const char *unit) {
    fprintf(out, ", {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}", name, value,
            unit);
}

static void put_measurements(FILE *out, const struct gt_trial_row *row, double flops) {
    fprintf(out,
            "\"measurements\": [{\"name\": \"outcome\", \"value\": \"%s\", \"unit\": \"\"}",
            gt_outcome_word(row->outcome));
    if (row->outcome == GT_CORRECT) {
        put_measurement(out, "time", 1e-6 * row->time.median_ns, "ms");
        put_measurement(out, "GFLOP/s", flops / row->time.median_ns, "GFLOP/s");
    }
    if (row->registers >= 0)
        put_measurement(out, "registers", row->registers, "");
    if (row->smem_bytes >= 0)
        put_measurement(out, "shared_memory", row->smem_bytes, "bytes");
    (void)fputs("], ", out);
}

static gt_status put_trial(void *user, const struct gt_trial_row *row, struct gt_err *err) {
    struct writing *w = user;
    (void)err;
    if (row->state == GT_TRIAL_RUNNING)
        return GEMMTUNE_OK;
    (void)fputs(w->count++ > 0 ? ",\n  {" : "\n  {", w->out);
    put_time_of_day(w->out, row->ended_ms);
    put_configuration(w->out, row);
    put_times(w->out, row);
    fprintf(w->out, "\"invalidity\": \"%s\", \"correctness\": %d, ",
            invalidity[row->outcome], row->outcome == GT_CORRECT);
    put_measurements(w->out, row, w->flops);
    (void)fputs("\"objectives\": [\"time\"]}", w->out);
    return GEMMTUNE_OK;
}

static void put_text(FILE *out, const char *key, const char *value, const char *after) {
    fprintf(out, "\"%s\": ", key);
    gt_json_quote(out, value);
    (void)fputs(after, out);
}

gt_status gt_t4_write(int64_t *count, struct gt_db *db, const char *device_key,
                      const char *device, const char *problem, const char *version,
                      const char *path, struct gt_err *err) {
    struct gt_new_text text;
    gemmtune_problem p;
    gt_status status = gt_problem_from_name(&p, problem, err);
    if (status == GEMMTUNE_OK)
        status = gt_new_text_begin(&text, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    struct writing w = {.out = text.out, .flops = gt_problem_flops(&p)};
    (void)fputs("{\"schema_version\": \"1.0.0\",\n \"metadata\": {", w.out);
    put_text(w.out, "tuner", "gemmtune", ", ");
    put_text(w.out, "version", version, ", ");
    put_text(w.out, "device", device, ", ");
    put_text(w.out, "problem", problem, ", ");
    put_text(w.out, "timeunit", "milliseconds", "},\n \"results\": [");
    status = gt_db_trials(db, device_key, problem, put_trial, &w, err);
    (void)fputs("\n]}\n", w.out);
    if (status == GEMMTUNE_OK && w.count == 0)
        status = gt_fail(err, GEMMTUNE_ENOTFOUND, "there are no trials of %s on %s",
                         problem, device_key);
    *count = w.count;
    return gt_new_text_end(&text, status, err);
}
