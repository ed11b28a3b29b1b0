/* SPDX-License-Identifier: Apache-2.0 */
/* verify_rows.c - see verify_rows.h. */
#include "tuner/cmd/verify_rows.h"

#include "core/epilogue/epilogue_keep.h"
#include "tuner/base/progress.h"
#include "tuner/base/talk.h"
#include "tuner/rig/probe.h"
#include "tuner/study/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096, ROWS_CPU = 300, LAUNCHES = 64, LAUNCHES_CPU = 12 };

struct line {
    char kind[GT_PROBLEM_NAME_MAX]; /* the problem's name with m = 1 */
    const char *verdict;
    struct gt_rows_report r;
    char why[640];
};

#define ROWS_LIST(X)                                                                       \
    X("problem", "rows of", TEXT, 0, r->kind,                                              \
      "types, layout, n, k and epilogue of the rows, as a product of one row")             \
    X("verdict", "verdict", TEXT, 0, r->verdict,                                           \
      "same: all bits were; differ; not compared: see the reason")                         \
    X("order", "order of sums", TEXT, 1, r->r.order, "the order in which kernels add")     \
    X("compared", "compared", COUNT, 0, r->r.compared,                                     \
      "rows, each time that one was computed in another place")                            \
    X("differing", "differ", COUNT, 0, r->r.differing, "rows with other bits")             \
    X("cases", "cases", COUNT, 2, r->r.cases, "shapes and places of products")             \
    X("kernels", "kernels", COUNT, 2, r->r.kernels, "different kernels that took part")    \
    X("refused", "refused", COUNT, 2, r->r.refused,                                        \
      "cases that no kernel in the order may run")                                         \
    X("why", "why", TAIL, 0, r->why[0] != '\0' ? r->why : NULL,                            \
      "the first row that differs, the first refusal, or the reason")
GT_COLUMNS(rows, struct line, ROWS_LIST)
const struct gt_form gt_verify_rows_form = GT_FORM(rows, "with --row-order");

/* All that the loop over the kinds needs. */
struct proof {
    const struct gt_verify_rows *v;
    struct gt_device device;
    char device_key[GT_DEVICE_KEY_MAX];
    struct gt_families *families;
    struct gt_snapshot snapshot;
    struct gt_rig *rig;
    struct gt_table *table;
    struct gt_progress progress;
    char problem[GT_PROBLEM_NAME_MAX];
    size_t done, count;
    int64_t compared, differing;
    int failed;
};

/* ---- the kinds of rows ----------------------------------------------------------- */

static gemmtune_problem kind_of(const gemmtune_problem *p) {
    gemmtune_problem q = gt_match_row(p);
    q.reads_c = 0;
    q.row_order = 1;
    q.stride_a = gt_problem_shape_a(&q).rows * q.lda;
    q.stride_b = gt_problem_shape_b(&q).rows * q.ldb;
    q.stride_c = q.ldc;
    return q;
}

static int compare_kinds(const void *a, const void *b) {
    return strcmp(a, b);
}

typedef char kind_name[GT_PROBLEM_NAME_MAX];

/* The names of all kinds, each once. Exit 1 without memory. */
static int list_kinds(kind_name **out, size_t *count, const struct proof *x,
                      const struct gt_sweep *sweep) {
    const bool named = sweep->count > 0;
    const size_t most = named ? sweep->count : x->snapshot.count;
    kind_name *all = calloc(most + 1, sizeof *all);
    size_t n = 0, kept = 0;
    if (all == NULL)
        return gt_die(GT_EXIT_FAILURE, "out of memory");
    for (size_t i = 0; i < most; i++) {
        const gemmtune_problem *p =
            named ? &sweep->item[i].problem : &x->snapshot.known[i].problem;
        const gemmtune_problem kind = kind_of(p);
        if (named || p->row_order)
            (void)gt_problem_name(&kind, all[n++]);
    }
    qsort(all, n, sizeof *all, compare_kinds);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || strcmp(all[i], all[kept - 1]) != 0)
            memmove(all[kept++], all[i], sizeof *all);
    *out = all;
    *count = kept;
    return -1;
}

/* ---- the comparison -------------------------------------------------------------- */

static void say(void *user, const char *what) {
    struct proof *x = user;
    char text[GT_PROBLEM_NAME_MAX + 300];
    (void)snprintf(text, sizeof text, "[%zu/%zu] %s  %s", x->done + 1, x->count, x->problem,
                   what);
    gt_progress_step(&x->progress, text);
}

static int64_t or_usual(int64_t given, int64_t usual) {
    return given > 0 ? given : usual;
}

