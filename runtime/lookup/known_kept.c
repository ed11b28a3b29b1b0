/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_kept.c - a snapshot's array in the user's cache folder. Records take SQLite and the
 * checks of their rows some microseconds each; reading what was made of them takes a fifth
 * of that.
 *
 * There is one file for each database and architecture, <hash of both>.known: a head, then
 * the array as known_pack.c writes it. The key in the head is a hash of everything else
 * that the array depends on. A changed database has another key, and its file replaces the
 * old one. Any doubt about the file counts as a miss. An array that lacks wrong rows is not
 * kept, since the log lines about these must come each time.
 */
#include "runtime/lookup/known.h"

#include "core/hash.h"
#include "core/io.h"
#include "db/db.h"
#include "runtime/drivers/cache.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEX = GT_CACHE_KEY_SIZE - 1,
    LEAST_DATABASE = 128 << 10, /* bytes; a smaller one is read in a millisecond */
    KEPT_MAX = 64 << 20         /* bytes of a file: some 900 000 kernels */
};

/* The format of the file and the rules by which known.c makes the array. Raise the number
 * when either changes. */
static const char magic[8] = {'G', 'T', 'K', 'N', 'O', 'W', 'N', '1'};

struct head {
    char magic[sizeof magic];
    char digest[HEX]; /* of the rest of the file */
    char key[HEX];
    uint64_t count;
    int64_t stale;
};
_Static_assert(sizeof(struct head) == 8 + 2 * HEX + 16, "no padding: it is written whole");

/* The file for a database and an architecture. */
struct place {
    int folder;
    char name[GT_CACHE_KEY_SIZE];
    char key[GT_CACHE_KEY_SIZE];
};

/* ---- names and keys ------------------------------------------------------------------ */

static void set_name(char name[GT_CACHE_KEY_SIZE], const struct gt_db *db,
                     const char *arch) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add_text(&h, "gemmtune known");
    gt_hash_add_text(&h, gt_db_real_path(db));
    gt_hash_add_text(&h, arch);
    gt_hash_hex(&h, name);
}

static void add_families(struct gt_hash *h, const struct gt_families *families) {
    for (size_t i = 0; i < gt_families_count(families); i++) {
        gt_hash_add_text(h, gt_families_at(families, i)->name);
        gt_hash_add_text(h, gt_families_at(families, i)->hash);
    }
}

/* Of the state in which the database is now. False when it cannot be told, or when it does
 * not pay to keep so little. */
static bool find_key(char key[GT_CACHE_KEY_SIZE], struct gt_db *db,
                     const struct gt_families *families, const char *arch) {
    /* The order of their bytes counts, since the file has numbers as they lie in memory. */
    static const int32_t version[] = {1, GEMMTUNE_VERSION_MAJOR, GEMMTUNE_VERSION_MINOR,
                                      GEMMTUNE_VERSION_PATCH};
    struct gt_db_state state;
    struct gt_hash h;
    if (!gt_db_state(&state, db) || state.bytes < LEAST_DATABASE)
        return false;
    gt_hash_init(&h);
    gt_hash_add(&h, magic, sizeof magic);
    gt_hash_add(&h, version, sizeof version);
    gt_hash_add_text(&h, state.digest);
    gt_hash_add_text(&h, arch);
    add_families(&h, families);
    gt_hash_hex(&h, key);
    return true;
}

/* False when nothing is kept. The caller closes the folder. */
static bool find_place(struct place *p, struct gt_db *db,
                       const struct gt_families *families, const char *arch) {
    if (!find_key(p->key, db, families, arch))
        return false;
    set_name(p->name, db, arch);
    p->folder = gt_cache_open();
    return p->folder >= 0;
}

static void set_digest(char digest[GT_CACHE_KEY_SIZE], const struct head *head,
                       const char *body, size_t size) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add(&h, head->key, sizeof *head - offsetof(struct head, key));
    gt_hash_add(&h, body, size);
    gt_hash_hex(&h, digest);
}

