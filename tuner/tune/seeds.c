/* SPDX-License-Identifier: Apache-2.0 */
/* seeds.c - see seeds.h. The documents stay parsed; each question walks through them. */
#include "tuner/tune/seeds.h"

#include "core/embed.h"
#include "core/expr.h"
#include "core/json.h"
#include "tuner/tune/seeds_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_ = 128, CUT = 50 }; /* CLBlast cuts names off after so many bytes */
/* the members of a row of "devices" */
enum { VENDOR, ARCH, NAME, VALUES };
static const char *const value_types[] = {"f16", "f32", "f64"};
enum { TYPES = 3, ROW = VALUES + TYPES };

struct gt_seeds {
    struct gt_json *built_in, *file; /* file: NULL when there is none */
};

/* ---- documents ---- */

static struct gt_node list_of(struct gt_node object, const char *key) {
    return gt_json_member(object, key);
}

static const char *text_of(struct gt_node n) {
    const char *text = "";
    (void)gt_json_string(&text, n, NULL);
    return text;
}

gt_status gt_seeds_create(struct gt_seeds **out, const char *path, struct gt_err *err) {
    const char *text = gt_embedded_seeds[0].text;
    struct gt_seeds *s = calloc(1, sizeof *s);
    *out = s;
    if (s == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for seeds");
    gt_status status =
        gt_json_parse(&s->built_in, gt_embedded_seeds[0].path, text, strlen(text), err);
    if (status == GEMMTUNE_OK && path != NULL)
        status = gt_seeds_file_load(&s->file, path, err);
    if (status != GEMMTUNE_OK) {
        gt_seeds_destroy(s);
        *out = NULL;
    }
    return status;
}

void gt_seeds_destroy(struct gt_seeds *s) {
    if (s == NULL)
        return;
    gt_json_destroy(s->built_in);
    gt_json_destroy(s->file);
    free(s);
}

bool gt_seeds_path(char *path, size_t size, const char *database) {
    const int len = snprintf(path, size, "%s.seeds.json", database);
    return len > 0 && (size_t)len < size;
}

/* ---- from their parameters to a point ---- */

/* Their parameters as names of expressions. */
struct names {
    struct gt_symbols symbols;
    int64_t value[GT_POINT_MAX];
};

static bool take_names(struct names *out, const struct gt_point *theirs) {
    out->symbols.count = 0;
    for (int i = 0; i < theirs->count; i++) {
        int slot;
        if (gt_symbols_add(&slot, &out->symbols, theirs->entry[i].name, NULL) !=
            GEMMTUNE_OK)
            return false;
        out->value[slot] = theirs->entry[i].value;
    }
    return true;
}

static bool evaluate(int64_t *out, const char *text, const struct names *names) {
    struct gt_expr *e = NULL;
    const bool good = gt_expr_parse(&e, text, &names->symbols, NULL) == GEMMTUNE_OK &&
                      gt_expr_eval(out, e, names->value, NULL) == GEMMTUNE_OK;
    gt_expr_destroy(e);
    return good;
}

/* Makes the point that an entry of "points" describes. False: `when` excludes it. */
static bool make_point(struct gt_seed *out, struct gt_node entry,
                       const struct names *names) {
    const struct gt_node point = gt_json_member(entry, "point");
    int64_t value = 0;
    if (!evaluate(&value, text_of(gt_json_member(entry, "when")), names) || value == 0)
        return false;
    (void)snprintf(out->family, sizeof out->family, "%s",
                   text_of(gt_json_member(entry, "family")));
    out->point.count = 0;
    for (size_t i = 0; i < gt_json_count(point); i++) {
        const struct gt_node member = gt_json_at(point, i);
        if (!evaluate(&value, text_of(member), names) ||
            gt_point_set(&out->point, gt_json_key(member), value, NULL) != GEMMTUNE_OK)
            return false;
    }
    return true;
}

static struct gt_node kernel_named(const struct gt_seeds *s, const char *name) {
    const struct gt_node kernels = list_of(gt_json_root(s->built_in), "kernels");
    size_t i = 0;
    while (i < gt_json_count(kernels) &&
           strcmp(text_of(gt_json_member(gt_json_at(kernels, i), "kernel")), name) != 0)
        i++;
    return gt_json_at(kernels, i);
}

/* Whether the point has the values that the kernel's points are about. */
static bool is_meant(struct gt_node kernel, const struct gt_point *theirs) {
    const struct gt_node only = gt_json_member(kernel, "only");
    bool meant = true;
    for (size_t i = 0; meant && i < gt_json_count(only); i++) {
        const struct gt_node member = gt_json_at(only, i);
        int64_t want = 0, value = 0;
        (void)gt_json_int(&want, member, INT32_MIN, INT32_MAX, NULL);
        meant = !gt_point_get(theirs, gt_json_key(member), &value) || value == want;
    }
    return meant;
}

static int translate(struct gt_seed *out, int room, struct gt_node kernel,
                     const struct gt_point *theirs) {
    const struct gt_node points = list_of(kernel, "points");
    struct names names;
    int count = 0;
    if (!is_meant(kernel, theirs) || !take_names(&names, theirs))
        return 0;
    for (size_t i = 0; i < gt_json_count(points) && count < room; i++)
        count += make_point(&out[count], gt_json_at(points, i), &names);
    return count;
}

/* Leaves the parameters of the kernel in *out. False: one is missing. */
static bool keep_parameters(struct gt_point *out, struct gt_node kernel,
                            const struct gt_point *theirs) {
    const struct gt_node parameters = list_of(kernel, "parameters");
    out->count = 0;
    for (size_t i = 0; i < gt_json_count(parameters); i++) {
        const char *name = text_of(gt_json_at(parameters, i));
        int64_t value;
        if (!gt_point_get(theirs, name, &value) ||
            gt_point_set(out, name, value, NULL) != GEMMTUNE_OK)
            return false;
    }
    return true;
}

const char *gt_seeds_kernel(struct gt_point *out, const struct gt_seeds *s,
                            const struct gt_point *theirs) {
    const struct gt_node kernels = list_of(gt_json_root(s->built_in), "kernels");
    for (size_t i = 0; i < gt_json_count(kernels); i++) {
        const struct gt_node kernel = gt_json_at(kernels, i);
        if (is_meant(kernel, theirs) && keep_parameters(out, kernel, theirs))
            return text_of(gt_json_member(kernel, "kernel"));
    }
    return NULL;
}

/* ---- devices ---- */

/* The name in lower case, without signs, and without a vendor's word in front. */
static void plain_name(char out[NAME_MAX_], const char *name) {
    static const char *const vendors[] = {"nvidia ", "amd ", "intel "};
    size_t len = 0;
    for (; *name != '\0' && len < NAME_MAX_ - 1; name++) {
        if (strncasecmp(name, "(tm)", 4) == 0 || strncasecmp(name, "(r)", 3) == 0)
            name = strchr(name, ')');
        else if (*name != ' ' || (len > 0 && out[len - 1] != ' '))
            out[len++] = (char)tolower((unsigned char)*name);
    }
    while (len > 0 && out[len - 1] == ' ')
        len--;
    out[len] = '\0';
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
        if (strncmp(out, vendors[i], strlen(vendors[i])) == 0)
            memmove(out, out + strlen(vendors[i]), strlen(out + strlen(vendors[i])) + 1);
}

static bool same_name(const char *theirs, const char *ours) {
    char a[NAME_MAX_], b[NAME_MAX_];
    plain_name(a, theirs);
    plain_name(b, ours);
    return strcmp(a, b) == 0 || (strlen(theirs) == CUT && strncmp(a, b, strlen(a)) == 0);
}

/* CUDA has "sm_61" where the database has "SM6.1". A driver of AMD has the name of the
 * architecture for the name of the device, with marks of its features after a ":". */
static bool same_arch(const char *theirs, const struct gt_device *d) {
    static const char *const others[][2] = {{"Fiji", "gfx803"}, {"Vega", "gfx900"}};
    char cc[16] = "";
    if (d->cc > 0)
        (void)snprintf(cc, sizeof cc, "SM%d.%d", d->cc / 10, d->cc % 10);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(theirs, others[i][0]) == 0 && strcmp(d->name, others[i][1]) == 0)
            return true;
    const size_t len = strcspn(theirs, ":");
    return strcmp(theirs, cc) == 0 ||
           (len == strcspn(d->name, ":") && strncmp(theirs, d->name, len) == 0);
}

