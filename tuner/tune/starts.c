/* SPDX-License-Identifier: Apache-2.0 */
/* starts.c - see starts.h. */
#include "tuner/tune/starts.h"

#include "runtime/lookup/match.h"
#include "tuner/base/best.h"
#include "tuner/tune/finals.h"
#include "tuner/tune/seeded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FINALISTS = GT_FINALISTS_MAX,
    NEIGHBOURS = 6,
    OTHERS = 4,
    NEARBY_MAX = 16,
    DEVICES_MAX = 64
};
/* by the model: in all, and of one family */
enum { EXPECTED = 16, EXPECTED_PER_FAMILY = 8 };
/* A family's start was the fastest somewhere, and forecasts may be wrong by a quarter. So a
 * start goes before points with forecasts up to a quarter better. */
static const double start_share = 0.8;

/* A point with a longer forecast than so many times the best one is no start. Of the first
 * 60 trials of each of 51 drawn problems on an H200 37 % had such forecasts, and none of
 * them came within a tenth of its winner. */
static const double hopeless = 3;

/* Points that did well for problems with these types and layout, the nearest problem first.
 * Each point is in it once. */
struct nearby {
    int room, count;
    struct gt_keyed_pick at[NEARBY_MAX]; /* the key is the distance */
};
_Static_assert((int)FINALISTS <= (int)NEARBY_MAX && (int)NEIGHBOURS <= (int)NEARBY_MAX &&
                   (int)OTHERS <= (int)NEARBY_MAX,
               "the list is long enough for all");

struct finding {
    struct gt_starts *starts;
    const struct gt_tuner *tuner;
    const struct gt_space *space;
    int spaces;
    const gemmtune_problem *problem;
    char name[GT_PROBLEM_NAME_MAX];  /* the problem's name */
    char plain[GT_PROBLEM_NAME_MAX]; /* its name without epilogue and row_order */
    struct gt_pick answer; /* the point that a lookup gives; index SIZE_MAX: none */
    /* the points that it gives to callers with as much workspace; SIZE_MAX likewise */
    struct gt_pick within[GT_WORKSPACE_LIMITS];
    struct nearby finalists; /* of this problem here, then of `plain` */
    struct nearby own;       /* winners of other problems on this device */
    struct nearby others;    /* winners on the most similar device that has any */
};

static void add(struct gt_starts *s, struct gt_pick p) {
    for (int i = 0; i < s->count; i++)
        if (s->pick[i].space == p.space && s->pick[i].index == p.index)
            return;
    if (s->count < GT_SEARCH_STARTS_MAX)
        s->pick[s->count++] = p;
}

/* Adds the point. False when it is not legal here. */
static bool add_point(struct finding *f, int space, const struct gt_point *point) {
    const struct gt_pick pick = {.space = space,
                                 .index = gt_space_find(&f->space[space], point)};
    if (pick.index != SIZE_MAX)
        add(f->starts, pick);
    return pick.index != SIZE_MAX;
}

static int place_of(const struct nearby *n, struct gt_pick p) {
    int i = 0;
    while (i < n->count &&
           (n->at[i].pick.space != p.space || n->at[i].pick.index != p.index))
        i++;
    return i;
}

static void add_near(struct nearby *n, struct gt_pick p, double distance) {
    const int old = place_of(n, p);
    if (old < n->count) { /* it did well there too: the nearer of the two problems counts */
        if (n->at[old].key <= distance)
            return;
        n->count--;
        memmove(&n->at[old], &n->at[old + 1], (size_t)(n->count - old) * sizeof *n->at);
    }
    struct gt_keyed_pick *place =
        gt_best_place(n->at, &n->count, n->room, sizeof *n->at, distance);
    if (place != NULL)
        *place = (struct gt_keyed_pick){distance, p};
}

static void add_all(struct gt_starts *s, const struct nearby *n) {
    for (int i = 0; i < n->count; i++)
        add(s, n->at[i].pick);
}

/* The space of the family with this name; -1: it is not searched. */
static int space_called(const struct finding *f, const char *family) {
    for (int i = 0; i < f->spaces; i++)
        if (strcmp(f->space[i].family->name, family) == 0)
            return i;
    return -1;
}

