/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.c - which kernel serves a problem. The order of preference is here and only here:
 *
 *     EXACT    the very problem, measured and verified on this device; by rank
 *     SHAPE    other problems of the same types, verified on this device; by forecast
 *     ARCH     another device of this architecture, or rows of this device that were
 *              measured elsewhere (merged, imported): this problem first, then as SHAPE
 *     DEFAULT  the families' starts and default points: by forecast, without one by rank
 *
 * A forecast is what the kernel took on its own problem, times what the model says of the new problem
 * over what it says of its own: what the model has wrong of the kernel cancels. The farther the
 * problems are apart, the more is added for what it has wrong of the way between. Near records also
 * stand for their point with k split otherwise. A start was never measured: a near record of its
 * family lends it the model's error, and it has to be much better than what was measured.
 *
 * Whatever is preferred must be able to run: its rules, the problem's alignment, the launch
 * limits and the workspace are asked before speed is. No device, no file, no lock.
 */
#include "runtime/match.h"

#include "runtime/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACE_MAX = 128, /* bytes of "where" in a why line; fits why with a name and numbers */
    NEAR_MAX =
        48, /* records that a forecast is made for: six problems' finalists at least */
    SPLIT_MAX = 8, /* of them, those whose k is split otherwise as well */
    OPTIONS_MAX = 512,
};

static const double turned_operand = 1.5; /* is as far as so many factors of two */

/* What a forecast costs for each step away from a measurement, in natural logarithms. */
static const double cost_distance = 0.2; /* a factor of two in m, n or k; another layout */
static const double cost_split = 0.2;    /* k split otherwise */
static const double cost_start = 0.8;    /* never measured at all: the most there is */
static const double cost_blind = 0.9; /* as cost_distance, where the model says nothing */

struct query {
    const struct gt_snapshot *snapshot;
    const struct gt_device *device;
    struct gt_device reckoned; /* what the model is asked about */
    const char *device_key;
    const gemmtune_problem *problem; /* as asked */
    gemmtune_problem
        shape; /* m and n at least 1: what rules and launches are asked about */
    char name[GT_PROBLEM_NAME_MAX];
    gemmtune_match worst;
    size_t workspace_max;
    int64_t pointer_align;
    bool (*skip)(void *user, const struct gt_choice *c);
    void *user;
};

struct candidate {
    const struct gt_known *known;
    gemmtune_match match;
    bool other_name; /* not the very problem */
    double distance; /* in log2 of the sizes; a transposed operand is one */
};

/* ---- candidates ------------------------------------------------------------------ */

static bool same_types(const gemmtune_problem *x, const gemmtune_problem *y) {
    gemmtune_problem z = *x;
    z.trans_a = y->trans_a;
    z.trans_b = y->trans_b;
    return gt_problem_same_kind(&z, y);
}

static double distance(const gemmtune_problem *x, const gemmtune_problem *y) {
    return sqrt(gt_problem_distance2(x, y)) +
           turned_operand * ((x->trans_a != y->trans_a) + (x->trans_b != y->trans_b));
}

/* Whether the record may be thought of at all, and how good it would be. */
static bool classify(struct candidate *out, const struct query *q,
                     const struct gt_known *known) {
    const bool mine = strcmp(known->device_key, q->device_key) == 0;
    const bool here = mine && known->verified;
    if (!same_types(&known->problem, q->problem))
        return false;
    if (!mine && strcmp(known->arch, q->device->arch) != 0)
        return false;
    out->known = known;
    out->other_name = strcmp(known->problem_name, q->name) != 0;
    out->distance = distance(&known->problem, q->problem);
    out->match = !here             ? GEMMTUNE_MATCH_ARCH
                 : out->other_name ? GEMMTUNE_MATCH_SHAPE
                                   : GEMMTUNE_MATCH_EXACT;
    return out->match <= q->worst;
}

static int order(double x, double y) {
    return (x > y) - (x < y);
}

/* Best first. The array's own order, which is the database's, breaks what is left of
 * ties. */
static int by_preference(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    int o = order((double)x->match, (double)y->match);
    if (o == 0)
        o = order((double)x->other_name, (double)y->other_name);
    if (o == 0)
        o = order(x->distance, y->distance);
    if (o == 0)
        o = order((double)x->known->rank, (double)y->known->rank);
    return o != 0 ? o : (x->known > y->known) - (x->known < y->known);
}

