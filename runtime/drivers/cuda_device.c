/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_device.c - see cuda_device.h. */
#include "runtime/drivers/cuda_device.h"

#include "runtime/drivers/driver_util.h"
#include "runtime/drivers/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>

static int attribute(const struct gt_cuda *cu, enum gt_cuda_constant which,
                     CUdevice device) {
    int value = 0;
    return cu->cuDeviceGetAttribute(&value, (unsigned)which, device) == GT_CU_SUCCESS
               ? value
               : 0;
}

static void fill_uuid(struct gt_device *d, const struct gt_cuda *cu, CUdevice device) {
    struct gt_cu_uuid id;
    gt_cu_result result = GT_CU_NOT_SUPPORTED;
    if (cu->cuDeviceGetUuid)
        result = cu->cuDeviceGetUuid(&id, device);
    else if (cu->cuDeviceGetUuid_v1)
        result = cu->cuDeviceGetUuid_v1(&id, device);
    if (result != GT_CU_SUCCESS)
        return;
    char hex[33];
    for (size_t i = 0; i < sizeof id.bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)(unsigned char)id.bytes[i]);
    snprintf(d->uuid, sizeof d->uuid, "GPU-%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8,
             hex + 12, hex + 16, hex + 20);
}

static void fill_driver(struct gt_device *d, const struct gt_cuda *cu) {
    int version = 0;
    (void)cu->cuDriverGetVersion(&version);
    const struct gt_nvml *nvml = gt_nvml_api();
    char text[80] = "";
    if (nvml && nvml->nvmlSystemGetDriverVersion &&
        nvml->nvmlSystemGetDriverVersion(text, sizeof text) == 0 && text[0])
        snprintf(d->driver, sizeof d->driver, "%.79s (CUDA %d.%d)", text, version / 1000,
                 version % 1000 / 10);
    else
        snprintf(d->driver, sizeof d->driver, "CUDA %d.%d", version / 1000,
                 version % 1000 / 10);
}

static void fill_compiler(struct gt_device *d) {
    struct gt_nvrtc_choice choice;
    struct gt_err err;
    if (gt_nvrtc_choose(&choice, d->cc, &err) == GEMMTUNE_OK)
        gt_nvrtc_name(&choice, d->compiler, sizeof d->compiler);
    else
        snprintf(d->trouble, sizeof d->trouble, "%.*s", (int)sizeof d->trouble - 1,
                 err.line);
}

static void fill_limits(struct gt_device *d, const struct gt_cuda *cu, CUdevice device) {
    d->cc =
        10 * attribute(cu, GT_CU_CC_MAJOR, device) + attribute(cu, GT_CU_CC_MINOR, device);
    d->units = attribute(cu, GT_CU_UNITS, device);
    d->warp = attribute(cu, GT_CU_WARP_SIZE, device);
    d->max_threads = attribute(cu, GT_CU_MAX_THREADS_PER_BLOCK, device);
    d->regs_per_block = attribute(cu, GT_CU_REGISTERS_PER_BLOCK, device);
    d->clock_mhz = attribute(cu, GT_CU_CLOCK_KHZ, device) / 1000;
    d->mem_clock_mhz = attribute(cu, GT_CU_MEM_CLOCK_KHZ, device) / 1000;
    d->bus_bits = attribute(cu, GT_CU_BUS_BITS, device);
    d->l2_bytes = attribute(cu, GT_CU_L2_BYTES, device);
    d->smem_max = attribute(cu, GT_CU_SMEM_PER_BLOCK_OPTIN, device);
    const int plain = attribute(cu, GT_CU_SMEM_PER_BLOCK, device);
    if (d->smem_max < plain)
        d->smem_max = plain; /* before Volta there is no opt-in */
}

/* A driver that does not report clocks (a rate of 0) leaves that to NVML, which takes 8 ms
 * to start. */
static void fill_clocks(struct gt_device *d) {
    if (d->clock_mhz > 0 && d->mem_clock_mhz > 0)
        return;
    const struct gt_nvml *nvml = gt_nvml_api();
    nvmlDevice_t handle = NULL;
    if (!nvml || !nvml->nvmlDeviceGetMaxClockInfo || !nvml->nvmlDeviceGetHandleByPciBusId ||
        nvml->nvmlDeviceGetHandleByPciBusId(d->pci, &handle) != 0)
        return;
    unsigned mhz = 0;
    if (d->clock_mhz <= 0 &&
        nvml->nvmlDeviceGetMaxClockInfo(handle, GT_NVML_CLOCK_SM, &mhz) == 0)
        d->clock_mhz = (int)mhz;
    if (d->mem_clock_mhz <= 0 &&
        nvml->nvmlDeviceGetMaxClockInfo(handle, GT_NVML_CLOCK_MEM, &mhz) == 0)
        d->mem_clock_mhz = (int)mhz;
}

