/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - `gemmtune export FILE|-`: writes results as text that can be reviewed and
 * committed.
 */
#include "core/new_file.h"
#include "tuner/base/view.h"
#include "tuner/cmd/common.h"

#include <stdio.h>
#include <string.h>

struct values {
    const char *db, *device;
};

static const struct gt_option options[] = {
    GT_OPTION_DB(struct values),
    {"device", 'd', GT_OPT_TEXT, offsetof(struct values, device), "NAME",
     "only this device: its key, or part of its key or name", 0, 0},
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

static int export(struct gt_db *db, const char *device, const char *path) {
    struct gt_view view = {0};
    struct gt_export_report report;
    struct gt_err err = {""};
    size_t index = 0;
    gt_status status = gt_view_devices(&view, db, &err);
    if (status == GEMMTUNE_OK && device != NULL)
        status = gt_view_pick(&index, &view, device, &err);
    if (status == GEMMTUNE_ENOTFOUND)
        status = GEMMTUNE_EINVAL; /* the given name is wrong */
    if (status == GEMMTUNE_OK)
        status = gt_db_export(&report, db, device != NULL ? view.device[index].key : NULL,
                              path, &err);
    gt_view_clear(&view);
    if (status == GEMMTUNE_OK)
        say_written(&report, path);
    if (status == GEMMTUNE_EIO) /* the file is to be written, so this is not bad input */
        return gt_die(GT_EXIT_FAILURE, "%s", err.line);
    return status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {NULL, NULL};
    struct gt_db *db = NULL;
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, NULL, 1, 1, &first);
    if (code < 0)
        code = gt_common_read_db(&db, v.db);
    if (code < 0)
        code = db != NULL ? export(db, v.device, argv[first])
                          : gt_die(GT_EXIT_DATABASE, "export: there is nothing to export");
    gt_db_close(db);
    return code;
}

const struct gt_cmd gt_cmd_export = {
    .name = "export",
    .operands = "FILE|-",
    .about = "Write tuned results as JSON text; - writes to standard output.",
    .options = options,
    .run = run,
};
