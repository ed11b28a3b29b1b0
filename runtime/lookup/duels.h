/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duels.h - what was measured of our kernels beside vendors' libraries: the rivals of a
 * database in memory. A duel counts for the very kernel that took part (its problem,
 * device, family's source and point) and for the version of the library, for nothing else.
 */
#ifndef GT_RUNTIME_LOOKUP_DUELS_H
#define GT_RUNTIME_LOOKUP_DUELS_H

#include "db/db.h"

struct gt_duel {
    uint64_t kernel;   /* gt_db_subject_key */
    int64_t workspace; /* bytes that each side had */
    char library[GT_DB_LIBRARY_MAX];
    int version, rounds;
    enum gt_verdict verdict;
    bool is_local;
    int64_t measured_ms;
    double ours_ns, rival_ns, ratio, ratio_low, ratio_high;
};

/* Sorted by kernel. */
struct gt_duels {
    struct gt_duel *item;
    size_t count;
};

/* Reads the duels of a device; NULL: of all. Each row costs some microseconds. */
gt_status gt_duels_load(struct gt_duels *out, struct gt_db *db, const char *device_key,
                        struct gt_err *err);
void gt_duels_clear(struct gt_duels *duels);

/* The duels of a kernel: *first and the next ones. 0: there is none. */
size_t gt_duels_of(const struct gt_duel **first, const struct gt_duels *all,
                   uint64_t kernel);

/*
 * Of the duels of one kernel, the one that tells a caller with so many bytes of workspace
 * how it does beside this version of the libraries (0: the version that was measured last).
 *   - Duels with more workspace than the caller has do not count. Of the others those with
 *     the most count.
 *   - Of these the duels that were fought here count, unless all come from elsewhere.
 *   - Of these a noisy one is taken, else the one with the least ratio: the fastest
 * library. NULL: nothing is known.
 */
const struct gt_duel *gt_duels_pick(const struct gt_duel *duel, size_t count, int version,
                                    size_t workspace_max);

#endif
