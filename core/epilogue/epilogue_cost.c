/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_cost.c - see epilogue_cost.h. */
#include "core/epilogue/epilogue_cost.h"

#include "core/bytes.h"
#include "core/epilogue/epilogue_op.h"

static int64_t bytes_of(int64_t m, int64_t n, int32_t type) {
    return gt_bytes_product(gt_bytes_product(m, n),
                            (int64_t)gt_type_size((gemmtune_dtype)type));
}

static int64_t operand_bytes(const struct gt_epi_operand *x, int64_t products, int64_t m,
                             int64_t n) {
    const struct gt_epi_extent extent = gt_epi_extent_of(x->shape, m, n, products);
    return bytes_of(extent.rows, extent.columns, x->type);
}

static void count_operations(struct gt_epilogue_cost *cost, const struct gt_epilogue *e) {
    for (int i = 0; i < e->nodes; i++) {
        const int op = e->node[i].op;
        cost->functions += op >= GT_EPI_EXP;
        cost->operations += op < GT_EPI_EXP && gt_epi_ops[op].args > 0;
    }
}

struct gt_epilogue_cost gt_epilogue_cost_of(const struct gt_epilogue *e, int64_t products,
                                            int64_t m, int64_t n) {
    struct gt_epilogue_cost cost = {.operations = 0};
    const int64_t c = bytes_of(m, n, e->type_c);
    const int32_t plain = (int32_t)gt_type_without_epilogue((gemmtune_dtype)e->type_c,
                                                            (gemmtune_dtype)e->type_acc);
    const bool empty = m == 0 || n == 0;
    count_operations(&cost, e);
    cost.flops = gt_bytes_product(gt_bytes_product(m, n), cost.operations + cost.functions);
    for (int i = 0; i < e->operands && !empty; i++)
        cost.bytes_in =
            gt_bytes_sum(cost.bytes_in, operand_bytes(&e->operand[i], products, m, n));
    cost.bytes_in = gt_bytes_sum(cost.bytes_in, gt_epilogue_reads(e, GT_EPI_C) ? c : 0);
    cost.bytes_out = e->d2 >= 0 ? bytes_of(m, n, e->type_d2) : 0;
    cost.bytes_saved = gt_bytes_product(bytes_of(m, n, plain), 2);
    return cost;
}
