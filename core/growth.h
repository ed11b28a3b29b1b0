/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth.h - structs of the public header, which grow at their end: a caller's struct may
 * be older (shorter) or newer (longer) than the library's. Each begins with a uint32_t
 * struct_size. A member that is not there is 0, so every new member means by 0 what the
 * library did before it had the member.
 */
#ifndef GT_CORE_GROWTH_H
#define GT_CORE_GROWTH_H

#include "core/status.h"

/* The library's struct: its size now, its size in the first release of this ABI, and the
 * words for it in messages. */
struct gt_growth {
    size_t size, least;
    const char *what; /* "problem" */
    const char *fill; /* what sets struct_size: "gemmtune_problem_init" */
};

/* Copies the caller's *in to *out (g->size bytes). What is missing in *in is 0. EINVAL when
 * struct_size is none that a release ever had; EUNSUPPORTED when a member that this library
 * does not know is not 0. */
gt_status gt_growth_read(void *out, const void *in, const struct gt_growth *g,
                         struct gt_err *err);

/* Copies the library's *in to the caller's `size` bytes at *out and sets struct_size. What
 * is missing in *in is 0. EINVAL as above. */
gt_status gt_growth_write(void *out, size_t size, const void *in, const struct gt_growth *g,
                          struct gt_err *err);

#endif
