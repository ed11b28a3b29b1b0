/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The performance model: textbook occupancy, waves, compulsory traffic, and properties of
 * every prediction.
 */
#include "runtime/lookup/model.h"

#include "runtime/lookup/shelf.h"
#include "tests/unit/made_up.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A GTX 1080, with a cache as large as a test wants it. */
static const struct gt_device card =
    MADE_UP(.name = "card", .arch = "sm_61", .cc = 61, .units = 20, .clock_mhz = 1733,
            .mem_clock_mhz = 5005, .bus_bits = 256, .mem_bytes = INT64_C(1) << 33,
            .l2_bytes = 2 << 20, .smem_max = 49152, .has_f64 = true);

static void assert_near(double a, double b, double by) {
    if (!(fabs(a - b) <= by))
        fail_msg("%.9g is not %.9g", a, b);
}

#define TOY_HEAD                                                                           \
    "{\"format\": 1, \"family\": \"toy\", \"about\": \"\","                                \
    "\"source\": {\"cuda\": \"toy.cl\"}, \"entry\": \"gemm\","                             \
    "\"dtypes\": [\"f32\", \"f64\"], \"layouts\": [\"nn\"],"                               \
    "\"params\": {\"W\": [1, 32, 64], \"R\": [32, 64, 128], \"Z\": [0, 1]},"               \
    "\"default\": {\"W\": 64, \"R\": 64, \"Z\": 1},"                                       \
    "\"launch\": {\"block\": [\"256\", \"1\", \"1\"],"                                     \
    "\"grid\": [\"cdiv(M, W) * cdiv(N, W)\", \"1\", \"1\"]},"
#define TOY_TAIL                                                                           \
    "\"args\": [\"m\", \"n\", \"k\", \"alpha\", \"a\", \"b\", \"beta\", \"c\"]}"
#define TOY_SHAPE                                                                          \
    "\"shape\": {\"tile_m\": \"W\", \"tile_n\": \"W\", \"tile_k\": \"8\", \"regs\": "      \
    "\"R\", \"fit\": \"4\", \"ahead\": \"1\"},"

static gt_status parse(struct gt_family **out, const char *json, struct gt_err *err) {
    static const char *const source[2] = {"text", NULL};
    return gt_family_parse(out, "toy", "toy/space.json", json, source, err);
}

static gemmtune_problem problem(const char *name) {
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    return p;
}

/* A prediction of the family's point, which must be there. */
static struct gt_prediction predicted(const struct gt_family *f, const struct gt_device *d,
                                      const char *name, const char *text,
                                      const struct gt_compiled *compiled) {
    const gemmtune_problem p = problem(name);
    struct gt_binding b;
    struct gt_point point;
    struct gt_prediction out;
    struct gt_model m;
    assert_int_equal(gt_point_parse(&point, text, NULL), GEMMTUNE_OK);
    gt_bind_problem(&b, f, d, &p);
    assert_int_equal(gt_bind_point(&b, &point, NULL), GEMMTUNE_OK);
    gt_model_begin(&m, &b, d);
    assert_true(gt_model_predict(&out, &m, &b, compiled));
    return out;
}

