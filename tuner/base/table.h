/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - rows for people (aligned columns), for spreadsheets (CSV) and for programs
 * (JSON), from one description. Cells are text; numbers come preformatted by the helpers,
 * locale independent.
 */
#ifndef GT_TUNER_BASE_TABLE_H
#define GT_TUNER_BASE_TABLE_H

#include "core/status.h"

#include <stdbool.h>
#include <stdio.h>

enum gt_align { GT_LEFT, GT_RIGHT };
enum gt_cell_kind { GT_CELL_TEXT, GT_CELL_NUMBER, GT_CELL_BOOL }; /* how JSON writes it */

struct gt_column {
    const char *title; /* for people; NULL: not shown to them */
    const char *key;   /* JSON member and CSV heading, stable; NULL: not in either */
    enum gt_align align;
    enum gt_cell_kind kind;
};

struct gt_table;
/* `columns` must outlive the table. */
gt_status gt_table_create(struct gt_table **out, const struct gt_column *columns,
                          size_t count, struct gt_err *err);
void gt_table_destroy(struct gt_table *t);
/* Adds a row; exactly `count` texts, copied. NULL is an empty cell (JSON null). */
gt_status gt_table_row(struct gt_table *t, const char *const *cells, struct gt_err *err);
/* Aligned, with a heading, an empty cell as "-", no trailing blanks. */
void gt_table_print(const struct gt_table *t, FILE *out);
/* RFC 4180 (lines end in CR LF). Text that a spreadsheet would take for a formula (= + - @
 * or a tab first) gets a "'" ahead and is quoted. */
void gt_table_csv(const struct gt_table *t, FILE *out);
/* An array of objects and a newline. A number that is not a JSON number is null. */
void gt_table_json(const struct gt_table *t, FILE *out);
/* One of their lines alone, for rows that are printed as they come. In CSV line 0 is the
 * heading and line i is row i - 1. */
void gt_table_csv_line(const struct gt_table *t, size_t line, FILE *out);
void gt_table_json_row(const struct gt_table *t, size_t row, FILE *out);

/* Short texts; buf is returned. What is not known (not finite, a time of 0) is "". */
enum { GT_CELL_MAX = 48 };
const char *gt_show_ns(char buf[GT_CELL_MAX], double ns); /* "12.3 us" "1.25 ms" "3.4 s" */
const char *gt_show_count(char buf[GT_CELL_MAX],
                          double value); /* "12", "3.5", plain %.6g, never locale */
const char *gt_show_bytes(char buf[GT_CELL_MAX], double bytes); /* "1.5 GiB" */
const char *gt_show_rate(char buf[GT_CELL_MAX], double flops,
                         double ns); /* GFLOP/s, 4 digits */

#endif
