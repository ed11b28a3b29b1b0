/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_entry.c - see sweep_entry.h: the keys of an entry, each read and checked. */
#include "tuner/base/sweep_entry.h"

#include "core/text.h"
#include "tuner/base/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 32, WEIGHT_MAX = 1000000 };

/* ---- dimensions ---- */

/* Reads "start:end:step", both ends included. */
static gt_status read_range(struct gt_sweep_span *out, struct gt_node n,
                            struct gt_err *err) {
    int64_t part[3];
    const char *text = "";
    const gt_status status = gt_json_string(&text, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        const size_t len = strcspn(at, ":");
        const bool ends = at[len] == '\0';
        if (!gt_text_int(&part[i], at, len) || ends != (i == 2) || part[i] < 1 ||
            part[i] > GT_DIM_MAX)
            return gt_json_fail(n, err,
                                "\"%.60s\" is not start:end:step, three integers from 1 "
                                "to %" PRId64,
                                text, GT_DIM_MAX);
        at += len + !ends;
    }
    if (part[0] > part[1])
        return gt_json_fail(n, err, "\"%.60s\" starts after its end", text);
    *out = (struct gt_sweep_span){part[0], part[2], (part[1] - part[0]) / part[2] + 1};
    return GEMMTUNE_OK;
}

static gt_status read_span(struct gt_sweep_span *out, struct gt_node n,
                           struct gt_err *err) {
    const enum gt_json_kind kind = gt_json_kind(n);
    if (kind == GT_JSON_STRING)
        return read_range(out, n, err);
    if (kind != GT_JSON_NUMBER)
        return gt_json_fail(n, err, "must be an integer or a \"start:end:step\" range");
    *out = (struct gt_sweep_span){0, 1, 1};
    return gt_json_int(&out->start, n, 1, GT_DIM_MAX, err);
}

static gt_status read_one_volume(struct gt_sweep_span *out, struct gt_node n,
                                 struct gt_err *err) {
    *out = (struct gt_sweep_span){0, 1, 1};
    return gt_json_int(&out->start, n, 1, INT64_MAX, err);
}