static struct gt_family *toy(const char *json) {
    struct gt_family *f = NULL;
    struct gt_err err = {""};
    const gt_status status = parse(&f, json, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    return f;
}

/* 20 units hold 4 blocks of 256 threads with 64 registers each: a wave is 80 blocks. */
static void test_waves(void **state) {
    struct gt_family *f = toy(TOY_HEAD TOY_SHAPE TOY_TAIL);
    (void)state;
    struct gt_prediction p =
        predicted(f, &card, "f32-nn-512x640x64", "W=64 R=64 Z=1", NULL);
    assert_int_equal(p.registers, 64); /* a compiler would take more, but 4 shall fit */
    assert_int_equal(p.resident, 4);
    assert_int_equal(p.blocks, 80);
    assert_int_equal(p.waves, 1);
    assert_int_equal(p.slabs, 8);
    assert_near(p.last_wave, 1, 1e-12);
    const double full = p.term_ns[GT_TERM_FMA];
    /* 4 blocks of 64 x 64 x 64 at 128 multiply-adds a clock */
    assert_near(full, 4 * 64 * 64 * 64 / 128.0 / 1.733, 1e-6);
    p = predicted(f, &card, "f32-nn-576x576x64", "W=64 R=64 Z=1", NULL);
    assert_int_equal(p.blocks, 81);
    assert_int_equal(p.waves, 2);
    assert_near(p.last_wave, 1 / 80.0, 1e-12);
    assert_near(p.term_ns[GT_TERM_FMA], full * 5 / 4, 1e-6); /* the tail: one more */
    assert_true(p.term_ns[GT_TERM_LATENCY] > 0);
    gt_family_destroy(f);
}

/* Known facts about the compiled kernel count more than the family's estimate. */
static void test_compiled(void **state) {
    struct gt_family *f = toy(TOY_HEAD TOY_SHAPE TOY_TAIL);
    const struct gt_compiled registers = {.registers = 128}, smem = {.smem_bytes = 40000};
    (void)state;
    struct gt_prediction p =
        predicted(f, &card, "f32-nn-512x640x64", "W=64 R=64 Z=1", &registers);
    assert_int_equal(p.registers, 128);
    assert_int_equal(p.resident, 2);
    assert_int_equal(p.waves, 2);
    p = predicted(f, &card, "f32-nn-512x640x64", "W=64 R=64 Z=1", &smem);
    assert_int_equal(p.resident, 2);
    gt_family_destroy(f);
}

/* A, B and C once at 320.32 GB/s, when they stay in the cache;
 * never less when they do not. */
static void test_traffic(void **state) {
    struct gt_family *f = toy(TOY_HEAD TOY_SHAPE TOY_TAIL);
    struct gt_device d = card;
    const double once = 3 * 4096.0 * 4096 * 4;
    (void)state;
    d.l2_bytes = INT64_C(1) << 30;
    const double kept = predicted(f, &d, "f32-nn-4096x4096x4096", "W=64 R=64 Z=1", NULL)
                            .term_ns[GT_TERM_DRAM];
    assert_true(kept >= once / 320.32);
    assert_true(kept <= once / 320.32 / 0.9);
    const double evicted =
        predicted(f, &card, "f32-nn-4096x4096x4096", "W=64 R=64 Z=1", NULL)
            .term_ns[GT_TERM_DRAM];
    assert_true(evicted > kept);
    assert_near(predicted(f, &d, "f32-nn-1x4096x4096", "W=1 R=32 Z=1", NULL).least_ns,
                (4096 + 4096 * 4096.0 + 4096) * 4 / 320.32, 1);
    gt_family_destroy(f);
}

/* Without a shape, with one that fails or makes no sense, and without peaks:
 * no prediction. */
static void test_unknown(void **state) {
    static const char *const shapes[] = {
        "",
        "\"shape\": {\"tile_m\": \"W\", \"tile_n\": \"W\", \"tile_k\": \"W / Z\"},",
        "\"shape\": {\"tile_m\": \"W\", \"tile_n\": \"W\", \"tile_k\": \"Z\"},",
        ("\"shape\": {\"tile_m\": \"W\", \"tile_n\": \"W\", \"tile_k\": \"8\", \"loads\": "
         "\"Z - 1\"},"),
    };
    const gemmtune_problem p = problem("f32-nn-64x64x64");
    struct gt_point point;
    struct gt_prediction out;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_point_parse(&point, "W=64 R=64 Z=0", NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char json[4096];
        (void)snprintf(json, sizeof json, "%s%s%s", TOY_HEAD, shapes[i], TOY_TAIL);
        struct gt_family *f = toy(json);
        struct gt_binding b;
        gt_bind_problem(&b, f, &card, &p);
        assert_int_equal(gt_bind_point(&b, &point, NULL), GEMMTUNE_OK);
        struct gt_model m;
        gt_model_begin(&m, &b, &card);
        assert_false(gt_model_predict(&out, &m, &b, NULL));
        assert_int_equal(gt_model_explain(&out, f, &card, &p, &point, &err),
                         GEMMTUNE_ENOTFOUND);
        if (i == 0)
            assert_non_null(strstr(err.line, "no \"shape\""));
        gt_family_destroy(f);
    }
    struct gt_family *f = toy(TOY_HEAD TOY_SHAPE TOY_TAIL);
    struct gt_device d = card;
    d.bus_bits = 0;
    assert_int_equal(gt_model_explain(&out, f, &d, &p, &point, &err), GEMMTUNE_ENOTFOUND);
    assert_non_null(strstr(err.line, "peak or bandwidth"));
    assert_int_equal(gt_point_parse(&point, "W=63 R=64 Z=0", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_model_explain(&out, f, &card, &p, &point, &err), GEMMTUNE_EINVAL);
    gt_family_destroy(f);
}

/* Nothing to compute is no reason for nonsense, nor is a shape that makes none. */
static void test_extremes(void **state) {
    static const char *const problems[] = {"f32-nn-0x4000x4000", "f32-nn-4000x0x4000",
                                           "f32-nn-64x64x0", "f32-nn-1x1x1",
                                           "f32-nn-2147483647x1x1000"};
    static const char *const shape =
        "\"shape\": {\"tile_m\": \"1\", \"tile_n\": \"1\", \"tile_k\": \"1\", \"fit\": "
        "\"9223372036854775807\", \"regs\": \"9223372036854775807\", \"stream\": \"W\", "
        "\"loads\": \"9223372036854775807\", \"group\": \"9223372036854775807\"},";
    char json[4096];
    (void)state;
    (void)snprintf(json, sizeof json, "%s%s%s", TOY_HEAD, shape, TOY_TAIL);
    struct gt_family *wild = toy(json), *f = toy(TOY_HEAD TOY_SHAPE TOY_TAIL);
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const gemmtune_problem p = problem(problems[i]);
        struct gt_point point;
        struct gt_prediction out;
        gt_family_default(f, &point);
        if (gt_model_explain(&out, f, &card, &p, &point, NULL) == GEMMTUNE_OK)
            assert_true(isfinite(out.ns) && out.ns > 0);
        if (gt_model_explain(&out, wild, &card, &p, &point, NULL) == GEMMTUNE_OK)
            assert_true(isfinite(out.ns) && out.ns > 0);
    }
    gt_family_destroy(f);
    gt_family_destroy(wild);
}

static void test_bad_shapes(void **state) {
    static const struct {
        const char *shape, *says;
    } rows[] = {
        {"\"shape\": {\"tile_m\": \"W\", \"tile_n\": \"W\"},", "tile_k"},
        {"\"shape\": {\"tile_m\": \"W\", \"tile_n\": \"W\", \"tile_k\": \"8\", \"tiles\": "
         "\"1\"},",
         "tiles"},
        {"\"shape\": {\"tile_m\": 64, \"tile_n\": \"W\", \"tile_k\": \"8\"},",
         "/shape/tile_m"},
        {"\"shape\": {\"tile_m\": \"V\", \"tile_n\": \"W\", \"tile_k\": \"8\"},",
         "/shape/tile_m"},
        {"\"shape\": [],", "/shape"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char json[4096];
        struct gt_family *f = NULL;
        struct gt_err err = {""};
        (void)snprintf(json, sizeof json, "%s%s%s", TOY_HEAD, rows[i].shape, TOY_TAIL);
        assert_int_equal(parse(&f, json, &err), GEMMTUNE_EPARSE);
        assert_null(f);
        assert_non_null(strstr(err.line, rows[i].says));
    }
}

/* ---- properties of all families ---- */

static struct gt_families *families;

static int setup(void **state) {
    (void)state;
    return gt_families_create(&families, NULL) != GEMMTUNE_OK;
}

static int teardown(void **state) {
    (void)state;
    gt_families_destroy(families);
    return 0;
}

static struct gt_device hopper(void) {
    struct gt_device d = card;
    d.cc = 90;
    d.units = 132;
    d.clock_mhz = 1980;
    d.mem_clock_mhz = 3201;
    d.bus_bits = 6016;
    d.l2_bytes = 62914560;
    d.smem_max = 232448;
    return d;
}

/* The bound is below the prediction, no term is above what was computed, and the longest
 * term binds. */
static void check_sound(const struct gt_prediction *p) {
    assert_true(isfinite(p->ns) && p->ns > 0);
    assert_true(p->least_ns > 0 && p->least_ns <= p->ns);
    assert_true(p->resident >= 1 && p->blocks >= 1 && p->waves >= 1);
    assert_true(p->last_wave > 0 && p->last_wave <= 1);
    for (int i = 0; i < GT_TERM_COUNT; i++) {
        assert_true(p->term_ns[i] >= 0 && p->term_ns[i] <= gt_computed_ns(p) * (1 + 1e-9));
        assert_true(p->term_ns[i] <= p->term_ns[p->binds]);
    }
}

/* The computed time of a point: without the correction, where trees make one. */
static double computed(const struct gt_family *f, const struct gt_device *d,
                       const gemmtune_problem *p, const struct gt_point *point) {
    struct gt_prediction out;
    if (gt_model_explain(&out, f, d, p, point, NULL) != GEMMTUNE_OK)
        return 0;
    check_sound(&out);
    return gt_computed_ns(&out);
}

/* Faster clocks and a wider bus are never slower; twice the k is. */
static void check_monotone(const struct gt_family *f, const struct gt_device *d,
                           const gemmtune_problem *p, const struct gt_point *point) {
    const double was = computed(f, d, p, point), exact = 1 + 1e-9;
    struct gt_device faster = *d;
    assert_true(was > 0);
    faster.clock_mhz *= 2;
    faster.mem_clock_mhz *= 2;
    assert_true(computed(f, &faster, p, point) <= was * exact);
    faster = *d;
    faster.bus_bits *= 2;
    assert_true(computed(f, &faster, p, point) <= was * exact);
    gemmtune_problem deeper = *p;
    deeper.k *= 2;
    deeper.lda = deeper.trans_a != GEMMTUNE_NOTRANS ? deeper.m : deeper.k;
    deeper.ldb = deeper.trans_b != GEMMTUNE_NOTRANS ? deeper.k : deeper.n;
    const double is = computed(f, d, &deeper, point);
    assert_true(is == 0 || is > was);
}

static void test_every_start(void **state) {
    static const char *const problems[] = {"f32-nn-1024x1024x1024", "f64-nn-512x512x512",
                                           "i32-nn-256x256x256", "f32-nn-2048x16x2048",
                                           "f32-tt-1024x1000x4096"};
    const struct gt_device devices[] = {card, hopper()};
    const struct gt_family *f;
    int asked = 0;
    (void)state;
    for (size_t n = 0; n < sizeof problems / sizeof *problems; n++)
        for (size_t i = 0; i < 2; i++)
            for (size_t j = 0; (f = gt_families_at(families, j)) != NULL; j++) {
                const gemmtune_problem p = problem(problems[n]);
                if (!f->has_shape || !gt_family_serves(f, &devices[i], &p, NULL))
                    continue;
                for (int k = 0; k <= f->start_count; k++) {
                    struct gt_point point;
                    struct gt_binding b;
                    if (k == f->start_count)
                        gt_family_default(f, &point);
                    else
                        gt_family_start(f, k, &point);
                    gt_bind_problem(&b, f, &devices[i], &p);
                    if (gt_bind_point(&b, &point, NULL) != GEMMTUNE_OK ||
                        gt_refused(&b) != NULL || gt_not_accepted(&b) != NULL)
                        continue;
                    check_monotone(f, &devices[i], &p, &point);
                    asked++;
                }
            }
    assert_true(asked > 100);
}

/* Each start of the kernels of CPUs, on problems of all kinds: a time, that is shorter with
 * more cores and longer with more work. Kernels of GPUs have none, and the reason is said.
 */
static void test_cores(void **state) {
    static const char *const problems[] = {"f32-nn-300x300x300",
                                           "f64-tt-1x7x900",
                                           "f32-nt-513x1x0",
                                           "bf16-tn-64x64x64",
                                           "i8-nn-40x50x60",
                                           "f64-nn-24x20x36,batch=100",
                                           "f32-nn-8x8x8,batch=90000",
                                           "f32-nn-90x24x40,groups=7",
                                           "f32-nn-20x24x16,batch=4,masked"};
    struct gt_device d = MADE_UP_CPU;
    const struct gt_family *f;
    int asked = 0, refused = 0;
    (void)state;
    for (size_t n = 0; n < sizeof problems / sizeof *problems; n++)
        for (size_t j = 0; (f = gt_families_at(families, j)) != NULL; j++) {
            const gemmtune_problem p = problem(problems[n]);
            for (int k = 0; k <= f->start_count && gt_family_serves(f, &d, &p, NULL); k++) {
                struct gt_prediction out, more;
                struct gt_point point;
                struct gt_err err = {""};
                if (k == f->start_count)
                    gt_family_default(f, &point);
                else
                    gt_family_start(f, k, &point);
                d.units = 2;
                const gt_status status = gt_model_explain(&out, f, &d, &p, &point, &err);
                d.units = 5;
                if (status == GEMMTUNE_ENOTFOUND) {
                    assert_non_null(strstr(err.line, "no prediction"));
                    refused++;
                }
                if (status != GEMMTUNE_OK)
                    continue;
                asked++;
                assert_true(isfinite(out.ns) && out.ns > 0 && out.waves >= 1);
                assert_int_equal(gt_model_explain(&more, f, &d, &p, &point, &err),
                                 GEMMTUNE_OK);
                assert_true(more.ns <= out.ns);
                gemmtune_problem deeper = p;
                deeper.k += 64;
                deeper.lda = deeper.ldb = 0;
                d.units = 2;
                if (gt_model_explain(&more, f, &d, &deeper, &point, &err) == GEMMTUNE_OK)
                    assert_true(more.ns > out.ns);
            }
        }
    assert_true(asked > 60 && refused > 10);
}

/* Points of slots of rows are bound after one another, and do not see each other. */
static void test_slots_forget(void **state) {
    struct gt_device d = {
        .backend = GEMMTUNE_OPENCL, .units = 2, .smem_max = 2097152, .is_cpu = true};
    const gemmtune_problem p = problem("f32-nn-900x24x40,groups=7");
    const struct gt_family *const f = gt_families_find(families, "vector");
    struct gt_point large, small;
    struct gt_binding b;
    (void)state;
    gt_family_default(f, &large);
    small = large;
    assert_int_equal(gt_point_set(&small, "PM", 1, NULL), GEMMTUNE_OK);
    gt_bind_problem(&b, f, &d, &p);
    assert_int_equal(gt_bind_point(&b, &large, NULL), GEMMTUNE_OK);
    const int64_t rows = b.slot_rows;
    assert_int_equal(gt_bind_point(&b, &small, NULL), GEMMTUNE_OK);
    assert_true(b.slot_rows < rows);
    assert_int_equal(gt_bind_point(&b, &large, NULL), GEMMTUNE_OK);
    assert_int_equal(b.slot_rows, rows);
}

/* Known facts about these kernels: the order of the ladder's rungs. */
static void test_the_ladder(void **state) {
    static const struct {
        const char *family, *point;
    } rungs[] = {
        {"naive", "MAP=0 BX=32 BY=32 KU=4"},
        {"naive", "MAP=1 BX=32 BY=32 KU=4"},
        {"tile", "TILE_WIDTH=16 PAD=0 DOUBLE=0"},
        {"block",
         "BM=128 BN=128 BK=8 THREADS=256 OWN=1 TM=8 VA=4 VB=4 PAD=4 DOUBLE=1 MINB=1 "
         "GROUP=8"},
    };
    const struct gt_device devices[] = {card, hopper()};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        double before = INFINITY;
        for (size_t j = 0; j < sizeof rungs / sizeof *rungs; j++) {
            const double ns =
                predicted(gt_families_find(families, rungs[j].family), &devices[i],
                          "f32-nn-2048x2048x2048", rungs[j].point, NULL)
                    .ns;
            assert_true(ns < before);
            before = ns;
        }
    }
}

static void test_words(void **state) {
    (void)state;
    assert_string_equal(gt_term_word(GT_TERM_FMA), "fma");
    assert_string_equal(gt_term_word(GT_TERM_LAUNCH), "launch");
    assert_true(strlen(gt_term_about(GT_TERM_DRAM)) > 0);
}

/* The prediction for given facts. */
static struct gt_prediction reckoned(const struct gt_facts *facts,
                                     const struct gt_device *d,
                                     const struct gt_costs *costs) {
    struct gt_prediction out;
    assert_true(gt_model_predict_facts(&out, facts, d, costs, NULL));
    return out;
}

static struct gt_facts facts_of(const struct gt_device *d, const char *name,
                                const char *text) {
    struct gt_family *f = toy(TOY_HEAD TOY_SHAPE TOY_TAIL);
    const gemmtune_problem p = problem(name);
    struct gt_binding b;
    struct gt_point point;
    struct gt_facts facts;
    assert_int_equal(gt_point_parse(&point, text, NULL), GEMMTUNE_OK);
    gt_bind_problem(&b, f, d, &p);
    assert_int_equal(gt_bind_point(&b, &point, NULL), GEMMTUNE_OK);
    assert_true(gt_facts_of(&facts, &b, d));
    gt_family_destroy(f);
    return facts;
}

/* 66 pairs of units lie in eight groups: 9 9 9 8 8 8 8 7. Clusters of two use all of them,
 * of four 31 times two pairs, of eight 15 times four; and where four blocks fit a unit,
 * clusters of three share a pair. */
static void test_clusters(void **state) {
    static const struct {
        int cluster, waves;
        int64_t blocks;
    } rows[] = {
        {1, 1, 528},     {1, 2, 529},     {2, 1, 4 * 132}, {4, 1, 4 * 124}, {4, 2, 4 * 128},
        {3, 1, 4 * 126}, {3, 2, 4 * 129}, {8, 1, 4 * 120}, {8, 2, 4 * 128},
    };
    struct gt_device d = card;
    struct gt_facts facts = facts_of(&card, "f32-nn-512x640x64", "W=64 R=64 Z=1");
    (void)state;
    d.units = 132;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        facts.cluster = rows[i].cluster;
        facts.blocks = rows[i].blocks;
        if (reckoned(&facts, &d, &gt_shelf_usual.costs).waves != rows[i].waves)
            fail_msg("row %zu", i);
    }
}

