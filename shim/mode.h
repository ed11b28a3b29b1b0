/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mode.h - GEMMTUNE_EXEC: what the shim does in this process.
 *
 *     GEMMTUNE_EXEC = mode { "," option }
 *     mode          = "off" | "serve" | "check" | "record:" FILE
 *     option        = "split" | "residues" | "quiet"
 *
 * FILE has no comma. Anything else is an error, which the shim says in one line; then it is
 * off.
 */
#ifndef GT_SHIM_MODE_H
#define GT_SHIM_MODE_H

#include <stdbool.h>

#define GT_SHIM_VARIABLE "GEMMTUNE_EXEC"

enum gt_shim_does { GT_SHIM_OFF, GT_SHIM_RECORD, GT_SHIM_SERVE, GT_SHIM_CHECK };

struct gt_shim_mode {
    enum gt_shim_does does;
    bool split, residues; /* strict f32, strict f64 may be computed so */
    bool quiet;           /* nothing is said at exit */
    char file[4096];      /* of record */
};

/* Reads the text of the variable. False: it is not one, and *out is off. NULL is off. */
bool gt_shim_mode_read(struct gt_shim_mode *out, const char *text);

#endif
