/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - rows for people (aligned columns), for spreadsheets (CSV) and for programs
 * (JSON). A column is one line of a list: its names, how its cells are written, how dear it
 * is, the value of a row `r` that it shows, and what that means. All forms of the table,
 * the legend of --help and the manual's follow from the list:
 *
 *     #define WINNERS(X) \
 *         X("problem", "problem", TEXT, 0, r->problem, "name of the problem") \
 *         X("median_ns", "median", NS, 0, r->median_ns, "median time of a product")
 *     GT_COLUMNS(winner, struct winner, WINNERS)
 *     static const struct gt_form winners = GT_FORM(winner, "");
 *
 * GT_COLUMNS makes add_winner(table, row, err) besides, which adds a struct winner.
 */
#ifndef GT_TUNER_BASE_TABLE_H
#define GT_TUNER_BASE_TABLE_H

#include "core/status.h"

#include <stdbool.h>
#include <stdio.h>

/* How the cells of a column are written. */
enum gt_cell_kind {
    GT_CELL_TEXT,
    GT_CELL_TAIL,  /* a text that may be cut on a narrow terminal */
    GT_CELL_PROSE, /* a text that is wrapped there; the last column that people see */
    GT_CELL_POINT, /* a point; its family stands in the column before it */
    /* a device's key, which is long and the same in many rows; at most one column */
    GT_CELL_KEY,
    GT_CELL_BOOL,  /* 0 or 1: false, true */
    GT_CELL_COUNT, /* 12, 3.5 */
    GT_CELL_FIXED, /* people read three decimals: 0.950 */
    GT_CELL_RATE,  /* GFLOP/s, four digits: 8867, 0.5 */
    GT_CELL_NS,    /* nanoseconds, above 0; people read "12.3 us" */
    GT_CELL_BYTES, /* people read "1.5 GiB" */
};

/* The value of one cell: a text or a number, as the column's kind says. */
struct gt_cell {
    const char *text; /* NULL: an empty cell */
    double number;    /* not finite: an empty cell */
};

struct gt_column {
    /* JSON member and CSV heading, which never change; NULL: in neither */
    const char *key;
    const char *title; /* heading for people; NULL: not shown to them */
    enum gt_cell_kind kind;
    /* 0: always shown. Others are left out on a narrow terminal, the highest rank first. */
    int rank;
    const char *about; /* the meaning, in one clause */
    bool paired;       /* left out together with the column before it */
};

/* The rank of the second of two columns that are of no use alone: the ends of an interval,
 * one figure of two devices. The first one has the plain rank. */
#define GT_PAIRED(rank) (64 + (rank))

/* The columns of a table, and how its rows fill them. */
struct gt_form {
    const char *when; /* "with --each": when a command prints the table; "": always */
    const struct gt_column *column;
    size_t columns;
    void (*fill)(struct gt_cell *cells, const void *row); /* one cell a column */
};

#define GT_COLUMN(key, title, kind, rank, value, about)                                    \
    {key, title, GT_CELL_##kind, (rank) % GT_PAIRED(0), about, (rank) >= GT_PAIRED(0)},
#define GT_CELL(key, title, kind, rank, value, about) *cell++ = GT_AS_##kind(value);
#define GT_AS_TEXT(value)                             gt_cell_text(value)
#define GT_AS_TAIL(value)                             gt_cell_text(value)
#define GT_AS_PROSE(value)                            gt_cell_text(value)
#define GT_AS_POINT(value)                            gt_cell_text(value)
#define GT_AS_KEY(value)                              gt_cell_text(value)
#define GT_AS_BOOL(value)                             gt_cell_number((double)(value))
#define GT_AS_COUNT(value)                            gt_cell_number((double)(value))
#define GT_AS_FIXED(value)                            gt_cell_number(value)
#define GT_AS_RATE(value)                             gt_cell_number(value)
#define GT_AS_NS(value)                               gt_cell_number(value)
#define GT_AS_BYTES(value)                            gt_cell_number((double)(value))

#define GT_COLUMNS(name, row_type, list)                                                   \
    static const struct gt_column name##_columns[] = {list(GT_COLUMN)};                    \
    static void fill_##name(struct gt_cell *cell, const void *row) {                       \
        const row_type *r = row;                                                           \
        list(GT_CELL)                                                                      \
    }                                                                                      \
    __attribute__((unused)) static gt_status add_##name(                                   \
        struct gt_table *t, const row_type *row, struct gt_err *err) {                     \
        return gt_table_add(t, row, err);                                                  \
    }
#define GT_FORM(name, when)                                                                \
    { when, name##_columns, sizeof name##_columns / sizeof *name##_columns, fill_##name }

struct gt_table;
/* `form` and its columns must outlive the table. EINVAL: too many columns. ENOMEM. */
gt_status gt_table_create(struct gt_table **out, const struct gt_form *form,
                          struct gt_err *err);
void gt_table_destroy(struct gt_table *t);
/* Adds the cells that the form's `fill` makes from `row`. Texts are copied. ENOMEM. */
gt_status gt_table_add(struct gt_table *t, const void *row, struct gt_err *err);
/* Prints aligned columns under a heading, without trailing blanks; an empty cell is "-".
 * Prints nothing when there are no rows. A column that may be left out is left out when all
 * its cells are empty. `room` is the number of characters in a line, 0 for any number;
 * table_fit.h says which columns are left out first. */
void gt_table_print(const struct gt_table *t, size_t room, FILE *out);
/* Prints CSV as in RFC 4180 (lines end in CR LF). A text that a spreadsheet would read as a
 * formula (it begins with = + - @ or a tab) is quoted and gets a "'" in front. */
void gt_table_csv(const struct gt_table *t, FILE *out);
/* Prints an array of objects and a newline. An empty cell is null. */
void gt_table_json(const struct gt_table *t, FILE *out);
/* Prints a table of Markdown, with the columns that people see. */
void gt_table_markdown(const struct gt_table *t, FILE *out);
/* Print one line alone, for rows that are printed as they arrive. In CSV, line 0 is the
 * heading and line i is row i - 1. */
void gt_table_csv_line(const struct gt_table *t, size_t line, FILE *out);
void gt_table_json_row(const struct gt_table *t, size_t row, FILE *out);

/* ---- cells ---- */

struct gt_cell gt_cell_text(const char *text);
struct gt_cell gt_cell_number(double value);
/* The value. It is an empty cell when it has the value that most structs use for "unknown":
 * 0, or "". */
double gt_cell_known(double value);
const char *gt_cell_filled(const char *text);

/* Numbers as short texts; `buf` is returned. Unknown values (not finite, a time of 0) are
 * "". */
enum { GT_CELL_MAX = 48 };
const char *gt_show_ns(char buf[GT_CELL_MAX], double ns); /* "12.3 us" "1.25 ms" "3.4 s" */
/* "12", "3.5", "1277598": six digits at least, no exponent from a ten-thousandth to 1e15 */
const char *gt_show_count(char buf[GT_CELL_MAX], double value);
/* A large number for people, in four digits: "4096", "1.374e11" */
const char *gt_show_power(char buf[GT_CELL_MAX], double value);
const char *gt_show_bytes(char buf[GT_CELL_MAX], double bytes); /* "1.5 GiB" */
/* GFLOP/s, 4 digits */
const char *gt_show_rate(char buf[GT_CELL_MAX], double flops, double ns);

#endif
