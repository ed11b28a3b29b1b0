/* SPDX-License-Identifier: Apache-2.0 */
/* shelf.c - see shelf.h. */
#define _GNU_SOURCE /* dladdr */
#include "runtime/lookup/shelf_inside.h"

#include "core/log.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
        gt_shelf_join(path, folders, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.' && !found_named &&
            gt_shelf_serves(&named, path, d) && (named || !found)) {
            memcpy(out, path, sizeof path);
            found = true;
            found_named = named;
        }
        free(entry[i]);
    }
    free(entry);
}

/* ---- shelves beside databases -------------------------------------------------------- */

enum { PLACES_MAX = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Databases that this process works with; guarded by `lock`. */
static char *database[PLACES_MAX];
static int databases;

bool gt_shelf_learned_folder(char out[PATH_MAX], const char *path, const char *key) {
    const int len = snprintf(out, PATH_MAX, "%s.shelves/%s", path, key);
    return len > 0 && len < PATH_MAX;
}

void gt_shelf_beside(const char *path) {
    char *const whole = realpath(path, NULL);
    (void)pthread_mutex_lock(&lock);
    int i = 0;
    while (whole != NULL && i < databases && strcmp(database[i], whole) != 0)
        i++;
    const bool is_new = whole != NULL && i == databases && databases < PLACES_MAX;
    if (is_new)
        database[databases++] = whole;
    (void)pthread_mutex_unlock(&lock);
    if (!is_new)
        free(whole);
}

/* Reads the first shelf that was learned about the device. False: there is none. */
static bool read_learned(struct gt_shelf *out, const struct gt_device *d) {
    bool found = false, named;
    char folder[PATH_MAX], key[GT_DEVICE_KEY_MAX];
    struct gt_err err;
    gt_device_key(d, key);
    for (int i = 0; i < databases && !found; i++) {
        if (!gt_shelf_learned_folder(folder, database[i], key) ||
            !gt_shelf_serves(&named, folder, d))
            continue;
        found = gt_shelf_read(out, folder, &err) == GEMMTUNE_OK;
        if (!found)
            gt_log(GEMMTUNE_LOG_WARN, "what was learned of %s is left out: %s", d->name,
                   err.line);
    }
    return found;
}

/* ---- what was read ------------------------------------------------------------------- */

/* A device that was asked about, and its shelves. Never removed. */
struct known {
    char name[128], arch[24];
    int units, bus_bits;
    int64_t l2_bytes;
    struct gt_shelf shipped, learned;
    bool has_learned;
    struct known *next;
};

static struct known *first; /* guarded by `lock` */

static void read_shipped(struct gt_shelf *out, const struct gt_device *d) {
    char folders[PATH_MAX], folder[PATH_MAX];
    struct gt_err err;
    *out = gt_shelf_usual;
    find_folders(folders);
    find_folder(folder, folders, d);
    if (folder[0] != '\0' && gt_shelf_read(out, folder, &err) != GEMMTUNE_OK)
        gt_log(GEMMTUNE_LOG_WARN, "what is known of %s is left out: %s", d->name, err.line);
}

static bool is_of(const struct known *k, const struct gt_device *d) {
    return k->units == d->units && k->bus_bits == d->bus_bits &&
           k->l2_bytes == d->l2_bytes && strcmp(k->arch, d->arch) == 0 &&
           strcmp(k->name, d->name) == 0;
}

static const struct known *add_known(const struct gt_device *d) {
    struct known *const k = calloc(1, sizeof *k);
    if (k == NULL)
        return NULL;
    *k =
        (struct known){.units = d->units, .bus_bits = d->bus_bits, .l2_bytes = d->l2_bytes};
    memcpy(k->name, d->name, sizeof k->name);
    memcpy(k->arch, d->arch, sizeof k->arch);
    read_shipped(&k->shipped, d);
    k->has_learned = read_learned(&k->learned, d);
    k->next = first;
    first = k;
    return k;
}

static const struct known *find_known(const struct gt_device *d) {
    (void)pthread_mutex_lock(&lock);
    const struct known *k = first;
    while (k != NULL && !is_of(k, d))
        k = k->next;
    if (k == NULL)
        k = add_known(d);
    (void)pthread_mutex_unlock(&lock);
    return k;
}

void gt_shelf_renew(const struct gt_device *d) {
    (void)pthread_mutex_lock(&lock);
    (void)add_known(d); /* in front of what was read before */
    (void)pthread_mutex_unlock(&lock);
}

const struct gt_shelf *gt_shelf_of(const struct gt_device *d) {
    const struct known *const k = find_known(d);
    return k == NULL ? &gt_shelf_usual : k->has_learned ? &k->learned : &k->shipped;
}

const struct gt_shelf *gt_shelf_shipped(const struct gt_device *d) {
    const struct known *const k = find_known(d);
    return k == NULL ? &gt_shelf_usual : &k->shipped;
}
