/* SPDX-License-Identifier: Apache-2.0 */
/*
 * original.h - the functions that the shim stands in front of. A process may have loaded
 * more than one cuBLAS (12 for one plug-in, 13 for another), so the original of a call
 * depends on its caller:
 *
 * - the library that the caller's object was linked with, by dlsym in that object
 * - else the address that the auditor saw when it bound the symbol
 * - else the loaded library of a known name, or any that is loaded
 *
 * The answer is kept for the range of addresses that the caller's code lies in. Nothing is
 * loaded here that was not loaded before.
 */
#ifndef GT_SHIM_ORIGINAL_H
#define GT_SHIM_ORIGINAL_H

#include "shim/blas.h"
#include "shim/entries.h"

#include <stdbool.h>

struct gt_shim_library {
    void *handle;     /* of dlopen */
    const void *base; /* where it is loaded */
    uint8_t number;   /* among the libraries of the process */
    _Atomic(void *) original[GT_SHIM_IDS];
#define X(member, symbol, params) unsigned(*member) params;
    GT_SHIM_BLAS_CALLS(X)
    GT_SHIM_LT_CALLS(X)
#undef X
    size_t (*lt_version)(void);
    size_t lt_release; /* what it returns; 0 for cuBLAS */
};

/* The original of function `id` for a caller at `from`, and its library. NULL: no such
 * library is loaded. */
void *gt_shim_original(const struct gt_shim_library **library, int id, const void *from);

/* A thread that forks holds the lock, so that the child does not find it held by nobody. */
void gt_shim_original_hold(bool held);

#endif
