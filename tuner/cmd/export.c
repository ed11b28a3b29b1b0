/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - `gemmtune export FILE|-`: writes results as text that can be reviewed and
 * committed, or the trials of a problem for other tuners' programs.
 */
#include "core/new_file.h"
#include "core/text.h"
#include "tuner/base/view.h"
#include "tuner/cmd/common.h"
#include "tuner/study/learn.h"
#include "tuner/study/t4.h"

#include <stdio.h>
#include <string.h>

struct values {
    const char *db, *device, *format, *problem;
    bool shelf;
};

static const struct gt_option options[] = {
    GT_OPTION_DB(struct values),
    {"device", 'd', GT_OPT_TEXT, offsetof(struct values, device), "NAME",
     "only this device: its key, or part of its key or name", 0, 0},
    {"shelf", 0, GT_OPT_FLAG, offsetof(struct values, shelf), NULL,
     "write a folder that can be given away: the results as tuned.json, and what tune "
     "--cover has learned of the device",
     0, 0},
    {"format", 0, GT_OPT_TEXT, offsetof(struct values, format), "WORD",
     "gemmtune: the winners, for gemmtune import (default); t4: all trials of a problem on "
     "a device, in the T4 format of the autotuning community",
     0, 0},
    {"problem", 0, GT_OPT_TEXT, offsetof(struct values, problem), "NAME",
     "with --format t4: the problem, where the database has several", 0, 0},
    GT_OPTION_END,
};

/* Standard output may be the text itself. */
static void say_written(const struct gt_export_report *r, const char *path) {
    char compared[64] = "";
    if (gt_new_text_flows(path))
        return;
    if (r->rivals > 0)
        (void)snprintf(compared, sizeof compared, ", %lld comparison%s with libraries",
                       (long long)r->rivals, gt_text_plural(r->rivals));
    printf("%s: %lld result%s of %lld device%s%s\n", path, (long long)r->records,
           gt_text_plural(r->records), (long long)r->devices, gt_text_plural(r->devices),
           compared);
}

/* Writes the folder of the device with the key. */
static gt_status export_shelf(struct gt_db *db, const char *database, const char *key,
                              const char *folder, struct gt_err *err) {
    struct gt_export_report report;
    char path[GT_PATH_SIZE];
    bool given = false;
    if ((size_t)snprintf(path, sizeof path, "%s/tuned.json", folder) >= sizeof path)
        return gt_fail(err, GEMMTUNE_EIO, "%s: the path is too long", folder);
    gt_status status = gt_learn_folder(folder, err);
    if (status == GEMMTUNE_OK)
        status = gt_db_export(&report, db, key, path, err);
    if (status == GEMMTUNE_OK)
        status = gt_learn_give(&given, folder, database, key, err);
    if (status == GEMMTUNE_OK)
        say_written(&report, path);
    if (status == GEMMTUNE_OK)
        printf("%s: %s\n", folder,
               given ? "with what was learned of the device"
                     : "nothing was learned of the device yet: tune --cover does it");
    return status;
}

/* The results of the device, or of all. */
static gt_status export_text(struct gt_db *db, const char *key, const char *path,
                             struct gt_err *err) {
    struct gt_export_report report;
    const gt_status status = gt_db_export(&report, db, key, path, err);
    if (status == GEMMTUNE_OK)
        say_written(&report, path);
    return status;
}