static bool locate(struct gt_pick *out, const struct finding *f, const char *family,
                   const struct gt_point *point) {
    out->space = space_called(f, family);
    if (out->space < 0)
        return false;
    out->index = gt_space_find(&f->space[out->space], point);
    return out->index != SIZE_MAX;
}

/* A finalist's place among the problem's finalists and, after them, the finalists of the
 * same problem without its epilogue, which is the same product. -1: it is no finalist of
 * either. */
static int place_of_finalist(const struct finding *f, const struct gt_record_row *row) {
    if (strcmp(row->subject.device_key, f->tuner->device_key) != 0)
        return -1;
    if (strcmp(row->subject.problem, f->name) == 0)
        return row->rank;
    return strcmp(row->subject.problem, f->plain) == 0 ? FINALISTS + row->rank : -1;
}

static gt_status see_record(void *user, const struct gt_record_row *row,
                            struct gt_err *err) {
    struct finding *f = user;
    gemmtune_problem p;
    struct gt_point point;
    struct gt_pick pick;
    (void)err;
    const bool own = strcmp(row->subject.device_key, f->tuner->device_key) == 0;
    const int place = place_of_finalist(f, row);
    if (row->rank != 0 && place < 0)
        return GEMMTUNE_OK;
    if (gt_problem_from_name(&p, row->subject.problem, NULL) != GEMMTUNE_OK ||
        !gt_problem_lends(&p, f->problem))
        return GEMMTUNE_OK;
    if (gt_point_parse(&point, row->subject.point, NULL) != GEMMTUNE_OK ||
        !locate(&pick, f, row->subject.family, &point))
        return GEMMTUNE_OK;
    if (place >= 0)
        add_near(&f->finalists, pick, place);
    else
        add_near(own ? &f->own : &f->others, pick, gt_problem_distance2(&p, f->problem));
    return GEMMTUNE_OK;
}

/* How many doublings lie between two figures; 0 when one of them is unknown. */
static double doublings(double a, double b) {
    return a > 0 && b > 0 ? fabs(log2(a / b)) : 0;
}

/* The distance between two devices. Another arch counts like 16 times the units. */
static double difference(const struct gt_device *a, const struct gt_device *b) {
    const struct gt_dtype *f32 = gt_dtype_by_name("f32", 3);
    const double other_arch = 4;
    return (strcmp(a->arch, b->arch) != 0 || a->backend != b->backend ? other_arch : 0) +
           doublings(gt_device_peak(a, f32), gt_device_peak(b, f32)) +
           doublings(a->units, b->units);
}

/* The other devices of the database, the most similar first. */
struct others {
    const struct gt_tuner *tuner;
    int count;
    struct other {
        double distance;
        char key[GT_DEVICE_KEY_MAX];
    } at[DEVICES_MAX];
};

static gt_status see_device(void *user, const char *key, const struct gt_device *d,
                            struct gt_err *err) {
    struct others *o = user;
    (void)err;
    if (strcmp(key, o->tuner->device_key) == 0 || d->is_cpu != o->tuner->device.is_cpu)
        return GEMMTUNE_OK;
    const double distance = difference(d, &o->tuner->device);
    struct other *place =
        gt_best_place(o->at, &o->count, DEVICES_MAX, sizeof *o->at, distance);
    if (place != NULL) {
        place->distance = distance;
        snprintf(place->key, sizeof place->key, "%s", key);
    }
    return GEMMTUNE_OK;
}

/* Finds the winners of the most similar device that has some for such a problem. */
static gt_status find_others(struct finding *f, struct gt_err *err) {
    struct others o = {.tuner = f->tuner};
    gt_status status = gt_db_devices(f->tuner->db, see_device, &o, err);
    for (int i = 0; status == GEMMTUNE_OK && i < o.count && f->others.count == 0; i++)
        status = gt_db_records(f->tuner->db, o.at[i].key, NULL, see_record, f, err);
    return status;
}

/* Among the legal points that differ from `at` in one parameter, the one with the best
 * forecast. Its index is SIZE_MAX when there is none with a forecast. */
