/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - the list of backends, with their names. A line has three columns: the value
 * in the public header, the word (in databases, space.json, commands and tables), and the
 * name for people. A property of a backend is a member of its struct gt_driver
 * (runtime/drivers/driver.h).
 */
#ifndef GT_CORE_BACKEND_H
#define GT_CORE_BACKEND_H

#include "include/gemmtune.h"

#define GT_BACKEND_LIST(X)                                                                 \
    X(GEMMTUNE_CUDA, "cuda", "CUDA")                                                       \
    X(GEMMTUNE_OPENCL, "opencl", "OpenCL")

enum {
#define X(id, word, title) +1
    GT_BACKENDS = GT_BACKEND_LIST(X)
#undef X
};

/* The words by gemmtune_backend, ended by NULL. */
extern const char *const gt_backend_words[GT_BACKENDS + 1];

/* The word of a backend: "cuda", "opencl"; "unknown" for any other value. */
const char *gt_backend_name(gemmtune_backend backend);

#endif
