/* SPDX-License-Identifier: Apache-2.0 */
/* tuned.c - see tuned.h. */
#include "tuner/tune/tuned.h"

#include "core/clock.h"
#include "core/hash.h"
#include "tuner/tune/finals.h"
#include "tuner/tune/row_order.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Hashes the names and sources of all families that a search of the problem looks through.
 * After a change of a source, or with one more family, the problem is searched again. A
 * search within a workspace counts for this workspace alone. */
static void hash_families(char hex[65], const struct gt_tuner *t,
                          const gemmtune_problem *p) {
    const struct gt_family *f;
    struct gt_hash h;
    char limit[40];
    gt_hash_init(&h);
    for (size_t i = 0; (f = gt_families_at(t->families, i)) != NULL; i++)
        if (gt_tune_wants(t, f) && gt_family_serves(f, &t->device, p, NULL)) {
            gt_hash_add_text(&h, f->name);
            gt_hash_add_text(&h, f->hash);
        }
    if (t->limits_workspace) {
        (void)snprintf(limit, sizeof limit, "workspace %" PRId64, t->workspace_max);
        gt_hash_add_text(&h, limit);
    }
    gt_hash_hex(&h, hex);
}

static struct gt_tuning describe(char families[65], const struct gt_tuner *t,
                                 const struct gt_sweep_item *item, double seconds) {
    const bool limited = t->effort->trials < (size_t)INT64_MAX;
    hash_families(families, t, &item->problem);
    return (struct gt_tuning){
        .device_key = t->device_key,
        .problem = item->name,
        .families = families,
        .trials = limited ? (int64_t)t->effort->trials : INT64_MAX,
        .limit_ms = seconds > 0 && seconds < 1e9 ? (int64_t)(1e3 * seconds) : INT64_MAX,
    };
}

/* Whether the problem has been tuned with t->effort and `seconds` of search (0: no limit)
 * or more. If so, its stored records are the result. */
static gt_status find(bool *found, struct gt_tune_result *result, const struct gt_tuner *t,
                      const struct gt_sweep_item *item, double seconds,
                      struct gt_err *err) {
    char families[65];
    const double began = gt_seconds();
    const struct gt_tuning least = describe(families, t, item, seconds);
    gt_status status = gt_db_tuning_find(found, t->db, &least, err);
    if (status == GEMMTUNE_OK && *found)
        status = gt_finals_recall(found, result, t, item, err);
    result->before = *found;
    result->seconds = gt_seconds() - began;
    return status;
}

gt_status gt_tuned_find_all(struct gt_tune_result *result, struct gt_budget *budget,
                            struct gt_tuner *t, struct gt_err *err) {
    const struct gt_sweep *s = budget->sweep;
    gt_status status = gt_tune_recall_orders(t, s, err);
    for (size_t i = 0; i < s->count && status == GEMMTUNE_OK; i++) {
        bool found = false;
        status =
            find(&found, &result[i], t, &s->item[i], gt_budget_promised(budget, i), err);
        budget->given[i] = found;
        if (!found)
            memset(&result[i], 0, sizeof result[i]);
    }
    return status;
}

gt_status gt_tuned_note(const struct gt_tune_result *result, const struct gt_tuner *t,
                        const struct gt_sweep_item *item, double seconds,
                        struct gt_err *err) {
    char families[65];
    const struct gt_tuning tuning = describe(families, t, item, seconds);
    const bool ended = result->error[0] == '\0' && result->winners > 0 &&
                       result->tried_elsewhere == 0 && result->abandoned == 0 && !*t->stop;
    return ended ? gt_db_tuning_put(t->db, &tuning, err) : GEMMTUNE_OK;
}
