/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - `gemmtune verify`: checks the stored winners of a device again, or the kernels
 * of a lock, on fresh data. Exit 5 when one is wrong, else 1 when one could not be
 * verified. With --row-order it compares bits of rows instead (verify_rows.c).
 */
#include "tuner/cmd/verify.h"

#include "runtime/lookup/lock.h"
#include "tuner/base/progress.h"
#include "tuner/cmd/common.h"
#include "tuner/cmd/session.h"
#include "tuner/cmd/verify_rows.h"
#include "tuner/base/view.h"
#include "tuner/base/talk.h"
#include "tuner/search/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct values {
    const char *device, *db, *lock, *sizes;
    struct gt_texts templates;
    int64_t seed, sample, rows, launches;
    bool all, row_order;
    bool quiet;
    bool silent; /* no table */
    struct gt_format format;
};

static const struct gt_option options[] = {
    GT_OPTION_DEVICE(struct values),
    GT_OPTION_DB(struct values),
    GT_OPTION_TEMPLATES(struct values),
    {"lock", 0, GT_OPT_TEXT, offsetof(struct values, lock), "FILE",
     "check the kernels that FILE pins (gemmtune lock), and none of the database", 0, 0},
    {"all", 'a', GT_OPT_FLAG, offsetof(struct values, all), NULL,
     "also check the other finalists, not only the winners; with --row-order also each "
     "start of a family that adds in the order",
     0, 0},
    {"sample", 0, GT_OPT_INT, offsetof(struct values, sample), "N",
     "check N of them, drawn by the seed", 1, INT64_C(1) << 31},
    {"row-order", 0, GT_OPT_FLAG, offsetof(struct values, row_order), NULL,
     "compute rows alone and among others, by the kernels for row_order, and compare bits: "
     "of the problems' types, layout, n, k and epilogue, or of all tuned with row_order",
     0, 0},
    {"sizes", 0, GT_OPT_TEXT, offsetof(struct values, sizes), "FILE",
     "with --row-order: problems in a file of JSON", 0, 0},
    {"rows", 0, GT_OPT_INT, offsetof(struct values, rows), "N",
     "with --row-order: different rows of A, the largest m (default 4096; 300 on a CPU)", 1,
     INT64_C(1) << 20},
    {"launches", 0, GT_OPT_INT, offsetof(struct values, launches), "N",
     "with --row-order: launches of a case, each of other rows (default 64; 12 on a CPU)",
     1, 256},
    {"seed", 0, GT_OPT_INT, offsetof(struct values, seed), "N",
     "seed of the data (default: from the clock, and printed)", 0, INT64_C(1) << 52},
    GT_OPTION_QUIET(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

struct row {
    const struct gt_view_row *record;
    const char *outcome, *why;
    double median_ns; /* 0: not timed */
};

#define VERIFIED(X)                                                                        \
    X("problem", "problem", TEXT, 0, r->record->problem, "its name")                       \
    X("family", "family", TEXT, 0, r->record->family, "family of the stored kernel")       \
    X("point", "point", POINT, 1, r->record->point, "values of the family's parameters")   \
    X("outcome", "outcome", TEXT, 0, r->outcome,                                           \
      "correct, stale, no family, or the failure")                                         \
    X("median_ns", "median", NS, 2, r->median_ns, "median time, measured now")             \
    X("error", "why", TAIL, 0, gt_cell_filled(r->why), "the reason why it is not correct")
GT_COLUMNS(verified, struct row, VERIFIED)
static const struct gt_form verified = GT_FORM(verified, "");

/* The results of the loop over the records. */
struct tally {
    struct gt_table *table;
    int verified, wrong, failed, stale,
        missing; /* missing: of families that are not here */
};

/* Adds a line to the table and 1 to the count of its kind. Returns the exit code, or -1. */
static int put(struct tally *t, int *count, const struct row *row) {
    ++*count;
    return add_verified(t->table, row, NULL) == GEMMTUNE_OK ? -1 : GT_EXIT_FAILURE;
}

/* A kernel that would not be the one that was measured. */
static int put_outdated(struct tally *t, const struct gt_view_row *record,
                        const struct gt_families *families) {
    const bool missing = gt_families_find(families, record->family) == NULL;
    const struct row row = {record, gt_view_outdated(record, families),
                            missing ? "a family of a folder? --templates names it"
                                    : "tuned with an older source of the family",
                            0};
    return put(t, missing ? &t->missing : &t->stale, &row);
}

static int verify_one(struct tally *t, struct gt_session *s,
                      const struct gt_view_row *record, uint64_t seed) {
    struct gt_candidate c;
    struct gt_report report;
    struct gt_err err = {""};
    gt_candidate_set(&c, record->family, record->point);
    if (!gt_view_current(record, s->families))
        return put_outdated(t, record, s->families);
    const gt_status status =
        gt_session_try(&report, s, GT_JOB_TRIAL, record->problem, &c, 1, seed, &err);
    if (gt_session_lost(status))
        return gt_die(GT_EXIT_DEVICE, "%s", err.line);
    if (status != GEMMTUNE_OK)
        return put(t, &t->failed, &(struct row){record, "not verified", err.line, 0});
    const struct gt_result *r = &report.result[0];
    const struct row row = {record, gt_outcome_word(r->outcome), r->error,
                            r->time.samples > 0 ? r->time.median_ns : 0};
    return put(t,
               r->outcome == GT_CORRECT        ? &t->verified
               : r->outcome == GT_WRONG_RESULT ? &t->wrong
                                               : &t->failed,
               &row);
}

/* The records that are to be checked. Of `left` records `wanted` are still to be drawn. */
struct sample {
    uint64_t random;
    size_t left, wanted;
};

static bool may_choose(const struct gt_view_row *row, const struct values *v) {
    return row->record && (v->all || row->rank == 0);
}

static struct sample begin_sample(const struct gt_view *view, const struct values *v,
                                  uint64_t seed) {
    struct sample s = {.random = seed};
    for (size_t i = 0; i < view->row_count; i++)
        s.left += may_choose(&view->row[i], v);
    s.wanted = v->sample > 0 && (size_t)v->sample < s.left ? (size_t)v->sample : s.left;
    return s;
}

/* Whether the next record is drawn: each with the same chance (selection sampling, Knuth,
 * The Art of Computer Programming 2, 3.4.2). */
static bool draw(struct sample *s) {
    const bool drawn = gt_random_uniform(&s->random) * (double)s->left < (double)s->wanted;
    s->left--;
    s->wanted -= drawn;
    return drawn;
}

static int verify_all(struct tally *t, struct gt_session *s, const struct gt_view *view,
                      const struct values *v, uint64_t seed) {
    struct gt_progress progress;
    struct gt_err err = {""};
    struct sample sample = begin_sample(view, v, seed);
    const size_t count = sample.wanted;
    size_t done = 0;
    int code = -1;
    if (gt_table_create(&t->table, &verified, &err) != GEMMTUNE_OK)
        return gt_die(GT_EXIT_FAILURE, "%s", err.line);
    gt_progress_init(&progress, count, v->quiet);
    for (size_t i = 0; code < 0 && i < view->row_count; i++) {
        if (!may_choose(&view->row[i], v) || !draw(&sample))
            continue;
        gt_progress_count(&progress, "verifying", done++, count);
        code = verify_one(t, s, &view->row[i], seed);
    }
    gt_progress_end(&progress);
    return code;
}

static int conclude(const struct tally *t, const struct values *v, uint64_t seed) {
    if (!v->silent)
        gt_common_print(t->table, &v->format);
    char missing[GT_CELL_MAX] = "";
    if (t->missing > 0)
        (void)snprintf(missing, sizeof missing, ", %d of no family", t->missing);
    gt_talk_line("%d correct, %d wrong, %d failed otherwise, %d stale%s (seed %llu)",
                 t->verified, t->wrong, t->failed, t->stale, missing,
                 (unsigned long long)seed);
    if (t->verified + t->wrong + t->failed == 0)
        return gt_die(GT_EXIT_FAILURE, "nothing was verified: no current record to check");
    return t->wrong ? GT_EXIT_VERIFY : t->failed ? GT_EXIT_FAILURE : GT_EXIT_OK;
}

/* Loads the records of the named problem, or of all. The database must exist. */
static int load(struct gt_view *view, const struct values *v, const char *device_key,
                const char *problem) {
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    const int code = gt_common_read_db(&db, v->db);
    if (code >= 0)
        return code;
    const gt_status status =
        db ? gt_view_records(view, db, device_key, problem, &err) : GEMMTUNE_OK;
    gt_db_close(db);
    return status != GEMMTUNE_OK ? gt_common_fail(status, &err) : -1;
}

/* The kernels of a lock as records. Each kernel of a problem has a row. */
static gt_status take_pins(struct gt_view *view, const struct gt_lock *lock,
                           const char *problem, struct gt_err *err) {
    view->row = calloc(GT_PIN_KERNELS * lock->count + 1, sizeof *view->row);
    if (view->row == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; i < GT_PIN_KERNELS * lock->count; i++) {
        const struct gt_pin *pin = &lock->pin[i / GT_PIN_KERNELS];
        const struct gt_pin_kernel *k = &pin->kernel[i % GT_PIN_KERNELS];
        struct gt_view_row *row = &view->row[view->row_count];
        if (k->family == NULL || (problem != NULL && strcmp(problem, pin->problem) != 0))
            continue;
        view->row_count++;
        (void)snprintf(row->problem, sizeof row->problem, "%s", pin->problem);
        (void)snprintf(row->family, sizeof row->family, "%s", k->family);
        memcpy(row->hash, k->hash, sizeof row->hash);
        row->record = true;
        row->point = strdup(k->point);
        if (row->point == NULL)
            return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    return GEMMTUNE_OK;
}

/* Exit 7: the lock is for another device or driver. Templates are looked at one by one. */
static int load_lock(struct gt_view *view, const struct values *v,
                     const struct gt_device *d, const char *problem) {
    struct gt_lock *lock = NULL;
    struct gt_err err = {""};
    gt_status status = gt_lock_load(&lock, v->lock, &err);
    for (int i = 0; status == GEMMTUNE_OK && i < GT_LOCK_FACTS; i++)
        status = gt_lock_check_fact(lock, d, i, &err);
    if (status == GEMMTUNE_OK)
        status = take_pins(view, lock, problem, &err);
    gt_lock_destroy(lock);
    return status == GEMMTUNE_OK ? -1 : gt_die(gt_exit_of(status), "%s", err.line);
}

/* `problem` NULL: all. */
static int verify(const struct values *v, const char *problem) {
    struct gt_session s;
    struct gt_view view = {0};
    struct tally t = {0};
    const uint64_t seed = v->seed >= 0 ? (uint64_t)v->seed : (uint64_t)time(NULL);
    const struct gt_session_setup setup = {.device = v->device, .templates = &v->templates};
    int code = gt_session_open(&s, &setup);
    if (code >= 0)
        return code;
    if (v->lock != NULL)
        code = load_lock(&view, v, &s.device, problem);
    else
        code = load(&view, v, s.device_key, problem);
    if (code < 0 && v->lock == NULL)
        gt_view_rank(&view, 0, s.families);
    if (code < 0)
        code = verify_all(&t, &s, &view, v, seed);
    if (code < 0)
        code = conclude(&t, v, seed);
    gt_table_destroy(t.table);
    gt_view_clear(&view);
    gt_session_close(&s);
    return code;
}

int gt_verify_sample(const char *db, const char *device, int64_t sample) {
    const struct values v = {
        .db = db, .device = device, .sample = sample, .seed = -1, .silent = true};
    return verify(&v, NULL);
}

/* Options of one of the two comparisons only. Exit 2. */
static int check_options(const struct values *v, int operands) {
    if (v->row_order && (v->sample > 0 || v->lock != NULL))
        return gt_die(GT_EXIT_USAGE, "verify: --sample and --lock go without --row-order");
    if (v->row_order)
        return -1;
    if (v->sizes != NULL || v->rows > 0 || v->launches > 0)
        return gt_die(GT_EXIT_USAGE,
                      "verify: --sizes, --rows and --launches go with --row-order");
    return operands <= 1 ? -1
                         : gt_die(GT_EXIT_USAGE, "verify: name one problem, or give "
                                                 "--row-order");
}

static int compare_rows(const struct values *v, const char *const *names, int count) {
    const struct gt_verify_rows rows = {.device = v->device,
                                        .db = v->db,
                                        .sizes = v->sizes,
                                        .templates = &v->templates,
                                        .names = names,
                                        .count = count,
                                        .rows = v->rows,
                                        .launches = v->launches,
                                        .seed = v->seed >= 0 ? (uint64_t)v->seed
                                                             : (uint64_t)time(NULL),
                                        .all = v->all,
                                        .quiet = v->quiet,
                                        .format = &v->format};
    return gt_verify_rows(&rows);
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.seed = -1};
    gemmtune_problem p;
    char name[GT_PROBLEM_NAME_MAX];
    int first = 0;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, 100000, &first);
    if (code < 0)
        code = check_options(&v, argc - first);
    if (code < 0 && v.row_order)
        return compare_rows(&v, (const char *const *)argv + first, argc - first);
    if (code < 0 && first < argc)
        code = gt_common_problem(&p, argv[first]);
    if (code >= 0)
        return code;
    if (first < argc)
        gt_problem_name(&p, name);
    return verify(&v, first < argc ? name : NULL);
}

const struct gt_cmd gt_cmd_verify = {
    .name = "verify",
    .operands = "[PROBLEM...] [--row-order] [--device N]",
    .about = "Check the stored winners against the reference again.",
    .options = options,
    .tables = (const struct gt_form *const[]){&verified, &gt_verify_rows_form, NULL},
    .run = run,
};
