/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The software GPU (tests/ptx/): single instructions against known results, and kernels
 * with one planted fault each, which it must refuse in the right sentence.
 */
#include "tests/unit/ptx_kernel.h"

#include <setjmp.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- single instructions ---- */

/* `%rd1` of a thread after `code`. */
static uint64_t result_of(const char *code) {
    struct text t = begin_kernel();
    uint64_t got;
    add(&t, "%s\nst.global.u64 [%%mem], %%rd1;\n", code);
    const struct ptx_report r = run_kernel(&t, &(struct run){.threads = 1});
    if (r.result != PTX_OK)
        print_message("%s\n", r.why);
    assert_int_equal(r.result, PTX_OK);
    memcpy(&got, memory, sizeof got);
    return got;
}

static void test_instructions(void **state) {
    static const struct {
        const char *code;
        uint64_t want;
    } rows[] = {
        {"mov.b32 %r1, -7; mov.b32 %r2, 2; div.s32 %r3, %r1, %r2; cvt.s64.s32 %rd1, %r3;",
         (uint64_t)-3},
        {"mov.b32 %r1, -7; mov.b32 %r2, 2; rem.s32 %r3, %r1, %r2; cvt.s64.s32 %rd1, %r3;",
         (uint64_t)-1},
        {"mov.b32 %r1, 0x80000000; mul.hi.u32 %r3, %r1, %r1; cvt.u64.u32 %rd1, %r3;",
         0x40000000},
        {"mov.b64 %rd2, -3; mov.b64 %rd3, 5; mul.hi.s64 %rd1, %rd2, %rd3;", UINT64_MAX},
        {"mov.b32 %r1, -5; mul.wide.s32 %rd1, %r1, 3;", (uint64_t)-15},
        {"mov.b32 %r1, 0xffffffff; mad.wide.u32 %rd1, %r1, 2, 3;", 0x200000001},
        {"mov.b32 %r1, -8; shr.s32 %r2, %r1, 40; cvt.u64.u32 %rd1, %r2;", 0xffffffff},
        {"mov.b32 %r1, -8; shr.u32 %r2, %r1, 32; cvt.u64.u32 %rd1, %r2;", 0},
        {"mov.b32 %r1, 1; shl.b32 %r2, %r1, 33; cvt.u64.u32 %rd1, %r2;", 0},
        {"shf.l.wrap.b32 %r1, 0x11112222, 0x33334444, 40; cvt.u64.u32 %rd1, %r1;",
         0x33444411},
        {"shf.r.clamp.b32 %r1, 0x11112222, 0x33334444, 40; cvt.u64.u32 %rd1, %r1;",
         0x33334444},
        {"lop3.b32 %r1, 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x96; cvt.u64.u32 %rd1, %r1;",
         0x96969696},
        {"prmt.b32 %r1, 0x33221100, 0x776655c4, 0xc174; cvt.u64.u32 %rd1, %r1;",
         0xff1177c4},
        {"bfe.s32 %r1, 0x00000f80, 8, 4; cvt.u64.u32 %rd1, %r1;", 0xffffffff},
        {"bfe.u32 %r1, 0xabcd1234, 28, 8; cvt.u64.u32 %rd1, %r1;", 0xa},
        {"bfi.b32 %r1, 0x5, 0xffffffff, 8, 4; cvt.u64.u32 %rd1, %r1;", 0xfffff5ff},
        {"bfind.u32 %r1, 0x00010000; cvt.u64.u32 %rd1, %r1;", 16},
        {"bfind.s32 %r1, -1; cvt.u64.u32 %rd1, %r1;", 0xffffffff},
        {"brev.b32 %r1, 1; cvt.u64.u32 %rd1, %r1;", 0x80000000},
        {"clz.b64 %r1, 1; cvt.u64.u32 %rd1, %r1;", 63},
        {"dp4a.s32.u32 %r1, 0x01ff02fe, 0x01020304, 10; cvt.u64.u32 %rd1, %r1;",
         10 + 1 - 2 + 6 - 8},
        {"dp2a.lo.s32.s32 %r1, 0xfffe0003, 0x01020304, 50; cvt.u64.u32 %rd1, %r1;",
         50 + 12 - 6},
        {"dp2a.hi.u32.u32 %r1, 0x00020003, 0xff020304, 50; cvt.u64.u32 %rd1, %r1;",
         50 + 6 + 510},
        /* f32: 1 + 2^-24 rounds to 1 or up; the product of fma is exact. */
        {"add.rp.f32 %f1, 0f3F800000, 0f33800000; mov.b32 %r1, %f1; cvt.u64.u32 %rd1, %r1;",
         0x3f800001},
        {"add.rn.f32 %f1, 0f3F800000, 0f33800000; mov.b32 %r1, %f1; cvt.u64.u32 %rd1, %r1;",
         0x3f800000},
        {"fma.rn.f32 %f1, 0f3F800001, 0f3F800001, 0fBF800002; mov.b32 %r1, %f1; "
         "cvt.u64.u32 %rd1, %r1;",
         0x28800000},
        {"mul.ftz.f32 %f1, 0f00800000, 0f3F000000; mov.b32 %r1, %f1; cvt.u64.u32 %rd1, "
         "%r1;",
         0},
        {"mul.f32 %f1, 0f00800000, 0f3F000000; mov.b32 %r1, %f1; cvt.u64.u32 %rd1, %r1;",
         0x00400000},
        {"min.f32 %f1, 0f7FC00000, 0f3F800000; mov.b32 %r1, %f1; cvt.u64.u32 %rd1, %r1;",
         0x3f800000},
        {"setp.ltu.f32 %p1, 0f7FC00000, 0f3F800000; selp.b64 %rd1, 5, 6, %p1;", 5},
        {"setp.lt.f32 %p1, 0f7FC00000, 0f3F800000; selp.b64 %rd1, 5, 6, %p1;", 6},
        {"setp.hi.u32 %p1|%p2, 1, 2; selp.b64 %rd1, 5, 6, %p2;", 5},
        /* conversions */
        {"cvt.rni.s32.f32 %r1, 0f40200000; cvt.u64.u32 %rd1, %r1;", 2},
        {"cvt.rzi.u8.f32 %r1, 0f43C80000; cvt.u64.u32 %rd1, %r1;", 255},
        {"cvt.rn.f16.f32 %h1, 0f477FF000; cvt.u64.u16 %rd1, %h1;", 0x7c00},
        {"cvt.rn.f16.f32 %h1, 0f33000001; cvt.u64.u16 %rd1, %h1;", 1},
        {"cvt.rn.bf16.f32 %h1, 0f3F808000; cvt.u64.u16 %rd1, %h1;", 0x3f80},
        {"cvt.rn.bf16.f32 %h1, 0f3F818000; cvt.u64.u16 %rd1, %h1;", 0x3f82},
        {"cvt.rz.bf16.f32 %h1, 0f3F81FFFF; cvt.u64.u16 %rd1, %h1;", 0x3f81},
        {"cvt.rn.bf16x2.f32 %r1, 0f40000000, 0f3F800000; cvt.u64.u32 %rd1, %r1;",
         0x40003f80},
        {"cvt.rna.tf32.f32 %r1, 0f3F801000; cvt.u64.u32 %rd1, %r1;", 0x3f802000},
        {"cvt.rn.satfinite.e4m3x2.f32 %h1, 0f44000000, 0f3F800000; cvt.u64.u16 %rd1, %h1;",
         0x7e38},
        {"cvt.rn.satfinite.e5m2x2.f32 %h1, 0f7F000000, 0fBF800000; cvt.u64.u16 %rd1, %h1;",
         0x7bbc},
        {"mov.b16 %h1, 0x7e38; cvt.rn.f16x2.e4m3x2 %r1, %h1; cvt.u64.u32 %rd1, %r1;",
         0x5f003c00},
        {"fma.rn.f16x2 %r1, 0x40003c00, 0x40004000, 0x3c003c00; cvt.u64.u32 %rd1, %r1;",
         0x45004200},
        {"cvt.rn.f64.u64 %fd1, 0xffffffffffffffff; mov.b64 %rd1, %fd1;",
         0x43f0000000000000},
        {"cvt.rn.f32.f64 %f1, 0d3FF0000010000001; mov.b32 %r1, %f1; cvt.u64.u32 %rd1, %r1;",
         0x3f800001},
        /* memory and atomics */
        {"st.global.v2.u32 [%mem+64], {1, 2}; ld.global.u64 %rd1, [%mem+64];", 0x200000001},
        {"mov.b32 %r9, 0x80; st.global.u8 [%mem+64], %r9; ld.global.s8 %h1, [%mem+64]; "
         "cvt.s64.s16 %rd1, %h1;",
         (uint64_t)-128},
        {"mov.b32 %r1, 5; st.global.u32 [%mem+64], %r1; atom.global.inc.u32 %r2, "
         "[%mem+64], 5; ld.global.u32 %r3, [%mem+64]; mad.wide.u32 %rd1, %r2, 16, %rd9; "
         "cvt.u64.u32 %rd1, %r3;",
         0},
        {"mov.b32 %r1, 5; st.global.u32 [%mem+64], %r1; atom.global.cas.b32 %r2, "
         "[%mem+64], 5, 9; ld.global.u32 %r3, [%mem+64]; cvt.u64.u32 %rd1, %r3;",
         9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t got = result_of(rows[i].code);
        if (got != rows[i].want)
            print_message("%s\ngives 0x%llx\n", rows[i].code, (unsigned long long)got);
        assert_true(got == rows[i].want);
    }
}

/* ---- what threads do together ---- */

static void test_shuffles(void **state) {
    struct text t = begin_kernel();
    uint32_t got[32];
    add(&t, "shfl.sync.bfly.b32 %%r1|%%p1, %%tid, 1, 31, -1;\n"
            "shfl.sync.down.b32 %%r2, %%tid, 2, 31, -1;\n"
            "shfl.sync.up.b32 %%r3|%%p3, %%tid, 3, 0, -1;\n"
            "shfl.sync.idx.b32 %%r4, %%tid, 5, 0x181f, -1;\n"
            "setp.lt.u32 %%p1, %%tid, 4;\nvote.sync.ballot.b32 %%r5, %%p1, -1;\n"
            "selp.b32 %%r6, 1, 0, %%p3;\n"
            "mad.lo.u32 %%r7, %%r2, 32, %%r1; mad.lo.u32 %%r7, %%r3, 1024, %%r7;\n"
            "mad.lo.u32 %%r7, %%r4, 32768, %%r7; mad.lo.u32 %%r7, %%r5, 1048576, %%r7;\n"
            "mad.lo.u32 %%r7, %%r6, 33554432, %%r7;\n"
            "mad.wide.u32 %%rd1, %%tid, 4, %%mem;\nst.global.u32 [%%rd1], %%r7;\n");
    assert_int_equal(run_kernel(&t, &(struct run){.threads = 32}).result, PTX_OK);
    memcpy(got, memory, sizeof got);
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t down = i < 30 ? i + 2 : i, up = i >= 3 ? i - 3 : i;
        assert_int_equal(got[i], (i ^ 1) + 32 * down + 1024 * up + 32768 * (i / 8 * 8 + 5) +
                                     1048576 * 15 + 33554432u * (i >= 3));
    }
}

