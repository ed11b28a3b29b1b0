/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c - see cache.h.
 *
 * A cached image is one file, <key>.img: a head of fixed size, the compiler's log, the
 * image. The key is a hash of everything that the image depends on; the digest in the head
 * is a hash of everything after it. Any doubt about a file or the folder counts as a miss:
 * the compiler can always build the image again.
 */
#include "runtime/drivers/cache.h"

#include "core/clock.h"
#include "core/hash.h"
#include "core/io.h"
#include "core/log.h"
#include "core/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    HEX = GT_CACHE_KEY_SIZE - 1,
    FOLDER_MAX = 1024,
    TEMP_MAX = HEX + 48,
    NAME_SIZE = HEX + 9,       /* <key>.img, <key>.tool, <key>.known, <key>.general */
    TRIM_EVERY = 64,           /* images stored by this process between two trims */
    USED_EVERY_S = 3600,       /* a use is noted when the last noted one is so long ago */
    LEFT_BEHIND_S = 24 * 3600, /* the writer of an older temporary file is gone */
    KNOWN_S = 30 * 24 * 3600,  /* kept records are then written again, if still needed */
    MIB_MAX_DEFAULT = 1024
};
static const char magic[8] = {'G', 'T', 'I', 'M', 'A', 'G', 'E', '1'};
static const char image_suffix[] = ".img";
static const char temp_suffix[] = ".tmp";
/* A larger file is not one of ours: cubins have some hundred KB. */
static const uint64_t entry_max = UINT64_C(256) << 20;

/* Written as it lies in memory: the cache never leaves the machine. When machines of
 * different byte order share a home folder, the digest does not match. */
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

/* The folder's name from the environment; false when there is none. */
static bool folder_name(char out[FOLDER_MAX]) {
    const char *own = getenv("GEMMTUNE_CACHE_DIR");
    if (own)
        return own[0] && join(out, own, "");
    const char *xdg = getenv("XDG_CACHE_HOME");
    if (xdg && xdg[0] == '/') /* the standard says to ignore a relative path */
        return join(out, xdg, "/gemmtune");
    const char *home = getenv("HOME");
    return home && home[0] == '/' && join(out, home, "/.cache/gemmtune");
}

/* Makes the folder and its parents, private. A failure shows when the folder is opened. */
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

/* Whether it is ours and nobody else may write to it. */
static bool is_private(const struct stat *s) {
    return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* A descriptor of the folder, or -1 with the reason in a clause. */
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

int gt_cache_open(void) {
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

static bool is_hex(const char *text) {
    for (int i = 0; i < HEX; i++)
        if (!strchr("0123456789abcdef", text[i]) || !text[i])
            return false;
    return true;
}

static bool has_suffix(const char *name, const char *suffix) {
    return strlen(name) == HEX + strlen(suffix) && is_hex(name) &&
           strcmp(name + HEX, suffix) == 0;
}

static bool is_image_name(const char *name) {
    return has_suffix(name, image_suffix);
}

/* ".<key>.<pid>.<n>.tmp": a process that was killed while writing leaves such a file. */
static bool is_temp_name(const char *name) {
    const size_t length = strlen(name), tail = sizeof temp_suffix - 1;
    return length > 1 + HEX + tail && name[0] == '.' && is_hex(name + 1) &&
           name[1 + HEX] == '.' && strcmp(name + length - tail, temp_suffix) == 0;
}

/* A file beside the images. */
static bool is_beside_name(const char *name) {
    return has_suffix(name, GT_CACHE_NOTE) || has_suffix(name, GT_CACHE_KNOWN) ||
           has_suffix(name, GT_CACHE_GENERAL);
}

/* Whether a file goes for its age alone. The database of kept records may be gone. */
static bool is_outdated(const char *name, time_t written) {
    const time_t age = time(NULL) - written;
    return (is_temp_name(name) && age > LEFT_BEHIND_S) ||
           (has_suffix(name, GT_CACHE_KNOWN) && age > KNOWN_S);
}

/* The digest of an entry: of its head from the key on, of the log and of the image. */
static void digest_of(char digest[GT_CACHE_KEY_SIZE], const struct head *head,
                      const char *log, const void *image) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add(&h, head->key, sizeof *head - offsetof(struct head, key));
    gt_hash_add(&h, log, (size_t)head->log_size);
    gt_hash_add(&h, image, (size_t)head->image_size);
    gt_hash_hex(&h, digest);
}

/* ---- reading ------------------------------------------------------------------------- */

int gt_cache_open_file(int folder, const char *key, const char *suffix) {
    char name[NAME_SIZE];
    struct stat s;
    (void)snprintf(name, sizeof name, "%s%s", key, suffix);
    /* O_NONBLOCK: opening a FIFO must not wait for a writer. */
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && is_private(&s)))
        return fd;
    (void)close(fd);
    return -1;
}

