/* SPDX-License-Identifier: Apache-2.0 */
/* seeded.c - see seeded.h. */
#include "tuner/tune/seeded.h"

#include <stdio.h>
#include <string.h>

/* A point that is farther than so many doublings, squared and added up, is another one. */
static const double far_away = 3;

size_t gt_seed_place(const struct gt_seed *seed, const struct gt_space *space) {
    double distance;
    const size_t index = gt_space_nearest(&distance, space, &seed->point);
    return distance <= far_away ? index : SIZE_MAX;
}

static void add(struct gt_seeded *out, const struct gt_seed *seed,
                const struct gt_space *space) {
    const size_t index = gt_seed_place(seed, space);
    struct gt_point point;
    if (index == SIZE_MAX)
        return;
    gt_space_point(space, index, &point);
    (void)gt_point_text(&point, out->at[out->count].point);
    memcpy(out->at[out->count].family, seed->family, sizeof seed->family);
    memcpy(out->at[out->count].source, seed->source, sizeof seed->source);
    out->count++;
}

/* Adds the seeds of one family. */
static gt_status add_family(struct gt_seeded *out, const struct gt_family *f,
                            const struct gt_seed *seed, int count,
                            const struct gt_device *d, const gemmtune_problem *p,
                            struct gt_err *err) {
    struct gt_space space = {0};
    if (!gt_family_serves(f, d, p, NULL))
        return GEMMTUNE_OK;
    const gt_status status = gt_space_create(&space, f, d, p, err);
    if (status == GEMMTUNE_OK)
        for (int i = 0; i < count; i++)
            if (strcmp(seed[i].family, f->name) == 0)
                add(out, &seed[i], &space);
    gt_space_clear(&space);
    return status == GEMMTUNE_ENOMEM ? status : GEMMTUNE_OK;
}

gt_status gt_seeded_find(struct gt_seeded *out, const struct gt_seeds *seeds,
                         const struct gt_families *families, const struct gt_device *d,
                         const gemmtune_problem *p, struct gt_err *err) {
    struct gt_seed seed[GT_SEEDS_MAX];
    const int count = gt_seeds_find(seed, seeds, d, p);
    gt_status status = GEMMTUNE_OK;
    out->count = 0;
    for (int i = 0; status == GEMMTUNE_OK && i < count; i++) {
        int before = 0; /* each family once, when its first seed comes */
        while (before < i && strcmp(seed[before].family, seed[i].family) != 0)
            before++;
        const struct gt_family *f = gt_families_find(families, seed[i].family);
        if (before == i && f != NULL)
            status = add_family(out, f, seed, count, d, p, err);
    }
    return status;
}

const char *gt_seeded_source(const struct gt_seeded *s, const char *family,
                             const char *point) {
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->at[i].family, family) == 0 && strcmp(s->at[i].point, point) == 0)
            return s->at[i].source;
    return NULL;
}