/* A cluster that adds up has a part of k in each block. Others only share slabs: they cost
 * a start and an end, and no sums. */
static void test_what_clusters_cost(void **state) {
    struct gt_facts facts = facts_of(&card, "f32-nn-512x640x64", "W=64 R=64 Z=1");
    const struct gt_costs *costs = &gt_shelf_usual.costs;
    (void)state;
    const struct gt_prediction single = reckoned(&facts, &card, costs);
    facts.cluster = 2;
    const struct gt_prediction sharing = reckoned(&facts, &card, costs);
    assert_near(sharing.term_ns[GT_TERM_PASSES] - single.term_ns[GT_TERM_PASSES],
                costs->pair / 1.733, 1e-6);
    assert_near(sharing.term_ns[GT_TERM_ENDS], single.term_ns[GT_TERM_ENDS], 1e-6);
    facts.shape[GT_SHAPE_SPLIT] = 2;
    const struct gt_prediction adding = reckoned(&facts, &card, costs);
    assert_near(adding.term_ns[GT_TERM_PASSES] - single.term_ns[GT_TERM_PASSES],
                costs->cluster / 1.733, 1e-6);
    assert_true(adding.term_ns[GT_TERM_ENDS] > single.term_ns[GT_TERM_ENDS]);
}

/* However the grid shares tiles out, streams are one round of so many blocks a unit. */
static void test_streams(void **state) {
    struct gt_facts facts = facts_of(&card, "f32-nn-512x640x64", "W=64 R=64 Z=1");
    (void)state;
    facts.shape[GT_SHAPE_STREAM] = 2;
    facts.blocks = 75;
    const struct gt_prediction p = reckoned(&facts, &card, &gt_shelf_usual.costs);
    assert_int_equal(p.blocks, 40);
    assert_int_equal(p.waves, 1);
    assert_int_equal(p.slabs, 16); /* 80 tiles of 8 over 40 streams */
    facts.shape[GT_SHAPE_STREAM_SLABS] = 20;
    const struct gt_prediction uneven = reckoned(&facts, &card, &gt_shelf_usual.costs);
    assert_int_equal(uneven.slabs, 20);
    assert_true(uneven.term_ns[GT_TERM_FMA] > p.term_ns[GT_TERM_FMA]);
}

