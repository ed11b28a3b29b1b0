/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - `gemmtune compare A B`: two devices out of databases, neither of which need be
 * here. Figures that others published stand beside ours in rows of their own; what the model
 * predicts of either's kernels, when it is asked for, in columns.
 */
#include "tuner/cmd/predict.h"

#include "tuner/published.h"
#include "tuner/sweep.h"
#include "tuner/versus.h"

#include <stdlib.h>
#include <string.h>

struct values {
    struct gt_format format;
    struct gt_texts db, device_files;
    bool predict;
};

static const struct gt_option options[] = {
    {"db", 0, GT_OPT_LIST, offsetof(struct values, db), "FILE",
     "database; may be repeated (else $GEMMTUNE_DB, else the user's own)", 0, 0},
    {"predict", 0, GT_OPT_FLAG, offsetof(struct values, predict), NULL,
     "add what the model predicts: of a tuned kernel its point, of a published one the "
     "best point "
     "of our family of that name",
     0, 0},
    {"device-file", 0, GT_OPT_LIST, offsetof(struct values, device_files), "FILE",
     "predict for a device that no database knows, by its description; may be repeated", 0,
     0},
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_END,
};

/* One of the two: known to a database, or to a publication, or to both. */
struct side {
    const char *key;       /* in the view; NULL: in no database */
    const char *name;      /* for people */
    const char *published; /* its name in published figures; NULL: in none */
    bool described;        /* device is known, and predictions were asked for */
    struct gt_device device;
};

struct comparison {
    struct gt_view view;
    struct gt_published published;
    struct gt_versus versus;
    struct side a, b;
    const struct gt_families *families; /* NULL: no predictions */
};

/* ---- which devices ------------------------------------------------------------------- */

/* The published device called `what`, or the only one with `what` in its name: rows of a device
 * stand together. */
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

static gt_status pick(struct side *out, const struct comparison *c, const char *what,
                      struct gt_err *err) {
    size_t index;
    gt_status status = gt_view_pick(&index, &c->view, what, err);
    if (status == GEMMTUNE_OK) {
        const struct gt_view_device *d = &c->view.device[index];
        *out = (struct side){
            .key = d->key, .name = d->device.name, .described = true, .device = d->device};
        for (size_t i = 0; i < c->published.count; i++)
            if (gt_text_same(c->published.row[i].device, d->device.name))
                out->published = c->published.row[i].device;
        return GEMMTUNE_OK;
    }
    if (status != GEMMTUNE_ENOTFOUND)
        return status;
    *out = (struct side){.key = NULL};
    status = pick_published(&out->published, &c->published, what, err);
    out->name = out->published;
    return status;
}

/* ---- rows -------------------------------------------------------------------------------- */

static const struct gt_column columns[] = {
    {"problem", "problem", GT_LEFT, GT_CELL_TEXT},
    {"source", "source", GT_LEFT, GT_CELL_TEXT}, /* tuned or published */
    {"kernel A", "a_family", GT_LEFT, GT_CELL_TEXT},
    {NULL, "a_point", GT_LEFT, GT_CELL_TEXT},
    {"time A", NULL, GT_RIGHT, GT_CELL_TEXT},
    {NULL, "a_ns", GT_RIGHT, GT_CELL_NUMBER},
    {"GFLOP/s A", "a_gflops", GT_RIGHT, GT_CELL_NUMBER},
    {"kernel B", "b_family", GT_LEFT, GT_CELL_TEXT},
    {NULL, "b_point", GT_LEFT, GT_CELL_TEXT},
    {"time B", NULL, GT_RIGHT, GT_CELL_TEXT},
    {NULL, "b_ns", GT_RIGHT, GT_CELL_NUMBER},
    {"GFLOP/s B", "b_gflops", GT_RIGHT, GT_CELL_NUMBER},
    {"A/B", "ratio", GT_RIGHT, GT_CELL_NUMBER},
    {"differs", "differs", GT_LEFT, GT_CELL_TEXT},
    {"best for both", NULL, GT_LEFT, GT_CELL_TEXT},
    {NULL, "shared_family", GT_LEFT, GT_CELL_TEXT},
    {NULL, "shared_point", GT_LEFT, GT_CELL_TEXT},
    {NULL, "shared_a_ns", GT_RIGHT, GT_CELL_NUMBER},
    {NULL, "shared_b_ns", GT_RIGHT, GT_CELL_NUMBER},
    {"slowdown", "shared_slowdown", GT_RIGHT, GT_CELL_NUMBER},
    {NULL, "title", GT_LEFT, GT_CELL_TEXT},
    {"predicted A", NULL, GT_RIGHT,
     GT_CELL_TEXT}, /* the last only when they were asked for */
    {NULL, "a_predicted_ns", GT_RIGHT, GT_CELL_NUMBER},
    {"predicted B", NULL, GT_RIGHT, GT_CELL_TEXT},
    {NULL, "b_predicted_ns", GT_RIGHT, GT_CELL_NUMBER},
};

