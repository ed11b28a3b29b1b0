/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_check.c - `gemmtune predict --check`: prints how well predictions and trials
 * agree. `--fit`: prints costs with which they agree better. Both, and `--learn`, read the
 * trials here.
 */
#include "tuner/cmd/predict.h"

#include "tuner/base/quantile.h"
#include "tuner/base/talk.h"
#include "tuner/base/wrap.h"
#include "tuner/study/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums over groups ---- */

/* Groups that are summed up in one row: the groups of a family ("" means all families of a
 * problem together, NULL each family alone), used for fitting, held out, or both. */
struct slice {
    const char *family;
    int held_out; /* -1: both */
};

struct sums {
    size_t groups, trials;
    double median, worst, error;
    const char *worst_problem;
    double top[GT_TOPS], worst_top[GT_TOPS];
};

static bool is_in(const struct gt_check_row *r, const struct slice *s) {
    const bool fits =
        s->family != NULL ? strcmp(r->family, s->family) == 0 : r->family[0] != '\0';
    return fits && (s->held_out < 0 || r->held_out == (s->held_out != 0));
}

/* `scratch` has room for two numbers for each row. */
static struct sums sum_up(const struct gt_checked *c, const struct slice *s,
                          double *scratch) {
    struct sums sums = {.worst = 1};
    double *error = scratch + c->count;
    for (size_t i = 0; i < c->count; i++) {
        const struct gt_check_row *r = &c->row[i];
        if (!is_in(r, s))
            continue;
        if (sums.groups == 0 || r->spearman < sums.worst) {
            sums.worst = r->spearman;
            sums.worst_problem = r->problem;
        }
        error[sums.groups] = r->error;
        scratch[sums.groups++] = r->spearman;
        sums.trials += r->trials;
        for (int j = 0; j < GT_TOPS; j++) {
            sums.top[j] += log(r->top[j]);
            sums.worst_top[j] = fmax(sums.worst_top[j], r->top[j]);
        }
    }
    sums.median = gt_median(scratch, sums.groups);
    sums.error = gt_median(error, sums.groups);
    for (int j = 0; j < GT_TOPS && sums.groups > 0; j++)
        sums.top[j] = exp(sums.top[j] / (double)sums.groups);
    return sums;
}

/* ---- tables ---- */

struct row {
    const char *family, *which;
    struct sums sums;
};

#define SLICES(X)                                                                          \
    X("family", "family", TEXT, 0, r->family,                                              \
      "a family; each: each on its own; together: all families of a problem ranked as "    \
      "one")                                                                               \
    X("which", "problems", TEXT, 0, r->which,                                              \
      "all problems; fitted: the costs were fitted to these; held out: the others, "       \
      "which trees may have seen")                                                         \
    X("groups", "groups", COUNT, 2, r->sums.groups, "problems, a family each")             \
    X("trials", "trials", COUNT, 2, r->sums.trials, "trials of these groups")              \
    X("spearman_median", "Spearman", FIXED, 0, r->sums.median,                             \
      "rank correlation of predicted and measured times, median of the groups")            \
    X("spearman_worst", "worst", FIXED, 1, r->sums.worst, "the same for the worst group")  \
    X("error_median", "predicted/measured", FIXED, 3, r->sums.error,                       \
      "predicted over measured time, median")                                              \
    X("top1", "top 1", FIXED, 0, r->sums.top[0],                                           \
      "time of the point predicted fastest over the best trial's, geometric mean")         \
    X("top1_worst", "worst", FIXED, 4, r->sums.worst_top[0],                               \
      "the same for the worst group")                                                      \
    X("top10", "top 10", FIXED, 0, r->sums.top[1],                                         \
      "the same for the best of the first ten")                                            \
    X("top10_worst", "worst", FIXED, 4, r->sums.worst_top[1],                              \
      "the same for the worst group")                                                      \
    X("top50", "top 50", FIXED, 0, r->sums.top[2],                                         \
      "the same for the best of the first fifty")                                          \
    X("top50_worst", "worst", FIXED, 4, r->sums.worst_top[2],                              \
      "the same for the worst group")                                                      \
    X("worst_problem", NULL, TEXT, 0, r->sums.worst_problem,                               \
      "the problem with the worst correlation")
