/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - how long a point should take on a device, computed and not measured: from the
 * device's description, the launches and the family's "shape". Pure: no device, no file, no
 * lock, no state; any thread may call it.
 *
 * A prediction is a sum over launches. The time of the main kernel is the 4-norm of its
 * busiest unit's (multiprocessor's) times for each resource: the longest binds, and those
 * near it add to it. Where trials have taught what the computation leaves out (learned.h),
 * a factor corrects the sum, and the terms stay as computed. For a CPU the computation is
 * another one (model_cpu.h). There is no prediction for a family without a shape, for a
 * GPU's kernels on a CPU, or for a GPU with unknown peaks.
 */
#ifndef GT_RUNTIME_LOOKUP_MODEL_H
#define GT_RUNTIME_LOOKUP_MODEL_H

#include "runtime/lookup/costs.h"
#include "runtime/family/fit.h"

/* The terms of a prediction: word in JSON, clause for people. The first six are the main
 * kernel's. */
#define GT_TERM_LIST(X)                                                                    \
    X(FMA, "fma", "multiply-adds at the units' rate")                                      \
    X(ISSUE, "issue", "instructions, multiply-adds included")                              \
    X(SHARED, "shared", "shared memory and first-level cache")                             \
    X(L2, "l2", "slabs and results through the second-level cache")                        \
    X(DRAM, "dram", "device memory")                                                       \
    X(LATENCY, "latency", "slab after slab of one block, nothing beside it")               \
    X(ENDS, "ends", "first slabs of blocks, their sums and results")                       \
    X(PASSES, "passes", "other passes, the workspace, clusters")                           \
    X(LAUNCH, "launch", "starting the first kernel")

/* The version of the computation and of the meaning of the costs. Trees that were learned
 * about one version say nothing about the next one. */
enum { GT_MODEL_VERSION = 2 };

enum gt_term {
#define X(id, word, about) GT_TERM_##id,
    GT_TERM_LIST(X)
#undef X
        GT_TERM_COUNT
};
enum { GT_TERM_MAIN = GT_TERM_ENDS }; /* number of terms of the main kernel */

struct gt_prediction {
    double ns;                     /* of all passes, corrected by `learned` */
    double term_ns[GT_TERM_COUNT]; /* time if this were the only term */
    enum gt_term binds;            /* the longest */
    double learned; /* what trials of like points have taught (learned.h), a factor */
    /* A lower bound for every kernel of this point: the multiply-adds of the busiest unit
     * at the ceiling, and A, B and C once at peak bandwidth; 0 where peaks are not known.
     */
    double least_ns;
    int registers;           /* of a thread, estimated or given */
    int resident;            /* blocks that a unit holds at once */
    int64_t blocks, slabs;   /* blocks of the main kernel; slabs of a block */
    int64_t waves;           /* rounds of resident blocks, the last perhaps not full */
    double last_wave;        /* share of the last round that is filled */
    int64_t workspace_bytes; /* set by gt_model_explain alone */
};

/* The time that was computed, without what was learned: it is made of the terms. */
static inline double gt_computed_ns(const struct gt_prediction *p) {
    return p->ns / p->learned;
}

/* Facts about a compiled kernel; 0: not known. */
struct gt_compiled {
    int registers;      /* of a thread */
    int64_t smem_bytes; /* of a block, static and dynamic */
};

struct gt_learned; /* learned.h */

/* The forecaster of a family's kernels of one problem on one device. A plain value. */
/* The device that the model computes with: `d`, or where its peaks are not known, and for a
 * CPU, a usual GPU with as many units. Then forecasts are only compared with each other,
 * until costs (scale) and trees are learned from trials. */
struct gt_device gt_model_device(const struct gt_device *d);
/* Whether that is another device. */
bool gt_model_guesses(const struct gt_device *d);

struct gt_model {
    const struct gt_device *device;
    const struct gt_costs *costs;
    const struct gt_learned *trees; /* learned.h: they correct forecasts; NULL: none do */
    bool few_trees; /* only the trees of a rough forecast correct; else all do */
    /* A forecast that is too long by the trees of a glance (learned.h), or not much shorter
     * by the trees of a rough forecast, gets no more trees; 0: no forecast is too long. */
    double too_long_ns;
};

/* The model of the family and the problem that are bound in `b`. It lends `d`. Asking for
 * what is known of the device takes a lock; who needs many models asks once (shelf.h). */
void gt_model_begin(struct gt_model *m, const struct gt_binding *b,
                    const struct gt_device *d);
struct gt_shelf;
void gt_model_with(struct gt_model *m, const struct gt_shelf *shelf,
                   const struct gt_binding *b, const struct gt_device *d);

/* `b` has the point bound as well. `compiled` may be NULL. One to two microseconds. False
 * when there is no prediction. */
bool gt_model_predict(struct gt_prediction *out, const struct gt_model *m,
                      const struct gt_binding *b, const struct gt_compiled *compiled);

/* The same for a point that was fitted to its problem and is not compiled yet. */
bool gt_model_predict_fit(struct gt_prediction *out, const struct gt_model *m,
                          const struct gt_fit *fit);

/* The input of a prediction without the costs. A fit of costs computes it once. */
struct gt_facts {
    int64_t shape[GT_SHAPE_COUNT];
    int64_t m, n, k; /* of one product */
    int64_t products;
    int64_t groups; /* B's of the products: less than products where slots share one */
    int64_t rows;   /* of C, in all products: at most m * products */
    bool walks;     /* blocks go through the tiles of all products */
    bool pointers;  /* pointers in device memory lead to the matrices */
    const struct gt_dtype *types;
    int64_t threads, smem_bytes;     /* of a block of the main kernel */
    int64_t blocks, cluster, passes; /* blocks; blocks of a cluster; launches */
    int64_t panels; /* of C, one after another; all else is about one of them */
};
/* False when the family has no shape, or no valid one for this point (a tile, split or
 * group below 1), or no kernel for the types, or when the launches cannot be computed. */
bool gt_facts_of(struct gt_facts *out, const struct gt_binding *b,
                 const struct gt_device *d);
/* Bytes of A, B and C of all products, and of pointers to them, once. */
static inline double gt_facts_bytes(const struct gt_facts *f) {
    const double n = (double)f->n, k = (double)f->k;
    const double pointers = f->pointers ? 3 * sizeof(void *) : 0;
    return (double)f->products * pointers +
           (double)f->rows * ((double)gt_type_size(f->types->a) * k +
                              (double)gt_type_size(f->types->c) * n) +
           (double)f->groups * (double)gt_type_size(f->types->b) * k * n;
}
/* gt_model_predict with other costs. */
bool gt_model_predict_facts(struct gt_prediction *out, const struct gt_facts *facts,
                            const struct gt_device *d, const struct gt_costs *costs,
                            const struct gt_compiled *compiled);

/* gt_model_predict for a point that gt_fit_point allows. EINVAL or EUNSUPPORTED with the
 * reason when the point may not run; ENOTFOUND with the reason when there is no
 * prediction. */
gt_status gt_model_explain(struct gt_prediction *out, const struct gt_family *f,
                           const struct gt_device *d, const gemmtune_problem *p,
                           const struct gt_point *point, struct gt_err *err);

const char *gt_term_word(enum gt_term term);
const char *gt_term_about(enum gt_term term);

#endif
