/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - copies rows of databases into arrays. The texts that a callback gets are
 * borrowed, so each row copies the three that have no small bound.
 */
#include "tuner/base/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- arrays ---- */

/* Returns the array with room for one more element after `count`. Its size grows in powers
 * of two. */
static void *grow(void *array, size_t count, size_t size) {
    const bool full = (count & (count - 1)) == 0;
    return full ? realloc(array, (count == 0 ? 1 : 2 * count) * size) : array;
}

static gt_status no_memory(struct gt_err *err) {
    return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the database's rows");
}

static void clear_row(struct gt_view_row *row) {
    free(row->point);
    free(row->error);
    free(row->provenance);
}

void gt_view_clear(struct gt_view *v) {
    for (size_t i = 0; i < v->row_count; i++)
        clear_row(&v->row[i]);
    free(v->row);
    free(v->device);
    *v = (struct gt_view){0};
}

/* ---- devices ---- */

/* The index of the key, or the index at which it belongs. */
static size_t device_position(const struct gt_view *v, const char *key) {
    size_t i = 0;
    while (i < v->device_count && strcmp(v->device[i].key, key) < 0)
        i++;
    return i;
}

static gt_status take_device(void *user, const char *key, const struct gt_device *d,
                             struct gt_err *err) {
    struct gt_view *v = user;
    const size_t at = device_position(v, key);
    if (at < v->device_count && strcmp(v->device[at].key, key) == 0)
        return GEMMTUNE_OK;
    struct gt_view_device *device = grow(v->device, v->device_count, sizeof *device);
    if (device == NULL)
        return no_memory(err);
    v->device = device;
    memmove(device + at + 1, device + at, (v->device_count - at) * sizeof *device);
    device[at].device = *d;
    gt_device_suppose_abilities(&device[at].device);
    (void)snprintf(device[at].key, sizeof device[at].key, "%s", key);
    v->device_count++;
    return GEMMTUNE_OK;
}

gt_status gt_view_devices(struct gt_view *v, struct gt_db *db, struct gt_err *err) {
    return gt_db_devices(db, take_device, v, err);
}

bool gt_text_holds(const char *text, const char *part) {
    const size_t len = strlen(part);
    for (; strlen(text) >= len; text++)
        if (strncasecmp(text, part, len) == 0)
            return true;
    return false;
}

bool gt_text_same(const char *a, const char *b) {
    return strcasecmp(a, b) == 0;
}

/* Counts the devices with a key or name that `fits` accepts; *index is the first one. */
static size_t matches(size_t *index, const struct gt_view *v, const char *what,
                      bool (*fits)(const char *, const char *)) {
    size_t count = 0;
    for (size_t i = v->device_count; i-- > 0;)
        if (fits(v->device[i].key, what) || fits(v->device[i].device.name, what)) {
            *index = i;
            count++;
        }
    return count;
}

static gt_status several(const struct gt_view *v, const char *what, struct gt_err *err) {
    char keys[400] = "";
    for (size_t i = 0, len = 0; i < v->device_count && len < sizeof keys; i++)
        if (gt_text_holds(v->device[i].key, what) ||
            gt_text_holds(v->device[i].device.name, what))
            len += (size_t)snprintf(keys + len, sizeof keys - len, "%s%s",
                                    len > 0 ? ", " : "", v->device[i].key);
    return gt_fail(err, GEMMTUNE_EINVAL, "'%.60s' fits several devices: %s", what, keys);
}

static gt_status the_only_one(size_t *index, const struct gt_view *v, struct gt_err *err) {
    *index = 0;
    if (v->device_count == 1)
        return GEMMTUNE_OK;
    if (v->device_count == 0)
        return gt_fail(err, GEMMTUNE_ENOTFOUND,
                       "the database has no device: nothing has been tuned");
    return gt_fail(err, GEMMTUNE_EINVAL,
                   "the database has %zu devices; --device says which", v->device_count);
}

const struct gt_device *gt_view_device(const struct gt_view *v, const char *key) {
    for (size_t i = 0; i < v->device_count; i++)
        if (strcmp(v->device[i].key, key) == 0)
            return &v->device[i].device;
    return NULL;
}

gt_status gt_view_pick(size_t *index, const struct gt_view *v, const char *what,
                       struct gt_err *err) {
    if (what == NULL)
        return the_only_one(index, v, err);
    size_t count = matches(index, v, what, gt_text_same);
    if (count == 0)
        count = matches(index, v, what, gt_text_holds);
    if (count == 1)
        return GEMMTUNE_OK;
    if (count > 1)
        return several(v, what, err);
    return gt_fail(err, GEMMTUNE_ENOTFOUND, "no device '%.60s' in the database", what);
}

/* ---- rows ---- */

static char *copy(const char *text) {
    char *out = malloc(strlen(text) + 1);
    if (out != NULL)
        memcpy(out, text, strlen(text) + 1);
    return out;
}

