/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_kernel.h - small kernels of PTX for the tests of tests/ptx/. */
#ifndef GT_TESTS_PTX_KERNEL_H
#define GT_TESTS_PTX_KERNEL_H

#include "tests/ptx/ptx.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNEL_TEXT = 1 << 17, KERNEL_MEMORY = 1 << 17 };

/* Global memory of the kernels: one allocation. */
static _Alignas(1024) unsigned char memory[KERNEL_MEMORY];

static bool find_memory(uint64_t at, uint64_t *begin, uint64_t *end) {
    *begin = (uint64_t)(uintptr_t)memory;
    *end = *begin + sizeof memory;
    return at >= *begin && at < *end;
}

/* The bits of a small integer in a type; 8-bit floats hold -3 .. 3 exactly. */
static inline uint64_t bits_of(const char *type, double x) {
    static const unsigned char e4m3[] = {0, 0x38, 0x40, 0x44},
                               e5m2[] = {0, 0x3c, 0x40, 0x42};
    static const uint16_t f16[] = {0, 0x3c00, 0x4000, 0x4200};
    const float f = (float)x;
    const int size = (int)fabs(x);
    uint32_t word;
    uint64_t wide;
    memcpy(&word, &f, sizeof word);
    memcpy(&wide, &x, sizeof wide);
    if (strcmp(type, "f64") == 0)
        return wide;
    if (strcmp(type, "tf32") == 0)
        return word;
    if (strcmp(type, "bf16") == 0)
        return word >> 16;
    if (strcmp(type, "f16") == 0)
        return f16[size] | (x < 0 ? 0x8000u : 0);
    if (strcmp(type, "e4m3") == 0)
        return e4m3[size] | (x < 0 ? 0x80u : 0);
    if (strcmp(type, "e5m2") == 0)
        return e5m2[size] | (x < 0 ? 0x80u : 0);
    return (uint8_t)(int)x;
}

static inline double value_at(int row, int column, int salt, const char *type) {
    const int x = (row * 5 + column * 3 + salt + row * column) % 7 - 3;
    return strcmp(type, "u8") == 0 ? x + 3 : x;
}

/* A text that grows. */
struct text {
    char *at;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format,
                                                      ...) {
    va_list list;
    va_start(list, format);
    t->used += (size_t)vsnprintf(t->at + t->used, KERNEL_TEXT - t->used, format, list);
    va_end(list);
    if (t->used >= KERNEL_TEXT)
        abort();
}

/* The head of a kernel with a pointer to `memory` in %mem, two tensor maps, and registers
 * %r, %rd, %f, %fd, %p, %h of 300 each. Shared memory is `smem`. */
static struct text begin_kernel(void) {
    struct text t = {malloc(KERNEL_TEXT), 0};
    if (!t.at)
        abort();
    add(&t, ".version 8.0\n.target sm_90a\n.address_size 64\n"
            ".extern .shared .align 1024 .b8 smem[];\n"
            ".visible .entry kernel(.param .u64 mem, .param .align 64 .b8 map_a[128], "
            ".param .align 64 .b8 map_b[128])\n{\n"
            ".reg .pred %%p<300>; .reg .b16 %%h<300>; .reg .b32 %%r<300>;\n"
            ".reg .b64 %%rd<300>; .reg .f32 %%f<300>; .reg .f64 %%fd<300>;\n"
            ".reg .b64 %%mem; .reg .b32 %%tid;\n"
            "ld.param.u64 %%mem, [mem];\nmov.u32 %%tid, %%tid.x;\n");
    return t;
}

struct run {
    unsigned threads, blocks, cluster;
    size_t smem;
    uint64_t seed;
    bool strict;
    struct ptx_tensor a, b;
};

/* Runs it; the text is freed. */
static struct ptx_report run_kernel(struct text *t, const struct run *how) {
    struct ptx_report report = {.result = PTX_FAILED};
    struct {
        uint64_t mem, pad[7], a[16], b[16];
    } params = {.mem = (uint64_t)(uintptr_t)memory};
    _Alignas(64) unsigned char aligned[sizeof params];
    add(t, "ret;\n}\n");
    struct ptx_module *m = ptx_parse(t->at, report.why);
    free(t->at);
    if (!m)
        return report;
    ptx_tensor_pack(params.a, &how->a);
    ptx_tensor_pack(params.b, &how->b);
    memcpy(aligned, &params, sizeof params);
    const unsigned cluster = how->cluster ? how->cluster : 1;
    const struct ptx_launch launch = {
        .kernel = ptx_find(m, "kernel"),
        .grid = {how->blocks ? how->blocks : 1, 1, 1},
        .block = {how->threads, 1, 1},
        .cluster = {cluster, 1, 1},
        .smem = how->smem,
        .params = aligned,
        .units = 4,
        .seed = how->seed + 1,
        .most_steps = 100000000,
        .strict = how->strict,
        .find = find_memory,
    };
    ptx_run(&report, &launch);
    ptx_free(m);
    return report;
}

#endif