/* A counter that blocks wait for: all of them must be resident. */
static void test_blocks_that_wait_for_each_other(void **state) {
    struct text t = begin_kernel();
    memset(memory, 0, 64);
    add(&t, "atom.global.add.u32 %%r1, [%%mem], 1;\n"
            "again: ld.volatile.global.u32 %%r2, [%%mem];\nsetp.lt.u32 %%p1, %%r2, 4;\n"
            "@%%p1 bra again;\n");
    assert_int_equal(run_kernel(&t, &(struct run){.threads = 1, .blocks = 4}).result,
                     PTX_OK);
}

static void test_clusters(void **state) {
    struct text t = begin_kernel();
    uint32_t got[4];
    add(&t, "mov.u32 %%r1, %%cluster_ctarank;\nmov.u32 %%r2, smem;\n"
            "mov.u32 %%r7, %%ctaid.x;\nst.shared.u32 [%%r2], %%r7;\n"
            "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n"
            "xor.b32 %%r3, %%r1, 1;\nmapa.shared::cluster.u32 %%r4, %%r2, %%r3;\n"
            "ld.shared::cluster.u32 %%r5, [%%r4];\n"
            "mad.wide.u32 %%rd1, %%r7, 4, %%mem;\nst.global.u32 [%%rd1], %%r5;\n"
            "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n");
    const struct run how = {.threads = 32, .blocks = 4, .cluster = 2, .smem = 64};
    assert_int_equal(run_kernel(&t, &how).result, PTX_OK);
    memcpy(got, memory, sizeof got);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(got[i], i ^ 1);
}

