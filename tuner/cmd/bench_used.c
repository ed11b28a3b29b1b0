/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_used.c - `gemmtune bench --as-used`: our library as programs call it, beside the
 * vendors' in the same rounds: plans without a workspace, with the workspace of all sides
 * and with any, and the one-call form; the first call of a problem, and the later ones.
 */
#include "tuner/base/talk.h"
#include "tuner/cmd/bench.h"
#include "tuner/cmd/session.h"

#include <math.h>
#include <stdio.h>

/* The ways, in the order of the columns. */
enum { NONE, SAME, ANY, CALL, WAYS_COUNT };

struct row {
    const char *problem;
    const struct gt_bench_line *line;
    const char *why;  /* it was not measured; or NULL */
    double workspace; /* as in gt_bench_options */
};

struct report {
    const struct gt_sweep *sweep;
    struct gt_table *table;
    bool by_name;
    double workspace;
    double logs[WAYS_COUNT];
    int counts[WAYS_COUNT];
    size_t done, failed;
};

static const struct gt_bench_side *side_of(const struct gt_bench_line *line, int way) {
    static const struct gt_rival *const rivals[WAYS_COUNT] = {[NONE] = &gt_rival_plan_none,
                                                              [ANY] = &gt_rival_plan_any,
                                                              [CALL] = &gt_rival_one_call};
    int i = 0;
    if (way == SAME)
        return &line->own;
    while (gt_rivals[i] != rivals[way])
        i++;
    return &line->rival[i];
}

static const struct gt_bench_side *vendor_of(const struct row *r) {
    return r->why == NULL && r->line->best >= 0 ? &r->line->rival[r->line->best] : NULL;
}

static double digits(double x, double unit) {
    return floor(x / unit + 0.5) * unit;
}

/* The vendor's time over ours; NAN where one of them has none. */
static double ratio(const struct row *r, int way) {
    const struct gt_bench_side *vendor = vendor_of(r), *own = side_of(r->line, way);
    return vendor != NULL && own->timed
               ? digits(vendor->time.median_ns / own->time.median_ns, 1e-4)
               : (double)NAN;
}

static double ns_of(const struct row *r, int way) {
    const struct gt_bench_side *s = side_of(r->line, way);
    return r->why == NULL && s->timed ? s->time.median_ns : (double)NAN;
}

static double first_ms(const struct row *r, int way) {
    const struct gt_bench_side *s = side_of(r->line, way);
    return r->why == NULL && s->timed ? digits(1e3 * s->first_s, 1e-3) : (double)NAN;
}

static const char *vendor_name(const struct row *r) {
    return vendor_of(r) != NULL ? gt_rivals[r->line->best]->name : NULL;
}

static double vendor_ns(const struct row *r) {
    return vendor_of(r) != NULL ? vendor_of(r)->time.median_ns : (double)NAN;
}

/* Why a way has no time. */
static const char *note_of(const struct row *r) {
    for (int way = 0; r->why == NULL && way < WAYS_COUNT; way++)
        if (side_of(r->line, way)->error[0] != '\0')
            return side_of(r->line, way)->error;
    return r->why;
}

#define USES(X)                                                                            \
    X("problem", "problem", TEXT, 0, r->problem, "its name")                               \
    X("baseline", "baseline", TEXT, 0, vendor_name(r), "the fastest of the others")        \
    X("baseline_is", NULL, TEXT, 0, vendor_of(r) != NULL ? vendor_of(r)->what : NULL,      \
      "the baseline's kernel or library")                                                  \
    X("baseline_ns", "its time", NS, 0, vendor_ns(r), "its median time")                   \
    X("none_ratio", "none", COUNT, 0, ratio(r, NONE),                                      \
      "its time over the time of our plan without a workspace")                            \
    X("same_ratio", "same", COUNT, 0, ratio(r, SAME),                                      \
      "over the time of our plan with the workspace of all sides")                         \
    X("any_ratio", "any", COUNT, 0, ratio(r, ANY),                                         \
      "over the time of our plan with any workspace")                                      \
    X("call_ratio", "one call", COUNT, 0, ratio(r, CALL),                                  \
      "over the time of gemmtune_gemm, whose context has 32 MiB")                          \
    X("none_ns", NULL, NS, 0, ns_of(r, NONE), "median time of our plan without any")       \
    X("same_ns", NULL, NS, 0, ns_of(r, SAME), "of our plan with the workspace of all")     \
    X("any_ns", NULL, NS, 0, ns_of(r, ANY), "of our plan with any")                        \
    X("call_ns", NULL, NS, 0, ns_of(r, CALL), "of gemmtune_gemm")                          \
    X("first_plan_ms", "first plan", COUNT, 2, first_ms(r, SAME),                          \
      "host time of making the plan and its first call, in ms; the image cache is as it "  \
      "was")                                                                               \
    X("first_call_ms", "first call", COUNT, 2, first_ms(r, CALL),                          \
      "host time of the first gemmtune_gemm, in ms, after the plans were made")            \
    X("workspace", NULL, COUNT, 0, isfinite(r->workspace) ? r->workspace : (double)NAN,    \
      "bytes of workspace of the others, and of the plan with the same; empty: any")       \
    X("note", "", TAIL, 1, note_of(r), "the reason why a way was not measured")
