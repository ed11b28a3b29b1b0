/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rekey.c - gives devices that were stored under an old key the present one. Version 1
 * hashed the memory of a CPU, which its driver reports differently from day to day. So one
 * CPU may be several devices of a file; they become one.
 *
 * A checksum covers the device's key, so the checksum of each of its rows changes as well.
 * A row with a wrong checksum keeps it, and readers go on skipping it.
 */
#include "db/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- devices under an old key ---------------------------------------------- */

struct old_device {
    int64_t id;
    struct gt_stored_device row; /* with its new key */
};

struct old_devices {
    struct old_device *at;
    size_t count;
};

bool gt_device_renew(struct gt_stored_device *device) {
    char now[GT_DEVICE_KEY_MAX], was[GT_DEVICE_KEY_MAX];
    gt_device_key(&device->device, now);
    gt_device_key_1(&device->device, was);
    if (strcmp(device->key, was) != 0 || strcmp(was, now) == 0)
        return false;
    memcpy(device->key, now, sizeof now);
    return true;
}

/* Checks everything but the old key, which the present rules would refuse. */
static gt_status accept_device(const void *row, const void *before, struct gt_err *err) {
    (void)row;
    (void)before;
    (void)err;
    return GEMMTUNE_OK;
}

static gt_status add_device(struct old_devices *list, const struct old_device *device,
                            struct gt_err *err) {
    struct old_device *grown = realloc(list->at, (list->count + 1) * sizeof *grown);
    if (grown == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    list->at = grown;
    list->at[list->count++] = *device;
    return GEMMTUNE_OK;
}

static gt_status step_devices(struct old_devices *list, struct gt_db *db,
                              const struct gt_db_table *table, sqlite3_stmt *stmt,
                              struct gt_err *err) {
    bool more = true;
    gt_status status = gt_sql_step(&more, db, stmt, err);
    while (status == GEMMTUNE_OK && more) {
        struct old_device device = {0};
        const bool sound =
            gt_row_load(&device.row, &device.id, table, NULL, stmt, NULL) == GEMMTUNE_OK;
        if (sound && gt_device_renew(&device.row))
            status = add_device(list, &device, err);
        if (status == GEMMTUNE_OK)
            status = gt_sql_step(&more, db, stmt, err);
    }
    return status;
}

/* The device that was used last comes first: its description is the one that stays. */
static gt_status find_devices(struct old_devices *list, struct gt_db *db,
                              struct gt_err *err) {
    struct gt_db_table table = gt_device_table;
    sqlite3_stmt *stmt = NULL;
    table.check = accept_device;
    char *sql = gt_row_select(&table,
                              "TRUE ORDER BY x.here DESC, (SELECT max(r.started_ms) "
                              "FROM run AS r WHERE r.device = x.id) DESC, x.id",
                              false);
    gt_status status = sql != NULL ? gt_sql_prepare(&stmt, db, sql, err)
                                   : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (status == GEMMTUNE_OK)
        status = step_devices(list, db, &table, stmt, err);
    (void)sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return status;
}

/* ---- checksums of what was measured on a device ---------------------------- */

struct sum {
    int64_t id;
    char text[GT_CHECKSUM_MAX];
};

struct sums {
    struct sum *at;
    size_t count, room;
};

static struct sum *next_sum(struct sums *list) {
    if (list->count == list->room) {
        const size_t room = list->room == 0 ? 64 : 2 * list->room;
        struct sum *grown = realloc(list->at, room * sizeof *grown);
        if (grown == NULL)
            return NULL;
        list->at = grown;
        list->room = room;
    }
    return &list->at[list->count];
}

static struct gt_db_subject *subject_of(const struct gt_db_table *table,
                                        union gt_db_stored *row) {
    return table == &gt_trial_table ? &row->trial.row.subject : &row->record.row.subject;
}

static gt_status compute_sums(struct sums *list, struct gt_db *db,
                              const struct gt_db_table *table, const char *key,
                              sqlite3_stmt *stmt, struct gt_err *err) {
    bool more = true;
    gt_status status = gt_sql_step(&more, db, stmt, err);
    while (status == GEMMTUNE_OK && more) {
        union gt_db_stored row = {0};
        struct sum *sum = next_sum(list);
        if (sum == NULL)
            return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        if (gt_row_load(&row, &sum->id, table, NULL, stmt, NULL) == GEMMTUNE_OK) {
            subject_of(table, &row)->device_key = key;
            gt_row_checksum(sum->text, table, &row);
            list->count++;
        }
        status = gt_sql_step(&more, db, stmt, err);
    }
    return status;
}

static gt_status store_sums(const struct sums *list, struct gt_db *db,
                            const struct gt_db_table *table, struct gt_err *err) {
    char sql[64];
    gt_status status = GEMMTUNE_OK;
    (void)snprintf(sql, sizeof sql, "UPDATE %s SET checksum = ? WHERE id = ?", table->name);
    for (size_t i = 0; i < list->count && status == GEMMTUNE_OK; i++)
        status = gt_sql_run(db, err, sql, "ti", list->at[i].text, list->at[i].id);
    return status;
}

/* Computes all checksums before it stores the first, since readers need the old key until
 * then. */
static gt_status renew_checksums(struct gt_db *db, const struct gt_db_table *table,
                                 const struct old_device *device, struct gt_err *err) {
    struct sums list = {0};
    sqlite3_stmt *stmt = NULL;
    char *sql = gt_row_select(table, "d.id = ?1", false);
    gt_status status = sql != NULL ? gt_sql_prepare(&stmt, db, sql, err)
                                   : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (status == GEMMTUNE_OK)
        (void)sqlite3_bind_int64(stmt, 1, device->id);
    if (status == GEMMTUNE_OK)
        status = compute_sums(&list, db, table, device->row.key, stmt, err);
    (void)sqlite3_finalize(stmt);
    if (status == GEMMTUNE_OK)
        status = store_sums(&list, db, table, err);
    sqlite3_free(sql);
    free(list.at);
    return status;
}

/* ---- two devices become one ------------------------------------------------ */

/* Pairs of subjects, a of device ?1 and b of device ?2, that are one kernel for one
 * problem. */
#define TWINS                                                                              \
    "subject AS a JOIN subject AS b ON b.device = ?2 AND b.problem = a.problem AND "       \
    "b.family = a.family AND b.point = a.point"

/* Deletes the older of two rows of one kernel and one provenance. */
#define DROP_OLDER(table, moment)                                                          \
    "DELETE FROM " table " WHERE id IN (SELECT CASE WHEN x." moment " > y." moment         \
    " THEN y.id ELSE x.id END FROM " TWINS " JOIN " table " AS x ON x.subject = a.id "     \
    "JOIN " table " AS y ON y.subject = b.id AND y.provenance = x.provenance "             \
    "WHERE a.device = ?1)"

#define MOVE_TO_TWIN(table)                                                                \
    "UPDATE " table " SET subject = (SELECT b.id FROM " TWINS " WHERE a.id = " table       \
    ".subject) WHERE subject IN (SELECT a.id FROM " TWINS " WHERE a.device = ?1)"

/* Moves all measurements of device ?1 to device ?2; every statement names both. At the end
 * only the newest set of records of each problem and provenance is left. */
static const char *const folding[] = {
    DROP_OLDER("trial", "ended_ms"),
    DROP_OLDER("record", "measured_ms"),
    MOVE_TO_TWIN("trial"),
    MOVE_TO_TWIN("record"),
    "DELETE FROM subject WHERE id IN (SELECT a.id FROM " TWINS " WHERE a.device = ?1)",
    "UPDATE subject SET device = ?2 WHERE device = ?1",
    "UPDATE run SET device = ?2 WHERE device = ?1",
    "DELETE FROM device WHERE id = ?1 AND id <> ?2",
    "DELETE FROM record WHERE id IN (SELECT x.id FROM record AS x "
    "JOIN subject AS a ON a.id = x.subject WHERE a.device = ?2 AND ?1 <> ?2 AND "
    "x.measured_ms < (SELECT max(y.measured_ms) FROM record AS y "
    "JOIN subject AS b ON b.id = y.subject WHERE b.device = a.device AND "
    "b.problem = a.problem AND y.provenance = x.provenance))",
};

static gt_status merge_devices(struct gt_db *db, int64_t from, int64_t into,
                               struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < sizeof folding / sizeof *folding && status == GEMMTUNE_OK; i++)
        status = gt_sql_run(db, err, folding[i], "ii", from, into);
    return status;
}

