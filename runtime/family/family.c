/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family.c - the collection of kernel families: some are compiled into the library, others
 * come from a folder. It knows where families come from; family_parse.c knows what they
 * mean.
 */
#include "runtime/family/family_inside.h"

#include "core/log.h"
#include "runtime/family/template_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

struct item {
    const struct gt_family *family;
    struct gt_family *owned; /* the same, of a folder; NULL: it is built in */
};

struct gt_families {
    size_t count;
    struct item *item; /* by rank, then name */
};

/* ---- the list -------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b) {
    const struct gt_family *x = ((const struct item *)a)->family;
    const struct gt_family *y = ((const struct item *)b)->family;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(x->name, y->name);
}

static size_t position(const struct gt_families *f, const char *name) {
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->item[i].family->name, name) == 0)
            return i;
    return f->count;
}

static gt_status add(struct gt_families *f, struct item item, struct gt_err *err) {
    struct item *grown = realloc(f->item, (f->count + 1) * sizeof *grown);
    if (grown == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    f->item = grown;
    f->item[f->count++] = item;
    return GEMMTUNE_OK;
}

/* Takes over `family`. It replaces one of the same name. */
static gt_status keep(struct gt_families *f, struct gt_family *family, struct gt_err *err) {
    const struct item item = {.family = family, .owned = family};
    const size_t at = position(f, family->name);
    if (at < f->count) {
        gt_family_destroy(f->item[at].owned);
        f->item[at] = item;
    } else if (add(f, item, err) != GEMMTUNE_OK) {
        gt_family_destroy(family);
        return GEMMTUNE_ENOMEM;
    }
    qsort(f->item, f->count, sizeof *f->item, by_rank);
    return GEMMTUNE_OK;
}

/* Leaves out the family of this name, if there is one. */
static void drop(struct gt_families *f, const char *name) {
    const size_t at = position(f, name);
    if (at == f->count)
        return;
    gt_family_destroy(f->item[at].owned);
    f->count--;
    memmove(&f->item[at], &f->item[at + 1], (f->count - at) * sizeof *f->item);
}

size_t gt_families_count(const struct gt_families *f) {
    return f->count;
}

const struct gt_family *gt_families_at(const struct gt_families *f, size_t i) {
    return i < f->count ? f->item[i].family : NULL;
}

const struct gt_family *gt_families_find(const struct gt_families *f, const char *name) {
    return gt_families_at(f, position(f, name));
}

const struct gt_family *gt_families_current(const struct gt_families *f, const char *name,
                                            const char *hash) {
    const struct gt_family *family = gt_families_find(f, name);
    return family != NULL && strcmp(family->hash, hash) == 0 ? family : NULL;
}

const struct gt_family *gt_families_with_role(const struct gt_families *f,
                                              enum gt_role role) {
    for (size_t i = 0; i < f->count; i++)
        if (f->item[i].family->role == role)
            return f->item[i].family;
    return NULL;
}

void gt_families_destroy(struct gt_families *f) {
    if (f == NULL)
        return;
    for (size_t i = 0; i < f->count; i++)
        gt_family_destroy(f->item[i].owned);
    free(f->item);
    free(f);
}

/* ---- built in -------------------------------------------------------------------- */

gt_status gt_families_create(struct gt_families **out, struct gt_err *err) {
    struct gt_families *f = calloc(1, sizeof *f);
    gt_status status = GEMMTUNE_OK;
    *out = NULL;
    if (f == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; gt_families_built_in[i] != NULL && status == GEMMTUNE_OK; i++)
        status = add(f, (struct item){.family = gt_families_built_in[i]}, err);
    if (status == GEMMTUNE_OK) {
        *out = f;
        f = NULL;
    }
    gt_families_destroy(f);
    return status;
}

/* ---- a folder -------------------------------------------------------------------- */

static gt_status join(char path[PATH_SIZE], const char *folder, const char *file,
                      struct gt_err *err) {
    const int len = snprintf(path, PATH_SIZE, "%s/%s", folder, file);
    return len >= 0 && len < PATH_SIZE
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EIO, "%.200s...: the path is too long", folder);
}

