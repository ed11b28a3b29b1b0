/* SPDX-License-Identifier: Apache-2.0 */
/*
 * programs.h - the loaded programs of a context. Plans of one source share one program,
 * with its kernels: most problems of one type have the same source, since m, n and k are
 * arguments.
 */
#ifndef GT_RUNTIME_EXEC_PROGRAMS_H
#define GT_RUNTIME_EXEC_PROGRAMS_H

#include "core/shared.h"
#include "runtime/exec/exec.h"

/* gt_exec_build through the programs of a context: nothing is built or loaded while another
 * exec has the same program. A program that another thread is loading is waited for.
 * Whatever is built goes into the image cache. With `only_cached` nothing is compiled.
 * Errors of gt_exec_build; and ENOTFOUND: with `only_cached` the image is neither loaded
 * nor in the image cache. */
gt_status gt_exec_build_shared(struct gt_exec **out, struct gt_sharing *programs,
                               struct gt_gpu *gpu, const struct gt_fit *fit,
                               bool only_cached, struct gt_err *err);

/* Keeps the program loaded when the exec is gone, until gt_programs_relinquish. */
void gt_exec_retain(const struct gt_exec *e);
void gt_programs_relinquish(struct gt_sharing *programs);

#endif
