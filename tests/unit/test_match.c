/* SPDX-License-Identifier: Apache-2.0 */
/* Which record serves a problem: a small database's worth of records, and known answers. */
#include "runtime/match.h"

#include "db/db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define HERE  "card-a"
#define THERE "card-b"

/* A fast family that is choosy, and a plain one that is not. */
static const char choosy[] =
    "{\"format\": 1, \"family\": \"choosy\", \"about\": \"\", \"rank\": 1,"
    "\"source\": {\"cuda\": \"x\"}, \"entry\": \"gemm\", \"dtypes\": [\"f32\", \"i32\"],"
    "\"layouts\": [\"nn\", \"nt\"], \"params\": {\"V\": [1, 2, 4], \"W\": [8, 64]},"
    "\"default\": {\"V\": 4, \"W\": 8},"
    "\"require\": [[\"W * W <= MAX_THREADS\", \"too many threads\"]],"
    "\"accept\": [[\"K >= 4\", \"a short sum\"]],"
    "\"align\": [\"V * sizeof(A)\", \"V * sizeof(B)\", \"sizeof(C)\"],"
    "\"launch\": {\"block\": [\"W\", \"W\", \"1\"], \"grid\": [\"cdiv(N, W)\","
    "\"cdiv(M, W)\", \"1\"], \"workspace\": \"V == 2 ? 4096 : 0\"},"
    "\"shape\": {\"tile_m\": \"W\", \"tile_n\": \"W\", \"tile_k\": \"16\", \"loads\": "
    "\"32\"},"
    "\"args\": [\"alpha\", \"a\", \"b\", \"beta\", \"c\"]}";

static const char plain[] =
    "{\"format\": 1, \"family\": \"plain\", \"about\": \"\", \"rank\": 9,"
    "\"source\": {\"cuda\": \"x\"}, \"entry\": \"gemm\", \"dtypes\": [\"f32\", \"i32\", "
    "\"f64\"],"
    "\"layouts\": [\"nn\", \"nt\", \"tn\"], \"params\": {}, \"default\": {},"
    "\"launch\": {\"block\": [\"32\", \"1\", \"1\"], \"grid\": [\"cdiv(M * N, 32)\", \"1\","
    "\"1\"]}, \"shape\": {\"tile_m\": \"1\", \"tile_n\": \"32\", \"tile_k\": \"1\", "
    "\"loads\": \"2\"},"
    "\"args\": [\"alpha\", \"a\", \"b\", \"beta\", \"c\"]}";

/* One that may split k. */
static const char deep[] =
    "{\"format\": 1, \"family\": \"deep\", \"about\": \"\", \"rank\": 9,"
    "\"source\": {\"cuda\": \"x\"}, \"entry\": \"gemm\", \"dtypes\": [\"i32\"],"
    "\"layouts\": [\"nn\", \"nt\", \"tn\"],"
    "\"params\": {\"BM\": [32, 128], \"BN\": [32, 128], \"SPLIT\": [1, 8, 64]},"
    "\"default\": {\"BM\": 32, \"BN\": 32, \"SPLIT\": 1},"
    "\"starts\": [{\"BM\": 32, \"BN\": 32, \"SPLIT\": 64}],"
    "\"launch\": {\"block\": [\"128\", \"1\", \"1\"], \"grid\": [\"cdiv(M, BM) * cdiv(N, "
    "BN) *"
    " SPLIT\", \"1\", \"1\"], \"workspace\": \"SPLIT > 1 ? SPLIT * M * N * 4 : 0\"},"
    "\"shape\": {\"tile_m\": \"BM\", \"tile_n\": \"BN\", \"tile_k\": \"16\", \"split\": "
    "\"SPLIT\","
    "\"ahead\": \"1\", \"loads\": \"64\", \"moved\": \"SPLIT > 1 ? 8 * SPLIT * M * N : "
    "0\"},"
    "\"args\": [\"alpha\", \"a\", \"b\", \"beta\", \"c\", \"workspace\"]}";

static const struct gt_device card = {.backend = GEMMTUNE_CUDA,
                                      .name = "Card A",
                                      .arch = "sm_90",
                                      .cc = 90,
                                      .units = 132,
                                      .warp = 32,
                                      .max_threads = 1024,
                                      .smem_max = 49152,
                                      .has_f64 = true};

static struct gt_families *families;

/* ---- families, from a folder; the built-in ones rank behind both ------------------- */

static char folder[512];

static void path_of(char path[1024], const char *family, const char *name) {
    (void)snprintf(path, 1024, "%s/%s%s", folder, family, name);
}

static int write_file(const char *family, const char *name, const char *text) {
    char path[1024];
    path_of(path, family, name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return 1;
    const int bad = fputs(text, file) < 0;
    return fclose(file) != 0 || bad;
}

static int make_family(const char *family, const char *json) {
    char path[1024];
    path_of(path, family, "");
    return mkdir(path, 0700) != 0 || write_file(family, "/space.json", json) ||
           write_file(family, "/x", "text");
}

static void remove_family(const char *family) {
    static const char *const names[] = {"/space.json", "/x", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        path_of(path, family, names[i]);
        (void)remove(path);
    }
}

static int setup(void **state) {
    const char *tmp = getenv("TMPDIR");
    struct gt_err err = {""};
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s/gt-match-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL || make_family("choosy", choosy) ||
        make_family("plain", plain) || make_family("deep", deep))
        return 1;
    if (gt_families_create(&families, &err) != GEMMTUNE_OK)
        return 1;
    return gt_families_add_folder(families, folder, &err) != GEMMTUNE_OK;
}

