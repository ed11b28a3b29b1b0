/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - reads sweep.json into a list of problems. An entry is first read into spans
 * (start, step, count) and counted, and only then expanded, because a file of 80 bytes can
 * ask for 10^18 problems.
 */
#include "tuner/base/sweep.h"

#include "core/json.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The values start, start + step, ... of one dimension. */
struct span {
    int64_t start, step, count;
};

/* Every value of one dimension of an entry, in file order. */
struct spans {
    size_t count;
    struct span *span;
    double values; /* number of values of all spans */
};

enum { TYPES_MAX = GT_DTYPES, KEYS_MAX = 32, WEIGHT_MAX = 1000000 };

/* One object of "sizes": read and checked, not yet expanded. */
struct entry {
    struct gt_node node;
    size_t types, layouts;
    const struct gt_dtype *type[TYPES_MAX];
    int layout[GT_LAYOUTS]; /* bit 1: A stored transposed; bit 0: B */
    bool cubes;             /* dim[0] holds volumes */
    struct spans dim[3];    /* m n k */
    gemmtune_problem like;  /* the options, the same for every problem */
    double weight;
};

/* ---- the list ---- */

void gt_sweep_clear(struct gt_sweep *s) {
    free(s->item);
    *s = (struct gt_sweep){0};
}

/* Makes room for `more` items after the existing ones. */
static gt_status reserve(struct gt_sweep *s, size_t more, struct gt_err *err) {
    struct gt_sweep_item *item = realloc(s->item, (s->count + more) * sizeof *item);
    if (item == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu problems", s->count + more);
    s->item = item;
    return GEMMTUNE_OK;
}

/* Adds an item. There must be room for it. */
static void append(struct gt_sweep *s, const gemmtune_problem *p, double weight) {
    struct gt_sweep_item *item = &s->item[s->count++];
    item->problem = *p;
    item->weight = weight;
    (void)gt_problem_name(p, item->name);
}

/* Reads a problem's name, and refuses a problem that cannot be tuned. */
static gt_status read_problem(gemmtune_problem *p, const char *name, struct gt_err *err) {
    const gt_status status = gt_problem_from_name(p, name, err);
    if (status == GEMMTUNE_OK && (p->m == 0 || p->n == 0 || p->k == 0))
        return gt_fail(err, GEMMTUNE_EPARSE, "\"%s\" is an empty product: nothing to tune",
                       name);
    return status;
}

gt_status gt_sweep_add(struct gt_sweep *s, const char *name, struct gt_err *err) {
    gemmtune_problem p;
    gt_status status = read_problem(&p, name, err);
    if (status == GEMMTUNE_OK)
        status = reserve(s, 1, err);
    if (status != GEMMTUNE_OK)
        return status;
    append(s, &p, 1);
    for (size_t i = 0; i + 1 < s->count; i++)
        if (strcmp(s->item[i].name, s->item[s->count - 1].name) == 0) {
            s->count--;
            break;
        }
    return GEMMTUNE_OK;
}

static size_t hash_name(const char *name) {
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 32);
}

/* Finds the slot in which the name stands or belongs. The table has a power of two of
 * slots; a slot holds item + 1, or 0 when it is empty. */
static size_t slot_of(const size_t *table, size_t mask, const struct gt_sweep *s,
                      const char *name) {
    size_t slot = hash_name(name) & mask;
    while (table[slot] != 0 && strcmp(s->item[table[slot] - 1].name, name) != 0)
        slot = (slot + 1) & mask;
    return slot;
}

