/* SPDX-License-Identifier: Apache-2.0 */
#include "core/device.h"
#include "tests/unit/made_up.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct gt_device h200(void) {
    return (struct gt_device)MADE_UP(.name = "NVIDIA H200", .arch = "sm_90", .cc = 90,
                                     .units = 132, .clock_mhz = 1980, .mem_clock_mhz = 3201,
                                     .bus_bits = 6144, .mem_bytes = INT64_C(150110011392),
                                     .l2_bytes = 62914560, .smem_max = 232448,
                                     .has_f64 = true);
}

static const struct gt_dtype *row(const char *name) {
    return gt_dtype_by_name(name, strlen(name));
}

static int within(double value, double expected, double relative) {
    return value > expected * (1 - relative) && value < expected * (1 + relative);
}

static void test_h200_ceilings(void **state) {
    const struct gt_device d = h200();
    (void)state;
    assert_true(within(gt_device_peak(&d, row("f32")), 66.9e12, 0.001));
    assert_true(within(gt_device_peak(&d, row("f64")), 66.9e12, 0.001));
    assert_true(within(gt_device_peak(&d, row("i32")), 33.45e12, 0.001));
    assert_true(within(gt_device_bandwidth(&d), 4.917e12, 0.001)); /* sold as 4.8 TB/s */
}

/* Compares with the makers' figures, within rounding. */
static void test_other_cards(void **state) {
    const struct gt_device a100 = {.cc = 80, .units = 108, .clock_mhz = 1410};
    const struct gt_device gtx1050 = {
        .cc = 61, .units = 5, .clock_mhz = 1455, .bus_bits = 128, .mem_clock_mhz = 3504};
    const struct gt_device rtx4090 = {.cc = 89, .units = 128, .clock_mhz = 2520};
    (void)state;
    assert_true(within(gt_device_peak(&a100, row("f32")), 19.5e12, 0.01));
    assert_true(within(gt_device_peak(&a100, row("f64")), 19.5e12, 0.01));
    assert_true(within(gt_device_peak(&gtx1050, row("f32")), 1.862e12, 0.01));
    assert_true(within(gt_device_bandwidth(&gtx1050), 112e9, 0.01));
    assert_true(within(gt_device_peak(&gtx1050, row("i8")), 4 * 1.862e12, 0.01));
    assert_true(within(gt_device_plain_peak(&gtx1050, row("i8")), 1.862e12 / 3, 0.02));
    assert_non_null(strstr(gt_device_peak_about(&gtx1050, row("i8")), "four an instr"));
    assert_non_null(strstr(gt_device_peak_about(&a100, row("i8")), "tensor"));
    assert_true(within(gt_device_peak(&rtx4090, row("f32")), 82.6e12, 0.01));
    assert_true(within(gt_device_peak(&rtx4090, row("f64")), 1.29e12, 0.01));
}

/* f64 and i32 on tensor cores: i32 as ten products of bytes, a tenth of what is printed for
 * INT8 (dense, at the clock that the box says). */
static void test_tensor_cores_raise_ceilings(void **state) {
    const struct gt_device a100 = {.cc = 80, .units = 108, .clock_mhz = 1410};
    const struct gt_device rtx4090 = {.cc = 89, .units = 128, .clock_mhz = 2520};
    const struct gt_device gtx1050 = {.cc = 61, .units = 5, .clock_mhz = 1455};
    struct gt_device sxm = h200();
    (void)state;
    sxm.clock_mhz = 1830;
    assert_true(within(gt_device_ceiling(&sxm, row("i32")), 197.9e12, 0.001));
    assert_true(within(gt_device_ceiling(&a100, row("i32")), 62.4e12, 0.01));
    assert_true(within(gt_device_ceiling(&a100, row("f64")), 19.5e12, 0.01));
    assert_true(within(gt_device_ceiling(&rtx4090, row("i32")), 66.1e12, 0.01));
    assert_true(gt_device_ceiling(&gtx1050, row("i32")) ==
                gt_device_peak(&gtx1050, row("i32")));
    assert_true(gt_device_ceiling(&rtx4090, row("f32")) ==
                gt_device_peak(&rtx4090, row("f32")));
}

