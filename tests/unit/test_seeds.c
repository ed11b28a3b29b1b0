/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds: CLBlast's database and the file beside a database, found for a device and a
 * problem, and the legal points that they stand for. */
#include "core/embed.h"
#include "core/json.h"
#include "tests/unit/made_up.h"
#include "tests/unit/short_of_memory.h"
#include "tuner/tune/seeded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct gt_families *families;
static struct gt_seeds *built_in;
static char path[256];

static int setup(void **state) {
    const char *tmp = getenv("TMPDIR");
    (void)state;
    snprintf(path, sizeof path, "%.200s/gt-seeds-test.json", tmp != NULL ? tmp : "/tmp");
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_seeds_create(&built_in, NULL, NULL), GEMMTUNE_OK);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gt_seeds_destroy(built_in);
    gt_families_destroy(families);
    return unlink(path) != 0 && access(path, F_OK) == 0;
}

static struct gt_device gpu(const char *name, const char *vendor, int cc) {
    struct gt_device d =
        MADE_UP(.cc = cc, .units = 20, .clock_mhz = 1700, .mem_bytes = INT64_C(1) << 33,
                .max_alloc = INT64_C(1) << 33, .smem_max = 48 << 10, .has_f64 = true);
    snprintf(d.name, sizeof d.name, "%s", name);
    snprintf(d.vendor, sizeof d.vendor, "%s", vendor);
    return d;
}

static int find(struct gt_seed seed[GT_SEEDS_MAX], const struct gt_seeds *s,
                const struct gt_device *d, const char *problem) {
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, problem, NULL), GEMMTUNE_OK);
    return gt_seeds_find(seed, s, d, &p);
}

/* ---- CLBlast's database ---- */

static struct gt_node kernel_at(struct gt_json *doc, size_t i) {
    return gt_json_at(gt_json_member(gt_json_root(doc), "kernels"), i);
}

static struct gt_json *document(void) {
    struct gt_json *doc = NULL;
    const struct gt_embedded *e = gt_embedded_seeds;
    assert_int_equal(gt_json_parse(&doc, e->path, e->text, strlen(e->text), NULL),
                     GEMMTUNE_OK);
    return doc;
}

/* Each row has a text for vendor, architecture and name, and a list of as many numbers as
 * there are parameters, or null, for each type. */
static void test_rows_are_whole(void **state) {
    struct gt_json *doc = document();
    size_t values = 0;
    (void)state;
    for (size_t k = 0; gt_json_kind(kernel_at(doc, k)) == GT_JSON_OBJECT; k++) {
        const struct gt_node rows = gt_json_member(kernel_at(doc, k), "devices");
        const size_t parameters =
            gt_json_count(gt_json_member(kernel_at(doc, k), "parameters"));
        for (size_t i = 0; i < gt_json_count(rows); i++) {
            const struct gt_node row = gt_json_at(rows, i);
            assert_int_equal(gt_json_count(row), 6);
            for (size_t j = 0; j < 6; j++) {
                const struct gt_node cell = gt_json_at(row, j);
                if (j < 3)
                    assert_int_equal(gt_json_kind(cell), GT_JSON_STRING);
                else if (gt_json_kind(cell) != GT_JSON_NULL)
                    assert_int_equal(gt_json_count(cell), parameters);
                values += j >= 3 && gt_json_kind(cell) == GT_JSON_ARRAY;
            }
        }
    }
    assert_in_range(values, 700, 900);
    gt_json_destroy(doc);
}

