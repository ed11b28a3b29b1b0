/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - `gemmtune compare A B`: two devices out of databases, neither of which need
 * be here. Which two they are, what is read of them, and how it is printed; the rows are
 * compare_rows.c's.
 */
#include "tuner/cmd/compare.h"

#include "tuner/study/predict.h"

#include <stdlib.h>
#include <string.h>

struct values {
    struct gt_format format;
    struct gt_texts db, device_files, templates;
    bool predict;
};

static const struct gt_option options[] = {
    {"db", 0, GT_OPT_LIST, offsetof(struct values, db), "FILE",
     "database; may be repeated (else $GEMMTUNE_DB, else the user's own)", 0, 0},
    {"predict", 0, GT_OPT_FLAG, offsetof(struct values, predict), NULL,
     "add what the model predicts: of a tuned kernel its point, of a published one the "
     "best point of our family of that name",
     0, 0},
    {"device-file", 0, GT_OPT_LIST, offsetof(struct values, device_files), "FILE",
     "predict for a device that no database knows, by its description; may be repeated", 0,
     0},
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_END,
};

/* ---- which devices ------------------------------------------------------------------- */

/* The published device called `what`, or the only one with `what` in its name: rows of a
 * device stand together. */
static gt_status pick_published(const char **out, const struct gt_published *p,
                                const char *what, struct gt_err *err) {
    const char *found = NULL;
    for (size_t i = 0; i < p->count; i++) {
        const char *name = p->row[i].device;
        if (gt_text_same(name, what)) {
            *out = name;
            return GEMMTUNE_OK;
        }
        if (!gt_text_holds(name, what) || (found != NULL && strcmp(found, name) == 0))
            continue;
        if (found != NULL)
            return gt_fail(err, GEMMTUNE_EINVAL, "'%.60s' fits several devices: %s, %s",
                           what, found, name);
        found = name;
    }
    *out = found;
    if (found == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "no device '%.60s' in a database or among published figures", what);
    return GEMMTUNE_OK;
}

static gt_status pick(struct gt_compare_side *out, const struct gt_comparison *c,
                      const char *what, struct gt_err *err) {
    size_t index;
    gt_status status = gt_view_pick(&index, &c->view, what, err);
    if (status == GEMMTUNE_OK) {
        const struct gt_view_device *d = &c->view.device[index];
        *out = (struct gt_compare_side){
            .key = d->key, .name = d->device.name, .described = true, .device = d->device};
        for (size_t i = 0; i < c->published.count; i++)
            if (gt_text_same(c->published.row[i].device, d->device.name))
                out->published = c->published.row[i].device;
        return GEMMTUNE_OK;
    }
    if (status != GEMMTUNE_ENOTFOUND)
        return status;
    *out = (struct gt_compare_side){.key = NULL};
    status = pick_published(&out->published, &c->published, what, err);
    out->name = out->published;
    return status;
}

/* ---- printing
 * ------------------------------------------------------------------------------ */

static void json_side(bool *first, const char *name, const struct gt_compare_side *s) {
    bool member = true;
    gt_json_name(first, name);
    (void)fputs("{", stdout);
    gt_json_text(&member, "name", s->name);
    gt_json_text(&member, "key", s->key);
    (void)fputs("}", stdout);
}

static void print_json(const struct gt_comparison *c, const struct gt_table *t) {
    bool first = true;
    (void)fputs("{", stdout);
    json_side(&first, "a", &c->a);
    json_side(&first, "b", &c->b);
    gt_json_number(&first, "common", (double)c->versus.common);
    gt_json_name(&first, "geomean");
    char buf[GT_CELL_MAX];
    (void)fputs(c->versus.common > 0 ? gt_compare_ratio(buf, c->versus.geomean) : "null",
                stdout);
    gt_json_name(&first, "rows");
    gt_table_json(t, stdout);
    (void)fputs("}\n", stdout);
}

static void print_people(const struct gt_comparison *c, const struct gt_table *t) {
    char buf[GT_CELL_MAX];
    size_t only_a = 0, only_b = 0;
    for (size_t i = 0; i < c->versus.count; i++) {
        only_a += c->versus.row[i].b == NULL;
        only_b += c->versus.row[i].a == NULL;
    }
    printf("A  %s%s%s\n", c->a.name, c->a.key != NULL ? "  " : ", published figures only",
           c->a.key != NULL ? c->a.key : "");
    printf("B  %s%s%s\n\n", c->b.name, c->b.key != NULL ? "  " : ", published figures only",
           c->b.key != NULL ? c->b.key : "");
    gt_table_print(t, stdout);
    printf("\n%zu problems in common, %zu on A only, %zu on B only\n", c->versus.common,
           only_a, only_b);
    if (c->versus.common > 0)
        printf("geometric mean of A/B: %s (above 1: B is faster)\n",
               gt_compare_ratio(buf, c->versus.geomean));
}