static gt_status rename_device(struct gt_db *db, const struct old_device *device,
                               struct gt_err *err) {
    char checksum[GT_CHECKSUM_MAX];
    gt_row_checksum(checksum, &gt_device_table, &device->row);
    return gt_sql_run(db, err, "UPDATE device SET key = ?, checksum = ? WHERE id = ?",
                      "tti", device->row.key, checksum, device->id);
}

/* ---- all of it ------------------------------------------------------------- */

static gt_status rekey(struct gt_db *db, const struct old_device *device,
                       struct gt_err *err) {
    int64_t same = 0;
    bool found = false;
    gt_status status = renew_checksums(db, &gt_trial_table, device, err);
    if (status == GEMMTUNE_OK)
        status = renew_checksums(db, &gt_record_table, device, err);
    if (status == GEMMTUNE_OK)
        status = gt_sql_int(&same, &found, db, err, "SELECT id FROM device WHERE key = ?",
                            "t", device->row.key);
    if (status != GEMMTUNE_OK)
        return status;
    return found ? merge_devices(db, device->id, same, err)
                 : rename_device(db, device, err);
}

gt_status gt_db_rekey(struct gt_db *db, struct gt_err *err) {
    struct old_devices list = {0};
    gt_status status = find_devices(&list, db, err);
    for (size_t i = 0; i < list.count && status == GEMMTUNE_OK; i++)
        status = rekey(db, &list.at[i], err);
    free(list.at);
    return status;
}
