/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The software GPU's wgmma against plain loops. Boxes of the operands come to shared memory
 * by tensor maps with the swizzle of the descriptor, as in a real kernel. The descriptors
 * have the constants of public kernels (CUTLASS, include/cute/atom/
 * mma_traits_sm90_gmma.hpp).
 */
#include "tests/unit/ptx_kernel.h"

#include <setjmp.h>
#include <stddef.h>

#include <cmocka.h>

enum {
    M = 64,
    THREADS = 128,
    A_AT = 1024,
    B_AT = 1024 + 16384,
    SMEM = 64 * 1024,
    GLOBAL_B = 16384,
    GLOBAL_D = 65536
};

static const struct product {
    const char *d, *a, *b; /* types */
    int n, swizzle;
    bool a_mn, b_mn; /* MN-major */
    bool from_registers, short_rows;
    int sign_a, adds;
} products[] = {
    {"f32", "bf16", "bf16", 8, 128, 0, 0, 0, 0, 1, 1},
    {"f32", "bf16", "bf16", 256, 128, 0, 0, 0, 1, 1, 1},
    {"f32", "f16", "f16", 64, 64, 0, 0, 0, 0, 1, 0},
    {"f32", "f16", "f16", 96, 32, 0, 0, 0, 0, -1, 1},
    {"f32", "bf16", "bf16", 40, 0, 0, 0, 0, 0, 1, 1},
    {"f32", "bf16", "bf16", 128, 128, 1, 1, 0, 0, 1, 1},
    {"f32", "f16", "f16", 192, 128, 0, 1, 0, 1, 1, 1},
    {"f32", "bf16", "bf16", 64, 128, 1, 0, 0, 0, 1, 1},
    {"f32", "bf16", "bf16", 96, 64, 1, 1, 0, 0, 1, 1},
    {"f32", "bf16", "bf16", 80, 32, 1, 1, 0, 0, 1, 1},
    {"f32", "f16", "f16", 24, 0, 1, 1, 0, 0, 1, 1},
    {"f16", "f16", "f16", 64, 128, 0, 0, 0, 0, 1, 1},
    {"f32", "tf32", "tf32", 120, 128, 0, 0, 0, 0, 1, 1},
    {"f32", "tf32", "tf32", 16, 32, 0, 0, 0, 0, 1, 1},
    {"f32", "e4m3", "e5m2", 128, 128, 0, 0, 0, 0, 1, 1},
    {"f32", "e5m2", "e5m2", 32, 64, 0, 0, 0, 0, -1, 1},
    {"s32", "s8", "u8", 128, 128, 0, 0, 0, 0, 1, 1},
    {"s32", "u8", "s8", 224, 128, 0, 0, 0, 0, 1, 0},
    {"f32", "bf16", "bf16", 128, 128, 0, 0, 1, 0, 1, 1},
    {"f32", "f16", "f16", 64, 128, 0, 1, 1, 0, -1, 1},
    {"f32", "tf32", "tf32", 64, 128, 0, 0, 1, 0, 1, 1},
    {"f32", "e4m3", "e4m3", 64, 128, 0, 0, 1, 0, 1, 1},
    {"s32", "s8", "s8", 64, 128, 0, 0, 1, 0, 1, 1},
};

static int element_bytes(const char *type) {
    return strcmp(type, "tf32") == 0 ? 4 : strstr(type, "16") ? 2 : 1;
}

/* How an operand lies in shared memory, and how its boxes come there. */
struct operand {
    const char *type;
    int rows, bytes, depth; /* depth: elements along k, of all steps */
    bool mn;
    int box[2], boxes, box_bytes, leading, stride, step; /* step: bytes of one k step */
    int there; /* rows that exist; the others are zeros */
};

static int depth_of(const struct product *p) {
    const int bytes = element_bytes(p->a);
    if (p->swizzle == 0)
        return 32 / bytes;
    return p->a_mn || p->b_mn ? (p->swizzle / 2 > 32 ? p->swizzle / 2 : 32)
                              : p->swizzle / bytes;
}

static struct operand operand_of(const struct product *p, bool is_b) {
    struct operand o = {.type = is_b ? p->b : p->a,
                        .rows = is_b ? p->n : M,
                        .mn = is_b ? p->b_mn : p->a_mn,
                        .depth = depth_of(p)};
    const int w = p->swizzle ? p->swizzle : 16;
    o.bytes = element_bytes(o.type);
    o.there = p->short_rows ? o.rows - 3 : o.rows;
    o.box[0] = w / o.bytes;
    o.box[1] = o.mn ? o.depth : o.rows;
    o.box_bytes = w * o.box[1];
    o.boxes = (o.mn ? o.rows : o.depth) / o.box[0];
    o.step = o.mn ? 32 / o.bytes * w : p->swizzle ? 32 : 2 * o.box_bytes;
    if (p->swizzle == 0) {
        o.leading = o.mn ? 128 : o.box_bytes;
        o.stride = o.mn ? o.box_bytes : 128;
    } else {
        o.leading = o.mn ? o.box_bytes : 16;
        o.stride = 8 * w;
    }
    return o;
}

