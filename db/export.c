/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - tuned results as text that people review: one record a line, in the order of
 * gt_db_records, each kernel once, numbers that read back to the same value. Devices and
 * the hashes of families stand once, so that a changed hash is one changed line. The same
 * database always gives the same bytes. The file appears whole or not at all.
 */
#include "db/internal.h"

#include "core/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
        print_real(out, gt_column_real(column, row));
        break;
    default:
        (void)fprintf(out, "%" PRId64, gt_column_int(column, row));
    }
}

/* Begins an element of an array or a member of an object, on a line of its own. */
static void begin_line(FILE *out, bool *first, const char *indent) {
    (void)fprintf(out, "%s\n%s", *first ? "" : ",", indent);
    *first = false;
}

/* Columns that stand once for many records are left out. */
static void print_columns(FILE *out, const struct gt_db_table *table, const void *row) {
    const char *separator = "";
    for (size_t i = 0; i < table->count; i++) {
        const struct gt_db_column *column = &table->column[i];
        if (!column->exported || column->is_shared)
            continue;
        (void)fprintf(out, "%s\"%s\": ", separator, column->name);
        print_column(out, column, row);
        separator = ", ";
    }
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

/* When the newest record of each (device, problem) was measured, in the order of reading.
 * Records of several tunings become one set, which gets the time of its newest part. */
struct stamps {
    int64_t *ms;
    size_t count, at;
    struct gt_ranking group;
};

/* A family that records name: sources of one name differ in their hash. */
struct source {
    char name[GT_DB_FAMILY_MAX], hash[65];
};

struct sources {
    struct source *item;
    size_t count;
};

/* Finds the family among `s`, or the place where it belongs: by name, then by hash. */
static bool find_source(size_t *at, const struct sources *s, const char *name,
                        const char *hash) {
    for (*at = 0; *at < s->count; ++*at) {
        const int names = strcmp(s->item[*at].name, name);
        const int order = names != 0 ? names : strcmp(s->item[*at].hash, hash);
        if (order >= 0)
            return order == 0;
    }
    return false;
}

static gt_status add_source(struct sources *s, const char *name, const char *hash,
                            struct gt_err *err) {
    size_t at;
    if (find_source(&at, s, name, hash))
        return GEMMTUNE_OK;
    struct source *const grown = realloc(s->item, (s->count + 1) * sizeof *grown);
    if (grown == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    s->item = grown;
    memmove(grown + at + 1, grown + at, (s->count - at) * sizeof *grown);
    (void)snprintf(grown[at].name, sizeof grown[at].name, "%s", name);
    (void)snprintf(grown[at].hash, sizeof grown[at].hash, "%s", hash);
    s->count++;
    return GEMMTUNE_OK;
}

static bool has_name(const struct sources *s, size_t i, const char *name) {
    return i < s->count && strcmp(s->item[i].name, name) == 0;
}

/* The word by which records name source `at`: the family's name, with the first digits of
 * the hash where the file has several sources of that name. */
static void source_word(char word[GT_DB_FAMILY_MAX + 16], const struct sources *s,
                        size_t at) {
    const char *const name = s->item[at].name;
    const bool alone =
        !has_name(s, at + 1, name) && (at == 0 || !has_name(s, at - 1, name));
    (void)snprintf(word, GT_DB_FAMILY_MAX + 16, "%s%s%.12s", name, alone ? "" : "-",
                   alone ? "" : s->item[at].hash);
}

struct document {
    struct gt_db *db;
    FILE *out;
    const char *only;    /* this device's key; NULL: all */
    struct list devices; /* written so far */
    struct list kernels; /* checksums of the subjects of the present problem */
    struct gt_ranking ranking;
    struct stamps stamps;
    struct sources sources;
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
    begin_line(doc->out, &doc->first, "    {");
    print_columns(doc->out, &gt_device_table, device);
    (void)fputc('}', doc->out);
    return status;
}

static gt_status note_record(void *user, void *stored_record, struct gt_err *err) {
    struct document *doc = user;
    struct stamps *stamps = &doc->stamps;
    struct gt_stored_record *record = stored_record;
    if (!gt_ranking_same(&stamps->group, &record->row)) {
        int64_t *grown = realloc(stamps->ms, (stamps->count + 1) * sizeof *grown);
        if (grown == NULL)
            return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        stamps->ms = grown;
        stamps->ms[stamps->count++] = 0;
        gt_ranking_apply(&stamps->group, &record->row);
    }
    int64_t *newest = &stamps->ms[stamps->count - 1];
    if (record->row.measured_ms > *newest)
        *newest = record->row.measured_ms;
    return add_source(&doc->sources, record->row.subject.family,
                      record->row.subject.family_hash, err);
}

/* Notes what the records have in common: times of sets, and families. */
static gt_status note_records(struct document *doc, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < doc->devices.count && status == GEMMTUNE_OK; i++)
        status = gt_db_each(doc->db, &gt_record_table, doc->devices.text[i], NULL,
                            note_record, doc, err);
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

/* The family must be among doc->sources. */
static void print_word(struct document *doc, const struct gt_db_subject *subject) {
    char word[GT_DB_FAMILY_MAX + 16];
    size_t at;
    (void)find_source(&at, &doc->sources, subject->family, subject->family_hash);
    source_word(word, &doc->sources, at);
    gt_json_quote(doc->out, word);
}

static gt_status print_record(void *user, void *stored_record, struct gt_err *err) {
    struct document *doc = user;
    struct gt_stored_record *record = stored_record;
    bool repeat = false;
    const gt_status status = is_repeat(&repeat, doc, &record->row, err);
    if (status != GEMMTUNE_OK || repeat)
        return status;
    gt_ranking_apply(&doc->ranking, &record->row);
    record->row.measured_ms = doc->stamps.ms[doc->stamps.at - 1];
    begin_line(doc->out, &doc->first, "      {\"family\": ");
    print_word(doc, &record->row.subject);
    (void)fputs(", ", doc->out);
    print_columns(doc->out, &gt_record_table, record);
    (void)fputc('}', doc->out);
    doc->records++;
    return GEMMTUNE_OK;
}

/* A member for each device: its key, and its records. */
static gt_status print_records(struct document *doc, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    bool first = true;
    for (size_t i = 0; i < doc->devices.count && status == GEMMTUNE_OK; i++) {
        begin_line(doc->out, &first, "    ");
        gt_json_quote(doc->out, doc->devices.text[i]);
        (void)fputs(": [", doc->out);
        doc->first = true;
        status = gt_db_each(doc->db, &gt_record_table, doc->devices.text[i], NULL,
                            print_record, doc, err);
        (void)fputs("\n    ]", doc->out);
    }
    return status;
}

/* A member for each family: the word by which records name it, its name and its hash. */
static void print_sources(struct document *doc) {
    bool first = true;
    for (size_t i = 0; i < doc->sources.count; i++) {
        const struct source *const s = &doc->sources.item[i];
        char word[GT_DB_FAMILY_MAX + 16];
        source_word(word, &doc->sources, i);
        begin_line(doc->out, &first, "    ");
        gt_json_quote(doc->out, word);
        (void)fputs(": {\"family\": ", doc->out);
        gt_json_quote(doc->out, s->name);
        (void)fputs(", \"hash\": ", doc->out);
        gt_json_quote(doc->out, s->hash);
        (void)fputc('}', doc->out);
    }
}

static gt_status print_all(struct document *doc, struct gt_err *err) {
    (void)fputs("{\n  \"format\": 3,\n  \"devices\": [", doc->out);
    gt_status status =
        gt_db_each(doc->db, &gt_device_table, NULL, NULL, print_device, doc, err);
    if (status == GEMMTUNE_OK)
        status = note_records(doc, err);
    (void)fputs("\n  ],\n  \"families\": {", doc->out);
    print_sources(doc);
    (void)fputs("\n  },\n  \"records\": {", doc->out);
    if (status == GEMMTUNE_OK)
        status = print_records(doc, err);
    (void)fputs("\n  }\n}\n", doc->out);
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
    free(doc.stamps.ms);
    free(doc.sources.item);
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
