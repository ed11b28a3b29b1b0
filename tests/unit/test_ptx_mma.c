/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The software GPU's mma.sync and ldmatrix against plain loops. The places of elements are
 * written here as the PTX ISA writes them, shape by shape ("Matrix Fragments for mma").
 */
#include "tests/unit/ptx_kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stddef.h>

#include <cmocka.h>

enum { LANES = 32, ROWS = 16, COLUMNS = 8, DEPTH = 32 };

struct place {
    int row, column;
};

/* Element i of a lane: g is groupID, t is threadID_in_group of the ISA. */
typedef struct place (*places)(int i, int g, int t);

static struct place a_k8_16bit(int i, int g, int t) {
    return (struct place){i < 2 ? g : g + 8, t * 2 + (i & 1)};
}
static struct place b_k8_16bit(int i, int g, int t) {
    return (struct place){t * 2 + i, g};
}
static struct place a_k16_16bit(int i, int g, int t) {
    return (struct place){i < 2 || (i >= 4 && i < 6) ? g : g + 8,
                          i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
}
static struct place b_k16_16bit(int i, int g, int t) {
    return (struct place){i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g};
}
static struct place a_k4_word(int i, int g, int t) {
    return (struct place){i == 0 ? g : g + 8, t};
}
static struct place b_k4_word(int i, int g, int t) {
    return (struct place){t + 0 * i, g};
}
static struct place a_k8_word(int i, int g, int t) {
    return (struct place){i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
}
static struct place b_k8_word(int i, int g, int t) {
    return (struct place){i == 0 ? t : t + 4, g};
}
static struct place a_m8_byte(int i, int g, int t) {
    return (struct place){g, t * 4 + i};
}
static struct place b_k16_byte(int i, int g, int t) {
    return (struct place){t * 4 + i, g};
}
static struct place a_k16_byte(int i, int g, int t) {
    return (struct place){i < 4 ? g : g + 8, t * 4 + (i & 3)};
}
static struct place a_k32_byte(int i, int g, int t) {
    return (struct place){i < 4 || (i >= 8 && i < 12) ? g : g + 8,
                          i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
}
static struct place b_k32_byte(int i, int g, int t) {
    return (struct place){i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g};
}
static struct place a_m8_double(int i, int g, int t) {
    return (struct place){g + 0 * i, t};
}
static struct place a_k16_double(int i, int g, int t) {
    return (struct place){i % 2 == 0 ? g : g + 8, i / 2 * 4 + t};
}
static struct place b_k16_double(int i, int g, int t) {
    return (struct place){i * 4 + t, g};
}

static const struct shape {
    const char *name;
    int m, k, bytes; /* of an element of A and B */
    char sum;        /* f: f32, d: f64, i: s32, h: f16 */
    places a, b;
} shapes[] = {
    {"m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 2, 'f', a_k8_16bit, b_k8_16bit},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 2, 'f', a_k8_16bit, b_k8_16bit},
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 2, 'f', a_k16_16bit, b_k16_16bit},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, 2, 'f', a_k16_16bit, b_k16_16bit},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 16, 2, 'h', a_k16_16bit, b_k16_16bit},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, 4, 'f', a_k4_word, b_k4_word},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 4, 'f', a_k8_word, b_k8_word},
    {"m8n8k16.row.col.s32.s8.s8.s32", 8, 16, 1, 'i', a_m8_byte, b_k16_byte},
    {"m16n8k16.row.col.s32.s8.u8.s32", 16, 16, 1, 'i', a_k16_byte, b_k16_byte},
    {"m16n8k32.row.col.s32.u8.s8.s32", 16, 32, 1, 'i', a_k32_byte, b_k32_byte},
    {"m16n8k32.row.col.satfinite.s32.s8.s8.s32", 16, 32, 1, 'i', a_k32_byte, b_k32_byte},
    {"m16n8k32.row.col.f32.e4m3.e5m2.f32", 16, 32, 1, 'f', a_k32_byte, b_k32_byte},
    {"m16n8k32.row.col.f32.e5m2.e4m3.f32", 16, 32, 1, 'f', a_k32_byte, b_k32_byte},
    {"m8n8k4.row.col.f64.f64.f64.f64", 8, 4, 8, 'd', a_m8_double, b_k4_word},
    {"m16n8k4.row.col.f64.f64.f64.f64", 16, 4, 8, 'd', a_k4_word, b_k4_word},
    {"m16n8k8.row.col.f64.f64.f64.f64", 16, 8, 8, 'd', a_k8_word, b_k8_word},
    {"m16n8k16.row.col.f64.f64.f64.f64", 16, 16, 8, 'd', a_k16_double, b_k16_double},
};