static uint64_t descriptor(const struct operand *o, int swizzle) {
    const uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return (uint64_t)(o->leading / 16) << 16 | (uint64_t)(o->stride / 16) << 32 |
           mode << 62;
}

/* The operand in global memory, rows of k or of the width, each a multiple of 16 bytes. */
static struct ptx_tensor put_matrix(const struct operand *o, bool is_b, int at,
                                    int swizzle) {
    const int inner = o->mn ? o->rows : o->depth, outer = o->mn ? o->depth : o->rows;
    const int row_bytes = (inner * o->bytes + 15) / 16 * 16;
    for (int y = 0; y < outer; y++)
        for (int x = 0; x < inner; x++) {
            const int row = o->mn ? x : y, k = o->mn ? y : x;
            const uint64_t bits = bits_of(o->type, is_b ? value_at(k, row, 1, o->type)
                                                        : value_at(row, k, 0, o->type));
            memcpy(memory + at + y * row_bytes + x * o->bytes, &bits, (size_t)o->bytes);
        }
    return (struct ptx_tensor){
        .address = (uint64_t)(uintptr_t)(memory + at),
        .dims = {(uint64_t)(o->mn ? o->there : inner),
                 (uint64_t)(o->mn ? outer : o->there)},
        .strides = {(uint64_t)o->bytes, (uint64_t)row_bytes},
        .box = {(uint32_t)o->box[0], (uint32_t)o->box[1]},
        .rank = 2,
        .element = (uint32_t)o->bytes,
        .swizzle = (uint32_t)swizzle,
    };
}

/* A's registers: four of each thread and step, from global memory at 16 thread + 2048 step.
 * As for mma.sync: register i holds rows lane / 4 + 8 (i % 2). */
static void put_registers(const struct operand *o) {
    const int each = 4 / o->bytes;
    for (int s = 0; s < o->depth * o->bytes / 32; s++)
        for (int t = 0; t < THREADS; t++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < each; j++) {
                    const int row = t / 32 * 16 + t % 32 / 4 + 8 * (i % 2);
                    const int k =
                        s * 32 / o->bytes + each * (t % 4) + j + 4 * each * (i / 2);
                    const uint64_t bits = bits_of(o->type, value_at(row, k, 0, o->type));
                    memcpy(memory + s * 2048 + t * 16 + i * 4 + j * o->bytes, &bits,
                           (size_t)o->bytes);
                }
}

static void fetch(struct text *t, const struct operand *o, const char *map, int at) {
    for (int i = 0; i < o->boxes; i++)
        add(t,
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
            "bytes [smem+%d], [%s, {%d, %d}], [smem];\n",
            at + i * o->box_bytes, map, i * o->box[0], 0);
}

static void list(struct text *t, const char *prefix, int count) {
    for (int i = 0; i < count; i++)
        add(t, "%s%s%d", i ? "," : "{", prefix, i);
    add(t, "}");
}

/* Sums in a thread begin with 1, 2, 3 ... */
static int begin_sums(struct text *t, const struct product *p) {
    const bool packed = strcmp(p->d, "f16") == 0;
    for (int i = 0; i < p->n / 2; i++)
        if (packed && i % 2 == 0)
            add(t, "cvt.rn.f16x2.f32 %%r%d, 0f40000000, 0f3F800000;\n", i / 2);
        else if (!packed)
            add(t,
                strcmp(p->d, "s32") == 0 ? "mov.b32 %%r%d, %d;\n"
                                         : "cvt.rn.f32.s32 %%f%d, %d;\n",
                i, i % 2 + 1);
    return packed ? p->n / 4 : p->n / 2;
}

