/* SPDX-License-Identifier: Apache-2.0 */
/* stopwatch.c - see stopwatch.h. */
#include "tuner/lab/stopwatch.h"

#include "tuner/lab/check_internal.h"
#include "tuner/lab/lab_internal.h"
#include "tuner/lab/witness.h"

#include <stdlib.h>

enum {
    LAUNCHES_MAX = 2048, /* in a sample */
    SLICES_MAX = 64,     /* prepared batches of launches */
    FEW = 32             /* launches that measure how long a short one takes */
};
_Static_assert(2 * GT_SETS_MAX <= LAUNCHES_MAX * SLICES_MAX,
               "slices half a sample apart come to every set");

struct slice {
    const struct gt_stopwatch *watch;
    int first;     /* index of its first set */
    bool is_minus; /* its last lap has alpha -1 */
    struct gt_batch *batch;
};

/* A product's samples, each a slice of the ring of sets. Slice i starts at set i * count /
 * slices; a warm-up has only slice 0, which starts at the ring's next set. A sample runs
 * the slice that starts at the ring's next set, or the first slice after it. Slices begin
 * half a sample apart, but at most a quarter of the ring. Thus a set is used again only
 * after half a ring of launches, however many products take turns: if u sets are used and s
 * are skipped between two uses, u + s = count and s < u / 2 + count / 4. */
struct gt_stopwatch {
    struct gt_lab *lab;
    struct gt_product product;
    union gt_value alpha, minus_alpha, beta;
    double plain_beta;
    struct gt_witness *witness;        /* NULL: samples are not spoiled */
    void *workspace, *stream;          /* the lab's */
    int launches;                      /* launches in a sample, a power of two */
    const struct slice *last;          /* of the last sample */
    const bool *sign;                  /* of the last lap: is it minus? NULL: by chance */
    struct slice slice[SLICES_MAX][2]; /* with alpha 1 and -1 in the last lap */
};

static int laps_of(const struct gt_stopwatch *w) {
    const int laps = w->launches / w->lab->sets.count;
    return laps > 1 ? laps : 1;
}

/* alpha changes its sign from one lap of the ring to the next. So no C holds its result
 * already where a sample comes to it again. The sign of a sample's last lap is left to
 * chance. */
static const union gt_value *alpha_of(const struct slice *s, int launch) {
    const int lap = launch / s->watch->lab->sets.count;
    const bool other = (laps_of(s->watch) - 1 - lap) % 2 == 1;
    return s->watch->witness != NULL && other != s->is_minus ? &s->watch->minus_alpha
                                                             : &s->watch->alpha;
}

static gt_status enqueue(void *user, struct gt_err *err) {
    const struct slice *slice = user;
    const struct gt_stopwatch *w = slice->watch;
    const struct gt_sets *s = &w->lab->sets;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < w->launches; i++) {
        const int set = (slice->first + i) % s->count;
        struct gt_fused_operands operands;
        struct gt_call call = {.alpha = alpha_of(slice, i),
                               .a = gt_sets_argument(s, 0, set),
                               .b = gt_sets_argument(s, 1, set),
                               .beta = &w->beta,
                               .c = gt_sets_argument(s, 2, set),
                               .workspace = w->workspace,
                               .rows = s->rows.mem,
                               .stream = w->stream};
        gt_fused_call(&call, &operands, w->lab->timed[1]);
        status = w->product.enqueue(w->product.self, &call, err);
    }
    return status;
}

static void drop_slices(struct gt_stopwatch *w) {
    const struct gt_rig_ops *ops = gt_rig_head(w->lab->rig)->ops;
    for (int i = 0; i < 2 * SLICES_MAX; i++) {
        struct gt_batch **batch = &w->slice[i / 2][i % 2].batch;
        if (*batch)
            ops->batch_destroy(*batch);
        *batch = NULL;
    }
}

static int slices_of(const struct gt_stopwatch *w) {
    const int sets = w->lab->sets.count, halves = 2 * sets / w->launches;
    const int slices = halves > 4 ? halves : 4;
    return slices < sets ? slices : sets;
}

/* Sets that a sample uses. */
static int used_sets(const struct gt_stopwatch *w) {
    const int count = w->lab->sets.count;
    return w->launches < count ? w->launches : count;
}

/* Times slice `at`. Its batch is made when it is first needed. */
static gt_status run_slice(struct gt_stopwatch *w, int at, int first, double *ns,
                           struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(w->lab->rig)->ops;
    const bool is_minus =
        w->witness != NULL &&
        (w->sign != NULL ? *w->sign : laps_of(w) > 1 && gt_witness_chance() % 2 == 0);
    struct slice *slice = &w->slice[at][is_minus];
    struct gt_sets *ring = &w->lab->sets;
    gt_status status = GEMMTUNE_OK;
    if (!slice->batch) {
        slice->watch = w;
        slice->first = first;
        slice->is_minus = is_minus;
        status = ops->batch(&slice->batch, w->lab->rig, enqueue, slice, err);
    }
    ring->next = (first + w->launches) % ring->count;
    w->last = slice;
    if (status == GEMMTUNE_OK && w->witness != NULL)
        status = gt_witness_spoil(w->witness, first, used_sets(w),
                                  w->product.workspace_bytes, err);
    return status != GEMMTUNE_OK ? status : ops->time(slice->batch, ns, err);
}

