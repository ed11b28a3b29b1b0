/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth.h - structs of the public header that grow at their end. Each begins with a
 * uint32_t struct_size. A caller's struct may be older (shorter) or newer (longer) than the
 * library's. A missing member counts as 0, and 0 means the behaviour from before the member
 * existed.
 */
#ifndef GT_CORE_GROWTH_H
#define GT_CORE_GROWTH_H

#include "core/status.h"

/* The library's struct: its size now, its size in the first release of this ABI, and its
 * name in messages. */
struct gt_growth {
    size_t size, least;
    const char *what; /* "problem" */
    const char *fill; /* the function that sets struct_size: "gemmtune_problem_init" */
};

/* Copies the caller's *in to *out (g->size bytes). Members that *in lacks become 0. EINVAL
 * when no release had such a struct_size; EUNSUPPORTED when a member that this library does
 * not know is not 0. */
gt_status gt_growth_read(void *out, const void *in, const struct gt_growth *g,
                         struct gt_err *err);

/* Copies the library's *in to the caller's `size` bytes at *out and sets struct_size.
 * Members that *in lacks become 0. EINVAL as above. */
gt_status gt_growth_write(void *out, size_t size, const void *in, const struct gt_growth *g,
                          struct gt_err *err);

/* Sets the caller's `size` bytes at *out to 0, and struct_size to `size`. EINVAL for NULL,
 * and as above. */
gt_status gt_growth_init(void *out, size_t size, const struct gt_growth *g,
                         struct gt_err *err);

#endif