enum {
    COLUMNS = sizeof columns / sizeof *columns,
    PREDICTED = COLUMNS - 4, /* the first of those */
    TITLE = PREDICTED - 1,
    SIDE = 5 /* cells of a side in a row */
};

/* Storage for the texts of one side's cells. */
struct side_text {
    char shown[GT_CELL_MAX], ns[GT_CELL_MAX], rate[GT_CELL_MAX];
    char predicted[GT_CELL_MAX], predicted_ns[GT_CELL_MAX];
};

/* Empty texts become empty cells. */
static const char *filled(const char *text) {
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static const char *number(char buf[GT_CELL_MAX], double value) {
    return value > 0 ? gt_show_count(buf, value) : NULL;
}

/* Three digits and no exponent: ratios run from a thousandth to a thousand. */
static const char *ratio(char buf[GT_CELL_MAX], double value) {
    if (value <= 0)
        return NULL;
    (void)snprintf(buf, GT_CELL_MAX, value >= 100 ? "%.0f" : "%.3g", value);
    return buf;
}

static void put_winner(const char **cell, struct side_text *text,
                       const struct gt_view_row *r, double flops) {
    if (r == NULL)
        return;
    cell[0] = r->family;
    cell[1] = r->point;
    cell[2] = gt_show_ns(text->shown, r->median_ns);
    cell[3] = number(text->ns, r->median_ns);
    cell[4] = filled(gt_show_rate(text->rate, flops, r->median_ns));
}

/* ---- what the model says --------------------------------------------------------------- */

/* Of a tuned kernel's point; 0 when it is not predicted. */
static double predict_tuned(const struct comparison *c, const struct side *s,
                            const struct gt_view_row *r, const gemmtune_problem *p) {
    struct gt_point point;
    struct gt_prediction prediction;
    if (c->families == NULL || !s->described || r == NULL)
        return 0;
    const struct gt_family *f = gt_families_find(c->families, r->family);
    if (f == NULL || gt_point_parse(&point, r->point, NULL) != GEMMTUNE_OK ||
        gt_model_explain(&prediction, f, &s->device, p, &point, NULL) != GEMMTUNE_OK)
        return 0;
    return prediction.ns;
}

/* The problem of a published figure; a volume stands for the shape nearest to a cube. */
static bool published_problem(gemmtune_problem *out, const struct gt_published_row *r) {
    char name[GT_PROBLEM_NAME_MAX];
    int64_t m, n, k;
    if (r->problem[0] != '\0')
        return gt_problem_from_name(out, r->problem, NULL) == GEMMTUNE_OK;
    if (r->volume < 1)
        return false;
    gt_volume_shape(r->volume, &m, &n, &k);
    (void)snprintf(name, sizeof name, "%s-%s-%lldx%lldx%lld", r->dtype, r->layout,
                   (long long)m, (long long)n, (long long)k);
    return gt_problem_from_name(out, name, NULL) == GEMMTUNE_OK;
}

/* Of a published kernel: the best point of our family of its name; 0 when there is none. */
static double predict_published(const struct comparison *c, const struct side *s,
                                const struct gt_published_row *r) {
    struct gt_forecast best;
    gemmtune_problem p;
    size_t count = 0, asked;
    if (c->families == NULL || !s->described || r == NULL || !published_problem(&p, r))
        return 0;
    const struct gt_texts names = {.count = 1, .text = {r->kernel}};
    (void)gt_forecast_best(&best, 1, &count, &asked, c->families, &names, &s->device, &p,
                           NULL); /* a space too large to walk through is not predicted */
    return count > 0 ? best.prediction.ns : 0;
}

static void put_predicted(const char **cell, struct side_text *text, double ns) {
    cell[0] = filled(gt_show_ns(text->predicted, ns));
    cell[1] = number(text->predicted_ns, ns);
}

/* ---- rows of the table -------------------------------------------------------------------- */

static gt_status add_tuned(struct gt_table *t, const struct comparison *c,
                           const struct gt_versus_row *r, struct gt_err *err) {
    char num[4][GT_CELL_MAX], shared[GT_NAME_MAX + GT_POINT_TEXT_MAX];
    struct side_text text[2];
    const char *cell[COLUMNS] = {r->problem, "tuned"};
    gemmtune_problem p;
    const bool known = gt_problem_from_name(&p, r->problem, NULL) == GEMMTUNE_OK;
    const double flops = known ? gt_problem_flops(&p) : 0;
    const char **at = cell + 2;
    put_winner(at, &text[0], r->a, flops);
    put_winner(at + SIDE, &text[1], r->b, flops);
    if (known) {
        put_predicted(cell + PREDICTED, &text[0], predict_tuned(c, &c->a, r->a, &p));
        put_predicted(cell + PREDICTED + 2, &text[1], predict_tuned(c, &c->b, r->b, &p));
    }
    at += 2 * SIDE;
    *at++ = ratio(num[0], r->ratio);
    *at++ = filled(r->differs);
    if (r->shared != NULL) {
        (void)snprintf(shared, sizeof shared, "%s %s", r->shared->family, r->shared->point);
        *at++ = shared;
        *at++ = r->shared->family;
        *at++ = r->shared->point;
        *at++ = number(num[1], r->shared_a_ns);
        *at++ = number(num[2], r->shared_b_ns);
        *at++ = ratio(num[3], r->shared_slowdown);
    }
    return gt_table_row(t, cell, err);
}

static void put_published(const char **cell, struct side_text *text,
                          const struct gt_published_row *r) {
    if (r == NULL)
        return;
    cell[0] = r->kernel;
    cell[1] = filled(r->how);
    cell[2] = filled(gt_show_ns(text->shown, r->ms * 1e6));
    cell[3] = number(text->ns, r->ms * 1e6);
    cell[4] = r->gflops > 0 ? gt_show_rate(text->rate, r->gflops, 1) : NULL;
}

/* `a` or `b` may be NULL: published on one of the two devices only. */
static gt_status add_published(struct gt_table *t, const struct comparison *c,
                               const struct gt_published_row *a,
                               const struct gt_published_row *b, struct gt_err *err) {
    const struct gt_published_row *r = a != NULL ? a : b;
    char what[GT_PROBLEM_NAME_MAX + 16], volume[GT_CELL_MAX], num[GT_CELL_MAX];
    struct side_text text[2];
    const char *cell[COLUMNS] = {what, "published"};
    if (r->problem[0] != '\0')
        (void)snprintf(what, sizeof what, "%s", r->problem);
    else
        (void)snprintf(what, sizeof what, "%s-%s%s%s", r->dtype, r->layout,
                       r->volume > 0 ? " mnk=" : "",
                       r->volume > 0 ? gt_show_count(volume, (double)r->volume) : "");
    put_published(cell + 2, &text[0], a);
    put_published(cell + 2 + SIDE, &text[1], b);
    if (a != NULL && b != NULL && b->ms > 0)
        cell[2 + 2 * SIDE] = ratio(num, a->ms / b->ms);
    cell[TITLE] = r->title;
    /* one kernel and problem, whichever of the two it was published on */
    put_predicted(cell + PREDICTED, &text[0], predict_published(c, &c->a, r));
    put_predicted(cell + PREDICTED + 2, &text[1], predict_published(c, &c->b, r));
    return gt_table_row(t, cell, err);
}

static bool of_device(const struct gt_published_row *r, const struct side *s) {
    return s->published != NULL && strcmp(r->device, s->published) == 0;
}

/* The other side's figure for the same kernel and problem; a rate without a size has no
 * counterpart. */
static const struct gt_published_row *counterpart(const struct gt_published *p,
                                                  const struct gt_published_row *r,
                                                  const struct side *other) {
    for (size_t i = 0; i < p->count; i++)
        if (of_device(&p->row[i], other) && r->volume > 0 &&
            p->row[i].volume == r->volume && strcmp(p->row[i].problem, r->problem) == 0 &&
            strcmp(p->row[i].dtype, r->dtype) == 0 &&
            strcmp(p->row[i].kernel, r->kernel) == 0)
            return &p->row[i];
    return NULL;
}

/* The highest rate of a kernel and type on a device, whatever the size. */
static double best_rate(const struct gt_published *p, const struct side *s,
                        const struct gt_published_row *like) {
    double best = 0;
    for (size_t i = 0; i < p->count; i++)
        if (of_device(&p->row[i], s) && strcmp(p->row[i].kernel, like->kernel) == 0 &&
            strcmp(p->row[i].dtype, like->dtype) == 0 && p->row[i].gflops > best)
            best = p->row[i].gflops;
    return best;
}

/* Sources rarely share a size: the one comparison that is left is of each kernel's best rate. */
static gt_status add_best_rates(struct gt_table *t, const struct gt_published_row *r,
                                double a, double b, struct gt_err *err) {
    char what[64], num[GT_CELL_MAX];
    struct side_text text[2];
    const char *cell[COLUMNS] = {what, "published"};
    (void)snprintf(what, sizeof what, "%s, best rate", r->dtype);
    cell[2] = cell[2 + SIDE] = r->kernel;
    cell[6] = gt_show_rate(text[0].rate, a, 1);
    cell[6 + SIDE] = gt_show_rate(text[1].rate, b, 1);
    cell[2 + 2 * SIDE] = ratio(num, b / a); /* of times, like the other rows */
    return gt_table_row(t, cell, err);
}

/* Whether no earlier row of the same device has this kernel and type. */
static bool is_first(const struct gt_published *p, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (strcmp(p->row[j].device, p->row[i].device) == 0 &&
            strcmp(p->row[j].kernel, p->row[i].kernel) == 0 &&
            strcmp(p->row[j].dtype, p->row[i].dtype) == 0)
            return false;
    return true;
}

static gt_status compare_rates(struct gt_table *t, const struct comparison *c,
                               struct gt_err *err) {
    const struct gt_published *p = &c->published;
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; status == GEMMTUNE_OK && i < p->count; i++) {
        if (!of_device(&p->row[i], &c->a) || !is_first(p, i))
            continue;
        const double a = best_rate(p, &c->a, &p->row[i]),
                     b = best_rate(p, &c->b, &p->row[i]);
        if (a > 0 && b > 0)
            status = add_best_rates(t, &p->row[i], a, b, err);
    }
    return status;
}