/* 100 products in groups of 4: with a block a group, each does the slabs of one group. With
 * fewer blocks, each goes from group to group, and the whole takes as long as the work of
 * the busiest unit. */
static void test_groups_of_products(void **state) {
    struct gt_facts facts = facts_of(&card, "f32-nn-64x64x64", "W=64 R=64 Z=1");
    (void)state;
    facts.products = 100;
    facts.shape[GT_SHAPE_PRODUCTS] = 4;
    facts.blocks = 25;
    const struct gt_prediction many = reckoned(&facts, &card, &gt_shelf_usual.costs);
    check_sound(&many);
    assert_int_equal(many.slabs, 8);
    facts.blocks = 5;
    const struct gt_prediction few = reckoned(&facts, &card, &gt_shelf_usual.costs);
    check_sound(&few);
    assert_int_equal(few.slabs, 5 * 8);
    /* 20 units: two of the 25 blocks, or one of the 5 */
    assert_near(few.term_ns[GT_TERM_L2], many.term_ns[GT_TERM_L2] / 2 * 5, 1e-6);
}

/* With arrays of pointers, a product has three pointers to read, and a block waits for its
 * own ones before it asks for matrices. */
static void test_pointers(void **state) {
    struct gt_facts facts = facts_of(&card, "f32-nn-64x64x64", "W=64 R=64 Z=1");
    (void)state;
    facts.products = facts.groups = facts.blocks = card.units; /* one round */
    facts.rows = 64 * facts.products;
    const struct gt_prediction strided = reckoned(&facts, &card, &gt_shelf_usual.costs);
    facts.pointers = true;
    const struct gt_prediction behind = reckoned(&facts, &card, &gt_shelf_usual.costs);
    const double bytes = 3 * 64 * 64 * 4; /* of a product */
    assert_near(behind.term_ns[GT_TERM_DRAM] / strided.term_ns[GT_TERM_DRAM],
                (bytes + 24) / bytes, 1e-9);
    assert_near(behind.term_ns[GT_TERM_ENDS] - strided.term_ns[GT_TERM_ENDS],
                gt_shelf_usual.costs.memory_ns, 1e-6);
}

