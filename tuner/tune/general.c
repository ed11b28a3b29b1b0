/* SPDX-License-Identifier: Apache-2.0 */
/* general.c - see general.h. */
#include "tuner/tune/general.h"

#include "core/room.h"
#include "runtime/plan/workspace.h"
#include "tuner/base/parallel.h"
#include "tuner/base/quantile.h"
#include "runtime/lookup/model.h"
#include "tuner/tune/draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 2 * GT_LAYOUTS }; /* of types: single products, and batches */

/* The most multiplications and products of a drawn problem. */
static const double volume_on_gpu = 1e12, volume_on_cpu = 1e8;
enum { BATCH_MAX = 512, ROUNDS = 4 };

/* Problems by which the images of a kernel are found. A kernel of single products has one;
 * a kernel of batches may have one for each value of a few facts (space.json, "variants").
 */
enum { SEEN_SINGLE = 1, SEEN_BATCH = 8 };

/* A loss beyond this one counts so much more: any problem should have a good answer. */
static const double loss_goal = 0.25, weight_beyond = 4;
/* The loss of a kernel that may not run, and of one without a forecast. */
static const double loss_refused = 100, loss_unknown = GT_LOSS_UNKNOWN;
/* A forecast so many times as long as the best one need not be exact. */
static const double too_long = 4;

/* ---- questions ------------------------------------------------------------------- */

static const struct way {
    size_t workspace;
    int64_t pointer_align;
} ways[] = {{GT_WORKSPACE_DEFAULT, GT_VECTOR_BYTES}, {0, GT_VECTOR_BYTES}, {0, 1}};
enum { WAYS = sizeof ways / sizeof *ways };

/* A problem, asked about in one way, and the lookup's answer. */
struct ask {
    const gemmtune_problem *problem;
    const struct way *way;
    const struct gt_family *family; /* NULL: no kernel may run it */
    int64_t values[GT_POINT_MAX];
    double best_ns; /* the shortest forecast; 0: there is none */
};

struct choosing {
    const struct gt_general_setup *setup;
    char device_key[GT_DEVICE_KEY_MAX];
    struct gt_sweep sweep;
    struct gt_general_kind kind;
    struct ask *ask;
    size_t asks;
    struct gt_general *kernel; /* that may be chosen */
    size_t kernels;
    double *loss; /* of each kernel for each question */
};

static struct gt_query query_of(const struct choosing *c, const struct ask *a) {
    return (struct gt_query){.snapshot = c->setup->snapshot,
                             .device = c->setup->device,
                             .device_key = c->device_key,
                             .problem = a->problem,
                             .worst = GEMMTUNE_MATCH_DEFAULT,
                             .workspace_max = a->way->workspace,
                             .pointer_align = a->way->pointer_align};
}

/* A gt_parallel_fn: looks questions up. */
static void look_up(void *user, int thread, int64_t first, int64_t end) {
    struct choosing *c = user;
    struct gt_choice choice;
    (void)thread;
    for (int64_t i = first; i < end && *c->setup->stop == 0; i++) {
        struct ask *a = &c->ask[i];
        const struct gt_query q = query_of(c, a);
        struct gt_fit fit;
        if (gt_match(&choice, &q, NULL) != GEMMTUNE_OK ||
            gt_point_values(a->values, choice.family, &choice.point, NULL) != GEMMTUNE_OK)
            continue;
        a->family = choice.family;
        (void)gt_general_forecast(&a->best_ns, &fit, &q, a->family, a->values);
    }
}

static bool is_of_kind(const struct choosing *c, const gemmtune_problem *p) {
    return gt_problem_is_batch(p) == c->kind.batch &&
           strcmp(gt_problem_layout(p), c->kind.layout) == 0;
}

/* Asks about the drawn problems of the kind. */
static gt_status ask_all(struct choosing *c, struct gt_err *err) {
    c->asks = 0;
    free(c->ask);
    c->ask = calloc(WAYS * c->sweep.count + 1, sizeof *c->ask);
    if (c->ask == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; i < c->sweep.count; i++)
        for (int w = 0; w < WAYS && is_of_kind(c, &c->sweep.item[i].problem); w++)
            c->ask[c->asks++] =
                (struct ask){.problem = &c->sweep.item[i].problem, .way = &ways[w]};
    gt_parallel(look_up, c, (int64_t)c->asks);
    return *c->setup->stop == 0 ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ESTOPPED, "stopped");
}

/* ---- kernels to choose from -------------------------------------------------------- */

static bool is_point(const struct gt_general *k, const struct gt_family *f,
                     const int64_t *values) {
    return k->family == f && memcmp(k->values, values, sizeof k->values) == 0;
}

