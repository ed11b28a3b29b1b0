/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seeds.h - points that other tuners found on a device, for the first trials there. A seed
 * is a place to begin, never a result: its kernel is checked and timed like any other.
 *
 * Built in is CLBlast's database (tuner/tune/seeds/clblast.json), which also says how the
 * points of our families follow from the parameters of CLBlast's kernels. `gemmtune import`
 * keeps seeds of other files beside a database, in "<database>.seeds.json":
 *
 *   {"format": 1, "seeds": [{"device": "NVIDIA GeForce RTX 2080 Ti",
 *     "problem": "f32-nn-4096x4096x4096", "kernel": "xgemm",
 *     "point": "MWG=64 NWG=64 ...", "ns": 1.1e7, "source": "RTX_2080_Ti.json"}]}
 *
 * The kernel is one of CLBlast's or a family of ours. Devices are known by their names.
 */
#ifndef GT_TUNER_TUNE_SEEDS_H
#define GT_TUNER_TUNE_SEEDS_H

#include "core/device.h"
#include "core/point.h"
#include "core/problem/problem.h"

enum { GT_SEED_SOURCE_MAX = 192, GT_SEEDS_MAX = 24, GT_SEED_KERNEL_MAX = 24 };

struct gt_seed {
    char family[GT_SEED_KERNEL_MAX];
    /* Parameters of the family. A value need not be in the family's list. */
    struct gt_point point;
    char source[GT_SEED_SOURCE_MAX]; /* "CLBlast's xgemm, GeForce GTX 1080" */
    bool named; /* the source knows the device; else it is the source's default */
};

struct gt_seeds; /* does not change: threads may share it */

/* Reads the built-in seeds, and the file `path` where it is there; NULL: no file. EPARSE
 * with file and line; EIO. */
gt_status gt_seeds_create(struct gt_seeds **out, const char *path, struct gt_err *err);
void gt_seeds_destroy(struct gt_seeds *s);
/* "<database>.seeds.json". False: the path is too long. */
bool gt_seeds_path(char *path, size_t size, const char *database);

/* The seeds of a problem on a device, named ones first; returns their number. Of the
 * built-in ones, which are of GPUs, a CPU has none. */
int gt_seeds_find(struct gt_seed out[GT_SEEDS_MAX], const struct gt_seeds *s,
                  const struct gt_device *d, const gemmtune_problem *p);

/* Finds CLBlast's kernel that has all these parameters, and leaves those in *out that its
 * points depend on. NULL: no kernel has them, or they are of another form of it. */
const char *gt_seeds_kernel(struct gt_point *out, const struct gt_seeds *s,
                            const struct gt_point *theirs);
/* ---- the file ---- */

/* A seed as the file has it. */
struct gt_seed_row {
    const char *device, *problem, *kernel, *source;
    struct gt_point point;
    double ns;
};

/* Writes the file anew: its old seeds, then the rows. Old seeds of the same source, device
 * and problem as rows[0] are left out. EPARSE: the old file. EIO. */
gt_status gt_seeds_keep(const char *path, const struct gt_seed_row *rows, size_t count,
                        struct gt_err *err);

#endif
