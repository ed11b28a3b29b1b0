/* SPDX-License-Identifier: Apache-2.0 */
/* costs.c - see costs.h. */
#include "runtime/lookup/costs.h"

const struct gt_cost_row gt_cost_list[GT_COSTS] = {
#define X(name, value, low, high, fitted, what)                                            \
    {#name, offsetof(struct gt_costs, name), low, high, GT_COST_##fitted},
    GT_COST_LIST(X)
#undef X
};

double *gt_cost_at(struct gt_costs *c, int i) {
    return (double *)(void *)((char *)c + gt_cost_list[i].at);
}