static void offer(struct choosing *c, const struct gt_family *f, const int64_t *values) {
    size_t i = 0;
    while (i < c->kernels && !is_point(&c->kernel[i], f, values))
        i++;
    if (i < c->kernels)
        return;
    struct gt_general *k = &c->kernel[c->kernels++];
    *k = (struct gt_general){.kind = c->kind, .family = f};
    memcpy(k->values, values, sizeof k->values);
}

static int by_family(const void *a, const void *b) {
    const struct gt_general *x = a, *y = b;
    const int o = strcmp(x->family->name, y->family->name);
    return o != 0 ? o : memcmp(x->values, y->values, sizeof x->values);
}

/* The answers that may be general. */
static gt_status offer_all(struct choosing *c, struct gt_err *err) {
    c->kernels = 0;
    free(c->kernel);
    c->kernel = calloc(c->asks + 1, sizeof *c->kernel);
    if (c->kernel == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; i < c->asks; i++)
        if (c->ask[i].family != NULL && gt_general_may(c->ask[i].family))
            offer(c, c->ask[i].family, c->ask[i].values);
    qsort(c->kernel, c->kernels, sizeof *c->kernel, by_family);
    return GEMMTUNE_OK;
}

/* ---- losses ---------------------------------------------------------------------- */

/* The loss of a kernel for a question, once best_ns is known. */
static double loss_of(const struct ask *a, const struct gt_general *k, double ns) {
    if (ns > 0 && a->best_ns > 0)
        return fmax(ns / a->best_ns - 1, 0);
    return is_point(k, a->family, a->values) ? 0 : loss_unknown;
}

/* A family, bound to the problem of a question. */
struct bound {
    const struct gt_family *family; /* NULL: it does not serve the problem */
    struct gt_fit_base base;
    struct gt_model model;
};

static void bind(struct bound *b, const struct gt_query *q, const struct gt_family *f,
                 double best_ns) {
    b->family = NULL;
    if (gt_fit_begin(&b->base, f, q->device, q->problem, q->pointer_align, NULL) !=
        GEMMTUNE_OK)
        return;
    b->family = f;
    gt_model_begin(&b->model, &b->base.binding, q->device);
    b->model.too_long_ns = too_long * best_ns;
}

/* The forecast of a point of the bound family, as gt_general_forecast's; negative: the
 * point may not run the problem. */
static double forecast(const struct bound *b, const struct gt_query *q,
                       const int64_t *values) {
    struct gt_prediction prediction;
    struct gt_fit fit;
    if (b->family == NULL ||
        gt_fit_end(&fit, &b->base, q->device, values, NULL) != GEMMTUNE_OK ||
        (uint64_t)fit.passes.workspace_bytes > q->workspace_max)
        return -1;
    return gt_model_predict_fit(&prediction, &b->model, &fit) ? fmax(prediction.ns, 1) : 0;
}

/* The losses of all kernels for a question. Kernels of one family stand together. */
static void weigh_one(double *row, const struct choosing *c, struct ask *a) {
    const struct gt_query q = query_of(c, a);
    struct bound b;
    for (size_t k = 0; k < c->kernels; k++) {
        const struct gt_family *f = c->kernel[k].family;
        if (k == 0 || f != c->kernel[k - 1].family)
            bind(&b, &q, f, a->best_ns);
        row[k] = forecast(&b, &q, c->kernel[k].values);
        if (row[k] > 0 && a->best_ns > 0)
            a->best_ns = fmin(a->best_ns, row[k]);
    }
    for (size_t k = 0; k < c->kernels; k++)
        row[k] = row[k] < 0 ? loss_refused : loss_of(a, &c->kernel[k], row[k]);
}

/* A gt_parallel_fn: fills in the losses of questions. */
static void weigh(void *user, int thread, int64_t first, int64_t end) {
    struct choosing *c = user;
    (void)thread;
    for (int64_t i = first; i < end && *c->setup->stop == 0; i++)
        weigh_one(&c->loss[(size_t)i * c->kernels], c, &c->ask[i]);
}

static gt_status weigh_all(struct choosing *c, struct gt_err *err) {
    free(c->loss);
    c->loss = calloc(c->asks * c->kernels + 1, sizeof *c->loss);
    if (c->loss == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    gt_parallel(weigh, c, (int64_t)c->asks);
    return *c->setup->stop == 0 ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ESTOPPED, "stopped");
}

/* ---- the choice ------------------------------------------------------------------ */

static double cost_of(double loss) {
    return loss + weight_beyond * fmax(loss - loss_goal, 0);
}

/* The cost of all questions, when each takes the kernel or has the loss `least`. */
static double cost_with(const struct choosing *c, const double *least, size_t kernel) {
    double sum = 0;
    for (size_t i = 0; i < c->asks; i++)
        if (c->ask[i].family != NULL)
            sum += cost_of(fmin(least[i], c->loss[i * c->kernels + kernel]));
    return sum;
}

