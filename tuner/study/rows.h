/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - the proof of row_order on a device: rows of C are computed by the kernels that a
 * lookup gives for many m, batches, groups, places, leading dimensions and workspaces, and
 * their bits are compared.
 */
#ifndef GT_TUNER_STUDY_ROWS_H
#define GT_TUNER_STUDY_ROWS_H

#include "runtime/lookup/match.h"
#include "tuner/rig/rig.h"

struct gt_rows_setup {
    struct gt_rig *rig;
    const struct gt_snapshot *snapshot;
    const char *device_key;
    /* Canonical, with row_order: types, layout, n, k and epilogue count. Without row_order
     * the free choice is compared, which shows that differences are seen. */
    const gemmtune_problem *problem;
    int64_t rows; /* different rows of A at different places: the largest m */
    int launches; /* of each case, at most: each at other rows */
    bool starts;  /* also every start and default point of the families in that order */
    uint64_t seed;
    /* Hears of each case, before it runs. May be NULL. */
    void (*say)(void *user, const char *what);
    void *user;
};

struct gt_rows_report {
    char order[GT_ORDER_MAX];    /* of sums; "": a free choice */
    int64_t compared, differing; /* rows, each time that one was computed again */
    int cases, kernels, refused; /* kernels: different ones; refused: cases without any */
    char first[640];             /* the first row that differs, or "" */
    char refusal[512];           /* the first case without a kernel, or "" */
};

/* ENOMEM: the host or the device has too little memory; EDEVICE; errors of gt_match and
 * gt_exec_build for the first case, with which the others are compared. */
gt_status gt_rows_compare(struct gt_rows_report *out, const struct gt_rows_setup *setup,
                          struct gt_err *err);

#endif
