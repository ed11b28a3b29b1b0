/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_cache.c - reads Kernel Tuner's cache files. These parts are read:
 *
 *     { "device_name": "..", "kernel_name": "..", "tune_params_keys": ["X", ..],
 *       "tune_params": {"X": [16, 32, ..], ..},
 *       "cache": { "16,..": {"X": 16, .., "time": 1.25}, .. } }
 *
 * A failure has a word as its time, or "__error__", or a time that is no time: NaN, null,
 * Infinity or, in old caches, 1e20.
 *
 * A space of ours has at most GT_POINT_MAX parameters. Where a cache has more, some share
 * one: its value numbers their combinations.
 */
#include "tuner/study/stored.h"

#include "core/hash.h"
#include "core/json.h"
#include "core/text.h"
#include "tuner/study/file_text.h"
#include "tuner/study/foreign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file ---- */

gt_status gt_stored_cache(struct gt_stored *out, const char *path, struct gt_err *err) {
    char *text = NULL;
    size_t size;
    *out = (struct gt_stored){0};
    gt_status status = gt_file_text(&text, &size, path, err);
    if (status == GEMMTUNE_OK)
        status = gt_stored_parse(out, path, text, size, err);
    free(text);
    return status;
}

enum { PARAMS_MAX = 512 }; /* of a cache */

/* A parameter of the cache. */
struct param {
    const char *name;
    struct gt_node domain; /* its list of values */
    bool whole;            /* it has only integers */
    int place;             /* the parameter of the space that holds it */
    int64_t step; /* 0: it has the place alone; else what one place in its list adds */
};

struct layout {
    int count;
    struct param param[PARAMS_MAX];
    struct param *by_name[PARAMS_MAX]; /* sorted: an entry may have many members */
};

static bool is_whole(struct gt_node list) {
    const int64_t most = INT64_C(1) << 53;
    int64_t value;
    for (size_t i = 0; i < gt_json_count(list); i++)
        if (gt_json_int(&value, gt_json_at(list, i), -most, most, NULL) != GEMMTUNE_OK)
            return false;
    return true;
}

static gt_status read_param(struct layout *l, struct gt_node key, struct gt_node lists,
                            struct gt_err *err) {
    struct param *const p = &l->param[l->count];
    gt_status status = gt_json_string(&p->name, key, err);
    for (int i = 0; status == GEMMTUNE_OK && i < l->count; i++)
        if (strcmp(l->param[i].name, p->name) == 0)
            status = gt_json_fail(key, err, "stands a second time");
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&p->domain, lists, p->name, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (gt_json_kind(p->domain) != GT_JSON_ARRAY || !gt_json_count(p->domain))
        return gt_json_fail(p->domain, err, "must be a list of values");
    if (gt_json_count(p->domain) > GT_VALUES_MAX)
        return gt_json_fail(p->domain, err, "has %zu values; a parameter may have %d",
                            gt_json_count(p->domain), GT_VALUES_MAX);
    p->whole = is_whole(p->domain);
    p->step = 0;
    l->count++;
    return GEMMTUNE_OK;
}

/* ---- parameters of the space ---- */

/* A name of ours for the name of a parameter, which may be long: the same one for the same
 * name, in every cache. */
static void name_place(char out[GT_NAME_MAX], const char *name) {
    enum { KEPT = 14, DIGITS = 8 };
    struct gt_hash h;
    if (strlen(name) < GT_NAME_MAX) {
        memcpy(out, name, strlen(name) + 1);
        return;
    }
    gt_hash_init(&h);
    gt_hash_add(&h, name, strlen(name));
    memcpy(out, name, KEPT);
    out[KEPT] = '~';
    gt_hash_digits(&h, out + KEPT + 1, DIGITS);
    out[KEPT + 1 + DIGITS] = '\0';
}

/* Parameters that share a parameter of the space. */
struct group {
    int64_t values; /* combinations */
    int first;      /* its first parameter, in the order of the cache */
};

static int smallest(const struct group *group, int count, int but) {
    int least = -1;
    for (int i = 0; i < count; i++)
        if (i != but && (least < 0 || group[i].values < group[least].values))
            least = i;
    return least;
}

/* Puts group `from` into group `into`. */
static void join(struct layout *l, struct group *group, int into, int from) {
    for (int i = 0; i < l->count; i++)
        if (l->param[i].place == from) {
            l->param[i].step *= group[into].values;
            l->param[i].place = into;
        }
    group[into].values *= group[from].values;
    if (group[from].first < group[into].first)
        group[into].first = group[from].first;
}

