/* SPDX-License-Identifier: Apache-2.0 */
/* A lock: its file, the facts that it holds a device to, and the choices of a lookup. */
#include "runtime/lookup/lock.h"
#include "tests/unit/match_families.h"

#define D1 "1111111111111111111111111111111111111111111111111111111111111111"
#define D2 "2222222222222222222222222222222222222222222222222222222222222222"

/* HASH and KEY stand for the family's hash and the key of the card. */
static const char good[] =
    "{\"format\": 1,\n\"gemmtune\": \"0.3.0\",\n"
    "\"device\": {\"key\": \"KEY\", \"name\": \"Card\", \"arch\": \"sm_90\",\n"
    " \"driver\": \"550.54\", \"compiler\": \"NVRTC 13.0\"},\n"
    "\"others\": \"refuse\", \"images\": true,\n"
    "\"templates\": {\"choosy\": \"HASH\"},\n"
    "\"pins\": [\n"
    " {\"problem\": \"f32-nn-64x64x64\", \"match\": \"shape\", \"expected_loss\": 0.25,\n"
    "  \"signature\": \"k16\",\n"
    "  \"kernel\": {\"family\": \"choosy\", \"point\": \"V=2 W=8\", \"source\": \"" D1
    "\",\n"
    "   \"image\": \"" D2 "\", \"workspace\": 4096},\n"
    "  \"unaligned\": {\"family\": \"choosy\", \"point\": \"V=1 W=8\", \"source\": \"" D2
    "\",\n   \"image\": \"" D1 "\", \"workspace\": 0}},\n"
    " {\"problem\": \"f32-nn-20x70x64\", \"match\": \"exact\", \"expected_loss\": 0,\n"
    "  \"kernel\": {\"family\": \"choosy\", \"point\": \"V=1 W=8\", \"source\": \"" D2
    "\",\n"
    "   \"image\": \"" D1 "\", \"workspace\": 0}}]}\n";

/* ---- texts --------------------------------------------------------------------------- */

/* The text with the first `was` replaced. The caller frees it. */
static char *with(const char *text, const char *was, const char *now) {
    const char *at = strstr(text, was);
    assert_non_null(at);
    const size_t before = (size_t)(at - text), size = strlen(text) + strlen(now) + 1;
    char *out = malloc(size);
    assert_non_null(out);
    (void)snprintf(out, size, "%.*s%s%s", (int)before, text, now, at + strlen(was));
    return out;
}

/* The text with the key of the card, and the hash of the family. */
static char *filled(const char *text) {
    char key[GT_DEVICE_KEY_MAX];
    gt_device_key(&card, key);
    char *half = with(text, "KEY", key);
    char *whole = with(half, "HASH", gt_families_find(families, "choosy")->hash);
    free(half);
    return whole;
}

static gt_status read_text(struct gt_lock **out, const char *text, struct gt_err *err) {
    struct gt_json *doc = NULL;
    *out = NULL;
    const gt_status status = gt_json_parse(&doc, "t.lock", text, strlen(text), err);
    return status == GEMMTUNE_OK ? gt_lock_take(out, doc, "t.lock", err) : status;
}

/* The good lock with one change, read. */
static struct gt_lock *lock_with(const char *was, const char *now) {
    struct gt_lock *lock = NULL;
    struct gt_err err = {""};
    char *changed = with(good, was, now), *text = filled(changed);
    (void)read_text(&lock, text, &err);
    assert_string_equal(err.line, "");
    assert_non_null(lock);
    free(text);
    free(changed);
    return lock;
}

/* ---- the file ------------------------------------------------------------------------ */

