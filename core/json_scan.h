/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_scan.h - checks that a text is JSON and finds the line of each value. Only json.c
 * uses it: cJSON is lenient and knows no lines.
 */
#ifndef GT_CORE_JSON_SCAN_H
#define GT_CORE_JSON_SCAN_H

#include "core/status.h"

/* 2^53: a double holds every integer below it. */
#define GT_JSON_INT_LIMIT INT64_C(9007199254740992)

/* Counts the values of the text. When `lines` is not NULL, it gets the line of each, in the
 * order in which they begin. The text must be one JSON value in valid UTF-8; its integers
 * must be below GT_JSON_INT_LIMIT and its nesting at most 64. If not: EPARSE with
 * "name:line: what is wrong". The text needs no NUL at its end. */
gt_status gt_json_scan(size_t *count, int *lines, const char *name, const char *text,
                       size_t size, struct gt_err *err);

#endif
