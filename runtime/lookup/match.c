/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.c - the choice of a kernel for a problem. The order of preference is the order of
 * enum gt_preference:
 *
 *     EXACT    records of this problem, measured and verified on this device; by rank
 *     ARCH     records of this problem with this device's key, measured elsewhere (merged,
 *              imported); by rank
 *     SHAPE    for a problem with an epilogue, records of the same product without one or
 *              with another; the most alike one first
 *     SHAPE    records of other problems with this device's key; by forecast. ARCH for a
 *              record that was measured elsewhere
 *     ARCH     records of this problem on another device of the architecture; by rank
 *     ARCH     records of other problems there; by forecast
 *     DEFAULT  the families' starts and default points: by forecast, without one by rank
 *
 * A caller that asks for SHAPE at worst gets no kernel that was measured elsewhere.
 *
 * Where a problem allows other arithmetic than strict, its own records compete with the
 * records of the strict problem, by time.
 *
 * A kernel must be able to run (fit.h) within the caller's workspace; this is checked
 * before its speed is considered. Where the problem's winner needs more than the caller has
 * and a record that needs nothing is left, forecasts compete with that one, by time: the
 * caller's workspace may be of a size for which no finals were held, or that record may be
 * older than kernels that are faster without a workspace. No device, no file, no lock.
 */
#include "runtime/lookup/lock.h"
#include "runtime/lookup/match_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Expected losses. The expected loss of a forecast grows with the square of its doubt
 * (match_options.c): problems that were hidden among others lost 1.4 % at doubts of 0.06,
 * drawn ones 10 % at 0.15. It is at least the difference that finals cannot see. A kernel
 * of a similar device is assumed to lose about as much as a start. A kernel that was tuned
 * without the epilogue, or with another one, is assumed to lose little.
 */
static const double loss_least = 0.01;
static const double loss_of_doubt2 = 4.5;
static const double loss_on_other_device = 0.1;
static const double loss_of_epilogue = 0.03;
/* A kernel that was measured gives way to a forecast that is shorter by this part. Of
 * callers without workspace only one gives way that takes `much_longer` than the winner
 * with workspace, and to a forecast with a larger lead. */
static const double lead_of_forecast = 0.05;
static const double lead_over_winner = 0.4;
static const double much_longer = 2;

/* ---- candidates ------------------------------------------------------------------ */

/* Whether the choice may run and was not rejected before. Fills in its fit. */
static bool suits(struct gt_choice *out, const struct gt_lookup *l, struct gt_err *last) {
    int64_t values[GT_POINT_MAX];
    if (gt_point_values(values, out->family, &out->point, last) != GEMMTUNE_OK ||
        !gt_lookup_fits(&out->fit, l, out->family, values, last))
        return false;
    if (l->query.skip == NULL || !l->query.skip(l->query.user, out))
        return true;
    (void)gt_fail(last, GEMMTUNE_EBUILD, "it did not build before, or was not built");
    return false;
}

/* ---- the choice ------------------------------------------------------------------ */

/* The expected loss of an option: its doubt and, when better ones did not suit, how much
 * slower its forecast is than theirs. */
static double loss_of(const struct gt_forecasts *all, int i) {
    const struct gt_forecast *o = &all->item[i];
    const double own = fmin(loss_of_doubt2 * o->doubt * o->doubt, GT_LOSS_UNKNOWN);
    const double behind = o->ns / fmin(all->item[0].ns, o->ns);
    return fmax((1 + own) * behind - 1, loss_least);
}

/* The first option that suits. */
static bool choose_option(struct gt_choice *out, const struct gt_lookup *l,
                          struct gt_forecasts *all, size_t tuned, struct gt_err *last) {
    if (all->last.line[0] != '\0')
        *last = all->last;
    for (int i = 0; i < all->count; i++) {
        const struct gt_forecast *o = &all->item[i];
        out->match = o->from != NULL ? o->from->match : GEMMTUNE_MATCH_DEFAULT;
        out->known = o->from != NULL ? o->from->known : NULL;
        out->family = o->family;
        out->forecast_ns = o->ns;
        out->expected_loss = loss_of(all, i);
        gt_forecast_point(&out->point, o);
        if (o->from != NULL)
            gt_explain_record(out, l, o, all->count);
        else
            gt_explain_start(out, l, o, all->count, tuned);
        if (suits(out, l, last))
            return true;
    }
    return false;
}

