/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue_keep.h - epilogues of problems that are to be computed: canonical text and tree,
 * kept until the process ends. A problem is copied freely, so the text that it points to
 * must live as long as any copy.
 *
 * A kept epilogue takes 8 KiB. Only problems that go to a lookup or a search are kept: each
 * of them costs a built kernel as well.
 */
#ifndef GT_CORE_EPILOGUE_EPILOGUE_KEEP_H
#define GT_CORE_EPILOGUE_EPILOGUE_KEEP_H

#include "core/epilogue/epilogue.h"

/* Replaces *text by the kept canonical text. EPARSE as gt_epilogue_settle; ENOMEM. Any
 * thread may call it. */
gt_status gt_epilogue_keep(const char **text, gemmtune_dtype type_c,
                           gemmtune_dtype type_acc, struct gt_err *err);

/* The tree of a problem's epilogue, which lives until the process ends. NULL: the problem
 * has no epilogue, or its epilogue cannot be kept. */
const struct gt_epilogue *gt_epilogue_of(const gemmtune_problem *p);

#endif