static void test_a_lock_is_read(void **state) {
    (void)state;
    struct gt_lock *lock = lock_with("0.3.0", "0.3.1");
    assert_string_equal(lock->version, "0.3.1");
    assert_string_equal(lock->driver, "550.54");
    assert_string_equal(lock->folder, "t.lock.d");
    assert_false(lock->others);
    assert_int_equal(lock->count, 2);
    const struct gt_pin *first = &lock->pin[0], *second = &lock->pin[1];
    assert_string_equal(first->problem, "f32-nn-20x70x64");
    assert_string_equal(first->signature, "");
    assert_null(first->kernel[GT_PIN_UNALIGNED].family);
    assert_string_equal(second->signature, "k16");
    assert_int_equal(second->match, GEMMTUNE_MATCH_SHAPE);
    assert_true(second->expected_loss > 0.2 && second->expected_loss < 0.3);
    assert_string_equal(second->kernel[GT_PIN_WIDE].pinned.source, D1);
    assert_string_equal(second->kernel[GT_PIN_WIDE].pinned.image, D2);
    assert_string_equal(second->kernel[GT_PIN_WIDE].pinned.compiler, "NVRTC 13.0");
    assert_int_equal(second->kernel[GT_PIN_WIDE].workspace, 4096);
    assert_string_equal(second->kernel[GT_PIN_UNALIGNED].point, "V=1 W=8");
    gt_lock_destroy(lock);
    gt_lock_destroy(NULL);
}

/* Members that may be missing. */
static void test_what_may_be_missing(void **state) {
    (void)state;
    struct gt_lock *lock = lock_with("\"others\": \"refuse\", \"images\": true,", "");
    assert_null(lock->folder);
    assert_false(lock->others);
    assert_null(lock->pin[0].kernel[GT_PIN_WIDE].pinned.folder);
    gt_lock_destroy(lock);
    lock = lock_with(" \"driver\": \"550.54\",", "");
    assert_null(lock->driver);
    gt_lock_destroy(lock);
}