GT_COLUMNS(slice, struct row, SLICES)
const struct gt_form gt_predict_check_form = GT_FORM(slice, "with --check");

static gt_status put_slice(struct gt_table *t, const struct gt_checked *c,
                           const struct slice *s, double *scratch, struct gt_err *err) {
    static const char *const which[] = {"all", "fitted", "held out"};
    const struct row row = {.family = s->family == NULL      ? "each"
                                      : s->family[0] != '\0' ? s->family
                                                             : "together",
                            .which = which[s->held_out + 1],
                            .sums = sum_up(c, s, scratch)};
    return row.sums.groups > 0 ? add_slice(t, &row, err) : GEMMTUNE_OK;
}

static gt_status fill(struct gt_table *t, const struct gt_checked *c,
                      const struct gt_families *families, struct gt_err *err) {
    double *scratch = calloc(2 * c->count + 1, sizeof *scratch);
    gt_status status =
        scratch != NULL ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    const struct gt_family *f;
    for (size_t i = 0; status == GEMMTUNE_OK && (f = gt_families_at(families, i)) != NULL;
         i++)
        status = put_slice(t, c, &(struct slice){f->name, -1}, scratch, err);
    for (int i = 0; status == GEMMTUNE_OK && i < 6; i++)
        status =
            put_slice(t, c, &(struct slice){i < 3 ? NULL : "", i % 3 - 1}, scratch, err);
    free(scratch);
    return status;
}

static void print_json(const struct gt_checked *c, const struct gt_table *t,
                       const char *key) {
    const struct {
        const char *key;
        size_t value;
    } counts[] = {
        {"used", c->used},
        {"unmeasured", c->unmeasured},
        {"unknown_family", c->unknown_family},
        {"unbound", c->unbound},
        {"unpredicted", c->unpredicted},
        {"filled", c->filled},
        {"pruned", c->pruned},
        {"below_bound", c->below_bound},
    };
    bool first = true;
    (void)fputs("{", stdout);
    gt_json_text(&first, "device", key);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        gt_json_number(&first, counts[i].key, (double)counts[i].value);
    gt_json_number(&first, "nearest_pruned", c->pruned > 0 ? c->nearest_pruned : NAN);
    gt_json_name(&first, "rows");
    gt_table_json(t, stdout);
    (void)fputs("}\n", stdout);
}

static void print_people(const struct gt_checked *c, const struct gt_table *t,
                         const char *key, const struct gt_format *format) {
    printf("%s: %zu trial%s\n\n", key, c->used, gt_text_plural((int64_t)c->used));
    gt_common_print_people(t, format, stdout);
    printf("\n");
    gt_wrap_print(
        stdout, 4,
        "top N: the best measured time among the model's first N points of a "
        "problem, over the best trial's: geometric mean and worst. A group has at "
        "least %d trials.",
        GT_CHECK_LEAST);
    char nearest[64] = "";
    if (c->pruned > 0)
        (void)snprintf(nearest, sizeof nearest, ", the nearest at %.3f of the best",
                       c->nearest_pruned);
    gt_wrap_print(stdout, 4,
                  "bound: %zu trial%s faster than %s bound; %zu would have been skipped%s",
                  c->below_bound, c->below_bound == 1 ? " was" : "s were",
                  c->below_bound == 1 ? "its" : "their", c->pruned, nearest);
}

static void say_skipped(const struct gt_checked *c) {
    const struct {
        size_t count;
        const char *what;
    } rows[] = {
        {c->unmeasured, "were not correct or not timed"},
        {c->unknown_family, "are of unknown families"},
        {c->unbound, "are of points that their family no longer has"},
        {c->unpredicted, "have no prediction"},
        {c->filled, "take defaults for newer parameters"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].count > 0)
            gt_talk("trials that %s: %zu", rows[i].what, rows[i].count);
}

static gt_status print(const struct gt_checked *c, const struct gt_families *families,
                       const char *key, const struct gt_format *format,
                       struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status = gt_table_create(&t, &gt_predict_check_form, err);
    if (status == GEMMTUNE_OK)
        status = fill(t, c, families, err);
    if (status == GEMMTUNE_OK && format->json)
        print_json(c, t, key);
    else if (status == GEMMTUNE_OK && format->csv)
        gt_table_csv(t, stdout);
    else if (status == GEMMTUNE_OK)
        print_people(c, t, key, format);
    gt_table_destroy(t);
    return status;
}

