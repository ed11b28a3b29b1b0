/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_inside.h - shared by the files of a table: table.c keeps rows and writes them for
 * programs, table_print.c writes them for people.
 */
#ifndef GT_TUNER_BASE_TABLE_INSIDE_H
#define GT_TUNER_BASE_TABLE_INSIDE_H

#include "tuner/base/table.h"

enum { GT_COLUMNS_MAX = 40 }; /* more than a person reads */

/* A cell that owns its text. */
struct gt_kept {
    char *text;
    double number;
};

struct gt_table {
    const struct gt_form *form;
    size_t rows, room;    /* in rows */
    struct gt_kept *cell; /* rows * form->columns */
};

static inline struct gt_cell gt_table_cell(const struct gt_table *t, size_t row,
                                           size_t column) {
    const struct gt_kept *cell = &t->cell[row * t->form->columns + column];
    return (struct gt_cell){cell->text, cell->number};
}

#endif
