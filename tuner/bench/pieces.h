/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.h - a product of grouped or masked rows as separate products: one for each group,
 * or for each matrix, that has rows. Libraries want them so, with sizes on the host.
 */
#ifndef GT_TUNER_BENCH_PIECES_H
#define GT_TUNER_BENCH_PIECES_H

#include "runtime/exec/exec.h"
#include "tuner/lab/lists.h"

/* The separate products of one call. */
struct gt_pieces {
    int count;             /* products that have rows */
    int *rows;             /* of each product */
    void **matrix[3];      /* on the host: the device pointers to each A, B and C */
    struct gt_lists lists; /* the same pointers in device memory */
};

struct gt_lab;

/* The pieces of all calls of a problem. The pieces of the lab's rotating inputs are made
 * before, since a stream that is captured allows no copies. */
struct gt_piece_store {
    struct gt_lab *lab; /* given by the owner; the other members begin as zeros */
    gemmtune_problem problem;
    int sets;
    struct gt_pieces *of_set; /* `sets` of them */
    struct gt_pieces other;   /* of the last call that was not of the rotating inputs */
};

/* Makes the pieces of the lab's rotating inputs, for the problem that is set up there and
 * has grouped or masked rows. Pieces of the problem before are dropped. */
gt_status gt_pieces_prepare(struct gt_piece_store *s, const gemmtune_problem *p,
                            struct gt_err *err);
/* Finds the pieces of a call, which live until the next call or gt_pieces_clear. A call on
 * other matrices than the rotating inputs waits for the device. */
gt_status gt_pieces_find(const struct gt_pieces **out, struct gt_piece_store *s,
                         const struct gt_call *x, struct gt_err *err);
void gt_pieces_clear(struct gt_piece_store *s);

#endif
