/* SPDX-License-Identifier: Apache-2.0 */
/* check: long nvrtc */
/*
 * Compiles every built-in family and the checking kernels with NVRTC; no GPU is needed. The
 * default point, or the first legal one where a type refuses it, is compiled for every
 * architecture that the library knows: for each type where the kernels' texts or the chips
 * change, else for one type, another for each architecture. One architecture has all four
 * layouts. The starting points, which users get, are compiled for sm_90, each with one type
 * and one layout; the points of mma also for the older chips that it is for, and for
 * sm_120, and the points of dot for sm_75. GEMMTUNE_LIBNVRTC names the library, else the
 * installed one is used. GT_NVRTC_BELOW=N leaves out sm_N and later. GT_SHARE names the
 * share of the kernels that is compiled (tests/share.h). All cores compile.
 */
#include "tests/tune/compile_jobs.h"
#include "tests/unit/points.h"
#include "tuner/search/space.h"

enum {
    JOBS_MAX = 4096,
    ARCHS_MAX = GT_NVRTC_MAX * GT_NVRTC_ARCHS_MAX,
    OLDEST = 50,   /* what gemmtune serves */
    START_CC = 90, /* every family serves it, or is for chips before it */
    WIDTHS = 4,
};

/* Types of four, eight, two and one bytes come first: WIDTHS of them. */
static const char *const dtypes[] = {
    "f32",       "f64",        "bf16",          "i8",        "i32",           "f16",
    "f16=f32",   "bf16=f32",   "e4m3+e5m2=f16", "e4m3@fast", "e4m3@promoted", "tf32",
    "f32@split", "f32@bf16x3", "f64@residues"};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };
static const char *const layouts[] = {"nn", "nt", "tn", "tt"};
/* The layouts of starts, the preferred one first: there tma turns both operands. */
static const char *const start_layouts[] = {"nt", "nn", "tt", "tn"};

static struct gt_families *families;

/* ---- kernels to compile ---- */

static void describe(struct job *j, const char *dtype, const char *layout,
                     const char *shape) {
    struct gt_err err;
    snprintf(j->name, sizeof j->name, "%s-%s-%s", dtype, layout, shape);
    assert_int_equal(gt_problem_from_name(&j->problem, j->name, &err), GEMMTUNE_OK);
}

/* The next job, without its point; false when the family does not serve that. A family for
 * batches alone gets a batch. */
static bool prepare(const struct gt_family *f, int cc, const char *dtype,
                    const char *layout) {
    struct job *j = &job[jobs];
    assert_true(jobs < JOBS_MAX);
    *j = (struct job){.device = device_of(cc), .family = f};
    describe(j, dtype, layout, "256x256x256");
    if (f && !gt_family_serves(f, &j->device, &j->problem, NULL))
        describe(j, dtype, layout, "16x16x16,batch=1000");
    /* A looser mix that a family serves by its kernels for the strict one is not new. */
    return !f || (gt_family_serves(f, &j->device, &j->problem, NULL) &&
                  gt_family_dtype(f, &j->problem) == gt_dtype_of(&j->problem));
}

/* Whether the rules allow the next job's point. A kernel for one problem must be one that
 * the problem accepts; others do not depend on it. */
static bool is_allowed(void) {
    struct gt_binding b;
    struct gt_err err;
    const struct job *j = &job[jobs];
    return bind(&b, j, &err) == GEMMTUNE_OK && !gt_refused(&b) &&
           (!j->family->per_problem || gt_not_accepted(&b) == NULL);
}

/* Whether the family refuses its default for the next job's type or device, whatever m, n,
 * k are. */
static bool refuses_default(void) {
    struct gt_binding b;
    struct gt_err err;
    gt_family_default(job[jobs].family, &job[jobs].point);
    return bind(&b, &job[jobs], &err) == GEMMTUNE_OK && gt_refused(&b);
}

/* Gives the next job the first point that the rules allow: a family may serve a type by
 * kernels of another kind than its default. */
static void take_first_allowed(void) {
    struct job *j = &job[jobs];
    struct gt_space space;
    struct gt_err err = {""};
    if (gt_space_create(&space, j->family, &j->device, &j->problem, &err) != GEMMTUNE_OK)
        fail_msg("%s %s: %s", j->family->name, j->name, err.line);
    if (space.count == 0)
        fail_msg("%s %s: no point is legal", j->family->name, j->name);
    gt_space_point(&space, 0, &j->point);
    gt_space_clear(&space);
}

