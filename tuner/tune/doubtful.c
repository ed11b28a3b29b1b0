/* SPDX-License-Identifier: Apache-2.0 */
/* doubtful.c - see doubtful.h. */
#include "tuner/tune/doubtful.h"

#include "tuner/base/choose.h"

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

static gt_status doubt_of(struct doubt *out, const struct gt_snapshot *known,
                          const struct gt_device *d, struct gt_err *err) {
    struct gt_choice choice;
    const gt_status status =
        gt_choose_from(&choice, known, d, &out->item.problem, SIZE_MAX, err);
    out->expected_loss = status == GEMMTUNE_OK ? choice.expected_loss : -1;
    return status == GEMMTUNE_ENOTFOUND || status == GEMMTUNE_EUNSUPPORTED ? GEMMTUNE_OK
                                                                           : status;
}

/* Fills in the doubts of the sweep's problems, in their new order. */
static gt_status order(struct doubt *doubt, const struct gt_sweep *s,
                       const struct gt_snapshot *known, const struct gt_device *d,
                       struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < s->count && status == GEMMTUNE_OK; i++) {
        doubt[i] = (struct doubt){.item = s->item[i], .place = i};
        status = doubt_of(&doubt[i], known, d, err);
    }
    qsort(doubt, s->count, sizeof *doubt, by_loss);
    return status;
}

/* The sum of `count` doubts in their order. */
static struct gt_doubts sum_of(const struct doubt *doubt, size_t count) {
    while (count > 0 && doubt[count - 1].expected_loss < 0)
        count--;
    struct gt_doubts sum = {.served = count};
    while (sum.unknown < count && doubt[sum.unknown].expected_loss >= GT_LOSS_UNKNOWN)
        sum.unknown++;
    if (sum.unknown < count) {
        sum.least = doubt[count - 1].expected_loss;
        sum.most = doubt[sum.unknown].expected_loss;
    }
    return sum;
}

gt_status gt_doubtful_sort(struct gt_doubts *out, struct gt_sweep *s, struct gt_db *db,
                           const struct gt_families *families, const struct gt_device *d,
                           struct gt_err *err) {
    struct gt_known *known = NULL;
    struct gt_index *index = NULL;
    size_t count = 0;
    int64_t stale = 0;
    gt_status status = GEMMTUNE_OK;
    struct doubt *doubt = calloc(s->count + 1, sizeof *doubt);
    *out = (struct gt_doubts){0};
    if (doubt == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (status == GEMMTUNE_OK && db != NULL)
        status = gt_known_load(&known, &count, &stale, db, families, d->arch, err);
    if (status == GEMMTUNE_OK)
        status = gt_index_create(&index, known, count, err);
    if (status == GEMMTUNE_OK) {
        const struct gt_snapshot snapshot = {families, known, count, index};
        status = order(doubt, s, &snapshot, d, err);
    }
    for (size_t i = 0; i < s->count && status == GEMMTUNE_OK; i++)
        s->item[i] = doubt[i].item;
    if (status == GEMMTUNE_OK)
        *out = sum_of(doubt, s->count);
    gt_index_destroy(index);
    free(known);
    free(doubt);
    return status;
}
