/* SPDX-License-Identifier: Apache-2.0 */
/* cached_builds.h - the image cache in a folder of the test's own, with a driver that only
 * counts: shared by the tests test_build_cache*.c. */
#ifndef GT_TESTS_UNIT_CACHED_BUILDS_H
#define GT_TESTS_UNIT_CACHED_BUILDS_H

#include "runtime/drivers/build.h"
#include "runtime/drivers/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a driver of our own: the image is the source, backwards ---- */

static int builds;
static const char *chain = "fake 1.0 -O3";

static inline gt_status fake_toolchain(char text[GT_TOOLCHAIN_MAX],
                                       const struct gt_device *d, struct gt_err *err) {
    if (d->cc == 1)
        return gt_fail(err, GEMMTUNE_EBUILD, "no compiler for sm_1");
    snprintf(text, GT_TOOLCHAIN_MAX, "%s", chain);
    return GEMMTUNE_OK;
}

static inline gt_status fake_build(struct gt_image *image, const struct gt_device *d,
                                   const char *source, struct gt_err *err) {
    (void)d;
    builds++;
    *image = (struct gt_image){.registers = 40, .spill_bytes = 8, .smem_bytes = 1024};
    image->log = strdup(strstr(source, "warn") ? "line 3: warning" : "");
    if (strstr(source, "fail"))
        return gt_fail(err, GEMMTUNE_EBUILD, "line 3: error");
    image->size = strlen(source);
    char *bytes = malloc(image->size + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < image->size; i++)
        bytes[i] = source[image->size - 1 - i];
    image->bytes = bytes;
    return GEMMTUNE_OK;
}

static struct gt_driver fake = {.backend = GEMMTUNE_CUDA,
                                .toolchain = fake_toolchain,
                                .keeps_images = true,
                                .build = fake_build};
static struct gt_device device = {.arch = "sm_61", .cc = 61};

/* ---- helpers ---- */

static char root[200];  /* of this test */
static char cache[256]; /* the folder, not made yet */

static inline int set_up(void **state) {
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof root, "%.150s/gemmtune-cache-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(root));
    snprintf(cache, sizeof cache, "%s/a/b", root);
    assert_int_equal(setenv("GEMMTUNE_CACHE_DIR", cache, 1), 0);
    builds = 0;
    fake.keeps_images = true;
    chain = "fake 1.0 -O3";
    return 0;
}

static inline int tear_down(void **state) {
    (void)state;
    if (getuid() == 0 && seteuid(0) != 0)
        return -1;
    char command[512];
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", root, root);
    return system(command);
}

/* Builds and checks the image; returns whether it came from the cache. */
static inline bool build(const char *source) {
    struct gt_image image;
    struct gt_build_stats stats;
    struct gt_err err = {""};
    assert_int_equal(gt_build(&image, &fake, &device, source, &stats, &err), GEMMTUNE_OK);
    const size_t size = strlen(source);
    assert_int_equal(image.size, size);
    const char *bytes = image.bytes;
    for (size_t i = 0; i < size; i++)
        assert_int_equal(bytes[i], source[size - 1 - i]);
    assert_int_equal(image.registers, 40);
    assert_int_equal(image.spill_bytes, 8);
    assert_int_equal(image.smem_bytes, 1024);
    assert_string_equal(image.log, strstr(source, "warn") ? "line 3: warning" : "");
    if (stats.cached)
        assert_true(stats.compile_ms == 0);
    gt_image_clear(&image);
    return stats.cached;
}

/* Whether the image is found. That compiles nothing. */
static inline bool find(const char *source) {
    struct gt_image image;
    const int before = builds;
    const bool found = gt_build_find(&image, &fake, &device, source);
    assert_int_equal(builds, before);
    assert_true(!found || image.size == strlen(source));
    gt_image_clear(&image);
    return found;
}

/* The path of the only image in the folder. */
static inline const char *the_entry(void) {
    static char path[512];
    DIR *dir = opendir(cache);
    assert_non_null(dir);
    path[0] = '\0';
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        assert_string_equal(path, "");
        snprintf(path, sizeof path, "%s/%.200s", cache, e->d_name);
    }
    closedir(dir);
    assert_string_not_equal(path, "");
    return path;
}

static inline size_t read_file(const char *path, unsigned char *to, size_t room) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t n = fread(to, 1, room, f);
    fclose(f);
    return n;
}

static inline void write_file(const char *path, const unsigned char *from, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(from, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static inline mode_t mode_of(const char *path) {
    struct stat s;
    assert_int_equal(lstat(path, &s), 0);
    return s.st_mode & 07777;
}

/* A test in a folder of its own. */
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