static bool same_vendor(const char *theirs, const struct gt_device *d) {
    const bool amd =
        strcmp(theirs, "AMD") == 0 && strncmp(d->vendor, "Advanced Micro Devices", 22) == 0;
    return amd || strncasecmp(d->vendor, theirs, strlen(theirs)) == 0;
}

/* How well a row describes the device: 0 not at all, 1 as any GPU, 2 as one of the vendor,
 * 3 as one of the architecture, 4 by its name. */
static int likeness(struct gt_node row, const struct gt_device *d) {
    const char *vendor = text_of(gt_json_at(row, VENDOR)),
               *arch = text_of(gt_json_at(row, ARCH)),
               *name = text_of(gt_json_at(row, NAME));
    if (vendor[0] != '\0' && !same_vendor(vendor, d))
        return 0;
    if (name[0] != '\0')
        return same_name(name, d->name) ? 4 : 0;
    if (arch[0] != '\0')
        return same_arch(arch, d) ? 3 : 0;
    return vendor[0] != '\0' ? 2 : 1;
}

/* ---- the built-in seeds ---- */

static bool read_values(struct gt_point *out, struct gt_node kernel,
                        struct gt_node values) {
    const struct gt_node parameters = list_of(kernel, "parameters");
    bool good = gt_json_count(values) == gt_json_count(parameters);
    out->count = 0;
    for (size_t i = 0; good && i < gt_json_count(values); i++) {
        int64_t value = 0;
        good =
            gt_json_int(&value, gt_json_at(values, i), 0, INT32_MAX, NULL) == GEMMTUNE_OK &&
            gt_point_set(out, text_of(gt_json_at(parameters, i)), value, NULL) ==
                GEMMTUNE_OK;
    }
    return good;
}

