/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.h - the choice of a kernel for a problem: from a record of the problem, from a
 * record of another problem by forecast, from another device of the architecture, or from a
 * family's starts. Pure: no device, no file.
 */
#ifndef GT_RUNTIME_LOOKUP_MATCH_H
#define GT_RUNTIME_LOOKUP_MATCH_H

#include "runtime/family/fit.h"

/* One record, read into memory and checked against its family. The records of a problem are
 * followed by one runner-up: the problem's fastest trial with another tile of C. */
struct gt_known {
    gemmtune_problem problem; /* canonical */
    char problem_name[GT_PROBLEM_NAME_MAX];
    char device_key[GT_DEVICE_KEY_MAX];
    char arch[24];
    const struct gt_family *family;
    int64_t values[GT_POINT_MAX]; /* its point, in the family's parameter order; then 0 */
    int rank;
    bool verified;
    double median_ns;
    /* A block's rows and columns of C, for runners-up and the records of their problems;
     * else 0. */
    int64_t tile[2];
};

/* The kernel's point by names. */
static inline void gt_known_point(struct gt_point *out, const struct gt_known *k) {
    gt_point_of_values(out, k->family, k->values);
}

struct gt_choice {
    gemmtune_match match;
    const struct gt_family *family;
    struct gt_point point;
    /* its source, perhaps with other values of some parameters; NULL at DEFAULT */
    const struct gt_known *known;
    struct gt_fit fit;    /* to the problem asked about */
    double forecast_ns;   /* 0: none, as for a kernel that was tuned for the problem */
    double expected_loss; /* as in gemmtune_plan_info */
    char why[320];        /* one line for people */
};

/* The expected loss of an answer about which nothing is known, and the largest one of a
 * forecast. `gemmtune evaluate` found that default points by rank take 3.75 times the
 * winner's time on an H200. */
#define GT_LOSS_UNKNOWN 2.75

static inline bool gt_loss_is_known(const struct gt_choice *c) {
    return c->expected_loss < GT_LOSS_UNKNOWN;
}

struct gt_snapshot {
    const struct gt_families *families;
    const struct gt_known *known;
    size_t count;
    const struct gt_index *index; /* of `known`; NULL: every lookup goes through all */
};

/* Makes an index of the kernels, which must outlive it. With it a lookup takes time in
 * proportion to the logarithm of their number, and gives the same answer. ENOMEM. */
gt_status gt_index_create(struct gt_index **out, const struct gt_known *known, size_t count,
                          struct gt_err *err);
void gt_index_destroy(struct gt_index *index);

/* Where the order of sums of a problem with row_order comes from. */
struct gt_row_order {
    char text[GT_ORDER_MAX];        /* as gt_order_of; "": the problem has no row_order */
    const struct gt_known *known;   /* a record that chose it; NULL: the default */
    const struct gt_family *family; /* the default's family; NULL: none has a default */
    int records, others; /* problems with records of it, and with records of other orders */
};

/* A question to a snapshot. */
struct gt_query {
    const struct gt_snapshot *snapshot;
    const struct gt_device *device;
    const char *device_key;
    const gemmtune_problem *problem; /* canonical */
    gemmtune_match worst;            /* the worst match that the caller accepts */
    size_t workspace_max;            /* bytes of the caller's workspace */
    int64_t pointer_align;           /* as of gt_bind_align */
    const struct gt_lock *lock;      /* names the choice (lock.h); NULL: there is none */
    /* Returns true for a choice that failed to build before. May be NULL. */
    bool (*skip)(void *user, const struct gt_choice *c);
    void *user;
};

/* "exact", "shape", "arch", "default" */
const char *gt_match_word(gemmtune_match match);
/* The row that stands for its kind (types, layout, n, k, epilogue): a single packed product
 * with m = 1. */
gemmtune_problem gt_match_row(const gemmtune_problem *p);
/*
 * The one order of sums for all problems with row_order of this problem's types, layout, n,
 * k and epilogue on the device's architecture: the order of the most problems among them
 * that have a record, of equals the first by its text. Without such a record the default
 * point of the first family with a default order chooses, whatever else was tuned. It does
 * not depend on m, the batch, strides, or the rest of the query. (match_order.c)
 */
void gt_match_order(struct gt_row_order *out, const struct gt_snapshot *snapshot,
                    const struct gt_device *device, const gemmtune_problem *problem);

/* The best choice that may run the problem of the query. ENOTFOUND when there is none. With
 * GEMMTUNE_MATCH_DEFAULT there always is one, unless no family serves the types
 * (EUNSUPPORTED). The choice of a lock goes before all others, whatever `worst` is, and is
 * the only one: ELOCKED when it may not run. */
gt_status gt_match(struct gt_choice *out, const struct gt_query *query, struct gt_err *err);

/* Reads the rows of one architecture from a database into a snapshot's array. Rows that do
 * not fit their family are skipped with one log line. *stale counts rows of an older family
 * source. The finalists of a problem are much alike, so the fastest trial of each other
 * tile is read as well, if it took at most a fifth longer than the winner. */
struct gt_db;
gt_status gt_known_load(struct gt_known **out, size_t *count, int64_t *stale,
                        struct gt_db *db, const struct gt_families *families,
                        const char *arch, struct gt_err *err);

#endif
