/* SPDX-License-Identifier: Apache-2.0 */
/* stopwatch.c - see stopwatch.h. */
#include "tuner/stopwatch.h"

#include "tuner/lab_internal.h"

#include <stdlib.h>

enum {
    LAUNCHES_MAX = 2048, /* a sample */
    SLICES_MAX = 32,     /* batches of launches that samples take turns with */
    FEW = 32             /* launches that say how long a short one takes */
};

struct slice {
    const struct gt_stopwatch *watch;
    int first; /* launch, counted over all slices: picks the set */
    struct gt_batch *batch;
};

/* Sample i runs slice i % slices, so that successive samples walk over all the sets however few
 * launches one takes. */
struct gt_stopwatch {
    struct gt_lab *lab;
    struct gt_product product;
    union gt_value alpha, beta;
    int launches, slices, next;
    struct slice slice[SLICES_MAX];
};

static gt_status enqueue(void *user, struct gt_err *err) {
    const struct slice *slice = user;
    const struct gt_stopwatch *w = slice->watch;
    const struct gt_sets *s = &w->lab->sets;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; !status && i < w->launches; i++) {
        const int set = (slice->first + i) % s->count;
        const struct gt_operands x = {&w->alpha, s->view[0][set], s->view[1][set], &w->beta,
                                      s->view[2][set]};
        status = w->product.enqueue(w->product.self, &x, err);
    }
    return status;
}

static void drop_slices(struct gt_stopwatch *w) {
    const struct gt_rig_ops *ops = gt_rig_head(w->lab->rig)->ops;
    for (int i = 0; i < SLICES_MAX; i++) {
        if (w->slice[i].batch)
            ops->batch_destroy(w->slice[i].batch);
        w->slice[i].batch = NULL;
    }
    w->next = 0;
}

/* The next slice's time; its batch is made when it is first needed. */
static gt_status run_slice(struct gt_stopwatch *w, double *ns, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(w->lab->rig)->ops;
    struct slice *slice = &w->slice[w->next];
    gt_status status = GEMMTUNE_OK;
    if (!slice->batch) {
        slice->watch = w;
        slice->first = w->next * w->launches;
        status = ops->batch(&slice->batch, w->lab->rig, enqueue, slice, err);
    }
    w->next = (w->next + 1) % w->slices;
    return status ? status : ops->time(slice->batch, ns, err);
}

static int within(double x, int least, int most) {
    return x > most ? most : x < least ? least : (int)x;
}

/* As many launches as the sample time asks for, and slices enough to come to every set. */
static void plan_samples(struct gt_stopwatch *w, double one_ns, double sample_ns) {
    const int sets = w->lab->sets.count;
    drop_slices(w);
    w->launches = within(one_ns > 0 ? sample_ns / one_ns + 1 : LAUNCHES_MAX,
                         (sets + SLICES_MAX - 1) / SLICES_MAX, LAUNCHES_MAX);
    w->slices = within((double)(sets + w->launches - 1) / w->launches, 1, SLICES_MAX);
}

/* A first launch warms up, a second says how long one takes; where one is short, a few dozen say it
 * better, since a launch alone is mostly the time to get there. */
static gt_status warm_up(struct gt_stopwatch *w, double sample_ns, double most_ns,
                         double *one_ns, struct gt_err *err) {
    w->launches = 1;
    w->slices = 2;
    gt_status status = run_slice(w, one_ns, err);
    if (!status && *one_ns < most_ns)
        status = run_slice(w, one_ns, err);
    if (status || *one_ns > sample_ns / FEW)
        return status;
    drop_slices(w);
    w->launches = FEW;
    status = run_slice(w, one_ns, err);
    if (!status)
        status = run_slice(w, one_ns, err);
    *one_ns /= FEW;
    return status;
}

gt_status gt_stopwatch_create(struct gt_stopwatch **out, struct gt_lab *lab,
                              const struct gt_product *product, double sample_ns,
                              double most_ns, struct gt_err *err) {
    struct gt_stopwatch *w = calloc(1, sizeof *w);
    double one_ns = 0;
    *out = NULL;
    if (!w)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to time a product");
    w->lab = lab;
    w->product = *product;
    const gemmtune_problem *p = &lab->problem;
    gt_data_put(&w->alpha, p->type_acc, 1);
    /* half, so that C stays bounded however often it is added to */
    gt_data_put(&w->beta, p->type_acc,
                !p->reads_c                   ? 0
                : p->type_acc == GEMMTUNE_I32 ? 1
                                              : 0.5);
    const gt_status status = warm_up(w, sample_ns, most_ns, &one_ns, err);
    if (status) {
        gt_stopwatch_destroy(w);
        return status;
    }
    plan_samples(w, one_ns, sample_ns);
    *out = w;
    return GEMMTUNE_OK;
}

void gt_stopwatch_destroy(struct gt_stopwatch *w) {
    if (!w)
        return;
    drop_slices(w);
    free(w);
}

gt_status gt_stopwatch_sample(struct gt_stopwatch *w, double *ns, struct gt_err *err) {
    const gt_status status = run_slice(w, ns, err);
    *ns /= w->launches;
    return status;
}

int gt_stopwatch_launches(const struct gt_stopwatch *w) {
    return w->launches;
}
