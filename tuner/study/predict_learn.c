/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_learn.c - learns the trees of runtime/lookup/learned.h from stored trials.
 *
 * A tree is grown on the errors that the trees before it leave. The leaf that lessens the
 * squared error the most by its split is split, until there are enough. Each tree sees
 * a part of the trials and of the questions, drawn anew, and counts only in part, so that
 * no trial is learned by heart.
 */
#include "runtime/lookup/learned.h"
#include "tuner/base/quantile.h"
#include "tuner/search/search.h"
#include "tuner/study/model_trials.h"
#include "tuner/study/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIALS_PER_TREE = 8, /* a family gets so many trees as its trials allow */
    CUTS_MAX = 63,       /* places where a question may divide the trials */
    ROWS_MIN = 20        /* trials of a leaf */
};
/* docs/notes/model.md says what other values did. */
static const double learning_rate = 0.08; /* the part that a tree counts */
static const double rows_seen = 0.7;      /* of the trials, by a tree */
static const double inputs_seen = 0.5;    /* of the questions */
static const double error_most = 1.5;     /* larger errors of a logarithm count as this */

struct way {
    size_t trials;      /* of a family that gets trees */
    size_t least, most; /* new trees of a family */
    double lambda;      /* regularisation: trials that say "no error", added to each leaf */
    /* The trials of a problem have the weight 1 together, the records of one this weight:
     * they are fast kernels only. */
    double record_weight;
};
/* Shipped trees have learned from the records before. The errors that they leave are small:
 * few trials teach chance. */
static const struct way all_anew = {200, 200, 800, 1, 0.25},
                        behind_shipped = {3000, 200, 200, 3, 0.1};

/* The trials of a family. Input i of trial t is x[t][i]; bin[t * inputs + i] cuts of it are
 * less. */
struct lesson {
    size_t rows, records; /* trials and records, and the records among them */
    double lambda;
    int inputs;
    const float **x;
    uint8_t *bin;
    double *error, *weight; /* error: what the trees so far leave */
    float cut[GT_LEARNED_MAX][CUTS_MAX];
    int cuts[GT_LEARNED_MAX];
    size_t *order; /* the rows that a tree sees; a leaf's lie together */
    bool asked[GT_LEARNED_MAX];
    uint64_t random;
};

static void free_lesson(struct lesson *l) {
    free(l->x);
    free(l->bin);
    free(l->error);
    free(l->weight);
    free(l->order);
}

/* ---- the cuts ---- */