static void add_default(const struct gt_family *f, int cc, const char *dtype,
                        const char *layout) {
    if (!prepare(f, cc, dtype, layout))
        return;
    if (refuses_default()) {
        print_message("sm_%d %s %s: the first legal point instead of the default\n", cc,
                      f->name, job[jobs].name);
        take_first_allowed();
    }
    jobs++;
}

/* Fails when a family has jobs, and its default is in none of them. */
static void expect_defaults(void) {
    for (size_t f = 0; f < gt_families_count(families); f++) {
        const struct gt_family *const family = gt_families_at(families, f);
        struct gt_point preset;
        int own = 0, with_default = 0;
        gt_family_default(family, &preset);
        for (int i = 0; i < jobs; i++) {
            own += job[i].family == family;
            with_default += job[i].family == family && points_equal(&job[i].point, &preset);
        }
        if (own > 0 && with_default == 0)
            fail_msg("the default of %s is refused for every type", family->name);
    }
}

static void add_type(int cc, const char *dtype, int layout_count) {
    jobs += prepare(NULL, cc, dtype, "nn"); /* layouts are arguments there */
    for (size_t f = 0; f < gt_families_count(families); f++)
        for (int l = 0; l < layout_count; l++)
            add_default(gt_families_at(families, f), cc, dtype, layouts[l]);
}

/* From these on the kernels' texts say something new, or the compiler makes code for
 * another kind of chip. 8-bit floats came with 89. */
static bool is_new(int cc) {
    static const int first[] = {OLDEST, 61, 75, 80, 89, 90, 100, 120};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (cc == first[i])
            return true;
    return false;
}

/* `nth`: among all architectures; it decides which type has its turn. Layouts matter to the
 * width of an element, not to its arithmetic. */
static void add_arch(int cc, int nth, bool has_all_layouts) {
    for (int t = 0; t < DTYPES; t++)
        if (is_new(cc) || t == nth % DTYPES)
            add_type(cc, dtypes[t], has_all_layouts && t < WIDTHS ? 4 : 1);
}

/* A start for a type, and the first shape where the family compiles for one, for which the
 * rules allow it in this layout; false when there is none. Each start begins with another
 * type, so a family's starts have all its types between them. */
static bool add_start_in(const char *layout, const struct gt_family *f, int cc, int start) {
    static const char *const batches[] = {
        "16x16x16,batch=1000", "4x4x4,batch=1000",    "64x64x64,batch=1000",
        "100x100x100,batch=9", "200x200x200,batch=9", "48x240x100,batch=9",
    };
    const int shapes = f->per_problem ? (int)(sizeof batches / sizeof *batches) : 1;
    for (int t = 0; t < DTYPES; t++)
        for (int i = 0; i < shapes; i++) {
            const char *dtype = dtypes[(t + start) % DTYPES];
            if (!prepare(f, cc, dtype, layout))
                continue;
            if (f->per_problem)
                describe(&job[jobs], dtype, layout, batches[i]);
            gt_family_start(f, start, &job[jobs].point);
            if (is_allowed()) {
                jobs++;
                return true;
            }
        }
    return false;
}

static bool add_start(const struct gt_family *f, int cc, int start) {
    for (int l = 0; l < 4; l++)
        if (add_start_in(start_layouts[l], f, cc, start))
            return true;
    return false;
}

/* Whether there are any, when there should be. */
static bool add_starts(const struct gt_family *f, int cc) {
    int added = 0;
    for (int i = 0; i < f->start_count; i++)
        added += add_start(f, cc, i);
    print_message("sm_%d %s: %d of %d starts exist\n", cc, f->name, added, f->start_count);
    return added > 0 || f->start_count == 0;
}