static void step(struct text *t, const struct product *p, const struct operand *a,
                 const struct operand *b, int s, int sums) {
    const char *prefix = strcmp(p->d, "f32") == 0 ? "%f" : "%r";
    const bool scaled = strcmp(p->d, "s32") != 0, wide = a->bytes == 2;
    add(t, "add.u64 %%rd3, %%rd1, %d; add.u64 %%rd4, %%rd2, %d;\n", s * a->step / 16,
        s * b->step / 16);
    add(t, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s ", p->n, 32 / a->bytes, p->d,
        p->a, p->b);
    list(t, prefix, sums);
    if (p->from_registers)
        add(t, ", {%%r%d,%%r%d,%%r%d,%%r%d}, %%rd4, %%p2", 200 + 4 * s, 201 + 4 * s,
            202 + 4 * s, 203 + 4 * s);
    else
        add(t, ", %%rd3, %%rd4, %%p2");
    if (scaled)
        add(t, ", %d, 1", p->sign_a);
    if (scaled && wide && !p->from_registers)
        add(t, ", %d", p->a_mn);
    if (scaled && wide)
        add(t, ", %d", p->b_mn);
    add(t, ";\nsetp.eq.u32 %%p2, 0, 0;\n");
}

static struct text kernel_of(const struct product *p, const struct operand *a,
                             const struct operand *b) {
    struct text t = begin_kernel();
    const int bytes =
        (p->from_registers ? 0 : a->boxes * a->box_bytes) + b->boxes * b->box_bytes;
    add(&t,
        "setp.ne.u32 %%p1, %%tid, 0;\n@%%p1 bra start;\n"
        "mbarrier.init.shared::cta.b64 [smem], 1;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem], %d;\n",
        bytes);
    if (!p->from_registers)
        fetch(&t, a, "map_a", A_AT);
    fetch(&t, b, "map_b", B_AT);
    add(&t,
        "start: bar.sync 0;\nmov.u32 %%r299, smem; shr.u32 %%r299, %%r299, 4;\n"
        "cvt.u64.u32 %%rd1, %%r299; or.b64 %%rd2, %%rd1, 0x%llx;\n"
        "or.b64 %%rd1, %%rd1, 0x%llx;\n",
        (unsigned long long)descriptor(b, p->swizzle),
        (unsigned long long)descriptor(a, p->swizzle));
    add(&t, "add.u64 %%rd1, %%rd1, %d; add.u64 %%rd2, %%rd2, %d;\n", A_AT / 16, B_AT / 16);
    for (int s = 0; p->from_registers && s < a->depth * a->bytes / 32; s++)
        add(&t,
            "mul.wide.u32 %%rd9, %%tid, 16; add.u64 %%rd9, %%rd9, %%mem;\n"
            "ld.global.v4.u32 {%%r%d,%%r%d,%%r%d,%%r%d}, [%%rd9+%d];\n",
            200 + 4 * s, 201 + 4 * s, 202 + 4 * s, 203 + 4 * s, 2048 * s);
    add(&t, "setp.eq.u32 %%p2, 0, %d;\n", p->adds ? 0 : 1);
    const int sums = begin_sums(&t, p);
    add(&t, "again: mbarrier.try_wait.parity.shared::cta.b64 %%p1, [smem], 0;\n"
            "@!%%p1 bra again;\nwgmma.fence.sync.aligned;\n");
    for (int s = 0; s < a->depth * a->bytes / 32; s++)
        step(&t, p, a, b, s, sums);
    add(&t, "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
            "mul.wide.u32 %%rd9, %%tid, 512; add.u64 %%rd9, %%rd9, %%mem;\n");
    for (int i = 0; i < sums; i++)
        add(&t, "st.global.b32 [%%rd9+%d], %s%d;\n", GLOBAL_D + 4 * i,
            strcmp(p->d, "f32") == 0 ? "%f" : "%r", i);
    return t;
}

static double half_at(const unsigned char *at) {
    uint16_t h;
    memcpy(&h, at, sizeof h);
    const double x = h >> 10 & 31 ? ldexp((h & 0x3ff) + 1024, (h >> 10 & 31) - 25) : 0;
    return h >> 15 ? -x : x;
}

static double sum_at(const struct product *p, int t, int i) {
    const unsigned char *at = memory + GLOBAL_D + 512 * t;
    float f;
    int32_t n;
    memcpy(&f, at + 4 * i, sizeof f);
    memcpy(&n, at + 4 * i, sizeof n);
    return strcmp(p->d, "f32") == 0   ? f
           : strcmp(p->d, "s32") == 0 ? n
                                      : half_at(at + 2 * i);
}

static double wanted(const struct product *p, const struct operand *a,
                     const struct operand *b, int row, int column, int i) {
    double sum = p->adds ? i % 2 + 1 : 0;
    const bool exists = (p->from_registers || row < a->there) && column < b->there;
    for (int k = 0; exists && k < a->depth; k++)
        sum += p->sign_a * value_at(row, k, 0, p->a) * value_at(k, column, 1, p->b);
    return sum;
}

