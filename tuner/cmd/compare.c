/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - `gemmtune compare A B`: compares two devices, which need not be present. It
 * reads databases, published figures and device files, and prints.
 */
#include "tuner/cmd/compare.h"

#include "tuner/base/wrap.h"
#include "tuner/cmd/import_shelf.h"

#include <stdlib.h>
#include <string.h>

struct values {
    struct gt_format format;
    struct gt_compare_values of;
    struct gt_texts templates;
    const char *svg;
};

static const struct gt_option options[] = {
    {"db", 0, GT_OPT_LIST, offsetof(struct values, of.db), "FILE",
     "database, or a folder of export --shelf; may be repeated (else $GEMMTUNE_DB, else "
     "the user's own)",
     0, 0},
    {"device-file", 0, GT_OPT_LIST, offsetof(struct values, of.device_files), "FILE",
     "describe one of the two: a file, or a built-in one by name (gtx-1050-3gb); may be "
     "repeated",
     0, 0},
    {"sizes", 's', GT_OPT_TEXT, offsetof(struct values, of.sizes), "FILE",
     "also predict the fastest kernels of these problems (sweep.json); some usual ones "
     "where nothing is tuned or published",
     0, 0},
    {"svg", 0, GT_OPT_TEXT, offsetof(struct values, svg), "FILE",
     "draw the comparison into FILE", 0, 0},
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    {"quiet", 'q', GT_OPT_FLAG, offsetof(struct values, of.quiet), NULL,
     "no progress on stderr", 0, 0},
    GT_OPTION_END,
};

/* ---- printing ---- */

static void json_side(bool *first, const char *name, const struct gt_compare_side *s) {
    bool member = true;
    gt_json_name(first, name);
    (void)fputs("{", stdout);
    gt_json_text(&member, "name", s->name);
    gt_json_text(&member, "key", s->key);
    gt_json_text(&member, "device_file", s->file[0] != '\0' ? s->file : NULL);
    (void)fputs("}", stdout);
}

static void json_ratio(bool *first, const char *name, double value) {
    char buf[GT_CELL_MAX];
    const char *text = gt_compare_ratio(buf, value);
    gt_json_name(first, name);
    (void)fputs(text != NULL ? text : "null", stdout);
}

static void print_json(const struct gt_comparison *c, const struct gt_table *t) {
    bool first = true;
    (void)fputs("{", stdout);
    json_side(&first, "a", &c->side[0]);
    json_side(&first, "b", &c->side[1]);
    gt_json_number(&first, "common", (double)c->versus.common);
    json_ratio(&first, "geomean", c->versus.geomean);
    json_ratio(&first, "predicted_geomean", c->predicted_geomean);
    json_ratio(&first, "best_geomean", c->best_geomean);
    gt_json_name(&first, "rows");
    gt_table_json(t, stdout);
    (void)fputs("}\n", stdout);
}

static void print_side(char letter, const struct gt_compare_side *s) {
    printf("%c  %s", letter, s->name);
    if (s->key != NULL)
        printf("  %s", s->key);
    else if (!s->described)
        (void)fputs(", published figures only", stdout);
    else if (s->file[0] != '\0')
        printf(", described by the built-in device file %s", s->file);
    else
        (void)fputs(", described by a device file", stdout);
    (void)fputs("\n", stdout);
}

static void print_rates(const struct gt_comparison *c) {
    char a[GT_CELL_MAX], b[GT_CELL_MAX];
    for (size_t i = 0; i < c->row_count; i++) {
        const struct gt_compare_row *r = &c->row[i];
        if (r->source == GT_COMPARE_RATE)
            gt_wrap_print(stdout, 4, "best published rate, %s, %s: A %s, B %s GFLOP/s",
                          r->published->dtype, r->part[0].kernel,
                          gt_show_rate(a, r->part[0].gflops, 1),
                          gt_show_rate(b, r->part[1].gflops, 1));
    }
}

static void print_tuned(const struct gt_versus *v) {
    char buf[GT_CELL_MAX];
    size_t only_a = 0, only_b = 0;
    for (size_t i = 0; i < v->count; i++) {
        only_a += v->row[i].b == NULL;
        only_b += v->row[i].a == NULL;
    }
    printf("%zu problem%s in common, %zu on A only, %zu on B only\n", v->common,
           gt_text_plural((int64_t)v->common), only_a, only_b);
    if (v->common > 0)
        printf("geometric mean of A/B: %s (above 1: B is faster)\n",
               gt_compare_ratio(buf, v->geomean));
}

static void print_mean(const char *what, double geomean) {
    char buf[GT_CELL_MAX];
    if (geomean > 0)
        gt_wrap_print(stdout, 4,
                      "geometric mean of predicted A/B, %s: %s (above 1: B is faster)",
                      what, gt_compare_ratio(buf, geomean));
}

