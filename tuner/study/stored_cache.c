/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_cache.c - reads Kernel Tuner's cache files. These parts are read:
 *
 *     { "device_name": "..", "kernel_name": "..", "tune_params_keys": ["X", ..],
 *       "tune_params": {"X": [16, 32, ..], ..},
 *       "cache": { "16,..": {"X": 16, .., "time": 1.25}, .. } }
 *
 * A failure has a word as its time, or "__error__". A file that is still being written ends
 * after the comma of an entry; such a file is completed here.
 */
#include "tuner/study/stored.h"

#include "core/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- the file ---- */

enum { TEXT_MAX = 64 << 20 }; /* the limit of gt_json_parse */

struct text {
    char *byte;
    size_t size, room;
};

static bool grow(struct text *t) {
    const size_t room = t->room ? 2 * t->room : 1 << 16;
    char *byte = realloc(t->byte, room);
    if (!byte)
        return false;
    t->byte = byte;
    t->room = room;
    return true;
}

static bool ends_in(const char *path, const char *tail) {
    const size_t len = strlen(path), n = strlen(tail);
    return len >= n && strcmp(path + len - n, tail) == 0;
}

static gt_status read_all(struct text *t, gzFile file, const char *path,
                          struct gt_err *err) {
    int got = 1, code;
    errno = 0;
    while (got > 0 && t->size <= TEXT_MAX) {
        if (t->size == t->room && !grow(t))
            return gt_fail(err, GEMMTUNE_ENOMEM, "%s: out of memory", path);
        const size_t left = t->room - t->size;
        got = gzread(file, t->byte + t->size, (unsigned)(left < 1 << 30 ? left : 1 << 30));
        t->size += got > 0 ? (size_t)got : 0;
    }
    const char *why = gzerror(file, &code);
    if (code == Z_ERRNO)
        return gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
    if (got < 0 || code != Z_OK)
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "%s: its gzip data is cut short or damaged (%s)", path, why);
    if (ends_in(path, ".gz") && gzdirect(file))
        return gt_fail(err, GEMMTUNE_EPARSE, "%s: not a gzip file, despite its name", path);
    return GEMMTUNE_OK;
}

gt_status gt_stored_cache(struct gt_stored *out, const char *path, struct gt_err *err) {
    struct text t = {0};
    *out = (struct gt_stored){0};
    gzFile file = gzopen(path, "rb");
    if (!file)
        return gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
    gt_status status = read_all(&t, file, path, err);
    if (status == GEMMTUNE_OK)
        status = gt_stored_parse(out, path, t.byte ? t.byte : "", t.size, err);
    free(t.byte);
    (void)gzclose(file);
    return status;
}

/* ---- the text ---- */

/* Parses the document, which is closed first if it was left open. */
static gt_status load(struct gt_json **doc, const char *name, const char *text, size_t size,
                      struct gt_err *err) {
    static const char tail[] = "}}";
    while (size > 0 && strchr(" \t\r\n", text[size - 1]) && text[size - 1])
        size--;
    if (size == 0 || (text[size - 1] != ',' && text[size - 1] != '{'))
        return gt_json_parse(doc, name, text, size, err);
    const size_t kept = text[size - 1] == ',' ? size - 1 : size;
    char *closed = malloc(kept + sizeof tail);
    if (!closed)
        return gt_fail(err, GEMMTUNE_ENOMEM, "%s: out of memory", name);
    memcpy(closed, text, kept);
    memcpy(closed + kept, tail, sizeof tail);
    const gt_status status = gt_json_parse(doc, name, closed, kept + strlen(tail), err);
    free(closed);
    return status;
}

/* The parameters of the points. */
struct layout {
    struct gt_node domain[GT_POINT_MAX]; /* the list of each parameter */
    bool whole[GT_POINT_MAX];            /* it has only integers */
};

static bool is_whole(struct gt_node list) {
    const int64_t most = INT64_C(1) << 53;
    int64_t value;
    for (size_t i = 0; i < gt_json_count(list); i++)
        if (gt_json_int(&value, gt_json_at(list, i), -most, most, NULL) != GEMMTUNE_OK)
            return false;
    return true;
}