/* ---- planted faults ---- */

/* Every seed refuses the kernel, or at least one in `seeds`, with a sentence that has these
 * words. */
static void refused(const char *code, const struct run *how, const char *words) {
    bool found = false;
    for (uint64_t seed = 0; seed < 8 && !found; seed++) {
        struct text t = begin_kernel();
        struct run with = *how;
        with.seed = seed;
        add(&t, "%s", code);
        const struct ptx_report r = run_kernel(&t, &with);
        found = r.result != PTX_OK && strstr(r.why, words);
        if (r.result != PTX_OK && !found)
            print_message("got: %s\nwant: %s\n", r.why, words);
        assert_true(r.result == PTX_OK || found);
    }
    if (!found)
        print_message("not refused: %s\n", words);
    assert_true(found);
}

/* The same kernel without its fault goes through, whatever the seed. */
static void accepted(const char *code, const struct run *how) {
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct text t = begin_kernel();
        struct run with = *how;
        with.seed = seed;
        add(&t, "%s", code);
        const struct ptx_report r = run_kernel(&t, &with);
        if (r.result != PTX_OK)
            print_message("%s\n", r.why);
        assert_int_equal(r.result, PTX_OK);
    }
}

static const struct run one = {.threads = 1, .smem = 4096};
static const struct run warp = {.threads = 32, .smem = 4096};
static const struct run group = {.threads = 128, .smem = 32768};

