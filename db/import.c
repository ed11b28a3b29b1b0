/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.c - reads the text that export.c writes, strictly: a file that is wrong anywhere
 * changes nothing, and the message names the line.
 */
#include "db/internal.h"

#include "core/json.h"

#include <math.h>
#include <string.h>

/*
 * Formats:
 *   1  has another name for one column, and old keys for CPUs,
 *   2  repeats the device and the hash of the family in each record,
 *   3  has a list of records for each device, and the hashes of families once,
 *   4  has a list of comparisons with libraries for each device, too.
 */
enum { MEMBERS_MAX = 40, FORMAT = 4, FORMAT_SHARED = 3, FORMAT_RIVALS = 4 };

/* ---- one row --------------------------------------------------------------- */

static gt_status read_int(const struct gt_db_column *column, void *row, struct gt_node n,
                          struct gt_err *err) {
    int64_t value = 0;
    const gt_status status = gt_json_int(&value, n, column->low, column->high, err);
    if (status == GEMMTUNE_OK)
        gt_column_set_int(column, row, value);
    return status;
}

static gt_status read_bool(const struct gt_db_column *column, void *row, struct gt_node n,
                           struct gt_err *err) {
    bool value = false;
    const gt_status status = gt_json_bool(&value, n, err);
    if (status == GEMMTUNE_OK)
        gt_column_set_int(column, row, value);
    return status;
}

static gt_status read_real(const struct gt_db_column *column, void *row, struct gt_node n,
                           struct gt_err *err) {
    double value = (double)NAN;
    const bool is_null = column->nullable && gt_json_kind(n) == GT_JSON_NULL;
    const gt_status status = is_null ? GEMMTUNE_OK : gt_json_double(&value, n, err);
    if (status == GEMMTUNE_OK)
        gt_column_set_real(column, row, value);
    return status;
}

