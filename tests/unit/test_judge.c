/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is read from machine code. The images are made here; the words marked so are
 * nvdisasm's, of kernels that nvcc 13.0 compiled.
 */
#include "tuner/work/judge.h"
#include "tuner/search/search.h"

#include <elf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 130, RZ = 255, A = 1, B = 2, C = 4, SM_90 = 0x6005a04, SM_80 = 0x6005004 };

struct word {
    uint64_t low, high;
};

/* @!PT LDS RZ, [RZ]; LDS.128 R56, [R176]; LDS R0, [R176]; LDGSTS; EXIT; BAR (nvdisasm's) */
static const struct word no_load = {0x00000000fffff984, 0x000fe20000000800},
                         wide_load = {0x00000000b0387984, 0x0003280000000c00},
                         load = {0x00000000b0007984, 0x0003280000000800},
                         copy = {0x00000000040d7fae, 0x0003e80009941c46},
                         end = {0x000000000000794d, 0x000fea0003800000},
                         barrier = {0x0000000000007b1d, 0x000fec0000010000};

/* `reuse`: A, B, C or'ed */
static struct word fma_of(uint64_t opcode, uint64_t a, uint64_t b, uint64_t c,
                          uint64_t reuse) {
    return (struct word){0x7200 | opcode | c << 16 | a << 24 | b << 32,
                         0x000fe20000000000 | c | reuse << 58};
}

static struct word ffma(uint64_t a, uint64_t b, uint64_t c, uint64_t reuse) {
    return fma_of(0x23, a, b, c, reuse);
}

/* A branch over `by` instructions, counted from the next one. */
static struct word branch(int by) {
    const uint64_t words = (uint64_t)(int64_t)by * 4;
    return (struct word){0x947 | (words & 0xff) << 16 | words >> 8 << 34,
                         0x000fec0003800000 | (words >> 38 & 0x3ffff)};
}

struct image {
    Elf64_Ehdr head;
    Elf64_Shdr section[3];
    char names[32];
    struct word text[MOST];
};

static struct image image;

static void build(uint32_t flags, const struct word *text, size_t count) {
    memset(&image, 0, sizeof image);
    memcpy(image.head.e_ident, ELFMAG, SELFMAG);
    image.head.e_ident[EI_CLASS] = ELFCLASS64;
    image.head.e_ident[EI_DATA] = ELFDATA2LSB;
    image.head.e_ident[EI_ABIVERSION] = 8;
    image.head.e_machine = 190;
    image.head.e_flags = flags;
    image.head.e_shoff = offsetof(struct image, section);
    image.head.e_shentsize = sizeof(Elf64_Shdr);
    image.head.e_shnum = 3;
    image.head.e_shstrndx = 1;
    memcpy(image.names, "\0.shstrtab\0.text.gemm", 22);
    image.section[1] = (Elf64_Shdr){.sh_name = 1,
                                    .sh_type = SHT_STRTAB,
                                    .sh_offset = offsetof(struct image, names),
                                    .sh_size = sizeof image.names};
    image.section[2] = (Elf64_Shdr){.sh_name = 11,
                                    .sh_type = SHT_PROGBITS,
                                    .sh_offset = offsetof(struct image, text),
                                    .sh_size = count * sizeof *text};
    assert_true(count <= MOST);
    memcpy(image.text, text, count * sizeof *text);
}

static bool judge(struct gt_judgement *j, const struct word *text, size_t count) {
    build(SM_90, text, count);
    return gt_judge_image(j, &image, sizeof image);
}

#define JUDGE(j, ...)                                                                      \
    judge(j, (const struct word[]){__VA_ARGS__},                                           \
          sizeof((const struct word[]){__VA_ARGS__}) / sizeof(struct word))

/* The slots that all of a loop's instructions take, its branch left out. */
static double slots(const struct gt_judgement *j) {
    return j->multiply_adds / j->share - 1;
}

