/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned.h - what the model's computation leaves out, learned from trials: for each family
 * an ensemble of small regression trees. Their sum is the expected logarithm of measured
 * over predicted time. The trees of a device stand in its folder (shelf.h), in trees.bin.
 * From the trials of a database `gemmtune predict --learn` writes that file anew, and
 * `--learn-more` with more trees after the trees that it has. Pure, as the model is.
 *
 * Trees mean nothing after a change of the questions below, of the costs (costs.h), of what
 * model.c computes, or of what a family derives: then they are learned anew.
 *
 * Method: gradient boosting of regression trees with squared errors, Friedman, Greedy
 * Function Approximation: A Gradient Boosting Machine (2001), Stochastic Gradient Boosting
 * (2002).
 */
#ifndef GT_RUNTIME_LOOKUP_LEARNED_H
#define GT_RUNTIME_LOOKUP_LEARNED_H

#include "runtime/lookup/model.h"

/* X(value, meaning): what a tree may ask about a point on a problem, as an expression of a
 * binding `b`, facts `f` and a prediction `p`. */
#define GT_LEARNED_LIST(X)                                                                 \
    X(b->value[GT_IN_SIZEOF_ACC], "bytes of a sum")                                        \
    X(b->value[GT_IN_SIZEOF_A], "bytes of an element of A")                                \
    X(gt_type_is_float(b->dtype->a), "whether elements are floating-point")                \
    X(log2(fmax(1, (double)f->products)), "products of a batch")                           \
    X(b->value[GT_IN_TA], "whether A is transposed")                                       \
    X(b->value[GT_IN_TB], "whether B is transposed")                                       \
    X(b->value[GT_IN_ALIGN_A], "alignment of rows of A")                                   \
    X(b->value[GT_IN_ALIGN_B], "alignment of rows of B")                                   \
    X(b->value[GT_IN_ALIGN_C], "alignment of rows of C")                                   \
    X(log2(fmax(1, (double)f->m)), "m")                                                    \
    X(log2(fmax(1, (double)f->n)), "n")                                                    \
    X(log2(fmax(1, (double)f->k)), "k")                                                    \
    X(filled(f->m, f->shape[GT_SHAPE_TILE_M]), "part of the tiles' rows that exist")       \
    X(filled(f->n, f->shape[GT_SHAPE_TILE_N]), "part of the tiles' columns that exist")    \
    X(filled(f->k, f->shape[GT_SHAPE_TILE_K]), "part of the slabs' k that exists")         \
    X(log2(p->ns), "predicted time")                                                       \
    X(p->least_ns / p->ns, "lower bound of the time over the predicted time")              \
    X(log2(fmax(1, (double)p->slabs)), "slabs of a block")                                 \
    X(log2(fmax(1, (double)p->blocks)), "blocks")                                          \
    X(p->resident, "blocks that a unit holds at once")                                     \
    X(p->waves, "rounds of blocks")                                                        \
    X(p->last_wave, "part of the last round that is filled")                               \
    X(f->threads, "threads of a block")                                                    \
    X(p->term_ns[GT_TERM_FMA] / p->ns, "parts that the model's terms have")                \
    X(p->term_ns[GT_TERM_ISSUE] / p->ns, "")                                               \
    X(p->term_ns[GT_TERM_SHARED] / p->ns, "")                                              \
    X(p->term_ns[GT_TERM_L2] / p->ns, "")                                                  \
    X(p->term_ns[GT_TERM_DRAM] / p->ns, "")                                                \
    X(p->term_ns[GT_TERM_LATENCY] / p->ns, "")                                             \
    X(p->term_ns[GT_TERM_ENDS] / p->ns, "")                                                \
    X(p->term_ns[GT_TERM_PASSES] / p->ns, "")