static gt_status run_next(struct gt_stopwatch *w, double *ns, struct gt_err *err) {
    const struct gt_sets *ring = &w->lab->sets;
    const int slices = slices_of(w), stride = ring->count / slices;
    const int at = (ring->next + stride - 1) / stride % slices;
    return run_slice(w, at, at * stride, ns, err);
}

/* Times a few launches from the ring's next set. Slices would not do for one launch: it
 * would skip more sets than it uses, and there would be more slices than SLICES_MAX. */
static gt_status run_few(struct gt_stopwatch *w, int launches, double *ns,
                         struct gt_err *err) {
    drop_slices(w);
    w->launches = launches;
    return run_slice(w, 0, w->lab->sets.next, ns, err);
}

/* Chooses the launches of a sample: the power of two that is nearest to the sample time,
 * but enough for slices half a sample apart to reach every set. */
static void plan_samples(struct gt_stopwatch *w, double one_ns, double sample_ns) {
    const double wanted = one_ns > 0 ? sample_ns / one_ns : LAUNCHES_MAX;
    const int fewest = 2 * w->lab->sets.count / SLICES_MAX;
    drop_slices(w);
    w->launches = 1;
    while (w->launches < LAUNCHES_MAX &&
           (w->launches * 1.4 < wanted || w->launches < fewest))
        w->launches *= 2;
}

/* Finds the time of one launch. The first launch warms up, the second is timed. A single
 * short launch spends most of its time on overhead, so a few dozen are timed instead. */
static gt_status warm_up(struct gt_stopwatch *w, double sample_ns, double most_ns,
                         double *one_ns, struct gt_err *err) {
    gt_status status = run_few(w, 1, one_ns, err);
    if (status == GEMMTUNE_OK && *one_ns < most_ns)
        status = run_few(w, 1, one_ns, err);
    if (status != GEMMTUNE_OK || *one_ns > sample_ns / FEW)
        return status;
    status = run_few(w, FEW, one_ns, err);
    if (status == GEMMTUNE_OK)
        status = run_few(w, FEW, one_ns, err);
    *one_ns /= FEW;
    return status;
}

double gt_timed_beta(const gemmtune_problem *p) {
    const double times = p->type_acc == GEMMTUNE_I32 ? 1 : 0.5;
    return p->reads_c ? times : 0;
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
    w->workspace = lab->checker != NULL ? gt_checker_workspace(lab->checker) : NULL;
    w->stream = gt_rig_head(lab->rig)->stream;
    const gemmtune_problem *p = &lab->problem;
    w->alpha = gt_value_of(p->type_acc, 1);
    w->minus_alpha = gt_value_of(p->type_acc, -1);
    w->plain_beta = gt_timed_beta(p);
    w->beta = gt_value_of(p->type_acc, w->plain_beta);
    const gt_status status = warm_up(w, sample_ns, most_ns, &one_ns, err);
    if (status != GEMMTUNE_OK) {
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
    const gt_status status = run_next(w, ns, err);
    *ns /= w->launches;
    return status;
}

void gt_stopwatch_watch(struct gt_stopwatch *w, struct gt_witness *witness) {
    drop_slices(w); /* they have alpha in them */
    w->witness = witness;
}

/* Whether C is added to in each lap, so that its value says nothing after many. */
static bool adds_up(const struct gt_stopwatch *w) {
    return laps_of(w) > 1 && gt_case_reads_c(w->lab->timed[1]);
}

bool gt_stopwatch_has_laps(const struct gt_stopwatch *w) {
    return laps_of(w) > 1;
}

gt_status gt_stopwatch_look(bool *right, char *why, struct gt_stopwatch *w,
                            struct gt_err *err) {
    return w->witness == NULL || adds_up(w)
               ? GEMMTUNE_OK
               : gt_witness_look(right, why, w->witness, w->last->is_minus ? -1 : 1,
                                 w->plain_beta, err);
}

/* Takes a sample that ends with this sign, of `few` launches unless that is 0, and looks at
 * it. */
static gt_status prove_sign(bool *right, char *why, struct gt_stopwatch *w, bool is_minus,
                            int few, struct gt_err *err) {
    double ns = 0;
    w->sign = &is_minus;
    const gt_status status = few > 0 ? run_few(w, few, &ns, err) : run_next(w, &ns, err);
    w->sign = NULL;
    return status == GEMMTUNE_OK ? gt_stopwatch_look(right, why, w, err) : status;
}

/* Where C is added to in each lap, one lap is a sample: more could not be told. */
gt_status gt_stopwatch_prove(bool *right, char *why, struct gt_stopwatch *w,
                             struct gt_err *err) {
    const bool first = gt_witness_chance() % 2 == 0, sign[] = {first, !first, !first};
    const bool has_laps = laps_of(w) > 1;
    const int few = adds_up(w) ? used_sets(w) : 0;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && *right && i < (has_laps ? 3 : 1); i++)
        status = prove_sign(right, why, w, has_laps && sign[i], few, err);
    return status;
}

void gt_stopwatch_lengthen(struct gt_stopwatch *w) {
    if (w->launches >= LAUNCHES_MAX)
        return;
    drop_slices(w);
    w->launches *= 2;
}

int gt_stopwatch_launches(const struct gt_stopwatch *w) {
    return w->launches;
}
