/* SPDX-License-Identifier: Apache-2.0 */
/* compare_table.c - prints the rows of `gemmtune compare` as a table. */
#include "tuner/cmd/compare.h"

#include <stdlib.h>
#include <string.h>

/* A row with its texts. */
struct line {
    const struct gt_compare_row *row;
    char kernel[2 * GT_NAME_MAX + 16];
    char shared[GT_NAME_MAX + GT_POINT_TEXT_MAX];
};

/* ---- values ---- */

static double best_ns(const struct gt_compare_part *part) {
    return gt_cell_known(part->best.family != NULL ? part->best.prediction.ns : 0);
}

/* The measured rate of a tuned row. A published row already shows its time. */
static double tuned_rate(const struct gt_compare_row *r, int side) {
    return gt_cell_known(r->source == GT_COMPARE_TUNED ? r->part[side].gflops : 0);
}

static const struct gt_versus_row *versus_of(const struct gt_compare_row *r) {
    static const struct gt_versus_row none;
    return r->versus != NULL ? r->versus : &none;
}

static const char *shared_family(const struct gt_compare_row *r) {
    const struct gt_view_row *shared = versus_of(r)->shared;
    return shared != NULL ? shared->family : NULL;
}

static const char *shared_point(const struct gt_compare_row *r) {
    const struct gt_view_row *shared = versus_of(r)->shared;
    return shared != NULL ? shared->point : NULL;
}

static const char *title_of(const struct gt_compare_row *r) {
    return r->published != NULL ? r->published->title : NULL;
}

static const char *predicted_point(const struct gt_compare_row *r) {
    return r->source == GT_COMPARE_PUBLISHED ? gt_cell_filled(r->published->point) : NULL;
}

static const char *source_of(const struct gt_compare_row *r) {
    return r->source == GT_COMPARE_TUNED       ? "tuned"
           : r->source == GT_COMPARE_PREDICTED ? "predicted"
                                               : "published";
}

/* Rounds to three digits, as the ratio is shown elsewhere. */
static double rounded(double ratio) {
    char buf[GT_CELL_MAX];
    const char *text = gt_compare_ratio(buf, ratio);
    return gt_cell_known(text != NULL ? strtod(text, NULL) : 0);
}

static void make_texts(struct line *l, const struct gt_compare_row *r) {
    const char *a = r->part[0].kernel, *b = r->part[1].kernel;
    l->row = r;
    if (a == NULL || b == NULL || strcmp(a, b) == 0)
        (void)snprintf(l->kernel, sizeof l->kernel, "%s", a != NULL ? a : b);
    else
        (void)snprintf(l->kernel, sizeof l->kernel, "%s, %s", a, b);
    l->shared[0] = '\0';
    if (shared_family(r) != NULL)
        (void)snprintf(l->shared, sizeof l->shared, "%s %s", shared_family(r),
                       shared_point(r));
}

/* ---- columns ---- */

#define A               0
#define B               1
#define PART(side)      r->row->part[side]
#define TIME(side)      gt_cell_known(PART(side).ns)
#define PREDICTED(side) gt_cell_known(PART(side).predicted_ns)

#define FOR_PROGRAMS(X)                                                                    \
    X("problem", NULL, TEXT, 0, r->row->problem, "its name, or its multiplications")       \
    X("source", NULL, TEXT, 0, source_of(r->row), "tuned here, published or predicted")    \
    X("a_family", NULL, TEXT, 0, PART(A).kernel, "kernel on A")                            \
    X("a_point", NULL, TEXT, 0, PART(A).point, "values of its family's parameters")        \
    X("a_ns", NULL, NS, 0, TIME(A), "time on A")                                           \
    X("a_gflops", NULL, RATE, 0, gt_cell_known(PART(A).gflops), "rate on A")               \
    X("b_family", NULL, TEXT, 0, PART(B).kernel, "kernel on B")                            \
    X("b_point", NULL, TEXT, 0, PART(B).point, "values of its family's parameters")        \
    X("b_ns", NULL, NS, 0, TIME(B), "time on B")                                           \
    X("b_gflops", NULL, RATE, 0, gt_cell_known(PART(B).gflops), "rate on B")               \
    X("ratio", NULL, COUNT, 0, rounded(r->row->ratio), "time on A over time on B")         \
    X("differs", NULL, TEXT, 0, gt_cell_filled(versus_of(r->row)->differs),                \
      "parameters that differ between A's kernel and B's")                                 \
    X("shared_family", NULL, TEXT, 0, shared_family(r->row), "one kernel for both")        \
    X("shared_point", NULL, TEXT, 0, shared_point(r->row), "its parameters")               \
    X("shared_a_ns", NULL, NS, 0, gt_cell_known(versus_of(r->row)->shared_a_ns),           \
      "its time on A")                                                                     \
    X("shared_b_ns", NULL, NS, 0, gt_cell_known(versus_of(r->row)->shared_b_ns),           \
      "its time on B")                                                                     \
    X("shared_slowdown", NULL, COUNT, 0, rounded(versus_of(r->row)->shared_slowdown),      \
      "the larger of its two slowdowns")                                                   \
    X("title", NULL, TEXT, 0, title_of(r->row), "publication")                             \
    X("predicted_point", NULL, TEXT, 0, predicted_point(r->row),                           \
      "our point that does the same as the published kernel")                              \
    X("a_predicted_ns", NULL, NS, 0, PREDICTED(A), "time that the model expects on A")     \
    X("b_predicted_ns", NULL, NS, 0, PREDICTED(B), "time that the model expects on B")     \
    X("predicted_ratio", NULL, COUNT, 0, rounded(r->row->predicted_ratio),                 \
      "ratio of the two")                                                                  \
    X("a_best_ns", NULL, NS, 0, best_ns(&PART(A)), "the same for the best point on A")     \
    X("b_best_ns", NULL, NS, 0, best_ns(&PART(B)), "the same for the best point on B")
