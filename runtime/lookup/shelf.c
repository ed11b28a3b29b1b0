/* SPDX-License-Identifier: Apache-2.0 */
/* shelf.c - see shelf.h. */
#define _GNU_SOURCE /* dladdr */
#include "runtime/lookup/shelf.h"

#include "core/json.h"
#include "core/log.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct gt_shelf gt_shelf_usual = {.costs = {
#define X(name, value, low, high, fitted, what) .name = value,
                                            GT_COST_LIST(X)
#undef X
                                        }};

/* ---- one folder ---------------------------------------------------------------------- */

/* The devices that a folder serves. */
struct served {
    char name[128]; /* of the device that the folder is of */
    char arch[24];
    int64_t units_min;
};

/* Reads shelf.json. */
static gt_status read_units(void *to, struct gt_node root, struct gt_err *err) {
    static const char *const keys[] = {"format", "units_min", NULL};
    struct served *const out = to;
    int64_t format;
    gt_status status = gt_json_only(root, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&format, root, "format", 1, 1, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&out->units_min, root, "units_min", 1, INT_MAX, err);
    return status;
}

/* Reads device.json, which has more members. */
static gt_status read_names(void *to, struct gt_node root, struct gt_err *err) {
    struct served *const out = to;
    gt_status status = gt_json_need_text(out->name, sizeof out->name, root, "name", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_text(out->arch, sizeof out->arch, root, "arch", err);
    return status;
}

/* All costs of the list, each once. */
static gt_status read_costs(void *to, struct gt_node root, struct gt_err *err) {
    const char *keys[GT_COSTS + 2] = {"format"};
    int64_t format;
    for (int i = 0; i < GT_COSTS; i++)
        keys[i + 1] = gt_cost_list[i].name;
    gt_status status = gt_json_only(root, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&format, root, "format", 1, 1, err);
    for (int i = 0; i < GT_COSTS && status == GEMMTUNE_OK; i++)
        status = gt_json_need_double(gt_cost_at(to, i), root, gt_cost_list[i].name,
                                     gt_cost_list[i].low, gt_cost_list[i].high, err);
    return status;
}

/* A path that is too long is "", where no file is. */
static void join(char path[PATH_MAX], const char *folder, const char *file) {
    const int len = snprintf(path, PATH_MAX, "%s/%s", folder, file);
    if (len < 0 || len >= PATH_MAX)
        path[0] = '\0';
}

static gt_status read_json(void *out, const char *folder, const char *file,
                           gt_status (*read)(void *, struct gt_node, struct gt_err *),
                           struct gt_err *err) {
    struct gt_json *doc = NULL;
    char path[PATH_MAX];
    join(path, folder, file);
    gt_status status = gt_json_load(&doc, path, err);
    if (status == GEMMTUNE_OK)
        status = read(out, gt_json_root(doc), err);
    gt_json_destroy(doc);
    return status;
}

static bool has_file(const char *folder, const char *file) {
    char path[PATH_MAX];
    join(path, folder, file);
    return access(path, F_OK) == 0;
}

gt_status gt_shelf_read(struct gt_shelf *out, const char *path, struct gt_err *err) {
    char trees[PATH_MAX];
    gt_status status = GEMMTUNE_OK;
    *out = gt_shelf_usual;
    join(trees, path, "trees.bin");
    if (has_file(path, "costs.json"))
        status = read_json(&out->costs, path, "costs.json", read_costs, err);
    if (status == GEMMTUNE_OK && has_file(path, "trees.bin"))
        status = gt_trees_read(&out->trees, trees, err);
    if (status != GEMMTUNE_OK)
        *out = gt_shelf_usual;
    return status;
}

/* Whether the folder `path` serves the device; if it cannot be read, no. *named says
 * whether the folder belongs to a device of this name. */
static bool serves(bool *named, const char *path, const struct gt_device *d) {
    struct served s;
    struct gt_err err;
    *named = false;
    if (!has_file(path, "shelf.json"))
        return false;
    gt_status status = read_json(&s, path, "shelf.json", read_units, &err);
    if (status == GEMMTUNE_OK)
        status = read_json(&s, path, "device.json", read_names, &err);
    if (status != GEMMTUNE_OK) {
        gt_log(GEMMTUNE_LOG_WARN, "this folder of a device is left out: %s", err.line);
        return false;
    }
    *named = strcmp(s.name, d->name) == 0;
    return strcmp(s.arch, d->arch) == 0 && d->units >= s.units_min;
}

/* ---- all folders --------------------------------------------------------------------- */

/* Writes the folder of the file that this code is linked into; "" when it is not known. The
 * loader knows a program by the word that started it, which says nothing without a "/". */
static void own_folder(char out[PATH_MAX]) {
    Dl_info info;
    char path[PATH_MAX];
    const bool known = dladdr(&gt_shelf_usual, &info) != 0 && info.dli_fname != NULL &&
                       strchr(info.dli_fname, '/') != NULL;
    out[0] = '\0';
    if (realpath(known ? info.dli_fname : "/proc/self/exe", path) == NULL)
        return;
    *strrchr(path, '/') = '\0';
    memcpy(out, path, strlen(path) + 1);
}

/* Folders of folders: the first one that exists counts. "%s" is own_folder. */
static const char *const places[] = {
    "%s/../share/gemmtune/devices",
    "%s/../../share/gemmtune/devices", /* lib/<architecture>/ */
    "%s/devices",
    "%s/../devices",
    "/usr/local/share/gemmtune/devices",
    "/usr/share/gemmtune/devices",
};

static void find_folders(char out[PATH_MAX]) {
    const char *const told = getenv("GEMMTUNE_DEVICES");
    char own[PATH_MAX];
    if (told != NULL && told[0] != '\0') {
        (void)snprintf(out, PATH_MAX, "%s", told);
        return;
    }
    own_folder(own);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const bool is_own = places[i][0] == '%';
        if (is_own && own[0] == '\0')
            continue;
        if (is_own)
            (void)snprintf(out, PATH_MAX, "%s%s", own, places[i] + 2);
        else
            (void)snprintf(out, PATH_MAX, "%s", places[i]);
        if (access(out, R_OK) == 0)
            return;
    }
    out[0] = '\0';
}

