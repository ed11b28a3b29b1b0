/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - the problems that the process has asked for, each with what was decided. A
 * problem is found without a lock, and none is ever removed.
 */
#ifndef GT_SHIM_TABLE_H
#define GT_SHIM_TABLE_H

#include "shim/problem.h"
#include "shim/reason.h"

#include <stdatomic.h>
#include <stdbool.h>

enum gt_shim_verdict {
    GT_SHIM_FRESH,   /* nothing is decided */
    GT_SHIM_WAITING, /* its kernel is being built */
    GT_SHIM_PASSED,  /* for `reason` */
    GT_SHIM_SERVED
};

struct gt_shim_entry {
    struct gt_shim_key key;
    uint64_t hash;
    int id, number;                 /* the function that asked first; from 1 */
    atomic_int verdict;             /* enum gt_shim_verdict */
    atomic_int reason;              /* enum gt_shim_reason */
    atomic_uint_least64_t calls;    /* all of them */
    atomic_uint_least64_t served;   /* of these */
    atomic_uint_least64_t wrong;    /* of these, found by check */
    atomic_uint_least64_t compared; /* of these */
    uint64_t pause_ns;              /* WAITING: between looks, under the lock */
    uint64_t next_look;             /* WAITING: when `calls` is this, under the lock */
    uint64_t context_number;        /* of the context that the plan was made for */
    _Atomic(void *) stream;         /* the last one that was seen to be of this context */
    gemmtune_plan *plan;            /* of SERVED */
    size_t workspace_bytes, workspace_align;
    double saved_ns; /* a call, by the stored times */
    char name[512];  /* its name; "" where it has none */
};

/* The entry of *key; a new one for function `id` when there is none. NULL: there is no
 * room. */
struct gt_shim_entry *gt_shim_find(const struct gt_shim_key *key, int id);
/* Calls `fn` for each entry. */
void gt_shim_each(void (*fn)(struct gt_shim_entry *e, void *user), void *user);
/* Forgets all counts: a process after a fork begins anew. */
void gt_shim_forget_counts(void);
/* As gt_shim_original_hold. */
void gt_shim_table_hold(bool held);

#endif
