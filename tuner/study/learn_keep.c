/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learn_keep.c - the folder beside a database that keeps what was learned. shelf.json has
 * the hashes of the other files and is written last, so a reader sees all of it or nothing.
 */
#include "tuner/study/learn.h"

#include "core/hash.h"
#include "core/json.h"
#include "core/new_file.h"
#include "runtime/lookup/model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { DIGEST = 65 };

/* A file of a folder while it is written. */
struct part {
    char path[PATH_MAX];
    struct gt_new_text text;
};

static gt_status begin(struct part *p, const char *folder, const char *name,
                       struct gt_err *err) {
    if ((size_t)snprintf(p->path, sizeof p->path, "%s/%s", folder, name) >= sizeof p->path)
        return gt_fail(err, GEMMTUNE_EIO, "%s: the path is too long", folder);
    return gt_new_text_begin(&p->text, p->path, err);
}

static gt_status put_costs(const struct gt_lessons *l, FILE *out, struct gt_err *err) {
    (void)err;
    gt_costs_write(out, &l->shelf.costs);
    return GEMMTUNE_OK;
}

static gt_status put_trees(const struct gt_lessons *l, FILE *out, struct gt_err *err) {
    return gt_trees_write(out, &l->shelf.trees, err);
}

/* Writes a file, and the hash of what it has then. */
static gt_status put(char hex[DIGEST], const char *folder, const char *name,
                     gt_status (*write)(const struct gt_lessons *, FILE *, struct gt_err *),
                     const struct gt_lessons *l, struct gt_err *err) {
    struct part p;
    gt_status status = begin(&p, folder, name, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = write(l, p.text.out, err);
    status = gt_new_text_end(&p.text, status, err);
    return status == GEMMTUNE_OK ? gt_hash_file(hex, p.path, err) : status;
}

static gt_status put_card(const char *folder, const char *key, const struct gt_lessons *l,
                          char digest[2][DIGEST], struct gt_err *err) {
    struct part p;
    const gt_status status = begin(&p, folder, "shelf.json", err);
    if (status != GEMMTUNE_OK)
        return status;
    FILE *const out = p.text.out;
    (void)fputs("{\n  \"format\": 1,\n  \"device_key\": ", out);
    gt_json_quote(out, key);
    (void)fprintf(out,
                  ",\n  \"model\": %d,\n  \"trials\": %zu,\n  \"costs_sha256\": \"%s\",\n"
                  "  \"trees_sha256\": \"%s\"\n}\n",
                  GT_MODEL_VERSION, l->trials, digest[0], digest[1]);
    return gt_new_text_end(&p.text, GEMMTUNE_OK, err);
}

static gt_status make_folder(const char *path, struct gt_err *err) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return GEMMTUNE_OK;
    return gt_fail(err, GEMMTUNE_EIO, "cannot make the folder %s: %s", path,
                   strerror(errno));
}

/* Makes the folder, and the one that it is in. */
static gt_status make_folders(const char *path, struct gt_err *err) {
    char above[PATH_MAX];
    (void)snprintf(above, sizeof above, "%s", path);
    *strrchr(above, '/') = '\0';
    const gt_status status = make_folder(above, err);
    return status == GEMMTUNE_OK ? make_folder(path, err) : status;
}

gt_status gt_learn_keep(const struct gt_lessons *l, const char *database,
                        const struct gt_device *d, struct gt_err *err) {
    char folder[PATH_MAX], key[GT_DEVICE_KEY_MAX], digest[2][DIGEST];
    gt_device_key(d, key);
    if (!gt_shelf_learned_folder(folder, database, d))
        return gt_fail(err, GEMMTUNE_EIO, "%s: the path is too long", database);
    gt_status status = make_folders(folder, err);
    if (status == GEMMTUNE_OK)
        status = put(digest[0], folder, "costs.json", put_costs, l, err);
    if (status == GEMMTUNE_OK)
        status = put(digest[1], folder, "trees.bin", put_trees, l, err);
    if (status == GEMMTUNE_OK)
        status = put_card(folder, key, l, digest, err);
    return status;
}

size_t gt_learn_kept(const char *database, const struct gt_device *d) {
    char folder[PATH_MAX], path[PATH_MAX + 16];
    struct gt_json *doc = NULL;
    int64_t trials = 0;
    if (!gt_shelf_learned_folder(folder, database, d))
        return 0;
    (void)snprintf(path, sizeof path, "%s/shelf.json", folder);
    if (gt_json_load(&doc, path, NULL) == GEMMTUNE_OK)
        (void)gt_json_need_int(&trials, gt_json_root(doc), "trials", 0, INT64_C(1) << 40,
                               NULL);
    gt_json_destroy(doc);
    return (size_t)trials;
}