/* The least losses with the chosen kernels, but for the one at `without`. */
static void least_losses(double *least, const struct choosing *c, const size_t *chosen,
                         size_t count, size_t without) {
    for (size_t i = 0; i < c->asks; i++) {
        least[i] = loss_refused;
        for (size_t k = 0; k < count; k++)
            if (k != without)
                least[i] = fmin(least[i], c->loss[i * c->kernels + chosen[k]]);
    }
}

/* The kernel that goes best with the losses `least`; of equal ones the first. */
static size_t best_with(double *cost, const struct choosing *c, const double *least) {
    size_t best = 0;
    *cost = INFINITY;
    for (size_t k = 0; k < c->kernels; k++) {
        const double own = cost_with(c, least, k);
        if (own < *cost) {
            *cost = own;
            best = k;
        }
    }
    return best;
}

/* Chooses `most` kernels: each time the one that helps most, and then exchanges single ones
 * as long as that helps. Returns how many. */
static size_t choose(size_t *chosen, double *least, const struct choosing *c, size_t most) {
    size_t count = 0;
    double cost = INFINITY, now;
    bool better = true;
    while (count < most && count < c->kernels && better) {
        least_losses(least, c, chosen, count, count);
        const size_t next = best_with(&now, c, least);
        better = now < cost;
        if (better)
            chosen[count++] = next;
        cost = fmin(cost, now);
    }
    better = count > 1;
    for (int round = 0; round < ROUNDS && better; round++) {
        better = false;
        for (size_t i = 0; i < count; i++) {
            least_losses(least, c, chosen, count, i);
            const size_t other = best_with(&now, c, least);
            if (now < cost) {
                chosen[i] = other;
                cost = now;
                better = true;
            }
        }
    }
    return count;
}

/* ---- what was chosen --------------------------------------------------------------- */

/* Adds the images of a kernel, by problems that it may run. */
static bool wish_for(struct gt_general_set *set, const struct choosing *c, size_t kernel) {
    const struct gt_general *k = &c->kernel[kernel];
    const int most = c->kind.batch ? SEEN_BATCH : SEEN_SINGLE;
    int seen = 0;
    for (size_t i = 0; i < c->asks && seen < most; i++) {
        if (c->loss[i * c->kernels + kernel] >= loss_refused)
            continue;
        struct gt_wish *const all =
            gt_room_for(set->wish, &set->wish_room, set->wishes, sizeof *all);
        if (all == NULL)
            return false;
        set->wish = all;
        struct gt_wish *w = &set->wish[set->wishes++];
        *w = (struct gt_wish){.problem = *c->ask[i].problem,
                              .family = k->family,
                              .pointer_align = c->ask[i].way->pointer_align};
        memcpy(w->values, k->values, sizeof w->values);
        seen++;
    }
    return true;
}