static void test_bad_files(void **state) {
    static const struct {
        const char *was, *now, *said;
    } rows[] = {
        {"\"format\": 1", "\"format\": 2", "t.lock:1: /format: "},
        {"{\"format\"", "[\"format\"", "t.lock:1: "},
        {"\"gemmtune\": \"0.3.0\",", "", "gemmtune"},
        {"\"others\": \"refuse\"", "\"others\": \"maybe\"", "refuse or lookup"},
        {"\"others\"", "\"other\"", "t.lock:5: /other: "},
        {"\"images\": true", "\"images\": 1", "t.lock:5: /images: "},
        {"{\"choosy\": \"HASH\"}", "{}", "\"choosy\" is not in \"templates\""},
        {"\"HASH\"", "\"HASHx\"", "64 hexadecimal digits"},
        {"\"source\": \"1", "\"source\": \"", "t.lock:10: /pins/0/kernel/source: "},
        {"\"image\": \"2", "\"image\": \"G", "t.lock:11: /pins/0/kernel/image: "},
        {"\"workspace\": 4096", "\"workspace\": -1", "/pins/0/kernel/workspace: "},
        {"\"workspace\": 4096", "\"workspace\": 1.5", "/pins/0/kernel/workspace: "},
        {"V=2 W=8", "V=2, W=8", "/pins/0/kernel/point: "},
        {"\"match\": \"shape\"", "\"match\": \"near\"", "exact, shape, arch or default"},
        {"f32-nn-64x64x64", "f32-nn-064x64x64", "t.lock:8: /pins/0/problem: "},
        {"f32-nn-64x64x64", "f32-nn-64x64", "t.lock:8: /pins/0/problem: "},
        {"f32-nn-64x64x64", "f32-nn-20x70x64", "f32-nn-20x70x64 is pinned twice"},
        {"\"signature\": \"k16\"", "\"signature\": 1", "/pins/0/signature: "},
        {"\"unaligned\": {", "\"unaligned\": {\"x\": 1, ", "/pins/0/unaligned/x: "},
        {"\"kernel\"", "\"kernels\"", "/pins/0/kernels: "},
        {"\"expected_loss\": 0.25", "\"expected_loss\": -1", "/pins/0/expected_loss: "},
        {"\"pins\": [", "\"pins\": {\"a\": [1], \"b\": [", "t.lock:"},
        {", \"arch\": \"sm_90\"", "", "arch"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_err err = {""};
        struct gt_lock *lock = NULL;
        char *changed = with(good, rows[i].was, rows[i].now);
        char *hashed =
            strstr(changed, "HASH") != NULL ? with(changed, "HASH", D1) : strdup(changed);
        assert_int_equal(read_text(&lock, hashed, &err), GEMMTUNE_EPARSE);
        assert_null(lock);
        if (strstr(err.line, rows[i].said) == NULL)
            fail_msg("row %zu: \"%s\" lacks \"%s\"", i, err.line, rows[i].said);
        free(hashed);
        free(changed);
    }
}

/* ---- facts --------------------------------------------------------------------------- */

static void test_facts(void **state) {
    static const struct {
        const char *was, *now, *driver, *said;
    } rows[] = {
        {"0.3.0", "0.3.0", "550.54", NULL},
        {"0.3.0", "9.9.9", "550.54", NULL}, /* a version changes no kernel */
        {"0.3.0", "0.3.0", "", NULL},       /* a device that is only described */
        {" \"driver\": \"550.54\",", "", "560.1", NULL},
        {"0.3.0", "0.3.0", "560.1",
         "t.lock: the driver has changed: it is 560.1 here, and 550.54 in the lock"},
        /* a container may lack the library that knows the number before the brackets */
        {"\"driver\": \"550.54\"", "\"driver\": \"CUDA 13.0\"", "580.1 (CUDA 13.0)", NULL},
        {"\"driver\": \"550.54\"", "\"driver\": \"580.1 (CUDA 13.0)\"", "CUDA 13.0", NULL},
        {"\"driver\": \"550.54\"", "\"driver\": \"CUDA 12.8\"", "580.1 (CUDA 13.0)",
         "t.lock: the driver has changed: it is 580.1 (CUDA 13.0) here, and CUDA 12.8 in"},
        {"\"driver\": \"550.54\"", "\"driver\": \"570.9 (CUDA 13.0)\"", "580.1 (CUDA 13.0)",
         "t.lock: the driver has changed: "},
        {"KEY", "otherKEY", "550.54", "and the lock is for Card (other"},
        {"\"HASH\"", "\"" D1 "\" ", "550.54",
         "t.lock: the template choosy has changed: it is "},
        {"{\"choosy\"", "{\"nobody\": \"" D1 "\", \"choosy\"", "550.54", NULL},
        {"V=2 W=8", "V=3 W=8", "550.54", "t.lock: template choosy: V=3 is not one"},
        {"V=2 W=8", "V=2", "550.54", "t.lock: template choosy: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_device d = card;
        struct gt_err err = {""};
        struct gt_lock *lock = NULL;
        char *changed = with(good, rows[i].was, rows[i].now);
        /* filled() needs a place for the hash, and the version is as good as any */
        char *half = strstr(changed, "HASH") != NULL ? strdup(changed)
                                                     : with(changed, "0.3.0", "HASH");
        char *text = filled(half);
        (void)snprintf(d.driver, sizeof d.driver, "%s", rows[i].driver);
        assert_int_equal(read_text(&lock, text, &err), GEMMTUNE_OK);
        const gt_status status = gt_lock_bind(lock, families, &d, &err);
        assert_int_equal(status, rows[i].said == NULL ? GEMMTUNE_OK : GEMMTUNE_ELOCKED);
        if (rows[i].said != NULL && strstr(err.line, rows[i].said) == NULL)
            fail_msg("row %zu: \"%s\" lacks \"%s\"", i, err.line, rows[i].said);
        gt_lock_destroy(lock);
        free(text);
        free(half);
        free(changed);
    }
}

/* ---- choices ------------------------------------------------------------------------- */

static gt_status choose(struct gt_choice *out, const struct gt_lock *lock,
                        const char *problem, size_t workspace, int64_t align,
                        struct gt_err *err) {
    const struct gt_snapshot snapshot = {families, NULL, 0, NULL};
    char key[GT_DEVICE_KEY_MAX];
    gemmtune_problem p;
    gt_device_key(&card, key);
    assert_int_equal(gt_problem_from_name(&p, problem, NULL), GEMMTUNE_OK);
    const struct gt_query query = {.snapshot = &snapshot,
                                   .device = &card,
                                   .device_key = key,
                                   .problem = &p,
                                   .worst = GEMMTUNE_MATCH_EXACT,
                                   .workspace_max = workspace,
                                   .pointer_align = align,
                                   .lock = lock};
    return gt_match(out, &query, err);
}

static struct gt_lock *bound(const char *was, const char *now) {
    struct gt_lock *lock = lock_with(was, now);
    struct gt_err err = {""};
    (void)gt_lock_bind(lock, families, &card, &err);
    assert_string_equal(err.line, "");
    return lock;
}

static void test_the_pin_is_the_choice(void **state) {
    static const char problem[] = "f32-nn-64x64x64";
    struct gt_lock *lock = bound("\"550.54\"", "\"\"");
    struct gt_choice c;
    struct gt_err err = {""};
    int64_t v;
    (void)state;
    assert_int_equal(choose(&c, lock, problem, 4096, GT_VECTOR_BYTES, &err), GEMMTUNE_OK);
    assert_int_equal(c.match, GEMMTUNE_MATCH_SHAPE); /* though EXACT was asked for */
    assert_string_equal(c.why, "pinned by t.lock");
    assert_true(gt_point_get(&c.point, "V", &v) && v == 2);
    assert_ptr_equal(c.fit.pinned, &lock->pin[1].kernel[GT_PIN_WIDE].pinned);
    assert_int_equal(choose(&c, lock, problem, 4096, 1, &err), GEMMTUNE_OK);
    assert_true(gt_point_get(&c.point, "V", &v) && v == 1);
    assert_string_equal(c.fit.pinned->source, D2);
    gt_lock_destroy(lock);
}

static void test_refused_choices(void **state) {
    static const struct {
        const char *problem;
        size_t workspace;
        int64_t align;
        gt_status status;
        const char *said;
    } rows[] = {
        {"f32-nn-64x64x64", 4095, 16, GEMMTUNE_EWORKSPACE,
         "needs 4096 bytes of workspace, and the caller has 4095"},
        {"f32-nn-64x64x65", 4096, 16, GEMMTUNE_ENOTFOUND,
         "t.lock: f32-nn-64x64x65 is not pinned"},
        {"f32-nn-20x70x64", 0, 1, GEMMTUNE_ENOTFOUND,
         "no kernel is pinned for unaligned pointers of f32-nn-20x70x64"},
    };
    struct gt_lock *lock = bound("0.3.0", "0.3.0");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_choice c;
        struct gt_err err = {""};
        assert_int_equal(
            choose(&c, lock, rows[i].problem, rows[i].workspace, rows[i].align, &err),
            rows[i].status);
        if (strstr(err.line, rows[i].said) == NULL)
            fail_msg("row %zu: \"%s\" lacks \"%s\"", i, err.line, rows[i].said);
    }
    gt_lock_destroy(lock);
}

/* The template is the pinned one, and does something else than the lock says. */
static void test_changed_fits(void **state) {
    struct gt_lock *lock = bound("\"workspace\": 4096", "\"workspace\": 8");
    struct gt_choice c;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(choose(&c, lock, "f32-nn-64x64x64", 4096, 16, &err), GEMMTUNE_ELOCKED);
    assert_non_null(strstr(err.line, "it is 4096 bytes here, and 8 in the lock"));
    gt_lock_destroy(lock);
    lock = bound("f32-nn-20x70x64", "f32-nn-20x70x3");
    assert_int_equal(choose(&c, lock, "f32-nn-20x70x3", 0, 16, &err), GEMMTUNE_ELOCKED);
    assert_non_null(strstr(err.line, "a short sum"));
    gt_lock_destroy(lock);
}

/* A lock that says so leaves other problems to the lookup, which has no record here. */
static void test_others_are_looked_up(void **state) {
    struct gt_lock *lock = bound("\"others\": \"refuse\"", "\"others\": \"lookup\"");
    struct gt_choice c;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(choose(&c, lock, "f32-nn-64x64x65", 0, 16, &err), GEMMTUNE_ENOTFOUND);
    assert_non_null(strstr(err.line, "0 tuned kernels considered"));
    assert_int_equal(choose(&c, lock, "f32-nn-20x70x64", 0, 16, &err), GEMMTUNE_OK);
    gt_lock_destroy(lock);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lock_is_read),
        cmocka_unit_test(test_what_may_be_missing),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_the_pin_is_the_choice),
        cmocka_unit_test(test_refused_choices),
        cmocka_unit_test(test_changed_fits),
        cmocka_unit_test(test_others_are_looked_up),
    };
    return cmocka_run_group_tests_name("lock", tests, setup, teardown);
}