/* The first block of a second round costs a beginning, unless the blocks of a round compute
 * for longer than that. */
static void test_later_rounds(void **state) {
    struct gt_facts facts = facts_of(&card, "f32-nn-512x640x64", "W=64 R=64 Z=1");
    struct gt_costs costs = gt_shelf_usual.costs;
    (void)state;
    facts.blocks = reckoned(&facts, &card, &costs).resident * card.units + 1;
    const struct gt_prediction brief = reckoned(&facts, &card, &costs);
    assert_int_equal(brief.waves, 2);
    costs.again_ns = 1e6; /* far longer than a round of these blocks */
    const double once = reckoned(&facts, &card, &costs).term_ns[GT_TERM_ENDS];
    costs.again_ns *= 2;
    assert_near(reckoned(&facts, &card, &costs).term_ns[GT_TERM_ENDS] - once, 1e6, 1e-6);
    costs.again_ns = 1; /* far shorter */
    const double hidden = reckoned(&facts, &card, &costs).term_ns[GT_TERM_ENDS];
    costs.again_ns *= 2;
    assert_near(reckoned(&facts, &card, &costs).term_ns[GT_TERM_ENDS], hidden, 1e-6);
}

/* The blocks of a walk go through the tiles of all groups, about as fast as through the
 * tiles of one product of as many rows. */
