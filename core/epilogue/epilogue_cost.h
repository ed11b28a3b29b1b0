/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_cost.h - the operations and the memory traffic of an epilogue. */
#ifndef GT_CORE_EPILOGUE_EPILOGUE_COST_H
#define GT_CORE_EPILOGUE_EPILOGUE_COST_H

#include "core/epilogue/epilogue.h"

struct gt_epilogue_cost {
    int operations;      /* an element: + - * / comparisons, min, max, ?: and the like */
    int functions;       /* an element: exp, log, tanh, erf, sqrt, sigmoid, gelu, silu */
    int64_t flops;       /* of all elements; a function counts as one */
    int64_t bytes_in;    /* operands; and C when the expression reads c itself */
    int64_t bytes_out;   /* d2 */
    int64_t bytes_saved; /* a separate kernel would write the plain product and read it
                          * again, as elements of C or as the integers that sums are */
};

/* The cost for products that have m rows of n elements together. Bytes are at most
 * INT64_MAX. Each operand is counted once, as if caches kept it. */
struct gt_epilogue_cost gt_epilogue_cost_of(const struct gt_epilogue *e, int64_t products,
                                            int64_t m, int64_t n);

#endif
