/* SPDX-License-Identifier: Apache-2.0 */
/* elsewhere.c - see elsewhere.h. */
#include "tuner/study/elsewhere.h"

#include "core/text.h"
#include "tuner/base/quantile.h"
#include "tuner/study/file_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEAD = 1 << 16 };

/* ---- the formats ---- */

/* The milliseconds of a result; not above 0 when it failed. */
static double time_of(struct gt_node result) {
    double ms = 0;
    (void)gt_json_double(&ms, gt_json_member(result, "time"), NULL);
    return ms;
}

/* The median; 0 when there is none. */
static double median_of(struct gt_node runs) {
    enum { RUNS_MAX = 1000 };
    double ms[RUNS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < gt_json_count(runs) && count < RUNS_MAX; i++)
        if (gt_json_double(&ms[count], gt_json_at(runs, i), NULL) == GEMMTUNE_OK)
            count++;
    return gt_median(ms, count);
}

/* Of T4: the measured time, else the median of the runs. Objectives may be rates. */
static double t4_time(struct gt_node result) {
    const struct gt_node measured = gt_json_member(result, "measurements"),
                         runs = gt_json_member(gt_json_member(result, "times"), "runtimes");
    const char *invalidity = "correct", *name;
    double ms = 0;
    (void)gt_json_string(&invalidity, gt_json_member(result, "invalidity"), NULL);
    if (strcmp(invalidity, "correct") != 0)
        return 0;
    for (size_t i = 0; i < gt_json_count(measured); i++) {
        const struct gt_node m = gt_json_at(measured, i);
        if (gt_json_string(&name, gt_json_member(m, "name"), NULL) == GEMMTUNE_OK &&
            strcmp(name, "time") == 0)
            (void)gt_json_double(&ms, gt_json_member(m, "value"), NULL);
    }
    return ms > 0 ? ms : median_of(runs);
}

static const struct format {
    const char *is;
    const char *word[2];    /* of the text, both */
    const char *list;       /* the member with the results */
    const char *parameters; /* the member of a result; NULL: the result itself */
    const char *device;     /* the member of the root with the device's name */
    double (*ms)(struct gt_node result);
} formats[] = {
    {"Kernel Tuner", {"\"tune_params", "\"cache\""}, "cache", NULL, "device_name", time_of},
    {"CLBlast's tuner",
     {"\"clblast_device_name\"", "\"results\""},
     "results",
     "parameters",
     "clblast_device_name",
     time_of},
    {"T4",
     {"\"configuration\"", "\"results\""},
     "results",
     "configuration",
     "device_name",
     t4_time},
};

static bool has(const char *text, size_t size, const char *word) {
    const size_t len = strlen(word);
    for (const char *end = text + size; text + len <= end; text++) {
        text = memchr(text, *word, (size_t)(end - text) - len + 1);
        if (text == NULL)
            return false;
        if (memcmp(text, word, len) == 0)
            return true;
    }
    return false;
}

static const struct format *format_of(const char *text, size_t size) {
    const size_t head = size < HEAD ? size : HEAD;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (has(text, head, formats[i].word[0]) && has(text, head, formats[i].word[1]))
            return &formats[i];
    return NULL;
}

bool gt_elsewhere_knows(const char *text, size_t size) {
    return format_of(text, size) != NULL;
}

/* ---- a result ---- */

/* The whole numbers of the parameters that have a name as ours have, and the family's. */
static void read_parameters(struct gt_point *out, const char **family,
                            struct gt_node parameters) {
    const int64_t most = INT32_MAX;
    out->count = 0;
    *family = NULL;
    for (size_t i = 0; i < gt_json_count(parameters); i++) {
        const struct gt_node member = gt_json_at(parameters, i);
        const char *name = gt_json_key(member);
        int64_t value;
        if (strcmp(name, "FAMILY") == 0)
            (void)gt_json_string(family, member, NULL);
        else if (gt_json_kind(member) == GT_JSON_NUMBER &&
                 gt_json_int(&value, member, 0, most, NULL) == GEMMTUNE_OK)
            (void)gt_point_set(out, name, value, NULL);
    }
}

