/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy.h - matrices in NumPy's .npy files, mapped into memory, so that they may be larger
 * than it. Format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#ifndef GT_TUNER_STREAM_NPY_H
#define GT_TUNER_STREAM_NPY_H

#include "core/new_file.h"
#include "core/problem/problem.h"

struct gt_npy {
    void *data;              /* the elements, row by row, packed */
    void *map;               /* of the whole file, watched (mapped.h) */
    size_t size;             /* of the map */
    int fd;                  /* of the file that is read */
    struct gt_new_file file; /* that is made */
};

/* The contents of a file. gt_npy_open has the same errors. */
gt_status gt_npy_look(gemmtune_dtype *type, struct gt_shape *shape, const char *path,
                      struct gt_err *err);
/* Maps a file for reading. It must hold a matrix of this type and shape in C order. Errors
 * are one sentence with the path: EIO (missing, not readable), EPARSE (not a .npy, too
 * short, Fortran order), EINVAL (another type or shape), EUNSUPPORTED (.npy has no such
 * type). */
gt_status gt_npy_open(struct gt_npy *out, const char *path, gemmtune_dtype type,
                      struct gt_shape shape, struct gt_err *err);
/* Begins a new file and maps it for writing. The file is not in its place before
 * gt_npy_keep. A file that is there must fit, as for gt_npy_open. With `reads` it must be
 * there, and the new file begins with its elements; else with zeros. */
gt_status gt_npy_create(struct gt_npy *out, const char *path, gemmtune_dtype type,
                        struct gt_shape shape, bool reads, struct gt_err *err);
/* Whether all that was read or written since has been the file's. EIO: somebody has cut the
 * file short, or its disk is full or has failed. */
gt_status gt_npy_check(const struct gt_npy *npy, const char *path, struct gt_err *err);
/* Checks a new file, writes what is left of it and puts it in its place. It stays mapped.
 * EIO. */
gt_status gt_npy_keep(struct gt_npy *npy, const char *path, struct gt_err *err);
/* Removes a new file that was not kept. A struct of zeros needs no close. */
void gt_npy_close(struct gt_npy *npy);

#endif