/* The points speak of families that there are, and of all their parameters. */
static void test_points_are_whole(void **state) {
    struct gt_json *doc = document();
    int points = 0;
    (void)state;
    for (size_t k = 0; gt_json_kind(kernel_at(doc, k)) == GT_JSON_OBJECT; k++) {
        const struct gt_node list = gt_json_member(kernel_at(doc, k), "points");
        for (size_t i = 0; i < gt_json_count(list); i++, points++) {
            const struct gt_node entry = gt_json_at(list, i),
                                 point = gt_json_member(entry, "point");
            const char *name = "";
            assert_int_equal(gt_json_string(&name, gt_json_member(entry, "family"), NULL),
                             GEMMTUNE_OK);
            const struct gt_family *f = gt_families_find(families, name);
            assert_non_null(f);
            assert_int_equal(gt_json_count(point), f->param_count);
            for (int j = 0; j < f->param_count; j++)
                assert_int_equal(gt_json_kind(gt_json_member(point, f->param[j].name)),
                                 GT_JSON_STRING);
        }
    }
    assert_int_equal(points, 3);
    gt_json_destroy(doc);
}

static void expect(const struct gt_seed *seed, const char *family, const char *point,
                   const char *source, bool named) {
    char text[GT_POINT_TEXT_MAX];
    (void)gt_point_text(&seed->point, text);
    assert_string_equal(seed->family, family);
    assert_string_equal(text, point);
    assert_string_equal(seed->source, source);
    assert_int_equal(seed->named, named);
}

/* CLBlast's row of f32: KWG 32, MDIMC 8, MWG 64, NDIMC 8, NWG 64, SA 1, SB 1, VWM 4, VWN 8;
 * its m is our n. */
static void test_a_device_by_its_name(void **state) {
    const struct gt_device d = gpu("NVIDIA GeForce GTX 1080", "NVIDIA", 61);
    struct gt_seed seed[GT_SEEDS_MAX];
    (void)state;
    assert_int_equal(find(seed, built_in, &d, "f32-tn-999x512x77,beta"), 2);
    expect(&seed[0], "block",
           "BM=64 BN=64 BK=32 THREADS=64 TM=8 VA=8 VB=4 PAD=4 OWN=1 DOUBLE=1 MINB=1 "
           "GROUP=8",
           "CLBlast's xgemm, GeForce GTX 1080", true);
    expect(&seed[1], "block",
           "BM=32 BN=32 BK=32 THREADS=64 TM=4 VA=1 VB=1 PAD=4 OWN=1 DOUBLE=1 MINB=1 "
           "GROUP=8",
           "CLBlast's xgemm_direct, GeForce GTX 1080", true);
    /* without local memory: two families have a counterpart */
    assert_int_equal(find(seed, built_in, &d, "f64-nn-512x512x512"), 3);
    expect(&seed[1], "coalesced", "BX=16 BY=16 EN=2 EM=4 KU=2",
           "CLBlast's xgemm, GeForce GTX 1080", true);
}

