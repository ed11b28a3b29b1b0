/* SPDX-License-Identifier: Apache-2.0 */
/* shelf_read.c - reads one folder of shelf.h. */
#include "runtime/lookup/shelf_inside.h"
#include "runtime/lookup/model.h"

#include "core/hash.h"
#include "core/json.h"
#include "core/log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct gt_shelf gt_shelf_usual = {.costs = {
#define X(name, value, low, high, fitted, what) .name = value,
                                            GT_COST_LIST(X)
#undef X
                                        }};

enum { DIGEST = 65 };

/* The contents of shelf.json, and names of device.json. */
struct card {
    char name[128]; /* of the device that the folder is of */
    char arch[24];
    int64_t units_min; /* 0: the folder serves the device with this key alone */
    char key[GT_DEVICE_KEY_MAX];
    int64_t model; /* the model that a learned folder is about; 0: it is not said */
    char costs[DIGEST], trees[DIGEST]; /* hashes of the files; "": not said */
};

/* ---- the files ----------------------------------------------------------------------- */

/* A path that is too long is "", where no file is. */
void gt_shelf_join(char path[PATH_MAX], const char *folder, const char *file) {
    const int len = snprintf(path, PATH_MAX, "%s/%s", folder, file);
    if (len < 0 || len >= PATH_MAX)
        path[0] = '\0';
}

static gt_status read_json(void *out, const char *folder, const char *file,
                           gt_status (*read)(void *, struct gt_node, struct gt_err *),
                           struct gt_err *err) {
    struct gt_json *doc = NULL;
    char path[PATH_MAX];
    gt_shelf_join(path, folder, file);
    gt_status status = gt_json_load(&doc, path, err);
    if (status == GEMMTUNE_OK)
        status = read(out, gt_json_root(doc), err);
    gt_json_destroy(doc);
    return status;
}

static bool has_file(const char *folder, const char *file) {
    char path[PATH_MAX];
    gt_shelf_join(path, folder, file);
    return access(path, F_OK) == 0;
}

/* A member that may be missing; *out is then "". */
static gt_status read_text(char *out, size_t size, struct gt_node root, const char *key,
                           struct gt_err *err) {
    out[0] = '\0';
    return gt_json_kind(gt_json_member(root, key)) == GT_JSON_ABSENT
               ? GEMMTUNE_OK
               : gt_json_need_text(out, size, root, key, err);
}

static gt_status read_served(struct card *out, struct gt_node root, struct gt_err *err) {
    gt_status status = read_text(out->key, sizeof out->key, root, "device_key", err);
    out->units_min = 0;
    if (status == GEMMTUNE_OK && out->key[0] == '\0')
        status = gt_json_need_int(&out->units_min, root, "units_min", 1, INT_MAX, err);
    return status;
}

/* Reads shelf.json. */
static gt_status read_card(void *to, struct gt_node root, struct gt_err *err) {
    static const char *const keys[] = {
        "format",       "units_min",    "device_key", "model",
        "costs_sha256", "trees_sha256", "trials",     NULL};
    struct card *const out = to;
    int64_t format;
    gt_status status = gt_json_only(root, keys, err);
    out->model = 0;
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&format, root, "format", 1, 1, err);
    if (status == GEMMTUNE_OK)
        status = read_served(out, root, err);
    if (status == GEMMTUNE_OK &&
        gt_json_kind(gt_json_member(root, "model")) != GT_JSON_ABSENT)
        status = gt_json_need_int(&out->model, root, "model", 1, INT_MAX, err);
    if (status == GEMMTUNE_OK)
        status = read_text(out->costs, sizeof out->costs, root, "costs_sha256", err);
    if (status == GEMMTUNE_OK)
        status = read_text(out->trees, sizeof out->trees, root, "trees_sha256", err);
    return status;
}