/* The place of the problem's types in a row; -1: the database has none like these. */
static int column_of(const gemmtune_problem *p) {
    const struct gt_dtype *row = gt_dtype_of(p);
    for (int i = 0; row != NULL && i < TYPES; i++)
        if (strcmp(row->name, value_types[i]) == 0)
            return VALUES + i;
    return -1;
}

static void say_source(struct gt_seed *seed, struct gt_node kernel, struct gt_node row,
                       int like) {
    const char *vendor = text_of(gt_json_at(row, VENDOR));
    (void)snprintf(seed->source, sizeof seed->source, "CLBlast's %s, %s%.64s",
                   text_of(gt_json_member(kernel, "kernel")),
                   like == 4 ? "" : "default of ",
                   like == 4   ? text_of(gt_json_at(row, NAME))
                   : like == 3 ? text_of(gt_json_at(row, ARCH))
                   : like == 2 ? vendor
                               : "all GPUs");
    seed->named = like == 4;
}

/* Of the rows with values of the type, the one that is most like the device. */
static struct gt_node best_row(int *like, struct gt_node kernel, const struct gt_device *d,
                               int column) {
    const struct gt_node rows = list_of(kernel, "devices");
    struct gt_node best = {rows.doc, NULL};
    *like = 0;
    for (size_t i = 0; i < gt_json_count(rows); i++) {
        const struct gt_node row = gt_json_at(rows, i);
        const int now = gt_json_kind(gt_json_at(row, (size_t)column)) == GT_JSON_ARRAY
                            ? likeness(row, d)
                            : 0;
        if (now > *like) {
            *like = now;
            best = row;
        }
    }
    return best;
}