/* Whether the point has exactly the family's parameters. *out has them in order. */
static bool is_point_of(struct gt_point *out, const struct gt_family *f,
                        const struct gt_point *point) {
    out->count = 0;
    for (int i = 0; f != NULL && i < f->param_count; i++) {
        int64_t value;
        if (!gt_point_get(point, f->param[i].name, &value) ||
            gt_point_set(out, f->param[i].name, value, NULL) != GEMMTUNE_OK)
            return false;
    }
    return f != NULL && out->count == point->count;
}

static bool same_point(const struct gt_elsewhere_point *a,
                       const struct gt_elsewhere_point *b) {
    char x[GT_POINT_TEXT_MAX], y[GT_POINT_TEXT_MAX];
    (void)gt_point_text(&a->point, x);
    (void)gt_point_text(&b->point, y);
    return strcmp(a->kernel, b->kernel) == 0 && strcmp(x, y) == 0;
}

/* Keeps the fastest ones, each once. */
static void keep(struct gt_elsewhere *out, const struct gt_elsewhere_point *now) {
    int at = 0;
    while (at < out->count && out->best[at].ns <= now->ns) {
        if (same_point(&out->best[at], now))
            return;
        at++;
    }
    int last = at; /* a slower one of the same kernel and point, or the last one, goes */
    while (last < out->count && !same_point(&out->best[last], now))
        last++;
    if (last == out->count && out->count < GT_ELSEWHERE_MAX)
        out->count++;
    else if (last == out->count)
        last--;
    if (at > last)
        return;
    memmove(&out->best[at + 1], &out->best[at], (size_t)(last - at) * sizeof *out->best);
    out->best[at] = *now;
}

struct reading {
    struct gt_elsewhere *out;
    const struct format *format;
    const struct gt_seeds *seeds;
    const struct gt_families *families;
    struct gt_point first; /* the parameters of the first result */
};

static void take_result(struct reading *r, struct gt_node result) {
    const char *parameters = r->format->parameters, *family, *kernel = NULL;
    const double ms = r->format->ms(result);
    struct gt_elsewhere_point now;
    struct gt_point theirs;
    read_parameters(&theirs, &family,
                    parameters != NULL ? gt_json_member(result, parameters) : result);
    if (r->first.count == 0)
        r->first = theirs;
    if (!(ms > 0) || !(ms < 1e12)) {
        r->out->failed++;
        return;
    }
    r->out->results++;
    if (family == NULL)
        kernel = gt_seeds_kernel(&now.point, r->seeds, &theirs);
    else if (is_point_of(&now.point, gt_families_find(r->families, family), &theirs))
        kernel = family;
    if (kernel == NULL) {
        r->out->strange++;
        return;
    }
    (void)snprintf(now.kernel, sizeof now.kernel, "%s", kernel);
    now.ns = 1e6 * ms;
    keep(r->out, &now);
}

/* ---- device and problem ---- */

static void read_device(struct gt_elsewhere *out, const struct reading *r,
                        struct gt_node root, const struct gt_elsewhere_given *given) {
    const struct gt_node metadata = gt_json_member(root, "metadata");
    const char *device = "";
    if (gt_json_string(&device, gt_json_member(root, r->format->device), NULL) !=
        GEMMTUNE_OK)
        (void)gt_json_string(&device, gt_json_member(metadata, "device"), NULL);
    (void)snprintf(out->device, sizeof out->device, "%s",
                   given->device != NULL ? given->device : device);
    gt_text_clean(out->device);
}

/* A size, as a number or as its text; 0 when it is none. */
static int64_t size_of(struct gt_node n) {
    const char *text;
    int64_t size = 0;
    if (gt_json_string(&text, n, NULL) == GEMMTUNE_OK)
        return gt_text_int(&size, text, strlen(text)) && size > 0 ? size : 0;
    return gt_json_int(&size, n, 1, GT_DIM_MAX, NULL) == GEMMTUNE_OK ? size : 0;
}

/* The word of the types for CLBlast's precision, NULL for others. */
static const char *types_of(const struct reading *r, struct gt_node root) {
    static const struct {
        int64_t precision;
        const char *types;
    } words[] = {{16, "f16"}, {32, "f32"}, {64, "f64"}};
    int64_t precision = size_of(gt_json_member(root, "precision"));
    if (precision == 0)
        (void)gt_point_get(&r->first, "PRECISION", &precision);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].precision == precision)
            return words[i].types;
    return NULL;
}