static struct gt_pick best_beside(const struct finding *f, int space, struct gt_point at,
                                  struct gt_outlook *outlook) {
    const struct gt_family *family = f->space[space].family;
    struct gt_pick best = {.space = space, .index = SIZE_MAX};
    double least = INFINITY;
    for (int i = 0; i < at.count; i++) {
        const int64_t own = at.entry[i].value;
        for (int j = 0; j < family->param[i].count; j++) {
            at.entry[i].value = family->param[i].value[j];
            const struct gt_pick pick = {space, gt_space_find(&f->space[space], &at)};
            const double ns = pick.index == SIZE_MAX ? 0 : gt_outlook_ns(outlook, &pick);
            if (ns > 0 && ns < least) {
                least = ns;
                best = pick;
            }
        }
        at.entry[i].value = own;
    }
    return best;
}

/* Adds the starts of a family. Where the rules refuse a start, for example because shared
 * memory is too small, its best neighbour is added. */
static void add_starts(struct finding *f, int space, struct gt_outlook *outlook) {
    const struct gt_family *family = f->space[space].family;
    struct gt_point point;
    for (int i = 0; i < family->start_count; i++) {
        gt_family_start(family, i, &point);
        if (add_point(f, space, &point))
            continue;
        const struct gt_pick near = best_beside(f, space, point, outlook);
        if (near.index != SIZE_MAX)
            add(f->starts, near);
    }
}

/* Adds the points that other tuners found, or only know as defaults. A point that is not
 * legal here becomes the nearest legal one. */
static void add_seeds(struct finding *f, bool named) {
    struct gt_seed seed[GT_SEEDS_MAX];
    const int count =
        f->tuner->seeds == NULL
            ? 0
            : gt_seeds_find(seed, f->tuner->seeds, &f->tuner->device, f->problem);
    for (int i = 0; i < count; i++) {
        const int space = space_called(f, seed[i].family);
        const size_t index = seed[i].named == named && space >= 0
                                 ? gt_seed_place(&seed[i], &f->space[space])
                                 : SIZE_MAX;
        if (index != SIZE_MAX)
            add(f->starts, (struct gt_pick){.space = space, .index = index});
    }
}

static void add_default(struct finding *f, int space) {
    struct gt_point point;
    gt_family_default(f->space[space].family, &point);
    (void)add_point(f, space, &point);
}

static void add_expected(struct gt_starts *s, struct gt_outlook *outlook) {
    struct gt_pick pick[EXPECTED];
    const int count = gt_outlook_best(pick, EXPECTED, EXPECTED_PER_FAMILY, outlook);
    for (int i = 0; i < count; i++)
        add(s, pick[i]);
}

/* The forecast by which picks are sorted; infinite when there is none. */
static double sort_ns(struct gt_outlook *outlook, struct gt_pick pick, bool is_start) {
    const double expected = gt_outlook_ns(outlook, &pick);
    return expected <= 0 ? INFINITY : is_start ? expected * start_share : expected;
}

/* Sorts the picks by the model's forecast. The first `family_starts` picks are starts of
 * families. Picks without a forecast stay last in their order. A large problem's time may
 * be over before the slow families have been tried. */
static void sort_by_outlook(struct gt_starts *s, int family_starts,
                            struct gt_outlook *outlook) {
    struct gt_keyed_pick sorted[GT_SEARCH_STARTS_MAX];
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        const double ns = sort_ns(outlook, s->pick[i], i < family_starts);
        struct gt_keyed_pick *place =
            gt_best_place(sorted, &count, GT_SEARCH_STARTS_MAX, sizeof *sorted, ns);
        *place = (struct gt_keyed_pick){ns, s->pick[i]};
    }
    for (int i = 0; i < count; i++)
        s->pick[i] = sorted[i].pick;
}

/* The best forecast; infinite when there is none. */
static double least_ns(struct gt_outlook *outlook, const struct gt_starts *s) {
    double least = INFINITY;
    for (int i = 0; i < s->count; i++)
        least = fmin(least, sort_ns(outlook, s->pick[i], false));
    return least;
}

