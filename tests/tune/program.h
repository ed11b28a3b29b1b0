/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - the program, its image cache and the devices, for tests that ask the library
 * about what the program has built. It includes cmocka's header with what that needs.
 */
#ifndef GT_TESTS_TUNE_PROGRAM_H
#define GT_TESTS_TUNE_PROGRAM_H

#include "runtime/drivers/cache.h"
#include "tuner/rig/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Runs the program. Its words go to FOLDER/said, and are shown after a failure. Returns
 * what system() does. */
static inline int run_gemmtune(const char *folder, const char *arguments) {
    char command[2000];
    (void)snprintf(command, sizeof command, "\"%s\" %s >%s/said 2>&1", getenv("GEMMTUNE"),
                   arguments, folder);
    const int code = system(command); /* NOLINT: our own words */
    if (code != 0) {
        (void)snprintf(command, sizeof command, "cat %s/said", folder);
        (void)!system(command); /* NOLINT */
    }
    return code;
}

/* How many images the cache has. */
static inline int64_t count_images(void) {
    char folder[400];
    int64_t count = 0, bytes = 0;
    assert_int_equal(gt_cache_stat(folder, sizeof folder, &count, &bytes, NULL),
                     GEMMTUNE_OK);
    return count;
}

/* The first device of the backend; false when there is none. */
static inline bool find_device(struct gt_device *out, gemmtune_backend backend) {
    struct gt_device_list list;
    bool found = false;
    assert_int_equal(gt_devices_list(&list, NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < list.count && !found; i++) {
        found = list.device[i].backend == backend;
        *out = list.device[i];
    }
    gt_devices_clear(&list);
    return found;
}

#endif