/* The record's kernel as it is. */
static void take_record(struct gt_choice *out, const struct gt_near *near, double loss) {
    out->match = near->match;
    out->known = near->known;
    out->family = near->known->family;
    gt_known_point(&out->point, near->known);
    out->forecast_ns = 0;
    out->expected_loss = loss;
}

/*
 * Chooses among records of the same product without the epilogue or with another one, as
 * they are: the model does not know what an epilogue costs a tile, so a forecast of changed
 * points would be worse than the kernel that was measured.
 */
static bool choose_same_product(struct gt_choice *out, const struct gt_lookup *l,
                                const struct gt_near *group, size_t count,
                                struct gt_err *last) {
    struct gt_near same[GT_NEAR_MAX];
    bool found = false;
    count = gt_near_same_product(same, group, count, l->query.problem);
    for (size_t i = 0; !found && i < count; i++) {
        take_record(out, &same[i],
                    gt_near_is_mine(l, same[i].known) ? loss_of_epilogue
                                                      : loss_on_other_device);
        gt_explain_same_product(out, l, &same[i]);
        found = suits(out, l, last);
    }
    return found;
}

/* Chooses among the nearest of equally preferred records of other problems. */
static bool choose_other(struct gt_choice *out, const struct gt_lookup *l,
                         struct gt_forecasts *all, const struct gt_near *group,
                         size_t count, struct gt_err *last) {
    if (l->query.problem->epilogue != NULL &&
        choose_same_product(out, l, group, count, last))
        return true;
    gt_forecasts_make(all, group, count, false);
    return choose_option(out, l, all, count, last);
}

/* Chooses among records of this problem: the first that suits. */
static bool choose_same(struct gt_choice *out, const struct gt_lookup *l,
                        const struct gt_near *group, size_t count, struct gt_err *last) {
    bool found = false;
    for (size_t i = 0; !found && i < count; i++) {
        take_record(out, &group[i],
                    group[i].preference == GT_SAME_ARCH ? loss_on_other_device : 0);
        gt_explain_exact(out, l, &group[i]);
        found = suits(out, l, last);
    }
    return found;
}

/* Answers with the strict kernel of the same product instead, when that was tuned as well
 * and took less time. `out` is of the query's own arithmetic. */
static gt_status prefer_strict(struct gt_choice *out, const struct gt_lookup *l,
                               struct gt_err *last, struct gt_err *err) {
    gemmtune_problem p = *l->query.problem;
    struct gt_lookup strict = *l;
    struct gt_choice other;
    struct gt_match_walk walk;
    struct gt_near *group;
    p.math = GEMMTUNE_MATH_STRICT;
    strict.query.problem = &p;
    (void)gt_problem_name(&p, strict.name);
    const gt_status status = gt_match_walk_begin(&walk, &strict, err);
    if (status == GEMMTUNE_OK && gt_match_walk_same(&group, &walk) > 0 &&
        group->known->median_ns < out->known->median_ns &&
        gt_near_computes_alike(group->known, l->query.problem) &&
        choose_same(&other, l, group, 1, last))
        *out = other;
    gt_match_walk_end(&walk);
    return status;
}

static bool is_other(enum gt_preference p) {
    return p == GT_OTHER_KEY || p == GT_OTHER_ARCH;
}

