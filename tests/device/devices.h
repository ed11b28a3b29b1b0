/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.h - for tests that run on every device of this machine, and then again in a
 * process of their own on the fake CUDA driver (tests/fake): the devices, the families, and
 * the way into that process.
 */
#ifndef GT_TESTS_DEVICES_H
#define GT_TESTS_DEVICES_H

#include "runtime/drivers/driver.h"
#include "runtime/family/family.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct gt_device_list devices;
/* the built-in ones and the ones of tests/data/families */
static struct gt_families *families;

/* A call with `&err` as its last argument. */
#define assert_ok(call)                                                                    \
    do {                                                                                   \
        const gt_status status_ = (call);                                                  \
        if (status_ != GEMMTUNE_OK)                                                        \
            fail_msg("%s: %s", #call, err.line);                                           \
    } while (0)

static inline bool open_devices(void) {
    struct gt_err err = {""};
    if (gt_devices_list(&devices, &err) == GEMMTUNE_OK &&
        gt_families_create(&families, &err) == GEMMTUNE_OK &&
        gt_families_add_folder(families, "tests/data/families", &err) == GEMMTUNE_OK)
        return true;
    printf("not ok - %s\n", err.line);
    return false;
}

static inline void close_devices(void) {
    gt_families_destroy(families);
    gt_devices_clear(&devices);
}

/* Makes `variable` name a library of tests/fake. False when the library is missing. */
static inline bool use_fake(const char *variable, const char *name) {
    const char *build = getenv("GT_BUILD");
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/fake/%s", build ? build : "build", name);
    (void)setenv(variable, path, 1);
    return access(path, R_OK) == 0;
}

/* Runs this program again with an argument, and with the fake libraries and
 * FAKE_CUDA_DEVICE in its environment. Returns its exit status; 0 when there are no fakes.
 */
static inline int run_faked(char *self, const char *device) {
    char fake[] = "fake", *argv[] = {self, fake, NULL};
    (void)setenv("FAKE_CUDA_DEVICE", device, 1);
    if (!use_fake("GEMMTUNE_LIBCUDA", "libcuda.so") ||
        !use_fake("GEMMTUNE_LIBNVML", "libcuda.so") ||
        !use_fake("GEMMTUNE_LIBNVRTC", "libnvrtc.so")) {
        printf("skipped: the fake CUDA driver is not built\n");
        return 0;
    }
    (void)fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        execv(self, argv);
        _exit(127);
    }
    int state = 0;
    if (pid < 0 || waitpid(pid, &state, 0) != pid)
        return 1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}

#endif
