/* SPDX-License-Identifier: Apache-2.0 */
/* column.c - one member of a row, of any type, by the column that describes it. */
#include "db/internal.h"

#include <inttypes.h>
#include <string.h>

static const char *member(const struct gt_db_column *column, const void *row) {
    return (const char *)row + column->offset;
}

static char *member_of(const struct gt_db_column *column, void *row) {
    return (char *)row + column->offset;
}

int64_t gt_column_int(const struct gt_db_column *column, const void *row) {
    int64_t wide = 0;
    int narrow = 0;
    bool yes = false;
    switch (column->kind) {
    case GT_COLUMN_INT64:
    case GT_COLUMN_REF:
        memcpy(&wide, member(column, row), sizeof wide);
        return wide;
    case GT_COLUMN_BOOL:
        memcpy(&yes, member(column, row), sizeof yes);
        return yes;
    default:
        memcpy(&narrow, member(column, row), sizeof narrow);
        return narrow;
    }
}

void gt_column_set_int(const struct gt_db_column *column, void *row, int64_t value) {
    const int narrow = (int)value;
    const bool yes = value != 0;
    switch (column->kind) {
    case GT_COLUMN_INT64:
    case GT_COLUMN_REF:
        memcpy(member_of(column, row), &value, sizeof value);
        break;
    case GT_COLUMN_BOOL:
        memcpy(member_of(column, row), &yes, sizeof yes);
        break;
    default:
        memcpy(member_of(column, row), &narrow, sizeof narrow);
    }
}

double gt_column_real(const struct gt_db_column *column, const void *row) {
    double value = 0;
    memcpy(&value, member(column, row), sizeof value);
    return value;
}

void gt_column_set_real(const struct gt_db_column *column, void *row, double value) {
    memcpy(member_of(column, row), &value, sizeof value);
}

static int words_count(const struct gt_db_column *column) {
    int count = 0;
    while (column->words[count] != NULL)
        count++;
    return count;
}

const char *gt_column_text(const struct gt_db_column *column, const void *row) {
    const char *text = NULL;
    if (column->kind == GT_COLUMN_CHARS)
        return member(column, row);
    if (column->kind == GT_COLUMN_WORD) {
        const int64_t i = gt_column_int(column, row);
        return i >= 0 && i < words_count(column) ? column->words[i] : NULL;
    }
    memcpy(&text, member(column, row), sizeof text);
    return text;
}

static gt_status set_word(const struct gt_db_column *column, void *row, const char *text,
                          struct gt_err *err) {
    int i = 0;
    while (column->words[i] != NULL && strcmp(column->words[i], text) != 0)
        i++;
    if (column->words[i] == NULL)
        return gt_fail(err, GEMMTUNE_EDB, "%s \"%s\" is not a word it may be", column->name,
                       text);
    gt_column_set_int(column, row, i);
    return GEMMTUNE_OK;
}

gt_status gt_column_set_text(const struct gt_db_column *column, void *row, const char *text,
                             struct gt_err *err) {
    const size_t size = strlen(text) + 1;
    if (column->kind == GT_COLUMN_WORD)
        return set_word(column, row, text, err);
    if (size > (size_t)column->high)
        return gt_fail(err, GEMMTUNE_EDB, "%s is longer than %" PRId64 " bytes",
                       column->name, column->high - 1);
    if (column->kind == GT_COLUMN_CHARS)
        memcpy(member_of(column, row), text, size);
    else
        memcpy(member_of(column, row), &text, sizeof text);
    return GEMMTUNE_OK;
}