/* Room for forecasts, which a lookup of a tuned problem does not need. */
static gt_status need_options(struct gt_forecasts **options, const struct gt_lookup *l,
                              struct gt_err *err) {
    if (*options == NULL)
        *options = malloc(sizeof **options);
    if (*options == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    (*options)->lookup = l;
    return GEMMTUNE_OK;
}

/* Chooses among records of one preference. */
static gt_status choose_in_group(bool *found, struct gt_choice *out,
                                 const struct gt_lookup *l, struct gt_forecasts **options,
                                 const struct gt_near *group, size_t count,
                                 struct gt_err *last, struct gt_err *err) {
    const bool other = is_other(group->preference);
    const gt_status status = other ? need_options(options, l, err) : GEMMTUNE_OK;
    if (status == GEMMTUNE_OK)
        *found = other ? choose_other(out, l, *options, group, count, last)
                       : choose_same(out, l, group, count, last);
    return status == GEMMTUNE_OK && *found && !other &&
                   l->query.problem->math != GEMMTUNE_MATH_STRICT
               ? prefer_strict(out, l, last, err)
               : status;
}

/* Whether the choice, of the problem's own records, may be far from the best, because the
 * winner needs more workspace than there is: it makes no use of what the caller has, or the
 * caller has nothing and it takes much longer than the winner. */
static bool is_cramped(const struct gt_choice *c, const struct gt_lookup *l,
                       const struct gt_near *group) {
    return !is_other(group->preference) && c->fit.passes.workspace_bytes == 0 &&
           c->known != group->known && gt_lookup_lacks_room(l, group->known) &&
           (l->query.workspace_max > 0 ||
            c->known->median_ns > much_longer * group->known->median_ns);
}

/* A forecast must be this many times shorter than the record. A caller without workspace
 * has the winner of a search, which has seen most of the candidates. */
static double lead_over(const struct gt_lookup *l) {
    return 1 + (l->query.workspace_max > 0 ? lead_of_forecast : lead_over_winner);
}

/* The time that is expected of a choice out of a record. */
static double expected_ns(const struct gt_choice *c) {
    return c->forecast_ns > 0 ? c->forecast_ns * (1 + c->expected_loss)
                              : c->known->median_ns;
}

/* Chooses a start by forecast. */
static bool choose_start(struct gt_choice *out, const struct gt_lookup *l,
                         struct gt_forecasts *options, size_t tuned, struct gt_err *last) {
    gt_forecasts_make(options, NULL, 0, true);
    return choose_option(out, l, options, tuned, last);
}

/* Answers with `cramped`, or with a start that has a shorter forecast. */
static gt_status prefer_start(struct gt_choice *out, const struct gt_choice *cramped,
                              const struct gt_lookup *l, struct gt_forecasts **options,
                              size_t tuned, struct gt_err *last, struct gt_err *err) {
    struct gt_choice other = {.known = NULL};
    *out = *cramped;
    if (l->query.worst < GEMMTUNE_MATCH_DEFAULT)
        return GEMMTUNE_OK;
    const gt_status status = need_options(options, l, err);
    if (status == GEMMTUNE_OK && choose_start(&other, l, *options, tuned, last) &&
        other.forecast_ns > 0 &&
        lead_over(l) * other.forecast_ns < cramped->known->median_ns)
        *out = other;
    return status;
}

/* Takes the records in the order of preference, as many at a time as get a forecast.
 * *tuned counts them. */
static gt_status choose_known(bool *found, size_t *tuned, struct gt_choice *out,
                              const struct gt_lookup *l, struct gt_forecasts **options,
                              struct gt_err *last, struct gt_err *err) {
    struct gt_match_walk walk;
    struct gt_near *group;
    struct gt_choice cramped = {.known = NULL};
    size_t count = 1;
    gt_status status = gt_match_walk_begin(&walk, l, err);
    while (status == GEMMTUNE_OK && !*found && count > 0) {
        status = gt_match_walk_next(&group, &count, &walk, err);
        if (status == GEMMTUNE_OK && count > 0)
            status = choose_in_group(found, out, l, options, group, count, last, err);
        if (*found && is_cramped(out, l, group)) {
            cramped = cramped.known == NULL ? *out : cramped;
            *found = false;
        }
    }
    if (cramped.known != NULL &&
        !(*found && out->known != NULL &&
          lead_over(l) * expected_ns(out) < cramped.known->median_ns)) {
        status = prefer_start(out, &cramped, l, options, walk.seen, last, err);
        *found = status == GEMMTUNE_OK;
    }
    *tuned = walk.seen;
    gt_match_walk_end(&walk);
    return status;
}

/* Answers with the family's default point when it suits. */
static bool try_default(struct gt_choice *out, const struct gt_lookup *l,
                        const struct gt_family *f, size_t tuned, struct gt_err *last) {
    out->match = GEMMTUNE_MATCH_DEFAULT;
    out->known = NULL;
    out->family = f;
    out->forecast_ns = 0;
    out->expected_loss = GT_LOSS_UNKNOWN;
    gt_family_default(f, &out->point);
    (void)snprintf(out->why, sizeof out->why, "default point of family %s: %s", f->name,
                   gt_explain_lack(l, tuned, "no tuned kernel may run this problem"));
    return suits(out, l, last);
}

/* Chooses a default point by rank. *served: some family has a kernel for the types and
 * layout here. */
static bool choose_default(struct gt_choice *out, const struct gt_lookup *l, size_t tuned,
                           bool *served, struct gt_err *last) {
    const struct gt_families *families = l->query.snapshot->families;
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        if (!gt_family_serves(f, l->query.device, l->query.problem, NULL))
            continue;
        *served = true;
        if (try_default(out, l, f, tuned, last))
            return true;
    }
    return false;
}