/* ---- the command ---- */

/* Reads the trials of a device from the database, with `records` also its records. */
static gt_status read_trials(struct gt_view *view, const char **key, struct gt_db *db,
                             const char *device, bool records, struct gt_err *err) {
    size_t index;
    gt_status status = gt_view_devices(view, db, err);
    if (status == GEMMTUNE_OK)
        status = gt_view_pick(&index, view, device, err);
    if (status != GEMMTUNE_OK)
        return status;
    *key = view->device[index].key;
    status = gt_view_trials(view, db, *key, NULL, err);
    if (status == GEMMTUNE_OK && records)
        status = gt_view_records(view, db, *key, NULL, err);
    return status;
}

static gt_status check(const struct gt_view *view, const char *key,
                       const struct gt_families *families, const struct gt_format *format,
                       struct gt_err *err) {
    struct gt_checked checked = {0};
    gt_status status = gt_predict_check(&checked, view, families, key, err);
    if (status == GEMMTUNE_OK) {
        say_skipped(&checked);
        status = print(&checked, families, key, format, err);
    }
    gt_checked_clear(&checked);
    return status;
}

static void print_file(struct gt_fitted *f) {
    gt_costs_write(stdout, &f->costs);
    gt_talk(
        "%zu trial%s, off by %.1f %% (before %.1f %%), those held out by %.1f %% (%.1f %%)",
        f->trials, gt_text_plural((int64_t)f->trials), 100 * f->is[0], 100 * f->was[0],
        100 * f->is[1], 100 * f->was[1]);
}

static void print_fit_json(struct gt_fitted *f) {
    bool first = true, cost = true;
    (void)fputs("{", stdout);
    gt_json_number(&first, "trials", (double)f->trials);
    gt_json_number(&first, "error", f->is[0]);
    gt_json_number(&first, "error_before", f->was[0]);
    gt_json_number(&first, "held_out_error", f->is[1]);
    gt_json_number(&first, "held_out_error_before", f->was[1]);
    gt_json_name(&first, "costs");
    (void)fputs("{", stdout);
    for (int i = 0; i < GT_COSTS; i++)
        gt_json_number(&cost, gt_cost_list[i].name, *gt_cost_at(&f->costs, i));
    (void)fputs("}}\n", stdout);
}

static gt_status fit(const struct gt_view *view, const char *key,
                     const struct gt_families *families, const struct gt_format *format,
                     struct gt_err *err) {
    enum { STEPS = 3000 }; /* more steps gain nothing */
    struct gt_fitted f;
    const gt_status status =
        gt_predict_fit(&f, view, families, key, gt_shelf_shipped(gt_view_device(view, key)),
                       STEPS, 1, err);
    if (status == GEMMTUNE_OK)
        (format->json ? print_fit_json : print_file)(&f);
    return status;
}

int gt_predict_check_command(const struct gt_families *families, const char *db_path,
                             const char *device, enum gt_predict_work work,
                             const struct gt_format *format) {
    static const struct {
        gt_status (*run)(const struct gt_view *, const char *, const struct gt_families *,
                         const struct gt_format *, struct gt_err *);
        bool reads_records;
    } works[] = {[GT_PREDICT_CHECK] = {check, false},
                 [GT_PREDICT_FIT] = {fit, false},
                 [GT_PREDICT_LEARN] = {gt_predict_learn_print, true},
                 [GT_PREDICT_LEARN_MORE] = {gt_predict_learn_more_print, true}};
    struct gt_db *db = NULL;
    struct gt_view view = {0};
    const char *key;
    struct gt_err err = {""};
    const int code = gt_common_read_db(&db, db_path);
    if (code >= 0)
        return code;
    if (db == NULL)
        return GT_EXIT_FAILURE; /* the reason was printed before */
    gt_status status =
        read_trials(&view, &key, db, device, works[work].reads_records, &err);
    gt_db_close(db);
    if (status == GEMMTUNE_OK)
        status = works[work].run(&view, key, families, format, &err);
    gt_view_clear(&view);
    return status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
}
