/* SPDX-License-Identifier: Apache-2.0 */
/* exec_epilogue.h - the arguments that a kernel takes for its epilogue. */
#ifndef GT_RUNTIME_EXEC_EXEC_EPILOGUE_H
#define GT_RUNTIME_EXEC_EXEC_EPILOGUE_H

#include "core/epilogue/epilogue.h"
#include "runtime/drivers/driver.h"
#include "runtime/exec/exec.h"
#include "runtime/drivers/memory.h"

/* A pointer and a leading dimension for each operand and for d2, a product's number, and
 * alpha. */
enum { GT_EPILOGUE_ARGS_MAX = 2 * (GT_EPILOGUE_OPERANDS_MAX + 1) + 2 };

struct gt_epilogue_args {
    int count;
    union gt_value value[GT_EPILOGUE_ARGS_MAX];
    size_t size[GT_EPILOGUE_ARGS_MAX];
    int offsets;
    int64_t offset[GT_EPILOGUE_OPERANDS_MAX + 1]; /* elements before operands and d2 */
};

/* A call's matrices. Operands and d2 must be apart from the others. */
struct gt_call_matrices {
    struct gt_memory a, b, c;
};

/* Writes the arguments of a call in the order of gt_epilogue_macros (epilogue_text.h).
 * EINVAL: the call's operands differ from the operands of the epilogue `e`, which may be
 * NULL; their memory is none (gt_memory_check), an operand is C or d2, or d2 is A, B or C.
 */
gt_status gt_epilogue_args_of(struct gt_epilogue_args *out, const struct gt_epilogue *e,
                              const gemmtune_problem *p, const struct gt_call *call,
                              const struct gt_call_matrices *matrices,
                              const struct gt_driver *driver, struct gt_err *err);

#endif
