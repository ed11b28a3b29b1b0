/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.c - the devices that FAKE_CUDA_DEVICE names, and their attributes. See
 * fake_cuda.h.
 */
#include "tests/fake/cuda/fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The two GeForce GTX 1050 differ in silicon and share a name. */
static const struct chip chips[] = {
    {"h200", "NVIDIA H200", 90, 132, 6144, 1980, 3201, 62914560, 232448, 233472,
     (size_t)150754 << 20},
    {"rtx5090", "NVIDIA GeForce RTX 5090", 120, 170, 512, 2407, 14001, 100663296, 101376,
     102400, (size_t)32607 << 20},
    {"l40s", "NVIDIA L40S", 89, 142, 384, 2520, 9001, 100663296, 101376, 102400,
     (size_t)46068 << 20},
    {"a10", "NVIDIA A10", 86, 72, 384, 1695, 6251, 6291456, 101376, 102400,
     (size_t)23028 << 20},
    {"a100", "NVIDIA A100-SXM4-40GB", 80, 108, 5120, 1410, 1215, 41943040, 166912, 167936,
     (size_t)40536 << 20},
    {"t4", "Tesla T4", 75, 40, 256, 1590, 5001, 4194304, 65536, 65536, (size_t)15360 << 20},
    {"gtx1080", "NVIDIA GeForce GTX 1080", 61, 20, 256, 1734, 5005, 2097152, 49152, 98304,
     (size_t)8107 << 20},
    {"gtx1050-2gb", "NVIDIA GeForce GTX 1050", 61, 5, 128, 1455, 3504, 1048576, 49152,
     98304, (size_t)2000 << 20},
    {"gtx1050-3gb", "NVIDIA GeForce GTX 1050", 61, 6, 96, 1518, 3504, 786432, 49152, 98304,
     (size_t)3020 << 20},
};

const struct chip *device[DEVICES_MAX];
int devices;

static const struct chip *find_chip(const char *word, size_t length) {
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (strlen(chips[i].word) == length && memcmp(chips[i].word, word, length) == 0)
            return &chips[i];
    stop("FAKE_CUDA_DEVICE has an unknown device:", word);
}

void read_devices(void) {
    const char *text = getenv("FAKE_CUDA_DEVICE");
    devices = 0;
    for (const char *p = text && *text ? text : "h200"; *p && devices < DEVICES_MAX;) {
        const size_t length = strcspn(p, ",");
        device[devices++] = find_chip(p, length);
        p += length + (p[length] == ',');
    }
}

gt_cu_result cuDeviceGetCount(int *count) {
    ENTER(cuDeviceGetCount);
    *count = devices;
    return GT_CU_SUCCESS;
}

gt_cu_result cuDeviceGet(CUdevice *out, int ordinal) {
    ENTER(cuDeviceGet);
    *out = ordinal;
    return ordinal >= 0 && ordinal < devices ? GT_CU_SUCCESS : 101;
}

gt_cu_result cuDeviceGetName(char *name, int size, CUdevice d) {
    ENTER(cuDeviceGetName);
    snprintf(name, (size_t)size, "%s", device[d]->name);
    return GT_CU_SUCCESS;
}

static void make_uuid(struct gt_cu_uuid *uuid, CUdevice d) {
    memset(uuid, d, sizeof *uuid);
    const char *word = device[d]->word;
    const size_t length = strlen(word);
    memcpy(uuid->bytes, word, length < 4 ? length : 4);
    if (length > 3)
        memcpy(uuid->bytes + 4, word + length - 3, 3);
}

gt_cu_result cuDeviceGetUuid_v2(struct gt_cu_uuid *uuid, CUdevice d) {
    ENTER(cuDeviceGetUuid);
    make_uuid(uuid, d);
    return GT_CU_SUCCESS;
}

gt_cu_result cuDeviceGetUuid(struct gt_cu_uuid *uuid, CUdevice d) {
    ENTER(cuDeviceGetUuid_v1);
    make_uuid(uuid, d);
    return GT_CU_SUCCESS;
}

gt_cu_result cuDeviceGetAttribute(int *value, gt_cu_device_attribute attribute,
                                  CUdevice d) {
    ENTER(cuDeviceGetAttribute);
    const struct chip *c = device[d];
    const struct {
        enum gt_cuda_constant attribute;
        int value;
    } rows[] = {
        {GT_CU_MAX_THREADS_PER_BLOCK, 1024},
        {GT_CU_SMEM_PER_BLOCK, STATIC_SMEM_MAX},
        {GT_CU_WARP_SIZE, 32},
        {GT_CU_REGISTERS_PER_BLOCK, 65536},
        {GT_CU_CLOCK_KHZ, c->clock_mhz * 1000},
        {GT_CU_UNITS, c->units},
        {GT_CU_PCI_BUS, d + 1},
        {GT_CU_MEM_CLOCK_KHZ, c->mem_clock_mhz * 1000},
        {GT_CU_BUS_BITS, c->bus_bits},
        {GT_CU_L2_BYTES, c->l2_bytes},
        {GT_CU_CC_MAJOR, c->cc / 10},
        {GT_CU_CC_MINOR, c->cc % 10},
        {GT_CU_SMEM_PER_UNIT, c->smem_per_unit},
        {GT_CU_SMEM_PER_BLOCK_OPTIN, c->smem_optin},
    };
    *value = 0; /* missing attributes are 0: no time-out, not integrated, default mode */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((unsigned)rows[i].attribute == attribute)
            *value = rows[i].value;
    return GT_CU_SUCCESS;
}

gt_cu_result cuDeviceTotalMem_v2(size_t *bytes, CUdevice d) {
    ENTER(cuDeviceTotalMem);
    *bytes = device[d]->memory;
    return GT_CU_SUCCESS;
}