static void test_devices(void **state) {
    static const struct {
        const char *name, *vendor;
        int cc;
        const char *source; /* of the first seed */
        bool named;
    } rows[] = {
        {"GeForce GTX 1080 Ti", "NVIDIA Corporation", 0,
         "CLBlast's xgemm, GeForce GTX 1080 Ti", true},
        {"NVIDIA GeForce RTX 9999", "NVIDIA", 61, "CLBlast's xgemm, default of SM6.1",
         false},
        {"NVIDIA GeForce RTX 9999", "NVIDIA", 999, "CLBlast's xgemm, default of NVIDIA",
         false},
        {"Radeon RX 6800 XT", "Advanced Micro Devices, Inc.", 0,
         "CLBlast's xgemm, AMD Radeon RX 6800 XT", true},
        {"gfx906:sramecc-:xnack-", "Advanced Micro Devices, Inc.", 0,
         "CLBlast's xgemm, default of gfx906:sramecc+:xnack-", false},
        {"gfx900", "Advanced Micro Devices, Inc.", 0, "CLBlast's xgemm, default of Vega",
         false},
        {"Intel(R) HD Graphics 5500 BroadWell U-Processor GT2", "Intel", 0,
         "CLBlast's xgemm, Intel(R) HD Graphics 5500 BroadWell U-Processor GT", true},
        {"Intel(R) Graphics [0x1234]", "Intel(R) Corporation", 0,
         "CLBlast's xgemm, default of Intel", false},
        {"some GPU", "a vendor", 0, "CLBlast's xgemm, default of all GPUs", false},
        {"", "", 0, "CLBlast's xgemm, default of all GPUs", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_device d = gpu(rows[i].name, rows[i].vendor, rows[i].cc);
        struct gt_seed seed[GT_SEEDS_MAX];
        assert_in_range(find(seed, built_in, &d, "f32-nn-512x512x512"), 1, GT_SEEDS_MAX);
        assert_string_equal(seed[0].source, rows[i].source);
        assert_int_equal(seed[0].named, rows[i].named);
    }
}

static void test_none(void **state) {
    struct gt_device d = gpu("NVIDIA GeForce GTX 1080", "NVIDIA", 61);
    struct gt_seed seed[GT_SEEDS_MAX];
    (void)state;
    assert_int_equal(find(seed, built_in, &d, "bf16-nn-512x512x512"), 0);
    assert_int_equal(find(seed, built_in, &d, "tf32-nn-512x512x512"), 0);
    d.is_cpu = true;
    assert_int_equal(find(seed, built_in, &d, "f32-nn-512x512x512"), 0);
}

/* The legal points are the seeds, or near them. */
static void test_legal_points(void **state) {
    const struct gt_device d = gpu("NVIDIA GeForce GTX 1080", "NVIDIA", 61);
    struct gt_seeded seeded;
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-512x512x512", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_seeded_find(&seeded, built_in, families, &d, &p, NULL),
                     GEMMTUNE_OK);
    assert_int_equal(seeded.count, 2);
    /* VA=8 is not in the family's list */
    assert_string_equal(seeded.at[0].point,
                        "BM=64 BN=64 BK=32 THREADS=64 OWN=1 TM=8 VA=4 VB=4 PAD=4 DOUBLE=1 "
                        "MINB=1 GROUP=8");
    assert_string_equal(gt_seeded_source(&seeded, "block", seeded.at[1].point),
                        "CLBlast's xgemm_direct, GeForce GTX 1080");
    assert_null(gt_seeded_source(&seeded, "tile", seeded.at[1].point));
    assert_null(gt_seeded_source(&seeded, "block", "BM=16"));
}

static void test_far_away(void **state) {
    const struct gt_device d = gpu("x", "NVIDIA", 61);
    struct gt_seed seed = {.family = "tile"};
    struct gt_space space;
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-512x512x512", NULL), GEMMTUNE_OK);
    assert_int_equal(
        gt_space_create(&space, gt_families_find(families, "tile"), &d, &p, NULL),
        GEMMTUNE_OK);
    assert_int_equal(gt_point_parse(&seed.point, "TILE_WIDTH=40 PAD=1", NULL), GEMMTUNE_OK);
    assert_true(gt_seed_place(&seed, &space) != SIZE_MAX);
    assert_int_equal(gt_point_parse(&seed.point, "TILE_WIDTH=256 PAD=1", NULL),
                     GEMMTUNE_OK);
    assert_true(gt_seed_place(&seed, &space) == SIZE_MAX);
    gt_space_clear(&space);
}

/* ---- the file ---- */

static struct gt_seed_row row_of(const char *device, const char *problem,
                                 const char *kernel, const char *point,
                                 const char *source) {
    struct gt_seed_row row = {.device = device,
                              .problem = problem,
                              .kernel = kernel,
                              .source = source,
                              .ns = 1.25e6};
    assert_int_equal(gt_point_parse(&row.point, point, NULL), GEMMTUNE_OK);
    return row;
}

#define XGEMM "KWG=32 MDIMC=8 MWG=64 NDIMC=8 NWG=32 SA=1 SB=1 VWM=2 VWN=2"

