/* SPDX-License-Identifier: Apache-2.0 */
/* outlook.c - see outlook.h. */
#include "tuner/outlook.h"

#include "runtime/model.h"

#include <stdlib.h>

enum { EACH_MAX = 16 };

static void fill(float *ns, const struct gt_space *s, const struct gt_device *d,
                 const gemmtune_problem *p) {
    struct gt_binding b;
    struct gt_prediction prediction;
    gt_bind_problem(&b, s->family, d, p);
    for (size_t i = 0; i < s->count; i++) {
        int64_t values[GT_POINT_MAX];
        gt_space_values(s, i, values);
        if (!gt_bind_values(&b, values, NULL) && gt_model_predict(&prediction, &b, d, NULL))
            ns[i] = (float)prediction.ns;
    }
}

void gt_outlook_make(struct gt_outlook *out, const struct gt_space *space, int spaces,
                     const struct gt_device *d, const gemmtune_problem *p) {
    *out = (struct gt_outlook){.ns = calloc((size_t)spaces + 1, sizeof *out->ns),
                               .space = space,
                               .spaces = spaces};
    for (int i = 0; out->ns && i < spaces; i++)
        if (space[i].family->has_shape &&
            (out->ns[i] = calloc(space[i].count + 1, sizeof **out->ns)))
            fill(out->ns[i], &space[i], d, p);
}

void gt_outlook_clear(struct gt_outlook *o) {
    for (int i = 0; o->ns && i < o->spaces; i++)
        free(o->ns[i]);
    free(o->ns);
    *o = (struct gt_outlook){0};
}

static double expected(const struct gt_outlook *o, const struct gt_pick *pick) {
    return o->ns && o->ns[pick->space] ? (double)o->ns[pick->space][pick->index] : 0;
}

double gt_outlook_ns(void *user, const struct gt_pick *pick) {
    return expected(user, pick);
}

static int differing(const struct gt_space *s, size_t a, size_t b) {
    const size_t params = (size_t)s->params;
    int n = 0;
    for (size_t i = 0; i < params; i++)
        n += s->idx[a * params + i] != s->idx[b * params + i];
    return n;
}

/* The fastest that is known, slower than none before it in the list and unlike each of them. */
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

static void insert(struct gt_pick *out, int *count, int room, const struct gt_outlook *o,
                   struct gt_pick p) {
    const double ns = expected(o, &p);
    int at = *count < room ? (*count)++ : room;
    for (; at > 0 && expected(o, &out[at - 1]) > ns; at--)
        if (at < room)
            out[at] = out[at - 1];
    if (at < room)
        out[at] = p;
}

int gt_outlook_best(struct gt_pick *out, int room, int each, const struct gt_outlook *o) {
    int count = 0;
    for (int i = 0; o->ns && i < o->spaces; i++) {
        size_t best[EACH_MAX];
        int n = 0;
        while (o->ns[i] && n < each && n < EACH_MAX &&
               next_best(&best[n], &o->space[i], o->ns[i], best, n)) {
            insert(out, &count, room, o, (struct gt_pick){i, best[n]});
            n++;
        }
    }
    return count;
}