static bool has_space(const struct gt_starts *s, int space) {
    bool has = false;
    for (int i = 0; !has && i < s->count; i++)
        has = s->pick[i].space == space;
    return has;
}

/* Leaves out the hopeless ones of sorted picks. The best pick of each family stays: it
 * shows whether forecasts are wrong about the family. */
static void drop_hopeless(struct gt_starts *s, struct gt_outlook *outlook) {
    const double longest = hopeless * least_ns(outlook, s);
    const int count = s->count;
    s->count = 0;
    for (int i = 0; i < count; i++) {
        const struct gt_pick pick = s->pick[i];
        if (!(gt_outlook_ns(outlook, &pick) > longest) || !has_space(s, pick.space))
            s->pick[s->count++] = pick;
    }
}

static bool has_forecast(const struct finding *f, int space, struct gt_outlook *outlook) {
    struct gt_point point;
    gt_family_default(f->space[space].family, &point);
    const struct gt_pick pick = {space, gt_space_find(&f->space[space], &point)};
    return pick.index != SIZE_MAX && gt_outlook_ns(outlook, &pick) > 0;
}

/* Whether the default of a family is tried. Trials that are to teach forecasts are no use
 * to a family that has none where the first family has some: a GPU's on a CPU. */
static bool tries_default(const struct finding *f, int space, struct gt_outlook *outlook) {
    return !f->tuner->teaches || !f->tuner->device.is_cpu || !has_forecast(f, 0, outlook) ||
           has_forecast(f, space, outlook);
}

/* The starts of families, the points with the best forecasts and the defaults, the
 * likeliest to be fast first. On a CPU other families than the first have their defaults
 * alone: their starts are of GPUs, and each takes a second to compile. */
static void find_rest(struct gt_starts *rest, struct finding *f,
                      struct gt_outlook *outlook) {
    struct gt_starts *const all = f->starts;
    const int spaces = f->tuner->device.is_cpu ? 1 : f->spaces;
    rest->count = 0;
    f->starts = rest;
    for (int i = 0; i < spaces; i++)
        add_starts(f, i, outlook);
    if (f->own.count == 0)
        add_seeds(f, false);
    const int family_starts = rest->count;
    add_expected(rest, outlook);
    for (int i = 0; i < f->spaces; i++)
        if (tries_default(f, i, outlook))
            add_default(f, i);
    sort_by_outlook(rest, family_starts, outlook);
    drop_hopeless(rest, outlook);
    f->starts = all;
}

/* Adds the families that tables compare with. They come early, so that even a short search
 * has them, unless one launch takes long. Trials that only teach get no table. */
static void add_baselines(struct finding *f, const struct gt_device *d) {
    enum { SECONDS_MAX = 1 }; /* for a launch */
    if (f->tuner->teaches || gt_pool_slow_seconds(d, f->problem) > SECONDS_MAX)
        return;
    for (int i = 0; i < f->spaces; i++)
        if (f->space[i].family->role != GT_ROLE_NONE)
            add_default(f, i);
}

/* The space of a family; -1: it is not searched. */
static int space_of(const struct finding *f, const struct gt_family *family) {
    for (int i = 0; i < f->spaces; i++)
        if (f->space[i].family == family)
            return i;
    return -1;
}

static bool is_not_searched(void *user, const struct gt_choice *c) {
    return space_of(user, c->family) < 0;
}

/* The point that a lookup gives, and the workspace that it *needs; its index is SIZE_MAX
 * when there is none. */
static struct gt_pick looked_up(int64_t *needs, struct finding *f,
                                const struct gt_snapshot *snapshot, gemmtune_match worst,
                                size_t workspace_max) {
    const struct gt_tuner *t = f->tuner;
    struct gt_pick pick = {.index = SIZE_MAX};
    struct gt_choice choice;
    const struct gt_query query = {.snapshot = snapshot,
                                   .device = &t->device,
                                   .device_key = t->device_key,
                                   .problem = f->problem,
                                   .worst = worst,
                                   .workspace_max = workspace_max,
                                   .pointer_align = GT_VECTOR_BYTES,
                                   .skip = is_not_searched,
                                   .user = f};
    *needs = 0;
    if (gt_match(&choice, &query, NULL) != GEMMTUNE_OK)
        return pick;
    *needs = choice.fit.passes.workspace_bytes;
    pick.space = space_of(f, choice.family);
    pick.index = gt_space_find(&f->space[pick.space], &choice.point);
    return pick;
}

