/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.c - which stored record serves a problem. The order of preference is here and only
 * here:
 *
 *     EXACT    the very problem, measured and verified on this device; by rank
 *     SHAPE    other sizes of the same types and layout, verified on this device: nearest
 *              first, distance being Euclidean in (log2 m, log2 n, log2 k); then by rank
 *     ARCH     another device of this architecture, or rows of this device that were
 *              measured elsewhere (merged, imported): this problem first, then as SHAPE
 *     DEFAULT  the families' default points, by family rank
 *
 * Whatever is preferred must be able to run: its rules, the problem's alignment, the launch
 * limits and the workspace are asked before speed is. No device, no file, no lock.
 */
#include "runtime/match.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACE_MAX = 128
}; /* bytes of "where" in a why line; fits why with a name and numbers */

struct query {
    const struct gt_snapshot *snapshot;
    const struct gt_device *device;
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
    bool other_name;  /* not the very problem */
    double distance2; /* squared, in log2 of the sizes */
};

/* ---- candidates ------------------------------------------------------------------ */

/* Whether the record may be thought of at all, and how good it would be. */
static bool classify(struct candidate *out, const struct query *q,
                     const struct gt_known *known) {
    const bool mine = strcmp(known->device_key, q->device_key) == 0;
    const bool here = mine && known->verified;
    if (!gt_problem_same_kind(&known->problem, q->problem))
        return false;
    if (!mine && strcmp(known->arch, q->device->arch) != 0)
        return false;
    out->known = known;
    out->other_name = strcmp(known->problem_name, q->name) != 0;
    out->distance2 = gt_problem_distance2(&known->problem, q->problem);
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
        o = order(x->distance2, y->distance2);
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

/* Why the point of the family may not run what is asked. *workspace: the bytes it needs. */
static struct reason against(int64_t *workspace, const struct query *q,
                             const struct gt_family *f, const struct gt_point *point) {
    struct gt_binding b;
    struct gt_launch launch;
    struct gt_err err = {""};
    const char *why = NULL;
    if (!gt_family_serves(f, q->device, q->problem, &why))
        return because(why);
    gt_bind_problem(&b, f, q->device, &q->shape);
    gt_bind_align(&b, &q->shape, q->pointer_align);
    if (gt_bind_point(&b, point, &err) != GEMMTUNE_OK)
        return because(err.line);
    const struct gt_rule *rule = gt_refused(&b);
    if (rule != NULL)
        return because(rule->why);
    why = gt_not_accepted(&b);
    if (why != NULL)
        return because(why);
    if (gt_launch_of(&launch, &b, q->device, &err) != GEMMTUNE_OK)
        return because(err.line);
    *workspace = launch.workspace_bytes;
    if ((uint64_t)launch.workspace_bytes > q->workspace_max)
        return because("it needs more workspace than is allowed");
    return because("");
}

/* Fills the choice and asks whether it runs and was not turned down before. */
static bool suits(struct gt_choice *out, const struct query *q, struct reason *last) {
    const struct reason r = against(&out->workspace_bytes, q, out->family, &out->point);
    if (r.line[0] != '\0') {
        *last = r;
        return false;
    }
    if (q->skip != NULL && q->skip(q->user, out)) {
        *last = because("it did not build before");
        return false;
    }
    return true;
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

static void explain(struct gt_choice *out, const struct query *q, const struct candidate *c,
                    size_t peers) {
    char place[PLACE_MAX];
    where(place, q, c->known);
    if (c->other_name)
        (void)snprintf(out->why, sizeof out->why,
                       "tuned %s for %.64s, nearest of %zu in log size (distance %.2f)",
                       place, c->known->problem_name, peers, sqrt(c->distance2));
    else
        (void)snprintf(out->why, sizeof out->why, "tuned %s for this very problem, rank %d",
                       place, c->known->rank);
}

/* ---- the choice ------------------------------------------------------------------ */

/* How many candidates stand beside c: of its quality, and not the very problem either. */
static size_t peers_of(const struct candidate *c, const struct candidate *all,
                       size_t count) {
    size_t peers = 0;
    for (size_t i = 0; i < count; i++)
        peers += all[i].match == c->match && all[i].other_name == c->other_name;
    return peers;
}

static bool choose_known(struct gt_choice *out, const struct query *q,
                         const struct candidate *all, size_t count, struct reason *last) {
    for (size_t i = 0; i < count; i++) {
        out->match = all[i].match;
        out->known = all[i].known;
        out->family = all[i].known->family;
        out->point = all[i].known->point;
        explain(out, q, &all[i], peers_of(&all[i], all, count));
        if (suits(out, q, last))
            return true;
    }
    return false;
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
                   : records == 0 ? "nothing of its types and layout was tuned for this "
                                    "architecture"
                                  : "no tuned kernel may run this problem");
    return suits(out, q, last);
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
    const bool found =
        choose_known(out, &q, all, count, &last) ||
        (worst == GEMMTUNE_MATCH_DEFAULT && choose_default(out, &q, count, &served, &last));
    if (!found)
        status = nothing(&q, count, served, &last, err);
    free(all);
    return status;
}
