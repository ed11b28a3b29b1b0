/* SPDX-License-Identifier: Apache-2.0 */
/* growth.c - copies between a caller's struct and the library's, of different lengths. */
#include "core/growth.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { SIZE_MAX_EVER = 4096 }; /* bytes; a larger struct_size was never set by the caller */

static gt_status check_size(size_t size, const struct gt_growth *g, struct gt_err *err) {
    if (size < g->least || size > SIZE_MAX_EVER)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "struct_size of the %s is %zu, must be %zu or more: call %s first",
                       g->what, size, g->least, g->fill);
    return GEMMTUNE_OK;
}

static bool is_zero(const unsigned char *byte, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (byte[i] != 0)
            return false;
    return true;
}

gt_status gt_growth_read(void *out, const void *in, const struct gt_growth *g,
                         struct gt_err *err) {
    uint32_t size;
    memcpy(&size, in, sizeof size);
    const gt_status status = check_size(size, g, err);
    if (status != GEMMTUNE_OK)
        return status;
    const size_t both = size < g->size ? size : g->size;
    if (!is_zero((const unsigned char *)in + both, size - both))
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "a member of the %s is not known to library version %d.%d.%d",
                       g->what, GEMMTUNE_VERSION_MAJOR, GEMMTUNE_VERSION_MINOR,
                       GEMMTUNE_VERSION_PATCH);
    memset(out, 0, g->size);
    memcpy(out, in, both);
    return GEMMTUNE_OK;
}

gt_status gt_growth_write(void *out, size_t size, const void *in, const struct gt_growth *g,
                          struct gt_err *err) {
    const uint32_t struct_size = (uint32_t)size;
    const gt_status status = check_size(size, g, err);
    if (status != GEMMTUNE_OK)
        return status;
    memset(out, 0, size);
    memcpy(out, in, size < g->size ? size : g->size);
    memcpy(out, &struct_size, sizeof struct_size);
    return GEMMTUNE_OK;
}

gt_status gt_growth_init(void *out, size_t size, const struct gt_growth *g,
                         struct gt_err *err) {
    const uint32_t struct_size = (uint32_t)size;
    if (out == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL", g->what);
    const gt_status status = check_size(size, g, err);
    if (status != GEMMTUNE_OK)
        return status;
    memset(out, 0, size);
    memcpy(out, &struct_size, sizeof struct_size);
    return GEMMTUNE_OK;
}
