/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_starts.c - the points that a search starts from: defaults, the likeliest, winners on
 * this device and on the most similar one, forecasts of the model, starts of families.
 */
#include "tuner/tune/starts.h"
#include "tests/unit/made_up.h"
#include "tests/unit/records.h"
#include "tuner/tune/seeded.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *hash =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
static char folder[128];
static struct gt_err err;

#define OK(call) assert_int_equal(call, GEMMTUNE_OK)

static struct gt_families *families;
static struct gt_space space;
static gemmtune_problem problem;
static struct gt_tuner tuner;

static struct gt_device device_of(const char *name, const char *arch, int cc, int units) {
    struct gt_device d =
        MADE_UP(.vendor = "NVIDIA", .cc = cc, .units = units, .clock_mhz = 1980,
                .mem_bytes = INT64_C(1) << 33, .max_alloc = INT64_C(1) << 33,
                .smem_max = 100 * 1024, .has_f64 = true);
    snprintf(d.name, sizeof d.name, "%s", name);
    snprintf(d.arch, sizeof d.arch, "%s", arch);
    return d;
}

static void begin_run(const struct gt_device *d) {
    const struct gt_run_info info = {"0.1.0", "570.1", "NVRTC 13.0", "", 1};
    int64_t run = 0;
    OK(gt_db_run_begin(&run, tuner.db, d, &info, &err));
}

/* The finalists of a problem on a device, the best first, by the widths of their tiles. */
static void finished(const struct gt_device *d, const char *name, const int *width,
                     int count) {
    char key[GT_DEVICE_KEY_MAX], point[4][64];
    struct gt_record_row row[4] = {0};
    gt_device_key(d, key);
    begin_run(d);
    assert_in_range(count, 1, 4);
    for (int i = 0; i < count; i++) {
        snprintf(point[i], sizeof point[i], "TILE_WIDTH=%d PAD=1 DOUBLE=1", width[i]);
        row[i] = (struct gt_record_row){
            .subject = {key, name, "tile", hash, point[i]},
            .rank = i,
            .verified = true,
            .time = {
                .median_ns = 2, .low_ns = 1, .high_ns = 3, .samples = 3, .launches = 3}};
    }
    OK(put_local_records(tuner.db, key, name, row, (size_t)count, &err));
}

static void won(const struct gt_device *d, const char *name, int width) {
    finished(d, name, &width, 1);
}

static int setup(void **state) {
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.100s/gt-seeds-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(folder));
    OK(gt_problem_from_name(&problem, "f32-nn-512x512x512", &err));
    OK(gt_families_create(&families, &err));
    tuner.families = families;
    /* too few units for the shipped trees, which would know "tile" */
    tuner.device = device_of("this", "sm_90", 90, 96);
    gt_device_key(&tuner.device, tuner.device_key);
    OK(gt_space_create(&space, gt_families_find(families, "tile"), &tuner.device, &problem,
                       &err));
    return 0;
}

static int teardown(void **state) {
    gt_space_clear(&space);
    gt_families_destroy(families);
    return 0;
}

static void open_db(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    OK(gt_db_open(&tuner.db, path, GT_DB_WRITE, &err));
    begin_run(&tuner.device);
}

/* The index of the start with this width; -1: it is missing. */
static int place_of(const struct gt_starts *s, int width) {
    for (int i = 0; i < s->count; i++) {
        struct gt_point point;
        int64_t value = 0, pad = 0;
        gt_space_point(&space, s->pick[i].index, &point);
        if (gt_point_get(&point, "TILE_WIDTH", &value) && value == width &&
            gt_point_get(&point, "PAD", &pad) && pad == 1)
            return i;
    }
    return -1;
}

static void find_with(struct gt_starts *s, struct gt_outlook *outlook) {
    OK(gt_starts_find(s, &tuner, &space, 1, outlook, &problem, &err));
    for (int i = 0; i < s->count; i++)
        for (int j = 0; j < i; j++)
            assert_int_not_equal(s->pick[i].index, s->pick[j].index);
}

static void find(struct gt_starts *s) {
    struct gt_outlook nothing = {0};
    find_with(s, &nothing);
}

static size_t index_of(const char *text) {
    struct gt_point point;
    OK(gt_point_parse(&point, text, &err));
    const size_t index = gt_space_find(&space, &point);
    assert_int_not_equal(index, SIZE_MAX);
    return index;
}

