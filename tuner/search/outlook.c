/* SPDX-License-Identifier: Apache-2.0 */
/* outlook.c - see outlook.h. */
#include "tuner/search/outlook.h"

#include "tuner/base/best.h"
#include "tuner/base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EACH_MAX = 16,
    /* points of a space that the model is asked about; a smaller space is searched
     * completely */
    LOOKS = 8192,
    CLIMBERS = 16, /* the best of those points, from which a climb starts */
    NEAR_MAX = 1024,
    DIFFERING_MIN = 2 /* parameters in which two of the best differ */
};

/* ---- forecasts ---- */

static float ask(struct gt_outlook *o, struct gt_pick p) {
    struct gt_binding *b = &o->bound[p.space];
    struct gt_prediction prediction;
    int64_t values[GT_POINT_MAX];
    gt_space_values(&o->space[p.space], p.index, values);
    return gt_bind_values(b, values, NULL) == GEMMTUNE_OK &&
                   gt_model_predict(&prediction, &o->model[p.space], b, NULL)
               ? (float)prediction.ns
               : NAN;
}

/* The forecast; 0 when the model has none for the point. */
static double expected(struct gt_outlook *o, struct gt_pick p) {
    if (!o->ns || !o->ns[p.space])
        return 0;
    float *ns = &o->ns[p.space][p.index];
    if (*ns == 0)
        *ns = ask(o, p);
    return *ns > 0 ? (double)*ns : 0;
}

double gt_outlook_ns(void *user, const struct gt_pick *pick) {
    return expected(user, *pick);
}

/* ---- the best ---- */

static int differing(const struct gt_space *s, size_t a, size_t b) {
    const size_t params = (size_t)s->params;
    int n = 0;
    for (size_t i = 0; i < params; i++)
        n += s->idx[a * params + i] != s->idx[b * params + i];
    return n;
}

/* The tile of a block. To the model, points with the same tile are about as fast as each
 * other. */
static const enum gt_shape_key tile_keys[] = {
    GT_SHAPE_TILE_M, GT_SHAPE_TILE_N, GT_SHAPE_TILE_K, GT_SHAPE_SPLIT, GT_SHAPE_SLAB};
enum { TILE_KEYS = sizeof tile_keys / sizeof *tile_keys };

/* A point and its tile. */
struct looked {
    size_t index;
    bool has_tile;
    int64_t tile[TILE_KEYS];
};

static struct looked look_at(struct gt_outlook *o, int space, size_t index) {
    struct looked t = {.index = index};
    int64_t values[GT_POINT_MAX], shape[GT_SHAPE_COUNT];
    gt_space_values(&o->space[space], index, values);
    /* Forecasts that were made up have no bindings. */
    t.has_tile = o->bound != NULL &&
                 gt_bind_values(&o->bound[space], values, NULL) == GEMMTUNE_OK &&
                 gt_shape_of(shape, &o->bound[space]);
    for (int i = 0; t.has_tile && i < TILE_KEYS; i++)
        t.tile[i] = shape[tile_keys[i]];
    return t;
}

static bool have_one_tile(const struct looked *a, const struct looked *b) {
    return a->has_tile && b->has_tile && memcmp(a->tile, b->tile, sizeof a->tile) == 0;
}

/* Whether a point is worth a trial beside those chosen. */
static bool is_apart(const struct gt_space *space, const struct looked *point,
                     const struct looked *chosen, int count) {
    bool apart = true;
    for (int i = 0; apart && i < count; i++)
        apart = differing(space, point->index, chosen[i].index) >= DIFFERING_MIN &&
                !have_one_tile(point, &chosen[i]);
    return apart;
}

/* Finds the fastest of the points asked about that is unlike those chosen so far. */
static bool next_best(struct looked *out, struct gt_outlook *o, int space,
                      const struct looked *chosen, int count) {
    const float *ns = o->ns[space];
    bool found = false;
    for (size_t i = 0; i < o->space[space].count; i++) {
        if (!(ns[i] > 0) || (found && ns[i] >= ns[out->index]))
            continue;
        const struct looked point = look_at(o, space, i);
        if (!is_apart(&o->space[space], &point, chosen, count))
            continue;
        *out = point;
        found = true;
    }
    return found;
}