static gt_status merge_duplicates(struct gt_sweep *s, struct gt_err *err) {
    size_t size = 16, kept = 0;
    while (size < 2 * s->count)
        size *= 2;
    size_t *table = calloc(size, sizeof *table);
    if (table == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu problems", s->count);
    for (size_t i = 0; i < s->count; i++) {
        const size_t slot = slot_of(table, size - 1, s, s->item[i].name);
        if (table[slot] == 0) {
            s->item[kept] = s->item[i];
            table[slot] = ++kept;
        } else if (s->item[i].weight > s->item[table[slot] - 1].weight) {
            s->item[table[slot] - 1].weight = s->item[i].weight;
        }
    }
    s->count = kept;
    free(table);
    return GEMMTUNE_OK;
}

/* ---- dimensions ---- */

/* Reads "start:end:step", both ends included. */
static gt_status read_range(struct span *out, struct gt_node n, struct gt_err *err) {
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
    *out = (struct span){part[0], part[2], (part[1] - part[0]) / part[2] + 1};
    return GEMMTUNE_OK;
}

static gt_status read_span(struct span *out, struct gt_node n, struct gt_err *err) {
    const enum gt_json_kind kind = gt_json_kind(n);
    if (kind == GT_JSON_STRING)
        return read_range(out, n, err);
    if (kind != GT_JSON_NUMBER)
        return gt_json_fail(n, err, "must be an integer or a \"start:end:step\" range");
    *out = (struct span){0, 1, 1};
    return gt_json_int(&out->start, n, 1, GT_DIM_MAX, err);
}

static gt_status read_one_volume(struct span *out, struct gt_node n, struct gt_err *err) {
    *out = (struct span){0, 1, 1};
    return gt_json_int(&out->start, n, 1, INT64_MAX, err);
}

/* Reads `n` itself, or every element of `n` when it is a list. */
static gt_status read_spans(struct spans *out, struct gt_node n,
                            gt_status (*read)(struct span *, struct gt_node,
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
        struct span *span = &out->span[out->count];
        status = read(span, list ? gt_json_at(n, out->count) : n, err);
        out->values += (double)span->count;
    }
    return status;
}

static gt_status read_decades(struct spans *out, struct gt_node n, struct gt_err *err) {
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
        out->span[i] = (struct span){volume[i], 1, 1};
    return GEMMTUNE_OK;
}

static gt_status read_dimensions(struct entry *e, struct gt_err *err) {
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
typedef gt_status (*word_fn)(struct entry *e, struct gt_node n, const char *word,
                             struct gt_err *err);

/* The input word that `word` is probably a misspelling of, or NULL. */
static const char *nearest_type(const char *word) {
    const char *names[TYPES_MAX + 1] = {NULL};
    for (size_t i = 0; i < TYPES_MAX && gt_dtype_at(i) != NULL; i++)
        names[i] = gt_dtype_at(i)->name;
    return gt_text_nearest(word, names);
}

static gt_status take_type(struct entry *e, struct gt_node n, const char *word,
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

static gt_status take_layout(struct entry *e, struct gt_node n, const char *word,
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

static gt_status read_words(struct entry *e, struct gt_node n, word_fn take,
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

static gt_status read_types_and_layouts(struct entry *e, struct gt_err *err) {
    struct gt_node types;
    const struct gt_node layouts = gt_json_member(e->node, "layout");
    gt_status status = gt_json_need(&types, e->node, "dtype", err);
    if (status == GEMMTUNE_OK)
        status = read_words(e, types, take_type, err);
    if (status == GEMMTUNE_OK && gt_json_kind(layouts) == GT_JSON_ABSENT)
        return take_layout(e, layouts, "nn", err);
    return status == GEMMTUNE_OK ? read_words(e, layouts, take_layout, err) : status;
}

/* ---- entries ---- */

static void clear_entry(struct entry *e) {
    for (int i = 0; i < 3; i++)
        free(e->dim[i].span);
}

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

static gt_status read_options(struct entry *e, struct gt_err *err) {
    unsigned seen = 0;
    gt_status status =
        gt_problem_init(&e->like, sizeof e->like, GEMMTUNE_F32, 0, 0, 0, err);
    e->like.layout = GEMMTUNE_ROW_MAJOR;
    for (const struct gt_problem_option *o = gt_problem_options;
         o->name != NULL && status == GEMMTUNE_OK; o++) {
        const struct gt_node n = gt_json_member(e->node, o->name);
        if (gt_json_kind(n) != GT_JSON_ABSENT)
            status = read_option(&e->like, &seen, o, n, err);
    }
    return status;
}

static gt_status read_weight(struct entry *e, struct gt_err *err) {
    const struct gt_node n = gt_json_member(e->node, "weight");
    int64_t weight = 1;
    const gt_status status = gt_json_kind(n) != GT_JSON_ABSENT
                                 ? gt_json_int(&weight, n, 1, WEIGHT_MAX, err)
                                 : GEMMTUNE_OK;
    e->weight = (double)weight;
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

static gt_status read_entry(struct entry *e, struct gt_node n, struct gt_err *err) {
    *e = (struct entry){.node = n};
    gt_status status = check_keys(n, err);
    if (status == GEMMTUNE_OK)
        status = read_types_and_layouts(e, err);
    if (status == GEMMTUNE_OK)
        status = read_dimensions(e, err);
    if (status == GEMMTUNE_OK)
        status = read_options(e, err);
    return status == GEMMTUNE_OK ? read_weight(e, err) : status;
}

/* The number of problems. It is a double, because it can be far above 2^63. */
static double count_of(const struct entry *e) {
    double count = (double)(e->types * e->layouts) * e->dim[0].values;
    return e->cubes ? count : count * e->dim[1].values * e->dim[2].values;
}

static gt_status add_problem(struct gt_sweep *s, const struct entry *e,
                             const struct gt_dtype *type, int layout, const int64_t dim[3],
                             struct gt_err *err) {
    gemmtune_problem p = e->like;
    struct gt_err why;
    p.m = dim[0], p.n = dim[1], p.k = dim[2];
    p.trans_a = layout & 2 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
    p.trans_b = layout & 1 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
    p.type_a = type->a, p.type_b = type->b, p.type_c = type->c;
    p.type_acc = type->acc, p.math = type->math;
    const gt_status status = gt_problem_canonical(&p, NULL, &p, &why);
    if (status != GEMMTUNE_OK)
        return gt_json_fail_because(e->node, status, &why, err);
    append(s, &p, e->weight);
    return GEMMTUNE_OK;
}

/* Steps through the values of one dimension. */
struct cursor {
    const struct spans *spans;
    size_t span;
    int64_t i;
};

static int64_t value_at(const struct cursor *c) {
    const struct span *span = &c->spans->span[c->span];
    return span->start + c->i * span->step;
}

/* Goes to the next value. After the last value it goes back to the first and returns false.
 */
static bool advance(struct cursor *c) {
    if (++c->i < c->spans->span[c->span].count)
        return true;
    c->i = 0;
    if (++c->span < c->spans->count)
        return true;
    c->span = 0;
    return false;
}

/* Adds all shapes for one type and layout. The last dimension changes fastest. */
static gt_status cross_dimensions(struct gt_sweep *s, const struct entry *e,
                                  const struct gt_dtype *type, int layout,
                                  struct gt_err *err) {
    struct cursor at[3];
    const int dims = e->cubes ? 1 : 3;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < dims; i++)
        at[i] = (struct cursor){&e->dim[i], 0, 0};
    for (int turned = 0; status == GEMMTUNE_OK && turned >= 0;) {
        int64_t dim[3];
        for (int i = 0; i < dims; i++)
            dim[i] = value_at(&at[i]);
        if (e->cubes)
            gt_volume_shape(dim[0], &dim[0], &dim[1], &dim[2]);
        status = add_problem(s, e, type, layout, dim, err);
        for (turned = dims - 1; turned >= 0 && !advance(&at[turned]);)
            turned--;
    }
    return status;
}

static gt_status expand_entry(struct gt_sweep *s, const struct entry *e,
                              struct gt_err *err) {
    const double count = count_of(e);
    if ((double)s->count + count > GT_SWEEP_MAX)
        return gt_json_fail(e->node, err, "%.17g problems up to here; the limit is %d",
                            (double)s->count + count, GT_SWEEP_MAX);
    gt_status status = reserve(s, (size_t)count, err);
    for (size_t t = 0; t < e->types; t++)
        for (size_t l = 0; status == GEMMTUNE_OK && l < e->layouts; l++)
            status = cross_dimensions(s, e, e->type[t], e->layout[l], err);
    return status;
}

static gt_status take_name(struct gt_sweep *s, struct gt_node n, struct gt_err *err) {
    gemmtune_problem p;
    struct gt_err why;
    const char *name = "";
    gt_status status = gt_json_string(&name, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = read_problem(&p, name, &why);
    if (status != GEMMTUNE_OK)
        return gt_json_fail_because(n, status, &why, err);
    if (s->count == GT_SWEEP_MAX)
        return gt_json_fail(n, err, "%zu problems up to here; the limit is %d",
                            s->count + 1, GT_SWEEP_MAX);
    status = reserve(s, 1, err);
    if (status == GEMMTUNE_OK)
        append(s, &p, 1);
    return status;
}

static gt_status take_entry(struct gt_sweep *s, struct gt_node n, struct gt_err *err) {
    struct entry e = {.node = n};
    gt_status status;
    switch (gt_json_kind(n)) {
    case GT_JSON_STRING:
        return take_name(s, n, err);
    case GT_JSON_OBJECT:
        status = read_entry(&e, n, err);
        if (status == GEMMTUNE_OK)
            status = expand_entry(s, &e, err);
        clear_entry(&e);
        return status;
    default:
        return gt_json_fail(n, err, "must be a problem name or an object");
    }
}

/* ---- the file ---- */

static gt_status read_document(struct gt_sweep *s, struct gt_node root,
                               struct gt_err *err) {
    static const char *const keys[] = {"format", "about", "sizes", NULL};
    struct gt_node format, sizes;
    int64_t version;
    gt_status status = gt_json_only(root, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&format, root, "format", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_int(&version, format, 1, 1, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&sizes, root, "sizes", err);
    if (status != GEMMTUNE_OK)
        return status;
    if (gt_json_kind(sizes) != GT_JSON_ARRAY || gt_json_count(sizes) == 0)
        return gt_json_fail(sizes, err, "must be a list of one or more problems");
    for (size_t i = 0; status == GEMMTUNE_OK && i < gt_json_count(sizes); i++)
        status = take_entry(s, gt_json_at(sizes, i), err);
    return status == GEMMTUNE_OK ? merge_duplicates(s, err) : status;
}

/* Takes ownership of the document. */
static gt_status from_document(struct gt_sweep *out, struct gt_json *doc,
                               struct gt_err *err) {
    struct gt_sweep s = {0};
    const gt_status status = read_document(&s, gt_json_root(doc), err);
    if (status == GEMMTUNE_OK)
        *out = s;
    else
        gt_sweep_clear(&s);
    gt_json_destroy(doc);
    return status;
}

gt_status gt_sweep_load(struct gt_sweep *out, const char *path, struct gt_err *err) {
    struct gt_json *doc = NULL;
    *out = (struct gt_sweep){0};
    const gt_status status = gt_json_load(&doc, path, err);
    return status == GEMMTUNE_OK ? from_document(out, doc, err) : status;
}

gt_status gt_sweep_parse(struct gt_sweep *out, const char *name, const char *text,
                         size_t size, struct gt_err *err) {
    struct gt_json *doc = NULL;
    *out = (struct gt_sweep){0};
    const gt_status status = gt_json_parse(&doc, name, text, size, err);
    return status == GEMMTUNE_OK ? from_document(out, doc, err) : status;
}
