/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.c - the functions of NVML. See fake_cuda.h. */
#include "tests/fake/cuda/fake_cuda.h"

#include <math.h>
#include <stdio.h>

unsigned nvmlInit_v2(void) {
    return 0;
}

unsigned nvmlSystemGetDriverVersion(char *version, unsigned size) {
    snprintf(version, size, "580.00");
    return 0;
}

unsigned nvmlDeviceGetHandleByPciBusId_v2(const char *pci, nvmlDevice_t *out) {
    *out = NULL;
    return 0;
}

unsigned nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *out) {
    static char first; /* never looked into */
    union {
        char *plain;
        nvmlDevice_t handle;
    } cast = {.plain = &first};
    *out = cast.handle;
    return 0;
}

unsigned nvmlDeviceGetMaxClockInfo(nvmlDevice_t d, unsigned clock, unsigned *mhz) {
    *mhz = (unsigned)device[0]->clock_mhz;
    return 0;
}

unsigned nvmlDeviceGetClockInfo(nvmlDevice_t d, unsigned clock, unsigned *mhz) {
    const struct rule *noted = due("noted", "");
    const double factor = noted ? noted->value : clock_factor(false);
    *mhz = (unsigned)lround(device[0]->clock_mhz * factor);
    return 0;
}

unsigned nvmlDeviceGetTemperature(nvmlDevice_t d, unsigned sensor, unsigned *celsius) {
    *celsius = clock_factor(false) < 1 ? 95 : 60;
    return 0;
}

unsigned nvmlDeviceGetPowerUsage(nvmlDevice_t d, unsigned *milliwatts) {
    *milliwatts = 70000;
    return 0;
}

unsigned nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t d, unsigned *milliwatts) {
    *milliwatts = 75000;
    return 0;
}

unsigned nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t d,
                                                   unsigned long long *reasons) {
    *reasons = clock_factor(false) < 1 ? GT_NVML_THROTTLE_SW_THERMAL : 0;
    return 0;
}
