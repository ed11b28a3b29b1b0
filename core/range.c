/* SPDX-License-Identifier: Apache-2.0 */
/* range.c - see range.h. The functions here need the elements of a type. */
#include "core/range.h"

struct gt_arithmetic gt_arithmetic_of(gemmtune_dtype type) {
    return (struct gt_arithmetic){gt_type_unit(type), gt_type_least(type),
                                  gt_type_most(type)};
}

struct gt_conversion gt_conversion_to(gemmtune_dtype type, bool saturate) {
    const bool integer = !gt_type_is_float(type);
    return (struct gt_conversion){.grid = gt_grid_of(type),
                                  .most = gt_type_most(type),
                                  .limit = saturate ? gt_type_most(type) : INFINITY,
                                  .integer = integer};
}