static int teardown(void **state) {
    (void)state;
    gt_families_destroy(families);
    remove_family("choosy");
    remove_family("plain");
    remove_family("deep");
    (void)rmdir(folder);
    return 0;
}

/* ---- records ------------------------------------------------------------------------ */

struct row {
    const char *device, *problem, *family, *point;
    int rank;
    bool unverified;
};

enum { ROWS_MAX = 16 };
static struct gt_known known[ROWS_MAX];

static struct gt_known known_of(const struct row *row) {
    struct gt_known k = {.rank = row->rank,
                         .verified = !row->unverified,
                         .family = gt_families_find(families, row->family)};
    assert_non_null(k.family);
    assert_int_equal(gt_problem_from_name(&k.problem, row->problem, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_point_parse(&k.point, row->point, NULL), GEMMTUNE_OK);
    /* equally good kernels, each slower than those ranked before it */
    k.median_ns = (1000 + gt_problem_flops(&k.problem) / 1e4) * (1 + 0.5 * row->rank);
    (void)gt_problem_name(&k.problem, k.problem_name);
    (void)snprintf(k.device_key, sizeof k.device_key, "%s", row->device);
    (void)snprintf(k.arch, sizeof k.arch, "%s",
                   strcmp(row->device, "old") ? "sm_90" : "sm_61");
    return k;
}

static struct gt_snapshot snapshot_of(const struct row *rows, size_t count) {
    assert_true(count <= ROWS_MAX);
    for (size_t i = 0; i < count; i++)
        known[i] = known_of(&rows[i]);
    return (struct gt_snapshot){families, known, count};
}

static const struct row rows[] = {
    {HERE, "f32-nn-512x512x512", "choosy", "V=4 W=8", 0, false},     /* 0 */
    {HERE, "f32-nn-512x512x512", "choosy", "V=1 W=8", 1, false},     /* 1 */
    {HERE, "f32-nn-512x512x512", "plain", "", 2, false},             /* 2 */
    {HERE, "f32-nn-1024x1024x1024", "choosy", "V=2 W=8", 0, false},  /* 3 */
    {HERE, "f32-nn-2048x2048x64", "choosy", "V=1 W=8", 0, true},     /* 4 */
    {THERE, "f32-nn-4096x4096x4096", "choosy", "V=1 W=8", 0, false}, /* 5 */
    {THERE, "i32-nt-300x300x300", "choosy", "V=1 W=8", 0, false},    /* 6 */
    {THERE, "i32-nt-900x900x900", "plain", "", 0, false},            /* 7 */
    {"old", "f64-nn-64x64x64", "plain", "", 0, false},               /* 8 */
    {HERE, "f32-nt-200x200x200", "choosy", "V=1 W=64", 0, false}, /* 9: refused by a rule */
    {HERE, "f32-nn-1024x1024x1024", "plain", "", 3, false},       /* 10 */
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- questions ------------------------------------------------------------------------ */

struct question {
    const char *problem;
    gemmtune_match worst;
    size_t workspace_max;
    int64_t pointer_align;
    bool (*skip)(void *user, const struct gt_choice *c);
    void *user;
};

static gt_status ask(struct gt_choice *out, const struct gt_snapshot *s, struct question q,
                     struct gt_err *err) {
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, q.problem, NULL), GEMMTUNE_OK);
    return gt_match(out, s, &card, HERE, &p, q.worst, q.workspace_max,
                    q.pointer_align != 0 ? q.pointer_align : 16, q.skip, q.user, err);
}

#define EXACT   GEMMTUNE_MATCH_EXACT
#define SHAPE   GEMMTUNE_MATCH_SHAPE
#define ARCH    GEMMTUNE_MATCH_ARCH
#define DEFAULT GEMMTUNE_MATCH_DEFAULT

