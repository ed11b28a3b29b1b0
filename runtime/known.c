/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.c - from database rows to a snapshot: the records of one architecture, each checked
 * against the family it names. What does not check is left out with one line in the log, so
 * that a stranger's file can make a kernel slow and nothing else.
 */
#include "runtime/match.h"

#include "core/log.h"
#include "db/db.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char device_key[GT_DEVICE_KEY_MAX];

struct reading {
    const struct gt_families *families;
    const char *arch;
    device_key *keys; /* devices of the architecture */
    size_t key_count;
    struct gt_known *known;
    size_t count, room;
    int64_t stale;
};

static gt_status no_memory(struct gt_err *err) {
    return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

/* ---- devices --------------------------------------------------------------------- */

static gt_status on_device(void *user, const char *key, const struct gt_device *d,
                           struct gt_err *err) {
    struct reading *r = user;
    if (strcmp(d->arch, r->arch) != 0 || strlen(key) >= GT_DEVICE_KEY_MAX)
        return GEMMTUNE_OK;
    device_key *grown = realloc(r->keys, (r->key_count + 1) * sizeof *grown);
    if (grown == NULL)
        return no_memory(err);
    r->keys = grown;
    memcpy(r->keys[r->key_count++], key, strlen(key) + 1);
    return GEMMTUNE_OK;
}

static bool is_of_arch(const struct reading *r, const char *key) {
    for (size_t i = 0; i < r->key_count; i++)
        if (strcmp(r->keys[i], key) == 0)
            return true;
    return false;
}

/* ---- records --------------------------------------------------------------------- */

/* Fills *k from a row of a current family; EPARSE or EINVAL says what is wrong with the
 * row. */
static gt_status check_row(struct gt_known *k, const struct gt_record_row *row,
                           struct gt_err *err) {
    int64_t values[GT_POINT_MAX];
    gt_status status = gt_problem_from_name(&k->problem, row->subject.problem, err);
    if (status == GEMMTUNE_OK)
        status = gt_point_parse(&k->point, row->subject.point, err);
    if (status == GEMMTUNE_OK)
        status = gt_point_values(values, k->family, &k->point, err);
    if (status == GEMMTUNE_OK &&
        !(isfinite(row->time.median_ns) && row->time.median_ns >= 0 && row->rank >= 0))
        status = gt_fail(err, GEMMTUNE_EINVAL, "median %g ns, rank %d", row->time.median_ns,
                         row->rank);
    return status;
}

static struct gt_known *next_place(struct reading *r) {
    if (r->count == r->room) {
        const size_t room = r->room == 0 ? 64 : 2 * r->room;
        struct gt_known *grown = realloc(r->known, room * sizeof *grown);
        if (grown == NULL)
            return NULL;
        r->known = grown;
        r->room = room;
    }
    memset(&r->known[r->count], 0, sizeof *r->known);
    return &r->known[r->count];
}

static gt_status take_row(struct reading *r, const struct gt_family *family,
                          const struct gt_record_row *row, struct gt_err *err) {
    struct gt_err why = {""};
    struct gt_known *k = next_place(r);
    if (k == NULL)
        return no_memory(err);
    k->family = family;
    if (check_row(k, row, &why) != GEMMTUNE_OK) {
        gt_log(GEMMTUNE_LOG_WARN, "record of %.80s on %.95s left out: %.200s",
               row->subject.problem, row->subject.device_key, why.line);
        return GEMMTUNE_OK;
    }
    /* Named anew: the row's text may be an equal problem in another spelling. */
    (void)gt_problem_name(&k->problem, k->problem_name);
    memcpy(k->device_key, row->subject.device_key, strlen(row->subject.device_key) + 1);
    (void)snprintf(k->arch, sizeof k->arch, "%s", r->arch);
    k->rank = row->rank;
    k->verified = row->verified;
    k->median_ns = row->time.median_ns;
    r->count++;
    return GEMMTUNE_OK;
}

static gt_status on_record(void *user, const struct gt_record_row *row,
                           struct gt_err *err) {
    struct reading *r = user;
    if (!is_of_arch(r, row->subject.device_key))
        return GEMMTUNE_OK;
    const struct gt_family *family = gt_families_find(r->families, row->subject.family);
    if (family == NULL || strcmp(family->hash, row->subject.family_hash) != 0) {
        r->stale++;
        return GEMMTUNE_OK;
    }
    return take_row(r, family, row, err);
}

gt_status gt_known_load(struct gt_known **out, size_t *count, int64_t *stale,
                        struct gt_db *db, const struct gt_families *families,
                        const char *arch, struct gt_err *err) {
    struct reading r = {.families = families, .arch = arch};
    *out = NULL;
    *count = 0;
    *stale = 0;
    gt_status status = gt_db_devices(db, on_device, &r, err);
    if (status == GEMMTUNE_OK && r.key_count > 0)
        status = gt_db_records(db, NULL, NULL, on_record, &r, err);
    if (r.stale > 0)
        gt_log(GEMMTUNE_LOG_INFO,
               "%" PRId64
               " records were tuned with another source of their family; left out",
               r.stale);
    if (status == GEMMTUNE_OK) {
        *out = r.known;
        *count = r.count;
        *stale = r.stale;
        r.known = NULL;
    }
    free(r.known);
    free(r.keys);
    return status;
}
