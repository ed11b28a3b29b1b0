/* SPDX-License-Identifier: Apache-2.0 */
/* match_words.c - the reason for a choice, in one line. */
#include "runtime/lookup/match_inside.h"

#include <stdio.h>
#include <string.h>

const char *gt_match_word(gemmtune_match match) {
    static const char *const words[] = {
        [GEMMTUNE_MATCH_EXACT] = "exact",
        [GEMMTUNE_MATCH_SHAPE] = "shape",
        [GEMMTUNE_MATCH_ARCH] = "arch",
        [GEMMTUNE_MATCH_DEFAULT] = "default",
    };
    return words[match];
}

/* Bytes of the place in a `why` line, which has room for it, a name and numbers. */
enum { PLACE_MAX = 128 };

/* Bytes of a name or an epilogue in a `why` line; a longer one ends with dots. */
enum { TEXT_MAX = 68 };

static const char *shortened(char buf[TEXT_MAX], const char *text) {
    if (strlen(text) < TEXT_MAX)
        return text;
    (void)snprintf(buf, TEXT_MAX, "%.*s...", TEXT_MAX - 4, text);
    return buf;
}

static void describe_place(char buf[PLACE_MAX], const struct gt_lookup *l,
                           const struct gt_known *known) {
    if (!gt_near_is_mine(l, known))
        (void)snprintf(buf, PLACE_MAX, "on %.80s (also %.23s)", known->device_key,
                       known->arch);
    else
        (void)snprintf(buf, PLACE_MAX, "%s",
                       known->verified ? "on this device"
                                       : "elsewhere, not verified here,");
}

void gt_explain_exact(struct gt_choice *out, const struct gt_lookup *l,
                      const struct gt_near *c) {
    const bool strict = c->known->problem.math != l->query.problem->math;
    char place[PLACE_MAX];
    describe_place(place, l, c->known);
    (void)snprintf(out->why, sizeof out->why,
                   "tuned %s for exactly this problem%s, rank %d", place,
                   strict ? " in strict arithmetic" : "", c->known->rank);
}

void gt_explain_same_product(struct gt_choice *out, const struct gt_lookup *l,
                             const struct gt_near *c) {
    const char *epilogue = c->known->problem.epilogue;
    char place[PLACE_MAX], text[TEXT_MAX];
    describe_place(place, l, c->known);
    (void)snprintf(out->why, sizeof out->why,
                   "tuned %s for the same product %s%.67s, rank %d", place,
                   epilogue != NULL ? "with epi=" : "without an epilogue",
                   epilogue != NULL ? shortened(text, epilogue) : "", c->known->rank);
}

/* Bytes of the changed values in a `why` line. */
enum { CHANGES_MAX = 64 };

void gt_explain_record(struct gt_choice *out, const struct gt_lookup *l,
                       const struct gt_forecast *o, int count) {
    char place[PLACE_MAX], changes[CHANGES_MAX], name[TEXT_MAX];
    describe_place(place, l, o->from->known);
    gt_forecast_changes(changes, sizeof changes, o);
    (void)snprintf(out->why, sizeof out->why,
                   "tuned %s for %.67s (distance %.2f)%s, forecast %.1f us, best of %d",
                   place, shortened(name, o->from->known->problem_name), o->from->distance,
                   changes, o->ns / 1e3, count);
}

const char *gt_explain_lack(const struct gt_lookup *l, size_t tuned,
                            const char *otherwise) {
    return l->query.snapshot->count == 0 ? "nothing was tuned for this architecture"
           : tuned == 0 ? "no problem of its types was tuned for this architecture"
                        : otherwise;
}

void gt_explain_start(struct gt_choice *out, const struct gt_lookup *l,
                      const struct gt_forecast *o, int count, size_t tuned) {
    char which[24], changes[CHANGES_MAX];
    gt_forecast_changes(changes, sizeof changes, o);
    (void)snprintf(which, sizeof which, "start %d", o->start + 1);
    (void)snprintf(out->why, sizeof out->why,
                   "%s of family %s%s, forecast %.1f us, best of %d: %s",
                   o->start < o->family->start_count ? which : "default point",
                   o->family->name, changes, o->ns / 1e3, count,
                   gt_explain_lack(l, tuned, "the tuned problems are too far away"));
}