static gt_status print(const struct gt_comparison *c, const struct gt_format *format,
                       struct gt_err *err) {
    struct gt_table *t = NULL;
    const gt_status status = gt_compare_rows(&t, c, err);
    if (status == GEMMTUNE_OK && format->json)
        print_json(c, t);
    else if (status == GEMMTUNE_OK && format->csv)
        gt_table_csv(t, stdout);
    else if (status == GEMMTUNE_OK)
        print_people(c, t);
    gt_table_destroy(t);
    return status;
}

/* ---- the command
 * ------------------------------------------------------------------------------ */

/* Calls `read` with every database that was named, or the default one. */
static int each_database(struct gt_comparison *c, const struct gt_texts *paths,
                         gt_status (*read)(struct gt_comparison *c, struct gt_db *db,
                                           struct gt_err *err)) {
    int code = -1;
    for (int i = 0; code < 0 && (i == 0 || i < paths->count); i++) {
        struct gt_db *db = NULL;
        struct gt_err err = {""};
        code = gt_common_read_db(&db, i < paths->count ? paths->text[i] : NULL);
        const gt_status status = code < 0 && db != NULL ? read(c, db, &err) : GEMMTUNE_OK;
        gt_db_close(db);
        if (status != GEMMTUNE_OK)
            code = gt_common_fail(status, &err);
    }
    return code;
}

static gt_status read_devices(struct gt_comparison *c, struct gt_db *db,
                              struct gt_err *err) {
    return gt_view_devices(&c->view, db, err);
}

static gt_status read_rows(struct gt_comparison *c, struct gt_db *db, struct gt_err *err) {
    const char *const keys[] = {c->a.key, c->b.key == c->a.key ? NULL : c->b.key};
    const size_t from = c->view.row_count;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < 2; i++)
        if (keys[i] != NULL)
            status = gt_view_records(&c->view, db, keys[i], NULL, err);
    gt_view_rank(&c->view, from, c->families);
    for (int i = 0; status == GEMMTUNE_OK && i < 2; i++)
        if (keys[i] != NULL)
            status = gt_view_trials(&c->view, db, keys[i], NULL, err);
    return status;
}

/* Whether one of the two is the device of the description, and no database knows it. */
static bool take_description(struct gt_comparison *c, const struct gt_device *d) {
    struct gt_compare_side *const sides[] = {&c->a, &c->b};
    bool used = false;
    for (int i = 0; i < 2; i++)
        if (sides[i]->key == NULL && gt_text_holds(d->name, sides[i]->name)) {
            sides[i]->device = *d;
            sides[i]->described = used = true;
        }
    return used;
}

static int describe(struct gt_comparison *c, const struct gt_texts *files) {
    struct gt_err err = {""};
    for (int i = 0; i < files->count; i++) {
        struct gt_device d;
        if (gt_describe_load(&d, files->text[i], &err) != GEMMTUNE_OK)
            return gt_die(GT_EXIT_INPUT, "%s", err.line);
        if (!take_description(c, &d))
            return gt_die(GT_EXIT_USAGE,
                          "%s: %s is neither of the two, or a database knows it",
                          files->text[i], d.name);
    }
    return -1;
}

static int compare(struct gt_comparison *c, const struct values *v, char **names) {
    struct gt_err err = {""};
    int code = each_database(c, &v->db, read_devices);
    if (code >= 0)
        return code;
    gt_status status = gt_published_load(&c->published, &err);
    if (status == GEMMTUNE_OK)
        status = pick(&c->a, c, names[0], &err);
    if (status == GEMMTUNE_OK)
        status = pick(&c->b, c, names[1], &err);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    code = describe(c, &v->device_files);
    if (code >= 0)
        return code;
    if (c->a.key != NULL || c->b.key != NULL)
        code = each_database(c, &v->db, read_rows);
    if (code >= 0)
        return code;
    status = gt_versus_create(&c->versus, &c->view, c->a.key != NULL ? c->a.key : "",
                              c->b.key != NULL ? c->b.key : "", &err);
    if (status == GEMMTUNE_OK)
        status = print(c, &v->format, &err);
    return status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.format = {false, false}};
    struct gt_comparison c = {.families = NULL};
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 2, 2, &first);
    c.predict = v.predict || v.device_files.count > 0;
    if (code < 0)
        code = gt_common_families(&c.families, &v.templates);
    if (code < 0)
        code = compare(&c, &v, argv + first);
    gt_families_destroy(c.families);
    gt_versus_clear(&c.versus);
    gt_published_clear(&c.published);
    gt_view_clear(&c.view);
    return code;
}

const struct gt_cmd gt_cmd_compare = {
    .name = "compare",
    .operands = "A B",
    .about = "Compare the results of two devices, from databases and published figures.",
    .options = options,
    .run = run,
};