static gt_status gather(struct candidate **out, size_t *count, const struct query *q,
                        struct gt_err *err) {
    const struct gt_snapshot *s = q->snapshot;
    *count = 0;
    *out = NULL;
    if (s->count == 0)
        return GEMMTUNE_OK;
    *out = malloc(s->count * sizeof **out);
    if (*out == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; i < s->count; i++)
        *count += classify(&(*out)[*count], q, &s->known[i]);
    qsort(*out, *count, sizeof **out, by_preference);
    return GEMMTUNE_OK;
}

/* ---- may it run ------------------------------------------------------------------ */

struct reason {
    char line[192]; /* "" when nothing stands against it */
};

static struct reason because(const char *why) {
    struct reason r = {""};
    (void)snprintf(r.line, sizeof r.line, "%.190s", why);
    return r;
}

/* A point bound to the problem asked about, and its launches. */
struct bound {
    struct gt_binding binding;
    struct gt_passes passes;
    int64_t workspace_bytes;
};

/* Why the family's point of these values may not run what is asked; *out is whole when it may. */
static struct reason against(struct bound *out, const struct query *q,
                             const struct gt_family *f, const int64_t *values) {
    struct gt_binding *b = &out->binding;
    struct gt_err err = {""};
    const char *why = NULL;
    if (!gt_family_serves(f, q->device, q->problem, &why))
        return because(why);
    gt_bind_problem(b, f, q->device, &q->shape);
    gt_bind_align(b, &q->shape, q->pointer_align);
    if (gt_bind_values(b, values, &err) != GEMMTUNE_OK)
        return because(err.line);
    const struct gt_rule *rule = gt_refused(b);
    if (rule != NULL)
        return because(rule->why);
    why = gt_not_accepted(b);
    if (why != NULL)
        return because(why);
    if (gt_passes_of(&out->passes, b, q->device, &err) != GEMMTUNE_OK)
        return because(err.line);
    out->workspace_bytes = out->passes.item[out->passes.main].launch.workspace_bytes;
    if ((uint64_t)out->workspace_bytes > q->workspace_max)
        return because("it needs more workspace than is allowed");
    return because("");
}

/* Fills the choice and asks whether it runs and was not turned down before. */
static bool suits(struct gt_choice *out, const struct query *q, struct reason *last) {
    struct bound bound;
    struct gt_err err = {""};
    int64_t values[GT_POINT_MAX];
    if (gt_point_values(values, out->family, &out->point, &err) != GEMMTUNE_OK) {
        *last = because(err.line);
        return false;
    }
    const struct reason r = against(&bound, q, out->family, values);
    if (r.line[0] != '\0') {
        *last = r;
        return false;
    }
    out->workspace_bytes = bound.workspace_bytes;
    if (q->skip != NULL && q->skip(q->user, out)) {
        *last = because("it did not build before");
        return false;
    }
    return true;
}

/* ---- forecasts ------------------------------------------------------------------- */

/* A kernel that may be the answer: a near record's, perhaps with k split otherwise, or a start. */
struct option {
    const struct candidate *from; /* NULL: a start */
    const struct gt_family *family;
    int64_t split; /* 0: as it is */
    int start;     /* of the family; start_count: its default point */
    double ns;     /* the forecast */
    double cost;   /* its logarithm, and what is not sure about it */
};

struct options {
    const struct query *query;
    int count;
    struct option item[OPTIONS_MAX];
    struct reason last; /* why the last that may not run may not */
};

/* The number of the parameter that says how often k is split: the one that the family's shape has for
 * its "split"; -1: there is none. */
static int split_of(const struct gt_family *f) {
    const char *name = f->has_shape ? gt_expr_text(f->shape[GT_SHAPE_SPLIT]) : "";
    int i = f->param_count - 1;
    while (i >= 0 && strcmp(f->param[i].name, name) != 0)
        i--;
    return i;
}

static const char *split_name(const struct gt_family *f) {
    return f->param[split_of(f)].name;
}

static void point_of(struct gt_point *out, const struct option *o) {
    if (o->from == NULL && o->start == o->family->start_count)
        gt_family_default(o->family, out);
    else if (o->from == NULL)
        gt_family_start(o->family, o->start, out);
    else
        *out = o->from->known->point;
    if (o->split > 0)
        (void)gt_point_set(out, split_name(o->family), o->split, NULL);
}

/* A GPU that does not tell its peaks is reckoned as a usual one of as many units: forecasts are only
 * compared with each other. */
static struct gt_device reckoned_as(const struct gt_device *d) {
    struct gt_device r = *d;
    if (d->is_cpu || (gt_device_peak(d, GEMMTUNE_F32) > 0 && gt_device_bandwidth(d) > 0))
        return r;
    r.cc = 80;
    r.clock_mhz = 1410;
    r.mem_clock_mhz = 1215;
    r.bus_bits = 5120;
    r.units = d->units > 0 ? d->units : 1;
    return r;
}

