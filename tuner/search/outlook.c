/* SPDX-License-Identifier: Apache-2.0 */
/* outlook.c - see outlook.h. */
#include "tuner/search/outlook.h"

#include "runtime/model.h"
#include "tuner/base/best.h"

#include <math.h>
#include <stdlib.h>

enum {
    EACH_MAX = 16,
    /* points of a space that the model is asked about; a smaller space is searched
     * completely */
    LOOKS = 8192,
    CLIMBERS = 16, /* the best of those points, from which a climb starts */
    NEAR_MAX = 1024
};

/* ---- forecasts ---- */

static float ask(struct gt_outlook *o, struct gt_pick p) {
    struct gt_binding *b = &o->bound[p.space];
    struct gt_prediction prediction;
    int64_t values[GT_POINT_MAX];
    gt_space_values(&o->space[p.space], p.index, values);
    return gt_bind_values(b, values, NULL) == GEMMTUNE_OK &&
                   gt_model_predict(&prediction, b, o->device, NULL)
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

/* Finds the fastest of the points asked about that is unlike each one taken so far. */
static bool next_best(size_t *out, const struct gt_space *s, const float *ns,
                      const size_t *taken, int count) {
    bool found = false;
    for (size_t i = 0; i < s->count; i++) {
        bool apart = ns[i] > 0 && (!found || ns[i] < ns[*out]);
        for (int j = 0; apart && j < count; j++)
            apart = differing(s, i, taken[j]) >= 2;
        if (!apart)
            continue;
        *out = i;
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
    size_t start[CLIMBERS];
    int n = 0;
    look_around(o, space);
    while (n < CLIMBERS && next_best(&start[n], &o->space[space], o->ns[space], start, n))
        n++;
    for (int i = 0; i < n && o->space[space].count > LOOKS; i++)
        climb(o, (struct gt_pick){space, start[i]});
}

void gt_outlook_make(struct gt_outlook *out, const struct gt_space *space, int spaces,
                     const struct gt_device *d, const gemmtune_problem *p) {
    const size_t room = (size_t)spaces + 1;
    *out = (struct gt_outlook){.ns = calloc(room, sizeof *out->ns),
                               .bound = calloc(room, sizeof *out->bound),
                               .device = d,
                               .space = space,
                               .spaces = spaces};
    for (int i = 0; out->ns && out->bound && i < spaces; i++)
        if (space[i].family->has_shape &&
            (out->ns[i] = calloc(space[i].count + 1, sizeof **out->ns))) {
            gt_bind_problem(&out->bound[i], space[i].family, d, p);
            look_for_the_best(out, i);
        }
}

void gt_outlook_clear(struct gt_outlook *o) {
    for (int i = 0; o->ns && i < o->spaces; i++)
        free(o->ns[i]);
    free(o->ns);
    free(o->bound);
    *o = (struct gt_outlook){0};
}

int gt_outlook_best(struct gt_pick *out, int room, int each, struct gt_outlook *o) {
    struct gt_keyed_pick best[GT_OUTLOOK_BEST_MAX];
    int count = 0;
    room = room < GT_OUTLOOK_BEST_MAX ? room : GT_OUTLOOK_BEST_MAX;
    for (int i = 0; o->ns && i < o->spaces; i++) {
        size_t own[EACH_MAX];
        int n = 0;
        while (o->ns[i] && n < each && n < EACH_MAX &&
               next_best(&own[n], &o->space[i], o->ns[i], own, n)) {
            const struct gt_pick pick = {i, own[n++]};
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
