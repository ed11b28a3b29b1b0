/* SPDX-License-Identifier: Apache-2.0 */
/* made.c - a record's kernel as a tree makes it: see stamp.h. */
#include "tools/stamp.h"

#include "runtime/family/fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_three(FILE *to, const char *name, const int64_t value[3]) {
    (void)fprintf(to, "%s %" PRId64 " %" PRId64 " %" PRId64 "\n", name, value[0], value[1],
                  value[2]);
}

static void print_pass(FILE *to, const char *entry, const struct gt_launch *l) {
    (void)fprintf(to, "kernel %s: %" PRId64 " bytes%s\n", entry, l->smem_bytes,
                  l->overlaps ? ", overlaps" : "");
    print_three(to, "grid", l->grid);
    print_three(to, "block", l->block);
    print_three(to, "cluster", l->cluster);
}

static void print_map(FILE *to, int base, int64_t at, const struct gt_tiling *t) {
    (void)fprintf(to,
                  "map of argument %d at %" PRId64 ": type %d, %" PRId64 " x %" PRId64
                  " by %" PRId64 ", planes %" PRId64 " by %" PRId64 ", box %" PRId64
                  " x %" PRId64 ", swizzle %" PRId64 ", fetch %" PRId64 "\n",
                  base, at, (int)t->type, t->outer, t->inner, t->stride, t->planes,
                  t->plane, t->box[1], t->box[0], t->swizzle, t->fetch);
}

static void print_launches(FILE *to, const struct gt_fit *fit) {
    const struct gt_passes *p = &fit->passes;
    gt_arg arg[GT_ARGS_MAX];
    const int args = gt_family_args(arg, &fit->binding);
    print_three(to, "align", fit->align);
    (void)fprintf(to, "workspace %" PRId64 " by %" PRId64 "\n", p->workspace_bytes,
                  p->workspace_step);
    (void)fprintf(to, "main %d, arguments", p->main);
    for (int i = 0; i < args; i++)
        (void)fprintf(to, " %d", (int)arg[i]);
    (void)fputc('\n', to);
    for (int i = 0; i < p->count; i++)
        print_pass(to, p->item[i].entry, &p->item[i].launch);
    for (int i = 0; i < p->map_count; i++)
        if (!p->map[i].absent)
            print_map(to, (int)p->map[i].base, p->map[i].at, &p->map[i].tiling);
        else
            (void)fputs("no map\n", to);
}

static gt_status take_launches(char **out, const struct gt_fit *fit, struct gt_err *err) {
    size_t size = 0;
    FILE *to = open_memstream(out, &size);
    if (to == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    print_launches(to, fit);
    return fclose(to) == 0 ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

gt_status gt_made_create(struct gt_made *out, const struct gt_tree *tree,
                         const struct gt_device *d, const struct gt_recorded *record,
                         struct gt_err *err) {
    const struct gt_family *f = gt_families_find(gt_tree_families(tree), record->family);
    gemmtune_problem problem;
    struct gt_point point;
    struct gt_fit fit;
    *out = (struct gt_made){NULL, NULL};
    gt_tree_use(tree);
    if (f == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "there is no family %s", record->family);
    gt_status status = gt_problem_from_name(&problem, record->problem, err);
    if (status == GEMMTUNE_OK)
        status = gt_point_parse(&point, record->point, err);
    if (status == GEMMTUNE_OK)
        status = gt_fit_point(&fit, f, d, &problem, &point, err);
    if (status == GEMMTUNE_OK)
        status = take_launches(&out->launches, &fit, err);
    if (status == GEMMTUNE_OK)
        status = gt_source_of(&out->source, &fit.binding, d, err);
    return status;
}

void gt_made_clear(struct gt_made *m) {
    free(m->launches);
    free(m->source);
    *m = (struct gt_made){NULL, NULL};
}
