/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.c - what tells the state of an open file, so that a caller may keep what it has
 * read: size, times and header. The header counts the commits, so two commits within one
 * tick of the file system's clock are told apart.
 */
#include "db/internal.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

sqlite3_file *gt_db_file(const struct gt_db *db) {
    sqlite3_file *file = NULL;
    (void)sqlite3_file_control(db->conn, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return file != NULL && file->pMethods != NULL ? file : NULL;
}

const char *gt_db_real_path(const struct gt_db *db) {
    return sqlite3_db_filename(db->conn, "main");
}

int64_t gt_db_skipped(const struct gt_db *db) {
    return db->bad;
}

/* Whether no other file may hold a part of the content. */
static bool is_alone(const char *path) {
    static const char *const suffixes[] = {"-journal", "-wal"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char beside[4096 + 16];
        struct stat st;
        const int len = snprintf(beside, sizeof beside, "%s%s", path, suffixes[i]);
        if (len < 0 || (size_t)len >= sizeof beside || stat(beside, &st) == 0 ||
            errno != ENOENT)
            return false;
    }
    return true;
}

/* Whether the path still leads to the file that is open. */
static bool is_in_place(const struct gt_db *db) {
    int moved = 1;
    return sqlite3_file_control(db->conn, "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
               SQLITE_OK &&
           moved == 0;
}

static bool read_header(unsigned char header[GT_DB_HEADER], const struct gt_db *db) {
    sqlite3_file *file = gt_db_file(db);
    return file != NULL &&
           file->pMethods->xRead(file, header, GT_DB_HEADER, 0) == SQLITE_OK;
}

/* The number of the file system is left out: machines that share a folder number it
 * differently, and a machine may do so after each start. */
static void set_digest(char digest[65], const struct stat *st,
                       const unsigned char header[GT_DB_HEADER]) {
    char text[160];
    struct gt_hash h;
    (void)snprintf(text, sizeof text, "%llu %lld %lld.%09ld %lld.%09ld",
                   (unsigned long long)st->st_ino, (long long)st->st_size,
                   (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
                   (long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
    gt_hash_init(&h);
    gt_hash_add_text(&h, text);
    gt_hash_add(&h, header, GT_DB_HEADER);
    gt_hash_hex(&h, digest);
}

bool gt_db_state(struct gt_db_state *out, struct gt_db *db) {
    unsigned char header[GT_DB_HEADER];
    const char *path = gt_db_real_path(db);
    struct stat st;
    if (path == NULL || stat(path, &st) != 0 || !read_header(header, db) ||
        !is_in_place(db) || !is_alone(path))
        return false;
    set_digest(out->digest, &st, header);
    out->bytes = (int64_t)st.st_size;
    return true;
}