static void test_addresses(void **state) {
    refused("ld.global.u32 %r1, [%mem+131072];", &one, "is in no allocation");
    refused("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%mem+-16];", &one, "is in no allocation");
    refused("ld.global.u32 %r1, [%mem+2];", &one, "is no multiple of 4 bytes");
    refused("mov.u32 %r1, smem; ld.shared.u32 %r2, [%r1+4096];", &one, "pass the block's");
    refused("mov.u32 %r1, smem; st.shared.v2.f64 [%r1+8], {%fd1, %fd2};", &one,
            "is no multiple of 16 bytes");
    refused("mov.u32 %r1, smem; ld.shared.u32 %r2, [%r1];",
            &(struct run){.threads = 1, .smem = 64, .strict = true},
            "nothing has written it");
    accepted("mov.u32 %r1, smem; ld.shared.u32 %r2, [%r1];", &one);
    refused("mov.u32 %r1, smem; mapa.shared::cluster.u32 %r2, %r1, 1;", &one,
            "block 1 of a cluster of 1");
    refused("cp.async.cg.shared.global [smem], [%mem+131064], 16;", &one, "cp.async of 16");
    refused("cp.async.ca.shared.global [smem], [%mem+131072], 8;", &one,
            "is in no allocation");
    accepted("cp.async.ca.shared.global [smem], [%mem+131072], 8, 0;", &one);
}