static int find_built_in(struct gt_seed *out, int room, const struct gt_seeds *s,
                         const struct gt_device *d, const gemmtune_problem *p) {
    const struct gt_node kernels = list_of(gt_json_root(s->built_in), "kernels");
    const int column = column_of(p);
    int count = 0;
    for (size_t i = 0; column >= 0 && !d->is_cpu && i < gt_json_count(kernels); i++) {
        const struct gt_node kernel = gt_json_at(kernels, i);
        struct gt_point theirs;
        int like;
        const struct gt_node row = best_row(&like, kernel, d, column);
        if (like == 0 || !read_values(&theirs, kernel, gt_json_at(row, (size_t)column)))
            continue;
        const int more = translate(out + count, room - count, kernel, &theirs);
        for (int j = 0; j < more; j++)
            say_source(&out[count + j], kernel, row, like);
        count += more;
    }
    return count;
}

/* ---- the seeds of the file ---- */

static int read_seed(struct gt_seed *out, int room, const struct gt_seeds *s,
                     struct gt_node n) {
    const char *kernel = text_of(gt_json_member(n, "kernel"));
    const struct gt_node known = kernel_named(s, kernel);
    struct gt_point point;
    int count = 1;
    if (gt_point_parse(&point, text_of(gt_json_member(n, "point")), NULL) != GEMMTUNE_OK)
        return 0;
    if (gt_json_kind(known) != GT_JSON_ABSENT)
        count = translate(out, room, known, &point);
    else {
        (void)snprintf(out->family, sizeof out->family, "%s", kernel);
        out->point = point;
    }
    for (int i = 0; i < count; i++) {
        (void)snprintf(out[i].source, sizeof out[i].source, "%s",
                       text_of(gt_json_member(n, "source")));
        out[i].named = true;
    }
    return count;
}

/* Whether a seed is of a problem like this one. CLBlast's kernels pack what they read, so
 * they are the same for all layouts. */
static bool suits(const struct gt_seeds *s, struct gt_node n, const gemmtune_problem *p) {
    const char *kernel = text_of(gt_json_member(n, "kernel"));
    gemmtune_problem known;
    if (gt_problem_from_name(&known, text_of(gt_json_member(n, "problem")), NULL) !=
        GEMMTUNE_OK)
        return false;
    return gt_json_kind(kernel_named(s, kernel)) != GT_JSON_ABSENT
               ? gt_dtype_of(&known) == gt_dtype_of(p)
               : gt_problem_lends(&known, p);
}

/* Whether a seed is of this very problem. */
static bool is_of(struct gt_node n, const char *problem) {
    return strcmp(text_of(gt_json_member(n, "problem")), problem) == 0;
}

/* Seeds of the very problem come first, then others. The file has the newest import first,
 * and in an import the fastest. */
static int find_in_file(struct gt_seed *out, int room, const struct gt_seeds *s,
                        const struct gt_device *d, const gemmtune_problem *p) {
    const struct gt_node seeds = list_of(gt_json_root(s->file), "seeds");
    char problem[GT_PROBLEM_NAME_MAX];
    int count = 0;
    gt_problem_name(p, problem);
    for (int own = 1; own >= 0; own--)
        for (size_t i = 0; i < gt_json_count(seeds) && count < room; i++) {
            const struct gt_node n = gt_json_at(seeds, i);
            if (same_name(text_of(gt_json_member(n, "device")), d->name) &&
                is_of(n, problem) == own && suits(s, n, p))
                count += read_seed(out + count, room - count, s, n);
        }
    return count;
}

/* ---- all ---- */

int gt_seeds_find(struct gt_seed out[GT_SEEDS_MAX], const struct gt_seeds *s,
                  const struct gt_device *d, const gemmtune_problem *p) {
    enum { BUILT_IN_MAX = 8 };
    const int room = GT_SEEDS_MAX - BUILT_IN_MAX;
    const int count = s->file != NULL ? find_in_file(out, room, s, d, p) : 0;
    return count + find_built_in(out + count, BUILT_IN_MAX, s, d, p);
}