/* The text stays the document's. */
static gt_status read_text(const struct gt_db_column *column, void *row, struct gt_node n,
                           struct gt_err *err) {
    const char *text = NULL;
    struct gt_err why = {{0}};
    gt_status status = gt_json_string(&text, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_column_set_text(column, row, text, &why);
    return status == GEMMTUNE_OK ? status : gt_json_fail_because(n, status, &why, err);
}

static gt_status (*const readers[])(const struct gt_db_column *, void *, struct gt_node,
                                    struct gt_err *) = {
    [GT_COLUMN_TEXT] = read_text, [GT_COLUMN_CHARS] = read_text,
    [GT_COLUMN_INT] = read_int,   [GT_COLUMN_INT64] = read_int,
    [GT_COLUMN_REF] = read_int,   [GT_COLUMN_BOOL] = read_bool,
    [GT_COLUMN_REAL] = read_real, [GT_COLUMN_WORD] = read_text,
};

/* A file says some texts once for many records: one for each column that is shared. NULL
 * where each row has all of its columns. */
struct shared {
    const char *device, *family, *hash;
};

static const char *shared_text(const struct shared *s, const struct gt_db_column *column) {
    const struct {
        const char *column, *text;
    } texts[] = {{"device", s->device}, {"family", s->family}, {"family_hash", s->hash}};
    size_t i = 0;
    while (strcmp(texts[i].column, column->name) != 0)
        i++;
    return texts[i].text;
}

static bool is_in_row(const struct gt_db_column *column, const struct shared *shared) {
    return column->exported && (shared == NULL || !column->is_shared);
}

/* Refuses keys that are not read. A row with shared texts names its family by a word. */
static gt_status check_keys(const struct gt_db_table *table, struct gt_node object,
                            const struct shared *shared, struct gt_err *err) {
    const char *keys[MEMBERS_MAX] = {NULL};
    size_t count = 0;
    if (shared != NULL)
        keys[count++] = "family";
    for (size_t i = 0; i < table->count && count < MEMBERS_MAX - 2; i++) {
        const struct gt_db_column *column = &table->column[i];
        if (is_in_row(column, shared))
            keys[count++] = column->name;
        if (is_in_row(column, shared) && column->was != NULL)
            keys[count++] = column->was;
    }
    return gt_json_only(object, keys, err);
}

/* Finds a column by its name, or by its name in format 1. */
static gt_status need_column(struct gt_node *out, const struct gt_db_column *column,
                             struct gt_node object, struct gt_err *err) {
    const bool renamed =
        column->was != NULL &&
        gt_json_kind(gt_json_member(object, column->name)) == GT_JSON_ABSENT &&
        gt_json_kind(gt_json_member(object, column->was)) != GT_JSON_ABSENT;
    return gt_json_need(out, object, renamed ? column->was : column->name, err);
}

/* A single sample has no interval. The columns of the table take numbers only. */
static void fill_interval(struct gt_stored_record *record) {
    struct gt_measurement *time = &record->row.time;
    if (time->samples == 1 && isnan(time->low_ns) && isnan(time->high_ns))
        time->low_ns = time->high_ns = time->median_ns;
}

static gt_status read_column(const struct gt_db_column *column, void *row,
                             struct gt_node object, const struct shared *shared,
                             struct gt_err *err) {
    struct gt_err why = {{0}};
    struct gt_node n;
    if (!column->exported)
        return GEMMTUNE_OK;
    if (!is_in_row(column, shared)) {
        const gt_status status =
            gt_column_set_text(column, row, shared_text(shared, column), &why);
        return status == GEMMTUNE_OK ? status
                                     : gt_json_fail_because(object, status, &why, err);
    }
    const gt_status status = need_column(&n, column, object, err);
    return status == GEMMTUNE_OK ? readers[column->kind](column, row, n, err) : status;
}

static gt_status read_row(const struct gt_db_table *table, void *row, struct gt_node object,
                          const struct shared *shared, struct gt_err *err) {
    struct gt_err why = {{0}};
    gt_status status = check_keys(table, object, shared, err);
    for (size_t i = 0; i < table->count && status == GEMMTUNE_OK; i++)
        status = read_column(&table->column[i], row, object, shared, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (table == &gt_device_table)
        (void)gt_device_renew(row);
    if (table == &gt_record_table)
        fill_interval(row);
    status = gt_row_check(table, row, NULL, &why);
    return status == GEMMTUNE_OK ? status : gt_json_fail_because(object, status, &why, err);
}

/* ---- the document ---------------------------------------------------------- */

static gt_status take_device(struct gt_intake *in, struct gt_node device_object,
                             struct gt_err *err) {
    struct gt_stored_device device = {0};
    const gt_status status = read_row(&gt_device_table, &device, device_object, NULL, err);
    return status == GEMMTUNE_OK ? gt_intake_device(in, &device, err) : status;
}

/* A record's device must be described in the same file; *device gets the description. The
 * message is about `n`. */
static gt_status find_described(struct gt_stored_device *device, struct gt_node devices,
                                struct gt_node n, const char *key, struct gt_err *err) {
    for (size_t i = 0; i < gt_json_count(devices); i++) {
        const char *described = NULL;
        const struct gt_node object = gt_json_at(devices, i);
        if (gt_json_string(&described, gt_json_member(object, "key"), err) == GEMMTUNE_OK &&
            strcmp(described, key) == 0)
            return read_row(&gt_device_table, device, object, NULL, err);
    }
    return gt_json_fail(n, err, "\"%s\" is not among the devices", key);
}

static int compare_sets(const struct gt_stored_record *a,
                        const struct gt_stored_record *b) {
    const int devices = strcmp(a->row.subject.device_key, b->row.subject.device_key);
    return devices != 0 ? devices : strcmp(a->row.subject.problem, b->row.subject.problem);
}

/* Records must be in the order of the export: a set in two parts would lose one of them. */
static gt_status check_order(const struct gt_stored_record *before,
                             const struct gt_stored_record *record, struct gt_node object,
                             struct gt_err *err) {
    const int order = compare_sets(before, record);
    if (order > 0)
        return gt_json_fail(object, err, "records must be sorted by device and problem");
    if (order == 0 && record->row.rank <= before->row.rank)
        return gt_json_fail(gt_json_member(object, "rank"), err,
                            "must be above the %d of the line before", before->row.rank);
    if (order == 0 && record->row.measured_ms != before->row.measured_ms)
        return gt_json_fail(gt_json_member(object, "measured_ms"), err,
                            "must be the same for all records of a problem");
    return GEMMTUNE_OK;
}

/* A list of records: all records of the file, or one device's. */
struct record_list {
    struct gt_node devices, families, records;
    const char *device; /* of all records; NULL: each record names its own */
};

/* Finds the family that a record of format 3 names by a word. */
static gt_status find_family(struct shared *out, const struct record_list *list,
                             struct gt_node record, struct gt_err *err) {
    static const char *const keys[] = {"family", "hash", NULL};
    const char *word = NULL;
    gt_status status = gt_json_need_string(&word, record, "family", err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_node family = gt_json_member(list->families, word);
    if (gt_json_kind(family) == GT_JSON_ABSENT)
        return gt_json_fail(gt_json_member(record, "family"), err,
                            "\"%s\" is not among the families", word);
    out->device = list->device;
    status = gt_json_only(family, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_string(&out->family, family, "family", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_string(&out->hash, family, "hash", err);
    return status;
}

static gt_status read_record(struct gt_stored_record *out, const struct record_list *list,
                             size_t i, struct gt_err *err) {
    const struct gt_node object = gt_json_at(list->records, i);
    struct shared shared;
    if (list->device == NULL)
        return read_row(&gt_record_table, out, object, NULL, err);
    const gt_status status = find_family(&shared, list, object, err);
    return status == GEMMTUNE_OK ? read_row(&gt_record_table, out, object, &shared, err)
                                 : status;
}

static gt_status take_record(struct gt_intake *in, const struct record_list *list, size_t i,
                             struct gt_err *err) {
    const struct gt_node object = gt_json_at(list->records, i);
    struct gt_stored_record record = {.row.provenance = GT_LOCAL}, before = record;
    struct gt_stored_device device = {0};
    gt_status status = read_record(&record, list, i, err);
    if (status == GEMMTUNE_OK)
        status = find_described(&device, list->devices,
                                list->device != NULL ? list->records
                                                     : gt_json_member(object, "device"),
                                record.row.subject.device_key, err);
    if (status == GEMMTUNE_OK && i > 0)
        status = read_record(&before, list, i - 1, err);
    if (status == GEMMTUNE_OK && i > 0)
        status = check_order(&before, &record, object, err);
    record.row.subject.device_key = device.key; /* not the old key */
    return status == GEMMTUNE_OK ? gt_intake_record(in, &record, err) : status;
}

static gt_status take_rival(struct gt_intake *in, const struct record_list *list, size_t i,
                            struct gt_err *err) {
    const struct gt_node object = gt_json_at(list->records, i);
    struct gt_stored_rival rival = {.row.provenance = GT_LOCAL};
    struct gt_stored_device device = {0};
    struct shared shared;
    gt_status status = find_family(&shared, list, object, err);
    if (status == GEMMTUNE_OK)
        status = read_row(&gt_rival_table, &rival, object, &shared, err);
    if (status == GEMMTUNE_OK)
        status = find_described(&device, list->devices, list->records,
                                rival.row.subject.device_key, err);
    rival.row.subject.device_key = device.key; /* not the old key */
    return status == GEMMTUNE_OK ? gt_intake_rival(in, &rival, err) : status;
}

static gt_status need_kind(struct gt_node *out, struct gt_node root, const char *name,
                           enum gt_json_kind kind, struct gt_err *err) {
    const gt_status status = gt_json_need(out, root, name, err);
    if (status == GEMMTUNE_OK && gt_json_kind(*out) != kind)
        return gt_json_fail(*out, err, "must be an %s",
                            kind == GT_JSON_ARRAY ? "array" : "object");
    return status;
}

/* take_record or take_rival */
typedef gt_status (*take_fn)(struct gt_intake *in, const struct record_list *list, size_t i,
                             struct gt_err *err);

static gt_status take_list(struct gt_intake *in, const struct record_list *list,
                           take_fn take, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    if (gt_json_kind(list->records) != GT_JSON_ARRAY)
        return gt_json_fail(list->records, err, "must be an array");
    for (size_t i = 0; status == GEMMTUNE_OK && i < gt_json_count(list->records); i++)
        status = take(in, list, i, err);
    return status;
}

static gt_status take_records(struct gt_intake *in, struct gt_node root,
                              struct record_list list, struct gt_err *err) {
    gt_status status = need_kind(&list.records, root, "records", GT_JSON_ARRAY, err);
    return status == GEMMTUNE_OK ? take_list(in, &list, take_record, err) : status;
}

/* A member of `root` with a list for each device. */
static gt_status take_lists(struct gt_intake *in, struct gt_node root, const char *member,
                            struct record_list list, take_fn take, struct gt_err *err) {
    struct gt_node lists;
    gt_status status = need_kind(&lists, root, member, GT_JSON_OBJECT, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < gt_json_count(lists); i++) {
        list.records = gt_json_at(lists, i);
        list.device = gt_json_key(list.records);
        status = take_list(in, &list, take, err);
    }
    return status;
}

static gt_status take_shared(struct gt_intake *in, struct gt_node root,
                             struct record_list list, bool rivals, struct gt_err *err) {
    gt_status status = need_kind(&list.families, root, "families", GT_JSON_OBJECT, err);
    if (status == GEMMTUNE_OK)
        status = take_lists(in, root, "records", list, take_record, err);
    return status == GEMMTUNE_OK && rivals
               ? take_lists(in, root, "rivals", list, take_rival, err)
               : status;
}

static gt_status check_members(int64_t *version, struct gt_node root, struct gt_err *err) {
    static const char *const all[] = {"format",   "devices", "records",
                                      "families", "rivals",  NULL};
    static const char *const shared[] = {"format", "devices", "records", "families", NULL};
    static const char *const old[] = {"format", "devices", "records", NULL};
    gt_status status = gt_json_only(root, all, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(version, root, "format", 1, FORMAT, err);
    if (status == GEMMTUNE_OK && *version < FORMAT_RIVALS)
        status = gt_json_only(root, *version < FORMAT_SHARED ? old : shared, err);
    return status;
}

static gt_status take_document(struct gt_intake *in, struct gt_node root,
                               struct gt_err *err) {
    struct record_list list = {.device = NULL};
    int64_t version = 0;
    gt_status status = check_members(&version, root, err);
    if (status == GEMMTUNE_OK)
        status = need_kind(&list.devices, root, "devices", GT_JSON_ARRAY, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < gt_json_count(list.devices); i++)
        status = take_device(in, gt_json_at(list.devices, i), err);
    if (status != GEMMTUNE_OK)
        return status;
    return version < FORMAT_SHARED
               ? take_records(in, root, list, err)
               : take_shared(in, root, list, version >= FORMAT_RIVALS, err);
}

/* ---- the file -------------------------------------------------------------- */

/* The file's name without its folder: a file is the same source in every folder. */
static void source_name(char name[GT_PROVENANCE_MAX], const char *path) {
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    const size_t len = strlen(base);
    const size_t cut = len < GT_PROVENANCE_MAX ? len : GT_PROVENANCE_MAX - 1;
    memcpy(name, base, cut);
    name[cut] = '\0';
    for (char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            *c = '?';
    if (strcmp(name, GT_LOCAL) == 0)
        name[0] = 'L'; /* a file named "local" is not this database */
}

static gt_status import(struct gt_merge_report *report, struct gt_db *db, const char *path,
                        const struct gt_json *doc, struct gt_err *err) {
    char name[GT_PROVENANCE_MAX];
    struct gt_intake in = {.db = db, .theirs = name};
    source_name(name, path);
    gt_status status = gt_txn_begin(db, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_db_origin(in.own, db, err);
    if (status == GEMMTUNE_OK)
        status = take_document(&in, gt_json_root(doc), err);
    status = gt_txn_end(db, status, err);
    if (status == GEMMTUNE_OK)
        *report = in.report;
    return status;
}

gt_status gt_db_import(struct gt_merge_report *report, struct gt_db *db, const char *path,
                       struct gt_err *err) {
    struct gt_json *doc = NULL;
    *report = (struct gt_merge_report){0};
    gt_status status = gt_json_load(&doc, path, err);
    if (status == GEMMTUNE_OK)
        status = import(report, db, path, doc, err);
    gt_json_destroy(doc);
    return status;
}
