/* SPDX-License-Identifier: Apache-2.0 */
/* learned.c - see learned.h. */
#include "runtime/lookup/learned.h"

#include "runtime/family/family_inside.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Multiplications of the largest product that was tried. Larger ones bind other resources:
 * the power limit of a device, above all. */
static const double learned_volume = 4e10;

/* Whether trials of this arithmetic teach. i32 and the modes that make several products of
 * one have too few. So have outputs of another type and promoted sums, but they have the
 * kernels of the usual outputs, so what these have taught counts for them. */
static bool teaches(const struct gt_dtype *t) {
    const bool is_plain = t->math == GEMMTUNE_MATH_STRICT ||
                          t->math == GEMMTUNE_MATH_TF32 || t->math == GEMMTUNE_MATH_FAST ||
                          t->math == GEMMTUNE_MATH_PROMOTED;
    return is_plain && t->a != GEMMTUNE_I32;
}

static double filled(int64_t size, int64_t tile) {
    const double tiles = ceil((double)size / (double)tile);
    return tiles > 0 ? (double)size / (tiles * (double)tile) : 1;
}

int gt_learned_input_count(const struct gt_family *f) {
    return GT_LEARNED_COMMON + f->param_count + f->derive_count;
}

void gt_learned_inputs(float x[GT_LEARNED_MAX], const struct gt_binding *b,
                       const struct gt_facts *f, const struct gt_prediction *p) {
    int count = 0;
#define X(input, about) x[count++] = (float)(input);
    GT_LEARNED_LIST(X)
#undef X
    for (int i = 0; i < b->family->param_count; i++)
        x[count++] = (float)b->value[b->family->param[i].slot];
    for (int i = 0; i < b->family->derive_count; i++)
        x[count++] = (float)b->value[b->family->derive[i].slot];
}

/* The next node on the way from n; a leaf leads to itself. By arithmetic alone: a processor
 * cannot foresee the way. */
static const struct gt_learned_node *next_node(const struct gt_learned_node *n,
                                               const float *x) {
    const int is_inside = n->asks >= 0;
    const int is_left = x[n->asks & -is_inside] <= n->value;
    return n + ((is_left | (n->right & (is_left - 1))) & -is_inside);
}

enum { AT_ONCE = 8 };

/* `sum` and the sum of AT_ONCE trees from `tree` on. The ways through these trees do not
 * wait for each other. The loops are unrolled so that the ways are in registers. */
static double add_some(double sum, const struct gt_learned_node *tree, const float *x) {
    const struct gt_learned_node *at[AT_ONCE];
    int asks; /* negative when all ways have ended */
#pragma GCC unroll AT_ONCE
    for (int i = 0; i < AT_ONCE; i++)
        at[i] = tree + (size_t)i * GT_LEARNED_NODES;
    do {
        asks = -1;
#pragma GCC unroll AT_ONCE
        for (int i = 0; i < AT_ONCE; i++) {
            at[i] = next_node(at[i], x);
            asks &= at[i]->asks;
        }
    } while (asks >= 0);
#pragma GCC unroll AT_ONCE
    for (int i = 0; i < AT_ONCE; i++)
        sum += (double)at[i]->value;
    return sum;
}

double gt_learned_sum(const struct gt_learned_node *node, int trees, const float *x) {
    double sum = 0;
    int i = 0;
    for (; i + AT_ONCE <= trees; i += AT_ONCE, node += (size_t)AT_ONCE * GT_LEARNED_NODES)
        sum = add_some(sum, node, x);
    for (; i < trees; i++, node += GT_LEARNED_NODES) {
        const struct gt_learned_node *n = node;
        while (n->asks >= 0)
            n = next_node(n, x);
        sum += (double)n->value;
    }
    return sum;
}

static int at_most(int trees, int most) {
    return trees < most ? trees : most;
}

double gt_learned_factor(double sum, double ns, double least_ns) {
    return fmax(exp(sum), sqrt(least_ns / ns));
}

/* Whether the text at *names begins with the name and a space; then steps over both. */
static bool take_name(const char **names, const char *name) {
    const size_t len = strlen(name);
    if (strncmp(*names, name, len) != 0 || (*names)[len] != ' ')
        return false;
    *names += len + 1;
    return true;
}

