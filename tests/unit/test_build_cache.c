/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image cache in use: what is found again, damaged entries, clearing, and the notes
 * that spare the compiler's library. A damaged entry must be a miss and a rebuild, never an
 * error and never a wrong image.
 */
#include "tests/unit/cached_builds.h"

/* ---- the ordinary way ---- */

static void test_hit_and_miss(void **state) {
    (void)state;
    assert_false(build("kernel one, warn"));
    assert_true(build("kernel one, warn"));
    assert_false(build("kernel two"));
    assert_int_equal(builds, 2);
    assert_int_equal(mode_of(cache), 0700);
}

static void test_entry_is_private(void **state) {
    (void)state;
    (void)build("kernel");
    assert_int_equal(mode_of(the_entry()), 0600);
}

/* Toolchain, architecture and source are each part of the key. */
static void test_key(void **state) {
    (void)state;
    assert_false(build("kernel"));
    chain = "fake 1.1 -O3";
    assert_false(build("kernel"));
    chain = "fake 1.0 -O3";
    snprintf(device.arch, sizeof device.arch, "sm_62");
    assert_false(build("kernel"));
    snprintf(device.arch, sizeof device.arch, "sm_61");
    assert_true(build("kernel"));
}

static void test_not_cacheable(void **state) {
    (void)state;
    fake.keeps_images = false;
    assert_false(build("kernel"));
    assert_false(build("kernel"));
    assert_false(gt_build_keeps(&fake));
    assert_int_equal(access(cache, F_OK), -1);
}

static void test_failures_are_not_kept(void **state) {
    (void)state;
    struct gt_image image;
    struct gt_build_stats stats;
    struct gt_err err;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gt_build(&image, &fake, &device, "fail, warn", &stats, &err),
                         GEMMTUNE_EBUILD);
        assert_string_equal(err.line, "line 3: error");
        assert_string_equal(image.log, "line 3: warning");
        assert_false(stats.cached);
        gt_image_clear(&image);
    }
    assert_int_equal(builds, 2);
}

static void test_no_compiler(void **state) {
    (void)state;
    const struct gt_device old = {.arch = "sm_1", .cc = 1};
    struct gt_image image;
    struct gt_err err;
    assert_int_equal(gt_build(&image, &fake, &old, "kernel", NULL, &err), GEMMTUNE_EBUILD);
    assert_string_equal(err.line, "no compiler for sm_1");
    assert_string_equal(image.log, "");
    gt_image_clear(&image);
    assert_int_equal(builds, 0);
}

static void test_find(void **state) {
    (void)state;
    assert_false(find("kernel"));
    assert_false(build("kernel"));
    assert_true(find("kernel"));
    assert_false(find("another kernel"));
    chain = "fake 2.0 -O3";
    assert_false(find("kernel"));
    chain = "fake 1.0 -O3";
    fake.keeps_images = false;
    assert_false(find("kernel"));
}

/* ---- damaged entries ---- */

static void test_truncated_anywhere(void **state) {
    (void)state;
    unsigned char good[4096];
    (void)build("a kernel that warns");
    const size_t size = read_file(the_entry(), good, sizeof good);
    for (size_t cut = 0; cut < size; cut++) {
        write_file(the_entry(), good, cut);
        assert_false(build("a kernel that warns"));
        assert_true(build("a kernel that warns")); /* healed */
    }
}

static void test_every_byte_flipped(void **state) {
    (void)state;
    unsigned char good[4096];
    (void)build("a kernel that warns");
    const size_t size = read_file(the_entry(), good, sizeof good);
    for (size_t i = 0; i < size; i++) {
        good[i] ^= 0x21;
        write_file(the_entry(), good, size);
        assert_false(build("a kernel that warns"));
        good[i] ^= 0x21;
    }
}

static void test_longer(void **state) {
    (void)state;
    unsigned char good[4096];
    (void)build("kernel");
    const size_t size = read_file(the_entry(), good, sizeof good - 1);
    good[size] = 'x';
    write_file(the_entry(), good, size + 1);
    assert_false(build("kernel"));
    assert_true(build("kernel"));
}

/* A sound entry under another entry's name must not be taken for it. */
static void test_swapped_names(void **state) {
    (void)state;
    char other[512];
    (void)build("kernel one");
    snprintf(other, sizeof other, "%s/one", root);
    assert_int_equal(rename(the_entry(), other), 0);
    (void)build("kernel two");
    assert_int_equal(rename(other, the_entry()), 0);
    assert_false(build("kernel two"));
}

/* ---- housekeeping ---- */

