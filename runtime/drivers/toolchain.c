/* SPDX-License-Identifier: Apache-2.0 */
/* toolchain.c - see toolchain.h. A note is the digest of a text in hex, and the text. */
#include "runtime/drivers/toolchain.h"

#include "core/hash.h"
#include "core/io.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGEST = GT_CACHE_KEY_SIZE - 1 };

static void digest_of(char digest[GT_CACHE_KEY_SIZE], const char *text) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add_text(&h, "gemmtune toolchain 1");
    gt_hash_add_text(&h, text);
    gt_hash_hex(&h, digest);
}

bool gt_toolchain_recall(char text[GT_TOOLCHAIN_MAX], int folder,
                         const char libraries[GT_CACHE_KEY_SIZE]) {
    char noted[DIGEST], digest[GT_CACHE_KEY_SIZE];
    struct stat s;
    const int fd = gt_cache_open_file(folder, libraries, GT_CACHE_NOTE);
    if (fd < 0)
        return false;
    memset(text, 0, GT_TOOLCHAIN_MAX);
    bool sound = fstat(fd, &s) == 0 && s.st_size > DIGEST &&
                 s.st_size < DIGEST + GT_TOOLCHAIN_MAX && gt_read_all(fd, noted, DIGEST) &&
                 gt_read_all(fd, text, (size_t)s.st_size - DIGEST);
    (void)close(fd);
    digest_of(digest, text);
    return sound && memcmp(digest, noted, DIGEST) == 0;
}

void gt_toolchain_note(int folder, const char libraries[GT_CACHE_KEY_SIZE],
                       const char *text) {
    char before[GT_TOOLCHAIN_MAX], entry[DIGEST + GT_TOOLCHAIN_MAX];
    if (gt_toolchain_recall(before, folder, libraries) && strcmp(before, text) == 0)
        return;
    digest_of(entry, text);
    memcpy(entry + DIGEST, text, strlen(text));
    (void)gt_cache_write(folder, libraries, GT_CACHE_NOTE, entry, DIGEST + strlen(text));
}