static void look_around(struct gt_outlook *o, int space) {
    const size_t count = o->space[space].count;
    uint64_t state = 0;
    for (size_t i = 0; count <= LOOKS ? i < count : i < LOOKS; i++)
        (void)expected(o, (struct gt_pick){space, count <= LOOKS
                                                      ? i
                                                      : (size_t)gt_random(&state) % count});
}

/* Goes to the best neighbour until no neighbour is better. */
static void climb(struct gt_outlook *o, struct gt_pick from) {
    struct gt_pick near[NEAR_MAX], at = {-1, 0};
    while (from.space != at.space || from.index != at.index) {
        at = from;
        const int n = gt_search_neighbours(near, NEAR_MAX, &o->space[at.space], at, true);
        for (int i = 0; i < n; i++) {
            const double ns = expected(o, near[i]);
            if (ns > 0 && ns < expected(o, from))
                from = near[i];
        }
    }
}

static void look_for_the_best(struct gt_outlook *o, int space) {
    struct looked start[CLIMBERS];
    int n = 0;
    look_around(o, space);
    while (n < CLIMBERS && next_best(&start[n], o, space, start, n))
        n++;
    for (int i = 0; i < n && o->space[space].count > LOOKS; i++)
        climb(o, (struct gt_pick){space, start[i].index});
}

struct looking {
    struct gt_outlook *outlook;
    const gemmtune_problem *problem;
};

static void look_into(void *user, int thread, int64_t first, int64_t end) {
    const struct looking *l = user;
    struct gt_outlook *const o = l->outlook;
    (void)thread;
    for (int i = (int)first; i < end; i++) {
        const struct gt_space *const s = &o->space[i];
        if (!s->family->has_shape || !(o->ns[i] = calloc(s->count + 1, sizeof **o->ns)))
            continue;
        gt_bind_problem(&o->bound[i], s->family, o->device, l->problem);
        gt_model_begin(&o->model[i], &o->bound[i], o->device);
        look_for_the_best(o, i);
    }
}

void gt_outlook_make(struct gt_outlook *out, const struct gt_space *space, int spaces,
                     const struct gt_device *d, const gemmtune_problem *p) {
    const size_t room = (size_t)spaces + 1;
    *out = (struct gt_outlook){.ns = calloc(room, sizeof *out->ns),
                               .bound = calloc(room, sizeof *out->bound),
                               .model = calloc(room, sizeof *out->model),
                               .device = d,
                               .space = space,
                               .spaces = spaces};
    struct looking l = {out, p};
    if (out->ns && out->bound && out->model)
        gt_parallel(look_into, &l, spaces);
}

void gt_outlook_clear(struct gt_outlook *o) {
    for (int i = 0; o->ns && i < o->spaces; i++)
        free(o->ns[i]);
    free(o->ns);
    free(o->bound);
    free(o->model);
    *o = (struct gt_outlook){0};
}

int gt_outlook_best(struct gt_pick *out, int room, int each, struct gt_outlook *o) {
    struct gt_keyed_pick best[GT_OUTLOOK_BEST_MAX];
    int count = 0;
    room = room < GT_OUTLOOK_BEST_MAX ? room : GT_OUTLOOK_BEST_MAX;
    for (int i = 0; o->ns && i < o->spaces; i++) {
        struct looked own[EACH_MAX];
        int n = 0;
        while (o->ns[i] && n < each && n < EACH_MAX && next_best(&own[n], o, i, own, n)) {
            const struct gt_pick pick = {i, own[n++].index};
            const double ns = expected(o, pick);
            struct gt_keyed_pick *place =
                gt_best_place(best, &count, room, sizeof *best, ns);
            if (place != NULL)
                *place = (struct gt_keyed_pick){ns, pick};
        }
    }
    for (int i = 0; i < count; i++)
        out[i] = best[i].pick;
    return count;
}
