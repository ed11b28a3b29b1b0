/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - the list of problems to tune, from sweep.json or from problem names.
 *
 *   {"format": 1, "sizes": [ {"dtype": "f32", "layout": "nn", "m": [128, 256],
 *     "n": "512:2048:512", "k": 1024, "weight": 3}, "f64-nt-16x4096x4096" ]}
 *
 * The keys of an entry:
 * - dtype, layout: a word or a list of words. Without layout: nn.
 * - m, n, k: an integer, a range "start:end:step" (end included), or a list of both. The
 *   entry stands for all combinations.
 * - volume, in place of m n k: an integer, a list of integers, or "1e3:1e10" (one value a
 *   decade). Each value gives a near-cube of that many multiplications.
 * - weight: 1 to 1000000.
 * - The options of a problem's name (gt_problem_options): numbers (lda), true (beta), text
 *   (epi), or lists of them. The entry stands for all combinations of these as well, up to
 *   1000.
 *
 * Or an entry stands for a log or list of another program (logged.h), in the folder of the
 * sweep file: {"list": "gemm_problems.h", "dtype": ["f16", "i8"]}. The types are for lists
 * that name none. Without them, those become f32.
 *
 * Or an entry has the name of its problem: {"problem": "f32-nn-64x64x64", "count": 12,
 * "weight": 3}. `gemmtune record` writes these, with the calls that it counted; it also
 * writes "passed_on" beside "sizes", which nobody here reads.
 *
 * Dimensions are 1 or more, because an empty product cannot be tuned. A problem without a
 * kernel is refused. Problems are counted before they are expanded, and more than
 * GT_SWEEP_MAX are refused with their number. Duplicates are merged: the first one's place,
 * the largest weight and the sum of their calls are kept.
 */
#ifndef GT_TUNER_BASE_SWEEP_H
#define GT_TUNER_BASE_SWEEP_H

#include "core/problem/problem.h"
#include "tuner/base/logged.h"

enum { GT_SWEEP_MAX = 100000 };
#define GT_SWEEP_CALLS_MAX (INT64_C(1) << 52)

struct gt_json;

struct gt_sweep_item {
    gemmtune_problem problem; /* canonical */
    char name[GT_PROBLEM_NAME_MAX];
    double weight;
    int64_t count; /* calls that were recorded; 1 where the file does not say */
};

/* The ends of the lines of a log (logged.h). */
struct gt_sweep_lines {
    int64_t fate[GT_LOGGED_FATES]; /* lines */
    int64_t untyped, half_sums;    /* lines with such a note */
    int64_t damaged_line;          /* the first damaged one, from 1 */
    struct gt_err damage;          /* what is wrong with it */
};

struct gt_sweep {
    size_t count;
    struct gt_sweep_item *item;
    bool in_order; /* several devices take the problems as listed, too; else by cost */
    struct gt_sweep_lines lines; /* all 0 when the file is no log */
};

/* EPARSE (or EIO for a missing or unreadable file) with file:line and path. The file may
 * also be a log or list of another program: it is known by its text. */
gt_status gt_sweep_load(struct gt_sweep *out, const char *path, struct gt_err *err);
/* The same from a parsed document, which it destroys. EPARSE. */
gt_status gt_sweep_take(struct gt_sweep *out, struct gt_json *doc, struct gt_err *err);
/* Adds one problem by its name. */
gt_status gt_sweep_add(struct gt_sweep *s, const char *name, struct gt_err *err);
void gt_sweep_clear(struct gt_sweep *s);

/* A guess at the seconds of one call on a large GPU. Only its proportions matter. */
double gt_sweep_guess(const gemmtune_problem *p);
/* The weight, 1 to 1000, of a problem that takes `mine` of the time, where the heaviest one
 * takes `most`. */
double gt_sweep_share(double mine, double most);
/* Makes weights of numbers of calls. Numbers that are all 1 stay. */
void gt_sweep_weigh(struct gt_sweep *s);

/* The shape m <= n <= k <= m + 1 with the product nearest to `volume` (1 or more). */
void gt_volume_shape(int64_t volume, int64_t *m, int64_t *n, int64_t *k);
enum { GT_VOLUMES_MAX = 20 }; /* decades of a 64-bit number, plus one */
/* "1e3:1e10" gives every power of ten from the first up to the second, "5e8" one value.
 * EPARSE. */
gt_status gt_volume_range(int64_t out[GT_VOLUMES_MAX], size_t *count, const char *text,
                          struct gt_err *err);

#endif
