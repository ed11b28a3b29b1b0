/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - see figures.h. */
#include "tuner/study/figures.h"

#include "core/dtype.h"
#include "core/text.h"
#include "tuner/base/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* A member that may be null or missing. */
static gt_status take_text(const char **out, struct gt_node object, const char *key,
                           struct gt_err *err) {
    const struct gt_node n = gt_json_member(object, key);
    const enum gt_json_kind kind = gt_json_kind(n);
    *out = NULL;
    return kind == GT_JSON_ABSENT || kind == GT_JSON_NULL ? GEMMTUNE_OK
                                                          : gt_json_string(out, n, err);
}

static gt_status take_number(double *out, struct gt_node object, const char *key,
                             struct gt_err *err) {
    const struct gt_node n = gt_json_member(object, key);
    const enum gt_json_kind kind = gt_json_kind(n);
    *out = (double)NAN;
    return kind == GT_JSON_ABSENT || kind == GT_JSON_NULL ? GEMMTUNE_OK
                                                          : gt_json_double(out, n, err);
}

struct text_member {
    const char *key, **out;
};

struct number_member {
    const char *key;
    double *out;
};

/* Both lists end with a key that is NULL. */
static gt_status take_all(struct gt_node object, const struct text_member *text,
                          const struct number_member *number, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (; status == GEMMTUNE_OK && text->key != NULL; text++)
        status = take_text(text->out, object, text->key, err);
    for (; status == GEMMTUNE_OK && number->key != NULL; number++)
        status = take_number(number->out, object, number->key, err);
    return status;
}

static gt_status take_head(struct gt_figure_file *file, struct gt_err *err) {
    const struct text_member text[] = {
        {"device", &file->device},
        {"name", &file->name},
        {"driver", &file->driver},
        {"compiler", &file->compiler},
        {"gemmtune", &file->version},
        {"command", &file->command},
        {NULL, NULL},
    };
    const struct number_member number[] = {{"workspace", &file->workspace}, {NULL, NULL}};
    return take_all(gt_json_root(file->doc), text, number, err);
}

static gt_status take_problem(struct gt_figure *line, struct gt_node n,
                              struct gt_err *err) {
    const struct gt_node name = gt_json_member(n, "problem");
    struct gt_err why = {""};
    gemmtune_problem p;
    gt_status status = gt_json_string(&line->problem, name, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_problem_from_name(&p, line->problem, &why);
    if (status != GEMMTUNE_OK)
        return gt_json_fail_because(name, status, &why, err);
    if (gt_dtype_of(&p) == NULL)
        return gt_json_fail(name, err, "no such mix of types");
    const bool batch = gt_problem_is_batch(&p);
    line->type = gt_dtype_index(gt_dtype_of(&p)) + (batch ? GT_DTYPES : 0);
    line->shape = batch ? GT_SHAPE_CLASSES : gt_shape_class_index(&p);
    return GEMMTUNE_OK;
}

/* Reads a verdict's word. A line with a verdict has a ratio, and nothing else has. */
static gt_status take_verdict(struct gt_figure *line, const char *word, struct gt_node n,
                              struct gt_err *err) {
    int v = GT_NO_VERDICT;
    while (word != NULL && v <= GT_NOISY &&
           strcmp(word, gt_verdict_word((enum gt_verdict)v)) != 0)
        v++;
    if (v > GT_NOISY)
        return gt_json_fail(gt_json_member(n, "verdict"), err, "no verdict: '%s'", word);
    line->verdict = (enum gt_verdict)v;
    if (v != GT_NO_VERDICT && !(line->ratio > 0 && line->ours_ns > 0 && line->base_ns > 0))
        return gt_json_fail(n, err, "a verdict without times and a ratio above 0");
    if (v != GT_NO_VERDICT && (line->baseline == NULL || line->baseline_is == NULL))
        return gt_json_fail(n, err, "a verdict without a baseline");
    return GEMMTUNE_OK;
}

/* A line of --as-used: it counts as failed when a way that has room has no time. */
static gt_status take_used(struct gt_figure *line, struct gt_node n, struct gt_err *err) {
    const struct text_member text[] = {
        {"baseline", &line->baseline}, {"baseline_is", &line->baseline_is}, {NULL, NULL}};
    const struct number_member number[] = {
        {"same_ns", &line->ours_ns},
        {"baseline_ns", &line->base_ns},
        {"none_ratio", &line->used[GT_USED_NONE]},
        {"same_ratio", &line->used[GT_USED_SAME]},
        {"any_ratio", &line->used[GT_USED_ANY]},
        {"call_ratio", &line->used[GT_USED_CALL]},
        {NULL, NULL},
    };
    gt_status status = take_problem(line, n, err);
    if (status == GEMMTUNE_OK)
        status = take_all(n, text, number, err);
    for (int way = 0; status == GEMMTUNE_OK && way < GT_USED_WAYS; way++)
        if (line->used[way] <= 0)
            return gt_json_fail(n, err, "a ratio that is not above 0");
    line->ratio = line->low = line->high = line->used[GT_USED_SAME];
    line->failed = isnan(line->ours_ns);
    return status;
}

static bool is_used(struct gt_node line) {
    return gt_json_kind(gt_json_member(line, "none_ratio")) != GT_JSON_ABSENT;
}

static gt_status take_line(struct gt_figure *line, struct gt_node n, struct gt_err *err) {
    const char *verdict = NULL, *outcome = NULL;
    const struct text_member text[] = {
        {"verdict", &verdict},
        {"outcome", &outcome},
        {"baseline", &line->baseline},
        {"baseline_is", &line->baseline_is},
        {NULL, NULL},
    };
    const struct number_member number[] = {
        {"ours_ns", &line->ours_ns}, {"baseline_ns", &line->base_ns},
        {"ratio", &line->ratio},     {"ratio_low", &line->low},
        {"ratio_high", &line->high}, {NULL, NULL},
    };
    gt_status status = take_problem(line, n, err);
    if (status == GEMMTUNE_OK)
        status = take_all(n, text, number, err);
    if (status == GEMMTUNE_OK && outcome == NULL)
        return gt_json_fail(n, err, "no outcome");
    line->failed = status == GEMMTUNE_OK && strcmp(outcome, "correct") != 0;
    return status == GEMMTUNE_OK ? take_verdict(line, verdict, n, err) : status;
}

/* Refuses a problem that was read before: it would count twice. */
static gt_status look_for_twin(const struct gt_figures *f, const struct gt_figure *line,
                               struct gt_node n, struct gt_err *err) {
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->line[i].problem, line->problem) == 0)
            return gt_json_fail(n, err, "%s is in %s already", line->problem,
                                f->file[f->line[i].file].path);
    return GEMMTUNE_OK;
}

