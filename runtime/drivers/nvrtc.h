/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvrtc.h - from CUDA source to a cubin or PTX, without a device, context or toolkit. It
 * chooses the NVRTC library and the options for a compute capability, and compiles.
 */
#ifndef GT_RUNTIME_DRIVERS_NVRTC_H
#define GT_RUNTIME_DRIVERS_NVRTC_H

#include "runtime/drivers/cuda_api.h"
#include "runtime/drivers/driver.h"

struct gt_nvrtc_choice {
    const struct gt_nvrtc *lib;
    char arch[16]; /* "sm_61", "sm_90a"; "compute_80": PTX, which later devices compile */
};

/* Chooses the newest NVRTC that knows compute capability `cc`; else the newest that knows
 * an older one of the same major version: such a device runs that code. EBUILD with a
 * sentence that names the package to install. */
gt_status gt_nvrtc_choose(struct gt_nvrtc_choice *out, int cc, struct gt_err *err);
/* The same for PTX. EUNSUPPORTED: kernels for `cc` have instructions that no later device
 * has. */
gt_status gt_nvrtc_choose_ptx(struct gt_nvrtc_choice *out, int cc, struct gt_err *err);
/* "NVRTC 13.0" */
void gt_nvrtc_name(const struct gt_nvrtc_choice *choice, char *out, size_t size);
/* "NVRTC 13.0 --gpu-architecture=sm_90a ..." */
void gt_nvrtc_toolchain(const struct gt_nvrtc_choice *choice, char *out, size_t size);
/* A digest of `salt` and of everything that decides which NVRTC the loader would find: the
 * environment, the program, and the files of NVRTC's names where the loader looks. Loads
 * nothing. "" when an NVRTC is in the process already. One thing escapes it: a library that
 * is replaced in a folder of the program's own run path. */
void gt_nvrtc_digest(char digest[65], const char *salt);
/* Compiles; `image` must be initialised. EBUILD: image->log has the compiler's messages.
 * Thread-safe. */
gt_status gt_nvrtc_build(struct gt_image *image, const struct gt_nvrtc_choice *choice,
                         const char *source, struct gt_err *err);

#endif