static void test_the_default_comes_first(void **state) {
    struct gt_point preset;
    struct gt_starts s;
    open_db("empty.db");
    find(&s);
    gt_family_default(space.family, &preset);
    assert_true(s.count >= 1);
    assert_int_equal(s.pick[0].index, gt_space_find(&space, &preset));
    gt_db_close(tuner.db);
}

static void test_winners_here_nearest_first(void **state) {
    struct gt_starts s;
    open_db("here.db");
    won(&tuner.device, "f32-nn-8192x8192x8192", 8);
    won(&tuner.device, "f32-nn-512x512x1024", 20);
    won(&tuner.device, "f64-nn-512x512x512", 12); /* another type */
    find(&s);
    assert_int_equal(place_of(&s, 20), 1);
    assert_int_equal(place_of(&s, 8), 2);
    assert_int_equal(place_of(&s, 12), -1);
    gt_db_close(tuner.db);
}

static void test_a_winner_twice_is_as_near_as_the_nearer(void **state) {
    struct gt_starts s;
    open_db("twice.db");
    won(&tuner.device, "f32-nn-16384x512x512", 20); /* records come by name */
    won(&tuner.device, "f32-nn-2048x512x512", 8);
    won(&tuner.device, "f32-nn-512x512x520", 20);
    find(&s);
    assert_int_equal(place_of(&s, 20), 1);
    assert_int_equal(place_of(&s, 8), 2);
    gt_db_close(tuner.db);
}

static void test_all_finalists_of_the_problem_itself(void **state) {
    struct gt_starts s;
    open_db("again.db");
    won(&tuner.device, "f32-nn-512x512x520", 8);
    finished(&tuner.device, "f32-nn-512x512x512", (int[]){20, 12, 24}, 3);
    finished(&tuner.device, "f32-nn-4096x512x512", (int[]){16, 4}, 2);
    finished(&tuner.device, "f32-nn-512x512x512,beta", (int[]){8, 4},
             2); /* another problem */
    find(&s);
    assert_int_equal(place_of(&s, 20), 1);
    assert_int_equal(place_of(&s, 12), 2);
    assert_int_equal(place_of(&s, 24), 3);
    assert_int_equal(place_of(&s, 8), 4); /* then winners of others, and only those */
    assert_int_equal(place_of(&s, 16), 5);
    assert_int_equal(place_of(&s, 4), -1);
    gt_db_close(tuner.db);
}

/* The same product without its epilogue:
 * its finalists come after the problem's own. */
static void test_finalists_of_the_product_without_its_epilogue(void **state) {
    const gemmtune_problem plain = problem;
    struct gt_starts s;
    OK(gt_problem_from_name(&problem, "f32-nn-512x512x512,epi=gelu", &err));
    open_db("plain.db");
    won(&tuner.device, "f32-nn-512x512x520", 8);
    finished(&tuner.device, "f32-nn-512x512x512", (int[]){20, 12}, 2);
    find(&s);
    assert_int_equal(s.required, 2);
    assert_int_equal(place_of(&s, 20), 1);
    assert_int_equal(place_of(&s, 12), 2);
    assert_int_equal(place_of(&s, 8), 3);
    finished(&tuner.device, "f32-nn-512x512x512,epi=gelu", (int[]){24, 16}, 2);
    find(&s);
    assert_int_equal(place_of(&s, 24), 1);
    assert_int_equal(place_of(&s, 16), 2);
    assert_int_equal(place_of(&s, 20), 3);
    gt_db_close(tuner.db);
    problem = plain;
}

/* Required even without time: the earlier winner, else the best forecast, else a
 * neighbour's winner. */
static void test_the_likeliest_is_a_must(void **state) {
    const size_t expected = index_of("TILE_WIDTH=28 PAD=0 DOUBLE=1");
    struct gt_outlook outlook = {.ns = (float *[]){calloc(space.count, sizeof(float))},
                                 .space = &space,
                                 .spaces = 1};
    struct gt_starts s;
    assert_non_null(outlook.ns[0]);
    for (size_t i = 0; i < space.count; i++)
        outlook.ns[0][i] = NAN; /* unknown */
    open_db("must.db");
    find_with(&s, &outlook);
    assert_int_equal(s.required, 1); /* the default: nothing is known */
    won(&tuner.device, "f32-nn-512x512x520", 20);
    find_with(&s, &outlook);
    assert_int_equal(s.required, 2);
    assert_int_equal(place_of(&s, 20), 1);
    outlook.ns[0][expected] = 1000;
    find_with(&s, &outlook);
    assert_int_equal(s.required, 2);
    assert_int_equal(s.pick[1].index, expected);
    finished(&tuner.device, "f32-nn-512x512x512", (int[]){12, 24}, 2);
    find_with(&s, &outlook);
    assert_int_equal(s.required, 2);
    assert_int_equal(place_of(&s, 12), 1);
    gt_db_close(tuner.db);
    free(outlook.ns[0]);
}