static gt_status take_best(struct gt_general_set *set, const struct choosing *c,
                           struct gt_err *err) {
    size_t *chosen = calloc(c->setup->kernels + 1, sizeof *chosen);
    double *least = calloc(c->asks + 1, sizeof *least);
    bool done = chosen != NULL && least != NULL;
    const size_t count = done ? choose(chosen, least, c, c->setup->kernels) : 0;
    for (size_t i = 0; i < count && done; i++)
        done = gt_generals_add(&set->list, &c->kernel[chosen[i]]) &&
               wish_for(set, c, chosen[i]);
    free(chosen);
    free(least);
    return done ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

/* ---- how good the choice is ------------------------------------------------------- */

/* The least loss of `count` kernels; loss_refused: none may run. */
static double loss_of_all(const struct choosing *c, const struct gt_general *kernel,
                          size_t count, const struct ask *a) {
    const struct gt_query q = query_of(c, a);
    struct gt_fit fit;
    double least = loss_refused, ns;
    for (size_t i = 0; i < count; i++)
        if (gt_general_forecast(&ns, &fit, &q, kernel[i].family, kernel[i].values))
            least = fmin(least, loss_of(a, &kernel[i], ns));
    return least;
}

/* The kernels of the present kind, while they are judged. */
struct judging {
    const struct choosing *c;
    const struct gt_general *kernel;
    size_t kernels;
    double *loss; /* of each question */
};

/* A gt_parallel_fn: fills in the losses of questions. */
static void see_losses(void *user, int thread, int64_t first, int64_t end) {
    const struct judging *j = user;
    (void)thread;
    for (int64_t i = first; i < end; i++)
        j->loss[i] = loss_of_all(j->c, j->kernel, j->kernels, &j->c->ask[i]);
}

/* Brings the losses of questions that have an answer to the front, and counts. */
static size_t keep_known(struct gt_general_loss *out, const struct choosing *c,
                         double *loss) {
    size_t count = 0;
    for (size_t i = 0; i < c->asks; i++) {
        out->asked += c->ask[i].family != NULL;
        if (c->ask[i].family != NULL && loss[i] < loss_refused)
            loss[count++] = loss[i];
    }
    out->refused = out->asked - count;
    return count;
}

static void sum_up(struct gt_general_loss *out, double *loss, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += loss[i];
    gt_sort_numbers(loss, count);
    out->mean = count > 0 ? sum / (double)count : 0;
    out->of_95 = count > 0 ? gt_quantile(loss, count, 0.95) : 0;
    out->largest = count > 0 ? loss[count - 1] : 0;
}

/* Adds the row of the present kind, with the kernels of the list from `first` to before
 * `end`. */
static gt_status judge(struct gt_general_set *set, const struct choosing *c, size_t first,
                       size_t end, struct gt_err *err) {
    double *loss = calloc(c->asks + 1, sizeof *loss);
    struct gt_general_loss *const all =
        gt_room_for(set->loss, &set->loss_room, set->losses, sizeof *all);
    if (all != NULL)
        set->loss = all;
    if (loss == NULL || all == NULL) {
        free(loss);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    struct judging j = {c, set->list.item + first, end - first, loss};
    struct gt_general_loss *row = &set->loss[set->losses++];
    *row = (struct gt_general_loss){.kind = c->kind, .kernels = end - first};
    gt_parallel(see_losses, &j, (int64_t)c->asks);
    sum_up(row, loss, keep_known(row, c, loss));
    free(loss);
    return GEMMTUNE_OK;
}

/* ---- all kinds of types ----------------------------------------------------------- */

/* Draws problems of all kinds; half of them are batches. */
static gt_status draw(struct choosing *c, const char *types, uint64_t seed,
                      struct gt_err *err) {
    const struct gt_texts word = {1, {types}};
    const struct gt_draw how = {.count = KINDS * c->setup->draws,
                                .seed = seed,
                                .types = &word,
                                .volume = c->setup->device->is_cpu ? volume_on_cpu
                                                                   : volume_on_gpu,
                                .batch = BATCH_MAX};
    gt_sweep_clear(&c->sweep);
    c->sweep = (struct gt_sweep){0};
    return gt_draw_problems(&c->sweep, &how, err);
}

static void set_kind(struct choosing *c, int kind) {
    c->kind =
        (struct gt_general_kind){gt_dtype_of(&c->sweep.item[0].problem),
                                 gt_layout_words[kind % GT_LAYOUTS], kind >= GT_LAYOUTS};
}

static void say(const struct choosing *c, const char *types, int step) {
    char text[GT_TYPES_WORD_MAX + 40];
    (void)snprintf(text, sizeof text, "choosing general kernels for %s", types);
    if (c->setup->progress != NULL)
        gt_progress_count(c->setup->progress, text, (size_t)step, 2 * KINDS);
}

static gt_status make_kind(struct gt_general_set *set, struct choosing *c,
                           struct gt_err *err) {
    gt_status status = ask_all(c, err);
    if (status == GEMMTUNE_OK)
        status = offer_all(c, err);
    if (status == GEMMTUNE_OK)
        status = weigh_all(c, err);
    return status == GEMMTUNE_OK ? take_best(set, c, err) : status;
}

/* Chooses with the problems of one draw, and judges with other ones. */
static gt_status make_all(struct gt_general_set *set, struct choosing *c, const char *types,
                          struct gt_err *err) {
    size_t first[KINDS + 1];
    gt_status status = draw(c, types, c->setup->seed, err);
    for (int i = 0; i < KINDS && status == GEMMTUNE_OK; i++) {
        say(c, types, i);
        first[i] = set->list.count;
        set_kind(c, i);
        status = make_kind(set, c, err);
    }
    first[KINDS] = set->list.count;
    if (status == GEMMTUNE_OK)
        status = draw(c, types, c->setup->seed + 1, err);
    for (int i = 0; i < KINDS && status == GEMMTUNE_OK; i++) {
        say(c, types, KINDS + i);
        set_kind(c, i);
        if (first[i] < first[i + 1])
            status = ask_all(c, err);
        if (first[i] < first[i + 1] && status == GEMMTUNE_OK)
            status = judge(set, c, first[i], first[i + 1], err);
    }
    return status;
}

gt_status gt_general_make(struct gt_general_set *set, const struct gt_general_setup *setup,
                          const char *types, struct gt_err *err) {
    struct choosing c = {.setup = setup};
    gt_device_key(setup->device, c.device_key);
    const gt_status status = make_all(set, &c, types, err);
    gt_sweep_clear(&c.sweep);
    free(c.ask);
    free(c.kernel);
    free(c.loss);
    return status;
}

void gt_general_set_clear(struct gt_general_set *set) {
    gt_generals_clear(&set->list);
    free(set->wish);
    free(set->loss);
    *set = (struct gt_general_set){.wishes = 0};
}
