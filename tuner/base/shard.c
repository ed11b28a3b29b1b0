/* SPDX-License-Identifier: Apache-2.0 */
/* shard.c - see shard.h. */
#include "tuner/base/shard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SEARCH_MS: a normal search on a GPU. flops_a_ms: so many operations add one millisecond
 * of set-up and finals. */
enum { SEARCH_MS = 5000 };
static const double flops_a_ms = 2e8;
static const double cost_max = 1e12; /* the sum over a sweep fits 64 bits */

/* Digits alone: no sign, no blank. Stops after them. */
static bool read_number(int64_t *out, const char **text) {
    const size_t digits = strspn(*text, "0123456789");
    *out = digits > 0 && digits < 10 ? strtoll(*text, NULL, 10) : 0;
    *text += digits;
    return *out > 0;
}

bool gt_shard_parse(struct gt_shard *out, const char *text) {
    if (!read_number(&out->index, &text) || *text++ != '/' ||
        !read_number(&out->count, &text) || *text != '\0')
        return false;
    return out->index <= out->count && out->count <= GT_SHARDS_MAX;
}

int64_t gt_sweep_cost(const struct gt_sweep_item *item, bool by_weight) {
    const double cost = by_weight
                            ? 1e3 * item->weight
                            : SEARCH_MS + gt_problem_flops(&item->problem) / flops_a_ms;
    return (int64_t)fmin(fmax(cost, 1), cost_max);
}

/* ---- order ---- */

struct entry {
    int64_t cost;
    const char *name;
    size_t index;
};

static int by_cost(const void *a, const void *b) {
    const struct entry *one = a, *other = b;
    if (one->cost != other->cost)
        return one->cost > other->cost ? -1 : 1;
    return strcmp(one->name, other->name);
}

gt_status gt_sweep_order(size_t **out, const struct gt_sweep *s, bool by_weight,
                         struct gt_err *err) {
    struct entry *entry = calloc(s->count + 1, sizeof *entry);
    *out = calloc(s->count + 1, sizeof **out);
    const bool enough = entry != NULL && *out != NULL;
    for (size_t i = 0; enough && i < s->count; i++)
        entry[i] =
            (struct entry){gt_sweep_cost(&s->item[i], by_weight), s->item[i].name, i};
    if (enough)
        qsort(entry, s->count, sizeof *entry, by_cost);
    for (size_t i = 0; enough && i < s->count; i++)
        (*out)[i] = entry[i].index;
    free(entry);
    if (enough)
        return GEMMTUNE_OK;
    free(*out);
    *out = NULL;
    return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to order %zu problems", s->count);
}

/* ---- division ---- */

static size_t least(const int64_t *load, size_t count) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (load[i] < load[best])
            best = i;
    return best;
}

/* Gives every problem to a shard. owner[i]: the shard of problem i. `load`: the costs of
 * the shards. */
static void divide(size_t *owner, int64_t *load, size_t shards, const size_t *order,
                   const struct gt_sweep *s, bool by_weight) {
    for (size_t i = 0; i < s->count; i++) {
        const size_t to = least(load, shards);
        owner[order[i]] = to;
        load[to] += gt_sweep_cost(&s->item[order[i]], by_weight);
    }
}

static void keep(struct gt_sweep *s, const size_t *owner, size_t own) {
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (owner[i] == own)
            s->item[kept++] = s->item[i];
    s->count = kept;
}

gt_status gt_sweep_keep_shard(double *share, struct gt_sweep *s,
                              const struct gt_shard *shard, bool by_weight,
                              struct gt_err *err) {
    const size_t shards = (size_t)shard->count, own = (size_t)shard->index - 1;
    size_t *order = NULL, *owner = calloc(s->count + 1, sizeof *owner);
    int64_t *load = calloc(shards, sizeof *load);
    double whole = 0;
    gt_status status =
        owner != NULL && load != NULL
            ? gt_sweep_order(&order, s, by_weight, err)
            : gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu shards", shards);
    *share = 1;
    if (status != GEMMTUNE_OK)
        goto done;
    divide(owner, load, shards, order, s, by_weight);
    keep(s, owner, own);
    for (size_t i = 0; i < shards; i++)
        whole += (double)load[i];
    if (whole > 0)
        *share = (double)load[own] / whole;
done:
    free(order);
    free(owner);
    free(load);
    return status;
}