static gt_status add_all_published(struct gt_table *t, const struct comparison *c,
                                   struct gt_err *err) {
    const struct gt_published *p = &c->published;
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; status == GEMMTUNE_OK && i < p->count; i++)
        if (of_device(&p->row[i], &c->a))
            status =
                add_published(t, c, &p->row[i], counterpart(p, &p->row[i], &c->b), err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < p->count; i++)
        if (of_device(&p->row[i], &c->b) && counterpart(p, &p->row[i], &c->a) == NULL)
            status = add_published(t, c, NULL, &p->row[i], err);
    return status == GEMMTUNE_OK ? compare_rates(t, c, err) : status;
}

/* ---- printing ------------------------------------------------------------------------------ */

static void json_side(bool *first, const char *name, const struct side *s) {
    bool member = true;
    gt_json_name(first, name);
    (void)fputs("{", stdout);
    gt_json_text(&member, "name", s->name);
    gt_json_text(&member, "key", s->key);
    (void)fputs("}", stdout);
}

static void print_json(const struct comparison *c, const struct gt_table *t) {
    bool first = true;
    (void)fputs("{", stdout);
    json_side(&first, "a", &c->a);
    json_side(&first, "b", &c->b);
    gt_json_number(&first, "common", (double)c->versus.common);
    gt_json_name(&first, "geomean");
    char buf[GT_CELL_MAX];
    (void)fputs(c->versus.common > 0 ? ratio(buf, c->versus.geomean) : "null", stdout);
    gt_json_name(&first, "rows");
    gt_table_json(t, stdout);
    (void)fputs("}\n", stdout);
}

