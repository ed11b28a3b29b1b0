/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - whether two source texts are one kernel. Three questions, each dearer than the
 * one before:
 *   1. Are the texts the same without comments, blank space and #line?
 *   2. Are they the same after the C preprocessor?
 *   3. Does NVRTC make the same machine code of them (cubin.h)?
 * NVRTC may give one source several codes, so the third question is asked again with fresh
 * compilations: the kernels are the same when one code of the first text is one of the
 * second.
 */
#ifndef GT_TOOLS_KERNEL_H
#define GT_TOOLS_KERNEL_H

#include "tools/cubin.h"

enum gt_same {
    GT_SAME_TEXT,
    GT_SAME_TOKENS, /* after the preprocessor */
    GT_SAME_CODE,
    GT_SAME_NOT,
    GT_SAME_WAYS
};

enum { GT_KERNEL_WHY_MAX = 512 };

/* `why` says in a clause what differs; "" when nothing does. Texts that cannot be compiled
 * here are not the same. Thread-safe. */
enum gt_same gt_kernel_compare(const struct gt_device *d, const char *old_text,
                               const char *new_text, char why[GT_KERNEL_WHY_MAX]);

/* The text after the preprocessor, which the caller frees. NULL when there is no
 * preprocessor, or when its result would depend on a macro of NVRTC that is not known
 * here. */
char *gt_kernel_preprocess(const struct gt_device *d, const char *text);

#endif