static void test_clear_removes_only_ours(void **state) {
    (void)state;
    char path[512], folder[1024];
    int64_t count, bytes, removed;
    struct gt_err err;
    assert_int_equal(gt_cache_stat(folder, sizeof folder, &count, &bytes, &err),
                     GEMMTUNE_OK);
    assert_string_equal(folder, cache);
    assert_int_equal(count, 0);
    (void)build("kernel one");
    snprintf(path, sizeof path, "%s/.%.64s.77.1f.tmp", cache,
             strrchr(the_entry(), '/') + 1);
    write_file(path, (const unsigned char *)"left behind", 11);
    (void)build("kernel two");
    snprintf(path, sizeof path, "%s/notes.img", cache);
    write_file(path, (const unsigned char *)"mine", 4);
    assert_int_equal(gt_cache_stat(folder, sizeof folder, &count, &bytes, &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, 2);
    assert_true(bytes > 20);
    assert_int_equal(gt_cache_clear(&removed, &err), GEMMTUNE_OK);
    assert_int_equal(removed, 3);
    assert_int_equal(access(path, F_OK), 0);
    assert_false(build("kernel one"));
}

/* ---- notes: an image is found without the compiler's library ---- */

static int asked; /* how often the toolchain was */

static gt_status counted_toolchain(char text[GT_TOOLCHAIN_MAX], const struct gt_device *d,
                                   struct gt_err *err) {
    asked++;
    return fake_toolchain(text, d, err);
}

static char found_libraries[65]; /* "": loaded already */

static void fake_libraries(char digest[65], const struct gt_device *d) {
    (void)d;
    memcpy(digest, found_libraries, sizeof found_libraries);
}

static int set_up_notes(void **state) {
    asked = 0;
    fake.toolchain = counted_toolchain;
    fake.libraries = fake_libraries;
    (void)snprintf(found_libraries, sizeof found_libraries, "%064d", 12);
    return set_up(state);
}

static int tear_down_notes(void **state) {
    fake.toolchain = fake_toolchain;
    fake.libraries = NULL;
    return tear_down(state);
}

/* The path of the note that was left for the libraries. */
static const char *the_note(void) {
    static char path[512];
    (void)snprintf(path, sizeof path, "%s/%s%s", cache, found_libraries, GT_CACHE_NOTE);
    return path;
}

static void test_note_spares_the_library(void **state) {
    (void)state;
    assert_false(build("one"));
    assert_int_equal(asked, 1);
    assert_true(build("one"));
    assert_int_equal(asked, 1);
    assert_false(build("two")); /* must be compiled */
    assert_int_equal(asked, 2);
}

static void test_note_of_other_libraries(void **state) {
    (void)state;
    assert_false(build("one"));
    found_libraries[0] = '1';
    chain = "fake 2.0 -O3";
    assert_false(build("one"));
    assert_true(build("one"));
    assert_int_equal(asked, 2);
    assert_int_equal(builds, 2);
}

static void test_library_is_loaded_already(void **state) {
    (void)state;
    found_libraries[0] = '\0';
    assert_false(build("one"));
    assert_true(build("one"));
    assert_int_equal(asked, 2);
}

/* A program that meets the cache for the first time finds its images once it knows the
 * toolchain; that is asked for once. */
static void test_a_program_without_a_note(void **state) {
    (void)state;
    assert_false(build("one"));
    found_libraries[0] = '1'; /* another program */
    assert_false(find("one"));
    asked = 0;
    gt_build_know(&fake, &device);
    assert_true(find("one"));
    gt_build_know(&fake, &device);
    assert_int_equal(asked, 1);
    fake.keeps_images = false;
    found_libraries[0] = '2';
    gt_build_know(&fake, &device);
    assert_int_equal(asked, 1);
}

/* A damaged note is a missing one, and is written anew. */
static void test_note_is_damaged(void **state) {
    (void)state;
    assert_false(build("one"));
    FILE *f = fopen(the_note(), "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 70, SEEK_SET), 0);
    assert_int_equal(fputc('?', f), '?');
    assert_int_equal(fclose(f), 0);
    assert_true(build("one"));
    assert_int_equal(asked, 2);
    assert_true(build("one"));
    assert_int_equal(asked, 2);
}

static void test_clear_removes_notes(void **state) {
    int64_t removed = -1;
    (void)state;
    assert_false(build("one"));
    assert_int_equal(access(the_note(), F_OK), 0);
    assert_int_equal(gt_cache_clear(&removed, NULL), GEMMTUNE_OK);
    assert_int_equal(removed, 1);
    assert_int_not_equal(access(the_note(), F_OK), 0);
}

#define NOTES(f) cmocka_unit_test_setup_teardown(f, set_up_notes, tear_down_notes)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_hit_and_miss),
        CASE(test_entry_is_private),
        CASE(test_key),
        CASE(test_not_cacheable),
        CASE(test_failures_are_not_kept),
        CASE(test_no_compiler),
        CASE(test_find),
        CASE(test_truncated_anywhere),
        CASE(test_every_byte_flipped),
        CASE(test_longer),
        CASE(test_swapped_names),
        CASE(test_clear_removes_only_ours),
        NOTES(test_note_spares_the_library),
        NOTES(test_note_of_other_libraries),
        NOTES(test_library_is_loaded_already),
        NOTES(test_a_program_without_a_note),
        NOTES(test_note_is_damaged),
        NOTES(test_clear_removes_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
