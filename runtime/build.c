/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.c - building through the image cache.
 *
 * A cached image is one file, <key>.img: a head of fixed size, the compiler's log, the
 * image. The key is a hash of everything the image depends on; the digest in the head is a
 * hash of everything after it. Whatever is odd about a file or the folder is a miss: the
 * compiler is always there.
 */
#include "runtime/build.h"

#include "core/hash.h"
#include "core/io.h"
#include "core/log.h"
#include "runtime/driver_util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    HEX = 64,
    KEY_SIZE = HEX + 1, /* with its NUL */
    FOLDER_MAX = 1024,
    TEMP_MAX = HEX + 48
};
static const char magic[8] = {'G', 'T', 'I', 'M', 'A', 'G', 'E', '1'};
static const char image_suffix[] = ".img";
static const char temp_suffix[] = ".tmp";
/* A file larger than this is not one of ours: cubins have some hundred KB. */
static const uint64_t entry_max = UINT64_C(256) << 20;

/* Written as it lies in memory: the cache never leaves the machine, and where a home
 * folder is shared by machines of different byte order, the digest does not match. */
struct head {
    char magic[sizeof magic];
    char digest[HEX]; /* of the rest of the file */
    char key[HEX];    /* an image under another name is refused */
    int32_t registers, spill_bytes, smem_bytes, unused;
    uint64_t log_size, image_size;
};
_Static_assert(sizeof(struct head) == 8 + 2 * HEX + 16 + 16,
               "no padding: it is written whole");

/* ---- the folder ---------------------------------------------------------------------- */

static bool join(char out[FOLDER_MAX], const char *base, const char *rest) {
    const int n = snprintf(out, FOLDER_MAX, "%s%s", base, rest);
    return n > 0 && n < FOLDER_MAX;
}

/* Where the cache is by the environment; false when there is none. */
static bool folder_name(char out[FOLDER_MAX]) {
    const char *own = getenv("GEMMTUNE_CACHE_DIR");
    if (own)
        return own[0] && join(out, own, "");
    const char *xdg = getenv("XDG_CACHE_HOME");
    if (xdg && xdg[0] == '/') /* the standard says to ignore a relative one */
        return join(out, xdg, "/gemmtune");
    const char *home = getenv("HOME");
    return home && home[0] == '/' && join(out, home, "/.cache/gemmtune");
}

/* Makes the folder and what is above it, private. Failures show when it is opened. */
static void make_folder(const char *folder) {
    char part[FOLDER_MAX];
    snprintf(part, sizeof part, "%s", folder);
    for (char *p = part + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        (void)mkdir(part, 0700);
        *p = '/';
    }
    (void)mkdir(part, 0700);
}

/* Ours, and nobody else may write to it. */
static bool is_private(const struct stat *s) {
    return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* A descriptor of the folder, or -1 with a clause that says what is wrong with it. */
static int open_folder(const char *folder, const char **why) {
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        *why = strerror(errno);
        return -1;
    }
    struct stat s;
    if (fstat(fd, &s) == 0 && is_private(&s))
        return fd;
    *why = "it belongs to another user, or others may write to it";
    (void)close(fd);
    return -1;
}

/* The folder for building: made when missing, -1 when it cannot serve. */
static int open_cache(void) {
    char folder[FOLDER_MAX];
    const char *why = "";
    if (!folder_name(folder))
        return -1;
    make_folder(folder);
    const int fd = open_folder(folder, &why);
    if (fd < 0)
        gt_log(GEMMTUNE_LOG_INFO, "image cache %s is not used: %s", folder, why);
    return fd;
}

/* ---- names --------------------------------------------------------------------------- */

/* Hash of all that an image depends on. */
static void key_of(char key[KEY_SIZE], const struct gt_driver *driver,
                   const struct gt_device *d, const char *toolchain, const char *source) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add_text(&h, "gemmtune image 1");
    gt_hash_add_text(&h, driver->name);
    gt_hash_add_text(&h, d->arch);
    gt_hash_add_text(&h, toolchain);
    gt_hash_add_text(&h, source);
    gt_hash_hex(&h, key);
}

static bool is_hex(const char *text) {
    for (int i = 0; i < HEX; i++)
        if (!strchr("0123456789abcdef", text[i]) || !text[i])
            return false;
    return true;
}

static bool is_image_name(const char *name) {
    return strlen(name) == HEX + sizeof image_suffix - 1 && is_hex(name) &&
           strcmp(name + HEX, image_suffix) == 0;
}

