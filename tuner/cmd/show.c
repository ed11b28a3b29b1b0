/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.c - `gemmtune show PROBLEM`: lists every point tried on one problem, the winner
 * first and the others by their times, then the failures with the command that tries each
 * again. The finals decided the winner, so their times count before the times of trials.
 */
#include "tuner/cmd/common.h"

#include "tuner/cmd/again.h"
#include "tuner/base/talk.h"
#include "tuner/base/view.h"
#include "tuner/tune/seeded.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct values {
    struct gt_format format;
    const char *db, *device;
    int64_t limit;
};

static const struct gt_option options[] = {
    GT_OPTION_DB(struct values),
    {"device", 'd', GT_OPT_TEXT, offsetof(struct values, device), "NAME",
     "only this device: its key, or part of its key or name", 0, 0},
    {"limit", 'n', GT_OPT_INT, offsetof(struct values, limit), "N",
     "show at most N correct trials (else all)", 1, INT32_MAX},
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

enum { PATH_SIZE = 4096 };

/* ---- order ---- */

/* Rows with the same word stay together: correct trials first, unfinished ones last. */
static int group_of(const struct gt_view_row *r) {
    return r->state == GT_TRIAL_DONE ? (int)r->outcome : 100 + (int)r->state;
}

static bool is_correct(const struct gt_view_row *r) {
    return group_of(r) == (int)GT_CORRECT;
}

static bool is_winner(const struct gt_view_row *r) {
    return r->rank == 0;
}

/* A trial without a time counts as slow. */
static double time_of(const struct gt_view_row *r) {
    return r->final_ns > 0 ? r->final_ns : r->median_ns > 0 ? r->median_ns : 1e300;
}

static int best_first(const void *a, const void *b) {
    const struct gt_view_row *x = a, *y = b;
    int order = (group_of(x) > group_of(y)) - (group_of(x) < group_of(y));
    if (order == 0)
        order = is_winner(y) - is_winner(x);
    if (order == 0)
        order = (time_of(x) > time_of(y)) - (time_of(x) < time_of(y));
    if (order == 0)
        order = strcmp(x->family, y->family);
    return order != 0 ? order : strcmp(x->point, y->point);
}

/* ---- printing ---- */

struct given {
    struct gt_again again;
    const struct gt_seeds *seeds;
    const struct gt_families *families;
    char seeded_key[GT_DEVICE_KEY_MAX]; /* the device that `seeded` is about */
    struct gt_seeded seeded;
};

/* The source of a seed that stands for the row's point; NULL: there is none. */
static const char *source_of(struct given *g, const struct gt_view *v,
                             const struct gt_view_row *r, const gemmtune_problem *p) {
    size_t i = 0;
    while (i < v->device_count && strcmp(v->device[i].key, r->device) != 0)
        i++;
    if (i == v->device_count)
        return NULL;
    if (strcmp(g->seeded_key, r->device) != 0) {
        memcpy(g->seeded_key, r->device, sizeof g->seeded_key);
        if (gt_seeded_find(&g->seeded, g->seeds, g->families, &v->device[i].device, p,
                           NULL) != GEMMTUNE_OK)
            g->seeded.count = 0;
    }
    return gt_seeded_source(&g->seeded, r->family, r->point);
}

struct row {
    const struct gt_view_row *trial;
    size_t number;
    double flops; /* number of operations of the problem */
    const char *seed;
    char command[GT_AGAIN_COMMAND_MAX];
};

/* -1 is unknown. */
static double counted(int value) {
    return value >= 0 ? value : (double)NAN;
}

#define TRIALS(X)                                                                          \
    X(NULL, "#", COUNT, 0, r->number,                                                      \
      "rank: the winner, then by the times of the finals or of trials")                    \
    X("device", "device", KEY, 0, r->trial->device, "key of the device")                   \
    X("family", "family", TEXT, 0, r->trial->family, "kernel family")                      \
    X("point", "point", POINT, 1, r->trial->point, "values of the family's parameters")    \
    X("outcome", NULL, TEXT, 0, gt_view_word(r->trial), "outcome of the trial")            \
    X(NULL, "record", TEXT, 0, is_winner(r->trial) ? "winner" : NULL,                      \
      "winner: it is the problem's record, as in list")                                    \
    X("winner", NULL, BOOL, 0, is_winner(r->trial), "whether it is the problem's record")  \
    X("final_ns", "in finals", NS, 0, gt_cell_known(r->trial->final_ns),                   \
      "median time in the finals, in turns with the other finalists")                      \
    X("median_ns", "median", NS, 0, r->trial->median_ns,                                   \
      "median time of a product in its trial")                                             \
    X("low_ns", "low", NS, 4, r->trial->low_ns, "lower end of the median's 95 % interval") \
    X("high_ns", "high", NS, GT_PAIRED(4), r->trial->high_ns, "upper end of the interval") \
    X("samples", "samples", COUNT, 5, r->trial->samples,                                   \
      "samples of the trial; a single one has no interval")                                \
    X("gflops", "GFLOP/s", RATE, 0, r->flops / r->trial->median_ns, "rate in the trial")   \
    X("registers", "regs", COUNT, 2, counted(r->trial->registers), "registers a thread")   \
    X("spill_bytes", "spill", COUNT, 3, counted(r->trial->spill_bytes),                    \
      "bytes of a thread's registers that are in memory")                                  \
    X("provenance", "from", TEXT, 5, r->trial->provenance, "origin of the result")         \
    X("seed", "seed", TEXT, 5, r->seed,                                                    \
      "who else knows the point: searches on such a device begin with it")                 \
    X("error", NULL, TEXT, 0, r->trial->error, "the reason for a failure")                 \
    X("command", NULL, TEXT, 0, r->command, "the command that tries the point again")
GT_COLUMNS(trial, struct row, TRIALS)
static const struct gt_form trials = GT_FORM(trial, "");

static gt_status add_row(struct gt_table *t, const struct gt_view *v, size_t i,
                         const gemmtune_problem *p, struct given *g, struct gt_err *err) {
    struct row row = {.trial = &v->row[i], .number = i + 1, .flops = gt_problem_flops(p)};
    row.seed = source_of(g, v, &v->row[i], p);
    gt_again_command(row.command, &g->again, &v->row[i]);
    return add_trial(t, &row, err);
}

/* For people, the failures have a section of their own. */
static gt_status print_table(const struct gt_view *v, const gemmtune_problem *p,
                             struct given *g, const struct values *values,
                             struct gt_err *err) {
    const bool people = !values->format.json && !values->format.csv;
    struct gt_table *t = NULL;
    int64_t correct = 0;
    gt_status status = gt_table_create(&t, &trials, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < v->row_count; i++) {
        const bool counts = is_correct(&v->row[i]);
        correct += counts;
        if (counts ? correct <= values->limit : !people)
            status = add_row(t, v, i, p, g, err);
    }
    if (status == GEMMTUNE_OK && (correct > 0 || !people))
        gt_common_print(t, &values->format);
    if (status == GEMMTUNE_OK && people && correct > values->limit)
        printf("... and %" PRId64 " slower ones\n", correct - values->limit);
    gt_table_destroy(t);
    return status;
}

static void print_failure(const struct gt_view_row *r, struct given *g) {
    char command[GT_AGAIN_COMMAND_MAX];
    gt_again_command(command, &g->again, r);
    printf("  %s %s\n", r->family, r->point);
    if (r->error[0] != '\0')
        printf("    %s\n", r->error);
    printf("    %s\n", command);
}

static void print_failures(const struct gt_view *v, struct given *g) {
    size_t i = 0;
    while (i < v->row_count && is_correct(&v->row[i]))
        i++;
    while (i < v->row_count) {
        size_t end = i;
        while (end < v->row_count && group_of(&v->row[end]) == group_of(&v->row[i]))
            end++;
        printf("\n%s (%zu)\n", gt_view_word(&v->row[i]), end - i);
        for (; i < end; i++)
            print_failure(&v->row[i], g);
    }
}

/* ---- the command ---- */

/* The winner is the one of `list`, which puts stale records last. */
static gt_status join_records(struct gt_view *v, struct gt_db *db,
                              const struct gt_families *families, const char *key,
                              const char *problem, struct gt_err *err) {
    struct gt_view records = {0};
    const gt_status status = gt_view_records(&records, db, key, problem, err);
    if (status == GEMMTUNE_OK) {
        gt_view_rank(&records, 0, families);
        gt_view_join(v, &records);
    }
    gt_view_clear(&records);
    return status;
}

static gt_status load(struct gt_view *v, struct gt_db *db,
                      const struct gt_families *families, const char *device,
                      const char *problem, struct gt_err *err) {
    size_t index = 0;
    gt_status status = gt_view_devices(v, db, err);
    if (status == GEMMTUNE_OK && device != NULL)
        status = gt_view_pick(&index, v, device, err);
    if (status != GEMMTUNE_OK)
        return status == GEMMTUNE_ENOTFOUND ? GEMMTUNE_EINVAL : status;
    const char *key = device != NULL ? v->device[index].key : NULL;
    status = gt_view_trials(v, db, key, problem, err);
    if (status == GEMMTUNE_OK && v->row_count == 0) /* imported results have only records */
        status = gt_view_records(v, db, key, problem, err);
    if (status == GEMMTUNE_OK)
        status = join_records(v, db, families, key, problem, err);
    if (v->row_count > 0)
        qsort(v->row, v->row_count, sizeof *v->row, best_first);
    return status;
}

/* Also the seeds beside the database. A damaged file has none, which is said. */
static gt_status open_seeds(struct gt_seeds **out, struct gt_db *db, struct gt_err *err) {
    char path[PATH_SIZE];
    struct gt_err why = {""};
    const bool fits = db != NULL && gt_seeds_path(path, sizeof path, gt_db_real_path(db));
    gt_status status = gt_seeds_create(out, fits ? path : NULL, &why);
    if (status == GEMMTUNE_OK || status == GEMMTUNE_ENOMEM)
        return status;
    gt_talk("%s", why.line);
    return gt_seeds_create(out, NULL, err);
}

static int show(const gemmtune_problem *p, struct gt_db *db, const struct values *values) {
    char name[GT_PROBLEM_NAME_MAX];
    struct gt_view view = {0};
    struct gt_seeds *seeds = NULL;
    struct gt_families *families = NULL;
    struct given given = {.again = {.db = db}};
    struct gt_err err = {""};
    (void)gt_problem_name(p, name);
    gt_status status = gt_families_create(&families, &err);
    if (status == GEMMTUNE_OK)
        status = open_seeds(&seeds, db, &err);
    if (status == GEMMTUNE_OK && db != NULL)
        status = load(&view, db, families, values->device, name, &err);
    given.seeds = seeds;
    given.families = families;
    if (status == GEMMTUNE_OK)
        status = print_table(&view, p, &given, values, &err);
    if (status == GEMMTUNE_OK && !values->format.json && !values->format.csv)
        print_failures(&view, &given);
    if (status == GEMMTUNE_OK && view.row_count == 0)
        status = gt_fail(&err, GEMMTUNE_ENOTFOUND, "%s has not been tried", name);
    gt_view_clear(&view);
    gt_seeds_destroy(seeds);
    gt_families_destroy(families);
    return status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.limit = INT32_MAX};
    gemmtune_problem p;
    struct gt_db *db = NULL;
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 1, 1, &first);
    if (code < 0)
        code = gt_common_problem(&p, argv[first]);
    if (code < 0)
        code = gt_common_read_db(&db, v.db);
    if (code < 0)
        code = show(&p, db, &v);
    gt_db_close(db);
    return code;
}

const struct gt_cmd gt_cmd_show = {
    .name = "show",
    .operands = "PROBLEM",
    .about = "Show every trial of a problem, the winner first, then failures by outcome.",
    .options = options,
    .tables = (const struct gt_form *const[]){&trials, NULL},
    .run = run,
};