/* Finds the points that a lookup gives to callers who have less workspace than its answer
 * without a limit needs. */
static void find_within(struct finding *f, const struct gt_snapshot *snapshot) {
    int64_t most, needs;
    (void)looked_up(&most, f, snapshot, GEMMTUNE_MATCH_DEFAULT, SIZE_MAX);
    for (int i = 0; i < GT_WORKSPACE_LIMITS; i++)
        if (most > gt_workspace_limits[i])
            f->within[i] = looked_up(&needs, f, snapshot, GEMMTUNE_MATCH_DEFAULT,
                                     (size_t)gt_workspace_limits[i]);
}

/* Finds the kernel that a lookup of the problem would adapt from another problem's record,
 * and its answers to callers with little workspace. */
static gt_status find_answers(struct finding *f, struct gt_err *err) {
    const struct gt_tuner *t = f->tuner;
    struct gt_known *known = NULL;
    struct gt_snapshot snapshot = {.families = t->families};
    int64_t stale, needs;
    f->answer.index = SIZE_MAX;
    for (int i = 0; i < GT_WORKSPACE_LIMITS; i++)
        f->within[i].index = SIZE_MAX;
    const gt_status status = gt_known_load(&known, &snapshot.count, &stale, t->db,
                                           t->families, t->device.arch, err);
    snapshot.known = known;
    if (status == GEMMTUNE_OK) {
        f->answer = looked_up(&needs, f, &snapshot, GEMMTUNE_MATCH_ARCH, SIZE_MAX);
        find_within(f, &snapshot);
    }
    free(known);
    return status;
}

/* Adds the pick that is likeliest to be fast, so that a search without time has more than
 * the slow ones. */
static void add_likeliest(struct finding *f, const struct gt_starts *rest,
                          struct gt_outlook *outlook) {
    if (f->finalists.count > 0)
        add(f->starts, f->finalists.at[0].pick);
    else if (f->answer.index != SIZE_MAX)
        add(f->starts, f->answer);
    else if (rest->count > 0 && gt_outlook_ns(outlook, &rest->pick[0]) > 0)
        add(f->starts, rest->pick[0]);
    else if (f->own.count > 0)
        add(f->starts, f->own.at[0].pick);
}

gt_status gt_starts_find(struct gt_starts *out, const struct gt_tuner *t,
                         const struct gt_space *space, int spaces,
                         struct gt_outlook *outlook, const gemmtune_problem *p,
                         struct gt_err *err) {
    struct finding f = {.starts = out,
                        .tuner = t,
                        .space = space,
                        .spaces = spaces,
                        .problem = p,
                        .finalists = {.room = FINALISTS},
                        .own = {.room = NEIGHBOURS},
                        .others = {.room = OTHERS}};
    struct gt_starts rest;
    gemmtune_problem plain = gt_problem_plain(p);
    plain.row_order = 0;
    gt_problem_name(p, f.name);
    gt_problem_name(&plain, f.plain);
    out->count = 0;
    gt_status status = gt_db_records(t->db, t->device_key, NULL, see_record, &f, err);
    if (status == GEMMTUNE_OK)
        status = find_others(&f, err);
    if (status == GEMMTUNE_OK)
        status = find_answers(&f, err);
    find_rest(&rest, &f, outlook);
    add_default(&f, 0);
    add_baselines(&f, &t->device);
    add_likeliest(&f, &rest, outlook);
    out->required = out->count;
    add_all(out, &f.finalists);
    add_all(out, &f.own);
    add_all(out, &f.others);
    if (f.finalists.count == 0)
        add_seeds(&f, true);
    for (int i = 0; i < GT_WORKSPACE_LIMITS && !t->device.is_cpu; i++)
        if (f.within[i].index != SIZE_MAX)
            add(out, f.within[i]);
    for (int i = 0; i < rest.count; i++)
        add(out, rest.pick[i]);
    return status;
}
