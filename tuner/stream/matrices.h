/* SPDX-License-Identifier: Apache-2.0 */
/* matrices.h - host memory for A, B and C: pinned, pageable, or files. */
#ifndef GT_TUNER_STREAM_MATRICES_H
#define GT_TUNER_STREAM_MATRICES_H

#include "runtime/host/link.h"
#include "tuner/stream/npy.h"

struct gt_matrices {
    struct gt_link *link; /* of pinned memory; NULL: pageable */
    void *data[3];        /* A, B, C */
    size_t bytes[3];
    const char *path[3]; /* of a .npy file; NULL: memory of ours */
    struct gt_npy npy[3];
};

/* Allocates or maps. Memory of ours is filled with random numbers: A and B, and C as well.
 * ENOMEM with the bytes when the machine, or the group of processes this one belongs to,
 * has no room; errors of files as npy.h has them. *out is to be closed after a failure as
 * well. */
gt_status gt_matrices_open(struct gt_matrices *out, const gemmtune_problem *p,
                           struct gt_link *pinned, const char *const path[3], uint64_t seed,
                           struct gt_err *err);
/* Whether the files have held what was read from them, and taken what was written. EIO. */
gt_status gt_matrices_check(const struct gt_matrices *m, struct gt_err *err);
/* Checks, and puts C's file in its place, if C is a file. EIO. */
gt_status gt_matrices_keep_c(struct gt_matrices *m, struct gt_err *err);
/* A file of C that was not kept is gone. */
void gt_matrices_close(struct gt_matrices *m);

#endif
