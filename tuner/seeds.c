/* SPDX-License-Identifier: Apache-2.0 */
/* seeds.c - see seeds.h. */
#include "tuner/seeds.h"

#include <string.h>

enum { NEIGHBOURS = 6 };

struct finding {
    struct gt_seeds *seeds;
    const struct gt_space *space;
    int spaces;
    const gemmtune_problem *problem;
    /* winners of other problems with these types and layout, nearest first */
    struct {
        struct gt_pick pick;
        double distance;
    } near[NEIGHBOURS];
    int nears;
};

static void add(struct gt_seeds *s, struct gt_pick p) {
    for (int i = 0; i < s->count; i++)
        if (s->pick[i].space == p.space && s->pick[i].index == p.index)
            return;
    if (s->count < GT_SEEDS_MAX)
        s->pick[s->count++] = p;
}

static void add_point(struct finding *f, int space, const struct gt_point *point) {
    const struct gt_pick pick = {.space = space,
                                 .index = gt_space_find(&f->space[space], point)};
    if (pick.index != SIZE_MAX)
        add(f->seeds, pick);
}

static void add_near(struct finding *f, struct gt_pick p, double distance) {
    int at = f->nears < NEIGHBOURS ? f->nears++ : NEIGHBOURS;
    while (at > 0 && f->near[at - 1].distance > distance) {
        if (at < NEIGHBOURS)
            f->near[at] = f->near[at - 1];
        at--;
    }
    if (at < NEIGHBOURS) {
        f->near[at].pick = p;
        f->near[at].distance = distance;
    }
}

static bool locate(struct gt_pick *out, const struct finding *f, const char *family,
                   const struct gt_point *point) {
    for (int i = 0; i < f->spaces; i++) {
        if (strcmp(f->space[i].family->name, family) != 0)
            continue;
        out->space = i;
        out->index = gt_space_find(&f->space[i], point);
        return out->index != SIZE_MAX;
    }
    return false;
}

static gt_status see_record(void *user, const struct gt_record_row *row,
                            struct gt_err *err) {
    struct finding *f = user;
    gemmtune_problem p;
    struct gt_point point;
    struct gt_pick pick;
    (void)err;
    if (row->rank != 0 || gt_problem_from_name(&p, row->subject.problem, NULL) ||
        !gt_problem_same_kind(&p, f->problem))
        return GEMMTUNE_OK;
    if (gt_point_parse(&point, row->subject.point, NULL) ||
        !locate(&pick, f, row->subject.family, &point))
        return GEMMTUNE_OK;
    add_near(f, pick, gt_problem_distance2(&p, f->problem));
    return GEMMTUNE_OK;
}

static void add_starts(struct finding *f, int space) {
    const struct gt_family *family = f->space[space].family;
    struct gt_point point;
    for (int i = 0; i < family->start_count; i++) {
        gt_family_start(family, i, &point);
        add_point(f, space, &point);
    }
}

static void add_default(struct finding *f, int space) {
    struct gt_point point;
    gt_family_default(f->space[space].family, &point);
    add_point(f, space, &point);
}

/* What tables compare with: early, so that a short search has it as well, unless it takes long. */
static void add_baselines(struct finding *f, const struct gt_device *d) {
    enum { SECONDS_MAX = 1 }; /* a launch */
    if (gt_pool_slow_seconds(d, f->problem) > SECONDS_MAX)
        return;
    for (int i = 0; i < f->spaces; i++)
        if (strcmp(f->space[i].family->name, "naive") == 0 ||
            strcmp(f->space[i].family->name, "tile") == 0)
            add_default(f, i);
}

gt_status gt_seeds_find(struct gt_seeds *out, const struct gt_tuner *t,
                        const struct gt_space *space, int spaces, const gemmtune_problem *p,
                        struct gt_err *err) {
    struct finding f = {.seeds = out, .space = space, .spaces = spaces, .problem = p};
    out->count = 0;
    add_default(&f, 0);
    add_baselines(&f, &t->device);
    out->musts = out->count;
    for (int i = 0; i < spaces; i++) {
        add_default(&f, i);
        if (i == 0 && t->device.is_cpu) /* the others take seconds to compile there */
            add_starts(&f, i);
    }
    const gt_status status = gt_db_records(t->db, t->device_key, NULL, see_record, &f, err);
    for (int i = 0; i < f.nears; i++)
        add(out, f.near[i].pick);
    for (int i = 0; i < spaces; i++)
        add_starts(&f, i);
    return status;
}