/* Nanoseconds by the model; 0: it has no prediction. */
static double model_ns(const struct query *q, const struct gt_binding *b) {
    struct gt_prediction p;
    return gt_model_predict(&p, b, &q->reckoned, NULL) ? p.ns : 0;
}

/* What the record's kernel took on its own problem over what the model says; 0: it says nothing. */
static double model_error(const struct query *q, const struct gt_known *known,
                          const int64_t *values) {
    struct gt_binding b;
    gt_bind_problem(&b, known->family, q->device, &known->problem);
    if (gt_bind_values(&b, values, NULL) != GEMMTUNE_OK)
        return 0;
    const double ns = model_ns(q, &b);
    return ns > 0 ? known->median_ns / ns : 0;
}

/* Without a model: as many operations a second. */
static double at_its_rate(const struct query *q, const struct gt_known *known) {
    return known->median_ns * fmax(1, gt_problem_flops(&q->shape)) /
           fmax(1, gt_problem_flops(&known->problem));
}

/* Without a prediction a record serves its own layout only, and a start nobody. */
static bool may_go_blind(const struct query *q, const struct option *o) {
    return o->from != NULL && gt_problem_same_kind(&o->from->known->problem, q->problem);
}

/* Adds the option if it may run with these values. `error` is what the model is wrong by. */
static void offer(struct options *all, struct option o, const int64_t *values, double error,
                  double doubt) {
    const struct query *q = all->query;
    struct bound bound;
    if (all->count == OPTIONS_MAX)
        return;
    const struct reason r = against(&bound, q, o.family, values);
    if (r.line[0] != '\0') {
        all->last = r;
        return;
    }
    const double ns = error * model_ns(q, &bound.binding);
    if (ns <= 0 && !may_go_blind(q, &o))
        return;
    o.ns = fmax(ns > 0 ? ns : at_its_rate(q, o.from->known), 1);
    o.cost = log(o.ns) + (ns > 0 ? doubt : cost_blind * o.from->distance);
    all->item[all->count++] = o;
}

/* The option with k split in every other way. */
static void offer_splits(struct options *all, const struct option *as_is,
                         const int64_t *values, double error, double doubt) {
    const int at = split_of(as_is->family);
    int64_t other[GT_POINT_MAX];
    if (at < 0 || error <= 0)
        return;
    const struct gt_param *split = &as_is->family->param[at];
    memcpy(other, values, sizeof other);
    for (int i = 0; i < split->count; i++) {
        struct option o = *as_is;
        o.split = other[at] = split->value[i];
        if (o.split > 0 && o.split != values[at])
            offer(all, o, other, error, doubt + cost_split);
    }
}

static void offer_records(struct options *all, const struct candidate *near, size_t count) {
    int64_t values[GT_POINT_MAX] = {0};
    for (size_t i = 0; i < count; i++) {
        const struct gt_known *known = near[i].known;
        const struct option o = {.from = &near[i], .family = known->family};
        if (gt_point_values(values, known->family, &known->point, NULL) != GEMMTUNE_OK)
            continue;
        const double error = model_error(all->query, known, values);
        const double doubt = fmin(cost_distance * near[i].distance, cost_start);
        offer(all, o, values, error, doubt);
        if (i < SPLIT_MAX)
            offer_splits(all, &o, values, error, doubt);
    }
}

/* The model's error on the nearest record of the family; 1 when there is none. */
static double error_near(const struct query *q, const struct gt_family *f,
                         const struct candidate *near, size_t count) {
    int64_t values[GT_POINT_MAX];
    for (size_t i = 0; i < count; i++) {
        const struct gt_known *known = near[i].known;
        if (known->family != f ||
            gt_point_values(values, f, &known->point, NULL) != GEMMTUNE_OK)
            continue;
        const double error = model_error(q, known, values);
        if (error > 0)
            return error;
    }
    return 1;
}

static void start_values(int64_t values[GT_POINT_MAX], const struct gt_family *f,
                         int start) {
    memset(values, 0, GT_POINT_MAX * sizeof *values);
    for (int i = 0; i < f->param_count; i++)
        values[i] = start < f->start_count ? f->start[start][i] : f->param[i].preset;
}

