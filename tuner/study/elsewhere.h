/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elsewhere.h - results of other tuners as seeds (tuner/tune/seeds.h):
 *
 *   Kernel Tuner     {"device_name": .., "cache": {"16,..": {"MWG": 16, .., "time": 1}}}
 *   T4 format        {"results": [{"configuration": {..}, "invalidity": "correct", ..}]}
 *   CLBlast's tuner  {"clblast_device_name": .., "results": [{"parameters": {..}, ..}]}
 *
 * A kernel of CLBlast must have these parameters, or a family of ours, which "FAMILY"
 * names then, as `gemmtune export --format t4` writes it.
 */
#ifndef GT_TUNER_STUDY_ELSEWHERE_H
#define GT_TUNER_STUDY_ELSEWHERE_H

#include "runtime/family/family.h"
#include "tuner/tune/seeds.h"

enum { GT_ELSEWHERE_MAX = 16 }; /* of a file, the fastest */

struct gt_elsewhere {
    char device[128], problem[GT_PROBLEM_NAME_MAX], source[GT_SEED_SOURCE_MAX];
    size_t results, failed; /* with a time; without */
    size_t strange;         /* results of kernels that nothing is known of */
    int count;
    struct gt_elsewhere_point {
        char kernel[GT_SEED_KERNEL_MAX];
        struct gt_point point;
        double ns;
    } best[GT_ELSEWHERE_MAX]; /* different ones, the fastest first */
};

/* The user says this about a file that does not say it; NULL: nothing. */
struct gt_elsewhere_given {
    const char *device, *problem;
};

/* Whether the text is of one of these kinds. */
bool gt_elsewhere_knows(const char *text, size_t size);
/* EPARSE with the file's name and, where there is one, the line. */
gt_status gt_elsewhere_read(struct gt_elsewhere *out, const char *name, const char *text,
                            size_t size, const struct gt_elsewhere_given *given,
                            const struct gt_seeds *seeds,
                            const struct gt_families *families, struct gt_err *err);

#endif
