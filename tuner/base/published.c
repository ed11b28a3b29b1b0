/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published.c - reads db/published/<device>.json into rows. The files are checked like any
 * other input.
 */
#include "tuner/base/published.h"

#include "core/embed.h"
#include "core/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies the text member `key` if there is one. A text that is too long is an error; it is
 * not cut. */
static gt_status take_text(char *buf, size_t size, struct gt_node object, const char *key,
                           struct gt_err *err) {
    const struct gt_node n = gt_json_member(object, key);
    const char *text = "";
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    const gt_status status = gt_json_string(&text, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (strlen(text) >= size)
        return gt_json_fail(n, err, "longer than %zu bytes", size - 1);
    memcpy(buf, text, strlen(text) + 1);
    return GEMMTUNE_OK;
}

static gt_status take_number(double *out, struct gt_node object, const char *key,
                             struct gt_err *err) {
    const struct gt_node n = gt_json_member(object, key);
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    const gt_status status = gt_json_double(out, n, err);
    if (status == GEMMTUNE_OK && *out < 0)
        return gt_json_fail(n, err, "must not be negative");
    return status;
}

/* A problem's name gives type, layout and volume. A row without a problem states them
 * itself. */
static gt_status take_problem(struct gt_published_row *r, struct gt_node n,
                              struct gt_err *err) {
    const struct gt_node volume = gt_json_member(n, "volume");
    gemmtune_problem p;
    gt_status status = GEMMTUNE_OK;
    if (r->problem[0] == '\0')
        return gt_json_kind(volume) != GT_JSON_ABSENT
                   ? gt_json_int(&r->volume, volume, 1, INT64_MAX, err)
                   : GEMMTUNE_OK;
    status = gt_problem_from_name(&p, r->problem, err);
    if (status != GEMMTUNE_OK)
        return status;
    (void)snprintf(r->dtype, sizeof r->dtype, "%s", gt_dtype_of(&p)->name);
    (void)snprintf(r->layout, sizeof r->layout, "%s", gt_problem_layout(&p));
    r->volume = (int64_t)(gt_problem_flops(&p) / 2);
    return GEMMTUNE_OK;
}

/* Copies the file's description of the row's kernel. A kernel without a description has
 * only its name. */
static gt_status take_kernel(struct gt_published_row *r, struct gt_node kernels,
                             struct gt_err *err) {
    static const char *const keys[] = {"how", "rung", "point", "host", NULL};
    const struct gt_node n = gt_json_member(kernels, r->kernel);
    const struct gt_node host = gt_json_member(n, "host");
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = take_text(r->how, sizeof r->how, n, "how", err);
    if (status == GEMMTUNE_OK)
        status = take_text(r->rung, sizeof r->rung, n, "rung", err);
    if (status == GEMMTUNE_OK)
        status = take_text(r->point, sizeof r->point, n, "point", err);
    if (status == GEMMTUNE_OK && gt_json_kind(host) != GT_JSON_ABSENT)
        status = gt_json_bool(&r->host, host, err);
    return status;
}

static gt_status take_row(struct gt_published_row *r, struct gt_node root, struct gt_node n,
                          struct gt_err *err) {
    static const char *const keys[] = {"dtype",  "layout", "problem", "volume",
                                       "kernel", "ms",     "gflops",  NULL};
    const struct {
        const char *key;
        char *buf;
        size_t size;
    } texts[] = {
        {"dtype", r->dtype, sizeof r->dtype},
        {"layout", r->layout, sizeof r->layout},
        {"problem", r->problem, sizeof r->problem},
        {"kernel", r->kernel, sizeof r->kernel},
    };
    gt_status status = gt_json_only(n, keys, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < sizeof texts / sizeof *texts; i++)
        status = take_text(texts[i].buf, texts[i].size, n, texts[i].key, err);
    if (status == GEMMTUNE_OK)
        status = take_kernel(r, gt_json_member(root, "kernels"), err);
    if (status == GEMMTUNE_OK)
        status = take_problem(r, n, err);
    if (status == GEMMTUNE_OK)
        status = take_number(&r->ms, n, "ms", err);
    if (status == GEMMTUNE_OK)
        status = take_number(&r->gflops, n, "gflops", err);
    if (r->gflops == 0 && r->ms > 0)
        r->gflops = 2 * (double)r->volume / (r->ms * 1e6);
    return status;
}

static gt_status take_rows(struct gt_published *p, struct gt_node root, struct gt_node rows,
                           struct gt_err *err) {
    struct gt_published_row head = {.volume = 0};
    const size_t count = gt_json_count(rows);
    struct gt_published_row *grown =
        /* + 1, so that the size is never 0 */
        realloc(p->row, (p->count + count + 1) * sizeof *grown);
    if (grown == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for published figures");
    p->row = grown;
    gt_status status = take_text(head.device, sizeof head.device, root, "device", err);
    if (status == GEMMTUNE_OK)
        status = take_text(head.title, sizeof head.title, root, "title", err);
    if (status == GEMMTUNE_OK)
        status = take_number(&head.resolution_ms, root, "resolution_ms", err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < count; i++) {
        p->row[p->count] = head;
        status = take_row(&p->row[p->count], root, gt_json_at(rows, i), err);
        p->count += status == GEMMTUNE_OK;
    }
    return status;
}

gt_status gt_published_parse(struct gt_published *p, const char *name, const char *text,
                             struct gt_err *err) {
    static const char *const keys[] = {"format",  "device", "title",  "toolkit",
                                       "host",    "note",   "limits", "resolution_ms",
                                       "kernels", "rows",   NULL};
    struct gt_json *doc = NULL;
    struct gt_node rows, device;
    int64_t version;
    gt_status status = gt_json_parse(&doc, name, text, strlen(text), err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_node root = gt_json_root(doc);
    status = gt_json_only(root, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&version, root, "format", 1, 1, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&device, root, "device", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&rows, root, "rows", err);
    if (status == GEMMTUNE_OK)
        status = take_rows(p, root, rows, err);
    gt_json_destroy(doc);
    return status;
}

gt_status gt_published_load(struct gt_published *out, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    *out = (struct gt_published){0};
    for (const struct gt_embedded *e = gt_embedded_published;
         status == GEMMTUNE_OK && e->path != NULL; e++)
        status = gt_published_parse(out, e->path, e->text, err);
    if (status != GEMMTUNE_OK)
        gt_published_clear(out);
    return status;
}

void gt_published_clear(struct gt_published *p) {
    free(p->row);
    *p = (struct gt_published){0};
}