/* Starts, and the default point last. */
static void offer_starts(struct options *all, const struct candidate *near, size_t count) {
    const struct query *q = all->query;
    const struct gt_families *families = q->snapshot->families;
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        int64_t values[GT_POINT_MAX];
        if (q->worst < GEMMTUNE_MATCH_DEFAULT ||
            !gt_family_serves(f, q->device, q->problem, NULL))
            continue;
        const double error = error_near(q, f, near, count);
        for (int s = 0; s <= f->start_count; s++) {
            const struct option o = {.family = f, .start = s};
            start_values(values, f, s);
            offer(all, o, values, error, cost_start);
            offer_splits(all, &o, values, error, cost_start);
        }
    }
}

static int by_cost(const void *a, const void *b) {
    const struct option *x = a, *y = b;
    int o = order(x->cost, y->cost);
    if (o == 0)
        o = order((double)x->family->rank, (double)y->family->rank);
    return o != 0 ? o : order((double)x->start, (double)y->start);
}

/* ---- in words -------------------------------------------------------------------- */

static void where(char buf[PLACE_MAX], const struct query *q,
                  const struct gt_known *known) {
    if (strcmp(known->device_key, q->device_key) != 0)
        (void)snprintf(buf, PLACE_MAX, "on %.80s (also %.23s)", known->device_key,
                       known->arch);
    else
        (void)snprintf(buf, PLACE_MAX, "%s",
                       known->verified ? "on this device"
                                       : "elsewhere, not verified here,");
}

static void explain_exact(struct gt_choice *out, const struct query *q,
                          const struct candidate *c) {
    char place[PLACE_MAX];
    where(place, q, c->known);
    (void)snprintf(out->why, sizeof out->why, "tuned %s for this very problem, rank %d",
                   place, c->known->rank);
}

enum { SPLIT_TEXT_MAX = 64 };

static const char *with_split(char buf[SPLIT_TEXT_MAX], const struct option *o) {
    buf[0] = '\0';
    if (o->split > 0)
        (void)snprintf(buf, SPLIT_TEXT_MAX, " with %s=%lld", split_name(o->family),
                       (long long)o->split);
    return buf;
}

static void explain_record(struct gt_choice *out, const struct query *q,
                           const struct option *o, int count) {
    char place[PLACE_MAX], split[SPLIT_TEXT_MAX];
    where(place, q, o->from->known);
    (void)snprintf(out->why, sizeof out->why,
                   "tuned %s for %.64s (distance %.2f)%s, forecast %.1f us, best of %d",
                   place, o->from->known->problem_name, o->from->distance,
                   with_split(split, o), o->ns / 1e3, count);
}

static void explain_start(struct gt_choice *out, const struct query *q,
                          const struct option *o, int count, size_t records) {
    char which[24], split[SPLIT_TEXT_MAX];
    (void)snprintf(which, sizeof which, "start %d", o->start + 1);
    (void)snprintf(out->why, sizeof out->why,
                   "%s of family %s%s, forecast %.1f us, best of %d: %s",
                   o->start < o->family->start_count ? which : "default point",
                   o->family->name, with_split(split, o), o->ns / 1e3, count,
                   q->snapshot->count == 0 ? "nothing was tuned for this architecture"
                   : records == 0          ? "nothing of its types was tuned for this "
                                             "architecture"
                                           : "what was tuned is too far away");
}

/* ---- the choice ------------------------------------------------------------------ */

/* The first that suits, in the order of their costs. */
static bool choose_option(struct gt_choice *out, const struct query *q, struct options *all,
                          size_t records, struct reason *last) {
    qsort(all->item, (size_t)all->count, sizeof *all->item, by_cost);
    if (all->last.line[0] != '\0')
        *last = all->last;
    for (int i = 0; i < all->count; i++) {
        const struct option *o = &all->item[i];
        out->match = o->from != NULL ? o->from->match : GEMMTUNE_MATCH_DEFAULT;
        out->known = o->from != NULL ? o->from->known : NULL;
        out->family = o->family;
        point_of(&out->point, o);
        if (o->from != NULL)
            explain_record(out, q, o, all->count);
        else
            explain_start(out, q, o, all->count, records);
        if (suits(out, q, last))
            return true;
    }
    return false;
}

/* Records of other problems that are equally good otherwise, nearest first: the best of those near by,
 * or of the next that are. */
static bool choose_other(struct gt_choice *out, const struct query *q,
                         const struct candidate *group, size_t count, struct reason *last) {
    bool found = false;
    for (size_t i = 0; !found && i < count; i += NEAR_MAX) {
        struct options all = {.query = q};
        const size_t near = count - i < NEAR_MAX ? count - i : NEAR_MAX;
        offer_records(&all, group + i, near);
        if (all.count > 0)
            offer_starts(&all, group + i, near);
        found = choose_option(out, q, &all, count, last);
    }
    return found;
}