/* "m16n8k8.row.col.f32.f16.f16.f32": the types of A and B. */
static void types_of(const struct shape *s, char a[8], char b[8]) {
    const char *rest = strstr(s->name, "col.") + 4;
    if (strncmp(rest, "satfinite.", 10) == 0)
        rest += 10;
    (void)sscanf(rest, "%*[^.].%7[^.].%7[^.]", a, b);
}

/* Global memory: lane l's registers of A at 256 l, of B at 256 l + 128. Returns the bytes
 * of one register. */
static int put_operand(const struct shape *s, const char *type, bool is_b) {
    const int columns = is_b ? COLUMNS : s->m, count = columns * s->k / LANES;
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < count; i++) {
            const struct place p = (is_b ? s->b : s->a)(i, l / 4, l % 4);
            const uint64_t bits = bits_of(type, value_at(p.row, p.column, is_b, type));
            memcpy(memory + 256 * l + 128 * is_b + i * s->bytes, &bits, (size_t)s->bytes);
        }
    return count * s->bytes / (s->bytes == 8 ? 8 : 4);
}

static void list(struct text *t, const char *prefix, int first, int count) {
    for (int i = 0; i < count; i++)
        add(t, "%s%s%d", i ? "," : "{", prefix, first + i);
    add(t, "}");
}

static void load_registers(struct text *t, const struct shape *s, int first, int count,
                           int at) {
    const bool wide = s->bytes == 8;
    for (int i = 0; i < count; i++)
        add(t, "ld.global.%s %s%d, [%%rd2+%d];\n", wide ? "f64" : "u32",
            wide ? "%fd" : "%r", first + i, at + i * (wide ? 8 : 4));
}

/* Sums begin with 5, 6, 7, 8 in every lane, and are stored at 65536 + 32 lane. */
static void multiply(struct text *t, const struct shape *s, int a, int b) {
    const char *regs = s->bytes == 8 ? "%fd" : "%r";
    const char *sums = s->sum == 'd' ? "%fd" : s->sum == 'f' ? "%f" : "%r";
    const int count = s->sum == 'h' ? 2 : s->m / 4;
    add(t, "mul.wide.u32 %%rd1, %%tid, 256; add.u64 %%rd2, %%rd1, %%mem;\n");
    load_registers(t, s, 1, a, 0);
    load_registers(t, s, 20, b, 128);
    for (int i = 0; i < count; i++)
        if (s->sum == 'h')
            add(t, "mov.b32 %%r%d, %s;\n", 40 + i, i ? "0x48004700" : "0x46004500");
        else if (s->sum == 'i')
            add(t, "mov.b32 %%r%d, %d;\n", 40 + i, 5 + i);
        else
            add(t, "cvt.rn.f%s.s32 %s%d, %d;\n", s->sum == 'd' ? "64" : "32", sums, 40 + i,
                5 + i);
    add(t, "mma.sync.aligned.%s ", s->name);
    list(t, sums, 40, count);
    add(t, ", ");
    list(t, regs, 1, a);
    add(t, ", ");
    list(t, regs, 20, b);
    add(t, ", ");
    list(t, sums, 40, count);
    add(t, ";\nmad.wide.u32 %%rd3, %%tid, 32, %%mem;\n");
    for (int i = 0; i < count; i++)
        add(t, "st.global.%s [%%rd3+%d], %s%d;\n", s->sum == 'd' ? "f64" : "b32",
            65536 + i * (s->sum == 'd' ? 8 : 4), sums, 40 + i);
}