static gt_status fill_device(struct gt_device *d, const struct gt_cuda *cu, int ordinal,
                             CUdevice device, struct gt_err *err) {
    *d = (struct gt_device){.backend = GEMMTUNE_CUDA, .ordinal = ordinal, .has_f64 = true};
    char name[256] = "";
    gt_cu_result result = cu->cuDeviceGetName(name, sizeof name - 1, device);
    if (result != GT_CU_SUCCESS)
        return gt_cuda_fail(err, "cuDeviceGetName", result);
    size_t bytes = 0;
    result = cu->cuDeviceTotalMem(&bytes, device);
    if (result != GT_CU_SUCCESS)
        return gt_cuda_fail(err, "cuDeviceTotalMem", result);
    gt_tidy(d->name, sizeof d->name, name);
    snprintf(d->vendor, sizeof d->vendor, "NVIDIA");
    d->mem_bytes = d->max_alloc = (int64_t)bytes;
    fill_limits(d, cu, device);
    snprintf(d->arch, sizeof d->arch, "sm_%d", d->cc);
    snprintf(d->pci, sizeof d->pci, "%04x:%02x:%02x.0",
             (unsigned)attribute(cu, GT_CU_PCI_DOMAIN, device) & 0xffffU,
             (unsigned)attribute(cu, GT_CU_PCI_BUS, device) & 0xffU,
             (unsigned)attribute(cu, GT_CU_PCI_DEVICE, device) & 0xffU);
    fill_uuid(d, cu, device);
    fill_clocks(d);
    return GEMMTUNE_OK;
}

/* Starts the driver. One that does not start has no devices; `missing` gets the reason. */
static bool starts(const struct gt_cuda *cu, char missing[GT_MISSING_MAX]) {
    const gt_cu_result result = cu->cuInit(0);
    if (result == GT_CU_SUCCESS)
        return true;
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    struct gt_err err;
    if (result == GT_CU_STUB_LIBRARY)
        snprintf(missing, 512,
                 "libcuda is the toolkit's stub, not a driver: fix the library path");
    else if (result == GT_CU_NO_DEVICE)
        snprintf(missing, 512, "the CUDA driver sees no device%s",
                 visible ? " (CUDA_VISIBLE_DEVICES is set)" : "");
    else {
        (void)gt_cuda_fail(&err, "cuInit", result);
        snprintf(missing, 512, "the CUDA driver does not start: %.400s", err.line);
    }
    return false;
}

gt_status gt_cuda_enumerate(void (*fn)(void *user, const struct gt_device *d), void *user,
                            char missing[GT_MISSING_MAX], struct gt_err *err) {
    missing[0] = '\0';
    struct gt_err why;
    const struct gt_cuda *cu = gt_cuda_api(&why);
    if (!cu) {
        snprintf(missing, 512, "%.511s", why.line);
        return GEMMTUNE_OK;
    }
    if (!starts(cu, missing))
        return GEMMTUNE_OK;
    int count = 0;
    gt_cu_result result = cu->cuDeviceGetCount(&count);
    if (result != GT_CU_SUCCESS)
        return gt_cuda_fail(err, "cuDeviceGetCount", result);
    if (count == 0)
        snprintf(missing, 512, "the CUDA driver sees no device");
    for (int i = 0; i < count; i++) {
        CUdevice device = 0;
        struct gt_device d;
        result = cu->cuDeviceGet(&device, i);
        if (result != GT_CU_SUCCESS)
            return gt_cuda_fail(err, "cuDeviceGet", result);
        const gt_status status = fill_device(&d, cu, i, device, err);
        if (status != GEMMTUNE_OK)
            return status;
        fill_driver(&d, cu);
        fill_compiler(&d);
        fn(user, &d);
    }
    return GEMMTUNE_OK;
}

void gt_cuda_fill_version(struct gt_device *d) {
    const struct gt_cuda *cu = gt_cuda_api(NULL);
    if (cu != NULL)
        fill_driver(d, cu);
}

gt_status gt_cuda_describe(struct gt_device *out, const struct gt_cuda *cu, CUdevice device,
                           struct gt_err *err) {
    int count = 0, ordinal = 0;
    (void)cu->cuDeviceGetCount(&count);
    for (int i = 0; i < count; i++) {
        CUdevice other = 0;
        if (cu->cuDeviceGet(&other, i) == GT_CU_SUCCESS && other == device)
            ordinal = i;
    }
    return fill_device(out, cu, ordinal, device, err);
}
