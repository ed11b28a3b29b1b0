/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.c - from database rows to a snapshot: the records of one architecture, and the
 * runners-up among the trials made here. Each kernel is checked against the family
 * that it names. A record that fails the check is left out with one line in the log. So a
 * stranger's file can make a kernel slow, but nothing worse.
 */
#include "runtime/lookup/known.h"

#include "core/log.h"
#include "db/db.h"
#include "runtime/family/family_inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The most that a runner-up's time may be, as a multiple of the winner's. */
static const double runner_up_limit = 1.2;

struct known_device {
    char key[GT_DEVICE_KEY_MAX];
    struct gt_device device;
};

struct reading {
    const struct gt_families *families;
    const char *arch;
    struct known_device *device; /* devices of the architecture */
    size_t device_count;
    struct gt_known *known;
    size_t count, room;
    size_t records;         /* how many of `known` are records; runners-up follow them */
    size_t first, last;     /* records of the problem that has its runners-up read */
    size_t first_runner_up; /* the first runner-up of that problem */
    struct gt_known_left left;
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
    struct known_device *grown = realloc(r->device, (r->device_count + 1) * sizeof *grown);
    if (grown == NULL)
        return no_memory(err);
    r->device = grown;
    memcpy(grown[r->device_count].key, key, strlen(key) + 1);
    grown[r->device_count++].device = *d;
    return GEMMTUNE_OK;
}

/* NULL when the device is of another architecture. */
static const struct gt_device *find_device(const struct reading *r, const char *key) {
    for (size_t i = 0; i < r->device_count; i++)
        if (strcmp(r->device[i].key, key) == 0)
            return &r->device[i].device;
    return NULL;
}

/* ---- records --------------------------------------------------------------------- */

/* Reads a problem's name. Rows of one problem stand side by side, so it is mostly the name
 * of the row before. */
static gt_status take_problem(struct gt_known *k, const struct reading *r, const char *name,
                              struct gt_err *err) {
    if (r->count == 0 || strcmp(k[-1].problem_name, name) != 0)
        return gt_problem_from_name(&k->problem, name, err);
    k->problem = k[-1].problem;
    return GEMMTUNE_OK;
}

/* Fills *k, the next place, from a subject of a current family. EPARSE or EINVAL gives the
 * reason when it is wrong. */
static gt_status take_subject(struct gt_known *k, const struct reading *r,
                              const struct gt_db_subject *s, const struct gt_device *d,
                              struct gt_err *err) {
    gt_status status = take_problem(k, r, s->problem, err);
    if (status == GEMMTUNE_OK)
        status = gt_values_parse(k->values, k->family, s->point, err);
    if (status != GEMMTUNE_OK)
        return status;
    /* A row of a database has passed the check that its name is canonical. */
    memcpy(k->problem_name, s->problem, strlen(s->problem) + 1);
    memcpy(k->device_key, s->device_key, strlen(s->device_key) + 1);
    memcpy(k->arch, d->arch, sizeof k->arch);
    return GEMMTUNE_OK;
}

static gt_status check_row(struct gt_known *k, const struct reading *r,
                           const struct gt_record_row *row, const struct gt_device *d,
                           struct gt_err *err) {
    gt_status status = take_subject(k, r, &row->subject, d, err);
    if (status == GEMMTUNE_OK &&
        !(isfinite(row->time.median_ns) && row->time.median_ns >= 0))
        status = gt_fail(err, GEMMTUNE_EINVAL, "median %g ns", row->time.median_ns);
    return status;
}

static bool same_problem(const struct gt_known *a, const struct gt_known *b) {
    return strcmp(a->problem_name, b->problem_name) == 0 &&
           strcmp(a->device_key, b->device_key) == 0;
}

/* The rank of the record in the next place among the records that were kept. The database's
 * own rank counts stale rows as well. The records of a problem come one after another. */
static int next_rank(const struct reading *r) {
    const struct gt_known *k = &r->known[r->count];
    return r->count > 0 && same_problem(k - 1, k) ? k[-1].rank + 1 : 0;
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
                          const struct gt_device *d, const struct gt_record_row *row,
                          struct gt_err *err) {
    struct gt_err why = {""};
    struct gt_known *k = next_place(r);
    if (k == NULL)
        return no_memory(err);
    k->family = family;
    if (check_row(k, r, row, d, &why) != GEMMTUNE_OK) {
        gt_log(GEMMTUNE_LOG_WARN, "record of %.80s on %.95s left out: %.200s",
               row->subject.problem, row->subject.device_key, why.line);
        r->left.wrong++;
        return GEMMTUNE_OK;
    }
    k->rank = next_rank(r);
    k->verified = row->verified;
    k->median_ns = row->time.median_ns;
    r->count++;
    return GEMMTUNE_OK;
}

static const struct gt_family *current_family(const struct reading *r,
                                              const struct gt_db_subject *s) {
    return gt_families_current(r->families, s->family, s->family_hash);
}

static gt_status on_record(void *user, const struct gt_record_row *row,
                           struct gt_err *err) {
    struct reading *r = user;
    const struct gt_device *d = find_device(r, row->subject.device_key);
    if (d == NULL)
        return GEMMTUNE_OK;
    const struct gt_family *family = current_family(r, &row->subject);
    if (family == NULL) {
        r->left.stale++;
        return GEMMTUNE_OK;
    }
    return take_row(r, family, d, row, err);
}