static void test_known_answers(void **state) {
    static const struct {
        struct question q;
        gemmtune_match match;
        int row; /* of rows; -1: a default point */
        const char *why;
    } asked[] = {
        {{.problem = "f32-nn-512x512x512", .worst = DEFAULT},
         EXACT,
         0,
         "tuned on this device for this very problem, rank 0"},
        {{.problem = "f32-nn-512x512x512", .worst = EXACT}, EXACT, 0, "rank 0"},
        /* pointers that are not aligned: the next rank */
        {{.problem = "f32-nn-512x512x512", .worst = DEFAULT, .pointer_align = 4},
         EXACT,
         1,
         "rank 1"},
        /* too short a sum for the choosy family: nearest by shape that accepts */
        {{.problem = "f32-nn-512x512x3", .worst = SHAPE}, SHAPE, 2, "f32-nn-512x512x512"},
        /* log2(768/512) = 0.58 in m alone; 1024 is 2.5 steps off */
        {{.problem = "f32-nn-768x512x512", .worst = SHAPE},
         SHAPE,
         0,
         "tuned on this device for f32-nn-512x512x512 (distance 0.58), forecast "},
        /* nearer to 1024, whose winner needs a workspace; who has less gets what needs none: not
         * the slow finalist of 1024 */
        {{.problem = "f32-nn-1000x1000x1000", .worst = SHAPE, .workspace_max = 4096},
         SHAPE,
         3,
         "f32-nn-1024x1024x1024"},
        {{.problem = "f32-nn-1000x1000x1000", .worst = SHAPE, .workspace_max = 4095},
         SHAPE,
         0,
         "f32-nn-512x512x512"},
        {{.problem = "f32-nn-1024x1024x1024", .worst = EXACT, .workspace_max = 4096},
         EXACT,
         3,
         "rank 0"},
        {{.problem = "f32-nn-1024x1024x1024", .worst = EXACT}, EXACT, 10, "rank 3"},
        /* rows of 1003 elements: no vectors */
        {{.problem = "f32-nn-512x512x1003", .worst = SHAPE},
         SHAPE,
         1,
         "f32-nn-512x512x512"},
        /* the same sizes with another leading dimension or beta are another problem */
        {{.problem = "f32-nn-512x512x512,beta", .worst = SHAPE},
         SHAPE,
         0,
         "(distance 0.00)"},
        {{.problem = "f32-nn-512x512x512,lda=513", .worst = SHAPE},
         SHAPE,
         1,
         "(distance 0.00)"},
        /* a row that was measured elsewhere is not for who wants no such thing, whatever the problem */
        {{.problem = "f32-nn-2048x2048x64", .worst = SHAPE, .workspace_max = 4096},
         SHAPE,
         0,
         "f32-nn-512"},
        /* for others it is the first choice for its own problem */
        {{.problem = "f32-nn-2048x2048x64", .worst = DEFAULT},
         ARCH,
         4,
         "tuned elsewhere, not verified here, for this very problem, rank 0"},
        /* nothing of its types here: another device of the architecture */
        {{.problem = "i32-nt-300x300x300", .worst = DEFAULT},
         ARCH,
         6,
         "tuned on card-b (also sm_90) for this very problem, rank 0"},
        {{.problem = "i32-nt-400x400x400", .worst = ARCH},
         ARCH,
         6,
         "tuned on card-b (also sm_90) for i32-nt-300x300x300 (distance 0.72), forecast "},
        /* another architecture is no help */
        {{.problem = "f64-nn-64x64x64", .worst = DEFAULT},
         DEFAULT,
         -1,
         "nothing of its types was tuned for this"},
        /* in another layout, of a family that has both */
        {{.problem = "f32-tn-64x64x64", .worst = SHAPE}, SHAPE, 2, "f32-nn-512x512x512"},
        /* sizes of 0 are planned too */
        {{.problem = "f32-nn-0x512x512", .worst = SHAPE}, SHAPE, 0, "f32-nn-512x512x512"},
        {{.problem = "f32-nn-512x512x0", .worst = SHAPE}, SHAPE, 2, "f32-nn-512x512x512"},
    };
    const struct gt_snapshot s = snapshot_of(rows, ROWS);
    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct gt_choice c;
        struct gt_err err = {""};
        const gt_status status = ask(&c, &s, asked[i].q, &err);
        if (status != GEMMTUNE_OK || c.match != asked[i].match ||
            c.known != (asked[i].row < 0 ? NULL : &known[asked[i].row]) ||
            strstr(c.why, asked[i].why) == NULL)
            fail_msg("question %zu, %s: match %d, row %d, why \"%s\", error \"%s\"", i,
                     asked[i].q.problem, (int)c.match,
                     c.known != NULL ? (int)(c.known - known) : -1, c.why, err.line);
        if (c.known != NULL)
            assert_true(c.family == c.known->family &&
                        gt_point_equal(&c.point, &c.known->point));
    }
}

/* Nothing is known: the best start by forecast, as it stands in its family's file. */
static void test_default_points(void **state) {
    const struct gt_snapshot s = {families, NULL, 0};
    struct gt_choice c;
    struct gt_point start;
    (void)state;
    assert_int_equal(ask(&c, &s,
                         (struct question){.problem = "f32-nn-64x64x64", .worst = DEFAULT},
                         NULL),
                     GEMMTUNE_OK);
    assert_int_equal(c.match, DEFAULT);
    assert_null(c.known);
    assert_non_null(strstr(c.why, c.family->name));
    assert_non_null(strstr(c.why, ", forecast "));
    assert_non_null(strstr(c.why, ": nothing was tuned for this architecture"));
    bool found = false;
    for (int i = 0; i <= c.family->start_count; i++) {
        if (i < c.family->start_count)
            gt_family_start(c.family, i, &start);
        else
            gt_family_default(c.family, &start);
        found = found || gt_point_equal(&start, &c.point);
    }
    assert_true(found);
}

