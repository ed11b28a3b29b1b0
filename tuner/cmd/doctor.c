/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.c - `gemmtune doctor`: checks the database and the compilers and drivers. */
#include "tuner/cmd/common.h"

#include "core/io.h"
#include "runtime/drivers/cache.h"
#include "tuner/rig/probe.h"
#include "tuner/base/view.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER_SIZE = 4096, TEXT_MAX = 512 };

struct values {
    struct gt_format format;
    const char *db;
    struct gt_texts templates;
};

static const struct gt_option options[] = {
    GT_OPTION_DB(struct values),   GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_JSON(struct values), GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values), GT_OPTION_END,
};

struct row {
    const char *check, *state, *detail;
};

#define FINDINGS(X)                                                                        \
    X("check", "check", TEXT, 0, r->check, "the thing that was checked")                   \
    X("state", "state", TEXT, 0, r->state, "ok, note or bad")                              \
    X("detail", "detail", PROSE, 0, r->detail, "the finding")
GT_COLUMNS(finding, struct row, FINDINGS)
static const struct gt_form findings = GT_FORM(finding, "");

/* The findings so far. */
struct report {
    struct gt_table *table;
    gt_status status; /* the first failure to add a finding */
    struct gt_err err;
};

static void find(struct report *r, const char *check, const char *state, const char *fmt,
                 ...) GT_PRINTF(4, 5);