static void check(const struct product *p, const struct operand *a,
                  const struct operand *b) {
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < p->n / 2; i++) {
            const int row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8;
            const int column = i / 4 * 8 + t % 4 * 2 + i % 2;
            const double want = wanted(p, a, b, row, column, i), got = sum_at(p, t, i);
            if (got != want)
                print_message("n %d, %s, swizzle %d: (%d, %d) is %g, not %g\n", p->n, p->a,
                              p->swizzle, row, column, got, want);
            assert_true(got == want);
        }
}

static void test_every_layout(void **state) {
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const struct product *p = &products[i];
        const struct operand a = operand_of(p, false), b = operand_of(p, true);
        struct run how = {.threads = THREADS, .smem = SMEM, .seed = i};
        memset(memory, 0, sizeof memory);
        if (p->from_registers)
            put_registers(&a);
        else
            how.a = put_matrix(&a, false, 0, p->swizzle);
        how.b = put_matrix(&b, true, GLOBAL_B, p->swizzle);
        struct text t = kernel_of(p, &a, &b);
        const struct ptx_report r = run_kernel(&t, &how);
        if (r.result != PTX_OK)
            print_message("row %zu: %s\n", i, r.why);
        assert_int_equal(r.result, PTX_OK);
        check(p, &a, &b);
    }
}

/* ---- boxes to and from global memory ---- */

/* A box of 16 x 4 words at (-4, 1) of a tensor of 20 x 4, in and out again: what lies
 * outside is zero in shared memory, and stays as it is in global memory. */
static void boxes(const char *store, int swizzle, int times) {
    struct text t = begin_kernel();
    const struct ptx_tensor map = {.address = (uint64_t)(uintptr_t)memory,
                                   .dims = {20, 4},
                                   .strides = {4, 96},
                                   .box = {swizzle ? (uint32_t)swizzle / 4 : 16, 4},
                                   .rank = 2,
                                   .element = 4,
                                   .kind = PTX_S32,
                                   .swizzle = (uint32_t)swizzle};
    struct ptx_tensor out = map;
    out.address += 65536;
    memset(memory, 0, sizeof memory);
    int32_t x[4][24];
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 24; c++)
            x[r][c] = 100 * r + c + 1;
    memcpy(memory, x, sizeof x);
    memcpy(memory + 65536, x, sizeof x);
    const int bytes = (int)map.box[0] * 16;
    add(&t,
        "mbarrier.init.shared::cta.b64 [smem], 1;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem], %d;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [smem+1024], [map_a, {-4, 1}], [smem];\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 %%p1, [smem], 0;\n"
        "@!%%p1 bra again;\n"
        "%s [map_b, {-4, 1}], [smem+1024];\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
        bytes, store);
    const struct run how = {.threads = 1, .smem = 2048, .a = map, .b = out};
    const struct ptx_report r = run_kernel(&t, &how);
    if (r.result != PTX_OK)
        print_message("%s\n", r.why);
    assert_int_equal(r.result, PTX_OK);
    int32_t got[4][24];
    memcpy(got, memory + 65536, sizeof got);
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < 24; c++) {
            const bool inside = i >= 1 && c < (int)map.box[0] - 4 && c < 20;
            assert_int_equal(got[i][c], inside ? times * x[i][c] : x[i][c]);
        }
}

/* A box with word `at` of a row as its first word begins at a multiple of 16 bytes, or
 * fails. */
static void box_at(int at, const char *why) {
    struct text t = begin_kernel();
    const struct ptx_tensor map = {.address = (uint64_t)(uintptr_t)memory,
                                   .dims = {20, 4},
                                   .strides = {4, 96},
                                   .box = {16, 4},
                                   .rank = 2,
                                   .element = 4,
                                   .kind = PTX_S32};
    add(&t,
        "mbarrier.init.shared::cta.b64 [smem], 1;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem], 256;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [smem+1024], [map_a, {%d, 1}], [smem];\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 %%p1, [smem], 0;\n"
        "@!%%p1 bra again;\n",
        at);
    const struct run how = {.threads = 1, .smem = 2048, .a = map, .b = map};
    const struct ptx_report r = run_kernel(&t, &how);
    assert_int_equal(r.result, why ? PTX_FAILED : PTX_OK);
    if (why)
        assert_non_null(strstr(r.why, why));
}

static void test_box_beginnings(void **state) {
    (void)state;
    box_at(0, NULL);
    box_at(4, NULL);
    box_at(1, "a box begins at byte 4 of a row, not a multiple of 16");
    box_at(-2, "a box begins at byte -8 of a row, not a multiple of 16");
}

static void test_boxes(void **state) {
    boxes("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", 0, 1);
    boxes("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", 64, 1);
    boxes("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group", 128, 2);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_layout),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_box_beginnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