/* The kernel that a lookup would run goes before the model's own points. */
static void test_the_answer_of_a_lookup_is_the_likeliest(void **state) {
    const size_t expected = index_of("TILE_WIDTH=28 PAD=0 DOUBLE=1");
    struct gt_outlook outlook = {.ns = (float *[]){calloc(space.count, sizeof(float))},
                                 .space = &space,
                                 .spaces = 1};
    const char *const old_hash = hash;
    struct gt_starts s;
    assert_non_null(outlook.ns[0]);
    for (size_t i = 0; i < space.count; i++)
        outlook.ns[0][i] = NAN; /* unknown */
    outlook.ns[0][expected] = 1000;
    hash = space.family->hash; /* a lookup takes records of present sources only */
    open_db("answer.db");
    won(&tuner.device, "f32-nn-512x512x1024", 20);
    hash = old_hash;
    find_with(&s, &outlook);
    assert_int_equal(s.required, 2);
    assert_int_equal(place_of(&s, 20), 1);
    assert_int_equal(s.pick[2].index, expected);
    gt_db_close(tuner.db);
    free(outlook.ns[0]);
}

/* A start of the family goes before a point that is expected to be a little faster. */
static void test_a_start_goes_before_a_slightly_better_forecast(void **state) {
    const size_t other = index_of("TILE_WIDTH=28 PAD=0 DOUBLE=1");
    struct gt_outlook outlook = {.ns = (float *[]){calloc(space.count, sizeof(float))},
                                 .space = &space,
                                 .spaces = 1};
    struct gt_starts s;
    struct gt_point point;
    assert_non_null(outlook.ns[0]);
    gt_family_start(space.family, 1, &point);
    const size_t start = gt_space_find(&space, &point);
    for (size_t i = 0; i < space.count; i++)
        outlook.ns[0][i] = 5000;
    outlook.ns[0][start] = 1000;
    outlook.ns[0][other] = 900;
    open_db("start.db");
    find_with(&s, &outlook);
    assert_int_equal(s.pick[1].index, start);
    assert_int_equal(s.pick[2].index, other);
    outlook.ns[0][other] = 700;
    find_with(&s, &outlook);
    assert_int_equal(s.pick[1].index, other);
    gt_db_close(tuner.db);
    free(outlook.ns[0]);
}

static void test_winners_of_the_likest_device(void **state) {
    const struct gt_device smaller = device_of("smaller", "sm_90", 90, 100),
                           larger = device_of("larger", "sm_90", 90, 500),
                           older = device_of("older", "sm_61", 61, 132);
    struct gt_device cpu = device_of("cpu", "cpu", 0, 132);
    struct gt_starts s;
    cpu.is_cpu = true;
    open_db("others.db");
    won(&cpu, "f32-nn-512x512x512", 4);
    won(&older, "f32-nn-512x512x512", 8);
    find(&s);
    assert_int_equal(place_of(&s, 8), 1);
    assert_int_equal(place_of(&s, 4), -1);
    won(&larger, "f32-nn-512x512x512", 12); /* of the same arch: asked instead */
    find(&s);
    assert_int_equal(place_of(&s, 12), 1);
    assert_int_equal(place_of(&s, 8), -1);
    won(&smaller, "f32-nn-256x512x512", 16); /* of nearly the same size */
    won(&smaller, "f32-nn-512x512x512", 20);
    won(&tuner.device, "f32-nn-4096x4096x4096", 24);
    find(&s);
    assert_int_equal(place_of(&s, 24), 1); /* what was measured here comes first */
    assert_int_equal(place_of(&s, 20), 2);
    assert_int_equal(place_of(&s, 16), 3);
    assert_int_equal(place_of(&s, 12), -1);
    gt_db_close(tuner.db);
}

