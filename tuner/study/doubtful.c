/* SPDX-License-Identifier: Apache-2.0 */
/* doubtful.c - see doubtful.h. */
#include "tuner/study/doubtful.h"

#include "runtime/match.h"

#include <stdlib.h>

struct doubt {
    struct gt_sweep_item item;
    double expected_loss; /* -1: no kernel may run it */
    size_t place;
};

static int by_loss(const void *a, const void *b) {
    const struct doubt *x = a, *y = b;
    const int losses =
        (x->expected_loss < y->expected_loss) - (x->expected_loss > y->expected_loss);
    return losses != 0 ? losses : (x->place > y->place) - (x->place < y->place);
}

static double expected_loss(const struct gt_snapshot *s, const struct gt_device *d,
                            const gemmtune_problem *p) {
    struct gt_choice choice;
    char key[GT_DEVICE_KEY_MAX];
    gt_device_key(d, key);
    const struct gt_query query = {.snapshot = s,
                                   .device = d,
                                   .device_key = key,
                                   .problem = p,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = SIZE_MAX,
                                   .pointer_align = GT_VECTOR_BYTES};
    return gt_match(&choice, &query, NULL) == GEMMTUNE_OK ? choice.expected_loss : -1;
}

static void order(struct gt_sweep *s, struct doubt *doubt, const struct gt_snapshot *known,
                  const struct gt_device *d) {
    for (size_t i = 0; i < s->count; i++) {
        doubt[i].item = s->item[i];
        doubt[i].expected_loss = expected_loss(known, d, &s->item[i].problem);
        doubt[i].place = i;
    }
    qsort(doubt, s->count, sizeof *doubt, by_loss);
    for (size_t i = 0; i < s->count; i++)
        s->item[i] = doubt[i].item;
}

gt_status gt_doubtful_first(struct gt_sweep *s, struct gt_db *db,
                            const struct gt_families *families, const struct gt_device *d,
                            struct gt_err *err) {
    struct gt_known *known = NULL;
    struct gt_index *index = NULL;
    size_t count = 0;
    int64_t stale = 0;
    gt_status status = GEMMTUNE_OK;
    struct doubt *doubt = calloc(s->count + 1, sizeof *doubt);
    if (doubt == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (status == GEMMTUNE_OK && db != NULL)
        status = gt_known_load(&known, &count, &stale, db, families, d->arch, err);
    if (status == GEMMTUNE_OK)
        status = gt_index_create(&index, known, count, err);
    if (status == GEMMTUNE_OK) {
        const struct gt_snapshot snapshot = {families, known, count, index};
        order(s, doubt, &snapshot, d);
    }
    gt_index_destroy(index);
    free(known);
    free(doubt);
    return status;
}