/* Writes the path of the folder that serves the device: the folder of a device of its name,
 * else the first one by name. "": none does. */
static void find_folder(char out[PATH_MAX], const char *folders,
                        const struct gt_device *d) {
    struct dirent **entry = NULL;
    const int count = scandir(folders, &entry, NULL, alphasort);
    bool found = false, found_named = false;
    out[0] = '\0';
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        bool named;
        join(path, folders, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.' && !found_named && serves(&named, path, d) &&
            (named || !found)) {
            memcpy(out, path, sizeof path);
            found = true;
            found_named = named;
        }
        free(entry[i]);
    }
    free(entry);
}

/* ---- what was read ------------------------------------------------------------------- */

/* A device that was asked about, and its shelf. Never removed. */
struct known {
    char name[128], arch[24];
    int units;
    struct gt_shelf shelf;
    struct known *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known *first; /* guarded by `lock` */

static bool is_of(const struct known *k, const struct gt_device *d) {
    return k->units == d->units && strcmp(k->arch, d->arch) == 0 &&
           strcmp(k->name, d->name) == 0;
}

static void read_known(struct known *k, const struct gt_device *d) {
    char folders[PATH_MAX], folder[PATH_MAX];
    struct gt_err err;
    find_folders(folders);
    find_folder(folder, folders, d);
    if (folder[0] == '\0')
        k->shelf = gt_shelf_usual;
    else if (gt_shelf_read(&k->shelf, folder, &err) != GEMMTUNE_OK)
        gt_log(GEMMTUNE_LOG_WARN, "what is known of %s is left out: %s", d->name, err.line);
}

static const struct known *add_known(const struct gt_device *d) {
    struct known *const k = calloc(1, sizeof *k);
    if (k == NULL)
        return NULL;
    memcpy(k->name, d->name, sizeof k->name);
    memcpy(k->arch, d->arch, sizeof k->arch);
    k->units = d->units;
    read_known(k, d);
    k->next = first;
    first = k;
    return k;
}

const struct gt_shelf *gt_shelf_of(const struct gt_device *d) {
    (void)pthread_mutex_lock(&lock);
    const struct known *k = first;
    while (k != NULL && !is_of(k, d))
        k = k->next;
    if (k == NULL)
        k = add_known(d);
    (void)pthread_mutex_unlock(&lock);
    return k != NULL ? &k->shelf : &gt_shelf_usual;
}