/* With an epilogue as many blocks fit a multiprocessor as without one: three. */
static void add_epilogue(void) {
    struct job *j = &job[jobs];
    assert_true(prepare(gt_families_find(families, "tma"), START_CC, "f32", "nt"));
    describe(j, "f32", "nt", "96x128x64,epi=gelu");
    assert_int_equal(gt_point_parse(&j->point,
                                    "BM=96 BN=128 BK=16 TM=12 TN=8 STAGES=3 SPLIT=1 TAIL=2 "
                                    "ORDER=0 REPACK=1 MINB=1 GROUP=8",
                                    NULL),
                     GEMMTUNE_OK);
    j->blocks = 3;
    jobs++;
}

/* Kernels of batches and groups: matrices one below the other, and as planes. */
static void add_batches(void) {
    static const char *const shapes[] = {"100x80x128,batch=3", "100x80x136,batch=3",
                                         "300x80x128,groups=5", "300x80x72,groups=5",
                                         "50x80x72,batch=3,masked,rows=20"};
    const struct gt_family *f = gt_families_find(families, "wgmma");
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (int persist = 0; persist < 2; persist++) {
            struct job *j = &job[jobs++];
            assert_true(jobs < JOBS_MAX);
            *j = (struct job){.device = device_of(START_CC), .family = f};
            describe(j, "bf16", "nn", shapes[i]);
            gt_family_default(f, &j->point);
            assert_int_equal(gt_point_set(&j->point, "REPACK", 0, NULL), GEMMTUNE_OK);
            assert_int_equal(gt_point_set(&j->point, "PERSIST", persist, NULL),
                             GEMMTUNE_OK);
        }
}

/* Batches by tensor cores in tailored: f64 and 16-bit types; C in vectors of four and of
 * two elements, and gathered; large parts, and parts that end with half a block. */
