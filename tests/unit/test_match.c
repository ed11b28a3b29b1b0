/* SPDX-License-Identifier: Apache-2.0 */
/* Which record serves a problem: a small set of records with known answers. */
#include "tests/unit/made_up.h"
#include "tests/unit/match_families.h"
#include "tests/unit/points.h"

#include <math.h>

#define HERE  "card-a"
#define THERE "card-b"

/* ---- records ---- */

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
    set_known_point(&k, row->point);
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
    return (struct gt_snapshot){families, known, count, NULL};
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

/* ---- questions ---- */

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
    const struct gt_query query = {.snapshot = s,
                                   .device = &card,
                                   .device_key = HERE,
                                   .problem = &p,
                                   .worst = q.worst,
                                   .workspace_max = q.workspace_max,
                                   .pointer_align =
                                       q.pointer_align != 0 ? q.pointer_align : 16,
                                   .skip = q.skip,
                                   .user = q.user};
    return gt_match(out, &query, err);
}

/* On another device than the card, with any workspace. */
static gt_status match_default(struct gt_choice *out, const struct gt_snapshot *s,
                               const struct gt_device *d, const gemmtune_problem *p) {
    const struct gt_query query = {.snapshot = s,
                                   .device = d,
                                   .device_key = HERE,
                                   .problem = p,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = SIZE_MAX,
                                   .pointer_align = 16};
    return gt_match(out, &query, NULL);
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
         "tuned on this device for exactly this problem, rank 0"},
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
        /* The problem is nearer to 1024, and the winner there needs a workspace. A caller
         * with less workspace gets the winner of 512, which needs none, and not the slow
         * finalist of 1024. */
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
        /* The record that needs nothing takes more than twice the winner's time. So a
         * forecast that is much shorter is the answer for who gives nothing, and a shorter
         * one for who gives something, but too little for the winner. */
        {{.problem = "f32-nn-1024x1024x1024", .worst = DEFAULT}, DEFAULT, -1, "start 6 of"},
        {{.problem = "f32-nn-1024x1024x1024", .worst = SHAPE, .workspace_max = 4095},
         SHAPE,
         0,
         "f32-nn-512x512x512"},
        {{.problem = "f32-nn-1024x1024x1024", .worst = EXACT, .workspace_max = 4095},
         EXACT,
         10,
         "rank 3"},
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
        /* A caller that asks for SHAPE gets no row that was measured elsewhere. */
        {{.problem = "f32-nn-2048x2048x64", .worst = SHAPE, .workspace_max = 4096},
         SHAPE,
         0,
         "f32-nn-512"},
        /* For other callers that row is the first choice for its own problem. */
        {{.problem = "f32-nn-2048x2048x64", .worst = DEFAULT},
         ARCH,
         4,
         "tuned elsewhere, not verified here, for exactly this problem, rank 0"},
        /* nothing of its types here: another device of the architecture */
        {{.problem = "i32-nt-300x300x300", .worst = DEFAULT},
         ARCH,
         6,
         "tuned on card-b (also sm_90) for exactly this problem, rank 0"},
        {{.problem = "i32-nt-400x400x400", .worst = ARCH},
         ARCH,
         6,
         "tuned on card-b (also sm_90) for i32-nt-300x300x300 (distance 0.72), forecast "},
        /* another architecture is no help */
        {{.problem = "f64-nn-64x64x64", .worst = DEFAULT},
         DEFAULT,
         -1,
         "no problem of its types was tuned for this"},
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
            assert_true(c.family == c.known->family && has_known_point(&c, c.known));
        assert_true(c.match != EXACT || c.expected_loss == 0);
        assert_true(strstr(c.why, "exactly this") != NULL || c.expected_loss >= 0.01);
    }
}

/* Sets the values that a `why` line names, " with SPLIT=4 VA=1, forecast ..". */
static void apply_changes(struct gt_point *point, const char *why) {
    struct gt_point changes;
    const char *from = strstr(why, " with "), *end = strstr(why, ", forecast ");
    char text[GT_POINT_TEXT_MAX];
    if (from == NULL)
        return;
    from += strlen(" with ");
    assert_non_null(end);
    (void)snprintf(text, sizeof text, "%.*s", (int)(end - from), from);
    assert_int_equal(gt_point_parse(&changes, text, NULL), GEMMTUNE_OK);
    for (int i = 0; i < changes.count; i++)
        assert_int_equal(
            gt_point_set(point, changes.entry[i].name, changes.entry[i].value, NULL),
            GEMMTUNE_OK);
}

/* Nothing is known: the start with the best forecast is chosen, as its family's file has
 * it, or with changes that the answer names. */
static void test_default_points(void **state) {
    const struct gt_snapshot s = {families, NULL, 0, 0};
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
        apply_changes(&start, c.why);
        found = found || points_equal(&start, &c.point);
    }
    assert_true(found);
}