static void test_unknown_instruction(void **state) {
    refused("foo.bar.u32 %r1, %r2;", &one, "does not know the instruction foo.bar.u32");
    refused("add.sat.u32 %r1, %r2, %r3;", &one,
            "does not know the instruction add.sat.u32");
    refused(
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8},"
        "{%r1,%r2}, {%r3,%r4}, {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};",
        &warp, "this shape of mma is not known");
    refused("bra nowhere;", &one, "no such label: nowhere");
    refused("trap;", &one, "ends in a trap");
}

static void test_barriers(void **state) {
    refused("setp.eq.u32 %p1, %tid, 0; @%p1 bar.sync 0;", &warp, "nobody can go on");
    refused("setp.lt.u32 %p1, %tid, 32; @%p1 bar.sync 1, 32; @!%p1 bar.sync 1, 64;", &group,
            "barrier 1 is for");
    refused("bar.sync 1, 40;", &warp, "barrier 1 for 40 threads");
    refused("setp.eq.u32 %p1, %tid, 0; @%p1 ret; bar.warp.sync -1;", &warp,
            "which has ended");
    /* All 128 threads learn what one of them says, and the next time that none says so. */
    accepted("setp.eq.u32 %p1, %tid, 77; bar.red.or.pred %p1, 1, 128, %p1; @!%p1 trap;"
             "setp.gt.u32 %p1, %tid, 127; bar.red.or.pred %p1, 1, 128, %p1; @%p1 trap;",
             &group);
    refused("setp.eq.u32 %p1, %tid, 0; @%p1 bar.red.or.pred %p1, 1, 32, %p1;", &warp,
            "nobody can go on");
    refused("setp.eq.u32 %p1, %tid, 0; @%p1 shfl.sync.idx.b32 %r1, %tid, 0, 31, -1;", &warp,
            "waits for lane");
}

/* A copy without the wait for it. */
static void test_small_copies(void **state) {
    static const char copy[] = "cp.async.cg.shared.global [smem], [%mem], 16;"
                               "cp.async.commit_group;";
    char code[512];
    snprintf(code, sizeof code, "%sld.shared.u32 %%r1, [smem];", copy);
    refused(code, &one, "a copy to it is under way");
    snprintf(code, sizeof code, "%scp.async.wait_group 1; ld.shared.u32 %%r1, [smem];",
             copy);
    refused(code, &one, "a copy to it is under way");
    snprintf(code, sizeof code, "%scp.async.wait_group 0; ld.shared.u32 %%r1, [smem];",
             copy);
    accepted(code, &one);
    snprintf(code, sizeof code, "%sst.shared.u32 [smem+4], %%r1;", copy);
    refused(code, &one, "a copy to it is under way");
}

#define BARRIER(arrivals)                                                                  \
    "mbarrier.init.shared::cta.b64 [smem], " #arrivals ";"                                 \
    "fence.mbarrier_init.release.cluster;"
#define EXPECT(bytes) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem], " #bytes ";"
#define BULK                                                                               \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "                   \
    "[smem+1024], [%mem], 256, [smem];"
#define WAIT(parity)                                                                       \
    "again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [smem], " #parity ";"            \
    "@!%p1 bra again;"

static void test_mbarriers(void **state) {
    accepted(BARRIER(1) EXPECT(256) BULK WAIT(0) "ld.shared.u32 %r1, [smem+1024];", &one);
    refused(BARRIER(1) EXPECT(256) BULK "ld.shared.u32 %r1, [smem+1024];", &one,
            "a copy to it is under way");
    refused(BARRIER(1) EXPECT(256) BULK WAIT(1) "ld.shared.u32 %r1, [smem+1024];", &one,
            "a copy to it is under way");
    refused(BARRIER(1) EXPECT(512) BULK WAIT(0), &one, "wait for a phase of an mbarrier");
    refused(BARRIER(2) EXPECT(256) BULK WAIT(0), &one, "wait for a phase of an mbarrier");
    refused(EXPECT(256), &one, "there is no mbarrier");
    refused(BARRIER(1) "ld.shared.u64 %rd1, [smem];", &one, "an mbarrier is there");
    refused(BARRIER(1) EXPECT(256) EXPECT(256), &one, "arrivals at an mbarrier");
    refused(BARRIER(1) EXPECT(256) BULK, &one, "the block ends while a copy to it");
    refused(BARRIER(1) EXPECT(256) "cp.async.bulk.shared::cluster.global.mbarrier::"
                                   "complete_tx::bytes [smem+1024], [%mem], 200, [smem];",
            &one, "a bulk copy of 200 bytes");
}

