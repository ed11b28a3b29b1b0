/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - `gemmtune export FILE|-`: writes results as text that can be reviewed and
 * committed.
 */
#include "core/new_file.h"
#include "tuner/base/view.h"
#include "tuner/cmd/common.h"
#include "tuner/study/learn.h"

#include <stdio.h>
#include <string.h>

struct values {
    const char *db, *device;
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
    GT_OPTION_END,
};

/* Standard output may be the text itself. */
static void say_written(const struct gt_export_report *r, const char *path) {
    char compared[64] = "";
    if (strcmp(path, "-") == 0 || gt_new_text_flows(path))
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

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {NULL, NULL, false};
    struct gt_db *db = NULL;
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, NULL, 1, 1, &first);
    if (code < 0)
        code = gt_common_read_db(&db, v.db);
    if (code < 0)
        code = db != NULL ? export(db, &v, argv[first])
                          : gt_die(GT_EXIT_DATABASE, "export: there is nothing to export");
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
