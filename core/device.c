/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - a device's key, and the ceilings that follow from its description. Speaks to
 * no driver: runtime/ fills the struct.
 */
#include "core/device.h"

#include "core/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SLUG_MAX = GT_DEVICE_KEY_MAX - 10 }; /* leaves room for "-5f1c09aa" and the NUL */

/* ---- key ------------------------------------------------------------------- */

/* The character of a slug, 0 for what becomes a dash. */
static char slug_char(char c) {
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '\0';
}

/* "NVIDIA H200 (SXM)" becomes "nvidia-h200-sxm". Returns the length. */
static int slug(char out[SLUG_MAX], const char *name) {
    int len = 0;
    bool dash = false;
    for (; *name != '\0' && len < SLUG_MAX - 2; name++) {
        const char c = slug_char(*name);
        if (c != '\0' && dash && len > 0)
            out[len++] = '-';
        if (c != '\0')
            out[len++] = c;
        dash = c == '\0';
    }
    out[len] = '\0';
    return len;
}

/* Drivers reserve some memory and report the rest, a little more or less in each version.
 */
static int64_t whole_gib(int64_t bytes) {
    const int64_t gib = INT64_C(1) << 30;
    return bytes / gib + (bytes % gib >= gib / 2);
}

static void key_of(const struct gt_device *d, int64_t gib, char key[GT_DEVICE_KEY_MAX]) {
    char numbers[160];
    (void)snprintf(numbers, sizeof numbers,
                   "%d %d %" PRId64 " GiB %" PRId64 " %d %" PRId64 " %d", d->units,
                   d->bus_bits, gib, d->l2_bytes, d->max_threads, d->smem_max,
                   d->regs_per_block);
    struct gt_hash h;
    char hex[65];
    gt_hash_init(&h);
    gt_hash_add_text(&h, gt_backend_name(d->backend));
    gt_hash_add_text(&h, d->name);
    gt_hash_add_text(&h, d->arch);
    gt_hash_add_text(&h, numbers);
    gt_hash_hex(&h, hex);
    char name[SLUG_MAX];
    const int len = slug(name, d->name);
    (void)snprintf(key, GT_DEVICE_KEY_MAX, "%s-%.8s", len > 0 ? name : "device", hex);
}

void gt_device_key(const struct gt_device *d, char key[GT_DEVICE_KEY_MAX]) {
    key_of(d, d->is_cpu ? 0 : whole_gib(d->mem_bytes), key);
}

void gt_device_key_1(const struct gt_device *d, char key[GT_DEVICE_KEY_MAX]) {
    key_of(d, whole_gib(d->mem_bytes), key);
}

/* ---- ceilings -------------------------------------------------------------- */

/*
 * Multiply-adds each SM finishes in one clock, by compute capability. Source: CUDA C++
 * Programming Guide, "Throughput of Native Arithmetic Instructions" (rows: 32-bit and
 * 64-bit floating-point multiply-add, 32-bit integer multiply-add). Before 7.0 the guide
 * says "multiple instructions" for the integer column: IMAD was three XMADs, each at the
 * rate of f32, hence a third of it. dmma: f64 by matrix instructions, where tensor cores
 * outdo that (A100 and H100 architecture papers). Checked on an H200 with register-only
 * loops: 65.2, 33.2 and 33.3 T/s measured against 66.9, 33.5 and 33.5 from this table. u8:
 * products of bytes on tensor cores, out of what NVIDIA's architecture papers say of dense
 * INT8.
 */
static const struct lanes {
    int cc;
    int f32, f64, dmma, i32, u8;
} lanes[] = {
    {50, 128, 4, 0, 43, 0},     {52, 128, 4, 0, 43, 0},       {53, 128, 4, 0, 43, 0},
    {60, 64, 32, 0, 21, 0},     {61, 128, 4, 0, 43, 0},       {62, 128, 4, 0, 43, 0},
    {70, 64, 32, 0, 64, 0},     {72, 64, 32, 0, 64, 1024},    {75, 64, 2, 0, 64, 1024},
    {80, 64, 32, 64, 64, 2048}, {86, 128, 2, 0, 64, 1024},    {87, 128, 2, 0, 64, 2048},
    {89, 128, 2, 0, 64, 1024},  {90, 128, 64, 128, 64, 4096}, {100, 128, 64, 0, 64, 8192},
    {120, 128, 2, 0, 64, 1024}, {121, 128, 2, 0, 64, 1024},
};

static const struct lanes *lanes_of(int cc) {
    static const struct lanes unknown;
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        if (lanes[i].cc == cc)
            return &lanes[i];
    return &unknown;
}

/* `rate` multiply-adds of each SM in one clock, as operations per second. */
static double per_second(const struct gt_device *d, double rate) {
    return d->units > 0 && d->clock_mhz > 0 ? 2 * rate * d->units * (d->clock_mhz * 1e6)
                                            : 0;
}

double gt_device_peak(const struct gt_device *d, gemmtune_dtype type) {
    const struct lanes *of = lanes_of(d->cc);
    switch (type) {
    case GEMMTUNE_F32:
        return per_second(d, of->f32);
    case GEMMTUNE_F64:
        return per_second(d, of->dmma > of->f64 ? of->dmma : of->f64);
    case GEMMTUNE_I32:
        return per_second(d, of->i32);
    default: /* narrow types are worth a kernel only on tensor cores or dp4a */
        return 0;
    }
}

double gt_device_plain_peak(const struct gt_device *d, gemmtune_dtype type) {
    return type == GEMMTUNE_F64 ? per_second(d, lanes_of(d->cc)->f64)
                                : gt_device_peak(d, type);
}

const char *gt_device_peak_about(const struct gt_device *d, gemmtune_dtype type) {
    const struct lanes *of = lanes_of(d->cc);
    if (type == GEMMTUNE_F64 && of->dmma > of->f64)
        return "f64 on tensor cores";
    if (type == GEMMTUNE_I32 && gt_device_ceiling(d, type) > gt_device_peak(d, type))
        return "multiply-adds of i32; products of bytes on tensor cores can exceed it";
    return "multiply-adds on ordinary cores";
}

double gt_device_ceiling(const struct gt_device *d, gemmtune_dtype type) {
    const double peak = gt_device_peak(d, type);
    double tensor = 0;
    if (type ==
        GEMMTUNE_F64) /* papers tell what is fast, not what is absent: room for some */
        tensor = per_second(d, 2 * lanes_of(d->cc)->f64);
    if (type == GEMMTUNE_I32) /* ten products of bytes make one */
        tensor = per_second(d, lanes_of(d->cc)->u8 / 10.0);
    return tensor > peak ? tensor : peak;
}

double gt_device_bandwidth(const struct gt_device *d) {
    if (d->bus_bits <= 0 || d->mem_clock_mhz <= 0)
        return 0;
    return d->bus_bits / 8.0 * 2 * (d->mem_clock_mhz * 1e6); /* two transfers a clock */
}
