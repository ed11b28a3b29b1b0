/* SPDX-License-Identifier: Apache-2.0 */
/* Images that a lock demands: out of its folder, out of the cache, or from the one compiler
 * that it names. Everything else is refused with what has changed. */
#include "runtime/drivers/pinned.h"
#include "tests/unit/cached_builds.h"

static const char source[] = "kernel", backwards[] = "lenrek";
static char source_digest[GT_DIGEST_SIZE], image_digest[GT_DIGEST_SIZE], path[512];

/* The pin of `source`, as the fake driver builds it. */
static struct gt_pinned pinned(void) {
    gt_digest(source_digest, source, strlen(source));
    gt_digest(image_digest, backwards, strlen(backwards));
    return (struct gt_pinned){source_digest, image_digest, "fake 1.0 -O3", NULL};
}

/* Builds; the status, with the sentence in *err. A good image is the pinned one. */
static gt_status take(bool *cached, const struct gt_pinned *p, const char *text,
                      bool only_cached, struct gt_err *err) {
    struct gt_image image;
    struct gt_build_stats stats;
    const gt_status status =
        gt_build_pinned(&image, &fake, &device, text, p, only_cached, &stats, err);
    *cached = stats.cached;
    if (status == GEMMTUNE_OK) {
        assert_int_equal(image.size, strlen(backwards));
        assert_memory_equal(image.bytes, backwards, image.size);
    }
    gt_image_clear(&image);
    return status;
}

static void expect_refusal(const struct gt_pinned *p, const char *text, const char *said) {
    struct gt_err err = {""};
    bool cached;
    assert_int_equal(take(&cached, p, text, false, &err), GEMMTUNE_ELOCKED);
    if (strstr(err.line, said) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", err.line, said);
}

static void test_built_and_cached(void **state) {
    const struct gt_pinned p = pinned();
    struct gt_err err = {""};
    bool cached;
    (void)state;
    fake.compiles_apart = true;
    assert_int_equal(take(&cached, &p, source, true, &err), GEMMTUNE_ENOTFOUND);
    assert_int_equal(builds, 0);
    assert_int_equal(take(&cached, &p, source, false, &err), GEMMTUNE_OK);
    assert_false(cached);
    assert_int_equal(take(&cached, &p, source, true, &err), GEMMTUNE_OK);
    assert_true(cached);
    assert_int_equal(builds, 1);
}

static void test_changes(void **state) {
    struct gt_pinned p = pinned();
    (void)state;
    fake.compiles_apart = true;
    expect_refusal(&p, "kernels", "the source has changed: it is ");
    chain = "fake 2.0 -O3";
    expect_refusal(&p, source,
                   "the compiler has changed: it is \"fake 2.0 -O3\" here, and \"fake 1.0 "
                   "-O3\" in the lock");
    assert_int_equal(builds, 0); /* another compiler is not asked */
    chain = "fake 1.0 -O3";
    p.image = p.source;
    expect_refusal(&p, source, "the image has changed: the same source and compiler give ");
    assert_int_equal(builds, 1);
    chain = "fake 2.0 -O3";
    (void)build(source);
    expect_refusal(&p, source, "the compiler has changed: "); /* and its image is cached */
}

/* Where images of one source differ, the compiler stands for the image. */
static void test_a_driver_that_compiles_in_its_context(void **state) {
    struct gt_pinned p = pinned();
    struct gt_err err = {""};
    bool cached;
    (void)state;
    fake.compiles_apart = false;
    p.image = p.source;
    assert_int_equal(take(&cached, &p, source, false, &err), GEMMTUNE_OK);
    assert_int_equal(take(&cached, &p, source, true, &err), GEMMTUNE_OK);
    chain = "fake 2.0 -O3";
    (void)build(source);
    expect_refusal(&p, source, "the compiler has changed: ");
}

/* Nothing is compiled, and nobody asks for a compiler. */
static void test_the_folder(void **state) {
    struct gt_pinned p = pinned();
    struct gt_err err = {""};
    bool cached;
    (void)state;
    fake.compiles_apart = true;
    chain = "fake 2.0 -O3";
    p.folder = root;
    assert_int_equal(gt_pinned_path(path, sizeof path, root, image_digest, &err),
                     GEMMTUNE_OK);
    expect_refusal(&p, source, "the pinned image cannot be opened: ");
    write_file(path, (const unsigned char *)backwards, strlen(backwards));
    assert_int_equal(take(&cached, &p, source, true, &err), GEMMTUNE_OK);
    assert_true(cached);
    expect_refusal(&p, "kernels", "the source has changed: ");
    write_file(path, (const unsigned char *)"lenreK", strlen(backwards));
    expect_refusal(&p, source, ".image has changed: its bytes have the digest ");
    write_file(path, (const unsigned char *)"", 0);
    expect_refusal(&p, source, " is empty or too large for an image");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    expect_refusal(&p, source, "the pinned image cannot be opened: ");
    assert_int_equal(builds, 0);
}

static void test_a_path_that_is_too_long(void **state) {
    char small[80];
    struct gt_err err = {""};
    (void)state;
    (void)pinned();
    assert_int_equal(gt_pinned_path(small, sizeof small, "/a/folder", image_digest, &err),
                     GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "/a/folder...: the path is too long"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_built_and_cached),
        CASE(test_changes),
        CASE(test_a_driver_that_compiles_in_its_context),
        CASE(test_the_folder),
        CASE(test_a_path_that_is_too_long),
    };
    return cmocka_run_group_tests_name("build pinned", tests, NULL, NULL);
}
