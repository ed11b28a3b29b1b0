/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - the kernels of a list of problems as a folder of C: images that are compiled
 * ahead, tables, and a small runtime (out/) that needs libc and the CUDA driver alone.
 *
 * Each problem has the kernel that a plan would have. Beside these, general kernels serve
 * every other problem of the same types: single products, batches at strides, batches of
 * pointers, in each layout. The launches of general kernels are printed as C, out of the
 * expressions of their families.
 */
#ifndef GT_TUNER_EMIT_EMIT_H
#define GT_TUNER_EMIT_EMIT_H

#include "runtime/lookup/match.h"
#include "tuner/base/progress.h"
#include "tuner/base/sweep.h"

enum { GT_EMIT_TARGETS_MAX = 16 };

/* An architecture, as one device of it. */
struct gt_emit_target {
    char arch[24]; /* "sm_90"; "compute_80": PTX, which later devices compile as well */
    bool ptx;
    struct gt_device device;
    char device_key[GT_DEVICE_KEY_MAX];
    struct gt_known *known; /* owned; NULL: nothing is */
    struct gt_snapshot snapshot;
    struct gt_index *index; /* owned */
};

/* A kernel of the folder. */
struct gt_emit_kernel {
    int target;
    bool general;                   /* the launches follow from the call's sizes */
    char name[GT_PROBLEM_NAME_MAX]; /* of the problem; of general ones, the kind's words */
    struct gt_fit fit;              /* of general ones, to some problem of the kind */
    gemmtune_match match;
    bool tuned;      /* by a record of this very problem */
    double ns, cost; /* forecast or measured; of general ones, as gk_general */
    int tile[2];
    int units; /* as of gk_kernel */
    int image;
};

/* An image, made once for all kernels of the same source. */
struct gt_emit_image {
    int target;
    char *source;
    char hash[65];         /* of the source and the architecture */
    unsigned char *packed; /* deflated */
    size_t size, packed_size, at;
    bool used; /* by a kernel */
    struct gt_err err;
    gt_status status;
};

/* The contents of a folder. A struct of zeros is empty. */
struct gt_emit_kit {
    int targets;
    struct gt_emit_target target[GT_EMIT_TARGETS_MAX];
    int kernels, images;
    struct gt_emit_kernel *kernel;
    struct gt_emit_image *image;
    size_t image_bytes; /* packed, of all */
};

/* Why a problem of the list can have no place in a folder; NULL: it can. */
const char *gt_emit_refusal(const gemmtune_problem *p);

/* Chooses the kernels of all problems, and general ones, for each target of the kit.
 * Kernels that did not build are passed over; called again it chooses anew. */
gt_status gt_emit_choose(struct gt_emit_kit *kit, const struct gt_sweep *sweep,
                         size_t workspace_max, struct gt_err *err);
/* Compiles and packs the images that are not there yet, on all cores. EBUILD: some do not
 * build, and `err` names the first problem of such a one. */
gt_status gt_emit_build(struct gt_emit_kit *kit, struct gt_progress *progress,
                        struct gt_err *err);
/* Writes the folder, which exists. EIO. */
gt_status gt_emit_write(const struct gt_emit_kit *kit, const char *folder,
                        struct gt_err *err);
void gt_emit_clear(struct gt_emit_kit *kit);

#endif