enum {
#define X(value, about) +1
    GT_LEARNED_COMMON = 0 GT_LEARNED_LIST(X),
#undef X
    /* Then the point's values, and what the family derives from them. */
    GT_LEARNED_MAX = GT_LEARNED_COMMON + GT_POINT_MAX + GT_RULES_MAX,
    GT_LEARNED_LEAVES = 15, /* of a tree */
    GT_LEARNED_NODES = 2 * GT_LEARNED_LEAVES - 1,
    /* Trees that make a rough forecast: of a family the first ones, and the first of the
     * trees that were learned later. In the order of learning each one corrects less. */
    GT_LEARNED_ROUGH = 100,
    GT_LEARNED_ROUGH_LATER = 50,
    /* Of these, trees by which a forecast is seen to be much too long. */
    GT_LEARNED_GLANCE = 16,
    GT_LEARNED_GLANCE_LATER = 8
};

_Static_assert(GT_LEARNED_MAX <= INT8_MAX && GT_LEARNED_NODES <= UINT8_MAX,
               "a node's numbers must fit");

/* A node of a tree. The nodes lie in preorder: the left child follows, the right one is
 * `right` nodes further on. */
struct gt_learned_node {
    float value;   /* a leaf's part of the sum; else x[asks] <= value leads to the left */
    int8_t asks;   /* the index of what it asks about; -1: a leaf */
    uint8_t right; /* of a leaf: 0 */
};

/* The trees of a family. Each has GT_LEARNED_NODES nodes; nodes after its last leaf are not
 * used. */
struct gt_learned {
    char *family;
    /* Names of the family's parameters and of what it derives, each with a space after it.
     * A family with other names has changed, and these trees say nothing about it. */
    char *names;
    int trees;
    int later; /* the first tree that was learned later, after the others; `trees`: none */
    struct gt_learned_node *node;
};

/* The trees of all families on one device. */
struct gt_trees {
    size_t count;
    struct gt_learned *of; /* owned, with its texts and nodes */
};

/* Reads trees.bin at `path`; trees_file.c has the format. EIO, EPARSE or ENOMEM with a
 * line; *out is then empty. No tree that was read leads out of its nodes, or asks what its
 * family has not. */
gt_status gt_trees_read(struct gt_trees *out, const char *path, struct gt_err *err);
/* Writes trees.bin to `file`, a FILE *. EIO when the file cannot be written. */
gt_status gt_trees_write(void *file, const struct gt_trees *trees, struct gt_err *err);
void gt_trees_clear(struct gt_trees *t);

/* Whether trials of the bound problem teach: a product or a strided batch of at most 4e10
 * multiplications without an epilogue, by a built-in family. Of i32, and of the modes that
 * make several products of one, no trials do. gt_learned_of has trees for problems with an
 * epilogue as well. */
bool gt_learned_may(const struct gt_binding *b);

/* The trees that know the bound problem's kernels, or NULL. A problem with an epilogue gets
 * the trees of its plain product, which know nothing of the epilogue's cost. */
const struct gt_learned *gt_learned_of(const struct gt_trees *t,
                                       const struct gt_binding *b);

/* The trees for the family as it is, or NULL. */
const struct gt_learned *gt_learned_for(const struct gt_trees *t,
                                        const struct gt_family *f);
/* Names of the family's parameters and of what it derives, each with a space after it:
 * gt_learned.names. The caller frees it; NULL: out of memory. */
char *gt_learned_names(const struct gt_family *f);

/* How many things a family's trees may ask about. */
int gt_learned_input_count(const struct gt_family *f);

/* Writes what trees ask about, all finite: `p` is the prediction of the facts, without what
 * was learned. */
void gt_learned_inputs(float x[GT_LEARNED_MAX], const struct gt_binding *b,
                       const struct gt_facts *f, const struct gt_prediction *p);

/* The sum of `trees` trees. */
double gt_learned_sum(const struct gt_learned_node *node, int trees, const float *x);

/* The factor by which trees with this sum correct a time of `ns`. It takes a time at most
 * half of the way (of the logarithm) down to its lower bound. */
double gt_learned_factor(double sum, double ns, double least_ns);

/* Multiplies a time that was computed by what trials of like points have taught, and writes
 * that factor to p->learned. Without m->trees the prediction stays. m->few_trees and
 * m->too_long_ns say which trees count. */
void gt_learned_correct(struct gt_prediction *p, const struct gt_model *m,
                        const struct gt_binding *b, const struct gt_facts *f);

#endif