/* ---- runners-up --------------------------------------------------------------------- */

/* Fills in the tile, which stays 0 without a shape. */
static void fill_tile(struct gt_known *k, const struct gt_device *d) {
    struct gt_binding b;
    int64_t shape[GT_SHAPE_COUNT];
    gt_bind_problem(&b, k->family, d, &k->problem);
    if (gt_bind_values(&b, k->values, NULL) == GEMMTUNE_OK && gt_shape_of(shape, &b)) {
        k->tile[0] = shape[GT_SHAPE_TILE_M];
        k->tile[1] = shape[GT_SHAPE_TILE_N];
    }
}

static bool same_tile(const struct gt_known *a, const struct gt_known *b) {
    return a->family == b->family && a->tile[0] == b->tile[0] && a->tile[1] == b->tile[1];
}

/* The order in which a database gives records and trials. */
static int compare_subjects(const struct gt_known *a, const struct gt_known *b) {
    const int devices = strcmp(a->device_key, b->device_key);
    return devices != 0 ? devices : strcmp(a->problem_name, b->problem_name);
}

/* Finds the records of the problem that *k is a runner-up for. Records and
 * runners-up come in the same order, so the search continues from the problem
 * before. */
static void find_records(struct reading *r, const struct gt_known *k,
                         const struct gt_device *d) {
    if (r->first < r->last && same_problem(&r->known[r->first], k))
        return;
    r->first_runner_up = r->count;
    for (r->first = r->last;
         r->first < r->records && compare_subjects(&r->known[r->first], k) < 0;)
        r->first++;
    for (r->last = r->first; r->last < r->records && same_problem(&r->known[r->last], k);)
        fill_tile(&r->known[r->last++], d);
}

/* Keeps the runner-up in the next place, unless a record from here or a faster runner-up
 * has the same tile. */
static void keep_fastest(struct reading *r) {
    struct gt_known *k = &r->known[r->count];
    for (size_t i = r->first; i < r->last; i++)
        if (r->known[i].verified && same_tile(&r->known[i], k))
            return;
    k->rank = (int)(r->last - r->first + r->count - r->first_runner_up);
    for (size_t i = r->first_runner_up; i < r->count; i++)
        if (same_tile(&r->known[i], k)) {
            k->rank = r->known[i].rank;
            if (k->median_ns < r->known[i].median_ns)
                r->known[i] = *k;
            return;
        }
    r->count++;
}

static gt_status on_runner_up(void *user, const struct gt_trial_row *row,
                              struct gt_err *err) {
    struct reading *r = user;
    const struct gt_device *d = find_device(r, row->subject.device_key);
    const struct gt_family *family = current_family(r, &row->subject);
    if (d == NULL || family == NULL || !family->has_shape)
        return GEMMTUNE_OK;
    struct gt_known *k = next_place(r);
    if (k == NULL)
        return no_memory(err);
    k->family = family;
    k->verified = true;
    k->median_ns = row->time.median_ns;
    if (take_subject(k, r, &row->subject, d, NULL) != GEMMTUNE_OK)
        return GEMMTUNE_OK;
    fill_tile(k, d);
    find_records(r, k, d);
    if (r->first < r->last && k->tile[0] != 0)
        keep_fastest(r);
    return GEMMTUNE_OK;
}

void gt_known_log_stale(int64_t stale) {
    if (stale > 0)
        gt_log(GEMMTUNE_LOG_INFO,
               "%" PRId64
               " records were tuned with another source of their family; left out",
               stale);
}

/* Devices come in the order of their keys, and so do the records of all of them. Rows of
 * other architectures are not read. */
gt_status gt_known_read(struct gt_known **out, size_t *count, struct gt_known_left *left,
                        struct gt_db *db, const struct gt_families *families,
                        const char *arch, struct gt_err *err) {
    struct reading r = {.families = families, .arch = arch};
    *out = NULL;
    *count = 0;
    *left = r.left;
    gt_status status = gt_db_devices(db, on_device, &r, err);
    for (size_t i = 0; i < r.device_count && status == GEMMTUNE_OK; i++)
        status = gt_db_records(db, r.device[i].key, NULL, on_record, &r, err);
    r.records = r.first_runner_up = r.count;
    if (status == GEMMTUNE_OK && r.count > 0)
        status = gt_db_runners_up(db, runner_up_limit, on_runner_up, &r, err);
    gt_known_log_stale(r.left.stale);
    if (status == GEMMTUNE_OK) {
        *out = r.known;
        *count = r.count;
        *left = r.left;
        left->wrong += gt_db_skipped(db);
        r.known = NULL;
    }
    free(r.known);
    free(r.device);
    return status;
}

gt_status gt_known_load(struct gt_known **out, size_t *count, int64_t *stale,
                        struct gt_db *db, const struct gt_families *families,
                        const char *arch, struct gt_err *err) {
    struct gt_known_left left;
    const gt_status status = gt_known_read(out, count, &left, db, families, arch, err);
    *stale = left.stale;
    return status;
}