static void test_file(void **state) {
    struct gt_device d = gpu("A card", "a vendor", 0);
    struct gt_seed_row rows[] = {
        row_of("A card", "f32-nn-64x64x64", "xgemm", XGEMM, "Kernel Tuner, \"x\".json"),
        row_of("A card", "f32-nn-64x64x64", "tile", "TILE_WIDTH=8 PAD=1 DOUBLE=1", "T4, x"),
        row_of("Another", "f32-nn-64x64x64", "tile", "TILE_WIDTH=4 PAD=1 DOUBLE=1", "T4"),
    };
    struct gt_seeds *s = NULL;
    struct gt_seed seed[GT_SEEDS_MAX];
    (void)state;
    (void)unlink(path);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(gt_seeds_keep(path, &rows[i], 1, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_seeds_create(&s, path, NULL), GEMMTUNE_OK);
    d.is_cpu = true; /* no built-in ones */
    assert_int_equal(find(seed, s, &d, "f32-nn-512x512x512"), 2);
    expect(&seed[0], "tile", "TILE_WIDTH=8 PAD=1 DOUBLE=1", "T4, x", true); /* the newest */
    expect(&seed[1], "block",
           "BM=32 BN=64 BK=32 THREADS=64 TM=4 VA=2 VB=2 PAD=4 OWN=1 DOUBLE=1 MINB=1 "
           "GROUP=8",
           "Kernel Tuner, \"x\".json", true);
    /* CLBlast's kernels are the same for all layouts, ours are not */
    assert_int_equal(find(seed, s, &d, "f32-tt-512x512x512"), 1);
    assert_string_equal(seed[0].family, "block");
    assert_int_equal(find(seed, s, &d, "f64-nn-512x512x512"), 0);
    d.is_cpu = false;
    assert_in_range(find(seed, s, &d, "f32-nn-512x512x512"), 3, GT_SEEDS_MAX);
    gt_seeds_destroy(s);

    /* the same source, device and problem again replaces its seeds */
    rows[0] = row_of("A card", "f32-nn-64x64x64", "tile", "TILE_WIDTH=16 PAD=1 DOUBLE=1",
                     "Kernel Tuner, \"x\".json");
    assert_int_equal(gt_seeds_keep(path, rows, 1, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_seeds_create(&s, path, NULL), GEMMTUNE_OK);
    d.is_cpu = true;
    assert_int_equal(find(seed, s, &d, "f32-nn-512x512x512"), 2);
    expect(&seed[0], "tile", "TILE_WIDTH=16 PAD=1 DOUBLE=1", "Kernel Tuner, \"x\".json",
           true);
    expect(&seed[1], "tile", "TILE_WIDTH=8 PAD=1 DOUBLE=1", "T4, x", true);
    gt_seeds_destroy(s);

    /* seeds of the very problem come before newer ones */
    rows[0] = row_of("A card", "f32-nn-512x512x512", "tile", "TILE_WIDTH=32 PAD=1 DOUBLE=1",
                     "of the problem");
    rows[1] =
        row_of("A card", "f32-nn-9x9x9", "tile", "TILE_WIDTH=2 PAD=1 DOUBLE=1", "new");
    assert_int_equal(gt_seeds_keep(path, &rows[0], 1, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_seeds_keep(path, &rows[1], 1, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_seeds_create(&s, path, NULL), GEMMTUNE_OK);
    assert_int_equal(find(seed, s, &d, "f32-nn-512x512x512"), 4);
    assert_string_equal(seed[0].source, "of the problem");
    assert_string_equal(seed[1].source, "new");
    gt_seeds_destroy(s);
    (void)unlink(path);
}

/* Another form of CLBlast's kernel has no counterpart. */
static void test_another_form(void **state) {
    struct gt_point theirs, ours;
    (void)state;
    assert_int_equal(gt_point_parse(&theirs, XGEMM " KREG=1 GEMMK=0", NULL), GEMMTUNE_OK);
    assert_string_equal(gt_seeds_kernel(&ours, built_in, &theirs), "xgemm");
    assert_int_equal(ours.count, 9);
    assert_int_equal(gt_point_set(&theirs, "GEMMK", 1, NULL), GEMMTUNE_OK);
    assert_null(gt_seeds_kernel(&ours, built_in, &theirs));
    assert_int_equal(gt_point_parse(&theirs, "BX=1 BY=2", NULL), GEMMTUNE_OK);
    assert_null(gt_seeds_kernel(&ours, built_in, &theirs));
}

static void write_text(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

#define SEED(device, problem, kernel, point, ns)                                           \
    "{\"format\": 1, \"seeds\": [{\"device\": \"" device "\", \"problem\": \"" problem     \
    "\", \"kernel\": \"" kernel "\", \"point\": \"" point                                  \
    "\", \"source\": \"s\", \"ns\": " ns "}]}"

static void test_damaged_files(void **state) {
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"", "gt-seeds-test.json"},
        {"[]", "must be an object"},
        {"{\"format\": 2, \"seeds\": []}", "/format: must be 1"},
        {"{\"format\": 1}", "seeds"},
        {"{\"format\": 1, \"seeds\": {}}", "/seeds: must be a list"},
        {"{\"format\": 1, \"seeds\": [], \"x\": 1}", "/x: unknown key"},
        {"{\"format\": 1, \"seeds\": [1]}", "/seeds/0"},
        {SEED("", "f32-nn-1x1x1", "tile", "A=1", "1"), "/seeds/0/device"},
        {SEED("d", "f32-nn-1x1", "tile", "A=1", "1"), "/seeds/0: "},
        {SEED("d", "f32-nn-1x1x1", "a kernel with a name that is long", "A=1", "1"),
         "/seeds/0/kernel"},
        {SEED("d", "f32-nn-1x1x1", "tile", "A=x", "1"), "/seeds/0: "},
        {SEED("d", "f32-nn-1x1x1", "tile", "A=1", "-1"), "/seeds/0/ns"},
        {SEED("d", "f32-nn-1x1x1", "tile", "A=1", "null"), "/seeds/0/ns"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_seed_row row =
            row_of("d", "f32-nn-1x1x1", "tile", "TILE_WIDTH=4", "s");
        struct gt_seeds *s = NULL;
        struct gt_err err = {""};
        write_text(rows[i].text);
        assert_int_equal(gt_seeds_create(&s, path, &err), GEMMTUNE_EPARSE);
        assert_null(s);
        if (strstr(err.line, rows[i].reason) == NULL)
            fail_msg("%s: \"%s\"", rows[i].text, err.line);
        /* a damaged file is not overwritten */
        assert_int_equal(gt_seeds_keep(path, &row, 1, &err), GEMMTUNE_EPARSE);
    }
    (void)unlink(path);
}

static void test_path(void **state) {
    char text[24];
    (void)state;
    assert_true(gt_seeds_path(text, sizeof text, "/a/b.db"));
    assert_string_equal(text, "/a/b.db.seeds.json");
    assert_false(gt_seeds_path(text, sizeof text, "/a/longer/b.db"));
}

static void test_memory(void **state) {
    gt_status status = GEMMTUNE_ENOMEM;
    struct gt_seeds *s = NULL;
    (void)state;
    if (__real_malloc == NULL)
        skip();
    for (int i = 0; status != GEMMTUNE_OK && i < 20000; i += 1 + i / 8) {
        allocations_left = i;
        status = gt_seeds_create(&s, NULL, NULL);
        allocations_left = -1;
        assert_true(status == GEMMTUNE_OK || status == GEMMTUNE_ENOMEM);
        assert_true((status == GEMMTUNE_OK) == (s != NULL));
    }
    assert_int_equal(status, GEMMTUNE_OK);
    gt_seeds_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_whole),
        cmocka_unit_test(test_points_are_whole),
        cmocka_unit_test(test_a_device_by_its_name),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_legal_points),
        cmocka_unit_test(test_far_away),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_another_form),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