static void test_the_rest_as_the_model_expects_it(void **state) {
    struct gt_outlook outlook = {.ns = (float *[]){calloc(space.count, sizeof(float))},
                                 .space = &space,
                                 .spaces = 1};
    struct gt_starts s;
    struct gt_point start;
    const int starts = space.family->start_count;
    assert_non_null(outlook.ns[0]);
    assert_true(starts >= 2);
    for (size_t i = 0; i < space.count; i++)
        outlook.ns[0][i] = NAN;            /* unknown */
    for (int i = 0; i < starts - 1; i++) { /* the later the faster; nothing of the last */
        gt_family_start(space.family, i, &start);
        outlook.ns[0][gt_space_find(&space, &start)] = (float)(1000 * (starts - i));
    }
    open_db("rest.db");
    find_with(&s, &outlook);
    for (int i = 0; i < starts - 1; i++) {
        gt_family_start(space.family, starts - 2 - i, &start);
        assert_int_equal(s.pick[1 + i].index, gt_space_find(&space, &start));
    }
    gt_family_start(space.family, starts - 1, &start);
    assert_int_equal(s.pick[starts].index, gt_space_find(&space, &start));
    gt_db_close(tuner.db);
    free(outlook.ns[0]);
}

static void test_the_other_expected_between_winners_and_starts(void **state) {
    const size_t slower = index_of("TILE_WIDTH=24 PAD=1 DOUBLE=0"),
                 faster = index_of("TILE_WIDTH=28 PAD=0 DOUBLE=1");
    struct gt_outlook outlook = {.ns = (float *[]){calloc(space.count, sizeof(float))},
                                 .space = &space,
                                 .spaces = 1};
    struct gt_starts s;
    struct gt_point start;
    assert_non_null(outlook.ns[0]);
    for (size_t i = 0; i < space.count; i++)
        outlook.ns[0][i] = NAN; /* unknown */
    outlook.ns[0][slower] = 2000;
    outlook.ns[0][faster] = 1000;
    open_db("expected.db");
    won(&tuner.device, "f32-nn-512x512x1024", 20);
    const struct gt_device like = device_of("like", "sm_90", 90, 100);
    won(&like, "f32-nn-512x512x512", 12);
    find_with(&s, &outlook);
    assert_int_equal(s.count, 5 + space.family->start_count);
    assert_int_equal(s.pick[1].index, faster); /* the likeliest */
    assert_int_equal(place_of(&s, 20), 2);     /* won here */
    assert_int_equal(place_of(&s, 12), 3);     /* won on another device */
    assert_int_equal(s.pick[4].index, slower);
    for (int i = 0; i < space.family->start_count; i++) {
        gt_family_start(space.family, i, &start);
        assert_int_equal(s.pick[5 + i].index, gt_space_find(&space, &start));
    }
    gt_db_close(tuner.db);
    free(outlook.ns[0]);
}

/* Where a block has 256 threads at most, tiles of 32 and of 20 are refused. */
static void test_a_refused_start_stands_for_its_neighbours(void **state) {
    const struct gt_space whole = space;
    struct gt_device small = tuner.device;
    struct gt_starts s;
    small.max_threads = 256;
    OK(gt_space_create(&space, whole.family, &small, &problem, &err));
    struct gt_outlook outlook = {.ns = (float *[]){calloc(space.count, sizeof(float))},
                                 .space = &space,
                                 .spaces = 1};
    assert_non_null(outlook.ns[0]);
    for (size_t i = 0; i < space.count; i++)
        outlook.ns[0][i] = NAN; /* unknown */
    const size_t best = index_of("TILE_WIDTH=12 PAD=0 DOUBLE=1"),
                 beside = index_of("TILE_WIDTH=12 PAD=0 DOUBLE=0");
    open_db("refused.db");
    find_with(&s, &outlook);
    assert_int_equal(s.count, 3); /* the default, tiles of 16 and of 8: no more is known */
    outlook.ns[0][best] = 100;
    find_with(&s, &outlook);
    assert_int_equal(s.count, 4); /* expected, and two parameters off */
    outlook.ns[0][beside] = 1000; /* hopeless */
    find_with(&s, &outlook);
    assert_int_equal(s.count, 4);
    outlook.ns[0][beside] = 200; /* so like the best that it is not asked for by itself */
    find_with(&s, &outlook);
    assert_int_equal(s.count, 5); /* beside both starts, once */
    bool found = false;
    for (int i = 0; i < s.count; i++)
        found = found || s.pick[i].index == beside;
    assert_true(found);
    gt_db_close(tuner.db);
    free(outlook.ns[0]);
    gt_space_clear(&space);
    space = whole;
}