static void test_nothing_found(void **state) {
    const struct gt_snapshot none = {families, NULL, 0};
    const struct gt_snapshot s = snapshot_of(rows, ROWS);
    const struct gt_known refused = known_of(&rows[9]);
    const struct gt_snapshot one = {families, &refused, 1};
    const struct {
        const struct gt_snapshot *s;
        struct question q;
        gt_status status;
        const char *said;
    } asked[] = {
        {&none,
         {.problem = "f32-nn-8x8x8", .worst = ARCH},
         GEMMTUNE_ENOTFOUND,
         "no kernel for f32-nn-8x8x8 on card-a: 0 tuned kernels considered"},
        {&s,
         {.problem = "f32-nn-513x512x512", .worst = EXACT},
         GEMMTUNE_ENOTFOUND,
         "0 tuned kernels considered"},
        {&one,
         {.problem = "f32-nt-200x200x200", .worst = SHAPE},
         GEMMTUNE_ENOTFOUND,
         "1 tuned kernels considered, last refused: too many threads"},
        {&s,
         {.problem = "f32-nn-512x512x512", .worst = EXACT, .pointer_align = 2},
         GEMMTUNE_ENOTFOUND,
         "3 tuned kernels considered, last refused: the rows of A"},
        {&s,
         {.problem = "bf16-nn-8x8x8", .worst = DEFAULT},
         GEMMTUNE_EUNSUPPORTED,
         "no kernel family serves bf16-nn-8x8x8 on card-a"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct gt_choice c;
        struct gt_err err = {""};
        assert_int_equal(ask(&c, asked[i].s, asked[i].q, &err), asked[i].status);
        if (strstr(err.line, asked[i].said) == NULL)
            fail_msg("%zu: \"%s\" lacks \"%s\"", i, err.line, asked[i].said);
    }
}

/* ---- forecasts ---------------------------------------------------------------------------- */

static int64_t split_of(const struct gt_choice *c) {
    int64_t split = 0;
    return gt_point_get(&c->point, "SPLIT", &split) ? split : 1;
}

static struct gt_choice answer_of(const struct gt_snapshot *s, const char *problem,
                                  gemmtune_match worst, size_t workspace_max) {
    struct gt_choice c;
    struct gt_err err = {""};
    const gt_status status =
        ask(&c, s,
            (struct question){
                .problem = problem, .worst = worst, .workspace_max = workspace_max},
            &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    return c;
}

/* A near record's point with k split otherwise, for who gives the workspace. */
static void test_split(void **state) {
    static const struct row tuned[] = {
        {HERE, "i32-nn-64x64x512", "deep", "BM=32 BN=32 SPLIT=1", 0, false}};
    const struct gt_snapshot s = snapshot_of(tuned, 1);
    (void)state;
    struct gt_choice c = answer_of(&s, "i32-nn-32x32x60000", SHAPE, SIZE_MAX);
    assert_int_equal(c.match, SHAPE);
    assert_ptr_equal(c.known, &known[0]);
    assert_int_equal(split_of(&c), 64);
    assert_int_equal(c.workspace_bytes, 64 * 32 * 32 * 4);
    assert_non_null(strstr(c.why, "with SPLIT=64, forecast"));
    c = answer_of(&s, "i32-nn-32x32x60000", SHAPE, 64 * 32 * 32 * 4 - 1);
    assert_int_equal(split_of(&c), 8);
    c = answer_of(&s, "i32-nn-32x32x60000", SHAPE, 0);
    assert_int_equal(split_of(&c), 1);
    /* enough tiles as it is: nothing is gained */
    c = answer_of(&s, "i32-nn-4096x4096x512", SHAPE, SIZE_MAX);
    assert_int_equal(split_of(&c), 1);
    /* the very problem gets what was measured */
    c = answer_of(&s, "i32-nn-64x64x512", DEFAULT, SIZE_MAX);
    assert_int_equal(c.match, EXACT);
    assert_int_equal(split_of(&c), 1);
}

/* As far away, the faster; and a small tile where a large one would leave most of the device idle. */
static void test_forecast(void **state) {
    static const struct row tuned[] = {
        {HERE, "i32-nn-2048x2048x1024", "deep", "BM=128 BN=128 SPLIT=1", 0, false},
        {HERE, "i32-nn-2048x2048x1024", "deep", "BM=32 BN=32 SPLIT=1", 1, false},
    };
    const struct gt_snapshot s = snapshot_of(tuned, 2);
    (void)state;
    struct gt_choice c = answer_of(&s, "i32-nn-2048x2048x1000", SHAPE, 0);
    assert_ptr_equal(c.known, &known[0]);
    c = answer_of(&s, "i32-nn-256x256x1024", SHAPE, 0);
    assert_ptr_equal(c.known, &known[1]);
    /* whichever stands first in the database */
    known[0].median_ns *= 4;
    c = answer_of(&s, "i32-nn-2048x2048x1000", SHAPE, 0);
    assert_ptr_equal(c.known, &known[1]);
}

/* The same layout is preferred, but not at any price. */
static void test_layouts(void **state) {
    static const struct row tuned[] = {
        {HERE, "i32-nn-512x512x512", "deep", "BM=32 BN=32 SPLIT=1", 0, false},
        {HERE, "i32-nt-512x512x512", "deep", "BM=128 BN=32 SPLIT=1", 0, false},
    };
    const struct gt_snapshot s = snapshot_of(tuned, 2);
    (void)state;
    struct gt_choice c = answer_of(&s, "i32-nt-500x512x512", SHAPE, 0);
    assert_ptr_equal(c.known, &known[1]);
    c = answer_of(&s, "i32-nn-500x512x512", SHAPE, 0);
    assert_ptr_equal(c.known, &known[0]);
    known[1].median_ns *= 10;
    c = answer_of(&s, "i32-nt-500x512x512", SHAPE, 0);
    assert_ptr_equal(c.known, &known[0]);
    assert_int_equal(c.match, SHAPE);
}

/* However much better a row that was not verified here promises to be. */
static void test_unverified_is_behind(void **state) {
    static const struct row tuned[] = {
        {HERE, "i32-nn-512x512x512", "deep", "BM=32 BN=32 SPLIT=1", 0, true},
        {HERE, "i32-nn-4096x64x512", "deep", "BM=32 BN=128 SPLIT=1", 0, false},
    };
    const struct gt_snapshot s = snapshot_of(tuned, 2);
    (void)state;
    known[1].median_ns *= 3;
    struct gt_choice c = answer_of(&s, "i32-nn-512x512x500", ARCH, 0);
    assert_ptr_equal(c.known, &known[1]);
    c = answer_of(&s, "i32-nn-512x512x512", ARCH, 0); /* but for its own problem */
    assert_ptr_equal(c.known, &known[0]);
}

/* Every row is preferred to all that follow it, wherever it stands in the database. */
static void test_preference(void **state) {
    static const struct {
        struct row row;
        gemmtune_match match;
    } best[] = {
        {{HERE, "i32-nn-512x512x512", "deep", "BM=128 BN=128 SPLIT=1", 0, false}, EXACT},
        {{HERE, "i32-nn-512x512x512", "deep", "BM=128 BN=32 SPLIT=1", 0, true}, ARCH},
        {{HERE, "i32-nn-512x512x512", "deep", "BM=32 BN=128 SPLIT=1", 1, true}, ARCH},
        {{HERE, "i32-nn-512x512x500", "deep", "BM=32 BN=32 SPLIT=1", 0, false}, SHAPE},
        {{THERE, "i32-nn-512x512x512", "deep", "BM=128 BN=32 SPLIT=8", 0, false}, ARCH},
        {{HERE, "i32-nn-512x512x520", "deep", "BM=32 BN=128 SPLIT=8", 0, true}, ARCH},
    };
    enum { COUNT = sizeof best / sizeof *best };
    (void)state;
    for (int first = 0; first < COUNT; first++) {
        struct row shuffled[COUNT];
        const int count = COUNT - first;
        for (int i = 0; i < count; i++)
            shuffled[i] = best[COUNT - 1 - i].row;
        const struct gt_snapshot s = snapshot_of(shuffled, (size_t)count);
        const struct gt_choice c = answer_of(&s, "i32-nn-512x512x512", ARCH, SIZE_MAX);
        if (c.known != &known[count - 1] || c.match != best[first].match)
            fail_msg("%d: match %d, %s", first, (int)c.match, c.why);
    }
}

/* The GPU of a database that nobody has tuned on. */
static struct gt_device a_gpu(void) {
    struct gt_device d = card;
    d.regs_per_block = 65536;
    d.smem_max = 232448;
    d.clock_mhz = 1980;
    d.mem_clock_mhz = 3201;
    d.bus_bits = 6016;
    return d;
}

static void test_untuned_deep(void **state) {
    static const char *const names[] = {"f32-nn-32x32x60000", "f32-tt-32x32x60000",
                                        "f64-nt-32x32x60000", "i32-nn-64x64x60000"};
    const struct gt_device d = a_gpu();
    const struct gt_snapshot none = {families, NULL, 0};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct gt_choice c;
        gemmtune_problem p;
        assert_int_equal(gt_problem_from_name(&p, names[i], NULL), GEMMTUNE_OK);
        assert_int_equal(
            gt_match(&c, &none, &d, HERE, &p, DEFAULT, SIZE_MAX, 16, NULL, NULL, NULL),
            GEMMTUNE_OK);
        if (split_of(&c) < 16)
            fail_msg("%s: %s %s", names[i], c.family->name, c.why);
    }
}

/* A far record does not keep a much better start from being taken, unless records alone are asked
 * for. */
static void test_far_record(void **state) {
    static const struct row tuned[] = {
        {HERE, "f32-nn-4096x4096x4096", "plain", "", 0, false}};
    const struct gt_snapshot s = snapshot_of(tuned, 1);
    (void)state;
    struct gt_choice c = answer_of(&s, "f32-nn-32x32x60000", DEFAULT, SIZE_MAX);
    assert_int_equal(c.match, DEFAULT);
    assert_null(c.known);
    if (split_of(&c) == 1)
        fail_msg("%s: %s", c.family->name, c.why);
    assert_non_null(strstr(c.why, "what was tuned is too far away"));
    c = answer_of(&s, "f32-nn-32x32x60000", ARCH, SIZE_MAX);
    assert_int_equal(c.match, SHAPE);
    assert_ptr_equal(c.known, &known[0]);
}

/* A CPU takes the first family's default as it is. */
static void test_cpu_default(void **state) {
    const struct gt_device cpu = {.backend = GEMMTUNE_OPENCL,
                                  .name = "CPU",
                                  .arch = "cpu",
                                  .units = 2,
                                  .warp = 1,
                                  .max_threads = 4096,
                                  .smem_max = 2097152,
                                  .has_f64 = true,
                                  .is_cpu = true};
    const struct gt_snapshot none = {families, NULL, 0};
    struct gt_choice c;
    struct gt_point preset;
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-32x32x60000", NULL), GEMMTUNE_OK);
    assert_int_equal(
        gt_match(&c, &none, &cpu, HERE, &p, DEFAULT, SIZE_MAX, 16, NULL, NULL, NULL),
        GEMMTUNE_OK);
    assert_string_equal(c.family->name, "vector");
    gt_family_default(c.family, &preset);
    assert_true(gt_point_equal(&c.point, &preset));
    assert_string_equal(
        c.why, "default point of family vector: nothing was tuned for this architecture");
    /* a record serves its own layout: nothing says how fast it would be in another */
    static const struct row tuned[] = {
        {HERE, "f32-nt-64x64x64", "tile", "TILE_WIDTH=16 PAD=0 DOUBLE=0", 0, false}};
    const struct gt_snapshot one = snapshot_of(tuned, 1);
    assert_int_equal(
        gt_match(&c, &one, &cpu, HERE, &p, DEFAULT, SIZE_MAX, 16, NULL, NULL, NULL),
        GEMMTUNE_OK);
    assert_string_equal(c.family->name, "vector");
    assert_int_equal(gt_problem_from_name(&p, "f32-nt-70x64x64", NULL), GEMMTUNE_OK);
    assert_int_equal(
        gt_match(&c, &one, &cpu, HERE, &p, DEFAULT, SIZE_MAX, 16, NULL, NULL, NULL),
        GEMMTUNE_OK);
    assert_ptr_equal(c.known, &known[0]);
}

/* ---- choices that failed before ---------------------------------------------------------- */

static bool skip_vectors(void *user, const struct gt_choice *c) {
    int64_t v = 0;
    ++*(int *)user;
    return gt_point_get(&c->point, "V", &v) && v == 4;
}

static bool skip_all(void *user, const struct gt_choice *c) {
    (void)c;
    ++*(int *)user;
    return true;
}

static void test_skip(void **state) {
    const struct gt_snapshot s = snapshot_of(rows, ROWS);
    struct gt_choice c;
    struct gt_err err = {""};
    int calls = 0;
    (void)state;
    struct question q = {.problem = "f32-nn-512x512x512",
                         .worst = EXACT,
                         .skip = skip_vectors,
                         .user = &calls};
    assert_int_equal(ask(&c, &s, q, &err), GEMMTUNE_OK);
    assert_ptr_equal(c.known, &known[1]);
    assert_int_equal(calls, 2);
    q.skip = skip_all;
    q.worst = DEFAULT;
    assert_int_equal(ask(&c, &s, q, &err), GEMMTUNE_ENOTFOUND);
    assert_non_null(strstr(err.line, "did not build before"));
}

/* Ties: the distance being equal, the better rank; else the order of the database. */
static void test_ties(void **state) {
    static const struct row tied[] = {
        {HERE, "f32-nn-128x512x512", "choosy", "V=1 W=8", 1, false},
        {HERE, "f32-nn-512x128x512", "choosy", "V=4 W=8", 0, false},
        {HERE, "f32-nn-512x512x128", "choosy", "V=1 W=8", 0, false},
    };
    const struct gt_snapshot s = snapshot_of(tied, 3);
    struct gt_choice c;
    (void)state;
    assert_int_equal(ask(&c, &s,
                         (struct question){.problem = "f32-nn-256x256x256", .worst = SHAPE},
                         NULL),
                     GEMMTUNE_OK);
    assert_ptr_equal(c.known, &known[1]);
}

/* Unverified rows of this very device are offered where nothing verified is. */
static void test_unverified(void **state) {
    static const struct row merged[] = {
        {THERE, "f32-nn-500x512x512", "choosy", "V=4 W=8", 0, false},
        {HERE, "f32-nn-512x512x512", "choosy", "V=1 W=8", 0, true},
    };
    const struct gt_snapshot s = snapshot_of(merged, 2);
    struct question q = {.problem = "f32-nn-512x512x512", .worst = SHAPE};
    struct gt_choice c;
    (void)state;
    assert_int_equal(ask(&c, &s, q, NULL), GEMMTUNE_ENOTFOUND);
    q.worst = ARCH;
    assert_int_equal(ask(&c, &s, q, NULL), GEMMTUNE_OK);
    assert_ptr_equal(c.known, &known[1]);
    assert_int_equal(c.match, ARCH);
    assert_string_equal(
        c.why, "tuned elsewhere, not verified here, for this very problem, rank 0");
}

/* ---- from a database -------------------------------------------------------------------- */

static struct gt_device device_named(const char *name, const char *arch) {
    struct gt_device d = card;
    (void)snprintf(d.name, sizeof d.name, "%s", name);
    (void)snprintf(d.arch, sizeof d.arch, "%s", arch);
    return d;
}

/* A run on the device that leaves one record a problem. */
static void store(struct gt_db *db, const struct gt_device *d, const char *problem,
                  const char *family, const char *hash, const char *point) {
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    char key[GT_DEVICE_KEY_MAX];
    struct gt_err err = {""};
    int64_t run;
    gt_device_key(d, key);
    assert_int_equal(gt_db_run_begin(&run, db, d, &info, &err), GEMMTUNE_OK);
    const struct gt_record_row row = {.subject = {key, problem, family, hash, point},
                                      .verified = true,
                                      .time = {.median_ns = 5000,
                                               .low_ns = 4900,
                                               .high_ns = 5100,
                                               .samples = 9,
                                               .launches = 1},
                                      .provenance = "local"};
    const gt_status status = gt_db_records_put(db, key, problem, &row, 1, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    assert_int_equal(gt_db_run_end(db, run, "done", &err), GEMMTUNE_OK);
}

static void fill_database(const char *path) {
    const struct gt_device a = device_named("Card A", "sm_90");
    const struct gt_device b = device_named("Card B", "sm_90");
    const struct gt_device old = device_named("Old", "sm_61");
    const char *hash = gt_families_find(families, "choosy")->hash;
    const char *other = gt_families_find(families, "plain")->hash;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    store(db, &a, "f32-nn-512x512x512", "choosy", hash, "V=4 W=8");
    store(db, &a, "f32-nn-256x512x512", "choosy", hash, "V=3 W=8"); /* not in the domain */
    store(db, &a, "f32-nn-128x512x512", "choosy", hash, "V=4");     /* incomplete */
    store(db, &a, "f32-nn-64x512x512", "choosy", other, "V=4 W=8"); /* stale */
    store(db, &b, "f32-nn-32x512x512", "nobody", other, "");        /* unknown: stale */
    store(db, &b, "i32-nn-512x512x512", "plain", other, "");
    store(db, &old, "f32-nn-512x512x512", "plain", other, ""); /* another architecture */
    gt_db_close(db);
}

static void test_load(void **state) {
    struct gt_known *loaded = NULL;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    char path[600];
    size_t count;
    int64_t stale;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/test.db", folder);
    fill_database(path);
    assert_int_equal(gt_db_open(&db, path, GT_DB_READ, &err), GEMMTUNE_OK);
    assert_int_equal(gt_known_load(&loaded, &count, &stale, db, families, "sm_90", &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, 2);
    assert_int_equal(stale, 2);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(loaded[i].arch, "sm_90");
    const bool first = strcmp(loaded[0].problem_name, "f32-nn-512x512x512") == 0;
    const struct gt_known *k = &loaded[first ? 0 : 1];
    assert_string_equal(k->problem_name, "f32-nn-512x512x512");
    assert_string_equal(k->family->name, "choosy");
    assert_true(k->verified);
    assert_int_equal((int)k->median_ns, 5000);
    free(loaded);
    assert_int_equal(gt_known_load(&loaded, &count, &stale, db, families, "sm_80", &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, 0);
    free(loaded);
    gt_db_close(db);
    (void)remove(path);
}

static void try_point(struct gt_db *db, int64_t run, const char *key, const char *problem,
                      const char *point, gt_outcome outcome, double ns) {
    const char *hash = gt_families_find(families, "deep")->hash;
    const struct gt_db_subject subject = {key, problem, "deep", hash, point};
    const struct gt_trial_row row = {.outcome = outcome,
                                     .time = {.median_ns = ns,
                                              .low_ns = ns,
                                              .high_ns = ns,
                                              .samples = 1,
                                              .launches = 1,
                                              .sample_ns = {(float)ns}},
                                     .error = ""};
    struct gt_err err = {""};
    int64_t id;
    bool claimed;
    assert_int_equal(gt_db_trial_begin(&id, &claimed, db, run, &subject, &err),
                     GEMMTUNE_OK);
    assert_true(claimed);
    assert_int_equal(gt_db_trial_end(db, id, &row, &err), GEMMTUNE_OK);
}

/* Beside records: the fastest correct trial of each other tile, if it is no slower than 1.2 times the
 * winner; none where there is no record. */
static void test_runners_up(void **state) {
    static const struct {
        const char *problem, *point;
        gt_outcome outcome;
        double ns;
    } tried[] = {
        {"i32-nn-512x512x512", "BM=32 BN=32 SPLIT=8", GT_CORRECT, 5100},
        {"i32-nn-512x512x512", "BM=128 BN=128 SPLIT=1", GT_CORRECT, 5900},
        {"i32-nn-512x512x512", "BM=128 BN=128 SPLIT=8", GT_CORRECT, 5500},
        {"i32-nn-512x512x512", "BM=128 BN=128 SPLIT=64", GT_CORRECT, 5700},
        {"i32-nn-512x512x512", "BM=128 BN=32 SPLIT=1", GT_CORRECT, 6100},
        {"i32-nn-512x512x512", "BM=32 BN=128 SPLIT=1", GT_WRONG_RESULT, 5000},
        {"i32-nn-64x64x64", "BM=32 BN=128 SPLIT=1", GT_CORRECT, 100},
    };
    const struct gt_device a = device_named("Card A", "sm_90");
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    const char *hash = gt_families_find(families, "deep")->hash;
    struct gt_known *loaded = NULL;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    char path[600], key[GT_DEVICE_KEY_MAX], text[GT_POINT_TEXT_MAX];
    size_t count;
    int64_t stale, run;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/runners.db", folder);
    gt_device_key(&a, key);
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    store(db, &a, "i32-nn-512x512x512", "deep", hash, "BM=32 BN=32 SPLIT=1"); /* 5000 */
    assert_int_equal(gt_db_run_begin(&run, db, &a, &info, &err), GEMMTUNE_OK);
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        try_point(db, run, key, tried[i].problem, tried[i].point, tried[i].outcome,
                  tried[i].ns);
    assert_int_equal(gt_db_run_end(db, run, "done", &err), GEMMTUNE_OK);
    assert_int_equal(gt_known_load(&loaded, &count, &stale, db, families, "sm_90", &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, 2);
    (void)gt_point_text(&loaded[0].point, text);
    assert_string_equal(text, "BM=32 BN=32 SPLIT=1");
    (void)gt_point_text(&loaded[1].point, text);
    assert_string_equal(text, "BM=128 BN=128 SPLIT=8");
    assert_string_equal(loaded[1].problem_name, "i32-nn-512x512x512");
    assert_int_equal(loaded[1].rank, 1);
    assert_true(loaded[1].verified);
    assert_int_equal((int)loaded[1].median_ns, 5500);
    free(loaded);
    gt_db_close(db);
    (void)remove(path);
}

static void fill_elsewhere(const char *path, const struct gt_device *d, const char *point) {
    const char *hash = gt_families_find(families, "deep")->hash;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    store(db, d, "i32-nn-512x512x512", "deep", hash, point);
    gt_db_close(db);
}

/* A record that was merged does not hide the runner-up of its tile: that one is verified here. */
static void test_runner_up_beside_merged(void **state) {
    const struct gt_device a = device_named("Card A", "sm_90");
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    const char *hash = gt_families_find(families, "deep")->hash;
    struct gt_known *loaded = NULL;
    struct gt_db *db = NULL;
    struct gt_merge_report merged;
    struct gt_err err = {""};
    char path[600], from[600], key[GT_DEVICE_KEY_MAX], text[GT_POINT_TEXT_MAX];
    size_t count;
    int64_t stale, run;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/beside.db", folder);
    (void)snprintf(from, sizeof from, "%s/elsewhere.db", folder);
    gt_device_key(&a, key);
    fill_elsewhere(from, &a, "BM=128 BN=128 SPLIT=64");
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    store(db, &a, "i32-nn-512x512x512", "deep", hash, "BM=32 BN=32 SPLIT=1");
    assert_int_equal(gt_db_run_begin(&run, db, &a, &info, &err), GEMMTUNE_OK);
    try_point(db, run, key, "i32-nn-512x512x512", "BM=128 BN=128 SPLIT=8", GT_CORRECT,
              5500);
    assert_int_equal(gt_db_run_end(db, run, "done", &err), GEMMTUNE_OK);
    assert_int_equal(gt_db_merge(&merged, db, from, &err), GEMMTUNE_OK);
    assert_int_equal(merged.records, 1);
    assert_int_equal(gt_known_load(&loaded, &count, &stale, db, families, "sm_90", &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, 3);
    assert_true(loaded[0].verified);
    assert_false(loaded[1].verified);
    assert_true(loaded[2].verified);
    (void)gt_point_text(&loaded[2].point, text);
    assert_string_equal(text, "BM=128 BN=128 SPLIT=8");
    assert_int_equal(loaded[2].rank, 2);
    free(loaded);
    gt_db_close(db);
    (void)remove(path);
    (void)remove(from);
}

/* Rows of another source of their family are no records: they leave no gap in the ranks of the others. */
static void test_ranks(void **state) {
    static const struct {
        const char *problem;
        int rank;
    } want[] = {
        {"i32-nn-512x512x512", 0}, {"i32-nn-512x512x512", 1}, {"i32-nn-64x64x64", 0}};
    const struct gt_device a = device_named("Card A", "sm_90");
    const char *hash = gt_families_find(families, "deep")->hash;
    const char *other = gt_families_find(families, "plain")->hash;
    static const char *const elsewhere[] = {"BM=128 BN=128 SPLIT=1",
                                            "BM=128 BN=32 SPLIT=1"};
    struct gt_known *loaded = NULL;
    struct gt_db *db = NULL;
    struct gt_merge_report merged;
    struct gt_err err = {""};
    char path[600], from[600];
    size_t count;
    int64_t stale;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/ranks.db", folder);
    (void)snprintf(from, sizeof from, "%s/elsewhere.db", folder);
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    store(db, &a, "i32-nn-512x512x512", "deep", other, "BM=32 BN=32 SPLIT=1");
    store(db, &a, "i32-nn-64x64x64", "deep", hash, "BM=32 BN=32 SPLIT=1");
    for (int i = 0; i < 2; i++) {
        fill_elsewhere(from, &a, elsewhere[i]);
        assert_int_equal(gt_db_merge(&merged, db, from, &err), GEMMTUNE_OK);
        (void)remove(from);
    }
    assert_int_equal(gt_known_load(&loaded, &count, &stale, db, families, "sm_90", &err),
                     GEMMTUNE_OK);
    assert_int_equal(stale, 1);
    assert_int_equal(count, sizeof want / sizeof *want);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(loaded[i].problem_name, want[i].problem);
        assert_int_equal(loaded[i].rank, want[i].rank);
    }
    free(loaded);
    gt_db_close(db);
    (void)remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_runners_up),
        cmocka_unit_test(test_runner_up_beside_merged),
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_default_points),
        cmocka_unit_test(test_nothing_found),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_unverified),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_forecast),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_unverified_is_behind),
        cmocka_unit_test(test_preference),
        cmocka_unit_test(test_untuned_deep),
        cmocka_unit_test(test_far_record),
        cmocka_unit_test(test_cpu_default),
        cmocka_unit_test(test_load),
    };
    return cmocka_run_group_tests_name("match", tests, setup, teardown);
}
