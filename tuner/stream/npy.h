/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy.h - matrices in NumPy's .npy files, mapped into memory, so that they may be larger
 * than it. Format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#ifndef GT_TUNER_STREAM_NPY_H
#define GT_TUNER_STREAM_NPY_H

#include "core/problem.h"

struct gt_npy {
    void *data;  /* the elements, row by row, packed */
    void *map;   /* of the whole file */
    size_t size; /* of the map */
    bool is_new; /* gt_npy_create has made the file */
};

/* Maps a file that must hold a matrix of this type and shape in C order. `writes`: the
 * mapping is for writing as well, else it is for reading. Errors are one sentence with the
 * path: EIO (missing, not readable, not writable), EPARSE (not a .npy, too short, Fortran
 * order), EINVAL (another type or shape), EUNSUPPORTED (.npy has no such type). */
gt_status gt_npy_open(struct gt_npy *out, const char *path, gemmtune_dtype type,
                      struct gt_shape shape, bool writes, struct gt_err *err);
/* Makes a file of zeros, or takes one that is there and fits. */
gt_status gt_npy_create(struct gt_npy *out, const char *path, gemmtune_dtype type,
                        struct gt_shape shape, struct gt_err *err);
/* Writes what was changed to the file. EIO. A struct of zeros needs no close. */
gt_status gt_npy_close(struct gt_npy *npy, const char *path, struct gt_err *err);

#endif
