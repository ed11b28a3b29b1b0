/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.h - where a snapshot's array comes from: a database (known.c), or the file in the
 * user's cache folder in which the array was kept when the database was read last
 * (known_kept.c, in the format of known_pack.c). match.h describes the array.
 */
#ifndef GT_RUNTIME_LOOKUP_KNOWN_H
#define GT_RUNTIME_LOOKUP_KNOWN_H

#include "runtime/lookup/match.h"

/* The rows of a database that the array lacks. */
struct gt_known_left {
    int64_t stale; /* records of an older family source; one log line for all */
    int64_t wrong; /* rows that did not pass a check; a log line each */
};

/* gt_known_load that also counts wrong rows. */
gt_status gt_known_read(struct gt_known **out, size_t *count, struct gt_known_left *left,
                        struct gt_db *db, const struct gt_families *families,
                        const char *arch, struct gt_err *err);
/* The log line about stale records, if there are any. */
void gt_known_log_stale(int64_t stale);

/* gt_known_load through the cache folder: the array comes from the kept file when the
 * database has not changed since, else from the database, and is then kept. The result and
 * the log are the same. */
gt_status gt_known_load_kept(struct gt_known **out, size_t *count, int64_t *stale,
                             struct gt_db *db, const struct gt_families *families,
                             const char *arch, struct gt_err *err);

/* The array as bytes that do not depend on where it lies, after `head` bytes that the
 * caller fills; known_pack.c has the format. False when there is no memory. The caller
 * frees *out. `head` is not 0. */
bool gt_known_pack(char **out, size_t *size, size_t head, const struct gt_known *known,
                   size_t count, const struct gt_families *families);
/* The array of `count` kernels of an architecture out of its bytes. False when they are not
 * such an array, or when there is no memory. The caller frees *out. */
bool gt_known_unpack(struct gt_known **out, size_t count, const char *bytes, size_t size,
                     const struct gt_families *families, const char *arch);

#endif