static void test_nothing_found(void **state) {
    const struct gt_snapshot none = {families, NULL, 0, 0};
    const struct gt_snapshot s = snapshot_of(rows, ROWS);
    const struct gt_known refused = known_of(&rows[9]);
    const struct gt_known wide = known_of(&rows[0]);
    const struct gt_snapshot one = {families, &refused, 1, NULL};
    const struct gt_snapshot vectors = {families, &wide, 1, NULL};
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
         "1 tuned kernels considered, last refused: family choosy: too many threads"},
        {&vectors,
         {.problem = "f32-nn-512x512x512", .worst = EXACT, .pointer_align = 1},
         GEMMTUNE_ENOTFOUND,
         "1 tuned kernels considered, last refused: family choosy: the rows of A"},
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

static void test_no_family_serves(void **state) {
    const struct gt_snapshot s = {.families = families};
    struct gt_device single = card;
    gemmtune_problem p;
    struct gt_choice c;
    struct gt_err err = {""};
    (void)state;
    single.has_f64 = false;
    assert_int_equal(gt_problem_from_name(&p, "f64-nn-8x8x8", NULL), GEMMTUNE_OK);
    const struct gt_query query = {.snapshot = &s,
                                   .device = &single,
                                   .device_key = HERE,
                                   .problem = &p,
                                   .worst = DEFAULT,
                                   .pointer_align = 16};
    assert_int_equal(gt_match(&c, &query, &err), GEMMTUNE_EUNSUPPORTED);
    assert_non_null(strstr(err.line, "no kernel family serves f64-nn-8x8x8 on card-a"));
}

/* ---- forecasts ---- */

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

/* A near record's point with another split of k, for callers that give the workspace. */
static void test_split(void **state) {
    static const struct row tuned[] = {
        {HERE, "i32-nn-64x64x512", "deep", "BM=32 BN=32 SPLIT=1", 0, false}};
    const struct gt_snapshot s = snapshot_of(tuned, 1);
    (void)state;
    struct gt_choice c = answer_of(&s, "i32-nn-32x32x60000", SHAPE, SIZE_MAX);
    assert_int_equal(c.match, SHAPE);
    assert_ptr_equal(c.known, &known[0]);
    assert_int_equal(split_of(&c), 64);
    assert_int_equal(c.fit.passes.workspace_bytes, 64 * 32 * 32 * 4);
    assert_non_null(strstr(c.why, "with SPLIT=64, forecast"));
    c = answer_of(&s, "i32-nn-32x32x60000", SHAPE, 64 * 32 * 32 * 4 - 1);
    assert_int_equal(split_of(&c), 8);
    c = answer_of(&s, "i32-nn-32x32x60000", SHAPE, 0);
    assert_int_equal(split_of(&c), 1);
    /* enough tiles as it is: nothing is gained */
    c = answer_of(&s, "i32-nn-4096x4096x512", SHAPE, SIZE_MAX);
    assert_int_equal(split_of(&c), 1);
    /* the same problem gets the measured point */
    c = answer_of(&s, "i32-nn-64x64x512", DEFAULT, SIZE_MAX);
    assert_int_equal(c.match, EXACT);
    assert_int_equal(split_of(&c), 1);
}

/* As far away, the faster; and a small tile where a large one would leave most of the
 * device idle. */
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

/* A row that was measured elsewhere counts as a little farther away: one far problem that
 * was tuned here does not outweigh an imported file. */
static void test_unverified_is_farther(void **state) {
    static const struct row tuned[] = {
        {HERE, "i32-nn-512x512x512", "deep", "BM=32 BN=32 SPLIT=1", 0, true},
        {HERE, "i32-nn-4096x64x512", "deep", "BM=32 BN=128 SPLIT=1", 0, false},
        {HERE, "i32-nn-512x520x512", "deep", "BM=32 BN=32 SPLIT=1", 0, false},
    };
    const struct gt_snapshot far = snapshot_of(tuned, 2);
    (void)state;
    known[1].median_ns *= 3;
    struct gt_choice c = answer_of(&far, "i32-nn-512x512x500", ARCH, 0);
    assert_ptr_equal(c.known, &known[0]);
    assert_int_equal(c.match, ARCH);
    c = answer_of(&far, "i32-nn-512x512x500", SHAPE, 0); /* who accepts no such row */
    assert_ptr_equal(c.known, &known[1]);
    assert_int_equal(c.match, SHAPE);
    const struct gt_snapshot near = snapshot_of(tuned, 3);
    c = answer_of(&near, "i32-nn-512x512x500", ARCH, 0);
    assert_ptr_equal(c.known, &known[2]);
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
        {{HERE, "i32-nn-512x512x520", "deep", "BM=32 BN=128 SPLIT=8", 3, true}, ARCH},
        {{THERE, "i32-nn-512x512x512", "deep", "BM=128 BN=32 SPLIT=8", 0, false}, ARCH},
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

/* A GPU without any tuned rows. */
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
    const struct gt_snapshot none = {families, NULL, 0, 0};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct gt_choice c;
        gemmtune_problem p;
        assert_int_equal(gt_problem_from_name(&p, names[i], NULL), GEMMTUNE_OK);
        assert_int_equal(match_default(&c, &none, &d, &p), GEMMTUNE_OK);
        if (split_of(&c) < 16)
            fail_msg("%s: %s %s", names[i], c.family->name, c.why);
    }
}

