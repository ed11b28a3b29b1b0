/* SPDX-License-Identifier: Apache-2.0 */
/* import_shelf.c - see import_shelf.h. */
#define _DEFAULT_SOURCE /* for mkdtemp */
#include "tuner/cmd/import_shelf.h"

#include "tuner/base/talk.h"
#include "tuner/cmd/common.h"
#include "tuner/cmd/verify.h"
#include "tuner/study/learn.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

const char *gt_import_results(char buf[GT_PATH_SIZE], const char *path) {
    if (!is_folder(path))
        return path;
    const int len = snprintf(buf, GT_PATH_SIZE, "%s/tuned.json", path);
    return len > 0 && len < GT_PATH_SIZE ? buf : path;
}

gt_status gt_import_learned(const char *path, const char *database, struct gt_err *err) {
    bool taken = false;
    if (!is_folder(path))
        return GEMMTUNE_OK;
    const gt_status status = gt_learn_take(&taken, path, database, err);
    if (status == GEMMTUNE_OK && taken)
        gt_talk_line("%s: what was learned of the device serves lookups now", path);
    return status;
}

/* ---- a check before anything is taken ------------------------------------------------ */

static gt_status take_all(const char *database, gt_take_fn take, int count, char **paths,
                          struct gt_err *err) {
    struct gt_merge_report report;
    char buf[GT_PATH_SIZE];
    struct gt_db *db = NULL;
    gt_status status = gt_db_open(&db, database, GT_DB_WRITE, err);
    for (int i = 0; i < count && status == GEMMTUNE_OK; i++)
        status = take(&report, db, gt_import_results(buf, paths[i]), err);
    gt_db_close(db);
    return status;
}

int gt_import_check(gt_take_fn take, int count, char **paths, const char *device,
                    int64_t sample) {
    const char *const temp = getenv("TMPDIR");
    char folder[GT_PATH_SIZE], database[GT_PATH_SIZE + 16];
    struct gt_err err = {""};
    (void)snprintf(folder, sizeof folder, "%s/gemmtune-import-XXXXXX",
                   temp != NULL && *temp != '\0' ? temp : "/tmp");
    if (mkdtemp(folder) == NULL)
        return gt_die(GT_EXIT_FAILURE, "cannot make a folder %s", folder);
    (void)snprintf(database, sizeof database, "%s/import.db", folder);
    const gt_status status = take_all(database, take, count, paths, &err);
    const int code = status == GEMMTUNE_OK ? gt_verify_sample(database, device, sample)
                                           : gt_common_fail(status, &err);
    (void)unlink(database);
    (void)rmdir(folder);
    return code == GT_EXIT_OK ? -1 : code;
}
