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

/* ---- a database of its own ----------------------------------------------------------- */

/* Makes an empty folder for a database. EIO. */
static gt_status make_folder(struct gt_borrowed *b, struct gt_err *err) {
    const char *const temp = getenv("TMPDIR");
    (void)snprintf(b->folder, sizeof b->folder, "%s/gemmtune-import-XXXXXX",
                   temp != NULL && *temp != '\0' ? temp : "/tmp");
    if (mkdtemp(b->folder) == NULL) {
        gt_status status = gt_fail(err, GEMMTUNE_EIO, "cannot make a folder %s", b->folder);
        b->folder[0] = '\0';
        return status;
    }
    (void)snprintf(b->path, sizeof b->path, "%s/import.db", b->folder);
    return GEMMTUNE_OK;
}

static gt_status borrow(struct gt_borrowed *out, gt_take_fn take, int count,
                        const char *const *paths, struct gt_err *err) {
    struct gt_merge_report report;
    char buf[GT_PATH_SIZE];
    *out = (struct gt_borrowed){.db = NULL};
    gt_status status = make_folder(out, err);
    if (status == GEMMTUNE_OK)
        status = gt_db_open(&out->db, out->path, GT_DB_WRITE, err);
    for (int i = 0; i < count && status == GEMMTUNE_OK; i++)
        status = take(&report, out->db, gt_import_results(buf, paths[i]), err);
    return status;
}

void gt_import_return(struct gt_borrowed *b) {
    gt_db_close(b->db);
    b->db = NULL;
    if (b->folder[0] == '\0')
        return;
    (void)unlink(b->path);
    (void)rmdir(b->folder);
}

static bool is_shelf(const char *path) {
    return is_folder(path);
}

int gt_import_check(gt_take_fn take, int count, char **paths, const char *device,
                    int64_t sample) {
    struct gt_borrowed b;
    struct gt_err err = {""};
    const gt_status status = borrow(&b, take, count, (const char *const *)paths, &err);
    gt_db_close(b.db);
    b.db = NULL;
    const int code = status == GEMMTUNE_OK ? gt_verify_sample(b.path, device, sample)
                                           : gt_common_fail(status, &err);
    gt_import_return(&b);
    return code == GT_EXIT_OK ? -1 : code;
}

int gt_import_open(struct gt_borrowed *out, const char *path) {
    struct gt_err err = {""};
    *out = (struct gt_borrowed){.db = NULL};
    if (path == NULL || !is_shelf(path))
        return gt_common_read_db(&out->db, path);
    const gt_status status = borrow(out, gt_db_import, 1, &path, &err);
    return status == GEMMTUNE_OK ? -1 : gt_die(GT_EXIT_INPUT, "%s", err.line);
}
