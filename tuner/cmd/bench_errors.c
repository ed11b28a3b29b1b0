/* SPDX-License-Identifier: Apache-2.0 */
/* bench_errors.c - `gemmtune bench --error`: times and errors side by side. */
#include "tuner/base/progress.h"
#include "tuner/base/talk.h"
#include "tuner/cmd/bench.h"
#include "tuner/cmd/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_stopped(void) {
    return gt_session_stop != 0;
}

/* One way to compute one problem, on one kind of data. */
struct row {
    const char *problem;
    double flops;
    const struct gt_way *way;
    int data;
};

static bool is_measured(const struct row *r) {
    return r->way->why[0] == '\0';
}

/* The name of a way of cuBLAS says its arithmetic: "cuBLAS 13.1.0, tf32". */
static const char *way_of(const struct row *r) {
    return strcmp(r->way->whose, "cublas") == 0 ? r->way->name : r->way->whose;
}

/* Our kernel; a way of cuBLAS has no more to say. */
static const char *note_of(const struct row *r) {
    return !is_measured(r)                        ? r->way->why
           : strcmp(r->way->whose, "cublas") == 0 ? NULL
                                                  : r->way->name;
}

/* Four digits: an error is not known better. */
static double digits(double x, bool known) {
    if (!known || !isfinite(x) || x == 0)
        return known ? x : (double)NAN;
    const double unit = pow(10, floor(log10(x)) - 3);
    return floor(x / unit + 0.5) * unit;
}

#define WAYS(X)                                                                            \
    X("problem", "problem", TEXT, 0, r->problem, "its name")                               \
    X("way", "way", TEXT, 0, way_of(r), "the library, and its arithmetic")                 \
    X("ns", "ns", COUNT, 0, digits(r->way->time.median_ns, is_measured(r)),                \
      "median time on uniform data")                                                       \
    X("gflops", "GFLOP/s", COUNT, 0,                                                       \
      digits(r->flops / r->way->time.median_ns, is_measured(r)), "rate at the median")     \
    X("data", "data", TEXT, 0, gt_error_data_name(r->data),                                \
      "uniform in [-1, 1), sizes of these (one sign), these times 2^-16 to 2^15 (wide)")   \
    X("error_max", "max error", COUNT, 0,                                                  \
      digits(r->way->error[r->data].most, is_measured(r)),                                 \
      "greatest |c - ref| / (u |A||B|), u the unit roundoff of the type")                  \
    X("error_mean", "mean error", COUNT, 0,                                                \
      digits(r->way->error[r->data].mean, is_measured(r)), "mean of the same")             \
    X("note", "", TAIL, 1, note_of(r),                                                     \
      "our kernel, or the reason why the way was not measured")
GT_COLUMNS(way, struct row, WAYS)
const struct gt_form gt_bench_way_form = GT_FORM(way, "with --error");

static void add_ways(struct gt_table *t, const struct gt_sweep_item *item,
                     const struct gt_errors *e) {
    const double flops = gt_problem_flops(&item->problem);
    for (int i = 0; i < e->ways; i++)
        for (int data = 0; data < GT_ERROR_DATA; data++)
            (void)add_way(t, &(struct row){item->name, flops, &e->way[i], data}, NULL);
    if (e->missing[0] != '\0')
        gt_talk("%s: without cublas: %s", item->name, e->missing);
}

int gt_bench_errors(const struct gt_device *d, const struct gt_bench_options *o,
                    const struct gt_sweep *sweep, const struct gt_format *format,
                    bool quiet) {
    struct gt_progress progress;
    struct gt_table *t = NULL;
    int code = GT_EXIT_OK;
    struct gt_err err = {""};
    size_t done = 0;
    if (gt_table_create(&t, &gt_bench_way_form, &err) != GEMMTUNE_OK)
        return gt_common_fail(GEMMTUNE_ENOMEM, &err);
    gt_progress_init(&progress, sweep->count, quiet);
    for (size_t i = 0; i < sweep->count && !is_stopped(); i++) {
        struct gt_errors e;
        const struct gt_sweep_item *item = &sweep->item[i];
        gt_progress_count(&progress, "measuring errors", i, sweep->count);
        const gt_status status =
            gt_bench_ask_errors(&e, d, o, &item->problem, is_stopped, &err);
        if (status == GEMMTUNE_OK)
            add_ways(t, item, &e);
        else if (!is_stopped()) {
            (void)gt_fail_within(&err, status, "%s", item->name);
            code = gt_common_fail(status, &err);
        }
        done += status == GEMMTUNE_OK;
    }
    gt_progress_end(&progress);
    gt_common_print(t, format);
    gt_table_destroy(t);
    if (is_stopped() && done < sweep->count)
        return gt_die(gt_session_exit(GT_EXIT_FAILURE),
                      "stopped after %zu of %zu problem%s", done, sweep->count,
                      gt_text_plural((int64_t)sweep->count));
    return code;
}
