/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - a JSON reader. Each of its messages is "file:line: /path: what is wrong".
 *
 * A thin layer on cJSON. It refuses text that cJSON accepts: duplicate keys, trailing text,
 * integers of 2^53 or more, NUL bytes, invalid UTF-8, nesting deeper than 64, files larger
 * than 64 MiB. It knows the line of every value. A byte-order mark is skipped.
 */
#ifndef GT_CORE_JSON_H
#define GT_CORE_JSON_H

#include "core/status.h"

#include <stdbool.h>

struct gt_json; /* a document; owns every node */

/* A value in a document. A plain value that borrows from the document. */
struct gt_node {
    const struct gt_json *doc;
    const void *item; /* NULL: absent */
};

enum gt_json_kind {
    GT_JSON_ABSENT,
    GT_JSON_NULL,
    GT_JSON_BOOL,
    GT_JSON_NUMBER,
    GT_JSON_STRING,
    GT_JSON_ARRAY,
    GT_JSON_OBJECT
};

/* EIO when the file cannot be read, EPARSE when it is not JSON; *out is then NULL. */
gt_status gt_json_load(struct gt_json **out, const char *path, struct gt_err *err);
/* Messages call the file `name`; the text is copied. */
gt_status gt_json_parse(struct gt_json **out, const char *name, const char *text,
                        size_t size, struct gt_err *err);
/* The same for the text of Python's module json, which also writes and reads what JSON
 * excludes. NaN is null here, Infinity a number that is larger than any double, an integer
 * of 2^53 or more the nearest double. Of an object's members with one key only the last one
 * is there. */
gt_status gt_json_parse_python(struct gt_json **out, const char *name, const char *text,
                               size_t size, struct gt_err *err);
void gt_json_destroy(struct gt_json *doc);
/* The name of the file, as messages have it. */
const char *gt_json_file(const struct gt_json *doc);

struct gt_node gt_json_root(const struct gt_json *doc);
enum gt_json_kind gt_json_kind(struct gt_node n);
size_t gt_json_count(struct gt_node n); /* members or elements, else 0 */
struct gt_node gt_json_at(struct gt_node n,
                          size_t i);       /* in file order; absent past the end */
const char *gt_json_key(struct gt_node n); /* of a member, else "" */
struct gt_node gt_json_member(struct gt_node n,
                              const char *key); /* absent when there is none */
int gt_json_line(struct gt_node n);             /* 1-based; 0 for an absent node */
/* Whether both are one value: of the same kind, arrays and objects element by element. */
bool gt_json_equal(struct gt_node a, struct gt_node b);

/* Fails with EPARSE and "file:line: /sizes/3/m: " before the text. An absent node has no
 * line: give its parent. */
gt_status gt_json_fail(struct gt_node n, struct gt_err *err, const char *fmt, ...)
    GT_PRINTF(3, 4);
/* Fails with another reader's message about the node, in the form of gt_json_fail. ENOMEM
 * stays ENOMEM: the document is not the reason. */
gt_status gt_json_fail_because(struct gt_node n, gt_status status, const struct gt_err *why,
                               struct gt_err *err);

/* Typed reads: EPARSE when the value is missing, of another kind or outside [low, high];
 * *out is then untouched. 8.0 and 8e0 are integers. */
gt_status gt_json_int(int64_t *out, struct gt_node n, int64_t low, int64_t high,
                      struct gt_err *err);
gt_status gt_json_double(double *out, struct gt_node n, struct gt_err *err);
gt_status gt_json_bool(bool *out, struct gt_node n, struct gt_err *err);
gt_status gt_json_string(const char **out, struct gt_node n,
                         struct gt_err *err); /* belongs to the document */
/* A member that must be there. */
gt_status gt_json_need(struct gt_node *out, struct gt_node object, const char *key,
                       struct gt_err *err);
/* The same with the typed read of its value. A text is copied, and must have 1 to size - 1
 * bytes. *out is untouched when the member is refused. */
gt_status gt_json_need_int(int64_t *out, struct gt_node object, const char *key,
                           int64_t low, int64_t high, struct gt_err *err);
gt_status gt_json_need_double(double *out, struct gt_node object, const char *key,
                              double low, double high, struct gt_err *err);
gt_status gt_json_need_string(const char **out, struct gt_node object, const char *key,
                              struct gt_err *err);
gt_status gt_json_need_text(char *out, size_t size, struct gt_node object, const char *key,
                            struct gt_err *err);
/* Refuses an object with a key that is not in the NULL-ended list; the message suggests the
 * nearest. */
gt_status gt_json_only(struct gt_node object, const char *const *keys, struct gt_err *err);

/* Writes `text` to `out` as a quoted JSON string; bytes that are not UTF-8 become U+FFFD.
 * `out` is a FILE *. */
void gt_json_quote(void *out, const char *text);

#endif