static int by_value(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Cuts lie between values that occur, at equal shares of the trials. */
static void find_cuts(struct lesson *l, int input, float *sorted) {
    int *const count = &l->cuts[input];
    *count = 0;
    for (size_t t = 0; t < l->rows; t++)
        sorted[t] = l->x[t][input];
    qsort(sorted, l->rows, sizeof *sorted, by_value);
    for (size_t t = 1, last = 0; t < l->rows && *count < CUTS_MAX; t++)
        if (sorted[t] > sorted[t - 1] && (t - last) * (CUTS_MAX + 1) >= l->rows) {
            /* Rounded as it will be printed, so that printing changes no tree. */
            char text[32];
            (void)snprintf(text, sizeof text, "%.5g",
                           ((double)sorted[t - 1] + (double)sorted[t]) / 2);
            l->cut[input][(*count)++] = strtof(text, NULL);
            last = t;
        }
}

static void find_bins(struct lesson *l, int input) {
    for (size_t t = 0; t < l->rows; t++) {
        int bin = 0;
        while (bin < l->cuts[input] && !(l->x[t][input] <= l->cut[input][bin]))
            bin++;
        l->bin[t * (size_t)l->inputs + (size_t)input] = (uint8_t)bin;
    }
}

/* ---- a tree ---- */

/* A leaf, or what was one: rows order[begin] to order[end - 1], and its best split. */
struct leaf {
    size_t begin, end;
    double error, weight; /* sums */
    double gain;          /* of its best split; 0: there is none */
    int input, bin;       /* rows up to this bin go left */
    int left, right;      /* the leaves that it was split into; 0: it is a leaf */
};

static double worth(const struct lesson *l, double error, double weight) {
    return error * error / (weight + l->lambda);
}

/* Tries all cuts of one input. */
static void try_input(const struct lesson *l, struct leaf *leaf, int input) {
    struct {
        double error, weight;
        size_t rows;
    } bins[CUTS_MAX + 1] = {0};
    double error = 0, weight = 0;
    size_t rows = 0;
    for (size_t i = leaf->begin; i < leaf->end; i++) {
        const size_t t = l->order[i];
        const uint8_t bin = l->bin[t * (size_t)l->inputs + (size_t)input];
        bins[bin].error += l->weight[t] * l->error[t];
        bins[bin].weight += l->weight[t];
        bins[bin].rows++;
    }
    for (int b = 0; b < l->cuts[input]; b++) {
        error += bins[b].error;
        weight += bins[b].weight;
        rows += bins[b].rows;
        if (rows < ROWS_MIN || leaf->end - leaf->begin - rows < ROWS_MIN)
            continue;
        const double gain = worth(l, error, weight) +
                            worth(l, leaf->error - error, leaf->weight - weight) -
                            worth(l, leaf->error, leaf->weight);
        if (gain > leaf->gain) {
            leaf->gain = gain;
            leaf->input = input;
            leaf->bin = b;
        }
    }
}

static struct leaf leaf_of(const struct lesson *l, size_t begin, size_t end) {
    struct leaf leaf = {.begin = begin, .end = end};
    for (size_t i = begin; i < end; i++) {
        leaf.error += l->weight[l->order[i]] * l->error[l->order[i]];
        leaf.weight += l->weight[l->order[i]];
    }
    for (int i = 0; i < l->inputs; i++)
        if (l->asked[i])
            try_input(l, &leaf, i);
    return leaf;
}

/* Puts the rows that go left first; returns where the others begin. */
static size_t divide(struct lesson *l, const struct leaf *leaf) {
    size_t middle = leaf->begin;
    for (size_t i = leaf->begin; i < leaf->end; i++) {
        const size_t t = l->order[i];
        if (l->bin[t * (size_t)l->inputs + (size_t)leaf->input] > leaf->bin)
            continue;
        l->order[i] = l->order[middle];
        l->order[middle++] = t;
    }
    return middle;
}

/* Draws what the tree sees; returns the number of rows. */
static size_t draw(struct lesson *l) {
    size_t rows = 0;
    for (size_t t = 0; t < l->rows; t++)
        if (gt_random_uniform(&l->random) < rows_seen)
            l->order[rows++] = t;
    for (int i = 0; i < l->inputs; i++)
        l->asked[i] = gt_random_uniform(&l->random) < inputs_seen;
    return rows;
}

/* Writes the nodes of leaf `i` and below in preorder; returns how many. */
static int write_nodes(struct gt_learned_node *to, const struct lesson *l,
                       const struct leaf *leaf, int i) {
    const struct leaf *at = &leaf[i];
    if (at->left == 0) {
        char text[32]; /* as it will be printed */
        (void)snprintf(text, sizeof text, "%.4f",
                       learning_rate * at->error / (at->weight + l->lambda));
        *to = (struct gt_learned_node){strtof(text, NULL), -1, 0};
        return 1;
    }
    const int left = 1 + write_nodes(to + 1, l, leaf, at->left);
    *to = (struct gt_learned_node){l->cut[at->input][at->bin], (int8_t)at->input,
                                   (uint8_t)left};
    return left + write_nodes(to + left, l, leaf, at->right);
}

static void grow(struct gt_learned_node *to, struct lesson *l) {
    struct leaf leaf[GT_LEARNED_NODES];
    int count = 1;
    leaf[0] = leaf_of(l, 0, draw(l));
    while (count + 2 <= GT_LEARNED_NODES) {
        int best = -1;
        for (int i = 0; i < count; i++)
            if (leaf[i].left == 0 && leaf[i].gain > 0 &&
                (best < 0 || leaf[i].gain > leaf[best].gain))
                best = i;
        if (best < 0)
            break;
        const size_t middle = divide(l, &leaf[best]);
        leaf[best].left = count;
        leaf[best].right = count + 1;
        leaf[count++] = leaf_of(l, leaf[best].begin, middle);
        leaf[count++] = leaf_of(l, middle, leaf[best].end);
    }
    (void)write_nodes(to, l, leaf, 0);
    for (size_t t = 0; t < l->rows; t++)
        l->error[t] -= gt_learned_sum(to, 1, l->x[t]);
}

/* ---- a family ---- */

static const struct way *way_of(const struct gt_learned *shipped) {
    return shipped != NULL ? &behind_shipped : &all_anew;
}

/* The error that the shipped trees leave; they may be NULL. */
static double error_of(const struct gt_model_trial *t, const struct gt_learned *shipped) {
    const double known =
        shipped != NULL ? gt_learned_sum(shipped->node, shipped->trees, t->x) : 0;
    return fmax(-error_most, fmin(error_most, log(t->ns / t->plain_ns) - known));
}

/* Takes the family's trials and records. Those held out are left out when `held_out`. */
static gt_status take_rows(struct lesson *l, const struct gt_model_trials *all,
                           const double *weight, const struct gt_family *family,
                           const struct gt_learned *shipped, bool held_out,
                           struct gt_err *err) {
    const struct way *const way = way_of(shipped);
    double sum = 0;
    l->x = calloc(all->count, sizeof *l->x);
    l->error = calloc(all->count, sizeof *l->error);
    l->weight = calloc(all->count, sizeof *l->weight);
    l->order = calloc(all->count, sizeof *l->order);
    l->inputs = gt_learned_input_count(family);
    l->bin = calloc(all->count, (size_t)l->inputs);
    if (!l->x || !l->error || !l->weight || !l->order || !l->bin)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; i < all->count; i++) {
        const struct gt_model_trial *t = &all->trial[i];
        if (t->family != family || !t->can_teach || (t->held_out && held_out))
            continue;
        l->x[l->rows] = t->x;
        l->error[l->rows] = error_of(t, shipped);
        l->records += t->row->record;
        l->weight[l->rows] = weight[i] * (t->row->record ? way->record_weight : 1);
        sum += l->weight[l->rows++];
    }
    for (size_t t = 0; t < l->rows; t++) /* one in the mean */
        l->weight[t] *= (double)l->rows / sum;
    return GEMMTUNE_OK;
}