static void test_a_walk_over_groups(void **state) {
    static const char point[] = "BM=128 BN=256 WGM=2 WGN=1 STAGES=4 CM=2 CN=1 GROUP=8 "
                                "PERSIST=1 PINGPONG=0 MINB=1 SPLIT=1 REDUCE=0 TAIL=0 "
                                "REPACK=0 SWAP=0 STORE=1 RS=0 PRODUCERS=0";
    const struct gt_family *wgmma = gt_families_find(families, "wgmma");
    const struct gt_device d = hopper();
    (void)state;
    const struct gt_prediction one =
        predicted(wgmma, &d, "bf16-nn-65536x1536x2048", point, NULL);
    const struct gt_prediction groups =
        predicted(wgmma, &d, "bf16-nn-65536x1536x2048,groups=128", point, NULL);
    check_sound(&groups);
    assert_int_equal(groups.blocks, 132);
    /* 256 full tiles of 256 rows, 64 that stand for the ends of groups; 6 side by side */
    assert_int_equal(groups.slabs, (256 + 64) * 6 / 66 * 32 + 32);
    assert_true(groups.ns > one.ns && groups.ns < 2 * one.ns);
    /* Groups that are smaller than a tile have one each. */
    const struct gt_prediction thin =
        predicted(wgmma, &d, "bf16-nn-1024x1536x2048,groups=128", point, NULL);
    assert_int_equal(thin.slabs, 128 * 6 / 66 * 32 + 32);
}