static int compare_kind(struct proof *x, const char *name) {
    struct line line = {.verdict = "same"};
    struct gt_err err = {""};
    gemmtune_problem p;
    gt_status status = gt_problem_from_name(&p, name, &err);
    const struct gt_rows_setup setup = {
        .rig = x->rig,
        .snapshot = &x->snapshot,
        .device_key = x->device_key,
        .problem = &p,
        .rows = or_usual(x->v->rows, x->device.is_cpu ? ROWS_CPU : ROWS),
        .launches =
            (int)or_usual(x->v->launches, x->device.is_cpu ? LAUNCHES_CPU : LAUNCHES),
        .starts = x->v->all,
        .seed = x->v->seed,
        .say = say,
        .user = x};
    (void)snprintf(line.kind, sizeof line.kind, "%s", name);
    (void)snprintf(x->problem, sizeof x->problem, "%s", name);
    if (status == GEMMTUNE_OK)
        status = gt_rows_compare(&line.r, &setup, &err);
    if (status == GEMMTUNE_EDEVICE)
        return gt_die(GT_EXIT_DEVICE, "%s", err.line);
    if (status != GEMMTUNE_OK || line.r.compared == 0) {
        line.verdict = "not compared";
        x->failed++;
    } else if (line.r.differing > 0) {
        line.verdict = "differ";
    }
    (void)snprintf(line.why, sizeof line.why, "%s",
                   status != GEMMTUNE_OK  ? err.line
                   : line.r.differing > 0 ? line.r.first
                                          : line.r.refusal);
    x->compared += line.r.compared;
    x->differing += line.r.differing;
    x->done++;
    return add_rows(x->table, &line, NULL) == GEMMTUNE_OK
               ? -1
               : gt_die(GT_EXIT_FAILURE, "out of memory");
}

static int compare_all(struct proof *x, const struct gt_sweep *sweep) {
    kind_name *kind = NULL;
    struct gt_err err = {""};
    int code = list_kinds(&kind, &x->count, x, sweep);
    if (code < 0 && x->count == 0)
        code = gt_die(GT_EXIT_FAILURE, "nothing was compared: name problems, or tune some "
                                       "with row_order");
    if (code < 0 && gt_table_create(&x->table, &gt_verify_rows_form, &err) != GEMMTUNE_OK)
        code = gt_die(GT_EXIT_FAILURE, "%s", err.line);
    gt_progress_init(&x->progress, x->count, x->v->quiet);
    for (size_t i = 0; code < 0 && i < x->count; i++)
        code = compare_kind(x, kind[i]);
    gt_progress_end(&x->progress);
    free(kind);
    return code;
}

static int conclude(const struct proof *x) {
    gt_common_print(x->table, x->v->format);
    gt_talk_line("%" PRId64 " rows compared, %" PRId64 " differ (seed %" PRIu64 ")",
                 x->compared, x->differing, x->v->seed);
    return x->differing > 0 ? GT_EXIT_VERIFY : x->failed > 0 ? GT_EXIT_FAILURE : GT_EXIT_OK;
}

/* Opens the device and reads the records. */
static int open_all(struct proof *x) {
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    struct gt_known *known = NULL;
    int64_t stale;
    int code = gt_common_families(&x->families, x->v->templates);
    if (code < 0)
        code = gt_common_read_db(&db, x->v->db);
    if (code < 0 && gt_probe_pick(&x->device, x->v->device, true, &err) != GEMMTUNE_OK)
        code = gt_die(GT_EXIT_DEVICE, "%s", err.line);
    x->snapshot.families = x->families;
    if (code < 0 && db != NULL) {
        const gt_status status = gt_known_load(&known, &x->snapshot.count, &stale, db,
                                               x->families, x->device.arch, &err);
        code = status != GEMMTUNE_OK ? gt_common_fail(status, &err) : -1;
    }
    x->snapshot.known = known;
    gt_db_close(db);
    if (code < 0 && gt_rig_open(&x->rig, &x->device, &err) != GEMMTUNE_OK)
        code = gt_die(GT_EXIT_DEVICE, "%s", err.line);
    return code;
}

int gt_verify_rows(const struct gt_verify_rows *v) {
    struct proof x = {.v = v};
    struct gt_sweep sweep = {0};
    int code = v->sizes != NULL || v->count > 0
                   ? gt_common_sweep(&sweep, v->sizes, v->names, v->count)
                   : -1;
    if (code < 0)
        code = open_all(&x);
    if (code < 0) {
        gt_device_key(&x.device, x.device_key);
        code = compare_all(&x, &sweep);
    }
    if (code < 0)
        code = conclude(&x);
    gt_table_destroy(x.table);
    gt_rig_close(x.rig);
    free((void *)(uintptr_t)x.snapshot.known);
    gt_families_destroy(x.families);
    gt_sweep_clear(&sweep);
    return code;
}