/* The peaks that vendors print for dense products, at the clock on the box. */
static void test_narrow_types(void **state) {
    const struct gt_device v100 = {.cc = 70, .units = 80, .clock_mhz = 1530};
    const struct gt_device a100 = {.cc = 80, .units = 108, .clock_mhz = 1410};
    const struct gt_device gtx1050 = {.cc = 61, .units = 5, .clock_mhz = 1455};
    struct gt_device sxm = h200();
    (void)state;
    sxm.clock_mhz = 1830;
    assert_true(within(gt_device_peak(&sxm, row("bf16")), 989e12, 0.001));
    assert_true(within(gt_device_peak(&sxm, row("tf32")), 494.7e12, 0.001));
    assert_true(within(gt_device_peak(&sxm, row("e4m3")), 1979e12, 0.001));
    assert_true(within(gt_device_peak(&sxm, row("i8")), 1979e12, 0.001));
    assert_true(within(gt_device_peak(&a100, row("f16")), 312e12, 0.001));
    assert_true(within(gt_device_peak(&a100, row("tf32")), 156e12, 0.001));
    assert_true(within(gt_device_peak(&a100, row("f32@split")), 52e12, 0.001));
    assert_true(within(gt_device_peak(&a100, row("f32@bf16x3")), 104e12, 0.001));
    assert_true(within(gt_device_peak(&sxm, row("f64@residues")), 141.3e12, 0.001));
    assert_true(within(gt_device_peak(&a100, row("f64@residues")), 44.57e12, 0.001));
    assert_true(gt_device_peak(&v100, row("f32@split")) ==
                gt_device_peak(&v100, row("f32")));
    assert_true(within(gt_device_peak(&v100, row("f16")), 125e12, 0.01));
    /* no tensor cores for it: f32's arithmetic */
    assert_true(gt_device_peak(&v100, row("bf16")) == gt_device_peak(&v100, row("f32")));
    assert_true(gt_device_peak(&gtx1050, row("f16")) ==
                gt_device_peak(&gtx1050, row("f32")));
    assert_true(gt_device_plain_peak(&sxm, row("bf16")) ==
                gt_device_peak(&sxm, row("f32")));
    assert_true(gt_device_plain_peak(&sxm, row("i8")) == gt_device_peak(&sxm, row("i32")));
    assert_non_null(strstr(gt_device_peak_about(&sxm, row("bf16")), "tensor cores"));
}

static void test_what_a_peak_is_of(void **state) {
    const struct gt_device rtx4090 = {.cc = 89, .units = 128, .clock_mhz = 2520};
    const struct gt_device gtx1050 = {.cc = 61, .units = 5, .clock_mhz = 1455};
    const struct gt_device d = h200();
    (void)state;
    assert_string_equal(gt_device_peak_about(&d, row("f64")), "f64 on tensor cores");
    assert_non_null(strstr(gt_device_peak_about(&d, row("i32")), "can exceed it"));
    assert_non_null(strstr(gt_device_peak_about(&d, row("f32")), "ordinary cores"));
    assert_non_null(strstr(gt_device_peak_about(&rtx4090, row("f64")), "ordinary cores"));
    assert_non_null(strstr(gt_device_peak_about(&gtx1050, row("i32")), "ordinary cores"));
}

static void test_unknown_is_zero(void **state) {
    struct gt_device d = h200();
    (void)state;
    assert_true(gt_device_peak(&d, NULL) == 0);
    assert_true(gt_device_plain_peak(&d, NULL) == 0);
    assert_true(gt_device_ceiling(&d, NULL) == 0);
    d.cc = 0;
    assert_true(gt_device_peak(&d, row("f32")) == 0);
    assert_true(gt_device_ceiling(&d, row("i32")) == 0);
    d = h200();
    d.clock_mhz = 0;
    assert_true(gt_device_peak(&d, row("f32")) == 0);
    d.mem_clock_mhz = 0;
    assert_true(gt_device_bandwidth(&d) == 0);
    d = h200();
    d.bus_bits = 0;
    d.units = 0;
    assert_true(gt_device_bandwidth(&d) == 0);
    assert_true(gt_device_peak(&d, row("f32")) == 0);
}

/* The stored key of the first device: a change here orphans every row of a database. */
static void test_key_is_stable(void **state) {
    const struct gt_device d = h200();
    char key[GT_DEVICE_KEY_MAX];
    (void)state;
    gt_device_key(&d, key);
    assert_string_equal(key, "nvidia-h200-1cf4737c");
}

static void test_key_ignores_what_is_not_silicon(void **state) {
    const struct gt_device d = h200();
    struct gt_device other = h200();
    char key[GT_DEVICE_KEY_MAX];
    char other_key[GT_DEVICE_KEY_MAX];
    (void)state;
    (void)strcpy(other.uuid, "GPU-1234");
    (void)strcpy(other.pci, "0000:3b:00.0");
    (void)strcpy(other.driver, "580.1");
    (void)strcpy(other.compiler, "NVRTC 13.0");
    other.ordinal = 3;
    other.clock_mhz = 1000;
    other.mem_bytes += 300 << 20; /* another driver reserves less */
    gt_device_key(&d, key);
    gt_device_key(&other, other_key);
    assert_string_equal(key, other_key);
}

static void vary(struct gt_device *d, int what) {
    switch (what) {
    case 0:
        d->backend = GEMMTUNE_OPENCL;
        break;
    case 1:
        (void)strcpy(d->arch, "sm_90a");
        break;
    case 2:
        d->units = 114;
        break;
    case 3:
        d->bus_bits = 5120;
        break;
    case 4:
        d->mem_bytes = INT64_C(80) << 30;
        break;
    case 5:
        d->l2_bytes /= 2;
        break;
    case 6:
        d->smem_max -= 1024;
        break;
    case 7:
        d->max_threads = 512;
        break;
    default:
        d->regs_per_block = 32768;
    }
}

