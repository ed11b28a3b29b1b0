/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_scan.h - whether a text is JSON, and on which line each value begins. For json.c
 * alone: cJSON is lenient and knows no lines.
 */
#ifndef GT_CORE_JSON_SCAN_H
#define GT_CORE_JSON_SCAN_H

#include "core/status.h"

/* 2^53: a double holds every integer below it. */
#define GT_JSON_INT_LIMIT INT64_C(9007199254740992)

/* Counts the values of the text and, when `lines` is not NULL, writes the line of each
 * there, in the order in which they begin. EPARSE with "name:line: what is wrong" for
 * anything but one JSON value in valid UTF-8, for integers of GT_JSON_INT_LIMIT or more,
 * and for nesting past 64. The text needs no NUL at its end. */
gt_status gt_json_scan(size_t *count, int *lines, const char *name, const char *text,
                       size_t size, struct gt_err *err);

#endif