/* A far record does not keep a much better start from being taken, unless records alone are
 * asked for. */
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
    assert_non_null(strstr(c.why, "the tuned problems are too far away"));
    c = answer_of(&s, "f32-nn-32x32x60000", ARCH, SIZE_MAX);
    assert_int_equal(c.match, SHAPE);
    assert_ptr_equal(c.known, &known[0]);
}

/* The expected loss grows with the distance, but for problems nearer than finals can tell
 * apart. */
static void test_expected_loss(void **state) {
    static const struct row tuned[] = {
        {HERE, "i32-nn-512x512x512", "deep", "BM=32 BN=32 SPLIT=1", 0, false}};
    static const char *const farther[] = {"i32-nn-512x512x512", "i32-nn-512x512x500",
                                          "i32-nn-512x4096x512", "i32-nn-4096x4096x512"};
    const struct gt_snapshot s = snapshot_of(tuned, 1);
    double before = -1;
    (void)state;
    for (size_t i = 0; i < sizeof farther / sizeof *farther; i++) {
        const struct gt_choice c = answer_of(&s, farther[i], SHAPE, SIZE_MAX);
        if (c.expected_loss <= before || c.expected_loss > expm1(0.25))
            fail_msg("%s: %g after %g", farther[i], c.expected_loss, before);
        before = c.expected_loss;
    }
}

/* A CPU takes a start of its own families by forecast. Where these do not fit it takes the
 * first default that does. */
static void test_cpu_default(void **state) {
    struct gt_device cpu = MADE_UP_CPU;
    const struct gt_snapshot none = {families, NULL, 0, 0};
    struct gt_choice c;
    struct gt_point preset;
    gemmtune_problem p;
    int64_t mr = 0;
    char want[256];
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-2x3000x700", NULL), GEMMTUNE_OK);
    assert_int_equal(match_default(&c, &none, &cpu, &p), GEMMTUNE_OK);
    assert_string_equal(c.family->name, "vector");
    assert_true(c.forecast_ns > 0);
    assert_true(gt_point_get(&c.point, "MR", &mr) && mr == 2);
    cpu.smem_max = 4096;
    assert_int_equal(match_default(&c, &none, &cpu, &p), GEMMTUNE_OK);
    assert_true(c.forecast_ns == 0);
    gt_family_default(c.family, &preset);
    assert_true(points_equal(&c.point, &preset));
    (void)snprintf(want, sizeof want,
                   "default point of family %s: nothing was tuned for this architecture",
                   c.family->name);
    assert_string_equal(c.why, want);
    /* a record serves its own layout: nothing says how fast it would be in another */
    static const struct row tuned[] = {
        {HERE, "f32-nt-64x64x64", "tile", "TILE_WIDTH=16 PAD=0 DOUBLE=0", 0, false}};
    const struct gt_snapshot one = snapshot_of(tuned, 1);
    assert_int_equal(match_default(&c, &one, &cpu, &p), GEMMTUNE_OK);
    assert_ptr_equal(c.known, NULL);
    assert_int_equal(gt_problem_from_name(&p, "f32-nt-70x64x64", NULL), GEMMTUNE_OK);
    assert_int_equal(match_default(&c, &one, &cpu, &p), GEMMTUNE_OK);
    assert_ptr_equal(c.known, &known[0]);
    cpu.smem_max = 2097152;
    /* a batch of small products has the family that is made for it */
    assert_int_equal(gt_problem_from_name(&p, "f32-nt-8x8x8,batch=99", NULL), GEMMTUNE_OK);
    assert_int_equal(match_default(&c, &none, &cpu, &p), GEMMTUNE_OK);
    assert_string_equal(c.family->name, "series");
    assert_int_equal(gt_problem_from_name(&p, "f32-nt-8x8x8,batch=99,epi=swiglu", NULL),
                     GEMMTUNE_OK);
    assert_int_equal(match_default(&c, &none, &cpu, &p), GEMMTUNE_OK);
    assert_string_equal(c.family->name, "series");
}

/* ---- choices that failed before ---- */

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
        c.why, "tuned elsewhere, not verified here, for exactly this problem, rank 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_default_points),
        cmocka_unit_test(test_nothing_found),
        cmocka_unit_test(test_no_family_serves),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_unverified),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_forecast),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_unverified_is_farther),
        cmocka_unit_test(test_preference),
        cmocka_unit_test(test_untuned_deep),
        cmocka_unit_test(test_far_record),
        cmocka_unit_test(test_expected_loss),
        cmocka_unit_test(test_cpu_default),
    };
    return cmocka_run_group_tests_name("match", tests, setup, teardown);
}