/* ".<key>.<pid>.<n>.tmp", left behind by a process that was killed while writing. */
static bool is_temp_name(const char *name) {
    const size_t length = strlen(name), tail = sizeof temp_suffix - 1;
    return length > 1 + HEX + tail && name[0] == '.' && is_hex(name + 1) &&
           name[1 + HEX] == '.' && strcmp(name + length - tail, temp_suffix) == 0;
}

static void digest_of(char digest[KEY_SIZE], const struct head *head, const void *body,
                      size_t size) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add(&h, head->key, sizeof *head - offsetof(struct head, key));
    gt_hash_add(&h, body, size);
    gt_hash_hex(&h, digest);
}

/* ---- reading ------------------------------------------------------------------------- */

/* Reads head and body of a file that says it is `key`. The caller frees *body. */
static bool read_entry(struct head *head, char **body, size_t *size, int fd,
                       const char *key) {
    struct stat s;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || !is_private(&s) ||
        s.st_size < (off_t)sizeof *head || (uint64_t)s.st_size > entry_max ||
        !gt_read_all(fd, head, sizeof *head))
        return false;
    *size = (size_t)s.st_size - sizeof *head;
    if (memcmp(head->magic, magic, sizeof magic) != 0 || memcmp(head->key, key, HEX) != 0 ||
        head->log_size > *size || head->image_size != *size - head->log_size ||
        head->image_size == 0)
        return false;
    *body = malloc(*size);
    if (!*body || !gt_read_all(fd, *body, *size))
        return false;
    char digest[KEY_SIZE];
    digest_of(digest, head, *body, *size);
    return memcmp(head->digest, digest, HEX) == 0;
}

static bool fill_image(struct gt_image *image, const struct head *head, const char *body) {
    void *bytes = malloc((size_t)head->image_size);
    if (!bytes || gt_image_log(image, body, (size_t)head->log_size, NULL) != GEMMTUNE_OK) {
        free(bytes);
        return false;
    }
    memcpy(bytes, body + head->log_size, (size_t)head->image_size);
    image->bytes = bytes;
    image->size = (size_t)head->image_size;
    image->registers = head->registers;
    image->spill_bytes = head->spill_bytes;
    image->smem_bytes = head->smem_bytes;
    return true;
}

/* Takes an image from the cache; false on a miss of any kind. */
static bool take_cached(struct gt_image *image, int folder, const char *key) {
    char name[HEX + sizeof image_suffix];
    snprintf(name, sizeof name, "%s%s", key, image_suffix);
    /* O_NONBLOCK: a FIFO in the place of a file must not hold us up. */
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct head head;
    char *body = NULL;
    size_t size = 0;
    const bool good =
        read_entry(&head, &body, &size, fd, key) && fill_image(image, &head, body);
    free(body);
    (void)close(fd);
    if (!good)
        gt_log(GEMMTUNE_LOG_WARN,
               "image cache: %.12s... is damaged or not ours, built again", key);
    return good;
}

/* ---- writing ------------------------------------------------------------------------- */

/* Head and body of an entry in one block of memory; NULL when there is no memory. */
static char *pack_entry(size_t *size, const struct gt_image *image, const char *key) {
    const char *log = image->log ? image->log : "";
    struct head head = {.registers = image->registers,
                        .spill_bytes = image->spill_bytes,
                        .smem_bytes = image->smem_bytes,
                        .log_size = strlen(log),
                        .image_size = image->size};
    memcpy(head.magic, magic, sizeof magic);
    memcpy(head.key, key, HEX);
    *size = sizeof head + (size_t)head.log_size + image->size;
    char *entry = malloc(*size);
    if (!entry)
        return NULL;
    char *body = entry + sizeof head;
    memcpy(body, log, (size_t)head.log_size);
    memcpy(body + head.log_size, image->bytes, image->size);
    char digest[KEY_SIZE];
    digest_of(digest, &head, body, *size - sizeof head);
    memcpy(head.digest, digest, HEX);
    memcpy(entry, &head, sizeof head);
    return entry;
}