GT_COLUMNS(use, struct row, USES)
const struct gt_form gt_bench_use_form = GT_FORM(use, "with --as-used");

static bool hear_rivals(void *user, const struct gt_absence *why) {
    const struct report *r = user;
    struct gt_bench_report as = {.by_name = r->by_name};
    return gt_bench_hear_rivals(&as, why);
}

static void hear_floor(void *user, size_t row, double floor) {
    (void)user, (void)row, (void)floor;
}

static void hear_line(void *user, size_t index, const struct gt_bench_line *line,
                      gt_outcome outcome, const char *text) {
    struct report *r = user;
    const struct row row = {r->sweep->item[index].name, line,
                            text == NULL && !line->own.timed ? line->own.error : text,
                            r->workspace};
    (void)outcome;
    (void)add_use(r->table, &row, NULL);
    r->done++;
    r->failed += row.why != NULL;
    for (int way = 0; way < WAYS_COUNT; way++) {
        const double x = ratio(&row, way);
        if (isfinite(x)) {
            r->logs[way] += log(x);
            r->counts[way]++;
        }
    }
}

static bool is_stopped(void) {
    return gt_session_stop != 0;
}

static void print_means(const struct report *r, FILE *out) {
    static const char *const names[WAYS_COUNT] = {
        [NONE] = "none", [SAME] = "same", [ANY] = "any", [CALL] = "one call"};
    for (int way = 0; way < WAYS_COUNT; way++)
        if (r->counts[way] > 0)
            fprintf(out, "geometric mean of %d ratio%s, %s: %.3f\n", r->counts[way],
                    gt_text_plural(r->counts[way]), names[way],
                    exp(r->logs[way] / r->counts[way]));
}

static unsigned ways(void) {
    unsigned bits = 0;
    for (int i = 0; i < GT_RIVALS; i++)
        bits |= (unsigned)gt_rivals[i]->is_way << i;
    return bits;
}

/* The JSON document is what `gemmtune figures` reads. */
static void print_json(const struct report *r, const struct gt_device *d,
                       const char *command) {
    gt_bench_print_head(d, command, r->workspace);
    for (size_t i = 0; i < r->done; i++) {
        (void)fputs(i > 0 ? ",\n  " : "\n  ", stdout);
        gt_table_json_row(r->table, i, stdout);
    }
    (void)fputs("\n]}\n", stdout);
}

int gt_bench_used(const struct gt_device *d, struct gt_bench_options o,
                  const struct gt_sweep *sweep, const struct gt_format *format,
                  const char *command, bool by_name) {
    struct report r = {.sweep = sweep, .by_name = by_name, .workspace = o.workspace};
    const struct gt_bench_listener on = {.user = &r,
                                         .rivals = hear_rivals,
                                         .floor = hear_floor,
                                         .line = hear_line,
                                         .stopped = is_stopped};
    struct gt_err err = {""};
    gt_status status = gt_table_create(&r.table, &gt_bench_use_form, &err);
    o.rivals |= ways();
    if (status == GEMMTUNE_OK)
        status = gt_bench_run(d, &o, sweep, false, &on, &err);
    if (r.done > 0 && format->json)
        print_json(&r, d, command);
    if (r.done > 0 && !format->json) {
        gt_common_print(r.table, format);
        print_means(&r, format->csv ? stderr : stdout);
    }
    gt_table_destroy(r.table);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    if (r.done < sweep->count)
        return gt_die(gt_session_exit(GT_EXIT_FAILURE), "stopped after %zu of %zu line%s",
                      r.done, sweep->count, gt_text_plural((int64_t)sweep->count));
    return r.failed > 0 ? gt_die(GT_EXIT_FAILURE, "%zu of %zu line%s failed", r.failed,
                                 r.done, gt_text_plural((int64_t)r.done))
                        : GT_EXIT_OK;
}
