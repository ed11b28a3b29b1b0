/* SPDX-License-Identifier: Apache-2.0 */
/* seeds_file.c - see seeds_file.h: read and checked, and written by an import. */
#include "tuner/tune/seeds_file.h"

#include "core/new_file.h"
#include "tuner/tune/seeds.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEVICE_MAX = 128 };

static gt_status check_seed(struct gt_node n, struct gt_err *err) {
    static const char *const keys[] = {"device", "problem", "kernel", "point",
                                       "ns",     "source",  NULL};
    char device[DEVICE_MAX], kernel[GT_SEED_KERNEL_MAX], problem[GT_PROBLEM_NAME_MAX],
        source[GT_SEED_SOURCE_MAX], text[GT_POINT_TEXT_MAX];
    struct gt_point point;
    gemmtune_problem p;
    struct gt_err why;
    double ns;
    gt_status status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_text(device, sizeof device, n, "device", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_text(kernel, sizeof kernel, n, "kernel", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_text(problem, sizeof problem, n, "problem", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_text(source, sizeof source, n, "source", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_text(text, sizeof text, n, "point", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_double(&ns, n, "ns", 0, 1e18, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_point_parse(&point, text, &why);
    if (status == GEMMTUNE_OK)
        status = gt_problem_from_name(&p, problem, &why);
    return status == GEMMTUNE_OK ? status : gt_json_fail_because(n, status, &why, err);
}

static gt_status check_file(struct gt_node root, struct gt_err *err) {
    static const char *const keys[] = {"format", "about", "seeds", NULL};
    struct gt_node seeds = {0};
    int64_t format;
    gt_status status = gt_json_only(root, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&format, root, "format", 1, 1, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&seeds, root, "seeds", err);
    if (status == GEMMTUNE_OK && gt_json_kind(seeds) != GT_JSON_ARRAY)
        status = gt_json_fail(seeds, err, "must be a list");
    for (size_t i = 0; status == GEMMTUNE_OK && i < gt_json_count(seeds); i++)
        status = check_seed(gt_json_at(seeds, i), err);
    return status;
}

gt_status gt_seeds_file_load(struct gt_json **out, const char *path, struct gt_err *err) {
    *out = NULL;
    if (access(path, F_OK) != 0)
        return GEMMTUNE_OK;
    gt_status status = gt_json_load(out, path, err);
    if (status == GEMMTUNE_OK)
        status = check_file(gt_json_root(*out), err);
    if (status != GEMMTUNE_OK) {
        gt_json_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* ---- writing ---- */

static const char *text_of(struct gt_node object, const char *key) {
    const char *text = "";
    (void)gt_json_string(&text, gt_json_member(object, key), NULL);
    return text;
}

static void put(FILE *out, const char *key, const char *text) {
    fprintf(out, "\"%s\": ", key);
    gt_json_quote(out, text);
    (void)fputs(", ", out);
}

static void put_seed(FILE *out, bool *first, const struct gt_seed_row *row,
                     const char *point) {
    (void)fputs(*first ? "\n  {" : ",\n  {", out);
    *first = false;
    put(out, "device", row->device);
    put(out, "problem", row->problem);
    put(out, "kernel", row->kernel);
    put(out, "point", point);
    put(out, "source", row->source);
    fprintf(out, "\"ns\": %.6g}", row->ns);
}

/* The seed of a file that was checked when it was loaded. */
static struct gt_seed_row row_of(struct gt_node n) {
    struct gt_seed_row row = {.device = text_of(n, "device"),
                              .problem = text_of(n, "problem"),
                              .kernel = text_of(n, "kernel"),
                              .source = text_of(n, "source")};
    (void)gt_json_double(&row.ns, gt_json_member(n, "ns"), NULL);
    return row;
}

static bool replaces(const struct gt_seed_row *now, const struct gt_seed_row *old) {
    return strcmp(now->device, old->device) == 0 &&
           strcmp(now->problem, old->problem) == 0 && strcmp(now->source, old->source) == 0;
}

/* The newest rows come first: searches begin with the first seeds that suit. */
static void put_all(FILE *out, struct gt_json *old, const struct gt_seed_row *rows,
                    size_t count) {
    const struct gt_node seeds =
        old != NULL ? gt_json_member(gt_json_root(old), "seeds") : (struct gt_node){0};
    char point[GT_POINT_TEXT_MAX];
    bool first = true;
    (void)fputs("{\"format\": 1, \"seeds\": [", out);
    for (size_t i = 0; i < count; i++) {
        (void)gt_point_text(&rows[i].point, point);
        put_seed(out, &first, &rows[i], point);
    }
    for (size_t i = 0; i < gt_json_count(seeds); i++) {
        const struct gt_node n = gt_json_at(seeds, i);
        const struct gt_seed_row row = row_of(n);
        if (!replaces(&rows[0], &row))
            put_seed(out, &first, &row, text_of(n, "point"));
    }
    (void)fputs("\n]}\n", out);
}

gt_status gt_seeds_keep(const char *path, const struct gt_seed_row *rows, size_t count,
                        struct gt_err *err) {
    struct gt_json *old = NULL;
    struct gt_new_text text;
    gt_status status = gt_new_text_begin(&text, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_seeds_file_load(&old, path, err); /* while no other import writes it */
    if (status == GEMMTUNE_OK)
        put_all(text.out, old, rows, count);
    status = gt_new_text_end(&text, status, err);
    gt_json_destroy(old);
    return status;
}
