/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_lock.c - any bytes as a lock. In an accepted one each name must mean its problem
 * again and stand once, in order, and each digest must have its digits.
 */
#include "tests/fuzz/standalone.h"

#include "runtime/lookup/lock.h"

#include <stdlib.h>
#include <string.h>

static void check_kernel(const struct gt_pin_kernel *k, const struct gt_lock *lock) {
    struct gt_point point;
    if (strlen(k->pinned.source) != 64 || strlen(k->pinned.image) != 64 ||
        strlen(k->hash) != 64 || k->workspace < 0 || k->pinned.compiler != lock->compiler ||
        k->pinned.folder != lock->folder || k->found != NULL ||
        gt_point_parse(&point, k->point, NULL) != GEMMTUNE_OK)
        abort();
}

static void check(const struct gt_lock *lock) {
    for (size_t i = 0; i < lock->count; i++) {
        const struct gt_pin *pin = &lock->pin[i];
        char name[GT_PROBLEM_NAME_MAX];
        gemmtune_problem p;
        if (gt_problem_from_name(&p, pin->problem, NULL) != GEMMTUNE_OK)
            abort();
        (void)gt_problem_name(&p, name);
        if (strcmp(name, pin->problem) != 0 || pin->signature == NULL ||
            (i > 0 && strcmp(pin[-1].problem, pin->problem) >= 0) ||
            pin->kernel[GT_PIN_WIDE].family == NULL)
            abort();
        for (int k = 0; k < GT_PIN_KERNELS; k++)
            if (pin->kernel[k].family != NULL)
                check_kernel(&pin->kernel[k], lock);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct gt_lock *lock = NULL;
    struct gt_json *doc = NULL;
    struct gt_err err = {""};
    gt_status status = gt_json_parse(&doc, "input", (const char *)data, size, &err);
    if (status == GEMMTUNE_OK)
        status = gt_lock_take(&lock, doc, "input", &err);
    if (status == GEMMTUNE_OK)
        check(lock);
    else if (err.line[0] == '\0' || lock != NULL)
        abort();
    gt_lock_destroy(lock);
    return 0;
}