static gt_status take_lines(struct gt_figures *f, struct gt_node lines,
                            struct gt_err *err) {
    const size_t more = gt_json_count(lines);
    struct gt_figure *line = realloc(f->line, (f->count + more + 1) * sizeof *line);
    gt_status status = GEMMTUNE_OK;
    if (line == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu lines", f->count + more);
    f->line = line;
    for (size_t i = 0; status == GEMMTUNE_OK && i < more; i++) {
        const struct gt_node n = gt_json_at(lines, i);
        line = &f->line[f->count];
        *line = (struct gt_figure){.file = f->files - 1, .in_file = i};
        status = f->file[0].as_used ? take_used(line, n, err) : take_line(line, n, err);
        if (status == GEMMTUNE_OK)
            status = look_for_twin(f, line, n, err);
        f->count += status == GEMMTUNE_OK;
    }
    return status;
}

static bool is_same(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Sums are of one device and one set-up. */
static gt_status compare_heads(const struct gt_figure_file *file,
                               const struct gt_figure_file *first, struct gt_err *err) {
    const struct {
        const char *what, *here, *there;
    } rows[] = {{"device", file->device, first->device},
                {"driver", file->driver, first->driver},
                {"compiler", file->compiler, first->compiler},
                {"gemmtune", file->version, first->version}};
    const struct gt_node root = gt_json_root(file->doc);
    if (file->device == NULL)
        return gt_json_fail(root, err, "no device");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!is_same(rows[i].here, rows[i].there))
            return gt_json_fail(root, err, "%s %s; in %s it is %s", rows[i].what,
                                rows[i].here != NULL ? rows[i].here : "is missing",
                                first->path,
                                rows[i].there != NULL ? rows[i].there : "missing");
    if (file->as_used != first->as_used)
        return gt_json_fail(root, err, "%s --as-used, and %s %s",
                            file->as_used ? "a run with" : "a run without", first->path,
                            file->as_used ? "is without" : "is with it");
    if (isnan(file->workspace) != isnan(first->workspace) ||
        fabs(file->workspace - first->workspace) >= 1)
        return gt_json_fail(root, err, "another workspace than %s", first->path);
    return GEMMTUNE_OK;
}

gt_status gt_figures_read(struct gt_figures *f, const char *path, struct gt_err *err) {
    struct gt_node lines;
    if (f->files == GT_FIGURE_FILES_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL, "more than %d files", GT_FIGURE_FILES_MAX);
    struct gt_figure_file *file = &f->file[f->files];
    *file = (struct gt_figure_file){.path = path};
    gt_status status = gt_json_load(&file->doc, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    f->files++;
    status = gt_json_need(&lines, gt_json_root(file->doc), "lines", err);
    if (status == GEMMTUNE_OK)
        status = take_head(file, err);
    file->as_used = status == GEMMTUNE_OK && is_used(gt_json_at(lines, 0));
    if (status == GEMMTUNE_OK)
        status = compare_heads(file, &f->file[0], err);
    return status == GEMMTUNE_OK ? take_lines(f, lines, err) : status;
}

void gt_figures_clear(struct gt_figures *f) {
    for (size_t i = 0; i < f->files; i++)
        gt_json_destroy(f->file[i].doc);
    free(f->line);
    free(f->group);
    *f = (struct gt_figures){.files = 0};
}

/* ---- groups ---- */

static double place_of(const struct gt_figure *line) {
    return line->verdict == GT_NO_VERDICT ? HUGE_VAL : line->ratio;
}

static int compare_places(const struct gt_figure *a, const struct gt_figure *b) {
    if (place_of(a) < place_of(b) || place_of(a) > place_of(b))
        return place_of(a) < place_of(b) ? -1 : 1;
    return strcmp(a->problem, b->problem);
}

static int by_type(const void *a, const void *b) {
    const struct gt_figure *x = a, *y = b;
    return x->type != y->type ? (x->type < y->type ? -1 : 1) : compare_places(x, y);
}

static int by_class(const void *a, const void *b) {
    const struct gt_figure *x = a, *y = b;
    return x->shape != y->shape ? (x->shape < y->shape ? -1 : 1) : compare_places(x, y);
}

static void name_group(struct gt_figure_group *g, const struct gt_figure *line,
                       enum gt_figures_by by) {
    const char *about, *name = gt_shape_class_at(line->shape, &about);
    if (by == GT_FIGURES_BY_TYPE)
        (void)snprintf(g->name, sizeof g->name, "%s%s",
                       gt_dtype_at(line->type % GT_DTYPES)->name,
                       line->type < GT_DTYPES ? "" : " batches");
    else
        (void)snprintf(g->name, sizeof g->name, "%s", name != NULL ? name : "batches");
}

static void count_line(struct gt_figure_group *g, const struct gt_figure *line) {
    gt_tally_add(&g->tally, line->verdict, line->ratio);
    g->failed += line->failed;
    g->alone += !line->failed && line->baseline == NULL;
    if (g->worst == NULL && line->verdict != GT_NO_VERDICT && line->verdict != GT_NOISY)
        g->worst = line;
}

gt_status gt_figures_group(struct gt_figures *f, enum gt_figures_by by,
                           struct gt_err *err) {
    free(f->group);
    f->groups = 0;
    f->group = calloc(f->count + 1, sizeof *f->group);
    if (f->group == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for groups");
    if (f->count > 0)
        qsort(f->line, f->count, sizeof *f->line,
              by == GT_FIGURES_BY_TYPE ? by_type : by_class);
    for (size_t i = 0; i < f->count; i++) {
        const struct gt_figure *line = &f->line[i];
        const size_t key = by == GT_FIGURES_BY_TYPE ? line->type : line->shape;
        if (i == 0 || key != (by == GT_FIGURES_BY_TYPE ? line[-1].type : line[-1].shape)) {
            name_group(&f->group[f->groups], line, by);
            f->group[f->groups++].begin = i;
        }
        f->group[f->groups - 1].end = i + 1;
        count_line(&f->group[f->groups - 1], line);
    }
    return GEMMTUNE_OK;
}

/* ---- the libraries ---- */

enum { RIVALS_MAX = 16 };

/* The part of "cuBLAS 13.1.0, pedantic" that names the library. */
static size_t name_length(const char *text) {
    return strcspn(text, ",");
}

/* Puts a name in its place in a sorted list, unless it is there. Returns the new count. */
static int put_name(char (*names)[GT_FIGURE_NAME_MAX], int count, const char *text) {
    char name[GT_FIGURE_NAME_MAX];
    int at = 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)name_length(text), text);
    while (at < count && strcmp(names[at], name) < 0)
        at++;
    if (count == RIVALS_MAX || (at < count && strcmp(names[at], name) == 0))
        return count;
    memmove(&names[at + 1], &names[at], (size_t)(count - at) * sizeof *names);
    memcpy(names[at], name, sizeof name);
    return count + 1;
}

void gt_figures_rivals(char *text, size_t size, const struct gt_figures *f) {
    char names[RIVALS_MAX][GT_FIGURE_NAME_MAX];
    int count = 0, len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < f->count; i++)
        if (f->line[i].baseline_is != NULL)
            count = put_name(names, count, f->line[i].baseline_is);
    for (int i = 0; i < count; i++) {
        len = gt_text_put(text, size, len, i > 0 ? ", " : "");
        len = gt_text_put(text, size, len, names[i]);
    }
}

const char *gt_figure_word(const struct gt_figure *line) {
    return line->failed ? "failed" : gt_cell_filled(gt_verdict_word(line->verdict));
}
