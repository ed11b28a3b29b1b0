/* SPDX-License-Identifier: Apache-2.0 */
/* logged_inside.h - between the readers of logged.c: a line's words, not yet a problem. */
#ifndef GT_TUNER_BASE_LOGGED_INSIDE_H
#define GT_TUNER_BASE_LOGGED_INSIDE_H

#include "core/text.h"
#include "tuner/base/logged.h"

/* A type as a number of gemmtune_dtype, or one of these. */
enum { GT_LOGGED_NO_TYPE = -1, GT_LOGGED_COMPLEX_TYPE = -2, GT_LOGGED_UNKNOWN_TYPE = -3 };

struct gt_logged_word {
    const char *word; /* NULL ends a table */
    int value;
};
/* The value of the word in the table; `otherwise` when it is not there. */
int gt_logged_value(const struct gt_logged_word *table, struct gt_piece piece,
                    int otherwise);

/* Column-major, as in the log. */
struct gt_logged_call {
    enum gt_logged_fate fate; /* PROBLEM as long as nothing is against it */
    bool trans_a, trans_b, reads_c, has_pointers;
    int64_t m, n, k, lda, ldb, ldc, batch; /* ld: 0 for packed */
    int64_t stride_a, stride_b, stride_c;  /* GEMMTUNE_PACKED when there is none */
    int type_a, type_b, type_c, type_acc;
    gemmtune_math math;
    bool has_bias, scales_a, scales_b; /* a value a row of C; a row of op(A), ... */
    int bias_type;                     /* GT_LOGGED_NO_TYPE: as C */
    const char *activation;            /* a step of an epilogue; NULL: none */
    int64_t calls;
    unsigned notes;
};

/* Each finds out whether the line is one of its own: false when not. err has a text when
 * the fate is DAMAGED. */
bool gt_logged_bench(struct gt_logged_call *c, const char *line, size_t len,
                     struct gt_err *err);
bool gt_logged_tunable(struct gt_logged_call *c, const char *line, size_t len,
                       struct gt_err *err);
bool gt_logged_tuple(struct gt_logged_call *c, const char *line, size_t len,
                     struct gt_err *err);

/* Whether the character is one of `set`. */
bool gt_logged_is(char c, const char *set);
/* The place after `word` in the line; NULL when the word is not there. */
const char *gt_logged_after(const char *line, size_t len, const char *word);
/* Marks the call as damaged, for the reason. */
void gt_logged_damage(struct gt_logged_call *c, struct gt_err *err, const char *fmt, ...)
    GT_PRINTF(3, 4);

#endif