static void print_people(const struct comparison *c, const struct gt_table *t) {
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
               ratio(buf, c->versus.geomean));
}

static gt_status print(const struct comparison *c, const struct gt_format *format,
                       struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status =
        gt_table_create(&t, columns, c->families != NULL ? COLUMNS : PREDICTED, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < c->versus.count; i++)
        status = add_tuned(t, c, &c->versus.row[i], err);
    if (status == GEMMTUNE_OK)
        status = add_all_published(t, c, err);
    if (status == GEMMTUNE_OK && format->json)
        print_json(c, t);
    else if (status == GEMMTUNE_OK && format->csv)
        gt_table_csv(t, stdout);
    else if (status == GEMMTUNE_OK)
        print_people(c, t);
    gt_table_destroy(t);
    return status;
}

/* ---- the command ------------------------------------------------------------------------------ */

/* Calls `read` with every database that was named, or the default one. */
static int each_database(struct comparison *c, const struct gt_texts *paths,
                         gt_status (*read)(struct comparison *c, struct gt_db *db,
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

static gt_status read_devices(struct comparison *c, struct gt_db *db, struct gt_err *err) {
    return gt_view_devices(&c->view, db, err);
}

static gt_status read_rows(struct comparison *c, struct gt_db *db, struct gt_err *err) {
    const char *const keys[] = {c->a.key, c->b.key};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < 2; i++) {
        if (keys[i] == NULL || (i == 1 && keys[0] == keys[1]))
            continue;
        if (status == GEMMTUNE_OK)
            status = gt_view_records(&c->view, db, keys[i], NULL, err);
        if (status == GEMMTUNE_OK)
            status = gt_view_trials(&c->view, db, keys[i], NULL, err);
    }
    return status;
}

/* Whether one of the two is the device of the description, and no database knows it. */
static bool take_description(struct comparison *c, const struct gt_device *d) {
    struct side *const sides[] = {&c->a, &c->b};
    bool used = false;
    for (int i = 0; i < 2; i++)
        if (sides[i]->key == NULL && gt_text_holds(d->name, sides[i]->name)) {
            sides[i]->device = *d;
            sides[i]->described = used = true;
        }
    return used;
}

static int describe(struct comparison *c, const struct gt_texts *files) {
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

static int compare(struct comparison *c, const struct values *v, char **names) {
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
    struct comparison c = {.families = NULL};
    struct gt_families *families = NULL;
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 2, 2, &first);
    if (code < 0 && (v.predict || v.device_files.count > 0)) {
        code = gt_common_families(&families, &(struct gt_texts){.count = 0});
        c.families = families;
    }
    if (code < 0)
        code = compare(&c, &v, argv + first);
    gt_families_destroy(families);
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