static void test_words(void **state) {
    /* FFMA R101, R78.reuse, R62.reuse, R101 and @!P1 BRA from 0x6770 to 0x1f10, sm_90; BRA
     * from 0x6470 to 0x28c0, sm_80 (nvdisasm's) */
    const struct word own = ffma(78, 62, 101, A | B);
    assert_true(own.low == 0x0000003e4e657223 && own.high == 0x0c0fe20000000065);
    static const struct {
        uint32_t flags;
        struct word branch;
        int body;
    } rows[] = {
        {SM_90, {0xffffffb400e49947, 0x01cfec000383ffff}, 0x6770 / 16 - 0x1f10 / 16 + 1},
        {SM_80, {0xffffc44000007947, 0x000fea000383ffff}, 0x6470 / 16 - 0x28c0 / 16 + 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum { LONG = 0x800 };
        struct gt_judgement j;
        struct word *far = calloc(1, sizeof image + LONG * sizeof *far);
        assert_non_null(far);
        build(rows[i].flags, &own, 1);
        image.section[2].sh_size = LONG * sizeof *far;
        memcpy(far, &image, sizeof image);
        struct word *text = far + offsetof(struct image, text) / sizeof *far;
        text[LONG - 2] = own;
        text[LONG - 1] = rows[i].branch;
        assert_true(gt_judge_image(&j, far, sizeof image + LONG * sizeof *far));
        assert_int_equal(j.instructions, rows[i].body);
        assert_int_equal(j.multiply_adds, 1);
        free(far);
    }
}

static void test_banks(void **state) {
    struct gt_judgement j;
    (void)state;
    /* 4 banks: 0 1 2, then 0 4 of one bank, then 0 4 8, then RZ, which is no read */
    assert_true(JUDGE(&j, ffma(0, 1, 2, 0), branch(-2)));
    assert_float_equal(slots(&j), 1, 1e-6);
    assert_int_equal(j.conflicts, 0);
    assert_true(JUDGE(&j, ffma(0, 4, 2, 0), branch(-2)));
    assert_float_equal(slots(&j), 1.25, 1e-6);
    assert_int_equal(j.conflicts, 1);
    assert_true(JUDGE(&j, ffma(0, 4, 8, 0), branch(-2)));
    assert_float_equal(slots(&j), 1.5, 1e-6);
    assert_true(JUDGE(&j, ffma(3, RZ, RZ, 0), branch(-2)));
    assert_float_equal(slots(&j), 1, 1e-6);
}

static void test_reuse(void **state) {
    struct gt_judgement j;
    (void)state;
    /* what a position read with the flag is not read again there */
    assert_true(JUDGE(&j, ffma(0, 1, 2, A), ffma(0, 4, 3, 0), branch(-3)));
    assert_float_equal(slots(&j), 2, 1e-6);
    assert_true(JUDGE(&j, ffma(0, 1, 2, 0), ffma(0, 4, 3, 0), branch(-3)));
    assert_float_equal(slots(&j), 2.25, 1e-6);
    /* nor in another position */
    assert_true(JUDGE(&j, ffma(1, 0, 2, B), ffma(0, 4, 3, 0), branch(-3)));
    assert_float_equal(slots(&j), 2.25, 1e-6);
    /* a register of the other parity leaves it, one of the same without the flag does not
     */
    assert_true(
        JUDGE(&j, ffma(0, 1, 2, A), ffma(3, 2, 5, 0), ffma(0, 4, 3, 0), branch(-4)));
    assert_float_equal(slots(&j), 3, 1e-6);
    assert_true(
        JUDGE(&j, ffma(0, 1, 2, A), ffma(2, 1, 3, 0), ffma(0, 4, 3, 0), branch(-4)));
    assert_float_equal(slots(&j), 3.25, 1e-6);
}

static void test_costs(void **state) {
    struct gt_judgement j;
    (void)state;
    assert_true(
        JUDGE(&j, wide_load, load, no_load, copy, barrier, ffma(0, 1, 2, 0), branch(-7)));
    assert_float_equal(slots(&j), 2.5 + 1 + 1 + 2.5 + 1 + 1, 1e-6);
    assert_int_equal(j.instructions, 7);
    assert_int_equal(j.shared_loads, 2);
    assert_string_equal(j.kind, "FFMA");
}

static void test_loops(void **state) {
    const struct word f = ffma(0, 1, 2, 0);
    struct gt_judgement j;
    (void)state;
    /* the inner one, which multiply-adds fill most, also where the outer has more of them
     */
    assert_true(JUDGE(&j, f, branch(-2), barrier, f, f, branch(-3), barrier, branch(-6)));
    assert_int_equal(j.multiply_adds, 2);
    assert_int_equal(j.instructions, 3);
    assert_true(
        JUDGE(&j, f, f, barrier, barrier, f, f, f, branch(-4), f, barrier, branch(-11)));
    assert_int_equal(j.multiply_adds, 3);
    assert_int_equal(j.instructions, 4);
    /* not a small one that is filled less than what is around it */
    assert_true(JUDGE(&j, f, f, f, f, barrier, barrier, f, branch(-4), branch(-9)));
    assert_int_equal(j.multiply_adds, 5);
    /* code behind the end that jumps back ends no loop */
    assert_true(JUDGE(&j, f, barrier, f, f, branch(-3), end, barrier, branch(-8)));
    assert_int_equal(j.multiply_adds, 2);
    /* what can be skipped without leaving a multiply-add out is not counted */
    assert_true(JUDGE(&j, f, branch(2), copy, copy, f, branch(-6)));
    assert_int_equal(j.instructions, 4);
    assert_true(JUDGE(&j, f, branch(2), copy, f, f, branch(-6)));
    assert_int_equal(j.instructions, 6);
    /* no loop; a loop without; one that begins before the code */
    assert_false(JUDGE(&j, f, f, end));
    assert_false(JUDGE(&j, f, barrier, branch(-2)));
    assert_false(JUDGE(&j, f, branch(-3)));
    assert_int_equal(j.multiply_adds, 0);
}

/* More loops than a kernel has are not looked at, and the one that was missed may be the
 * densest. */
static void test_many_loops(void **state) {
    enum { LOOPS = 64 };
    struct word text[2 * (LOOPS + 1)];
    struct gt_judgement j;
    (void)state;
    for (int i = 0; i <= LOOPS; i++) {
        text[2 * i] = ffma(0, 1, 2, 0);
        text[2 * i + 1] = branch(-2);
    }
    assert_true(judge(&j, text, 2 * LOOPS));
    assert_false(judge(&j, text, 2 * (LOOPS + 1)));
    assert_int_equal(j.multiply_adds, 0);
}

static void test_kinds(void **state) {
    /* IMMA.16816.S8.S8, IMAD.MOV.U32 R7, RZ, RZ, R15 (nvdisasm's) */
    const struct word imma = {0x00000017140c7237, 0x008fd8000040540c},
                      move = {0x000000ffff077224, 0x000fc800078e000f},
                      imad = fma_of(0x24, 0, 1, 2, 0);
    struct gt_judgement j;
    (void)state;
    /* the first in rank, however many others there are; no share, since issue does not bind
     * it */
    assert_true(JUDGE(&j, imma, branch(-2), imad, imad, branch(-3)));
    assert_string_equal(j.kind, "IMMA");
    assert_int_equal(j.multiply_adds, 1);
    assert_true(j.share == 0);
    assert_true(JUDGE(&j, imad, move, branch(-3)));
    assert_string_equal(j.kind, "IMAD");
    assert_int_equal(j.multiply_adds, 1);
    assert_false(JUDGE(&j, move, branch(-2)));
    assert_false(JUDGE(&j, fma_of(0x24, RZ, 1, 2, 0), branch(-2)));
}

static void test_architectures(void **state) {
    const struct word loop[] = {ffma(0, 1, 2, 0), branch(-2)};
    struct gt_judgement j;
    (void)state;
    build(0x5a055a, loop, 2);
    assert_false(gt_judge_image(&j, &image, sizeof image));
    image.head.e_ident[EI_ABIVERSION] = 7; /* CUDA 12 */
    assert_true(gt_judge_image(&j, &image, sizeof image));
    image.head.e_flags = 0x3d053d; /* sm_61 */
    assert_false(gt_judge_image(&j, &image, sizeof image));
    image.head.e_flags = 0xff05ff;
    assert_false(gt_judge_image(&j, &image, sizeof image));
    image.head.e_flags = 0x460546; /* sm_70: its encoding was never compared */
    assert_false(gt_judge_image(&j, &image, sizeof image));
    assert_false(gt_judge_image(&j, NULL, 0));
    assert_false(gt_judge_image(&j, "", 0));
}

static void judge_copy(struct gt_judgement *j, const void *bytes, size_t size) {
    unsigned char *exact =
        malloc(size + !size); /* so that a sanitizer sees a read too far */
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    const bool judged = gt_judge_image(j, exact, size);
    free(exact);
    assert_true(judged == (j->multiply_adds > 0));
    assert_true(isfinite(j->share) && j->share >= 0 && j->share <= 1);
}

static void test_truncated(void **state) {
    const struct word loop[] = {wide_load, ffma(0, 1, 2, 0), branch(-3)};
    struct gt_judgement j;
    (void)state;
    build(SM_90, loop, 3);
    const size_t whole = offsetof(struct image, text) + sizeof loop;
    judge_copy(&j, &image, whole);
    assert_int_equal(j.multiply_adds, 1);
    for (size_t size = 0; size < whole; size++) {
        judge_copy(&j, &image, size);
        assert_int_equal(j.multiply_adds, 0);
    }
}

static void test_corrupted(void **state) {
    const struct word loop[] = {wide_load, ffma(0, 1, 2, A), branch(1),
                                copy,      ffma(4, 8, 3, 0), branch(-6)};
    static const uint64_t words[] = {0, 1, 0x7fffffff, UINT64_MAX, (uint64_t)INT64_MAX};
    struct gt_judgement j;
    uint64_t seed = 1;
    (void)state;
    for (int round = 0; round < 100000; round++) {
        build(SM_90, loop, 6);
        unsigned char *bytes = (unsigned char *)&image;
        const size_t size = offsetof(struct image, text) + sizeof loop;
        for (uint64_t n = 1 + gt_random(&seed) % 3; n > 0; n--) {
            const size_t at = (size_t)(gt_random(&seed) % (size - 8));
            const uint64_t r = gt_random(&seed);
            if (r % 2)
                bytes[at] = (unsigned char)(r >> 8);
            else
                memcpy(bytes + at / 8 * 8, &words[r / 2 % 5], 8);
        }
        judge_copy(&j, &image, size);
    }
}

static void test_least_time(void **state) {
    const struct gt_device d = {
        .backend = GEMMTUNE_CUDA, .cc = 90, .units = 132, .clock_mhz = 1980};
    struct gt_judgement j = {.kind = "FFMA", .multiply_adds = 3, .share = 0.75};
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-4096x4096x4096", NULL), GEMMTUNE_OK);
    /* 2 * 4096^3 at three quarters of 66.9 TFLOP/s */
    const double want = 2 * 4096.0 * 4096 * 4096 / (0.75 * 2 * 128 * 132 * 1.98);
    assert_true(fabs(gt_judge_least_ns(&j, &p, &d) - want) < 1);
    j.share = 0;
    assert_true(gt_judge_least_ns(&j, &p, &d) == 0);
    j.share = 0.75;
    assert_true(gt_judge_least_ns(&j, &p, &(struct gt_device){0}) == 0);
    assert_int_equal(gt_problem_from_name(&p, "f64-nn-512x512x512", NULL), GEMMTUNE_OK);
    assert_true(gt_judge_least_ns(&j, &p, &d) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),         cmocka_unit_test(test_banks),
        cmocka_unit_test(test_reuse),         cmocka_unit_test(test_costs),
        cmocka_unit_test(test_loops),         cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_architectures), cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_corrupted),     cmocka_unit_test(test_least_time),
        cmocka_unit_test(test_many_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