/* `user` is the family's folder. */
static gt_status read_in_folder(char **out, void *user, gemmtune_backend backend,
                                const char *file, struct gt_err *err) {
    char path[PATH_SIZE];
    (void)backend;
    *out = NULL;
    gt_status status = join(path, user, file, err);
    if (status == GEMMTUNE_OK)
        status = gt_template_read(out, path, err);
    if (status == GEMMTUNE_OK)
        status = gt_template_check(*out, path, err);
    if (status != GEMMTUNE_OK) {
        free(*out);
        *out = NULL;
    }
    return status == GEMMTUNE_ENOTFOUND ? GEMMTUNE_EIO : status;
}

/* Adds the family of folder/name when there is a space.json in it. */
static gt_status add_subfolder(struct gt_families *f, int *added, const char *folder,
                               const char *name, struct gt_err *err) {
    char subfolder[PATH_SIZE], path[PATH_SIZE];
    char *json = NULL;
    struct gt_family *family = NULL;
    gt_status status = join(subfolder, folder, name, err);
    if (status == GEMMTUNE_OK)
        status = join(path, subfolder, "space.json", err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_template_read(&json, path, err);
    if (status == GEMMTUNE_ENOTFOUND)
        return GEMMTUNE_OK; /* templates/common and stray files */
    if (status == GEMMTUNE_OK)
        status =
            gt_family_parse_with(&family, name, path, json, read_in_folder, subfolder, err);
    if (status == GEMMTUNE_OK)
        status = keep(f, family, err);
    *added += status == GEMMTUNE_OK;
    free(json);
    return status;
}

/* In byte order for every locale, so that the first complaint is always the same one. */
static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Adds the families of the entries. A bad family is the error. With a level it is a line of
 * the log instead, and left out; a folder of bad families alone is then the error. */
static gt_status add_entries(struct gt_families *f, const char *folder,
                             struct dirent *const *entry, int count,
                             const gemmtune_log_level *level, struct gt_err *err) {
    struct gt_err why = {""};
    gt_status status = GEMMTUNE_OK;
    int added = 0, bad = 0;
    for (int i = 0; i < count && status == GEMMTUNE_OK; i++) {
        const char *name = entry[i]->d_name;
        status = name[0] != '.' ? add_subfolder(f, &added, folder, name, &why) : status;
        if (status == GEMMTUNE_OK || status == GEMMTUNE_ENOMEM || level == NULL)
            continue;
        gt_log(*level, "%s; the family is left out", why.line);
        drop(f, name);
        status = GEMMTUNE_OK;
        bad++;
    }
    if (status != GEMMTUNE_OK)
        return gt_fail(err, status, "%s", why.line);
    if (added > 0)
        return GEMMTUNE_OK;
    return bad > 0 ? gt_fail(err, GEMMTUNE_EINVAL, "no family is sound in %s", folder)
                   : gt_fail(err, GEMMTUNE_EINVAL,
                             "%s: no family in it (FAMILY/space.json)", folder);
}

static gt_status add_folder(struct gt_families *f, const char *folder,
                            const gemmtune_log_level *level, struct gt_err *err) {
    struct dirent **entry = NULL;
    const int count = scandir(folder, &entry, NULL, by_name);
    if (count < 0)
        return gt_fail(err, GEMMTUNE_EIO, "%s: %s", folder, strerror(errno));
    const gt_status status = add_entries(f, folder, entry, count, level, err);
    for (int i = 0; i < count; i++)
        free(entry[i]);
    free(entry);
    return status;
}

gt_status gt_families_add_folder(struct gt_families *f, const char *folder,
                                 struct gt_err *err) {
    return add_folder(f, folder, NULL, err);
}

gt_status gt_families_add_sound(struct gt_families *f, const char *folder,
                                gemmtune_log_level level, struct gt_err *err) {
    return add_folder(f, folder, &level, err);
}