static double sum_at(const struct shape *s, int l, int i) {
    const unsigned char *at = memory + 65536 + 32 * l;
    double d;
    float f;
    int32_t n;
    uint16_t h;
    memcpy(&d, at + i % 4 * 8, sizeof d);
    memcpy(&f, at + i * 4, sizeof f);
    memcpy(&n, at + i * 4, sizeof n);
    memcpy(&h, at + i * 2, sizeof h);
    const double half = ldexp((h & 0x3ff) + (h >> 10 & 31 ? 1024 : 0),
                              (h >> 10 & 31 ? h >> 10 & 31 : 1) - 25);
    return s->sum == 'd'   ? d
           : s->sum == 'f' ? f
           : s->sum == 'i' ? n
           : h >> 15       ? -half
                           : half;
}

static void check(const struct shape *s, const char *ta, const char *tb) {
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < s->m / 4; i++) {
            const int row = i < 2 ? l / 4 : l / 4 + 8, column = l % 4 * 2 + (i & 1);
            double want = 5 + i;
            for (int k = 0; k < s->k; k++)
                want += value_at(row, k, 0, ta) * value_at(k, column, 1, tb);
            if (sum_at(s, l, i) != want)
                print_message("%s lane %d sum %d: %g, not %g\n", s->name, l, i,
                              sum_at(s, l, i), want);
            assert_true(sum_at(s, l, i) == want);
        }
}

static void test_every_shape(void **state) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *s = &shapes[i];
        char ta[8], tb[8];
        struct text t = begin_kernel();
        types_of(s, ta, tb);
        memset(memory, 0, sizeof memory);
        const int a = put_operand(s, ta, false), b = put_operand(s, tb, true);
        multiply(&t, s, a, b);
        const struct ptx_report r = run_kernel(&t, &(struct run){.threads = LANES});
        if (r.result != PTX_OK)
            print_message("%s: %s\n", s->name, r.why);
        assert_int_equal(r.result, PTX_OK);
        check(s, ta, tb);
    }
}

/* Four matrices of 8 x 8: element e of row r of matrix i is 1000 i + 10 r + e, and
 * the same ones stored from registers. */
static void matrices(const char *trans, bool is_transposed) {
    struct text t = begin_kernel();
    add(&t,
        "mov.u32 %%r1, smem; shl.b32 %%r2, %%tid, 4; add.u32 %%r1, %%r1, %%r2;\n"
        "mul.wide.u32 %%rd1, %%tid, 16; add.u64 %%rd1, %%rd1, %%mem;\n"
        "ld.global.v4.u32 {%%r3,%%r4,%%r5,%%r6}, [%%rd1];\n"
        "st.shared.v4.u32 [%%r1], {%%r3,%%r4,%%r5,%%r6};\nbar.sync 0;\n"
        "ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 {%%r7,%%r8,%%r9,%%r10}, [%%r1];\n"
        "st.global.v4.u32 [%%rd1+4096], {%%r7,%%r8,%%r9,%%r10};\n"
        "stmatrix.sync.aligned.m8n8.x4%s.shared.b16 [%%r1], {%%r7,%%r8,%%r9,%%r10};\n"
        "bar.sync 0;\nld.shared.v4.u32 {%%r3,%%r4,%%r5,%%r6}, [%%r1];\n"
        "st.global.v4.u32 [%%rd1+8192], {%%r3,%%r4,%%r5,%%r6};\n",
        trans, trans);
    uint16_t x[4][8][8], lane[32][4][2];
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < 8; r++)
            for (int e = 0; e < 8; e++)
                x[i][r][e] = (uint16_t)(1000 * i + 10 * r + e);
    memcpy(memory, x, sizeof x);
    const struct ptx_report r = run_kernel(&t, &(struct run){.threads = 32, .smem = 512});
    assert_int_equal(r.result, PTX_OK);
    memcpy(lane, memory + 4096, sizeof lane);
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 4; i++)
            for (int h = 0; h < 2; h++)
                assert_int_equal(lane[l][i][h], is_transposed ? x[i][l % 4 * 2 + h][l / 4]
                                                              : x[i][l / 4][l % 4 * 2 + h]);
    assert_memory_equal(memory + 8192, x, sizeof x);
}

static void test_matrices(void **state) {
    matrices("", false);
    matrices(".trans", true);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_shape),
        cmocka_unit_test(test_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