/* Why the last family in rank, the plainest one, does not serve the problem; "" where there
 * is none. */
static const char *refusal_of_plainest(const struct gt_lookup *l) {
    const struct gt_families *families = l->query.snapshot->families;
    const size_t count = gt_families_count(families);
    const char *why = NULL;
    if (count > 0)
        (void)gt_family_serves(gt_families_at(families, count - 1), l->query.device,
                               l->query.problem, &why);
    return why != NULL ? why : "";
}

static gt_status fail_no_kernel(const struct gt_lookup *l, size_t tuned, bool served,
                                const struct gt_err *last, struct gt_err *err) {
    if (l->query.worst == GEMMTUNE_MATCH_DEFAULT && !served) {
        const char *const why = refusal_of_plainest(l);
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "no kernel family serves %s on %s%s%s",
                       l->name, l->query.device_key, why[0] != '\0' ? ": " : "", why);
    }
    return gt_fail(
        err, GEMMTUNE_ENOTFOUND,
        "no kernel for %s on %s%s%s: %zu tuned kernels considered%s%s", l->name,
        l->query.device_key, l->order.text[0] != '\0' ? " that adds in the order " : "",
        l->order.text, tuned, last->line[0] != '\0' ? ", last refused: " : "", last->line);
}

/* Chooses a kernel that no record names, when the query accepts one. */
static gt_status choose_unknown(struct gt_choice *out, const struct gt_lookup *l,
                                struct gt_forecasts **options, size_t tuned,
                                struct gt_err *last, struct gt_err *err) {
    bool served = false;
    if (l->query.worst == GEMMTUNE_MATCH_DEFAULT) {
        const gt_status status = need_options(options, l, err);
        if (status != GEMMTUNE_OK || choose_start(out, l, *options, tuned, last) ||
            choose_default(out, l, tuned, &served, last))
            return status;
    }
    return fail_no_kernel(l, tuned, served, last, err);
}

/* The order of sums, for people who ask why this kernel was chosen. */
static void tell_order(struct gt_choice *out, const struct gt_lookup *l) {
    const size_t len = strlen(out->why);
    if (l->order.text[0] != '\0')
        (void)snprintf(out->why + len, sizeof out->why - len, "; adds in the order %s",
                       l->order.text);
}

gt_status gt_match(struct gt_choice *out, const struct gt_query *query,
                   struct gt_err *err) {
    struct gt_lookup l = {.query = *query, .model_device = gt_model_device(query->device)};
    struct gt_forecasts *options = NULL;
    struct gt_err last = {""};
    size_t tuned = 0;
    bool found = false;
    memset(out, 0, sizeof *out);
    if (query->lock != NULL) {
        const gt_status pinned = gt_match_locked(&found, out, query, err);
        if (found)
            return pinned;
    }
    (void)gt_problem_name(query->problem, l.name);
    if (!gt_match_pinned_order(&l.order, query->lock, query->problem))
        gt_match_order(&l.order, query->snapshot, query->device, query->problem);
    gt_status status = choose_known(&found, &tuned, out, &l, &options, &last, err);
    if (status == GEMMTUNE_OK && !found)
        status = choose_unknown(out, &l, &options, tuned, &last, err);
    if (status == GEMMTUNE_OK)
        tell_order(out, &l);
    free(options);
    return status;
}