static int export(struct gt_db *db, const struct values *v, const char *path) {
    struct gt_view view = {0};
    struct gt_err err = {""};
    char buf[GT_PATH_SIZE];
    const char *database = v->db, *key = NULL;
    size_t index = 0;
    int code = gt_common_db_path(&database, buf);
    gt_status status = code < 0 ? gt_view_devices(&view, db, &err) : GEMMTUNE_OK;
    if (code < 0 && status == GEMMTUNE_OK && (v->device != NULL || v->shelf)) {
        status = gt_view_pick(&index, &view, v->device, &err);
        key = status == GEMMTUNE_OK ? view.device[index].key : NULL;
    }
    if (status == GEMMTUNE_ENOTFOUND)
        status = GEMMTUNE_EINVAL; /* the given name is wrong */
    if (code < 0 && status == GEMMTUNE_OK)
        status = v->shelf ? export_shelf(db, database, key, path, &err)
                          : export_text(db, key, path, &err);
    gt_view_clear(&view);
    if (code >= 0)
        return code;
    if (status == GEMMTUNE_EIO) /* the file is to be written, so this is not bad input */
        return gt_die(GT_EXIT_FAILURE, "%s", err.line);
    return status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
}

/* ---- T4 ---- */

static gt_status write_t4(int64_t *count, struct gt_db *db, const struct values *v,
                          const char *path, struct gt_err *err) {
    struct gt_view view = {0};
    char problem[GT_PROBLEM_NAME_MAX] = "";
    gemmtune_problem p;
    size_t index = 0;
    gt_status status = gt_view_devices(&view, db, err);
    if (status == GEMMTUNE_OK)
        status = gt_view_pick(&index, &view, v->device, err);
    if (status == GEMMTUNE_OK && v->problem != NULL)
        status = gt_problem_from_name(&p, v->problem, err);
    if (status == GEMMTUNE_OK && v->problem != NULL)
        (void)gt_problem_name(&p, problem);
    else if (status == GEMMTUNE_OK)
        status = gt_t4_problem(problem, db, view.device[index].key, err);
    if (status == GEMMTUNE_OK)
        status =
            gt_t4_write(count, db, view.device[index].key, view.device[index].device.name,
                        problem, gt_common_version(), path, err);
    gt_view_clear(&view);
    return status == GEMMTUNE_ENOTFOUND ? GEMMTUNE_EINVAL : status; /* a name is wrong */
}

static int export_t4(struct gt_db *db, const struct values *v, const char *path) {
    struct gt_err err = {""};
    int64_t count = 0;
    const gt_status status = write_t4(&count, db, v, path, &err);
    if (status == GEMMTUNE_EIO)
        return gt_die(GT_EXIT_FAILURE, "%s", err.line);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    if (!gt_new_text_flows(path))
        printf("%s: %lld trial%s\n", path, (long long)count, gt_text_plural(count));
    return GT_EXIT_OK;
}

/* ---- the command ---- */

static int check_format(const struct values *v) {
    const bool t4 = v->format != NULL && strcmp(v->format, "t4") == 0;
    if (v->format != NULL && !t4 && strcmp(v->format, "gemmtune") != 0)
        return gt_die(GT_EXIT_USAGE, "export: there is no format '%s': gemmtune or t4",
                      v->format);
    if (v->problem != NULL && !t4)
        return gt_die(GT_EXIT_USAGE, "export: --problem is for --format t4");
    if (v->shelf && v->format != NULL)
        return gt_die(GT_EXIT_USAGE,
                      "export: a shelf has formats of its own, so --shelf and "
                      "--format exclude each other");
    return -1;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.db = NULL};
    struct gt_db *db = NULL;
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, NULL, 1, 1, &first);
    if (code < 0)
        code = check_format(&v);
    if (code < 0)
        code = gt_common_read_db(&db, v.db);
    if (code < 0 && db == NULL)
        code = gt_die(GT_EXIT_DATABASE, "export: there is nothing to export");
    if (code < 0)
        code = v.format != NULL && strcmp(v.format, "t4") == 0
                   ? export_t4(db, &v, argv[first])
                   : export(db, &v, argv[first]);
    gt_db_close(db);
    return code;
}

const struct gt_cmd gt_cmd_export = {
    .name = "export",
    .operands = "FILE|-|--shelf FOLDER",
    .about = "Write tuned results as JSON text; - writes to standard output.",
    .options = options,
    .run = run,
};
