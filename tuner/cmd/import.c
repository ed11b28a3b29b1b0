/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.c - `gemmtune import FILE...` and `gemmtune merge FILE...`: take results from
 * exported text and from other databases. They arrive unverified, and cannot win before
 * they are verified here.
 */
#include "tuner/cmd/build.h"
#include "tuner/cmd/common.h"
#include "tuner/cmd/import_shelf.h"

#include <unistd.h>

struct values {
    struct gt_format format;
    const char *db;
    int64_t sample;
    struct gt_build_values build;
};

static const struct gt_option options[] = {
    GT_OPTION_DB(struct values),
    {"verify", 0, GT_OPT_INT, offsetof(struct values, sample), "N",
     "first check N winners, drawn by the clock, on the device; when one is wrong, nothing "
     "is taken (exit 5)",
     1, INT64_C(1) << 31},
    {"build", 0, GT_OPT_FLAG, offsetof(struct values, build.wanted), NULL,
     "then build the kernels of the database's results, as gemmtune build does", 0, 0},
    GT_OPTION_GENERAL(struct values, build.general),
    {"device", 'd', GT_OPT_TEXT, offsetof(struct values, build.device), "N",
     "with --build, --general and --verify: index, UUID, PCI id, key or part of its name",
     0, 0},
    GT_OPTION_JOBS(struct values, build.jobs),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

struct row {
    const char *path;
    struct gt_merge_report report;
};

#define FILES(X)                                                                           \
    X("file", "file", TEXT, 0, r->path, "the file that was read")                          \
    X("devices", "devices", COUNT, 0, r->report.devices, "devices that are new here")      \
    X("trials", "trials", COUNT, 0, r->report.trials, "trials that are new here")          \
    X("records", "records", COUNT, 0, r->report.records, "winners that are new here")      \
    X("rivals", "compared", COUNT, 1, r->report.rivals,                                    \
      "comparisons with vendors' libraries that are new here")                             \
    X("skipped", "skipped", COUNT, 0, r->report.skipped,                                   \
      "rows that are damaged: a line on standard error for each")
GT_COLUMNS(file, struct row, FILES)
static const struct gt_form files = GT_FORM(file, "");

/* Takes each file completely or not at all.
 * Stops at the first file that cannot be taken. */
static gt_status take_files(struct gt_table *t, struct gt_db *db, const char *database,
                            gt_take_fn take, int count, char **paths, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < count; i++) {
        char buf[GT_PATH_SIZE];
        const bool is_import = take == gt_db_import;
        const char *const path = is_import ? gt_import_results(buf, paths[i]) : paths[i];
        struct row row = {.path = path};
        status = take(&row.report, db, path, err);
        if (status == GEMMTUNE_EIO && is_import && access(path, R_OK) != 0)
            status = GEMMTUNE_EPARSE; /* the text cannot be read */
        if (status == GEMMTUNE_OK && is_import)
            status = gt_import_learned(paths[i], database, err);
        if (status == GEMMTUNE_OK)
            status = add_file(t, &row, err);
    }
    return status;
}

static int run_with(const struct gt_cmd *cmd, int argc, char **argv, gt_take_fn take) {
    struct values v = {.build = {.jobs = -1}};
    struct gt_db *db = NULL;
    struct gt_table *t = NULL;
    struct gt_err err = {""};
    char buf[GT_PATH_SIZE];
    const char *database;
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 1, argc, &first);
    if (code >= 0)
        return code;
    database = v.db;
    if (v.sample > 0)
        code = gt_import_check(take, argc - first, argv + first, v.build.device, v.sample);
    if (code < 0)
        code = gt_common_db_path(&database, buf);
    if (code < 0)
        code = gt_common_write_db(&db, v.db);
    if (code >= 0)
        goto done;
    gt_status status = gt_table_create(&t, &files, &err);
    if (status == GEMMTUNE_OK) {
        status = take_files(t, db, database, take, argc - first, argv + first, &err);
        gt_common_print(t, &v.format);
    }
    code = status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
done:
    gt_table_destroy(t);
    if (code == GT_EXIT_OK)
        gt_db_close(db);
    else
        gt_db_close_unused(db);
    return code == GT_EXIT_OK ? gt_build_after(&v.build, v.db) : code;
}

static int run_import(const struct gt_cmd *cmd, int argc, char **argv) {
    return run_with(cmd, argc, argv, gt_db_import);
}

static int run_merge(const struct gt_cmd *cmd, int argc, char **argv) {
    return run_with(cmd, argc, argv, gt_db_merge);
}

const struct gt_cmd gt_cmd_import = {
    .name = "import",
    .operands = "FILE|FOLDER...",
    .about = "Take exported results into the database; each serves its problem until the "
             "problem is tuned here.",
    .options = options,
    .tables = (const struct gt_form *const[]){&files, NULL},
    .run = run_import,
};

const struct gt_cmd gt_cmd_merge = {
    .name = "merge",
    .operands = "FILE...",
    .about =
        "Take everything from other databases; their results serve like imported ones.",
    .options = options,
    .tables = (const struct gt_form *const[]){&files, NULL},
    .run = run_merge,
};
