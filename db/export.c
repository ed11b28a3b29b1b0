/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - tuned results as text that people review: one record a line, in the order of
 * gt_db_records, each kernel once, numbers that read back to the same value. The interval
 * of a single sample is null. The same database always gives the same bytes. The file
 * appears whole or not at all.
 */
#include "db/internal.h"

#include "core/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- rows as text ---------------------------------------------------------- */

/* The fewest digits that read back to the same value. */
static void print_real(FILE *out, double value) {
    char text[32];
    int digits = 15;
    do
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
    while (strtod(text, NULL) < value || strtod(text, NULL) > value ? digits++ < 17
                                                                    : false);
    (void)fputs(text, out);
}

static void print_column(FILE *out, const struct gt_db_column *column, const void *row) {
    switch (column->kind) {
    case GT_COLUMN_TEXT:
    case GT_COLUMN_CHARS:
    case GT_COLUMN_WORD:
        gt_json_quote(out, gt_column_text(column, row));
        break;
    case GT_COLUMN_BOOL:
        (void)fputs(gt_column_int(column, row) != 0 ? "true" : "false", out);
        break;
    case GT_COLUMN_REAL:
        if (isfinite(gt_column_real(column, row)))
            print_real(out, gt_column_real(column, row));
        else
            (void)fputs("null", out);
        break;
    default:
        (void)fprintf(out, "%" PRId64, gt_column_int(column, row));
    }
}

static void print_row(FILE *out, const struct gt_db_table *table, const void *row,
                      bool *first) {
    const char *separator = "";
    (void)fputs(*first ? "\n    {" : ",\n    {", out);
    *first = false;
    for (size_t i = 0; i < table->count; i++) {
        const struct gt_db_column *column = &table->column[i];
        if (!column->exported)
            continue;
        (void)fprintf(out, "%s\"%s\": ", separator, column->name);
        print_column(out, column, row);
        separator = ", ";
    }
    (void)fputc('}', out);
}

/* ---- the document ---------------------------------------------------------- */

struct list {
    char (*text)[GT_DEVICE_KEY_MAX];
    size_t count;
};

static gt_status list_add(struct list *list, const char *text, struct gt_err *err) {
    char(*grown)[GT_DEVICE_KEY_MAX] =
        realloc(list->text, (list->count + 1) * sizeof *list->text);
    if (grown == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    list->text = grown;
    (void)snprintf(list->text[list->count++], sizeof *list->text, "%s", text);
    return GEMMTUNE_OK;
}

static bool list_has(const struct list *list, const char *text) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->text[i], text) == 0)
            return true;
    return false;
}

/* The records of a (device, problem), which may be of several tunings. */
struct set {
    int64_t newest_ms; /* when the newest was measured: the time of all */
    bool any_tied;     /* with the winner */
};

/* The sets in the order of reading. */
struct stamps {
    struct set *set;
    size_t count, at;
    struct gt_ranking group;
};

struct document {
    struct gt_db *db;
    FILE *out;
    const char *only;    /* this device's key; NULL: all */
    struct list devices; /* written so far */
    struct list kernels; /* checksums of the subjects of the present problem */
    struct gt_ranking ranking;
    struct stamps stamps;
    int64_t records; /* written so far */
    bool first;      /* no element of the array was written yet */
};

/* Devices without tuned results are left out. */
static gt_status print_device(void *user, void *row, struct gt_err *err) {
    struct document *doc = user;
    const struct gt_stored_device *device = row;
    int64_t one = 0;
    bool tuned = false;
    if (doc->only != NULL && strcmp(doc->only, device->key) != 0)
        return GEMMTUNE_OK;
    gt_status status =
        gt_sql_int(&one, &tuned, doc->db, err,
                   "SELECT 1 FROM device AS d JOIN subject AS s ON s.device = "
                   "d.id JOIN record AS r ON r.subject = s.id WHERE d.key = ?",
                   "t", device->key);
    if (status != GEMMTUNE_OK || !tuned)
        return status;
    status = list_add(&doc->devices, device->key, err);
    print_row(doc->out, &gt_device_table, device, &doc->first);
    return status;
}

static gt_status note_stamp(void *user, void *stored_record, struct gt_err *err) {
    struct stamps *stamps = user;
    struct gt_stored_record *record = stored_record;
    if (!gt_ranking_same(&stamps->group, &record->row)) {
        struct set *grown = realloc(stamps->set, (stamps->count + 1) * sizeof *grown);
        if (grown == NULL)
            return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        stamps->set = grown;
        stamps->set[stamps->count++] = (struct set){0};
    }
    gt_ranking_apply(&stamps->group, &record->row);
    struct set *set = &stamps->set[stamps->count - 1];
    if (record->row.measured_ms > set->newest_ms)
        set->newest_ms = record->row.measured_ms;
    set->any_tied = set->any_tied || (record->row.rank > 0 && record->row.tied);
    return GEMMTUNE_OK;
}

static gt_status note_stamps(struct document *doc, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < doc->devices.count && status == GEMMTUNE_OK; i++)
        status = gt_db_each(doc->db, &gt_record_table, doc->devices.text[i], NULL,
                            note_stamp, &doc->stamps, err);
    return status;
}

/* Two rows of one subject are one kernel with two sources; the first is the better one. */
static gt_status is_repeat(bool *repeat, struct document *doc,
                           const struct gt_record_row *row, struct gt_err *err) {
    char kernel[GT_DEVICE_KEY_MAX];
    if (!gt_ranking_same(&doc->ranking, row)) {
        doc->kernels.count = 0;
        doc->stamps.at++;
    }
    gt_subject_checksum(kernel, &row->subject);
    *repeat = list_has(&doc->kernels, kernel);
    return *repeat ? GEMMTUNE_OK : list_add(&doc->kernels, kernel, err);
}

