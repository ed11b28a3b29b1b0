/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - gemmtune_convert: matrices in host memory from one element type
 * to another. */
#include "core/element.h"
#include "core/problem/problem.h"

#include <inttypes.h>
#include <math.h>

/* One matrix of the call. */
struct side {
    const char *name;
    const void *mem;
    gemmtune_dtype type;
    int64_t ld; /* elements */
};

static gt_status check_side(const struct side *s, int64_t cols, struct gt_err *err) {
    if (s->mem == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL", s->name);
    if (gt_type_size(s->type) == 0)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s_type is %d, not a value of its enum",
                       s->name, (int)s->type);
    if (s->ld != 0 && s->ld < cols)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "%s_ld is %" PRId64 ", must be 0 (packed) or at least %" PRId64,
                       s->name, s->ld, cols);
    return GEMMTUNE_OK;
}

/* The integer nearest to the value, within the range of the type; 0 for NaN. */
static double to_integer(gemmtune_dtype type, double value) {
    const double most = gt_type_exact(type);
    return isnan(value) ? 0 : fmin(fmax(nearbyint(value), -most - 1), most);
}

static void convert_row(char *to, gemmtune_dtype to_type, const char *from,
                        gemmtune_dtype from_type, int64_t count) {
    enum { BLOCK = 64 }; /* elements that are converted together */
    const size_t to_size = gt_type_size(to_type), from_size = gt_type_size(from_type);
    double value[BLOCK];
    for (int64_t i = 0; i < count; i += BLOCK) {
        const int64_t some = count - i < BLOCK ? count - i : BLOCK;
        gt_elements_get(value, from + (size_t)i * from_size, from_type, some);
        for (int64_t b = 0; b < some && !gt_type_is_float(to_type); b++)
            value[b] = to_integer(to_type, value[b]);
        gt_elements_put(to + (size_t)i * to_size, to_type, value, some);
    }
}

gemmtune_status gemmtune_convert(void *dst, gemmtune_dtype dst_type, int64_t dst_ld,
                                 const void *src, gemmtune_dtype src_type, int64_t src_ld,
                                 int64_t rows, int64_t cols) {
    struct gt_err *err = gt_public_entry();
    const struct side to = {"dst", dst, dst_type, dst_ld};
    const struct side from = {"src", src, src_type, src_ld};
    if (rows < 0 || rows > GT_DIM_MAX || cols < 0 || cols > GT_DIM_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "%" PRId64 " x %" PRId64
                       " elements: each must be from 0 to %" PRId64,
                       rows, cols, (int64_t)GT_DIM_MAX);
    gt_status status = check_side(&to, cols, err);
    if (status == GEMMTUNE_OK)
        status = check_side(&from, cols, err);
    if (status != GEMMTUNE_OK)
        return status;
    const int64_t to_row = (dst_ld == 0 ? cols : dst_ld) * (int64_t)gt_type_size(dst_type);
    const int64_t from_row =
        (src_ld == 0 ? cols : src_ld) * (int64_t)gt_type_size(src_type);
    for (int64_t i = 0; i < rows; i++)
        convert_row((char *)dst + i * to_row, dst_type, (const char *)src + i * from_row,
                    src_type, cols);
    return GEMMTUNE_OK;
}
