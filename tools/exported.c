/* SPDX-License-Identifier: Apache-2.0 */
/* exported.c - see exported.h. The file goes through a database that is thrown away, so
 * there is one reader of the format. */
#include "tools/exported.h"

#include "core/io.h"
#include "core/new_file.h"
#include "db/db.h"
#include "tools/read_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ------------------------------------------------------------------------ */

struct reader {
    struct gt_exported *to;
    char (*key)[GT_DEVICE_KEY_MAX]; /* of each device */
};

static gt_status out_of_memory(struct gt_err *err) {
    return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

static gt_status take_device(void *user, const char *key, const struct gt_device *d,
                             struct gt_err *err) {
    struct reader *r = user;
    const size_t count = r->to->devices;
    struct gt_device *device = realloc(r->to->device, (count + 1) * sizeof *device);
    if (device != NULL)
        r->to->device = device;
    void *keys = realloc(r->key, (count + 1) * sizeof *r->key);
    if (keys != NULL)
        r->key = keys;
    if (device == NULL || keys == NULL)
        return out_of_memory(err);
    device[count] = *d;
    (void)snprintf(r->key[count], sizeof r->key[count], "%s", key);
    r->to->devices++;
    return GEMMTUNE_OK;
}

static gt_status take_record(void *user, const struct gt_record_row *row,
                             struct gt_err *err) {
    const struct reader *r = user;
    struct gt_exported *to = r->to;
    struct gt_recorded *grown = realloc(to->item, (to->count + 1) * sizeof *grown);
    if (grown == NULL)
        return out_of_memory(err);
    to->item = grown;
    struct gt_recorded *item = &to->item[to->count++];
    *item = (struct gt_recorded){.family = strdup(row->subject.family),
                                 .hash = strdup(row->subject.family_hash),
                                 .problem = strdup(row->subject.problem),
                                 .point = strdup(row->subject.point)};
    while (item->device < to->devices &&
           strcmp(r->key[item->device], row->subject.device_key) != 0)
        item->device++;
    if (item->device == to->devices)
        return gt_fail(err, GEMMTUNE_EDB, "a record's device is unknown");
    return item->family != NULL && item->hash != NULL && item->problem != NULL &&
                   item->point != NULL
               ? GEMMTUNE_OK
               : out_of_memory(err);
}

static gt_status read_through(struct reader *r, const char *db_path, const char *path,
                              struct gt_err *err) {
    struct gt_merge_report report;
    struct gt_db *db = NULL;
    gt_status status = gt_db_open(&db, db_path, GT_DB_WRITE, err);
    if (status == GEMMTUNE_OK)
        status = gt_db_import(&report, db, path, err);
    if (status == GEMMTUNE_OK)
        status = gt_db_devices(db, take_device, r, err);
    if (status == GEMMTUNE_OK)
        status = gt_db_records(db, NULL, NULL, take_record, r, err);
    gt_db_close(db);
    return status;
}

gt_status gt_exported_read(struct gt_exported *out, const char *path, struct gt_err *err) {
    char folder[GT_PATH_SIZE], db_path[GT_PATH_SIZE + 16];
    const char *tmp = getenv("TMPDIR");
    struct reader r = {.to = out};
    *out = (struct gt_exported){0};
    (void)snprintf(folder, sizeof folder, "%s/gemmtune-XXXXXX",
                   tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL)
        return gt_fail(err, GEMMTUNE_EIO, "%.200s: %s", folder, strerror(errno));
    (void)snprintf(db_path, sizeof db_path, "%s/records.db", folder);
    const gt_status status = read_through(&r, db_path, path, err);
    (void)unlink(db_path);
    (void)rmdir(folder);
    free(r.key);
    if (status != GEMMTUNE_OK)
        gt_exported_clear(out);
    return status;
}

void gt_exported_clear(struct gt_exported *r) {
    for (size_t i = 0; i < r->count; i++) {
        free(r->item[i].family);
        free(r->item[i].hash);
        free(r->item[i].problem);
        free(r->item[i].point);
    }
    free(r->item);
    free(r->device);
    *r = (struct gt_exported){0};
}

/* ---- stamping ----------------------------------------------------------------------- */

/* Puts the new hash in every place of the old one. Both have 64 digits, so the text keeps
 * its length. */
static void replace(char *text, const struct gt_new_hash *change) {
    const size_t len = strlen(change->old_hash);
    for (char *at = strstr(text, change->old_hash); at != NULL;
         at = strstr(at + len, change->old_hash))
        memcpy(at, change->new_hash, len);
}

static gt_status write_whole(const char *path, const char *text, struct gt_err *err) {
    struct gt_new_text to;
    const gt_status status = gt_new_text_begin(&to, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    (void)fputs(text, to.out);
    return gt_new_text_end(&to, status, err);
}

gt_status gt_exported_stamp(const char *path, const struct gt_new_hash *change,
                            size_t count, struct gt_err *err) {
    FILE *in = NULL;
    gt_status status = gt_fopen_input(&in, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    char *text = gt_read_stream(in);
    (void)fclose(in);
    if (text == NULL)
        return out_of_memory(err);
    for (size_t i = 0; i < count; i++)
        replace(text, &change[i]);
    status = write_whole(path, text, err);
    free(text);
    return status;
}