char *gt_learned_names(const struct gt_family *f) {
    size_t size = 1;
    for (int i = 0; i < f->param_count; i++)
        size += strlen(f->param[i].name) + 1;
    for (int i = 0; i < f->derive_count; i++)
        size += strlen(f->symbols.name[f->derive[i].slot]) + 1;
    char *const names = calloc(1, size);
    char *at = names;
    for (int i = 0; names != NULL && i < f->param_count; i++)
        at += sprintf(at, "%s ", f->param[i].name);
    for (int i = 0; names != NULL && i < f->derive_count; i++)
        at += sprintf(at, "%s ", f->symbols.name[f->derive[i].slot]);
    return names;
}

/* Whether these are the family's parameters and what it derives. */
static bool has_names(const struct gt_family *f, const char *names) {
    bool has = true;
    for (int i = 0; has && i < f->param_count; i++)
        has = take_name(&names, f->param[i].name);
    for (int i = 0; has && i < f->derive_count; i++)
        has = take_name(&names, f->symbols.name[f->derive[i].slot]);
    return has && *names == '\0';
}

/* Whether trials of the bound problem would teach if it had no epilogue. */
static bool plain_product_teaches(const struct gt_binding *b) {
    const double volume = (double)b->value[GT_IN_M] * (double)b->value[GT_IN_N] *
                          (double)b->value[GT_IN_K] * (double)b->value[GT_IN_BATCH];
    const bool is_built_in = b->family->derive_all != NULL;
    return is_built_in && volume <= learned_volume &&
           b->batch_kind == GEMMTUNE_BATCH_STRIDED && b->dtype != NULL && teaches(b->dtype);
}

bool gt_learned_may(const struct gt_binding *b) {
    return b->epilogue == NULL && plain_product_teaches(b);
}

const struct gt_learned *gt_learned_for(const struct gt_trees *t,
                                        const struct gt_family *f) {
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->of[i].family, f->name) == 0 && has_names(f, t->of[i].names))
            return &t->of[i];
    return NULL;
}

const struct gt_learned *gt_learned_of(const struct gt_trees *t,
                                       const struct gt_binding *b) {
    return t->count > 0 && plain_product_teaches(b) ? gt_learned_for(t, b->family) : NULL;
}

/* The sum of trees `from` to `to` - 1, as far as there are so many: of the first trees, or
 * with `later` of the trees that were learned later. */
static double sum_of_part(const struct gt_learned *l, bool later, int from, int to,
                          const float *x) {
    const int first = later ? l->later : 0, count = later ? l->trees - l->later : l->later;
    const struct gt_learned_node *node =
        l->node + (size_t)(first + at_most(count, from)) * GT_LEARNED_NODES;
    return gt_learned_sum(node, at_most(count, to) - at_most(count, from), x);
}

/* Stages of a forecast: how many trees count by then, first ones and later ones. A stage is
 * left out when the trees before it find the time longer than `share` of too_long_ns. With
 * the share of 0.85 a lookup took 2.2 instead of 2.9 ms, and the forecasts of 200 answers
 * stayed the same in the mean. */
static const struct stage {
    int first, later;
    double share;
} stages[] = {
    {0, 0, 0},                                       /* no trees */
    {GT_LEARNED_GLANCE, GT_LEARNED_GLANCE_LATER, 0}, /* never left out */
    {GT_LEARNED_ROUGH, GT_LEARNED_ROUGH_LATER, 1},
    {INT_MAX, INT_MAX, 0.85},
};
enum { STAGES = sizeof stages / sizeof stages[0], ROUGH_STAGES = STAGES - 1 };

static bool is_too_long(const struct gt_model *m, const struct gt_prediction *p, double sum,
                        double share) {
    return m->too_long_ns > 0 &&
           p->ns * gt_learned_factor(sum, p->ns, p->least_ns) > share * m->too_long_ns;
}

/* The sum of all trees, or of the trees that make a rough forecast; of fewer, when they
 * find the time too long. */
static double sum_for(const struct gt_model *m, const float *x,
                      const struct gt_prediction *p) {
    const struct stage *end = stages + (m->few_trees ? ROUGH_STAGES : STAGES);
    const struct stage *s = stages + 1;
    double sum = 0;
    do
        sum += sum_of_part(m->trees, false, s[-1].first, s->first, x) +
               sum_of_part(m->trees, true, s[-1].later, s->later, x);
    while (++s < end && !is_too_long(m, p, sum, s->share));
    return sum;
}

void gt_learned_correct(struct gt_prediction *p, const struct gt_model *m,
                        const struct gt_binding *b, const struct gt_facts *f) {
    float x[GT_LEARNED_MAX];
    if (m->trees == NULL)
        return;
    gt_learned_inputs(x, b, f, p);
    p->learned = gt_learned_factor(sum_for(m, x, p), p->ns, p->least_ns);
    p->ns *= p->learned;
}
