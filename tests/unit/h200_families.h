/* SPDX-License-Identifier: Apache-2.0 */
/* h200_families.h - the built-in families and the H200 of devices/: for groups of tests
 * that begin with setup and end with teardown. */
#ifndef GT_TESTS_UNIT_H200_FAMILIES_H
#define GT_TESTS_UNIT_H200_FAMILIES_H

#include "runtime/family/family.h"
#include "tuner/study/predict.h"

static struct gt_families *families;
static struct gt_device device;

static int setup(void **state) {
    (void)state;
    return gt_describe_load(&device, "devices/h200/device.json", NULL) != GEMMTUNE_OK ||
           gt_families_create(&families, NULL) != GEMMTUNE_OK;
}

static int teardown(void **state) {
    (void)state;
    gt_families_destroy(families);
    return 0;
}

#endif
