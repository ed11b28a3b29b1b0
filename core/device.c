/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - a device's key, and the limits on speed that follow from its description. It
 * calls no driver: runtime/ fills the struct.
 */
#include "core/device.h"

#include "core/hash.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SLUG_MAX = GT_DEVICE_KEY_MAX - 10 }; /* leaves room for "-5f1c09aa" and the NUL */

/* ---- key ------------------------------------------------------------------- */

/* The character of a slug; 0 where the slug gets a dash. */
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

/* A driver reserves some memory and reports the rest, which differs a little between
 * versions. */
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

void gt_device_suppose_abilities(struct gt_device *d) {
    enum { ALL_SIZES = 255, WIDEST_BYTES = 64, NEWEST_CC = 90 };
    if (d->cc > 0)
        return; /* CUDA */
    d->has_f16 = d->has_dot4 = true;
    d->subgroup_sizes = ALL_SIZES;
    d->vector_bytes = WIDEST_BYTES;
    d->ptx = strncmp(d->vendor, "NVIDIA", 6) == 0 ? NEWEST_CC : 0;
}

/* ---- ceilings -------------------------------------------------------------- */

/*
 * Multiply-adds each SM finishes in one clock, by compute capability. Sources:
 *   f32 f64 i32  CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions"
 *                (rows: 32-bit and 64-bit floating-point multiply-add, 32-bit integer
 *                multiply-add). Before 7.0 the guide says "multiple instructions" for the
 *                integer column: IMAD was three XMADs, each at the rate of f32, hence a
 *                third of it.
 *   dmma         f64 by matrix instructions, where tensor cores are faster: the A100 and
 *                H100 architecture papers.
 *   half         dense products of 16-bit floats on tensor cores: NVIDIA's architecture
 *                papers; of all boards with that compute capability the highest rate.
 *   u8           dense products of bytes on tensor cores: the same papers.
 *   dot          products of bytes on ordinary cores, four an instruction (dp4a). It has
 * the rate of f32 before 7.0 (the Tesla P4 is sold with 22 T/s of INT8 and 5.5 of f32), and
 * of i32 since. Checked on an H200 with register-only loops: 65.2, 33.2 and 33.3 T/s
 * measured for f32, f64 and i32 against 66.9, 33.5 and 33.5 from this table.
 */
static const struct lanes {
    int cc;
    int f32, f64, dmma, i32, half, u8, dot;
} lanes[] = {
    {50, 128, 4, 0, 43, 0, 0, 0},           {52, 128, 4, 0, 43, 0, 0, 0},
    {53, 128, 4, 0, 43, 0, 0, 0},           {60, 64, 32, 0, 21, 0, 0, 0},
    {61, 128, 4, 0, 43, 0, 0, 512},         {62, 128, 4, 0, 43, 0, 0, 512},
    {70, 64, 32, 0, 64, 512, 0, 256},       {72, 64, 32, 0, 64, 512, 1024, 256},
    {75, 64, 2, 0, 64, 512, 1024, 256},     {80, 64, 32, 64, 64, 1024, 2048, 256},
    {86, 128, 2, 0, 64, 512, 1024, 256},    {87, 128, 2, 0, 64, 1024, 2048, 256},
    {89, 128, 2, 0, 64, 512, 1024, 256},    {90, 128, 64, 128, 64, 2048, 4096, 256},
    {100, 128, 64, 0, 64, 4096, 8192, 256}, {120, 128, 2, 0, 64, 512, 1024, 256},
    {121, 128, 2, 0, 64, 512, 1024, 256},
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

/* Multiply-adds of an SM's ordinary cores, which work in the accumulator's type. */
static double plain_rate(const struct gt_device *d, const struct gt_dtype *types) {
    const struct lanes *of = lanes_of(d->cc);
    switch (types->acc) {
    case GEMMTUNE_F32:
        return of->f32;
    case GEMMTUNE_F64:
        return of->f64;
    case GEMMTUNE_I32:
        return of->i32;
    default: /* no other type accumulates */
        return 0;
    }
}

/* Multiply-adds of an SM's tensor cores, which depend on the type of the factors; 0 without
 * such an instruction. */
static double tensor_rate(const struct gt_device *d, const struct gt_dtype *types) {
    const struct lanes *of = lanes_of(d->cc);
    switch (types->a) {
    case GEMMTUNE_F64: /* residues: 14 products of bytes at least */
        return types->math == GEMMTUNE_MATH_RESIDUES ? fmax(of->dmma, of->u8 / 14.0)
                                                     : of->dmma;
    case GEMMTUNE_F32: /* strict F32 has no instruction */
        return d->cc < 80                            ? 0
               : types->math == GEMMTUNE_MATH_TF32   ? of->half / 2.0
               : types->math == GEMMTUNE_MATH_SPLIT  ? of->half / 6.0 /* three products */
               : types->math == GEMMTUNE_MATH_BF16X3 ? of->half / 3.0
                                                     : 0;
    case GEMMTUNE_F16:
        return of->half;
    case GEMMTUNE_BF16:
        return d->cc >= 80 ? of->half : 0;
    case GEMMTUNE_E4M3:
    case GEMMTUNE_E5M2:
        return d->cc >= 89 ? of->u8 : 0;
    case GEMMTUNE_I8:
        return of->u8;
    case GEMMTUNE_I32:
        return 0;
    }
    return 0;
}

/* Multiply-adds of an SM's ordinary cores where one instruction has several of them. */
static double dot_rate(const struct gt_device *d, const struct gt_dtype *types) {
    return types->a == GEMMTUNE_I8 ? lanes_of(d->cc)->dot : 0;
}

double gt_device_peak(const struct gt_device *d, const struct gt_dtype *types) {
    if (types == NULL)
        return 0;
    const double ordinary = fmax(plain_rate(d, types), dot_rate(d, types));
    return per_second(d, fmax(ordinary, tensor_rate(d, types)));
}

double gt_device_plain_peak(const struct gt_device *d, const struct gt_dtype *types) {
    return types == NULL ? 0 : per_second(d, plain_rate(d, types));
}

const char *gt_device_peak_about(const struct gt_device *d, const struct gt_dtype *types) {
    if (types != NULL && dot_rate(d, types) > tensor_rate(d, types))
        return "products of bytes on ordinary cores, four an instruction";
    if (types != NULL && tensor_rate(d, types) > plain_rate(d, types))
        return types->a == GEMMTUNE_F64 ? "f64 on tensor cores" : "dense, on tensor cores";
    if (types != NULL && types->a == GEMMTUNE_I32 &&
        gt_device_ceiling(d, types) > gt_device_peak(d, types))
        return "multiply-adds of i32; products of bytes on tensor cores can exceed it";
    return "multiply-adds on ordinary cores";
}

double gt_device_ceiling(const struct gt_device *d, const struct gt_dtype *types) {
    const double peak = gt_device_peak(d, types);
    double tensor = 0;
    if (types == NULL)
        return 0;
    if (types->a ==
        GEMMTUNE_F64) /* the papers list fast boards only; others may be slower */
        tensor = per_second(d, 2 * lanes_of(d->cc)->f64);
    if (types->a == GEMMTUNE_I32) /* a product of i32 takes ten products of bytes */
        tensor = per_second(d, lanes_of(d->cc)->u8 / 10.0);
    return fmax(tensor, peak);
}

double gt_device_bandwidth(const struct gt_device *d) {
    if (d->bus_bits <= 0 || d->mem_clock_mhz <= 0)
        return 0;
    return d->bus_bits / 8.0 * 2 * (d->mem_clock_mhz * 1e6); /* two transfers a clock */
}