static size_t end_of_group(const struct candidate *all, size_t begin, size_t count) {
    size_t end = begin;
    while (end < count && all[end].match == all[begin].match &&
           all[end].other_name == all[begin].other_name)
        end++;
    return end;
}

static bool choose_same(struct gt_choice *out, const struct query *q,
                        const struct candidate *c, struct reason *last) {
    out->match = c->match;
    out->known = c->known;
    out->family = c->known->family;
    out->point = c->known->point;
    explain_exact(out, q, c);
    return suits(out, q, last);
}

static bool choose_known(struct gt_choice *out, const struct query *q,
                         const struct candidate *all, size_t count, struct reason *last) {
    size_t end;
    bool found = false;
    for (size_t begin = 0; !found && begin < count; begin = end) {
        end = end_of_group(all, begin, count);
        if (all[begin].other_name)
            found = choose_other(out, q, all + begin, end - begin, last);
        for (size_t i = begin; !found && !all[begin].other_name && i < end; i++)
            found = choose_same(out, q, &all[i], last);
    }
    return found;
}

/* The family's default point as an answer, when it suits. */
static bool offer_default(struct gt_choice *out, const struct query *q,
                          const struct gt_family *f, size_t records, struct reason *last) {
    out->match = GEMMTUNE_MATCH_DEFAULT;
    out->known = NULL;
    out->family = f;
    gt_family_default(f, &out->point);
    (void)snprintf(out->why, sizeof out->why, "default point of family %s: %s", f->name,
                   q->snapshot->count == 0 ? "nothing was tuned for this architecture"
                   : records == 0          ? "nothing of its types was tuned for this "
                                             "architecture"
                                           : "no tuned kernel may run this problem");
    return suits(out, q, last);
}

static bool choose_start(struct gt_choice *out, const struct query *q, size_t records,
                         struct reason *last) {
    struct options all = {.query = q};
    offer_starts(&all, NULL, 0);
    return choose_option(out, q, &all, records, last);
}

/* By rank. *served: some family has a kernel for the types and layout here. */
static bool choose_default(struct gt_choice *out, const struct query *q, size_t records,
                           bool *served, struct reason *last) {
    const struct gt_families *families = q->snapshot->families;
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        if (!gt_family_serves(f, q->device, q->problem, NULL))
            continue;
        *served = true;
        if (offer_default(out, q, f, records, last))
            return true;
    }
    return false;
}

static gt_status nothing(const struct query *q, size_t records, bool served,
                         const struct reason *last, struct gt_err *err) {
    if (q->worst == GEMMTUNE_MATCH_DEFAULT && !served)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "no kernel family serves %s on %s",
                       q->name, q->device_key);
    return gt_fail(err, GEMMTUNE_ENOTFOUND,
                   "no kernel for %s on %s: %zu records considered%s%s", q->name,
                   q->device_key, records, last->line[0] != '\0' ? ", last refused: " : "",
                   last->line);
}

/* A C without elements is planned as the smallest one: its kernel is never launched. k = 0
 * is asked as it is, since a kernel runs for it and an accept rule may speak of it. */
static gemmtune_problem not_empty(const gemmtune_problem *p) {
    gemmtune_problem q = *p;
    q.m = q.m > 0 ? q.m : 1;
    q.n = q.n > 0 ? q.n : 1;
    return q;
}

gt_status gt_match(struct gt_choice *out, const struct gt_snapshot *snapshot,
                   const struct gt_device *device, const char *device_key,
                   const gemmtune_problem *p, gemmtune_match worst, size_t workspace_max,
                   int64_t pointer_align,
                   bool (*skip)(void *user, const struct gt_choice *c), void *user,
                   struct gt_err *err) {
    struct query q = {.snapshot = snapshot,
                      .device = device,
                      .reckoned = reckoned_as(device),
                      .device_key = device_key,
                      .problem = p,
                      .shape = not_empty(p),
                      .worst = worst,
                      .workspace_max = workspace_max,
                      .pointer_align = pointer_align,
                      .skip = skip,
                      .user = user};
    struct candidate *all;
    size_t count;
    struct reason last = {""};
    bool served = false;
    memset(out, 0, sizeof *out);
    (void)gt_problem_name(p, q.name);
    gt_status status = gather(&all, &count, &q, err);
    if (status != GEMMTUNE_OK)
        return status;
    const bool found = choose_known(out, &q, all, count, &last) ||
                       (worst == GEMMTUNE_MATCH_DEFAULT &&
                        (choose_start(out, &q, count, &last) ||
                         choose_default(out, &q, count, &served, &last)));
    if (!found)
        status = nothing(&q, count, served, &last, err);
    free(all);
    return status;
}
