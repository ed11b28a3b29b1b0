/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - tuned results as text that people review: one record a line, in the order of
 * gt_db_records, each kernel once, numbers that read back to the same value. The interval
 * of a single sample is null. Devices and the hashes of families stand once, so that a
 * changed hash is one changed line. Comparisons with libraries follow, for the kernels
 * that are written; a file without any has format 3, as before there were some. The same
 * database always gives the same bytes. The file appears whole or not at all.
 */
#include "db/internal.h"

#include "core/json.h"
#include "core/new_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    int64_t records;          /* written so far */
    int64_t rivals;           /* the same */
    struct gt_rival_row last; /* the comparison that was written last, without its texts */
    uint64_t last_kernel;
    char last_library[GT_DB_LIBRARY_MAX];
    bool first; /* no element of the array was written yet */
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
    record->row.time.low_ns = gt_interval_low(&record->row.time);
    record->row.time.high_ns = gt_interval_high(&record->row.time);
    const struct set *set = &doc->stamps.set[doc->stamps.at - 1];
    record->row.measured_ms = set->newest_ms;
    if (record->row.rank == 0)
        record->row.tied = record->row.tied && set->any_tied;
    begin_line(doc->out, &doc->first, "      {\"family\": ");
    print_word(doc, &record->row.subject);
    (void)fputs(", ", doc->out);
    print_columns(doc->out, &gt_record_table, record);
    (void)fputc('}', doc->out);
    doc->records++;
    return GEMMTUNE_OK;
}

/* A member for each device: its key, and its rows of the table. */
static gt_status print_lists(struct document *doc, const struct gt_db_table *table,
                             gt_stored_fn print, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    bool first = true;
    for (size_t i = 0; i < doc->devices.count && status == GEMMTUNE_OK; i++) {
        begin_line(doc->out, &first, "    ");
        gt_json_quote(doc->out, doc->devices.text[i]);
        (void)fputs(": [", doc->out);
        doc->first = true;
        status = gt_db_each(doc->db, table, doc->devices.text[i], NULL, print, doc, err);
        (void)fputs("\n    ]", doc->out);
    }
    return status;
}

/* ---- comparisons ---- */

#define OF_RECORD                                                                          \
    "FROM record AS r JOIN subject AS s ON s.id = r.subject "                              \
    "JOIN device AS d ON d.id = s.device JOIN family AS f ON f.id = s.family "

/* Whether the kernel is among the records. */
static gt_status is_record(bool *found, struct document *doc, const struct gt_db_subject *s,
                           struct gt_err *err) {
    int64_t one = 0;
    size_t at;
    const gt_status status =
        gt_sql_int(&one, found, doc->db, err,
                   "SELECT 1 " OF_RECORD "WHERE d.key = ? AND s.problem = ? AND "
                   "f.name = ? AND f.hash = ? AND s.point = ?",
                   "ttttt", s->device_key, s->problem, s->family, s->family_hash, s->point);
    *found = *found && find_source(&at, &doc->sources, s->family, s->family_hash);
    return status;
}

/* Of the comparisons of a kernel under equal conditions the first one is written: from
 * here, if there is such. */
static bool is_other(struct document *doc, const struct gt_rival_row *row) {
    const uint64_t kernel = gt_db_subject_key(&row->subject);
    const bool same = doc->rivals > 0 && kernel == doc->last_kernel &&
                      row->workspace == doc->last.workspace &&
                      row->version == doc->last.version &&
                      strcmp(row->library, doc->last_library) == 0;
    doc->last = *row;
    doc->last_kernel = kernel;
    (void)snprintf(doc->last_library, sizeof doc->last_library, "%s", row->library);
    return !same;
}

static gt_status print_rival(void *user, void *stored_rival, struct gt_err *err) {
    struct document *doc = user;
    const struct gt_stored_rival *rival = stored_rival;
    bool wanted = false;
    const gt_status status = is_record(&wanted, doc, &rival->row.subject, err);
    if (status != GEMMTUNE_OK || !wanted || !is_other(doc, &rival->row))
        return status;
    begin_line(doc->out, &doc->first, "      {\"family\": ");
    print_word(doc, &rival->row.subject);
    (void)fputs(", ", doc->out);
    print_columns(doc->out, &gt_rival_table, rival);
    (void)fputc('}', doc->out);
    doc->rivals++;
    return GEMMTUNE_OK;
}

static gt_status has_rivals(bool *found, struct document *doc, struct gt_err *err) {
    int64_t one = 0;
    return gt_sql_int(&one, found, doc->db, err,
                      "SELECT 1 " OF_RECORD "JOIN rival AS x ON x.subject = s.id "
                      "WHERE d.key = coalesce(?, d.key) LIMIT 1",
                      "t", doc->only);
}

static gt_status print_rivals(struct document *doc, struct gt_err *err) {
    (void)fputs("\n  },\n  \"rivals\": {", doc->out);
    return print_lists(doc, &gt_rival_table, print_rival, err);
}

/* ---- the whole document ---- */

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
    bool compared = false;
    gt_status status = has_rivals(&compared, doc, err);
    (void)fprintf(doc->out, "{\n  \"format\": %d,\n  \"devices\": [", compared ? 4 : 3);
    if (status == GEMMTUNE_OK)
        status = gt_db_each(doc->db, &gt_device_table, NULL, NULL, print_device, doc, err);
    if (status == GEMMTUNE_OK)
        status = note_records(doc, err);
    (void)fputs("\n  ],\n  \"families\": {", doc->out);
    print_sources(doc);
    (void)fputs("\n  },\n  \"records\": {", doc->out);
    if (status == GEMMTUNE_OK)
        status = print_lists(doc, &gt_record_table, print_record, err);
    if (status == GEMMTUNE_OK && compared)
        status = print_rivals(doc, err);
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
    *report =
        (struct gt_export_report){(int64_t)doc.devices.count, doc.records, doc.rivals};
    free(doc.devices.text);
    free(doc.kernels.text);
    free(doc.stamps.set);
    free(doc.sources.item);
    return status;
}

/* ---- the file -------------------------------------------------------------- */

gt_status gt_db_export(struct gt_export_report *report, struct gt_db *db,
                       const char *device_key, const char *path, struct gt_err *err) {
    struct gt_new_text text;
    gt_status status = gt_new_text_begin(&text, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = print_document(report, text.out, db, device_key, err);
    return gt_new_text_end(&text, status, err);
}
