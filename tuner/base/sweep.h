/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - the list of problems to tune: sweep.json, or problem names.
 *
 * {"format": 1, "sizes": [ {"dtype": "f32", "layout": "nn", "m": [128, 256],
 *   "n": "512:2048:512", "k": 1024, "weight": 3}, "f64-nt-16x4096x4096" ]}
 * dtype and layout may be lists too; m n k: an integer, a "start:end:step" range (end
 * included), or a list of both, crossed; "volume": "1e3:1e10" (one a decade), an integer or
 * a list of integers, in place of m n k, gives near-cubes of that many multiplications.
 * Optional: layout (else nn), weight (1 to 1000000), and a key for each option of a
 * problem's name (gt_problem_options): numbers (lda), true (beta) or text (epi), the same
 * for all problems of the entry. Dimensions are 1 or more: there is nothing to tune about
 * an empty product. What has no kernel yet is refused as everywhere. Counted before it is
 * expanded: more than GT_SWEEP_MAX problems is refused with the count. Duplicates are
 * merged, the largest weight kept; first occurrence decides the order.
 */
#ifndef GT_TUNER_BASE_SWEEP_H
#define GT_TUNER_BASE_SWEEP_H

#include "core/problem.h"

enum { GT_SWEEP_MAX = 100000 };

struct gt_sweep_item {
    gemmtune_problem problem; /* canonical */
    char name[GT_PROBLEM_NAME_MAX];
    double weight;
};

struct gt_sweep {
    size_t count;
    struct gt_sweep_item *item;
};

/* EPARSE (or EIO for a missing or unreadable file) with file:line and path. */
gt_status gt_sweep_load(struct gt_sweep *out, const char *path, struct gt_err *err);
/* The same from memory; `name` stands for the file in messages. */
gt_status gt_sweep_parse(struct gt_sweep *out, const char *name, const char *text,
                         size_t size, struct gt_err *err);
/* One problem by name. */
gt_status gt_sweep_add(struct gt_sweep *s, const char *name, struct gt_err *err);
void gt_sweep_clear(struct gt_sweep *s);

/* The m <= n <= k <= m + 1 whose product comes nearest to `volume` (1 or more). */
void gt_volume_shape(int64_t volume, int64_t *m, int64_t *n, int64_t *k);
enum { GT_VOLUMES_MAX = 20 }; /* decades that 64 bits hold, and one */
/* "1e3:1e10": every power of ten from the first, up to the second; "5e8": that one. EPARSE.
 */
gt_status gt_volume_range(int64_t out[GT_VOLUMES_MAX], size_t *count, const char *text,
                          struct gt_err *err);

#endif
