/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_fit.h - decides which columns of a table people see, and how wide they are. On a
 * narrow terminal these steps are taken in order until the lines fit:
 *
 *   1. Keys stand above the table, once each; rows have a letter, or nothing when all rows
 *      have the same key. This is done on every terminal.
 *   2. Points leave out the parameters that all rows of a family share.
 *   3. The columns of the highest rank are left out, then the columns of the next, down to
 *      the rank of the points and tails. The two of a pair go together.
 *   4. Points and tails are cut, to 20 and 16 characters at most, prose is wrapped, and
 *      other texts are cut to 32 at most.
 *   5. More columns are left out.
 */
#ifndef GT_TUNER_BASE_TABLE_FIT_H
#define GT_TUNER_BASE_TABLE_FIT_H

#include "tuner/base/table_inside.h"

enum {
    GT_TABLE_FIT_GAP = 2,         /* blanks between columns */
    GT_TABLE_FIT_TEXT_MAX = 1200, /* a point and its NUL */
    GT_TABLE_FIT_KEYS_MAX = 26,
    GT_TABLE_FIT_FAMILIES_MAX = 32
};

/* The parameters that the points of all rows of a family have in common. */
struct gt_table_fit_shared {
    const char *family;
    size_t rows;
    char words[GT_TABLE_FIT_TEXT_MAX];
};

struct gt_table_fit {
    const struct gt_table *t;
    size_t room;                  /* characters in a line; 0: any number */
    size_t width[GT_COLUMNS_MAX]; /* 0: the column is not shown */
    bool dropped[GT_COLUMNS_MAX]; /* left out because the line was too long */
    const char *key[GT_TABLE_FIT_KEYS_MAX];
    size_t keys; /* keys that stand above the table */
    bool brief;  /* points leave out their common parameters */
    bool cut;    /* cells end in dots */
    size_t families;
    struct gt_table_fit_shared shared[GT_TABLE_FIT_FAMILIES_MAX];
};

void gt_table_fit_make(struct gt_table_fit *out, const struct gt_table *t, size_t room);
/* The text of a shown cell before it is cut; "-" when it is empty. */
const char *gt_table_fit_text(char buf[GT_TABLE_FIT_TEXT_MAX], const struct gt_table_fit *f,
                              size_t row, size_t column);

#endif