/* Joins the two groups with the fewest values until there are few enough. */
static gt_status share_places(struct layout *l, struct group *group, int *count,
                              struct gt_node keys, struct gt_err *err) {
    for (int i = 0; i < l->count; i++) {
        group[i] = (struct group){(int64_t)gt_json_count(l->param[i].domain), i};
        l->param[i].place = i;
        l->param[i].step = l->count > GT_POINT_MAX;
    }
    for (*count = l->count; *count > GT_POINT_MAX; --*count) {
        const int a = smallest(group, *count, -1), b = smallest(group, *count, a);
        const int into = a < b ? a : b, from = a < b ? b : a, last = *count - 1;
        if (group[a].values * group[b].values > GT_VALUES_MAX)
            return gt_json_fail(keys, err,
                                "has too many for the %d parameters of %d values that a "
                                "space may have",
                                GT_POINT_MAX, GT_VALUES_MAX);
        join(l, group, into, from);
        group[from] = group[last];
        for (int i = 0; i < l->count; i++)
            if (l->param[i].place == last)
                l->param[i].place = from;
    }
    return GEMMTUNE_OK;
}

/* Whether a group has a single parameter. */
static bool is_alone(const struct layout *l, int place) {
    int members = 0;
    for (int i = 0; i < l->count; i++)
        members += l->param[i].place == place;
    return members == 1;
}

static gt_status place_params(struct gt_stored_rows *rows, struct layout *l,
                              struct gt_node keys, struct gt_err *err) {
    struct group group[PARAMS_MAX];
    const gt_status status = share_places(l, group, &rows->params, keys, err);
    for (int i = 0; status == GEMMTUNE_OK && i < rows->params; i++)
        name_place(rows->param[i], l->param[group[i].first].name);
    for (int i = 0; status == GEMMTUNE_OK && i < l->count; i++)
        if (is_alone(l, l->param[i].place))
            l->param[i].step = 0;
    return status;
}

