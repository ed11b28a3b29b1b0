/* SPDX-License-Identifier: Apache-2.0 */
/* json_need.c - members that must be there, of one type: see json.h. */
#include "core/json.h"

#include <string.h>

gt_status gt_json_need_int(int64_t *out, struct gt_node object, const char *key,
                           int64_t low, int64_t high, struct gt_err *err) {
    struct gt_node n;
    const gt_status status = gt_json_need(&n, object, key, err);
    return status == GEMMTUNE_OK ? gt_json_int(out, n, low, high, err) : status;
}

gt_status gt_json_need_double(double *out, struct gt_node object, const char *key,
                              double low, double high, struct gt_err *err) {
    struct gt_node n;
    double value;
    gt_status status = gt_json_need(&n, object, key, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_double(&value, n, err);
    if (status == GEMMTUNE_OK && !(value >= low && value <= high))
        status = gt_json_fail(n, err, "must be from %g to %g, not %g", low, high, value);
    if (status == GEMMTUNE_OK)
        *out = value;
    return status;
}

gt_status gt_json_need_string(const char **out, struct gt_node object, const char *key,
                              struct gt_err *err) {
    struct gt_node n;
    const gt_status status = gt_json_need(&n, object, key, err);
    return status == GEMMTUNE_OK ? gt_json_string(out, n, err) : status;
}

gt_status gt_json_need_text(char *out, size_t size, struct gt_node object, const char *key,
                            struct gt_err *err) {
    const char *text;
    const gt_status status = gt_json_need_string(&text, object, key, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (text[0] == '\0' || strlen(text) >= size)
        return gt_json_fail(gt_json_member(object, key), err, "must have 1 to %zu bytes",
                            size - 1);
    memcpy(out, text, strlen(text) + 1);
    return GEMMTUNE_OK;
}