/* ---- reading ------------------------------------------------------------------------- */

/* Head and body of a file that is as it was written, and has this key. The caller frees
 * *body. */
static bool read_file(struct head *head, char **body, size_t *size, int fd,
                      const char *key) {
    struct stat s;
    if (fstat(fd, &s) != 0 || s.st_size < (off_t)sizeof *head || s.st_size > KEPT_MAX ||
        !gt_read_all(fd, head, sizeof *head) ||
        memcmp(head->magic, magic, sizeof magic) != 0 || memcmp(head->key, key, HEX) != 0)
        return false;
    *size = (size_t)s.st_size - sizeof *head;
    *body = malloc(*size + 1); /* never of 0 bytes */
    if (*body == NULL || !gt_read_all(fd, *body, *size))
        return false;
    char digest[GT_CACHE_KEY_SIZE];
    set_digest(digest, head, *body, *size);
    return memcmp(head->digest, digest, HEX) == 0;
}

/* False on a miss of any kind. */
static bool recall(struct gt_known **out, size_t *count, int64_t *stale,
                   const struct place *p, const struct gt_families *families,
                   const char *arch) {
    const int fd = gt_cache_open_file(p->folder, p->name, GT_CACHE_KNOWN);
    if (fd < 0)
        return false;
    struct head head;
    char *body = NULL;
    size_t size = 0;
    const bool good = read_file(&head, &body, &size, fd, p->key) &&
                      gt_known_unpack(out, (size_t)head.count, body, size, families, arch);
    free(body);
    (void)close(fd);
    if (good) {
        *count = (size_t)head.count;
        *stale = head.stale;
    }
    return good;
}

/* ---- writing ------------------------------------------------------------------------- */

/* A failure is ignored: the next process reads the database again. */
static void keep(const struct place *p, const struct gt_known *known, size_t count,
                 int64_t stale, const struct gt_families *families) {
    struct head head = {.count = count, .stale = stale};
    char digest[GT_CACHE_KEY_SIZE];
    char *file = NULL;
    size_t size = 0;
    if (!gt_known_pack(&file, &size, sizeof head, known, count, families))
        return;
    memcpy(head.magic, magic, sizeof magic);
    memcpy(head.key, p->key, HEX);
    set_digest(digest, &head, file + sizeof head, size - sizeof head);
    memcpy(head.digest, digest, HEX);
    memcpy(file, &head, sizeof head);
    if (size <= KEPT_MAX)
        (void)gt_cache_write(p->folder, p->name, GT_CACHE_KNOWN, file, size);
    free(file);
}

/* Reads the database, and keeps the array unless somebody wrote to the
 * database meanwhile. */
static gt_status read_and_keep(struct gt_known **out, size_t *count, int64_t *stale,
                               const struct place *p, struct gt_db *db,
                               const struct gt_families *families, const char *arch,
                               struct gt_err *err) {
    char key[GT_CACHE_KEY_SIZE];
    struct gt_known_left left;
    const gt_status status = gt_known_read(out, count, &left, db, families, arch, err);
    *stale = left.stale;
    if (status == GEMMTUNE_OK && left.wrong == 0 && find_key(key, db, families, arch) &&
        strcmp(key, p->key) == 0)
        keep(p, *out, *count, left.stale, families);
    return status;
}

gt_status gt_known_load_kept(struct gt_known **out, size_t *count, int64_t *stale,
                             struct gt_db *db, const struct gt_families *families,
                             const char *arch, struct gt_err *err) {
    struct place p;
    if (!find_place(&p, db, families, arch))
        return gt_known_load(out, count, stale, db, families, arch, err);
    gt_status status = GEMMTUNE_OK;
    if (recall(out, count, stale, &p, families, arch))
        gt_known_log_stale(*stale);
    else
        status = read_and_keep(out, count, stale, &p, db, families, arch, err);
    (void)close(p.folder);
    return status;
}