/* Adds `row` with copies of the subject and the texts. */
static gt_status take(struct gt_view *v, struct gt_view_row row,
                      const struct gt_db_subject *s, const char *error,
                      const char *provenance, struct gt_err *err) {
    struct gt_view_row *rows = grow(v->row, v->row_count, sizeof *rows);
    if (rows == NULL)
        return no_memory(err);
    v->row = rows;
    (void)snprintf(row.device, sizeof row.device, "%s", s->device_key);
    (void)snprintf(row.problem, sizeof row.problem, "%s", s->problem);
    (void)snprintf(row.family, sizeof row.family, "%s", s->family);
    (void)snprintf(row.hash, sizeof row.hash, "%s", s->family_hash);
    row.point = copy(s->point);
    row.error = copy(error != NULL ? error : "");
    row.provenance = copy(provenance != NULL ? provenance : "");
    if (row.point == NULL || row.error == NULL || row.provenance == NULL) {
        clear_row(&row);
        return no_memory(err);
    }
    rows[v->row_count++] = row;
    return GEMMTUNE_OK;
}

static gt_status take_record(void *user, const struct gt_record_row *r,
                             struct gt_err *err) {
    const struct gt_view_row row = {
        .record = true,
        .rank = r->rank,
        .verified = r->verified,
        .tied = r->tied,
        .baseline_ns = r->baseline_ns,
        .state = GT_TRIAL_DONE,
        .outcome = GT_CORRECT,
        .registers = -1,
        .spill_bytes = -1,
        .smem_bytes = -1,
        .samples = r->time.samples,
        .median_ns = r->time.median_ns,
        .low_ns = r->time.samples > 1 ? r->time.low_ns : 0,
        .high_ns = r->time.samples > 1 ? r->time.high_ns : 0,
    };
    return take(user, row, &r->subject, NULL, r->provenance, err);
}

static gt_status take_trial(void *user, const struct gt_trial_row *r, struct gt_err *err) {
    const struct gt_view_row row = {
        .state = r->state,
        .outcome = r->outcome,
        .run_id = r->run_id,
        .attempts = r->attempts,
        .registers = r->registers,
        .spill_bytes = r->spill_bytes,
        .smem_bytes = r->smem_bytes,
        .samples = r->time.samples,
        .median_ns = r->time.samples > 0 ? r->time.median_ns : 0,
        .low_ns = r->time.samples > 1 ? r->time.low_ns : 0,
        .high_ns = r->time.samples > 1 ? r->time.high_ns : 0,
    };
    return take(user, row, &r->subject, r->error, r->provenance, err);
}

gt_status gt_view_records(struct gt_view *v, struct gt_db *db, const char *device_key,
                          const char *problem, struct gt_err *err) {
    return gt_db_records(db, device_key, problem, take_record, v, err);
}

gt_status gt_view_trials(struct gt_view *v, struct gt_db *db, const char *device_key,
                         const char *problem, struct gt_err *err) {
    return gt_db_trials(db, device_key, problem, take_trial, v, err);
}

/* ---- stale rows ---- */

bool gt_view_current(const struct gt_view_row *row, const struct gt_families *families) {
    return gt_families_current(families, row->family, row->hash) != NULL;
}

const char *gt_view_outdated(const struct gt_view_row *row,
                             const struct gt_families *families) {
    if (gt_families_find(families, row->family) == NULL)
        return "no family";
    return gt_view_current(row, families) ? NULL : "stale";
}

static size_t end_of_problem(const struct gt_view *v, size_t begin) {
    size_t end = begin;
    while (end < v->row_count && strcmp(v->row[end].device, v->row[begin].device) == 0 &&
           strcmp(v->row[end].problem, v->row[begin].problem) == 0)
        end++;
    return end;
}

void gt_view_rank(struct gt_view *v, size_t from, const struct gt_families *families) {
    size_t end;
    for (size_t begin = from; begin < v->row_count; begin = end) {
        /* the ranks that the next current and the next stale row get */
        int current = 0, stale = 0;
        end = end_of_problem(v, begin);
        for (size_t i = begin; i < end; i++) {
            v->row[i].current = gt_view_current(&v->row[i], families);
            stale += v->row[i].current;
        }
        for (size_t i = begin; i < end; i++)
            v->row[i].rank = v->row[i].current ? current++ : stale++;
    }
}

static bool is_same_kernel(const struct gt_view_row *a, const struct gt_view_row *b) {
    return strcmp(a->device, b->device) == 0 && strcmp(a->problem, b->problem) == 0 &&
           strcmp(a->family, b->family) == 0 && strcmp(a->hash, b->hash) == 0 &&
           strcmp(a->point, b->point) == 0;
}

void gt_view_join(struct gt_view *v, const struct gt_view *records) {
    for (size_t i = 0; i < v->row_count; i++) {
        struct gt_view_row *row = &v->row[i];
        row->rank = -1;
        for (size_t j = 0; j < records->row_count; j++) {
            const struct gt_view_row *record = &records->row[j];
            if ((row->rank >= 0 && row->rank <= record->rank) ||
                !is_same_kernel(row, record))
                continue;
            row->rank = record->rank;
            row->final_ns = record->median_ns;
        }
    }
}

const char *gt_view_word(const struct gt_view_row *row) {
    static const char *const states[] = {
        [GT_TRIAL_RUNNING] = "unfinished", [GT_TRIAL_QUARANTINED] = "quarantined"};
    return row->state == GT_TRIAL_DONE ? gt_outcome_word(row->outcome) : states[row->state];
}