/* The name of the problem: as it was given or stored, else out of m, n and k and CLBlast's
 * precision. Those are column-major, so m and n change places. A cache may have no k; its
 * kernel is the same for any. */
static void read_problem(struct gt_elsewhere *out, const struct reading *r,
                         struct gt_node root, const struct gt_elsewhere_given *given) {
    const struct gt_node sizes = gt_json_member(root, "problem_size");
    const char *stored = "", *types = types_of(r, root);
    int64_t m = size_of(gt_json_member(root, "arg_m")),
            n = size_of(gt_json_member(root, "arg_n")),
            k = size_of(gt_json_member(root, "arg_k"));
    (void)gt_json_string(&stored,
                         gt_json_member(gt_json_member(root, "metadata"), "problem"), NULL);
    if (m == 0)
        m = size_of(gt_json_at(sizes, 0)), n = size_of(gt_json_at(sizes, 1)),
        k = size_of(gt_json_at(sizes, 2));
    if (k == 0)
        k = m;
    if (given->problem != NULL || stored[0] != '\0')
        (void)snprintf(out->problem, sizeof out->problem, "%s",
                       given->problem != NULL ? given->problem : stored);
    else if (types != NULL && m > 0 && n > 0)
        (void)snprintf(out->problem, sizeof out->problem,
                       "%s-nn-%" PRId64 "x%" PRId64 "x%" PRId64, types, n, m, k);
}

static gt_status check(struct gt_elsewhere *out, const struct reading *r, const char *name,
                       struct gt_err *err) {
    gemmtune_problem p;
    struct gt_err why;
    if (out->device[0] == '\0')
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "%s: names no device; say it with --measured-on NAME", name);
    if (out->problem[0] == '\0')
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "%s: says no problem; say it with --problem NAME", name);
    if (gt_problem_from_name(&p, out->problem, &why) != GEMMTUNE_OK)
        return gt_fail(err, GEMMTUNE_EPARSE, "%s: %s", name, why.line);
    (void)gt_problem_name(&p, out->problem);
    if (out->results == 0)
        return gt_fail(err, GEMMTUNE_EPARSE, "%s: no result of %s has a time", name,
                       r->format->is);
    if (out->count == 0)
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "%s: its parameters are neither those of CLBlast's xgemm and "
                       "xgemm_direct nor of a family of gemmtune",
                       name);
    return GEMMTUNE_OK;
}

/* ---- the file ---- */

static gt_status read_root(struct reading *r, struct gt_node root, const char *name,
                           const struct gt_elsewhere_given *given, struct gt_err *err) {
    const char *slash = strrchr(name, '/');
    struct gt_node list;
    const gt_status status = gt_json_need(&list, root, r->format->list, err);
    if (status != GEMMTUNE_OK)
        return status;
    for (size_t i = 0; i < gt_json_count(list); i++)
        take_result(r, gt_json_at(list, i));
    (void)snprintf(r->out->source, sizeof r->out->source, "%s, %.100s", r->format->is,
                   slash != NULL ? slash + 1 : name);
    gt_text_clean(r->out->source);
    read_device(r->out, r, root, given);
    read_problem(r->out, r, root, given);
    return check(r->out, r, name, err);
}

gt_status gt_elsewhere_read(struct gt_elsewhere *out, const char *name, const char *text,
                            size_t size, const struct gt_elsewhere_given *given,
                            const struct gt_seeds *seeds,
                            const struct gt_families *families, struct gt_err *err) {
    struct reading r = {
        .out = out, .format = format_of(text, size), .seeds = seeds, .families = families};
    struct gt_json *doc = NULL;
    *out = (struct gt_elsewhere){0};
    if (r.format == NULL)
        return gt_fail(err, GEMMTUNE_EPARSE, "%s: not a result of another tuner", name);
    gt_status status = gt_file_json(&doc, name, text, size, err);
    if (status == GEMMTUNE_OK)
        status = read_root(&r, gt_json_root(doc), name, given, err);
    gt_json_destroy(doc);
    if (status != GEMMTUNE_OK)
        out->count = 0;
    return status;
}