/* Slots of a group share its B. So forecasts of walks over groups of one size are not far
 * from times that were measured on an H200. */
static void test_groups_that_were_measured(void **state) {
    static const char rest[] = " WGN=1 PINGPONG=0 PERSIST=1 SPLIT=1 REDUCE=0 TAIL=0 "
                               "REPACK=0 SWAP=0 STORE=1 RS=0 PRODUCERS=0";
    static const struct {
        const char *name, *point;
        double us;
    } rows[] = {
        {"bf16-nn-65536x1536x2048,groups=128",
         "BM=128 BN=256 WGM=2 STAGES=4 CM=2 CN=1 GROUP=8 MINB=1", 556.6},
        {"bf16-nn-65536x2048x768,groups=128",
         "BM=128 BN=256 WGM=2 STAGES=4 CM=2 CN=1 GROUP=8 MINB=1", 310.1},
        {"bf16-nn-8192x14336x4096,groups=8",
         "BM=128 BN=256 WGM=2 STAGES=4 CM=1 CN=2 GROUP=8 MINB=1", 1196.6},
        {"bf16-nn-4096x1408x2048,groups=64",
         "BM=64 BN=128 WGM=1 STAGES=4 CM=1 CN=1 GROUP=8 MINB=2", 101.7},
        {"bf16-nn-1024x1536x2048,groups=128",
         "BM=64 BN=256 WGM=1 STAGES=5 CM=1 CN=1 GROUP=8 MINB=1", 194.5},
    };
    const struct gt_family *wgmma = gt_families_find(families, "wgmma");
    const struct gt_device d = hopper();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char point[GT_POINT_TEXT_MAX];
        snprintf(point, sizeof point, "%s%s", rows[i].point, rest);
        const struct gt_prediction p = predicted(wgmma, &d, rows[i].name, point, NULL);
        check_sound(&p);
        assert_near(p.ns, rows[i].us * 1e3, rows[i].us * 1e3 * 0.25);
        assert_true(p.least_ns < rows[i].us * 1e3);
    }
}

