/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learn_keep.c - folders of learned shelves: beside a database, and to be given away.
 * shelf.json has the hashes of the other files and is written last, so a reader sees all of
 * it or nothing.
 */
#include "tuner/study/learn.h"

#include "core/hash.h"
#include "core/json.h"
#include "core/new_file.h"
#include "runtime/lookup/model.h"
#include "runtime/lookup/shelf_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

gt_status gt_learn_folder(const char *path, struct gt_err *err) {
    char above[PATH_MAX];
    (void)snprintf(above, sizeof above, "%s", path);
    char *const end = strrchr(above, '/');
    const bool is_inside = end != NULL && end != above;
    if (is_inside)
        *end = '\0';
    const gt_status status = is_inside ? make_folder(above, err) : GEMMTUNE_OK;
    return status == GEMMTUNE_OK ? make_folder(path, err) : status;
}

/* Writes a shelf into the folder, which is made if it is missing. */
static gt_status write_shelf(const char *folder, const char *key,
                             const struct gt_lessons *l, struct gt_err *err) {
    char digest[2][DIGEST];
    gt_status status = gt_learn_folder(folder, err);
    if (status == GEMMTUNE_OK)
        status = put(digest[0], folder, "costs.json", put_costs, l, err);
    if (status == GEMMTUNE_OK)
        status = put(digest[1], folder, "trees.bin", put_trees, l, err);
    if (status == GEMMTUNE_OK)
        status = put_card(folder, key, l, digest, err);
    return status;
}

/* ---- reading ------------------------------------------------------------------------- */

/* The device of shelf.json, and the number of its trials. */
struct card {
    char key[GT_DEVICE_KEY_MAX];
    int64_t trials;
};

/* Reads the card of a learned shelf. ENOTFOUND: the folder has none. */
static gt_status read_card(struct card *out, const char *folder, struct gt_err *err) {
    struct gt_json *doc = NULL;
    char path[PATH_MAX];
    int64_t model;
    gt_shelf_join(path, folder, "shelf.json");
    if (access(path, F_OK) != 0)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "%s: there is no learned shelf", folder);
    gt_status status = gt_json_load(&doc, path, err);
    const struct gt_node root = gt_json_root(doc);
    if (status == GEMMTUNE_OK &&
        gt_json_kind(gt_json_member(root, "device_key")) == GT_JSON_ABSENT)
        status = gt_fail(err, GEMMTUNE_ENOTFOUND, "%s: the shelf is of no single device",
                         folder);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_text(out->key, sizeof out->key, root, "device_key", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&out->trials, root, "trials", 0, INT64_C(1) << 40, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&model, root, "model", 1, INT_MAX, err);
    if (status == GEMMTUNE_OK && model != GT_MODEL_VERSION)
        status = gt_json_fail(gt_json_member(root, "model"), err,
                              "it was learned about version %d of the model, and this "
                              "release has version %d",
                              (int)model, GT_MODEL_VERSION);
    gt_json_destroy(doc);
    return status;
}

gt_status gt_learn_keep(const struct gt_lessons *l, const char *database,
                        const struct gt_device *d, struct gt_err *err) {
    char folder[PATH_MAX], key[GT_DEVICE_KEY_MAX];
    gt_device_key(d, key);
    if (!gt_shelf_learned_folder(folder, database, key))
        return gt_fail(err, GEMMTUNE_EIO, "%s: the path is too long", database);
    return write_shelf(folder, key, l, err);
}

size_t gt_learn_kept(const char *database, const struct gt_device *d) {
    char folder[PATH_MAX], path[PATH_MAX], key[GT_DEVICE_KEY_MAX];
    struct card card = {.trials = 0};
    struct gt_shelf shelf = {.trees = {0}};
    gt_device_key(d, key);
    if (!gt_shelf_learned_folder(folder, database, key))
        return 0;
    gt_shelf_join(path, folder, "shelf.json");
    if (access(path, F_OK) != 0)
        return 0;
    gt_status status = read_card(&card, folder, NULL);
    if (status == GEMMTUNE_OK)
        status = gt_shelf_read(&shelf, folder, NULL);
    gt_trees_clear(&shelf.trees);
    return status == GEMMTUNE_OK ? (size_t)card.trials : 1;
}

/* Reads a shelf whole, and writes it into the folder `to`. */
static gt_status copy(const char *to, const char *from, const struct card *card,
                      struct gt_err *err) {
    struct gt_lessons l = {.trials = (size_t)card->trials};
    gt_status status = gt_shelf_read(&l.shelf, from, err);
    if (status == GEMMTUNE_OK)
        status = write_shelf(to, card->key, &l, err);
    gt_lessons_clear(&l);
    return status;
}

gt_status gt_learn_give(bool *given, const char *to, const char *database, const char *key,
                        struct gt_err *err) {
    char folder[PATH_MAX];
    struct card card;
    *given = false;
    if (!gt_shelf_learned_folder(folder, database, key) ||
        read_card(&card, folder, NULL) != GEMMTUNE_OK)
        return GEMMTUNE_OK;
    const gt_status status = copy(to, folder, &card, err);
    *given = status == GEMMTUNE_OK;
    return status;
}

gt_status gt_learn_take(bool *taken, const char *from, const char *database,
                        struct gt_err *err) {
    char folder[PATH_MAX];
    struct card card, own = {.trials = -1};
    *taken = false;
    gt_status status = read_card(&card, from, err);
    if (status != GEMMTUNE_OK)
        return status == GEMMTUNE_ENOTFOUND ? GEMMTUNE_OK : status;
    if (!gt_shelf_learned_folder(folder, database, card.key))
        return gt_fail(err, GEMMTUNE_EIO, "%s: the path is too long", database);
    (void)read_card(&own, folder, NULL);
    if (own.trials >= card.trials)
        return GEMMTUNE_OK;
    status = copy(folder, from, &card, err);
    *taken = status == GEMMTUNE_OK;
    return status;
}
