/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - SHA-256 (FIPS 180-4), the only hash in gemmtune: checksums, cache names,
 * keys. */
#ifndef GT_CORE_HASH_H
#define GT_CORE_HASH_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

struct gt_hash {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};

void gt_hash_init(struct gt_hash *h);
void gt_hash_add(struct gt_hash *h, const void *data, size_t size);
void gt_hash_add_text(struct gt_hash *h,
                      const char *text); /* with its NUL, so that fields stay apart */
/* Each of these finishes the hash. */
void gt_hash_hex(struct gt_hash *h, char hex[65]);
void gt_hash_digits(struct gt_hash *h, char *digits, int count); /* the first, no NUL */
/* The hash of a file's bytes. EIO. */
gt_status gt_hash_file(char hex[65], const char *path, struct gt_err *err);

#endif