static int by_name(const void *a, const void *b) {
    const struct param *const *x = a;
    const struct param *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static int compare_name(const void *name, const void *param) {
    const struct param *const *p = param;
    return strcmp(name, (*p)->name);
}

static void sort_params(struct layout *l) {
    for (int i = 0; i < l->count; i++)
        l->by_name[i] = &l->param[i];
    qsort(l->by_name, (size_t)l->count, sizeof *l->by_name, by_name);
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
    if (gt_json_kind(keys) != GT_JSON_ARRAY || count == 0 || count > PARAMS_MAX)
        return gt_json_fail(keys, err, "must be a list of 1 to %d names", PARAMS_MAX);
    if (gt_json_count(lists) > PARAMS_MAX)
        return gt_json_fail(lists, err, "has more than %d members", PARAMS_MAX);
    for (size_t i = 0; status == GEMMTUNE_OK && i < count; i++)
        status = read_param(l, gt_json_at(keys, i), lists, err);
    sort_params(l);
    return status == GEMMTUNE_OK ? place_params(rows, l, keys, err) : status;
}

/* Finds the value of each parameter in an entry; the node is absent where there is none. */
static void find_values(struct gt_node value[PARAMS_MAX], const struct layout *l,
                        struct gt_node entry) {
    for (int i = 0; i < l->count; i++)
        value[i] = (struct gt_node){0};
    for (size_t i = 0; i < gt_json_count(entry); i++) {
        const struct gt_node member = gt_json_at(entry, i);
        struct param *const *p = bsearch(gt_json_key(member), l->by_name, (size_t)l->count,
                                         sizeof *l->by_name, compare_name);
        if (p)
            value[*p - l->param] = member;
    }
}

/* Adds a parameter's value to its place. */
static gt_status read_value(int64_t *value, const struct param *p, struct gt_node node,
                            struct gt_node entry, struct gt_err *err) {
    if (gt_json_kind(node) == GT_JSON_ABSENT)
        return gt_json_need(&node, entry, p->name, err);
    for (size_t i = 0; i < gt_json_count(p->domain); i++)
        if (gt_json_equal(node, gt_json_at(p->domain, i))) {
            if (p->step == 0 && p->whole)
                return gt_json_int(value, node, INT64_MIN, INT64_MAX, err);
            *value += (int64_t)i * (p->step > 0 ? p->step : 1);
            return GEMMTUNE_OK;
        }
    return gt_json_fail(node, err, "is not in the list of %s", p->name);
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
    const double most_ms = 1e12; /* more is how old caches say that there is no time */
    struct gt_node node = gt_json_member(entry, "__error__");
    if (gt_json_kind(node) != GT_JSON_ABSENT)
        return read_failure(&row->outcome, node, err);
    gt_status status = gt_json_need(&node, entry, "time", err);
    if (status != GEMMTUNE_OK || gt_json_kind(node) == GT_JSON_STRING)
        return status != GEMMTUNE_OK ? status : read_failure(&row->outcome, node, err);
    double ms = HUGE_VAL;
    const enum gt_json_kind kind = gt_json_kind(node);
    if (kind != GT_JSON_NULL && kind != GT_JSON_NUMBER)
        return gt_json_fail(node, err, "must be a number or the name of an error");
    if (kind == GT_JSON_NUMBER && gt_json_double(&ms, node, NULL) != GEMMTUNE_OK)
        ms = HUGE_VAL;
    if (!(ms > 0))
        return gt_json_fail(node, err, "must be milliseconds above 0");
    row->outcome = ms < most_ms ? GT_CORRECT : GT_CRASHED;
    row->ns = ms < most_ms ? ms * 1e6 : 0;
    return GEMMTUNE_OK;
}

static gt_status read_entry(struct gt_stored_rows *rows, const struct layout *l,
                            struct gt_node entry, struct gt_err *err) {
    struct gt_stored_row row = {.ns = 0};
    struct gt_node value[PARAMS_MAX];
    gt_status status = GEMMTUNE_OK;
    find_values(value, l, entry);
    for (int i = 0; status == GEMMTUNE_OK && i < l->count; i++)
        status =
            read_value(&row.value[l->param[i].place], &l->param[i], value[i], entry, err);
    if (status == GEMMTUNE_OK)
        status = read_time(&row, entry, err);
    if (status == GEMMTUNE_OK && row.outcome != GT_CONSTRAINTS)
        status = gt_stored_row(rows, &row, err);
    return status;
}

static gt_status read_title(struct gt_stored *out, struct gt_node root,
                            struct gt_err *err) {
    const char *device, *kernel;
    gt_status status = gt_json_need_string(&device, root, "device_name", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_string(&kernel, root, "kernel_name", err);
    if (status == GEMMTUNE_OK)
        snprintf(out->title, sizeof out->title, "%.100s on %.100s",
                 kernel[0] ? kernel : "a kernel without a name",
                 device[0] ? device : "a device without a name");
    gt_text_clean(out->title);
    return status;
}

/* Refuses a cache of another objective than time, which may lack the times. */
static gt_status check_objective(struct gt_node root, struct gt_node cache,
                                 struct gt_err *err) {
    const struct gt_node objective = gt_json_member(root, "objective");
    const struct gt_node entry = gt_json_at(cache, 0);
    const char *word;
    if (gt_json_string(&word, objective, NULL) != GEMMTUNE_OK ||
        gt_json_kind(gt_json_member(entry, "time")) != GT_JSON_ABSENT ||
        gt_json_kind(gt_json_member(entry, word)) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    return gt_json_fail(objective, err,
                        "the cache compares by \"%s\" and has no \"time\": only times can "
                        "be replayed",
                        word);
}

static gt_status read_entries(struct gt_stored_rows *rows, const struct layout *l,
                              struct gt_node root, struct gt_node cache,
                              struct gt_err *err) {
    if (gt_json_kind(cache) != GT_JSON_OBJECT)
        return gt_json_fail(cache, err, "must be an object");
    gt_status status = check_objective(root, cache, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < gt_json_count(cache); i++)
        status = read_entry(rows, l, gt_json_at(cache, i), err);
    return status;
}

static gt_status read_root(struct gt_stored *out, struct gt_stored_rows *rows,
                           struct gt_node root, struct gt_err *err) {
    struct layout l = {0};
    struct gt_node cache = {0};
    gt_status status = read_title(out, root, err);
    if (status == GEMMTUNE_OK)
        status = read_params(rows, &l, root, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&cache, root, "cache", err);
    if (status == GEMMTUNE_OK)
        status = read_entries(rows, &l, root, cache, err);
    if (status == GEMMTUNE_OK)
        status = gt_stored_add(out, rows, err);
    if (status == GEMMTUNE_OK && out->best_ns == 0)
        return gt_json_fail(cache, err, "holds no time");
    return status;
}

gt_status gt_stored_parse(struct gt_stored *out, const char *name, const char *text,
                          size_t size, struct gt_err *err) {
    struct gt_json *doc = NULL;
    struct gt_stored_rows rows = {.name = "cache"};
    *out = (struct gt_stored){0};
    gt_status status = gt_file_json(&doc, name, text, size, err);
    if (status == GEMMTUNE_OK)
        status = read_root(out, &rows, gt_json_root(doc), err);
    free(rows.row);
    gt_json_destroy(doc);
    const struct gt_foreign *foreign =
        status == GEMMTUNE_EPARSE ? gt_foreign_kind(text, size) : NULL;
    if (foreign)
        status = gt_fail(err, status, "%s: %s, not a cache of Kernel Tuner; %s", name,
                         foreign->is, foreign->advice);
    if (status != GEMMTUNE_OK)
        gt_stored_clear(out);
    return status;
}
