/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival.h - what the database knows of the vendor's time for a plan. The library has the
 * function from the release on that stores such times; without it nothing is known, and so
 * nothing is served.
 */
#ifndef GT_SHIM_RIVAL_H
#define GT_SHIM_RIVAL_H

#include <stddef.h>
#include <stdint.h>

typedef struct gemmtune_rival_info {
    uint32_t struct_size;
    int32_t known;    /* 1: the members below are set */
    char library[32]; /* e.g. "cublas" */
    int32_t version;  /* of the library, e.g. 130100 */
    int32_t verdict;  /* 1: our kernel is faster, 0: a tie, -1: slower */
    double ours_ns, rival_ns;
    double ratio, ratio_low, ratio_high; /* the library's time by ours */
    size_t workspace;                    /* bytes that both had */
} gemmtune_rival_info;

#endif