/* Reads `n` itself, or every element of `n` when it is a list. */
static gt_status read_spans(struct gt_sweep_spans *out, struct gt_node n,
                            gt_status (*read)(struct gt_sweep_span *, struct gt_node,
                                              struct gt_err *),
                            struct gt_err *err) {
    const bool list = gt_json_kind(n) == GT_JSON_ARRAY;
    const size_t count = list ? gt_json_count(n) : 1;
    gt_status status = GEMMTUNE_OK;
    if (count == 0)
        return gt_json_fail(n, err, "is an empty list");
    if (count > GT_SWEEP_MAX)
        return gt_json_fail(n, err, "%zu values; the limit is %d problems", count,
                            GT_SWEEP_MAX);
    out->span = calloc(count, sizeof *out->span);
    if (out->span == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu values", count);
    for (; status == GEMMTUNE_OK && out->count < count; out->count++) {
        struct gt_sweep_span *span = &out->span[out->count];
        status = read(span, list ? gt_json_at(n, out->count) : n, err);
        out->values += (double)span->count;
    }
    return status;
}

static gt_status read_decades(struct gt_sweep_spans *out, struct gt_node n,
                              struct gt_err *err) {
    int64_t volume[GT_VOLUMES_MAX];
    struct gt_err why;
    const char *text = "";
    gt_status status = gt_json_string(&text, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_volume_range(volume, &out->count, text, &why);
    if (status != GEMMTUNE_OK)
        return gt_json_fail_because(n, status, &why, err);
    out->values = (double)out->count;
    out->span = calloc(out->count, sizeof *out->span);
    if (out->span == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu volumes", out->count);
    for (size_t i = 0; i < out->count; i++)
        out->span[i] = (struct gt_sweep_span){volume[i], 1, 1};
    return GEMMTUNE_OK;
}

static gt_status read_dimensions(struct gt_sweep_entry *e, struct gt_err *err) {
    static const char *const names[] = {"m", "n", "k"};
    const struct gt_node volume = gt_json_member(e->node, "volume");
    gt_status status = GEMMTUNE_OK;
    e->cubes = gt_json_kind(volume) != GT_JSON_ABSENT;
    for (int i = 0; status == GEMMTUNE_OK && i < 3; i++) {
        struct gt_node dim = gt_json_member(e->node, names[i]);
        if (e->cubes && gt_json_kind(dim) != GT_JSON_ABSENT)
            status =
                gt_json_fail(dim, err, "stands beside \"volume\", which gives m, n and k");
        else if (!e->cubes)
            status = gt_json_need(&dim, e->node, names[i], err);
        if (status == GEMMTUNE_OK && !e->cubes)
            status = read_spans(&e->dim[i], dim, read_span, err);
    }
    if (status != GEMMTUNE_OK || !e->cubes)
        return status;
    return gt_json_kind(volume) == GT_JSON_STRING
               ? read_decades(&e->dim[0], volume, err)
               : read_spans(&e->dim[0], volume, read_one_volume, err);
}

/* ---- words ---- */

/* Puts the type or layout `word`, which stands at `n`, into the entry. */
typedef gt_status (*word_fn)(struct gt_sweep_entry *e, struct gt_node n, const char *word,
                             struct gt_err *err);

/* The input word that `word` is probably a misspelling of, or NULL. */
static const char *nearest_type(const char *word) {
    const char *names[GT_DTYPES + 1] = {NULL};
    for (size_t i = 0; i < GT_DTYPES && gt_dtype_at(i) != NULL; i++)
        names[i] = gt_dtype_at(i)->name;
    return gt_text_nearest(word, names);
}

static gt_status take_type(struct gt_sweep_entry *e, struct gt_node n, const char *word,
                           struct gt_err *err) {
    gemmtune_problem p = {0};
    struct gt_err why;
    const bool read = gt_types_from_word(&p, word, strlen(word), &why) == GEMMTUNE_OK;
    const struct gt_dtype *row = read ? gt_dtype_of(&p) : NULL;
    const char *near = read ? NULL : nearest_type(word);
    if (!read)
        return gt_json_fail(n, err, "%s%s%s%s", why.line,
                            near != NULL ? ", did you mean \"" : "",
                            near != NULL ? near : "", near != NULL ? "\"?" : "");
    if (row == NULL)
        return gt_json_fail(n, err, "no kernel for types %.40s yet", word);
    for (size_t i = 0; i < e->types; i++)
        if (e->type[i] == row)
            return GEMMTUNE_OK;
    e->type[e->types++] = row;
    return GEMMTUNE_OK;
}

static gt_status take_layout(struct gt_sweep_entry *e, struct gt_node n, const char *word,
                             struct gt_err *err) {
    int layout = 0;
    while (layout < GT_LAYOUTS && strcmp(gt_layout_words[layout], word) != 0)
        layout++;
    if (layout == GT_LAYOUTS)
        return gt_json_fail(n, err, "\"%.40s\" is not a layout: nn, nt, tn or tt", word);
    for (size_t i = 0; i < e->layouts; i++)
        if (e->layout[i] == layout)
            return GEMMTUNE_OK;
    e->layout[e->layouts++] = layout;
    return GEMMTUNE_OK;
}

static gt_status read_words(struct gt_sweep_entry *e, struct gt_node n, word_fn take,
                            struct gt_err *err) {
    const bool list = gt_json_kind(n) == GT_JSON_ARRAY;
    const size_t count = list ? gt_json_count(n) : 1;
    gt_status status = count == 0 ? gt_json_fail(n, err, "is an empty list") : GEMMTUNE_OK;
    for (size_t i = 0; status == GEMMTUNE_OK && i < count; i++) {
        const struct gt_node at = list ? gt_json_at(n, i) : n;
        const char *word = "";
        status = gt_json_string(&word, at, err);
        if (status == GEMMTUNE_OK)
            status = take(e, at, word, err);
    }
    return status;
}

gt_status gt_sweep_entry_read_types(struct gt_sweep_entry *e, struct gt_node n,
                                    struct gt_err *err) {
    struct gt_node types;
    const gt_status status = gt_json_need(&types, n, "dtype", err);
    return status == GEMMTUNE_OK ? read_words(e, types, take_type, err) : status;
}

static gt_status read_types_and_layouts(struct gt_sweep_entry *e, struct gt_err *err) {
    const struct gt_node layouts = gt_json_member(e->node, "layout");
    gt_status status = gt_sweep_entry_read_types(e, e->node, err);
    if (status == GEMMTUNE_OK && gt_json_kind(layouts) == GT_JSON_ABSENT)
        return take_layout(e, layouts, "nn", err);
    return status == GEMMTUNE_OK ? read_words(e, layouts, take_layout, err) : status;
}

/* ---- options ---- */

/* Reads an option. A flag that is false counts as absent. */
static gt_status read_option(gemmtune_problem *p, unsigned *seen,
                             const struct gt_problem_option *option, struct gt_node n,
                             struct gt_err *err) {
    struct gt_err why;
    int64_t number = 0;
    bool flag = true;
    const char *text = NULL;
    gt_status status = GEMMTUNE_OK;
    if (option->kind <= GT_NAME_BYTES)
        status = gt_json_int(&number, n, option->least, option->most, err);
    else if (option->kind == GT_NAME_FLAG)
        status = gt_json_bool(&flag, n, err);
    else
        status = gt_json_string(&text, n, err);
    if (status != GEMMTUNE_OK || !flag)
        return status;
    status = gt_problem_set(p, seen, option, number, text, &why);
    return status == GEMMTUNE_OK ? status : gt_json_fail_because(n, status, &why, err);
}

/* Repeats all combinations, once for each of `values`. */
static gt_status multiply_likes(struct gt_sweep_entry *e, size_t values, struct gt_node n,
                                struct gt_err *err) {
    if (values > GT_SWEEP_LIKES_MAX / e->likes)
        return gt_json_fail(n, err, "more than %d combinations of options",
                            GT_SWEEP_LIKES_MAX);
    struct gt_sweep_like *like = realloc(e->like, e->likes * values * sizeof *like);
    if (like == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for combinations of options");
    e->like = like;
    for (size_t v = 1; v < values; v++)
        memcpy(like + v * e->likes, like, e->likes * sizeof *like);
    e->likes *= values;
    return GEMMTUNE_OK;
}

/* Reads an option, or the list of its values at `n`, into all combinations. */
static gt_status read_values(struct gt_sweep_entry *e,
                             const struct gt_problem_option *option, struct gt_node n,
                             struct gt_err *err) {
    const bool list = gt_json_kind(n) == GT_JSON_ARRAY;
    const size_t values = list ? gt_json_count(n) : 1, likes = e->likes;
    if (values == 0)
        return gt_json_fail(n, err, "is an empty list");
    gt_status status = multiply_likes(e, values, n, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < e->likes; i++)
        status = read_option(&e->like[i].problem, &e->like[i].seen, option,
                             list ? gt_json_at(n, i / likes) : n, err);
    return status;
}

static gt_status read_options(struct gt_sweep_entry *e, struct gt_err *err) {
    e->like = calloc(1, sizeof *e->like);
    if (e->like == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for an entry");
    gemmtune_problem *const p = &e->like->problem;
    gt_status status = gt_problem_init(p, sizeof *p, GEMMTUNE_F32, 0, 0, 0, err);
    e->likes = 1;
    p->layout = GEMMTUNE_ROW_MAJOR;
    for (const struct gt_problem_option *o = gt_problem_options;
         o->name != NULL && status == GEMMTUNE_OK; o++) {
        const struct gt_node n = gt_json_member(e->node, o->name);
        if (gt_json_kind(n) != GT_JSON_ABSENT)
            status = read_values(e, o, n, err);
    }
    return status;
}

gt_status gt_sweep_read_weight(double *out, struct gt_node entry, struct gt_err *err) {
    const struct gt_node n = gt_json_member(entry, "weight");
    int64_t weight = 1;
    const gt_status status = gt_json_kind(n) != GT_JSON_ABSENT
                                 ? gt_json_int(&weight, n, 1, WEIGHT_MAX, err)
                                 : GEMMTUNE_OK;
    *out = (double)weight;
    return status;
}

/* Refuses unknown keys. An entry may have the keys of a sweep and the options of a
 * problem's name. */
static gt_status check_keys(struct gt_node n, struct gt_err *err) {
    const char *keys[KEYS_MAX + 1] = {"dtype", "layout", "m", "n", "k", "volume", "weight"};
    size_t count = 7;
    for (const struct gt_problem_option *o = gt_problem_options;
         o->name != NULL && count < KEYS_MAX; o++)
        keys[count++] = o->name;
    return gt_json_only(n, keys, err);
}

/* ---- an entry ---- */

void gt_sweep_entry_clear(struct gt_sweep_entry *e) {
    for (int i = 0; i < 3; i++)
        free(e->dim[i].span);
    free(e->like);
}

gt_status gt_sweep_entry_read(struct gt_sweep_entry *e, struct gt_node n,
                              struct gt_err *err) {
    *e = (struct gt_sweep_entry){.node = n};
    gt_status status = check_keys(n, err);
    if (status == GEMMTUNE_OK)
        status = read_types_and_layouts(e, err);
    if (status == GEMMTUNE_OK)
        status = read_dimensions(e, err);
    if (status == GEMMTUNE_OK)
        status = read_options(e, err);
    return status == GEMMTUNE_OK ? gt_sweep_read_weight(&e->weight, n, err) : status;
}

double gt_sweep_entry_count(const struct gt_sweep_entry *e) {
    const double count = (double)(e->types * e->layouts * e->likes) * e->dim[0].values;
    return e->cubes ? count : count * e->dim[1].values * e->dim[2].values;
}