/* Reads the head of a file. It must have `key`, and the file the size that it says. */
static bool read_head(struct head *head, int fd, const char *key) {
    struct stat s;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || !is_private(&s) ||
        s.st_size < (off_t)sizeof *head || (uint64_t)s.st_size > entry_max ||
        !gt_read_all(fd, head, sizeof *head))
        return false;
    const uint64_t size = (uint64_t)s.st_size - sizeof *head;
    return memcmp(head->magic, magic, sizeof magic) == 0 &&
           memcmp(head->key, key, HEX) == 0 && head->log_size <= size &&
           head->image_size == size - head->log_size && head->image_size > 0;
}

/* Reads log and image. False when they are cut short, or when the digest is not theirs. */
static bool read_parts(char *log, void *bytes, int fd, const struct head *head) {
    char digest[GT_CACHE_KEY_SIZE];
    if (!gt_read_all(fd, log, (size_t)head->log_size) ||
        !gt_read_all(fd, bytes, (size_t)head->image_size))
        return false;
    log[head->log_size] = '\0';
    digest_of(digest, head, log, bytes);
    return memcmp(head->digest, digest, HEX) == 0;
}

/* Reads a file to the image, which is as it was when this fails. */
static bool read_entry(struct gt_image *image, int fd, const char *key) {
    struct head head;
    if (!read_head(&head, fd, key))
        return false;
    char *log = malloc((size_t)head.log_size + 1);
    void *bytes = malloc((size_t)head.image_size);
    if (log == NULL || bytes == NULL || !read_parts(log, bytes, fd, &head)) {
        free(log);
        free(bytes);
        return false;
    }
    free(image->log);
    image->log = log;
    image->bytes = bytes;
    image->size = (size_t)head.image_size;
    image->registers = head.registers;
    image->spill_bytes = head.spill_bytes;
    image->smem_bytes = head.smem_bytes;
    return true;
}

/* Stores the time of the last use as the file's modification time. */
static void note_use(int fd) {
    struct stat s;
    if (fstat(fd, &s) == 0 && s.st_mtime + USED_EVERY_S < time(NULL))
        (void)futimens(fd, NULL);
}

bool gt_cache_take(struct gt_image *image, int folder, const char key[GT_CACHE_KEY_SIZE]) {
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s%s", key, image_suffix);
    /* O_NONBLOCK: opening a FIFO must not wait for a writer. */
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool good = read_entry(image, fd, key);
    if (good)
        note_use(fd);
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
    char digest[GT_CACHE_KEY_SIZE];
    digest_of(digest, &head, log, image->bytes);
    memcpy(head.digest, digest, HEX);
    memcpy(entry, &head, sizeof head);
    return entry;
}

/* Creates a file in the folder; -1 on failure. O_EXCL: another process uses another
 * name. */