GT_COLUMNS(program, struct line, FOR_PROGRAMS)
const struct gt_form gt_compare_data_form = GT_FORM(program, "in JSON and CSV");

#define PROBLEM(X)                                                                         \
    X(NULL, "problem", TEXT, 0, r->row->problem, "its name, or its multiplications (mnk)")
#define SOURCE(X)                                                                          \
    X(NULL, "source", TEXT, 3, source_of(r->row), "tuned here, published or predicted")
#define KERNEL(X) X(NULL, "kernel", TEXT, 0, r->kernel, "kernel on both, or on A and on B")
#define TIMES(X)                                                                           \
    X(NULL, "time A", NS, 1, TIME(A), "time on A")                                         \
    X(NULL, "time B", NS, GT_PAIRED(1), TIME(B), "time on B")
#define PREDICTIONS(X)                                                                     \
    X(NULL, "predicted A", NS, 4, PREDICTED(A), "time that the model expects on A")        \
    X(NULL, "predicted B", NS, GT_PAIRED(4), PREDICTED(B),                                 \
      "time that the model expects on B")
#define BEST(X)                                                                            \
    X(NULL, "best A", NS, 2, best_ns(&PART(A)),                                            \
      "time that the model expects for the best point on A")                               \
    X(NULL, "best B", NS, GT_PAIRED(2), best_ns(&PART(B)),                                 \
      "time that the model expects for the best point on B")

#define OF_PUBLISHED(X)                                                                    \
    PROBLEM(X)                                                                             \
    SOURCE(X)                                                                              \
    KERNEL(X)                                                                              \
    TIMES(X)                                                                               \
    X(NULL, "GFLOP/s A", RATE, 3, gt_cell_known(PART(A).gflops), "rate on A")              \
    X(NULL, "GFLOP/s B", RATE, GT_PAIRED(3), gt_cell_known(PART(B).gflops), "rate on B")   \
    PREDICTIONS(X)                                                                         \
    X(NULL, "A/B", COUNT, 1, rounded(r->row->predicted_ratio),                             \
      "predicted time on A over predicted time on B")                                      \
    BEST(X)
GT_COLUMNS(published, struct line, OF_PUBLISHED)
const struct gt_form gt_compare_published_form = GT_FORM(published, "with nothing tuned");

#define OF_TUNED(X)                                                                        \
    PROBLEM(X)                                                                             \
    SOURCE(X)                                                                              \
    KERNEL(X)                                                                              \
    TIMES(X)                                                                               \
    X(NULL, "GFLOP/s A", RATE, 3, tuned_rate(r->row, A), "rate on A")                      \
    X(NULL, "GFLOP/s B", RATE, GT_PAIRED(3), tuned_rate(r->row, B), "rate on B")           \
    X(NULL, "A/B", COUNT, 1, rounded(r->row->ratio), "above 1 B is faster")                \
    X(NULL, "differs", TAIL, 5, gt_cell_filled(versus_of(r->row)->differs),                \
      "parameters that differ between A's kernel and B's")                                 \
    X(NULL, "best for both", TAIL, 5, gt_cell_filled(r->shared),                           \
      "one kernel for both devices")                                                       \
    X(NULL, "slowdown", COUNT, 5, rounded(versus_of(r->row)->shared_slowdown),             \
      "the larger of its two slowdowns")                                                   \
    PREDICTIONS(X)                                                                         \
    BEST(X)
GT_COLUMNS(tuned, struct line, OF_TUNED)
const struct gt_form gt_compare_tuned_form = GT_FORM(tuned, "with tuned kernels");

/* ---- the table ---- */

gt_status gt_compare_table(struct gt_table **out, const struct gt_comparison *c,
                           bool people, struct gt_err *err) {
    struct line line;
    const struct gt_form *form = !people               ? &gt_compare_data_form
                                 : c->versus.count > 0 ? &gt_compare_tuned_form
                                                       : &gt_compare_published_form;
    gt_status status = gt_table_create(out, form, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < c->row_count; i++) {
        if (people && c->row[i].source == GT_COMPARE_RATE)
            continue;
        make_texts(&line, &c->row[i]);
        status = gt_table_add(*out, &line, err);
    }
    if (status != GEMMTUNE_OK) {
        gt_table_destroy(*out);
        *out = NULL;
    }
    return status;
}
