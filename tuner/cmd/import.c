/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.c - `gemmtune import FILE...` and `gemmtune merge FILE...`: take results from
 * exported text and from other databases. They arrive unverified, and cannot win before
 * they are verified here. Results of other tuners become seeds: they only say where a
 * search begins.
 */
#include "tuner/cmd/build.h"
#include "tuner/base/talk.h"
#include "tuner/cmd/common.h"
#include "tuner/cmd/import_shelf.h"
#include "tuner/study/elsewhere.h"
#include "tuner/study/file_text.h"

#include <stdlib.h>
#include <unistd.h>

struct values {
    struct gt_format format;
    const char *db;
    int64_t sample;
    struct gt_elsewhere_given given; /* of an import */
    struct gt_build_values build;
};

#define OPTIONS                                                                            \
    GT_OPTION_DB(struct values),                                                           \
        {"verify",                                                                         \
         0,                                                                                \
         GT_OPT_INT,                                                                       \
         offsetof(struct values, sample),                                                  \
         "N",                                                                              \
         "first check N winners, drawn by the clock, on the device; when one is wrong, "   \
         "nothing is taken (exit 5)",                                                      \
         1,                                                                                \
         INT64_C(1) << 31},                                                                \
        {"build",                                                                          \
         0,                                                                                \
         GT_OPT_FLAG,                                                                      \
         offsetof(struct values, build.wanted),                                            \
         NULL,                                                                             \
         "then build the kernels of the database's results, as gemmtune build does",       \
         0,                                                                                \
         0},                                                                               \
        GT_OPTION_GENERAL(struct values, build.general),                                   \
        {"device",                                                                         \
         'd',                                                                              \
         GT_OPT_TEXT,                                                                      \
         offsetof(struct values, build.device),                                            \
         "N",                                                                              \
         "with --build, --general and --verify: index, UUID, PCI id, key or part of its "  \
         "name",                                                                           \
         0,                                                                                \
         0},                                                                               \
        GT_OPTION_JOBS(struct values, build.jobs), GT_OPTION_JSON(struct values),          \
        GT_OPTION_CSV(struct values), GT_OPTION_WIDE(struct values), GT_OPTION_END

static const struct gt_option options[] = {OPTIONS};
static const struct gt_option import_options[] = {
    {"measured-on", 0, GT_OPT_TEXT, offsetof(struct values, given.device), "NAME",
     "results of another tuner: the name of the device, where the file does not say it", 0,
     0},
    {"problem", 0, GT_OPT_TEXT, offsetof(struct values, given.problem), "NAME",
     "results of another tuner: the problem, where the file does not say it", 0, 0},
    OPTIONS};

struct row {
    const char *path;
    struct gt_merge_report report;
    int seeds;
};

#define FILES(X)                                                                           \
    X("file", "file", TEXT, 0, r->path, "the file that was read")                          \
    X("devices", "devices", COUNT, 0, r->report.devices, "devices that are new here")      \
    X("trials", "trials", COUNT, 0, r->report.trials, "trials that are new here")          \
    X("records", "records", COUNT, 0, r->report.records, "winners that are new here")      \
    X("rivals", "compared", COUNT, 1, r->report.rivals,                                    \
      "comparisons with vendors' libraries that are new here")                             \
    X("seeds", "seeds", COUNT, 2, r->seeds,                                                \
      "points of another tuner, with which searches on such a device begin")               \
    X("skipped", "skipped", COUNT, 0, r->report.skipped,                                   \
      "rows that are damaged: a line on standard error for each")
GT_COLUMNS(file, struct row, FILES)
static const struct gt_form files = GT_FORM(file, "");

/* ---- results of other tuners ---- */

static gt_status keep_seeds(const struct gt_elsewhere *e, struct gt_db *db,
                            struct gt_err *err) {
    struct gt_seed_row rows[GT_ELSEWHERE_MAX];
    char path[GT_PATH_SIZE];
    for (int i = 0; i < e->count; i++)
        rows[i] = (struct gt_seed_row){.device = e->device,
                                       .problem = e->problem,
                                       .kernel = e->best[i].kernel,
                                       .source = e->source,
                                       .point = e->best[i].point,
                                       .ns = e->best[i].ns};
    if (!gt_seeds_path(path, sizeof path, gt_db_real_path(db)))
        return gt_fail(err, GEMMTUNE_EDB, "the database's path is too long for seeds");
    return gt_seeds_keep(path, rows, (size_t)e->count, err);
}