static gt_status print_record(void *user, void *stored_record, struct gt_err *err) {
    struct document *doc = user;
    struct gt_stored_record *record = stored_record;
    bool repeat = false;
    const gt_status status = is_repeat(&repeat, doc, &record->row, err);
    if (status != GEMMTUNE_OK || repeat)
        return status;
    gt_ranking_apply(&doc->ranking, &record->row);
    record->row.time.low_ns = gt_interval_low(&record->row.time);
    record->row.time.high_ns = gt_interval_high(&record->row.time);
    const struct set *set = &doc->stamps.set[doc->stamps.at - 1];
    record->row.measured_ms = set->newest_ms;
    if (record->row.rank == 0)
        record->row.tied = record->row.tied && set->any_tied;
    print_row(doc->out, &gt_record_table, record, &doc->first);
    doc->records++;
    return GEMMTUNE_OK;
}

static gt_status print_records(struct document *doc, struct gt_err *err) {
    gt_status status = note_stamps(doc, err);
    doc->first = true;
    for (size_t i = 0; i < doc->devices.count && status == GEMMTUNE_OK; i++)
        status = gt_db_each(doc->db, &gt_record_table, doc->devices.text[i], NULL,
                            print_record, doc, err);
    return status;
}

static gt_status print_all(struct document *doc, struct gt_err *err) {
    (void)fputs("{\n  \"format\": 2,\n  \"devices\": [", doc->out);
    gt_status status =
        gt_db_each(doc->db, &gt_device_table, NULL, NULL, print_device, doc, err);
    (void)fputs("\n  ],\n  \"records\": [", doc->out);
    if (status == GEMMTUNE_OK)
        status = print_records(doc, err);
    (void)fputs("\n  ]\n}\n", doc->out);
    return status;
}

/* Reads in one transaction, so that all passes see the same rows while others write. */
static gt_status print_document(struct gt_export_report *report, FILE *out,
                                struct gt_db *db, const char *device_key,
                                struct gt_err *err) {
    struct document doc = {.db = db, .out = out, .only = device_key, .first = true};
    gt_status status = gt_sql_script(db, "BEGIN", err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_locales l = gt_locale_enter();
    status = print_all(&doc, err);
    gt_locale_leave(l);
    (void)gt_sql_script(db, "ROLLBACK", NULL);
    *report = (struct gt_export_report){(int64_t)doc.devices.count, doc.records};
    free(doc.devices.text);
    free(doc.kernels.text);
    free(doc.stamps.set);
    return status;
}

/* ---- the file -------------------------------------------------------------- */

static gt_status fail_io(const char *path, struct gt_err *err) {
    return gt_fail(err, GEMMTUNE_EIO, "%s: cannot be written: %s", path, strerror(errno));
}

/* Writes to standard output, a pipe or a device, which a rename cannot replace. */
static gt_status write_stream(struct gt_export_report *report, FILE *out, const char *path,
                              struct gt_db *db, const char *device_key,
                              struct gt_err *err) {
    if (out == NULL)
        return fail_io(path, err);
    const gt_status status = print_document(report, out, db, device_key, err);
    if (status == GEMMTUNE_OK && (fflush(out) != 0 || ferror(out)))
        return fail_io(path, err);
    return status;
}

/* Makes the new name survive a power cut. Some file systems cannot do this; the error is
 * ignored. */
static void sync_folder(const char *path) {
    char folder[4096];
    const char *slash = strrchr(path, '/');
    const int len = slash != NULL ? (int)(slash - path) + 1 : 1;
    (void)snprintf(folder, sizeof folder, "%.*s", len, slash != NULL ? path : ".");
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}

static FILE *create(const char *path) {
    (void)unlink(path); /* left by an earlier process with our pid */
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out == NULL && fd >= 0)
        (void)close(fd);
    return out;
}

static gt_status write_file(struct gt_export_report *report, const char *path,
                            struct gt_db *db, const char *device_key, struct gt_err *err) {
    char temporary[4096];
    const int len =
        snprintf(temporary, sizeof temporary, "%s.tmp-%ld", path, (long)getpid());
    if (len < 0 || (size_t)len >= sizeof temporary)
        return gt_fail(err, GEMMTUNE_EIO, "%s: path is too long", path);
    FILE *out = create(temporary);
    gt_status status = write_stream(report, out, path, db, device_key, err);
    if (status == GEMMTUNE_OK && fsync(fileno(out)) != 0)
        status = fail_io(path, err);
    if (out != NULL && fclose(out) != 0 && status == GEMMTUNE_OK)
        status = fail_io(path, err);
    if (status == GEMMTUNE_OK && rename(temporary, path) != 0)
        status = fail_io(path, err);
    if (status == GEMMTUNE_OK)
        sync_folder(path);
    else
        (void)unlink(temporary);
    return status;
}

gt_status gt_db_export(struct gt_export_report *report, struct gt_db *db,
                       const char *device_key, const char *path, struct gt_err *err) {
    struct stat st;
    if (strcmp(path, "-") == 0)
        return write_stream(report, stdout, "standard output", db, device_key, err);
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode))
        return write_file(report, path, db, device_key, err);
    FILE *out = fopen(path, "we");
    const gt_status status = write_stream(report, out, path, db, device_key, err);
    if (out != NULL)
        (void)fclose(out);
    return status;
}