static void find(struct report *r, const char *check, const char *state, const char *fmt,
                 ...) {
    char text[TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (r->status == GEMMTUNE_OK)
        r->status = add_finding(r->table, &(struct row){check, state, text}, &r->err);
}

/* ---- the database ---- */

/* SQLite keeps user_version big-endian at byte 60 of the file.
 * db.h refuses newer versions. */
static int64_t schema_version(const char *path) {
    unsigned char b[4] = {0};
    FILE *file;
    if (gt_fopen_input(&file, path, NULL) != GEMMTUNE_OK)
        return 0;
    const bool read =
        fseek(file, 60, SEEK_SET) == 0 && fread(b, 1, sizeof b, file) == sizeof b;
    (void)fclose(file);
    return read ? (int64_t)b[0] << 24 | (int64_t)b[1] << 16 | (int64_t)b[2] << 8 | b[3] : 0;
}

static void find_rows(struct report *r, struct gt_db *db,
                      const struct gt_families *families) {
    struct gt_view view = {0};
    struct gt_err err = {""};
    int64_t stale = 0, missing = 0, records = 0, unfinished = 0;
    gt_status status = gt_view_devices(&view, db, &err);
    if (status == GEMMTUNE_OK)
        status = gt_view_records(&view, db, NULL, NULL, &err);
    if (status == GEMMTUNE_OK)
        status = gt_view_trials(&view, db, NULL, NULL, &err);
    for (size_t i = 0; i < view.row_count; i++) {
        const bool known = gt_families_find(families, view.row[i].family) != NULL;
        missing += !known;
        stale += known && !gt_view_current(&view.row[i], families);
        records += view.row[i].record;
        unfinished += view.row[i].state == GT_TRIAL_RUNNING;
    }
    const int64_t trials = (int64_t)view.row_count - records;
    if (status == GEMMTUNE_OK)
        find(r, "rows", "ok", "%zu device%s, %" PRId64 " record%s, %" PRId64 " trial%s",
             view.device_count, gt_text_plural((int64_t)view.device_count), records,
             gt_text_plural(records), trials, gt_text_plural(trials));
    else
        find(r, "rows", "bad", "%s", err.line);
    find(r, "stale rows", stale > 0 ? "note" : "ok",
         "%" PRId64 " row%s of kernel sources that are not today's", stale,
         gt_text_plural(stale));
    if (missing > 0)
        find(r, "no family", "note",
             "%" PRId64 " row%s of families that are not here; --templates names a folder",
             missing, gt_text_plural(missing));
    find(r, "unfinished", unfinished > 0 ? "note" : "ok",
         "%" PRId64 " trial%s begun and not ended%s", unfinished,
         gt_text_plural(unfinished),
         unfinished > 0 ? ": a search is under way, or was killed" : "");
    gt_view_clear(&view);
}

/* Exit 6 when the database cannot be used, or when rows of it are skipped. */
static int find_database(struct report *r, const char *path,
                         const struct gt_families *families) {
    char buf[FOLDER_SIZE];
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    int64_t bad = 0;
    const bool asked = path != NULL;
    gt_status status = GEMMTUNE_OK;
    if (!asked)
        status = gt_db_default_path(buf, sizeof buf, &err);
    path = asked ? path : buf;
    if (status == GEMMTUNE_OK && !asked && access(path, F_OK) != 0 && errno == ENOENT) {
        find(r, "database", "note", "%s: none yet", path);
        return GT_EXIT_OK;
    }
    if (status == GEMMTUNE_OK)
        status = gt_db_open(&db, path, GT_DB_READ, &err);
    if (status == GEMMTUNE_OK) {
        find(r, "database", "ok", "%s", path);
        find(r, "schema", "ok", "version %" PRId64, schema_version(path));
        status = gt_db_check(db, &bad, &err);
    }
    if (status == GEMMTUNE_OK) {
        find(r, "checksums", bad > 0 ? "bad" : "ok",
             "%" PRId64 " row%s with a wrong checksum, skipped", bad, gt_text_plural(bad));
        find_rows(r, db, families);
    } else {
        find(r, db != NULL && status == GEMMTUNE_EDB ? "pages" : "database", "bad", "%s",
             err.line);
    }
    if (bad > 0 || (db != NULL && status == GEMMTUNE_EDB))
        find(r, "advice", "note",
             "\"gemmtune merge %s --db NEW.db\" takes what can be read into a new file; if "
             "that fails, only a copy from before helps",
             path);
    gt_db_close(db);
    return status == GEMMTUNE_OK && bad == 0 ? GT_EXIT_OK : GT_EXIT_DATABASE;
}

/* ---- devices and the cache ---- */

static void find_devices(struct report *r) {
    struct gt_device_list list;
    struct gt_err err = {""};
    if (gt_probe_devices(&list, &err) != GEMMTUNE_OK) {
        find(r, "devices", "bad", "%s", err.line);
        return;
    }
    for (size_t i = 0; i < list.count; i++) {
        const struct gt_device *d = &list.device[i];
        const bool usable = d->trouble[0] == '\0';
        find(r, "device", usable ? "ok" : "bad", "%zu %s: %s", i, d->name,
             usable ? d->compiler : d->trouble);
    }
    if (list.count == 0)
        find(r, "devices", "bad", "none");
    for (size_t i = 0; i < sizeof list.missing / sizeof *list.missing; i++)
        if (list.missing[i][0] != '\0')
            find(r, "driver", "note", "%s", list.missing[i]);
    gt_devices_clear(&list);
}

static void find_cache(struct report *r) {
    char folder[FOLDER_SIZE] = "", size[GT_CELL_MAX];
    int64_t images = 0, bytes = 0;
    struct gt_err err = {""};
    if (gt_cache_stat(folder, sizeof folder, &images, &bytes, &err) != GEMMTUNE_OK)
        find(r, "cache", "bad", "%s", err.line);
    else if (folder[0] == '\0')
        find(r, "cache", "note", "no folder: images are not kept");
    else
        find(r, "cache", "ok", "%s: %" PRId64 " image%s, %s", folder, images,
             gt_text_plural(images), gt_show_bytes(size, (double)bytes));
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.db = NULL};
    struct gt_families *families = NULL;
    struct report r = {.status = GEMMTUNE_OK};
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, 0, &first);
    if (code < 0)
        code = gt_common_families(&families, &v.templates);
    if (code >= 0)
        goto done;
    r.status = gt_table_create(&r.table, &findings, &r.err);
    code = r.status == GEMMTUNE_OK ? find_database(&r, v.db, families) : GT_EXIT_FAILURE;
    find_devices(&r);
    find_cache(&r);
    if (r.status == GEMMTUNE_OK)
        gt_common_print(r.table, &v.format);
    else
        code = gt_common_fail(r.status, &r.err);
done:
    gt_table_destroy(r.table);
    gt_families_destroy(families);
    return code;
}

const struct gt_cmd gt_cmd_doctor = {
    .name = "doctor",
    .operands = "",
    .about = "Check the database, the devices, their compilers and the cache.",
    .options = options,
    .tables = (const struct gt_form *const[]){&findings, NULL},
    .run = run,
};
