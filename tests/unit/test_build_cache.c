/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image cache with a driver that only counts. Each damaged, strange or hostile entry
 * must be a miss and a rebuild, never an error and never a wrong image.
 */
#include "runtime/build.h"
#include "runtime/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a driver of our own: the image is the source, backwards ---- */

static int builds;
static const char *chain = "fake 1.0 -O3";

static gt_status fake_toolchain(char text[GT_TOOLCHAIN_MAX], const struct gt_device *d,
                                struct gt_err *err) {
    if (d->cc == 1)
        return gt_fail(err, GEMMTUNE_EBUILD, "no compiler for sm_1");
    snprintf(text, GT_TOOLCHAIN_MAX, "%s", chain);
    return GEMMTUNE_OK;
}

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

static gt_status fake_build(struct gt_image *image, const struct gt_device *d,
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

static int set_up(void **state) {
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

static int tear_down(void **state) {
    (void)state;
    if (getuid() == 0 && seteuid(0) != 0)
        return -1;
    char command[512];
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", root, root);
    return system(command);
}

/* Builds and checks the image; returns whether it came from the cache. */
static bool build(const char *source) {
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
static bool find(const char *source) {
    struct gt_image image;
    const int before = builds;
    const bool found = gt_build_find(&image, &fake, &device, source);
    assert_int_equal(builds, before);
    assert_true(!found || image.size == strlen(source));
    gt_image_clear(&image);
    return found;
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

/* The path of the only image in the folder. */
static const char *the_entry(void) {
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

static size_t read_file(const char *path, unsigned char *to, size_t room) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t n = fread(to, 1, room, f);
    fclose(f);
    return n;
}

static void write_file(const char *path, const unsigned char *from, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(from, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static mode_t mode_of(const char *path) {
    struct stat s;
    assert_int_equal(lstat(path, &s), 0);
    return s.st_mode & 07777;
}

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

/* ---- hostile entries ---- */

static void test_symlink_is_not_followed(void **state) {
    (void)state;
    char aside[512];
    unsigned char before[4096], after[4096];
    (void)build("kernel");
    const char *entry = the_entry();
    snprintf(aside, sizeof aside, "%s/aside", root);
    assert_int_equal(rename(entry, aside), 0);
    const size_t size = read_file(aside, before, sizeof before);
    assert_int_equal(symlink(aside, entry), 0);
    assert_false(build("kernel"));
    assert_true(build("kernel")); /* the link gave way to a file */
    assert_int_equal(read_file(aside, after, sizeof after), size);
    assert_memory_equal(before, after, size);
}

static void test_others_may_write(void **state) {
    (void)state;
    (void)build("kernel");
    assert_int_equal(chmod(the_entry(), 0666), 0);
    assert_false(build("kernel"));
    assert_true(build("kernel"));
    assert_int_equal(mode_of(the_entry()), 0600);
}

static void test_fifo_does_not_hang(void **state) {
    (void)state;
    (void)build("kernel");
    char path[512];
    snprintf(path, sizeof path, "%s", the_entry());
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    (void)alarm(10);
    assert_false(build("kernel"));
    (void)alarm(0);
    assert_true(build("kernel"));
}

static void test_folder_in_its_place(void **state) {
    (void)state;
    (void)build("kernel");
    char path[512];
    snprintf(path, sizeof path, "%s", the_entry());
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(build("kernel"));
    assert_false(build("kernel"));
    int64_t count, bytes;
    char folder[FILENAME_MAX];
    struct gt_err err;
    assert_int_equal(gt_cache_stat(folder, sizeof folder, &count, &bytes, &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, 0);
}

/* ---- a folder that cannot serve ---- */

static void test_folder_of_wrong_mode(void **state) {
    (void)state;
    (void)build("kernel");
    assert_int_equal(chmod(cache, 0777), 0);
    assert_false(build("kernel"));
    assert_false(build("kernel"));
    int64_t removed;
    struct gt_err err;
    assert_int_equal(gt_cache_clear(&removed, &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, cache));
    assert_int_equal(chmod(cache, 0700), 0);
    assert_true(build("kernel"));
}

enum { NOBODY = 65534 };

/* Root may write anywhere, so root becomes nobody until tear_down. False when even
 * looking into the test's folder is not possible then. */
static bool become_ordinary(void) {
    if (geteuid() != 0)
        return true;
    assert_int_equal(chown(root, NOBODY, NOBODY), 0);
    if (seteuid(NOBODY) != 0)
        return false;
    const int fd = open(root, O_RDONLY);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

static void test_unwritable_folder(void **state) {
    (void)state;
    if (!become_ordinary()) {
        print_message("skipped: an ordinary user cannot be tried here\n");
        skip();
    }
    assert_false(build("kernel one"));
    assert_int_equal(chmod(cache, 0500), 0);
    assert_false(build("kernel two"));
    assert_false(build("kernel two"));
    assert_true(build("kernel one"));
}

static void test_foreign_owner(void **state) {
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can give files away\n");
        skip();
    }
    assert_false(build("kernel"));
    assert_int_equal(chown(the_entry(), NOBODY, NOBODY), 0);
    assert_false(build("kernel"));
    assert_true(build("kernel"));
    assert_int_equal(chown(cache, NOBODY, NOBODY), 0);
    assert_false(build("kernel"));
    assert_false(build("kernel"));
}

/* Root or not: nothing can be made below a file. */
static void test_folder_cannot_be_made(void **state) {
    (void)state;
    snprintf(cache, sizeof cache, "%s/file", root);
    write_file(cache, (const unsigned char *)"x", 1);
    snprintf(cache, sizeof cache, "%s/file/b", root);
    assert_int_equal(setenv("GEMMTUNE_CACHE_DIR", cache, 1), 0);
    assert_false(build("kernel"));
    assert_false(build("kernel"));
}

static void test_folder_is_a_symlink(void **state) {
    (void)state;
    char real[256];
    snprintf(real, sizeof real, "%s/real", root);
    snprintf(cache, sizeof cache, "%s/link", root);
    assert_int_equal(mkdir(real, 0700), 0);
    assert_int_equal(symlink(real, cache), 0);
    assert_int_equal(setenv("GEMMTUNE_CACHE_DIR", cache, 1), 0);
    assert_false(build("kernel"));
    assert_false(build("kernel"));
}

static void test_environment(void **state) {
    (void)state;
    char folder[1024], wanted[512];
    int64_t count, bytes;
    struct gt_err err;
    static const struct {
        const char *own, *xdg, *home, *folder; /* NULL: unset; folder is below root */
    } rows[] = {
        {"", "/x", "/y", NULL},
        {NULL, NULL, NULL, NULL},
        {NULL, "relative", NULL, NULL},
        {NULL, "", "", NULL},
        {NULL, NULL, "relative", NULL},
        {NULL, "/x", "/y", "/x/gemmtune"},
        {NULL, NULL, "/y", "/y/.cache/gemmtune"},
        {"/z", "/x", "/y", "/z"},
        {NULL, "", "/y", "/y/.cache/gemmtune"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const names[] = {"GEMMTUNE_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
        const char *const values[] = {rows[i].own, rows[i].xdg, rows[i].home};
        for (int j = 0; j < 3; j++) {
            snprintf(wanted, sizeof wanted, "%s%s", root, values[j] ? values[j] : "");
            if (!values[j])
                unsetenv(names[j]);
            else
                setenv(names[j], values[j][0] == '/' ? wanted : values[j], 1);
        }
        assert_false(build("kernel"));
        assert_int_equal(build("kernel"), rows[i].folder != NULL);
        assert_int_equal(gt_cache_stat(folder, sizeof folder, &count, &bytes, &err),
                         GEMMTUNE_OK);
        snprintf(wanted, sizeof wanted, "%s%s", rows[i].folder ? root : "",
                 rows[i].folder ? rows[i].folder : "");
        assert_string_equal(folder, wanted);
        assert_int_equal(count, rows[i].folder ? 1 : 0);
        int64_t removed;
        assert_int_equal(gt_cache_clear(&removed, &err), GEMMTUNE_OK);
        assert_int_equal(removed, count);
    }
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

enum { RACERS = 4, SOURCES = 60 };

/* ---- the limit ---- */

/* A kernel whose image has about so many KiB. */
static bool build_large(const char *name, int number, int kib) {
    static char source[64 * 1024];
    assert_true(kib < 64);
    memset(source, 'x', sizeof source);
    source[snprintf(source, 64, "%s %d ", name, number)] = ' ';
    source[kib * 1024] = '\0';
    return build(source);
}

static int64_t bytes_kept(void) {
    char folder[1024];
    int64_t count, bytes;
    struct gt_err err;
    assert_int_equal(gt_cache_stat(folder, sizeof folder, &count, &bytes, &err),
                     GEMMTUNE_OK);
    return bytes;
}

static void make_old(const char *path) {
    struct timespec times[2] = {{.tv_sec = time(NULL) - 30 * 3600}};
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void make_all_old(void) {
    char path[1024];
    DIR *dir = opendir(cache);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%.200s", cache, e->d_name);
        if (e->d_name[0] != '.')
            make_old(path);
    }
    closedir(dir);
}

enum { OLD = 40, NEW = 64 }; /* one of so many that are kept makes room */

static void test_limit(void **state) {
    (void)state;
    char left[512], ours[512], notes[512];
    setenv("GEMMTUNE_CACHE_MAX", "1", 1);
    assert_false(build("favourite"));
    snprintf(left, sizeof left, "%s/.%.64s.77.1f.tmp", cache,
             strrchr(the_entry(), '/') + 1);
    snprintf(ours, sizeof ours, "%s/.%.64s.78.1f.tmp", cache,
             strrchr(the_entry(), '/') + 1);
    snprintf(notes, sizeof notes, "%s/notes.img", cache);
    for (int i = 0; i < OLD; i++)
        assert_false(build_large("old", i, 32));
    assert_true(bytes_kept() > 1 << 20);
    write_file(left, (const unsigned char *)"left behind", 11);
    write_file(notes, (const unsigned char *)"mine", 4);
    make_all_old();
    make_old(left);
    write_file(ours, (const unsigned char *)"being written", 13);
    assert_true(build("favourite")); /* a use, which is noted */
    for (int i = 0; i < NEW; i++)
        assert_false(build_large("new", i, 4));
    assert_in_range(bytes_kept(), 1, 1 << 20);
    assert_true(build("favourite"));
    for (int i = 0; i < NEW; i++)
        assert_true(build_large("new", i, 4));
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(access(ours, F_OK), 0);
    assert_int_equal(access(notes, F_OK), 0);
    unsetenv("GEMMTUNE_CACHE_MAX");
}

static void test_limit_values(void **state) {
    static const struct {
        const char *text;
        int64_t bytes;
    } rows[] = {
        {NULL, INT64_C(1) << 30},
        {"", INT64_C(1) << 30},
        {"0", 0},
        {"7", 7 << 20},
        {"-1", INT64_C(1) << 30},
        {"9223372036854775807", INT64_C(1) << 30},
        {"7M", INT64_C(1) << 30},
        {"4096", INT64_C(1) << 32},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].text)
            setenv("GEMMTUNE_CACHE_MAX", rows[i].text, 1);
        else
            unsetenv("GEMMTUNE_CACHE_MAX");
        assert_int_equal(gt_cache_max(), rows[i].bytes);
    }
    setenv("GEMMTUNE_CACHE_MAX", "0", 1);
    for (int i = 0; i < OLD + NEW; i++)
        assert_false(build_large("any", i, 32));
    assert_true(bytes_kept() > 3 << 20);
    unsetenv("GEMMTUNE_CACHE_MAX");
}

/* ---- several processes ---- */

static int race(void) {
    char source[64];
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < SOURCES; i++) {
            snprintf(source, sizeof source, "kernel number %d", i);
            (void)build(source);
        }
    return 0;
}

static void test_processes_race(void **state) {
    (void)state;
    pid_t child[RACERS];
    for (int i = 0; i < RACERS; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            _exit(race());
    }
    for (int i = 0; i < RACERS; i++) {
        int status = -1;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    char source[64], folder[1024];
    for (int i = 0; i < SOURCES; i++) {
        snprintf(source, sizeof source, "kernel number %d", i);
        assert_true(build(source));
    }
    int64_t count, bytes, removed;
    struct gt_err err;
    assert_int_equal(gt_cache_stat(folder, sizeof folder, &count, &bytes, &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, SOURCES);
    assert_int_equal(gt_cache_clear(&removed, &err), GEMMTUNE_OK);
    assert_int_equal(removed, SOURCES); /* and no temporary file was left */
}

/* Making room does not take images away from processes that build. */
static void test_processes_make_room(void **state) {
    (void)state;
    pid_t child[RACERS];
    setenv("GEMMTUNE_CACHE_MAX", "1", 1);
    for (int i = 0; i < RACERS; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        for (int j = 0; child[i] == 0 && j < 200; j++)
            (void)build_large("shared", j + 50 * i, 32);
        if (child[i] == 0)
            _exit(0);
    }
    for (int i = 0; i < RACERS; i++) {
        int status = -1;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    /* each may keep so many before it looks again */
    assert_true(bytes_kept() < (1 << 20) + RACERS * NEW * 33 * 1024);
    unsetenv("GEMMTUNE_CACHE_MAX");
}

/* ---- notes: an image is found without the compiler's library ---- */

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

int main(void) {
#define NOTES(f) cmocka_unit_test_setup_teardown(f, set_up_notes, tear_down_notes)
#define CASE(f)  cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_hit_and_miss),
        CASE(test_find),
        CASE(test_entry_is_private),
        CASE(test_key),
        CASE(test_not_cacheable),
        CASE(test_failures_are_not_kept),
        CASE(test_no_compiler),
        CASE(test_truncated_anywhere),
        CASE(test_every_byte_flipped),
        CASE(test_longer),
        CASE(test_swapped_names),
        CASE(test_symlink_is_not_followed),
        CASE(test_others_may_write),
        CASE(test_fifo_does_not_hang),
        CASE(test_folder_in_its_place),
        CASE(test_folder_of_wrong_mode),
        CASE(test_unwritable_folder),
        CASE(test_foreign_owner),
        CASE(test_folder_cannot_be_made),
        CASE(test_folder_is_a_symlink),
        CASE(test_environment),
        CASE(test_clear_removes_only_ours),
        CASE(test_limit),
        CASE(test_limit_values),
        CASE(test_processes_race),
        CASE(test_processes_make_room),
        NOTES(test_note_spares_the_library),
        NOTES(test_note_of_other_libraries),
        NOTES(test_library_is_loaded_already),
        NOTES(test_note_is_damaged),
        NOTES(test_clear_removes_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