static gt_status read_param(struct gt_stored_rows *rows, struct layout *l,
                            struct gt_node key, struct gt_node lists, struct gt_err *err) {
    const char *name;
    const int at = rows->params;
    gt_status status = gt_json_string(&name, key, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (strlen(name) >= GT_NAME_MAX)
        return gt_json_fail(key, err, "is longer than %d bytes", GT_NAME_MAX - 1);
    for (int i = 0; i < at; i++)
        if (strcmp(rows->param[i], name) == 0)
            return gt_json_fail(key, err, "stands a second time");
    status = gt_json_need(&l->domain[at], lists, name, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (gt_json_kind(l->domain[at]) != GT_JSON_ARRAY || !gt_json_count(l->domain[at]))
        return gt_json_fail(l->domain[at], err, "must be a list of values");
    l->whole[at] = is_whole(l->domain[at]);
    memcpy(rows->param[at], name, strlen(name) + 1);
    rows->params++;
    return GEMMTUNE_OK;
}

static gt_status read_params(struct gt_stored_rows *rows, struct layout *l,
                             struct gt_node root, struct gt_err *err) {
    struct gt_node keys, lists;
    gt_status status = gt_json_need(&keys, root, "tune_params_keys", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&lists, root, "tune_params", err);
    if (status != GEMMTUNE_OK)
        return status;
    const size_t count = gt_json_count(keys);
    if (gt_json_kind(keys) != GT_JSON_ARRAY || count == 0 || count > GT_POINT_MAX)
        return gt_json_fail(keys, err, "must be a list of 1 to %d names", GT_POINT_MAX);
    for (size_t i = 0; status == GEMMTUNE_OK && i < count; i++)
        status = read_param(rows, l, gt_json_at(keys, i), lists, err);
    return status;
}

static bool same_value(struct gt_node a, struct gt_node b) {
    const char *x, *y;
    double u, v;
    bool p, q;
    if (gt_json_kind(a) != gt_json_kind(b))
        return false;
    switch (gt_json_kind(a)) {
    case GT_JSON_STRING:
        return gt_json_string(&x, a, NULL) == GEMMTUNE_OK &&
               gt_json_string(&y, b, NULL) == GEMMTUNE_OK && strcmp(x, y) == 0;
    case GT_JSON_NUMBER:
        return gt_json_double(&u, a, NULL) == GEMMTUNE_OK &&
               gt_json_double(&v, b, NULL) == GEMMTUNE_OK && u == v;
    case GT_JSON_BOOL:
        return gt_json_bool(&p, a, NULL) == GEMMTUNE_OK &&
               gt_json_bool(&q, b, NULL) == GEMMTUNE_OK && p == q;
    default:
        return false;
    }
}

static gt_status read_value(int64_t *out, const struct gt_stored_rows *rows,
                            const struct layout *l, int p, struct gt_node entry,
                            struct gt_err *err) {
    struct gt_node value;
    const gt_status status = gt_json_need(&value, entry, rows->param[p], err);
    if (status != GEMMTUNE_OK)
        return status;
    for (size_t i = 0; i < gt_json_count(l->domain[p]); i++)
        if (same_value(value, gt_json_at(l->domain[p], i))) {
            *out = (int64_t)i;
            return l->whole[p] ? gt_json_int(out, value, INT64_MIN, INT64_MAX, err)
                               : GEMMTUNE_OK;
        }
    return gt_json_fail(value, err, "is not in the list of %s", rows->param[p]);
}

static const struct {
    const char *word;
    gt_outcome outcome;
} failures[] = {{"InvalidConfig", GT_CONSTRAINTS},
                {"CompilationFailedConfig", GT_COMPILE},
                {"RuntimeFailedConfig", GT_LAUNCH},
                {"ErrorConfig", GT_CRASHED}};

static gt_status read_failure(gt_outcome *out, struct gt_node word, struct gt_err *err) {
    const char *text;
    const gt_status status = gt_json_string(&text, word, err);
    if (status != GEMMTUNE_OK)
        return status;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (strcmp(text, failures[i].word) == 0) {
            *out = failures[i].outcome;
            return GEMMTUNE_OK;
        }
    return gt_json_fail(word, err, "\"%s\" is not an error of Kernel Tuner", text);
}

static gt_status read_time(struct gt_stored_row *row, struct gt_node entry,
                           struct gt_err *err) {
    const double most_ms = 1e12;
    struct gt_node node = gt_json_member(entry, "__error__");
    if (gt_json_kind(node) != GT_JSON_ABSENT)
        return read_failure(&row->outcome, node, err);
    gt_status status = gt_json_need(&node, entry, "time", err);
    if (status != GEMMTUNE_OK || gt_json_kind(node) == GT_JSON_STRING)
        return status != GEMMTUNE_OK ? status : read_failure(&row->outcome, node, err);
    double ms;
    status = gt_json_double(&ms, node, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (!(ms > 0 && ms < most_ms))
        return gt_json_fail(node, err, "must be milliseconds above 0 and below %g",
                            most_ms);
    row->outcome = GT_CORRECT;
    row->ns = ms * 1e6;
    return GEMMTUNE_OK;
}

static gt_status read_entry(struct gt_stored_rows *rows, const struct layout *l,
                            struct gt_node entry, struct gt_err *err) {
    struct gt_stored_row row = {.ns = 0};
    gt_status status = GEMMTUNE_OK;
    for (int p = 0; status == GEMMTUNE_OK && p < rows->params; p++)
        status = read_value(&row.value[p], rows, l, p, entry, err);
    if (status == GEMMTUNE_OK)
        status = read_time(&row, entry, err);
    if (status == GEMMTUNE_OK && row.outcome != GT_CONSTRAINTS)
        status = gt_stored_row(rows, &row, err);
    return status;
}

static gt_status read_title(struct gt_stored *out, struct gt_node root,
                            struct gt_err *err) {
    const char *device, *kernel;
    struct gt_node node;
    gt_status status = gt_json_need(&node, root, "device_name", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_string(&device, node, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&node, root, "kernel_name", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_string(&kernel, node, err);
    if (status == GEMMTUNE_OK)
        snprintf(out->title, sizeof out->title, "%.100s on %.100s", kernel, device);
    return status;
}

static gt_status read_root(struct gt_stored *out, struct gt_stored_rows *rows,
                           struct gt_node root, struct gt_err *err) {
    struct layout l = {0};
    struct gt_node cache;
    gt_status status = read_title(out, root, err);
    if (status == GEMMTUNE_OK)
        status = read_params(rows, &l, root, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&cache, root, "cache", err);
    if (status != GEMMTUNE_OK)
        return status;
    if (gt_json_kind(cache) != GT_JSON_OBJECT)
        return gt_json_fail(cache, err, "must be an object");
    for (size_t i = 0; status == GEMMTUNE_OK && i < gt_json_count(cache); i++)
        status = read_entry(rows, &l, gt_json_at(cache, i), err);
    if (status == GEMMTUNE_OK)
        status = gt_stored_add(out, rows, err);
    if (status == GEMMTUNE_EINVAL)
        return gt_json_fail(cache, err, "%s", err ? err->line : "too many values");
    if (status == GEMMTUNE_OK && out->best_ns == 0)
        return gt_json_fail(cache, err, "holds no time");
    return status;
}

gt_status gt_stored_parse(struct gt_stored *out, const char *name, const char *text,
                          size_t size, struct gt_err *err) {
    struct gt_json *doc = NULL;
    struct gt_stored_rows rows = {.name = "cache"};
    *out = (struct gt_stored){0};
    gt_status status = load(&doc, name, text, size, err);
    if (status == GEMMTUNE_OK)
        status = read_root(out, &rows, gt_json_root(doc), err);
    free(rows.row);
    gt_json_destroy(doc);
    if (status != GEMMTUNE_OK)
        gt_stored_clear(out);
    return status;
}