static void say_seeds(const struct gt_elsewhere *e, const char *path) {
    char strange[96] = "";
    if (e->strange > 0)
        (void)snprintf(strange, sizeof strange, ", %zu of other kernels", e->strange);
    gt_talk(
        "%s: seeds are the %d fastest of %zu result%s%s; searches of problems like %s on "
        "%s begin with them",
        path, e->count, e->results, gt_text_plural((int64_t)e->results), strange,
        e->problem, e->device);
}

static gt_status take_seeds(struct row *row, struct gt_db *db, const char *text,
                            size_t size, const struct gt_elsewhere_given *given,
                            struct gt_err *err) {
    struct gt_elsewhere e;
    struct gt_seeds *seeds = NULL;
    struct gt_families *families = NULL;
    gt_status status = gt_seeds_create(&seeds, NULL, err);
    if (status == GEMMTUNE_OK)
        status = gt_families_create(&families, err);
    if (status == GEMMTUNE_OK)
        status = gt_elsewhere_read(&e, row->path, text, size, given, seeds, families, err);
    if (status == GEMMTUNE_OK)
        status = keep_seeds(&e, db, err);
    if (status == GEMMTUNE_OK) {
        row->seeds = e.count;
        say_seeds(&e, row->path);
    }
    gt_families_destroy(families);
    gt_seeds_destroy(seeds);
    return status;
}

/* ---- files ---- */

/* How one command takes a file, and how it takes one for a check. */
struct way {
    gt_status (*take)(struct row *row, struct gt_db *db,
                      const struct gt_elsewhere_given *given, struct gt_err *err);
    gt_take_fn check;
    bool shelves; /* a path may be a folder of `export --shelf` */
};

static gt_status take_database(struct row *row, struct gt_db *db,
                               const struct gt_elsewhere_given *given, struct gt_err *err) {
    (void)given;
    return gt_db_merge(&row->report, db, row->path, err);
}

/* Exported text, or results of another tuner: the text says which. */
static gt_status take_text(struct row *row, struct gt_db *db,
                           const struct gt_elsewhere_given *given, struct gt_err *err) {
    char *text = NULL;
    size_t size = 0;
    gt_status status = gt_file_text(&text, &size, row->path, err);
    if (status == GEMMTUNE_OK && gt_elsewhere_knows(text, size))
        status = take_seeds(row, db, text, size, given, err);
    else if (status == GEMMTUNE_OK && (given->device != NULL || given->problem != NULL))
        status = gt_fail(err, GEMMTUNE_EPARSE,
                         "%s: not results of another tuner, which --measured-on and "
                         "--problem are about",
                         row->path);
    else if (status == GEMMTUNE_OK)
        status = gt_db_import(&row->report, db, row->path, err);
    free(text);
    if (status == GEMMTUNE_EIO && access(row->path, R_OK) != 0)
        status = GEMMTUNE_EPARSE; /* the text cannot be read */
    return status;
}

/* Takes each file completely or not at all.
 * Stops at the first file that cannot be taken. */
static gt_status take_files(struct gt_table *t, struct gt_db *db, const char *database,
                            const struct way *way, const struct values *v, char **paths,
                            struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && paths[i] != NULL; i++) {
        char buf[GT_PATH_SIZE];
        struct row row = {.path =
                              way->shelves ? gt_import_results(buf, paths[i]) : paths[i]};
        status = way->take(&row, db, &v->given, err);
        if (status == GEMMTUNE_OK && way->shelves)
            status = gt_import_learned(paths[i], database, err);
        if (status == GEMMTUNE_OK)
            status = add_file(t, &row, err);
    }
    return status;
}

static int run_with(const struct gt_cmd *cmd, int argc, char **argv,
                    const struct way *way) {
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
        code = gt_import_check(way->check, argc - first, argv + first, v.build.device,
                               v.sample);
    if (code < 0)
        code = gt_common_db_path(&database, buf);
    if (code < 0)
        code = gt_common_write_db(&db, v.db);
    if (code >= 0)
        goto done;
    gt_status status = gt_table_create(&t, &files, &err);
    if (status == GEMMTUNE_OK) {
        status = take_files(t, db, database, way, &v, argv + first, &err);
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
    return run_with(cmd, argc, argv, &(struct way){take_text, gt_db_import, true});
}

static int run_merge(const struct gt_cmd *cmd, int argc, char **argv) {
    return run_with(cmd, argc, argv, &(struct way){take_database, gt_db_merge, false});
}

const struct gt_cmd gt_cmd_import = {
    .name = "import",
    .operands = "FILE|FOLDER...",
    .about =
        "Take exported results into the database; each serves its problem until the "
        "problem is tuned here. Results of Kernel Tuner, of CLBlast's tuner and in the "
        "T4 format become first trials.",
    .options = import_options,
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