/* How many trees `rows` trials allow. */
static int fair_trees(size_t rows, const struct way *way) {
    const size_t fair = rows / TRIALS_PER_TREE;
    return (int)(fair < way->least ? way->least : fair > way->most ? way->most : fair);
}

/* Grows trees after the trees of `out`, until there are `trees`. */
static gt_status grow_trees(struct gt_learned_trees *out, struct lesson *l, int trees,
                            struct gt_err *err) {
    float *const sorted = calloc(l->rows, sizeof *sorted);
    if (sorted == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (int i = 0; i < l->inputs; i++) {
        find_cuts(l, i, sorted);
        find_bins(l, i);
    }
    for (; out->count < trees; out->count++)
        grow(out->node + (size_t)out->count * GT_LEARNED_NODES, l);
    free(sorted);
    return GEMMTUNE_OK;
}

/* How many new trees the family gets. */
static int new_trees(const struct lesson *l, const struct way *way, bool held_out) {
    const size_t rows = way == &behind_shipped ? l->rows - l->records : l->rows;
    /* Without a third of the problems, a family that will have trees mostly has them. */
    const size_t least = held_out ? way->trials * 2 / 3 : way->trials;
    return rows >= least ? fair_trees(rows, way) : 0;
}

/* Begins with the shipped trees, which may be NULL; there will be `trees` in all. */
static gt_status begin_trees(struct gt_learned_trees *out, const struct gt_learned *shipped,
                             int trees, struct gt_err *err) {
    if (trees == 0)
        return GEMMTUNE_OK;
    out->node = calloc((size_t)trees * GT_LEARNED_NODES, sizeof *out->node);
    if (out->node == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (shipped != NULL)
        memcpy(out->node, shipped->node,
               (size_t)shipped->trees * GT_LEARNED_NODES * sizeof *out->node);
    out->count = out->shipped;
    return GEMMTUNE_OK;
}

/* Where the trees that were learned later begin. Trees that are shipped as such stay first:
 * they know what the oldest ones do not. */
static int later_of(const struct gt_learned *shipped, int count) {
    return shipped != NULL ? shipped->later : count;
}

static gt_status learn_family(struct gt_learned_trees *out,
                              const struct gt_model_trials *all, const double *weight,
                              const struct gt_family *family,
                              const struct gt_learned *shipped, bool held_out,
                              struct gt_err *err) {
    const struct way *const way = way_of(shipped);
    struct lesson l = {.random = 1, .lambda = way->lambda};
    gt_status status = take_rows(&l, all, weight, family, shipped, held_out, err);
    const int had = shipped != NULL ? shipped->trees : 0;
    const int trees = had + new_trees(&l, way, held_out);
    *out = (struct gt_learned_trees){.family = family, .shipped = had};
    if (status == GEMMTUNE_OK)
        status = begin_trees(out, shipped, trees, err);
    if (status == GEMMTUNE_OK && trees > had)
        status = grow_trees(out, &l, trees, err);
    out->later = later_of(shipped, out->count);
    free_lesson(&l);
    return status;
}

/* ---- all families ---- */

/* The square of (best time of the problem / time of the trial); each problem counts the
 * same. */
static void weigh(double *weight, const struct gt_model_trials *all) {
    for (size_t i = 0, end; i < all->count; i = end) {
        double best = all->trial[i].ns, sum = 0;
        end = gt_model_trials_end(all, i);
        for (size_t j = i; j < end; j++)
            best = fmin(best, all->trial[j].ns);
        for (size_t j = i; j < end; j++)
            sum += weight[j] = best / all->trial[j].ns * (best / all->trial[j].ns);
        for (size_t j = i; j < end; j++)
            weight[j] /= sum;
    }
}

static const struct gt_learned_trees *trees_of(const struct gt_learning *l,
                                               const struct gt_family *f) {
    for (size_t i = 0; i < l->count; i++)
        if (l->family[i].family == f && l->family[i].count > 0)
            return &l->family[i];
    return NULL;
}

/* The time that the first `count` of the family's trees forecast. */
static double forecast_of(const struct gt_model_trial *t,
                          const struct gt_learned_trees *trees, int count) {
    if (count == 0)
        return t->plain_ns;
    const double sum = gt_learned_sum(trees->node, count, t->x);
    return t->plain_ns * gt_learned_factor(sum, t->plain_ns, t->least_ns);
}

/* Takes the trial with the least forecast of trials [begin, end), without what was learned
 * and with it: writes its time over the best one. Kernels for comparison may be taken only
 * with their trees, as in a lookup. False when there is none to take. */
static bool choose(double loss[2], const struct gt_learning *l,
                   const struct gt_model_trials *all, size_t begin, size_t end) {
    double least[2] = {HUGE_VAL, HUGE_VAL}, best = HUGE_VAL;
    for (size_t i = begin; i < end; i++) {
        const struct gt_model_trial *t = &all->trial[i];
        const struct gt_learned_trees *trees = t->can_teach ? trees_of(l, t->family) : NULL;
        const int count[2] = {trees != NULL ? trees->shipped : 0,
                              trees != NULL ? trees->count : 0};
        best = fmin(best, t->ns);
        for (int w = 0; w < 2; w++) {
            const double forecast = forecast_of(t, trees, count[w]);
            if ((t->family->role == GT_ROLE_NONE || count[w] > 0) && t->plain_ns > 0 &&
                forecast < least[w]) {
                least[w] = forecast;
                loss[w] = t->ns;
            }
        }
    }
    for (int w = 0; w < 2; w++)
        loss[w] /= best;
    return least[0] < HUGE_VAL;
}

static void add_loss(struct gt_held_out *to, const double loss[2]) {
    to->problems++;
    for (int w = 0; w < 2; w++)
        to->loss[w] += log(loss[w]);
}

/* Turns sums of logarithms into geometric means. */
static void close_losses(struct gt_held_out *h) {
    for (int w = 0; w < 2; w++)
        h->loss[w] = h->problems > 0 ? expm1(h->loss[w] / (double)h->problems) : 0;
}

/* Writes the losses on problems held out for which there may be trees. The few records of a
 * problem that was not tried say nothing about a choice. */
static void judge(struct gt_learning *l, const struct gt_model_trials *all,
                  double *losses[2]) {
    for (size_t i = 0, end; i < all->count; i = end) {
        double loss[2] = {0};
        gemmtune_problem p;
        end = gt_model_trials_end(all, i);
        const struct gt_model_trial *first = &all->trial[i];
        if (!first->held_out || !first->can_teach || first->row->record ||
            gt_problem_from_name(&p, first->row->problem, NULL) != GEMMTUNE_OK ||
            !choose(loss, l, all, i, end))
            continue;
        for (int w = 0; w < 2; w++)
            losses[w][l->all.problems] = loss[w] - 1;
        add_loss(&l->all, loss);
        add_loss(&l->of[gt_dtype_index(gt_dtype_of(&p))][gt_problem_is_batch(&p)], loss);
    }
    for (int w = 0; w < 2 && l->all.problems > 0; w++) {
        gt_sort_numbers(losses[w], l->all.problems);
        l->all.loss_95[w] = gt_quantile(losses[w], l->all.problems, 0.95);
    }
    close_losses(&l->all);
    for (size_t t = 0; t < GT_DTYPES; t++)
        for (int batch = 0; batch < 2; batch++)
            close_losses(&l->of[t][batch]);
}

static gt_status learn_all(struct gt_learning *out, const struct gt_model_trials *all,
                           const double *weight, const struct gt_families *families,
                           enum gt_learning_way way, bool held_out, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < out->count; i++)
        free(out->family[i].node);
    memset(out->family, 0, gt_families_count(families) * sizeof *out->family);
    out->count = gt_families_count(families);
    for (size_t i = 0; i < out->count && status == GEMMTUNE_OK; i++) {
        const struct gt_family *const f = gt_families_at(families, i);
        status = learn_family(&out->family[i], all, weight, f,
                              way == GT_LEARN_MORE ? gt_learned_for(&all->shelf->trees, f)
                                                   : NULL,
                              held_out, err);
    }
    return status;
}

static bool has_trees(const struct gt_learning *l) {
    bool has = false;
    for (size_t i = 0; i < l->count; i++)
        has |= l->family[i].count > l->family[i].shipped;
    return has;
}

gt_status gt_predict_learn(struct gt_learning *out, const struct gt_view *v,
                           const struct gt_families *families, const char *device_key,
                           const struct gt_shelf *shelf, enum gt_learning_way way,
                           struct gt_err *err) {
    struct gt_model_trials all;
    double *weight = NULL, *losses = NULL;
    memset(out, 0, sizeof *out);
    out->family = calloc(gt_families_count(families) + 1, sizeof *out->family);
    gt_status status =
        out->family == NULL
            ? gt_fail(err, GEMMTUNE_ENOMEM, "out of memory")
            : gt_model_trials_take(&all, v, families, device_key, shelf, true, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (all.count == 0)
        status =
            gt_fail(err, GEMMTUNE_ENOTFOUND, "no trials on %s to learn from", device_key);
    else if ((weight = calloc(all.count, sizeof *weight)) == NULL ||
             (losses = calloc(2 * all.count, sizeof *losses)) == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (status == GEMMTUNE_OK) {
        weigh(weight, &all);
        status = learn_all(out, &all, weight, families, way, true, err);
    }
    if (status == GEMMTUNE_OK) {
        judge(out, &all, (double *[2]){losses, losses + all.count});
        status = learn_all(out, &all, weight, families, way, false, err);
    }
    if (status == GEMMTUNE_OK && !has_trees(out))
        status = gt_fail(err, GEMMTUNE_ENOTFOUND,
                         "no family has enough trials on %s: %zu, or %zu behind shipped "
                         "trees, of products and strided batches",
                         device_key, all_anew.trials, behind_shipped.trials);
    for (size_t i = 0; i < all.count; i++)
        out->trials += all.trial[i].can_teach;
    free(losses);
    free(weight);
    gt_model_trials_clear(&all);
    return status;
}

static gt_status add_trees(struct gt_trees *to, const struct gt_learned_trees *from,
                           struct gt_err *err) {
    const size_t bytes = (size_t)from->count * GT_LEARNED_NODES * sizeof *from->node;
    struct gt_learned *const l = &to->of[to->count++];
    *l = (struct gt_learned){.family = strdup(from->family->name),
                             .names = gt_learned_names(from->family),
                             .trees = from->count,
                             .later = from->later,
                             .node = malloc(bytes)};
    if (l->family == NULL || l->names == NULL || l->node == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    memcpy(l->node, from->node, bytes);
    return GEMMTUNE_OK;
}

gt_status gt_learning_trees(struct gt_trees *out, const struct gt_learning *l,
                            struct gt_err *err) {
    *out = (struct gt_trees){.of = calloc(l->count + 1, sizeof *out->of)};
    gt_status status =
        out->of != NULL ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; status == GEMMTUNE_OK && i < l->count; i++)
        if (l->family[i].count > 0)
            status = add_trees(out, &l->family[i], err);
    if (status != GEMMTUNE_OK)
        gt_trees_clear(out);
    return status;
}

void gt_learning_clear(struct gt_learning *l) {
    for (size_t i = 0; i < l->count; i++)
        free(l->family[i].node);
    free(l->family);
    memset(l, 0, sizeof *l);
}