/* A block's end costs what it writes; a warp alone waits for itself, several for each
 * other. */
static void test_ends_and_stalls(void **state) {
    struct gt_facts facts = facts_of(&card, "f32-nn-512x640x64", "W=64 R=64 Z=1");
    struct gt_costs costs = gt_shelf_usual.costs;
    (void)state;
    const struct gt_prediction was = reckoned(&facts, &card, &costs);
    costs.store += 1;
    /* 4 blocks a unit, each 64 x 64 elements of 4 bytes in lines of 128, a clock more for
     * each */
    assert_near(reckoned(&facts, &card, &costs).term_ns[GT_TERM_ENDS] -
                    was.term_ns[GT_TERM_ENDS],
                4 * 64 * 64 * 4 / 128 / 1.733, 1e-6);
    facts.shape[GT_SHAPE_STORE] = 0; /* it computes while it writes */
    assert_near(was.term_ns[GT_TERM_ENDS] -
                    reckoned(&facts, &card, &costs).term_ns[GT_TERM_ENDS],
                gt_shelf_usual.costs.store * 4 * 64 * 64 * 4 / 128 / 1.733, 1e-6);
    facts.shape[GT_SHAPE_STORE] = 100;
    costs = gt_shelf_usual.costs;
    facts.shape[GT_SHAPE_BURST] = 64;
    const double full = reckoned(&facts, &card, &costs).term_ns[GT_TERM_FMA];
    assert_true(full > was.term_ns[GT_TERM_FMA]);
    costs.wait *= 100; /* 8 warps a partition hide a few clocks, but not these */
    assert_true(reckoned(&facts, &card, &costs).term_ns[GT_TERM_FMA] > 1.5 * full);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_ends_and_stalls),
        cmocka_unit_test(test_waves),
        cmocka_unit_test(test_compiled),
        cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_slots_forget),
        cmocka_unit_test(test_bad_shapes),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_every_start),
        cmocka_unit_test(test_the_ladder),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_what_clusters_cost),
        cmocka_unit_test(test_groups_of_products),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_later_rounds),
        cmocka_unit_test(test_a_walk_over_groups),
        cmocka_unit_test(test_groups_that_were_measured),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