/* Reads device.json, which has more members. */
static gt_status read_names(void *to, struct gt_node root, struct gt_err *err) {
    struct card *const out = to;
    gt_status status = gt_json_need_text(out->name, sizeof out->name, root, "name", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_text(out->arch, sizeof out->arch, root, "arch", err);
    return status;
}

/* All costs of the list, each once. A file may be older than the costs of CPUs, which are
 * then the usual ones. */
static gt_status read_costs(void *to, struct gt_node root, struct gt_err *err) {
    const char *keys[GT_COSTS + 2] = {"format"};
    int64_t format;
    for (int i = 0; i < GT_COSTS; i++)
        keys[i + 1] = gt_cost_list[i].name;
    gt_status status = gt_json_only(root, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&format, root, "format", 1, 1, err);
    for (int i = 0; i < GT_COSTS && status == GEMMTUNE_OK; i++)
        if (gt_cost_list[i].fitted != GT_COST_OF_CPU ||
            gt_json_kind(gt_json_member(root, gt_cost_list[i].name)) != GT_JSON_ABSENT)
            status = gt_json_need_double(gt_cost_at(to, i), root, gt_cost_list[i].name,
                                         gt_cost_list[i].low, gt_cost_list[i].high, err);
    return status;
}

/* ---- the digests --------------------------------------------------------------------- */

/* Files that were learned together are read together: a crash between two writes leaves
 * a file that shelf.json does not know. */
static gt_status check_digest(const char *folder, const char *file, const char *digest,
                              struct gt_err *err) {
    char path[PATH_MAX], hex[DIGEST];
    if (digest[0] == '\0')
        return GEMMTUNE_OK;
    gt_shelf_join(path, folder, file);
    const gt_status status = gt_hash_file(hex, path, err);
    if (status == GEMMTUNE_OK && strcmp(hex, digest) != 0)
        return gt_fail(err, GEMMTUNE_EPARSE, "%s is not the file that shelf.json names",
                       path);
    return status;
}

static gt_status check_files(const char *folder, struct gt_err *err) {
    struct card card;
    if (!has_file(folder, "shelf.json"))
        return GEMMTUNE_OK;
    gt_status status = read_json(&card, folder, "shelf.json", read_card, err);
    if (status == GEMMTUNE_OK)
        status = check_digest(folder, "costs.json", card.costs, err);
    if (status == GEMMTUNE_OK)
        status = check_digest(folder, "trees.bin", card.trees, err);
    return status;
}

gt_status gt_shelf_read(struct gt_shelf *out, const char *path, struct gt_err *err) {
    char trees[PATH_MAX];
    *out = gt_shelf_usual;
    gt_shelf_join(trees, path, "trees.bin");
    gt_status status = check_files(path, err);
    if (status == GEMMTUNE_OK && has_file(path, "costs.json"))
        status = read_json(&out->costs, path, "costs.json", read_costs, err);
    if (status == GEMMTUNE_OK && has_file(path, "trees.bin"))
        status = gt_trees_read(&out->trees, trees, err);
    if (status != GEMMTUNE_OK)
        *out = gt_shelf_usual;
    return status;
}

/* ---- whom a folder serves ------------------------------------------------------------ */

static bool serves(bool *named, const struct card *c, const struct gt_device *d) {
    char key[GT_DEVICE_KEY_MAX];
    gt_device_key(d, key);
    *named = c->units_min > 0 ? strcmp(c->name, d->name) == 0 : strcmp(c->key, key) == 0;
    return c->units_min > 0 ? strcmp(c->arch, d->arch) == 0 && d->units >= c->units_min
                            : *named;
}

bool gt_shelf_serves(bool *named, const char *path, const struct gt_device *d) {
    struct card card = {.name = ""};
    struct gt_err err;
    *named = false;
    if (!has_file(path, "shelf.json"))
        return false;
    gt_status status = read_json(&card, path, "shelf.json", read_card, &err);
    if (status == GEMMTUNE_OK && card.units_min > 0)
        status = read_json(&card, path, "device.json", read_names, &err);
    if (status != GEMMTUNE_OK) {
        gt_log(GEMMTUNE_LOG_WARN, "this folder of a device is left out: %s", err.line);
        return false;
    }
    if (card.model != 0 && card.model != GT_MODEL_VERSION) {
        gt_log(GEMMTUNE_LOG_INFO,
               "%s is left out: it was learned about the model of another release", path);
        return false;
    }
    return serves(named, &card, d);
}