/* Seeds that know the device come after winners on other devices, as long as the problem
 * was not tuned here; defaults only where nothing alike was. */
static void test_seeds(void **state) {
    static const char known[] = "TILE_WIDTH=28 PAD=1 DOUBLE=0";
    const struct gt_device like = device_of("like", "sm_90", 90, 100);
    struct gt_seed_row row = {.device = "this",
                              .problem = "f32-nn-64x64x64",
                              .kernel = "tile",
                              .source = "a file",
                              .ns = 1};
    char path[256];
    struct gt_starts s;
    snprintf(path, sizeof path, "%s/a.seeds.json", folder);
    OK(gt_point_parse(&row.point, known, &err));
    OK(gt_seeds_keep(path, &row, 1, &err));
    OK(gt_seeds_create(&tuner.seeds, path, &err));
    open_db("seeded.db");
    find(&s);
    assert_int_equal(s.pick[1].index, index_of(known));
    won(&like, "f32-nn-512x512x512", 12);
    find(&s);
    assert_int_equal(place_of(&s, 12), 1);
    assert_int_equal(s.pick[2].index, index_of(known));
    won(&tuner.device, "f32-nn-512x512x512", 8);
    find(&s);
    for (int i = 0; i < s.count; i++)
        assert_int_not_equal(s.pick[i].index, index_of(known));
    gt_db_close(tuner.db);
    gt_seeds_destroy(tuner.seeds);
    tuner.seeds = NULL;
}

/* CLBlast's default for a device that it does not know is a start of the family "block". */
static void test_a_default_seed(void **state) {
    const struct gt_space tile = space;
    struct gt_seeded seeded;
    struct gt_point point;
    struct gt_starts s;
    OK(gt_seeds_create(&tuner.seeds, NULL, &err));
    OK(gt_seeded_find(&seeded, tuner.seeds, families, &tuner.device, &problem, &err));
    assert_in_range(seeded.count, 1, GT_SEEDS_MAX);
    OK(gt_space_create(&space, gt_families_find(families, "block"), &tuner.device, &problem,
                       &err));
    OK(gt_point_parse(&point, seeded.at[0].point, &err));
    open_db("default_seed.db");
    for (int known = 0; known < 2; known++) {
        bool found = false;
        find(&s);
        for (int i = 0; i < s.count; i++)
            found = found || s.pick[i].index == gt_space_find(&space, &point);
        assert_int_equal(found, known == 0);
        const struct gt_record_row row = {
            .subject = {tuner.device_key, "f32-nn-512x512x1024", "block", hash,
                        "BM=64 BN=64 BK=8 THREADS=128 OWN=1 TM=4 VA=2 VB=2 PAD=4 DOUBLE=1 "
                        "MINB=1 GROUP=4"},
            .verified = true,
            .time = {
                .median_ns = 2, .low_ns = 1, .high_ns = 3, .samples = 3, .launches = 3}};
        OK(put_local_records(tuner.db, tuner.device_key, "f32-nn-512x512x1024", &row, 1,
                             &err));
    }
    gt_db_close(tuner.db);
    gt_space_clear(&space);
    space = tile;
    gt_seeds_destroy(tuner.seeds);
    tuner.seeds = NULL;
}

static int count_of(const struct gt_starts *s, int in) {
    int n = 0;
    for (int i = 0; i < s->count; i++)
        n += s->pick[i].space == in;
    return n;
}

/* Of a family with long forecasts, one start is tried. */
static void test_no_hopeless_starts_but_one_of_each_family(void **state) {
    enum { TILE, COLUMN, SPACES };
    struct gt_space both[SPACES] = {space};
    struct gt_starts s;
    OK(gt_space_create(&both[COLUMN], gt_families_find(families, "column"), &tuner.device,
                       &problem, &err));
    struct gt_outlook outlook = {.ns =
                                     (float *[]){calloc(both[TILE].count, sizeof(float)),
                                                 calloc(both[COLUMN].count, sizeof(float))},
                                 .space = both,
                                 .spaces = SPACES};
    assert_true(outlook.ns[TILE] && outlook.ns[COLUMN]);
    open_db("hopeless.db");
    static const float factors[] = {2, 2.9F, 3.1F, 5};
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        for (size_t i = 0; i < both[TILE].count; i++)
            outlook.ns[TILE][i] = 1000;
        for (size_t i = 0; i < both[COLUMN].count; i++)
            outlook.ns[COLUMN][i] = 1000 * factors[f];
        OK(gt_starts_find(&s, &tuner, both, SPACES, &outlook, &problem, &err));
        if (factors[f] < 3)
            assert_true(count_of(&s, COLUMN) > 3);
        else
            assert_int_equal(count_of(&s, COLUMN), 1);
        assert_true(count_of(&s, TILE) > 3);
    }
    gt_db_close(tuner.db);
    free(outlook.ns[TILE]);
    free(outlook.ns[COLUMN]);
    gt_space_clear(&both[COLUMN]);
}

