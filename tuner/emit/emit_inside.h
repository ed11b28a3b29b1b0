/* SPDX-License-Identifier: Apache-2.0 */
/* emit_inside.h - declarations that the files of this room share. */
#ifndef GT_TUNER_EMIT_EMIT_INSIDE_H
#define GT_TUNER_EMIT_EMIT_INSIDE_H

#include "tuner/emit/emit.h"

#include <stdio.h>

/* Appends a kernel, all zeros but its target. ENOMEM. */
gt_status gt_emit_add(struct gt_emit_kernel **out, struct gt_emit_kit *kit, int target,
                      struct gt_err *err);
/* The device units that the kernel counts on: 0 when it is the same for any number. */
int gt_emit_units(const struct gt_emit_target *t, const struct gt_fit *fit);

/* Whether the image of such a kernel did not build before. */
bool gt_emit_failed(const struct gt_emit_kit *kit, int target, const struct gt_fit *fit);
/* The name of an image: a hash of its source and the architecture. */
void gt_emit_hash(char hash[65], const char *source, const struct gt_emit_target *t);

/* Adds the general kernels for the types of the sweep's problems. */
gt_status gt_emit_choose_general(struct gt_emit_kit *kit, int target,
                                 const struct gt_sweep *sweep, struct gt_err *err);

/* Whether the launches of a point can be printed for any problem of its kind. */
bool gt_emit_is_general(const struct gt_fit *fit);
/* Prints the function that computes them: `fit_any` of struct gk_kernel. */
void gt_emit_print_general(FILE *out, int number, const struct gt_fit *fit);
/* 1 + the index of the problem's epilogue among the kit's; 0: it has none. */
int gt_emit_epilogue(const struct gt_emit_kit *kit, const gemmtune_problem *p);
/* Prints the table of epilogues, and gemmkit_expected.c. */
void gt_emit_print_epilogues(FILE *out, const struct gt_emit_kit *kit);
void gt_emit_print_expected(FILE *out, const struct gt_emit_kit *kit);

/* The driver's number of an element type in tensor maps. */
int gt_emit_map_type(gemmtune_dtype type);
/* Prints gemmkit_kernels.c. */
void gt_emit_print_tables(FILE *out, const struct gt_emit_kit *kit);

#endif
