/* SPDX-License-Identifier: Apache-2.0 */
/* rival.c - the list of rivals, and the checks that need none of them open. */
#include "tuner/bench/rival.h"

#include "core/text.h"

#include <stdlib.h>
#include <string.h>

const struct gt_rival *const gt_rivals[GT_RIVALS + 1] = {
    &gt_rival_cublas,          &gt_rival_cublaslt, &gt_rival_cublas_apart,
    &gt_rival_cublaslt_apart,  &gt_rival_clblast,  &gt_rival_cpu,
    &gt_rival_cublas_autotune, &gt_rival_self,     &gt_rival_plan_none,
    &gt_rival_plan_any,        &gt_rival_one_call, NULL,
};

static int find(const char *name, size_t length) {
    for (int i = 0; i < GT_RIVALS; i++)
        if (strlen(gt_rivals[i]->name) == length &&
            memcmp(gt_rivals[i]->name, name, length) == 0)
            return i;
    return -1;
}

static gt_status unknown(const char *name, size_t length, struct gt_err *err) {
    char list[128] = "";
    for (int i = 0; i < GT_RIVALS; i++) {
        strncat(list, i > 0 ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, gt_rivals[i]->name, sizeof list - strlen(list) - 1);
    }
    return gt_fail(err, GEMMTUNE_EINVAL, "no baseline '%.*s'; there are %s", (int)length,
                   name, list);
}

gt_status gt_rivals_parse(unsigned *out, const char *list, struct gt_err *err) {
    *out = 0;
    for (int i = 0; !list && i < GT_RIVALS; i++)
        if (!gt_rivals[i]->by_name_only)
            *out |= 1u << i;
    while (list) {
        const size_t length = strcspn(list, ",");
        const int at = find(list, length);
        if (at < 0)
            return unknown(list, length, err);
        *out |= 1u << at;
        list = list[length] ? list + length + 1 : NULL;
    }
    return GEMMTUNE_OK;
}

gt_status gt_rivals_storable(unsigned rivals, struct gt_err *err) {
    for (int i = 0; i < GT_RIVALS; i++)
        if ((rivals & 1u << i) && gt_rivals[i]->version == NULL)
            return gt_fail(err, GEMMTUNE_EINVAL,
                           "what is measured of %s cannot be stored: it has no version",
                           gt_rivals[i]->name);
    return GEMMTUNE_OK;
}

/* Each of these variables replaces the arithmetic of f32 or f64 products. */
gt_status gt_rivals_environment(struct gt_err *err) {
    static const char *const names[] = {
        "NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION",
        "CUBLAS_EMULATE_DOUBLE_PRECISION", "CUBLAS_EMULATION_STRATEGY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value && strcmp(value, "0") != 0)
            return gt_fail(err, GEMMTUNE_EINVAL,
                           "%s=%s changes what cuBLAS computes; unset it", names[i], value);
    }
    return GEMMTUNE_OK;
}