static int open_temp(char name[TEMP_MAX], int folder, const char *key) {
    const unsigned long now_ns = (unsigned long)(1e9 * gt_seconds());
    for (int i = 0; i < 8; i++) {
        snprintf(name, TEMP_MAX, ".%s.%ld.%lx%s", key, (long)getpid(),
                 now_ns + (unsigned long)i, temp_suffix);
        const int fd = openat(folder, name,
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

bool gt_cache_write(int folder, const char *key, const char *suffix, const void *bytes,
                    size_t size) {
    char temp[TEMP_MAX], name[NAME_SIZE];
    const int fd = open_temp(temp, folder, key);
    if (fd < 0)
        return false;
    (void)snprintf(name, sizeof name, "%s%s", key, suffix);
    bool kept = gt_write_all(fd, bytes, size) && fsync(fd) == 0;
    kept = close(fd) == 0 && kept;
    kept = kept && renameat(folder, temp, folder, name) == 0;
    if (!kept)
        (void)unlinkat(folder, temp, 0);
    else
        (void)fsync(folder);
    return kept;
}

static void write_entry(int folder, const struct gt_image *image, const char *key) {
    size_t size = 0;
    char *entry = pack_entry(&size, image, key);
    if (entry)
        (void)gt_cache_write(folder, key, image_suffix, entry, size);
    free(entry);
}

/* ---- trimming ------------------------------------------------------------------------ */

int64_t gt_cache_max(void) {
    const char *own = getenv("GEMMTUNE_CACHE_MAX");
    int64_t mib;
    if (!own || !gt_text_int(&mib, own, strlen(own)) || mib < 0 || mib > INT64_MAX >> 20)
        mib = MIB_MAX_DEFAULT;
    return mib << 20;
}

struct kept {
    char name[NAME_SIZE];
    time_t used;
    int64_t bytes;
};

static int longest_unused_first(const void *a, const void *b) {
    const struct kept *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

/* A listing with its own descriptor: the position of the folder's own stays. */
static DIR *list(int folder) {
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !dir)
        (void)close(fd);
    return dir;
}

/* Lists all images; the caller frees the list. Removes outdated files on the way. */
static struct kept *list_images(size_t *count, int64_t *bytes, DIR *dir) {
    struct kept *all = NULL;
    *count = 0;
    *bytes = 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        struct stat s;
        if (fstatat(dirfd(dir), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (is_outdated(e->d_name, s.st_mtime))
            (void)unlinkat(dirfd(dir), e->d_name, 0);
        if (!is_image_name(e->d_name) || !S_ISREG(s.st_mode))
            continue;
        if ((*count & (*count - 1)) == 0) { /* room for twice as many */
            struct kept *grown = realloc(all, (*count ? 2 * *count : 1) * sizeof *all);
            if (!grown)
                break; /* the images listed so far are enough */
            all = grown;
        }
        memcpy(all[*count].name, e->d_name, strlen(e->d_name) + 1);
        all[*count].used = s.st_mtime;
        all[(*count)++].bytes = s.st_size;
        *bytes += s.st_size;
    }
    return all;
}

/* When the images exceed the limit, removes them down to three quarters of it, so that this
 * is seldom needed. Several processes may do this at once: they remove the same files, and
 * a process that has one open goes on reading it. */
static void trim(int folder) {
    const int64_t most = gt_cache_max();
    DIR *dir = most > 0 ? list(folder) : NULL;
    if (!dir)
        return;
    size_t count;
    int64_t bytes;
    struct kept *all = list_images(&count, &bytes, dir);
    if (bytes > most) {
        qsort(all, count, sizeof *all, longest_unused_first);
        for (size_t i = 0; bytes > most - most / 4 && i + 1 < count; i++) {
            (void)unlinkat(folder, all[i].name, 0);
            bytes -= all[i].bytes;
        }
    }
    free(all);
    (void)closedir(dir);
}

void gt_cache_keep(int folder, const struct gt_image *image,
                   const char key[GT_CACHE_KEY_SIZE]) {
    static atomic_uint kept;
    write_entry(folder, image, key);
    if (atomic_fetch_add(&kept, 1) % TRIM_EVERY == 0)
        trim(folder);
}

/* ---- housekeeping -------------------------------------------------------------------- */

/* Opens the folder for a command that shows or clears it; *dir is NULL when there is
 * none. */
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
    if (status != GEMMTUNE_OK || !dir)
        return status;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        const bool beside = is_beside_name(e->d_name);
        if (!is_image_name(e->d_name) && !is_temp_name(e->d_name) && !beside)
            continue; /* not ours to remove */
        if (unlinkat(dirfd(dir), e->d_name, 0) == 0)
            *removed += !beside;
        else if (errno != ENOENT && status == GEMMTUNE_OK)
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
    if (status != GEMMTUNE_OK || !dir)
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