static void print_people(const struct gt_comparison *c, const struct gt_table *t,
                         const struct gt_format *format) {
    print_side('A', &c->side[0]);
    print_side('B', &c->side[1]);
    (void)fputs("\n", stdout);
    if (c->row_count > 0) {
        gt_common_print_people(t, format, stdout);
        (void)fputs("\n", stdout);
    }
    if (c->versus.count > 0)
        print_tuned(&c->versus);
    else
        printf("Nothing is tuned on either device.\n");
    print_mean("published kernels", c->predicted_geomean);
    print_mean("the fastest kernels of gemmtune", c->best_geomean);
    print_rates(c);
    if (!c->side[0].described && !c->side[1].described)
        return;
    printf("\n");
    gt_wrap_print(stdout, 11, "predicted: what the model expects of the row's kernel.");
    gt_wrap_print(stdout, 11,
                  "best:      what the model expects of the fastest kernel of gemmtune.");
}

static gt_status print(const struct gt_comparison *c, const struct gt_format *format,
                       struct gt_err *err) {
    struct gt_table *t = NULL;
    const bool people = !format->json && !format->csv;
    const gt_status status = gt_compare_table(&t, c, people, err);
    if (status == GEMMTUNE_OK && format->json)
        print_json(c, t);
    else if (status == GEMMTUNE_OK && format->csv)
        gt_table_csv(t, stdout);
    else if (status == GEMMTUNE_OK)
        print_people(c, t, format);
    gt_table_destroy(t);
    return status;
}

/* ---- reading ---- */

/* Calls `read` for every database that was named, or for the default one. */
static int each_database(struct gt_comparison *c, const struct gt_texts *paths,
                         gt_status (*read)(struct gt_comparison *c, struct gt_db *db,
                                           struct gt_err *err)) {
    int code = -1;
    for (int i = 0; code < 0 && (i == 0 || i < paths->count); i++) {
        struct gt_borrowed results;
        struct gt_err err = {""};
        code = gt_import_open(&results, i < paths->count ? paths->text[i] : NULL);
        const gt_status status =
            code < 0 && results.db != NULL ? read(c, results.db, &err) : GEMMTUNE_OK;
        gt_import_return(&results);
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
    const char *const a = c->side[0].key, *const b = c->side[1].key;
    const char *const keys[] = {a, b == a ? NULL : b};
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

static int read_files(struct gt_comparison *c, const struct gt_texts *files) {
    struct gt_err err = {""};
    for (int i = 0; i < files->count; i++) {
        struct gt_compare_file *f = &c->file[c->file_count++];
        *f = (struct gt_compare_file){.path = files->text[i]};
        if (gt_describe_load(&f->device, f->path, &err) != GEMMTUNE_OK)
            return gt_die(GT_EXIT_INPUT, "%s", err.line);
    }
    return -1;
}

static gt_status set_side_by_side(struct gt_comparison *c, struct gt_err *err) {
    const char *const a = c->side[0].key, *const b = c->side[1].key;
    gt_status status =
        gt_versus_create(&c->versus, &c->view, a != NULL ? a : "", b != NULL ? b : "", err);
    if (status == GEMMTUNE_OK)
        status = gt_compare_rows(c, err);
    return status;
}

int gt_compare_load(struct gt_comparison *c, const struct gt_compare_values *v,
                    struct gt_families *families, char **names) {
    struct gt_err err = {""};
    *c = (struct gt_comparison){.families = families};
    gt_progress_init(&c->progress, 0, v->quiet);
    int code = v->sizes != NULL ? gt_common_sweep(&c->sizes, v->sizes, NULL, 0) : -1;
    if (code < 0)
        code = read_files(c, &v->device_files);
    if (code < 0)
        code = each_database(c, &v->db, read_devices);
    if (code >= 0)
        return code;
    gt_status status = gt_published_load(&c->published, &err);
    if (status == GEMMTUNE_OK)
        status = gt_compare_pick(c, names, &err);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    if (c->side[0].key != NULL || c->side[1].key != NULL)
        code = each_database(c, &v->db, read_rows);
    if (code >= 0)
        return code;
    status = set_side_by_side(c, &err);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

void gt_compare_clear(struct gt_comparison *c) {
    free(c->row);
    gt_sweep_clear(&c->sizes);
    gt_versus_clear(&c->versus);
    gt_published_clear(&c->published);
    gt_view_clear(&c->view);
}

/* ---- the command ---- */

static int show(const struct gt_comparison *c, const struct values *v) {
    struct gt_err err = {""};
    if (v->svg != NULL && gt_compare_svg(c, v->svg, &err) != GEMMTUNE_OK)
        return gt_die(GT_EXIT_FAILURE, "%s", err.line);
    const gt_status status = print(c, &v->format, &err);
    return status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.format = {.json = false}};
    struct gt_families *families = NULL;
    struct gt_comparison c = {.families = NULL};
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 2, 2, &first);
    if (code < 0)
        code = gt_common_picture(v.svg);
    if (code < 0)
        code = gt_common_families(&families, &v.templates);
    if (code < 0)
        code = gt_compare_load(&c, &v.of, families, argv + first);
    if (code < 0)
        code = show(&c, &v);
    gt_compare_clear(&c);
    gt_families_destroy(families);
    return code;
}

const struct gt_cmd gt_cmd_compare = {
    .name = "compare",
    .operands = "A B",
    .about =
        "Compare two devices, each given by its key, a part of its name or a device file's "
        "name: tuned here, published by others, predicted by the model.",
    .options = options,
    .tables =
        (const struct gt_form *const[]){&gt_compare_tuned_form, &gt_compare_published_form,
                                        &gt_compare_data_form, NULL},
    .run = run,
};