/* On a CPU the first family has all its starts, another one its default alone. */
static void test_one_start_of_other_families_on_a_cpu(void **state) {
    enum { TILE, COLUMN, SPACES };
    struct gt_space both[SPACES] = {space};
    struct gt_outlook nothing = {0};
    struct gt_starts s;
    OK(gt_space_create(&both[COLUMN], gt_families_find(families, "column"), &tuner.device,
                       &problem, &err));
    open_db("cpu.db");
    OK(gt_starts_find(&s, &tuner, both, SPACES, &nothing, &problem, &err));
    assert_true(count_of(&s, COLUMN) > 3);
    tuner.device.is_cpu = true;
    OK(gt_starts_find(&s, &tuner, both, SPACES, &nothing, &problem, &err));
    tuner.device.is_cpu = false;
    assert_int_equal(count_of(&s, COLUMN), 1);
    assert_true(count_of(&s, TILE) > 3);
    gt_db_close(tuner.db);
    gt_space_clear(&both[COLUMN]);
}

/* Without a limit copies of whole operands are the fastest. There are finals within 32 MiB
 * and without a workspace too, so the answers of lookups there come before the starts. */
static void test_answers_within_little_workspace(void **state) {
    const struct gt_device usual = tuner.device;
    struct gt_outlook nothing = {0};
    struct gt_space wide;
    struct gt_starts s;
    gemmtune_problem odd;
    int panels = 0, loose = 0;
    tuner.device = device_of("odd", "sm_90", 90, 132);
    tuner.device.smem_max = 232448;
    tuner.device.mem_clock_mhz = 3201;
    tuner.device.bus_bits = 6016;
    tuner.device.l2_bytes = 62914560;
    gt_device_key(&tuner.device, tuner.device_key);
    OK(gt_problem_from_name(&odd, "bf16-nt-4097x4097x4097", &err));
    OK(gt_space_create(&wide, gt_families_find(families, "wgmma"), &tuner.device, &odd,
                       &err));
    open_db("odd.db");
    OK(gt_starts_find(&s, &tuner, &wide, 1, &nothing, &odd, &err));
    for (int i = s.required; i < s.required + 2 && i < s.count; i++) {
        struct gt_point point;
        int64_t repack = 0, producers = 0;
        gt_space_point(&wide, s.pick[i].index, &point);
        assert_true(gt_point_get(&point, "REPACK", &repack));
        assert_true(gt_point_get(&point, "PRODUCERS", &producers));
        panels += repack > 4;
        loose += producers >= 4;
    }
    assert_int_equal(panels, 1);
    assert_int_equal(loose, 1);
    gt_db_close(tuner.db);
    gt_space_clear(&wide);
    tuner.device = usual;
    gt_device_key(&tuner.device, tuner.device_key);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_within_little_workspace),
        cmocka_unit_test(test_the_default_comes_first),
        cmocka_unit_test(test_winners_here_nearest_first),
        cmocka_unit_test(test_a_winner_twice_is_as_near_as_the_nearer),
        cmocka_unit_test(test_all_finalists_of_the_problem_itself),
        cmocka_unit_test(test_finalists_of_the_product_without_its_epilogue),
        cmocka_unit_test(test_the_likeliest_is_a_must),
        cmocka_unit_test(test_the_answer_of_a_lookup_is_the_likeliest),
        cmocka_unit_test(test_a_start_goes_before_a_slightly_better_forecast),
        cmocka_unit_test(test_winners_of_the_likest_device),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_a_default_seed),
        cmocka_unit_test(test_the_rest_as_the_model_expects_it),
        cmocka_unit_test(test_the_other_expected_between_winners_and_starts),
        cmocka_unit_test(test_a_refused_start_stands_for_its_neighbours),
        cmocka_unit_test(test_no_hopeless_starts_but_one_of_each_family),
        cmocka_unit_test(test_one_start_of_other_families_on_a_cpu),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