static void add_warps(int cc) {
    static const struct {
        const char *dtype, *layout, *shape, *point;
    } rows[] = {
        {"f64", "nn", "100x100x100,batch=9", "BM=128 BN=64 BK=24 TM=32 TN=32 STAGES=3"},
        {"f64", "tt", "129x65x50,batch=9", "BM=48 BN=96 BK=24 TM=16 TN=48 STAGES=2"},
        {"f16", "nn", "100x100x100,batch=9", "BM=128 BN=128 BK=48 TM=64 TN=64 STAGES=3"},
        {"bf16", "nt", "50x62x64,batch=9", "BM=64 BN=64 BK=64 TM=32 TN=32 STAGES=2"},
        {"f16=f32", "tn", "65x63x65,batch=9", "BM=96 BN=64 BK=48 TM=48 TN=32 STAGES=3"},
        {"f64", "nn", "72x72x72,batch=9", "BM=96 BN=96 BK=24 TM=16 TN=72 STAGES=2"},
        {"bf16", "nn", "100x104x40,batch=9", "BM=128 BN=128 BK=48 TM=16 TN=104 STAGES=2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char point[128];
        assert_true(prepare(gt_families_find(families, "tailored"), cc, rows[i].dtype,
                            rows[i].layout));
        describe(&job[jobs], rows[i].dtype, rows[i].layout, rows[i].shape);
        snprintf(point, sizeof point, "ENGINE=1 %s ORDER=0", rows[i].point);
        assert_int_equal(gt_point_parse(&job[jobs].point, point, NULL), GEMMTUNE_OK);
        if (!is_allowed())
            fail_msg("%s: %s is refused", job[jobs].name, point);
        jobs++;
    }
}

static int by_number(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static bool is_wanted(int cc) {
    const char *below = getenv("GT_NVRTC_BELOW");
    return cc >= OLDEST && (below == NULL || cc < atoi(below));
}

/* Every architecture that some NVRTC here knows and we serve, once, ascending. */
static int find_archs(int archs[ARCHS_MAX]) {
    const struct gt_nvrtcs *all = gt_nvrtc_api();
    int count = 0, kept = 0;
    for (int i = 0; i < all->count; i++)
        for (int a = 0; a < all->lib[i].arch_count; a++)
            if (is_wanted(all->lib[i].arch[a]))
                archs[count++] = all->lib[i].arch[a];
    qsort(archs, (size_t)count, sizeof *archs, by_number);
    for (int i = 0; i < count; i++)
        if (i == 0 || archs[i] != archs[kept - 1])
            archs[kept++] = archs[i];
    return kept;
}

/* sm_61 stands for devices that only an older NVRTC serves; the other is the most common
 * one. */
static bool has_all_layouts(int cc, const int *archs) {
    return archs[0] <= 61 ? cc == 61 : cc == 90;
}

/* ---- the test ---- */

static int tell(int cc) {
    int good = 0, bad = 0;
    struct gt_nvrtc_choice choice;
    char name[64] = "", point[GT_POINT_TEXT_MAX];
    struct gt_err err;
    if (gt_nvrtc_choose(&choice, cc, &err) == GEMMTUNE_OK)
        gt_nvrtc_name(&choice, name, sizeof name);
    for (int i = 0; i < jobs; i++) {
        if (job[i].device.cc != cc || !is_in_share(i))
            continue;
        good += !job[i].trouble[0];
        bad += job[i].trouble[0] != '\0';
        if (job[i].trouble[0]) {
            (void)gt_point_text(&job[i].point, point);
            print_message("sm_%d %s %s %s: %s\n", cc,
                          job[i].family ? job[i].family->name : "checks", job[i].name,
                          point, job[i].trouble);
        }
    }
    print_message("sm_%d, %s: %d kernel texts compiled, %d did not\n", cc, name, good, bad);
    return bad;
}

static void test_every_family(void **state) {
    int archs[ARCHS_MAX], bad = 0;
    (void)state;
    const int count = find_archs(archs);
    if (count == 0) {
        print_message("skipped: no NVRTC: %s\n", gt_nvrtc_api()->why);
        skip();
    }
    jobs = 0;
    for (int i = 0; i < count; i++)
        add_arch(archs[i], i, has_all_layouts(archs[i], archs));
    expect_defaults();
    compile_all();
    for (int i = 0; i < count; i++)
        bad += tell(archs[i]);
    assert_int_equal(bad, 0);
}

/* Whether an NVRTC here compiles for `cc`. Says why not. */
static bool is_known(int cc) {
    struct gt_nvrtc_choice choice;
    struct gt_err err = {""};
    const bool is = gt_nvrtc_choose(&choice, cc, &err) == GEMMTUNE_OK;
    if (!is)
        print_message("skipped: %s\n", err.line);
    return is;
}

static int add_every_familys_starts(int cc) {
    int bad = 0;
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        if (f->source[GEMMTUNE_CUDA]->name && f->max_cc >= cc)
            bad += !add_starts(f, cc);
    }
    return bad;
}

static void test_every_start(void **state) {
    static const int others[] = {75, 80, 89, 120}; /* 75: no cp.async, 89: 8-bit floats */
    int bad = 0;
    (void)state;
    if (!is_wanted(START_CC) || !is_known(START_CC))
        skip();
    jobs = 0;
    bad += add_every_familys_starts(START_CC);
    add_epilogue();
    add_batches();
    add_warps(START_CC);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_known(others[i]))
            bad += !add_starts(gt_families_find(families, "mma"), others[i]);
    if (is_known(others[0]))
        bad += !add_starts(gt_families_find(families, "dot"), others[0]);
    if (is_known(80))
        add_warps(80);
    compile_all();
    bad += tell(START_CC);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        bad += tell(others[i]);
    assert_int_equal(bad, 0);
}

/* The compilers that a GTX 1050 or 1080 needs. */
static void test_pascal(void **state) {
    int archs[ARCHS_MAX];
    struct gt_nvrtc_choice choice;
    struct gt_err err = {""};
    (void)state;
    if (find_archs(archs) == 0)
        skip();
    const gt_status status = gt_nvrtc_choose(&choice, 61, &err);
    if (archs[0] <= 61) {
        assert_int_equal(status, GEMMTUNE_OK);
        assert_string_equal(choice.arch, "sm_61");
        return;
    }
    assert_int_equal(status, GEMMTUNE_EBUILD);
    print_message("%s\n", err.line);
    assert_non_null(strstr(err.line, "sm_61 needs NVRTC 12.9 or older"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_family),
        cmocka_unit_test(test_every_start),
        cmocka_unit_test(test_pascal),
    };
    struct gt_err err = {""};
    job = calloc(JOBS_MAX, sizeof *job);
    if (!job || gt_families_create(&families, &err) != GEMMTUNE_OK) {
        printf("not ok - %s\n", err.line);
        return 1;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gt_families_destroy(families);
    free(job);
    return failed != 0;
}
