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
#include <string.h>
#include <unistd.h>

#define GT_SHIM_VARIABLE "GEMMTUNE_EXEC"

enum gt_shim_does { GT_SHIM_OFF, GT_SHIM_RECORD, GT_SHIM_SERVE, GT_SHIM_CHECK };

struct gt_shim_mode {
    enum gt_shim_does does;
    bool split, residues; /* strict f32, strict f64 may be computed so */
    bool quiet;           /* nothing is said at exit */
    char file[4096];      /* of record */
};

/* The host's name in the names of files of record, where the numbers of processes are of
 * one host. Dots become underscores: FILE.HOST.PID has no other dot in HOST. */
enum { GT_SHIM_HOST_SIZE = 65 };
static inline void gt_shim_host(char out[GT_SHIM_HOST_SIZE]) {
    static const char unknown[] = "localhost";
    if (gethostname(out, GT_SHIM_HOST_SIZE) != 0 || out[0] == '\0')
        memcpy(out, unknown, sizeof unknown);
    out[GT_SHIM_HOST_SIZE - 1] = '\0';
    for (char *at = out; *at != '\0'; at++)
        if (*at == '.' || *at == '/')
            *at = '_';
}

/* Reads the text of the variable. False: it is not one, and *out is off. NULL is off. */
bool gt_shim_mode_read(struct gt_shim_mode *out, const char *text);

#endif
