/* SPDX-License-Identifier: Apache-2.0 */
/* spaces.c - makes the spaces that a search of one problem looks through. */
#include "tuner/tune/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gt_tune_wants(const struct gt_tuner *t, const struct gt_family *f) {
    if (!t->only || t->only->count == 0)
        return true;
    for (int i = 0; i < t->only->count; i++)
        if (strcmp(t->only->text[i], f->name) == 0)
            return true;
    return false;
}

void gt_tune_spaces_free(struct gt_space *space, int spaces) {
    for (int i = 0; i < spaces; i++)
        gt_space_clear(&space[i]);
    free(space);
}

/* Adds a family's error to the line. */
static void add_untried(struct gt_err *untried, const struct gt_err *why) {
    const size_t len = strlen(untried->line);
    snprintf(untried->line + len, sizeof untried->line - len, "%s%s",
             len > 0 ? "; " : "not tried: ", why->line);
}

gt_status gt_tune_spaces(struct gt_space **out, int *spaces, struct gt_err *untried,
                         const struct gt_tuner *t, const gemmtune_problem *p,
                         struct gt_err *err) {
    struct gt_err why;
    const size_t count = gt_families_count(t->families);
    struct gt_space *space = calloc(count + 1, sizeof *space);
    gt_status status =
        space ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "no memory for spaces");
    int n = 0;
    untried->line[0] = '\0';
    for (size_t i = 0; status == GEMMTUNE_OK && i < count; i++) {
        const struct gt_family *f = gt_families_at(t->families, i);
        if (!gt_tune_wants(t, f) || !gt_family_serves(f, &t->device, p, NULL))
            continue;
        status = gt_space_create(&space[n], f, &t->device, p, &why);
        if (status == GEMMTUNE_OK)
            n++;
        /* the fault is the family's: go on with the others */
        if (status == GEMMTUNE_EINVAL) {
            add_untried(untried, &why);
            status = GEMMTUNE_OK;
        } else if (status != GEMMTUNE_OK && err != NULL) {
            *err = why;
        }
    }
    if (status == GEMMTUNE_OK && n == 0 && untried->line[0] != '\0')
        status = gt_fail(err, GEMMTUNE_EINVAL, "%s", untried->line);
    if (status == GEMMTUNE_OK && n == 0)
        status = gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                         "no family has a kernel for it on this device");
    if (status != GEMMTUNE_OK) {
        gt_tune_spaces_free(space, n);
        return status;
    }
    *out = space;
    *spaces = n;
    return GEMMTUNE_OK;
}

void gt_tune_candidate(struct gt_candidate *out, const struct gt_space *space,
                       size_t index) {
    struct gt_point point;
    gt_space_point(space, index, &point);
    gt_candidate_set_point(out, space->family, &point);
}