/* A new file of ours in the folder, or -1. O_EXCL: whoever else builds has another name. */
static int open_temp(char name[TEMP_MAX], int folder, const char *key) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    for (int i = 0; i < 8; i++) {
        snprintf(name, TEMP_MAX, ".%s.%ld.%lx%s", key, (long)getpid(),
                 (unsigned long)now.tv_nsec + (unsigned long)i, temp_suffix);
        const int fd = openat(folder, name,
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Keeps an image. A full disk or a folder that cannot be written only means that the
 * next run compiles again. */
static void keep(int folder, const struct gt_image *image, const char *key) {
    size_t size = 0;
    char *entry = pack_entry(&size, image, key);
    char temp[TEMP_MAX], name[HEX + sizeof image_suffix];
    const int fd = entry ? open_temp(temp, folder, key) : -1;
    if (fd >= 0) {
        snprintf(name, sizeof name, "%s%s", key, image_suffix);
        bool kept = gt_write_all(fd, entry, size) && fsync(fd) == 0;
        kept = close(fd) == 0 && kept;
        kept = kept && renameat(folder, temp, folder, name) == 0;
        if (!kept)
            (void)unlinkat(folder, temp, 0);
        else
            (void)fsync(folder);
    }
    free(entry);
}

/* ---- build --------------------------------------------------------------------------- */

static double now_ms(void) {
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static gt_status compile(struct gt_image *image, const struct gt_driver *driver,
                         const struct gt_device *device, const char *source,
                         struct gt_build_stats *stats, struct gt_err *err) {
    const double start_ms = now_ms();
    free(image->log); /* the driver begins with a new one */
    image->log = NULL;
    const gt_status status = driver->build(image, device, source, err);
    stats->compile_ms = now_ms() - start_ms;
    if (!image->log)
        image->log = calloc(1, 1);
    return status;
}

gt_status gt_build(struct gt_image *image, const struct gt_driver *driver,
                   const struct gt_device *device, const char *source,
                   struct gt_build_stats *stats, struct gt_err *err) {
    struct gt_build_stats unread;
    if (!stats)
        stats = &unread;
    *stats = (struct gt_build_stats){.cached = false};
    gt_image_init(image);
    char toolchain[GT_OPTIONS_MAX], key[KEY_SIZE];
    gt_status status = driver->toolchain(toolchain, device, err);
    if (status)
        return status;
    const int folder = driver->cacheable(device) ? open_cache() : -1;
    if (folder < 0)
        return compile(image, driver, device, source, stats, err);
    key_of(key, driver, device, toolchain, source);
    stats->cached = take_cached(image, folder, key);
    if (!stats->cached) {
        status = compile(image, driver, device, source, stats, err);
        if (!status && image->bytes && image->size > 0)
            keep(folder, image, key);
    }
    (void)close(folder);
    return status;
}

/* ---- housekeeping -------------------------------------------------------------------- */

/* Opens the folder for a person who asks about it; *dir is NULL when there is nothing
 * there. */
static gt_status open_listing(DIR **dir, char folder[FOLDER_MAX], struct gt_err *err) {
    *dir = NULL;
    folder[0] = '\0';
    if (!folder_name(folder)) {
        folder[0] = '\0';
        return GEMMTUNE_OK;
    }
    const char *why = "";
    struct stat s;
    if (lstat(folder, &s) != 0 && errno == ENOENT)
        return GEMMTUNE_OK;
    const int fd = open_folder(folder, &why);
    if (fd < 0)
        return gt_fail(err, GEMMTUNE_EIO, "%s: %s", folder, why);
    *dir = fdopendir(fd);
    if (*dir)
        return GEMMTUNE_OK;
    (void)close(fd);
    return gt_fail(err, GEMMTUNE_EIO, "%s: %s", folder, strerror(errno));
}

gt_status gt_cache_clear(int64_t *removed, struct gt_err *err) {
    *removed = 0;
    char folder[FOLDER_MAX];
    DIR *dir;
    gt_status status = open_listing(&dir, folder, err);
    if (status || !dir)
        return status;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (!is_image_name(e->d_name) && !is_temp_name(e->d_name))
            continue; /* not ours to remove */
        if (unlinkat(dirfd(dir), e->d_name, 0) == 0)
            ++*removed;
        else if (errno != ENOENT && !status)
            status =
                gt_fail(err, GEMMTUNE_EIO, "%s/%s: %s", folder, e->d_name, strerror(errno));
    }
    (void)closedir(dir);
    return status;
}

gt_status gt_cache_stat(char *folder, size_t size, int64_t *count, int64_t *bytes,
                        struct gt_err *err) {
    *count = *bytes = 0;
    char path[FOLDER_MAX];
    DIR *dir;
    const gt_status status = open_listing(&dir, path, err);
    snprintf(folder, size, "%s", path);
    if (status || !dir)
        return status;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        struct stat s;
        if (!is_image_name(e->d_name) ||
            fstatat(dirfd(dir), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(s.st_mode))
            continue;
        ++*count;
        *bytes += s.st_size;
    }
    (void)closedir(dir);
    return status;
}