/* PoCL reports the memory that the machine has free. The key that databases of version 1
 * gave such a device is known still. */
static void test_key_of_a_cpu_ignores_memory(void **state) {
    struct gt_device d = {.backend = GEMMTUNE_OPENCL,
                          .name = "cpu-Some Processor",
                          .arch = "cpu",
                          .units = 2,
                          .max_threads = 4096,
                          .mem_bytes = INT64_C(5) << 30,
                          .l2_bytes = 272629760,
                          .smem_max = 2097152,
                          .is_cpu = true};
    char before[GT_DEVICE_KEY_MAX], after[GT_DEVICE_KEY_MAX];
    char old_before[GT_DEVICE_KEY_MAX], old_after[GT_DEVICE_KEY_MAX];
    (void)state;
    gt_device_key(&d, before);
    gt_device_key_1(&d, old_before);
    d.mem_bytes = INT64_C(7) << 30;
    gt_device_key(&d, after);
    gt_device_key_1(&d, old_after);
    assert_string_equal(before, after);
    assert_string_equal(old_before, "cpu-some-processor-3df8c3c2");
    assert_string_equal(old_after, "cpu-some-processor-d96f9089");
    d.is_cpu = false; /* a GPU's memory is its own */
    gt_device_key(&d, after);
    assert_string_equal(after, old_after);
}

static void test_key_tells_silicon_apart(void **state) {
    char keys[10][GT_DEVICE_KEY_MAX];
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct gt_device d = h200();
        if (i > 0)
            vary(&d, i - 1);
        gt_device_key(&d, keys[i]);
        assert_memory_equal(keys[i], "nvidia-h200-", 12);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(keys[i], keys[j]);
    }
}

static void test_key_slugs(void **state) {
    static const struct {
        const char *name, *slug;
    } rows[] = {
        {"GeForce GTX 1050 Ti", "geforce-gtx-1050-ti-"},
        {"  Intel(R) Xeon(R) @ 2.1GHz ", "intel-r-xeon-r-2-1ghz-"},
        {"", "device-"},
        {"\xC3\xA9!", "device-"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_device d = {0};
        char key[GT_DEVICE_KEY_MAX];
        (void)strcpy(d.name, rows[i].name);
        gt_device_key(&d, key);
        assert_memory_equal(key, rows[i].slug, strlen(rows[i].slug));
        assert_int_equal(strlen(key), strlen(rows[i].slug) + 8);
    }
}

static void test_key_of_a_long_name_fits(void **state) {
    struct gt_device d = {0};
    char key[GT_DEVICE_KEY_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof d.name - 1; i++)
        d.name[i] = i % 2 ? ' ' : 'x';
    gt_device_key(&d, key);
    assert_in_range(strlen(key), GT_DEVICE_KEY_MAX - 5, GT_DEVICE_KEY_MAX - 1);
    assert_int_equal(key[strlen(key) - 9], '-'); /* the hash is whole */
}

static void test_backend_names(void **state) {
    (void)state;
    assert_string_equal(gt_backend_name(GEMMTUNE_CUDA), "cuda");
    assert_string_equal(gt_backend_name(GEMMTUNE_OPENCL), "opencl");
    assert_string_equal(gt_backend_name((gemmtune_backend)9), "unknown");
}

/* Abilities are not stored, and a device of a database has run kernels that need them. */
static void test_suppose_abilities(void **state) {
    struct gt_device d = {.backend = GEMMTUNE_OPENCL, .vendor = "NVIDIA Corporation"};
    (void)state;
    gt_device_suppose_abilities(&d);
    assert_true(d.has_f16 && d.has_dot4);
    assert_int_equal(d.ptx, 90);
    assert_int_equal(d.subgroup_sizes & 16, 16);
    d = (struct gt_device){.backend = GEMMTUNE_OPENCL, .vendor = "Intel"};
    gt_device_suppose_abilities(&d);
    assert_int_equal(d.ptx, 0);
    d = (struct gt_device){.backend = GEMMTUNE_CUDA, .cc = 90};
    gt_device_suppose_abilities(&d);
    assert_int_equal(d.subgroup_sizes + d.vector_bytes + d.ptx, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suppose_abilities),
        cmocka_unit_test(test_h200_ceilings),
        cmocka_unit_test(test_other_cards),
        cmocka_unit_test(test_tensor_cores_raise_ceilings),
        cmocka_unit_test(test_narrow_types),
        cmocka_unit_test(test_what_a_peak_is_of),
        cmocka_unit_test(test_unknown_is_zero),
        cmocka_unit_test(test_key_is_stable),
        cmocka_unit_test(test_key_ignores_what_is_not_silicon),
        cmocka_unit_test(test_key_of_a_cpu_ignores_memory),
        cmocka_unit_test(test_key_tells_silicon_apart),
        cmocka_unit_test(test_key_slugs),
        cmocka_unit_test(test_key_of_a_long_name_fits),
        cmocka_unit_test(test_backend_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