#define FILL  "st.shared.u32 [smem+1024], %tid;"
#define FENCE "fence.proxy.async.shared::cta;"
#define STORE                                                                              \
    "cp.async.bulk.global.shared::cta.bulk_group [%mem], [smem+1024], 16;"                 \
    "cp.async.bulk.commit_group;"

static void test_stores(void **state) {
    accepted(FILL FENCE STORE "cp.async.bulk.wait_group 0;", &one);
    accepted(FILL FENCE STORE "cp.async.bulk.wait_group.read 0;" FILL, &one);
    refused(FILL STORE "cp.async.bulk.wait_group 0;", &one,
            "without a fence.proxy.async since");
    refused(FILL FENCE STORE FILL "cp.async.bulk.wait_group 0;", &one,
            "has been overwritten");
    refused(FILL FENCE STORE, &one, "before a copy has read its shared memory");
    refused(FILL FENCE STORE "cp.async.bulk.wait_group 1;" FILL, &one, "copy");
}

/* Both operands are zeros at the beginning of shared memory. */
#define ZEROS                                                                              \
    "mul.lo.u32 %r1, %tid, 64; mov.u32 %r2, smem; add.u32 %r1, %r1, %r2;"                  \
    "st.shared.v4.u32 [%r1], {0,0,0,0}; st.shared.v4.u32 [%r1+16], {0,0,0,0};"             \
    "st.shared.v4.u32 [%r1+32], {0,0,0,0}; st.shared.v4.u32 [%r1+48], {0,0,0,0};"
#define DESCRIBE                                                                           \
    "mov.u32 %r3, smem; shr.u32 %r3, %r3, 4; cvt.u64.u32 %rd1, %r3;"                       \
    "or.b64 %rd1, %rd1, 0x4000004000010000;"
#define PRODUCT                                                                            \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1,%f2,%f3,%f4}, %rd1, %rd1, "  \
    "0, 1, 1, 0, 0;"
#define COMMIT   "wgmma.commit_group.sync.aligned;"
#define AWAIT(n) "wgmma.wait_group.sync.aligned " #n ";"
#define WGFENCE  "wgmma.fence.sync.aligned;"

static void test_products(void **state) {
    accepted(ZEROS FENCE "bar.sync 0;" DESCRIBE WGFENCE PRODUCT COMMIT AWAIT(
                 0) "add.f32 %f9, %f1, %f2;",
             &group);
    refused(ZEROS FENCE
            "bar.sync 0;" DESCRIBE WGFENCE PRODUCT COMMIT AWAIT(1) "add.f32 %f9, %f1, %f2;",
            &group, "uses a register of a wgmma in flight");
    refused(ZEROS FENCE "bar.sync 0;" DESCRIBE PRODUCT COMMIT AWAIT(0), &group,
            "no wgmma.fence before");
    refused(ZEROS "bar.sync 0;" DESCRIBE WGFENCE PRODUCT COMMIT AWAIT(0), &group,
            "without a fence.proxy.async since");
    refused(ZEROS FENCE "bar.sync 0;" DESCRIBE WGFENCE PRODUCT COMMIT
                        "st.shared.u32 [%r1], 0;" AWAIT(0),
            &group, "which a wgmma in flight reads, has been overwritten");
    refused(ZEROS FENCE "bar.sync 0;" DESCRIBE WGFENCE PRODUCT COMMIT, &group,
            "ends with wgmma in flight");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instructions),
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_blocks_that_wait_for_each_other),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_unknown_instruction),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_small_copies),
        cmocka_unit_test(test_mbarriers),
        cmocka_unit_test(test_stores),
        cmocka_unit_test(test_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
