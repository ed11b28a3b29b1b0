/* SPDX-License-Identifier: Apache-2.0 */
/* duels.c - see duels.h. */
#include "runtime/lookup/duels.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- reading ---- */

static gt_status take(void *user, const struct gt_rival_row *row, struct gt_err *err) {
    struct gt_duels *duels = user;
    const size_t n = duels->count;
    if ((n & (n - 1)) == 0) { /* a power of two, or 0: the array is full */
        struct gt_duel *grown =
            realloc(duels->item, (n == 0 ? 1 : 2 * n) * sizeof *duels->item);
        if (grown == NULL)
            return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        duels->item = grown;
    }
    struct gt_duel *const d = &duels->item[duels->count++];
    *d = (struct gt_duel){.kernel = gt_db_subject_key(&row->subject),
                          .workspace = row->workspace,
                          .version = row->version,
                          .rounds = row->rounds,
                          .verdict = row->verdict,
                          .is_local = row->is_local,
                          .measured_ms = row->measured_ms,
                          .ours_ns = row->ours_ns,
                          .rival_ns = row->rival_ns,
                          .ratio = row->ratio,
                          .ratio_low = row->ratio_low,
                          .ratio_high = row->ratio_high};
    (void)snprintf(d->library, sizeof d->library, "%s", row->library);
    return GEMMTUNE_OK;
}

static int by_kernel(const void *a, const void *b) {
    const struct gt_duel *x = a, *y = b;
    return (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

gt_status gt_duels_load(struct gt_duels *out, struct gt_db *db, const char *device_key,
                        struct gt_err *err) {
    *out = (struct gt_duels){NULL, 0};
    const gt_status status = gt_db_rivals(db, device_key, NULL, take, out, err);
    if (status != GEMMTUNE_OK)
        gt_duels_clear(out);
    if (out->count > 1)
        qsort(out->item, out->count, sizeof *out->item, by_kernel);
    return status;
}

void gt_duels_clear(struct gt_duels *duels) {
    free(duels->item);
    *duels = (struct gt_duels){NULL, 0};
}

/* ---- finding ---- */

size_t gt_duels_of(const struct gt_duel **first, const struct gt_duels *all,
                   uint64_t kernel) {
    size_t low = 0, high = all->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (all->item[middle].kernel < kernel)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < all->count && all->item[high].kernel == kernel;)
        high++;
    *first = high > low ? &all->item[low] : NULL;
    return high - low;
}

/* The version of the newest duel that the caller has room for; 0: there is none. */
static int newest_version(const struct gt_duel *duel, size_t count, uint64_t bytes) {
    const struct gt_duel *newest = NULL;
    for (size_t i = 0; i < count; i++)
        if ((uint64_t)duel[i].workspace <= bytes &&
            (newest == NULL || duel[i].measured_ms > newest->measured_ms))
            newest = &duel[i];
    return newest != NULL ? newest->version : 0;
}

/* Whether `a` counts before `b`, of duels with one version. */
static bool goes_before(const struct gt_duel *a, const struct gt_duel *b) {
    if (a->workspace != b->workspace)
        return a->workspace > b->workspace;
    if (a->is_local != b->is_local)
        return a->is_local;
    if ((a->verdict == GT_NOISY) != (b->verdict == GT_NOISY))
        return a->verdict == GT_NOISY;
    return a->ratio < b->ratio;
}

const struct gt_duel *gt_duels_pick(const struct gt_duel *duel, size_t count, int version,
                                    size_t workspace_max) {
    const struct gt_duel *best = NULL;
    const int wanted = version != 0 ? version : newest_version(duel, count, workspace_max);
    for (size_t i = 0; i < count; i++)
        if (duel[i].version == wanted && (uint64_t)duel[i].workspace <= workspace_max &&
            (best == NULL || goes_before(&duel[i], best)))
            best = &duel[i];
    return best;
}
