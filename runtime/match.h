/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.h - which kernel serves a problem: of an exact record, of another problem's by
 * forecast, of another device of the arch, or a family's start. Pure: no device, no file.
 */
#ifndef GT_RUNTIME_MATCH_H
#define GT_RUNTIME_MATCH_H

#include "runtime/fit.h"

/* One record, read into memory and checked against its family; or the fastest trial of
 * another tile of C, behind the records of its problem. */
struct gt_known {
    gemmtune_problem problem; /* canonical */
    char problem_name[GT_PROBLEM_NAME_MAX];
    char device_key[GT_DEVICE_KEY_MAX];
    char arch[24];
    const struct gt_family *family;
    struct gt_point point;
    int rank;
    bool verified;
    double median_ns;
    int64_t tile[2]; /* of C, of a block; 0: the family does not say */
};

struct gt_choice {
    gemmtune_match match;
    const struct gt_family *family;
    struct gt_point point;
    /* where it came from, k perhaps split otherwise; NULL at DEFAULT */
    const struct gt_known *known;
    struct gt_fit fit; /* to the problem asked about */
    char why[320];     /* one line for people */
};

struct gt_snapshot {
    const struct gt_families *families;
    const struct gt_known *known;
    size_t count;
};

/* What is asked of a snapshot. */
struct gt_query {
    const struct gt_snapshot *snapshot;
    const struct gt_device *device;
    const char *device_key;
    const gemmtune_problem *problem; /* canonical */
    gemmtune_match worst;            /* the least good match that will do */
    size_t workspace_max;            /* bytes that the caller has */
    int64_t pointer_align;           /* bytes that A, B and C are aligned to */
    /* Returns true for a choice that failed to build before; may be NULL. */
    bool (*skip)(void *user, const struct gt_choice *c);
    void *user;
};

/* The best choice that runs the problem as the query says. ENOTFOUND when there is none;
 * with GEMMTUNE_MATCH_DEFAULT there always is one, unless no family serves the types
 * (EUNSUPPORTED). */
gt_status gt_match(struct gt_choice *out, const struct gt_query *query, struct gt_err *err);

/* Reads the rows of `device_key`'s arch from a database into a snapshot's array; rows that
 * do not fit their family are skipped with one log line. *stale counts rows of an older
 * family source. Finalists of a problem are much alike; of what else was tried on it and
 * took at most a fifth longer than its winner, the fastest of each tile is read as well. */
struct gt_db;
gt_status gt_known_load(struct gt_known **out, size_t *count, int64_t *stale,
                        struct gt_db *db, const struct gt_families *families,
                        const char *arch, struct gt_err *err);

#endif
