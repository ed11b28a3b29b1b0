/* SPDX-License-Identifier: Apache-2.0 */
/* lock_read.c - a lock out of its file: see lock.h. */
#include "runtime/lookup/lock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_there(struct gt_node object, const char *key) {
    return gt_json_kind(gt_json_member(object, key)) != GT_JSON_ABSENT;
}

/* A text that may be missing; *out is then `otherwise`. */
static gt_status read_text(const char **out, struct gt_node object, const char *key,
                           const char *otherwise, struct gt_err *err) {
    *out = otherwise;
    return is_there(object, key) ? gt_json_need_string(out, object, key, err) : GEMMTUNE_OK;
}

static gt_status read_digest(const char **out, struct gt_node object, const char *key,
                             struct gt_err *err) {
    const gt_status status = gt_json_need_string(out, object, key, err);
    if (status == GEMMTUNE_OK && (strlen(*out) != GT_DIGEST_SIZE - 1 ||
                                  strspn(*out, "0123456789abcdef") != GT_DIGEST_SIZE - 1))
        return gt_json_fail(gt_json_member(object, key), err,
                            "must be the 64 hexadecimal digits of a SHA-256");
    return status;
}

/* ---- a kernel ------------------------------------------------------------------------ */

static gt_status read_template(struct gt_pin_kernel *out, struct gt_node kernel,
                               struct gt_node templates, struct gt_err *err) {
    gt_status status = gt_json_need_string(&out->family, kernel, "family", err);
    if (status == GEMMTUNE_OK && !is_there(templates, out->family))
        return gt_json_fail(gt_json_member(kernel, "family"), err,
                            "\"%.40s\" is not in \"templates\"", out->family);
    if (status == GEMMTUNE_OK)
        status = read_digest(&out->hash, templates, out->family, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_string(&out->point, kernel, "point", err);
    if (status == GEMMTUNE_OK && !gt_point_is_canonical(out->point))
        return gt_json_fail(gt_json_member(kernel, "point"), err,
                            "must be names and values, \"BM=128 BN=64\"");
    return status;
}

static gt_status read_kernel(struct gt_pin_kernel *out, struct gt_node n,
                             struct gt_node templates, struct gt_err *err) {
    static const char *const keys[] = {"family", "point",     "source",
                                       "image",  "workspace", NULL};
    gt_status status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = read_template(out, n, templates, err);
    if (status == GEMMTUNE_OK)
        status = read_digest(&out->pinned.source, n, "source", err);
    if (status == GEMMTUNE_OK)
        status = read_digest(&out->pinned.image, n, "image", err);
    if (status == GEMMTUNE_OK)
        status =
            gt_json_need_int(&out->workspace, n, "workspace", 0, INT64_C(1) << 52, err);
    return status;
}

/* ---- a pin --------------------------------------------------------------------------- */

static gt_status read_problem(const char **out, struct gt_node n, struct gt_err *err) {
    char name[GT_PROBLEM_NAME_MAX];
    struct gt_err why = {""};
    gemmtune_problem p;
    gt_status status = gt_json_need_string(out, n, "problem", err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_node at = gt_json_member(n, "problem");
    status = gt_problem_from_name(&p, *out, &why);
    if (status != GEMMTUNE_OK)
        return gt_json_fail_because(at, status, &why, err);
    (void)gt_problem_name(&p, name);
    return strcmp(name, *out) == 0
               ? GEMMTUNE_OK
               : gt_json_fail(at, err, "must be \"%.300s\", the name in full", name);
}

static gt_status read_match(gemmtune_match *out, struct gt_node n, struct gt_err *err) {
    const char *word;
    const gt_status status = gt_json_need_string(&word, n, "match", err);
    if (status != GEMMTUNE_OK)
        return status;
    for (int i = 0; i <= (int)GEMMTUNE_MATCH_DEFAULT; i++)
        if (strcmp(word, gt_match_word((gemmtune_match)i)) == 0) {
            *out = (gemmtune_match)i;
            return GEMMTUNE_OK;
        }
    return gt_json_fail(gt_json_member(n, "match"), err,
                        "must be exact, shape, arch or default");
}

static gt_status read_pin(struct gt_pin *out, struct gt_node n, struct gt_node templates,
                          struct gt_err *err) {
    static const char *const keys[] = {
        "problem", "match", "expected_loss", "signature", "kernel", "unaligned", NULL};
    struct gt_node kernel;
    gt_status status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = read_problem(&out->problem, n, err);
    if (status == GEMMTUNE_OK)
        status = read_match(&out->match, n, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_double(&out->expected_loss, n, "expected_loss", 0, 1e9, err);
    if (status == GEMMTUNE_OK)
        status = read_text(&out->signature, n, "signature", "", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&kernel, n, "kernel", err);
    if (status == GEMMTUNE_OK)
        status = read_kernel(&out->kernel[GT_PIN_WIDE], kernel, templates, err);
    if (status == GEMMTUNE_OK && is_there(n, "unaligned"))
        status = read_kernel(&out->kernel[GT_PIN_UNALIGNED], gt_json_member(n, "unaligned"),
                             templates, err);
    return status;
}

static int by_problem(const void *a, const void *b) {
    return strcmp(((const struct gt_pin *)a)->problem, ((const struct gt_pin *)b)->problem);
}

static gt_status read_pins(struct gt_lock *lock, struct gt_node root, struct gt_err *err) {
    struct gt_node pins, templates;
    gt_status status = gt_json_need(&pins, root, "pins", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&templates, root, "templates", err);
    if (status == GEMMTUNE_OK && gt_json_kind(pins) != GT_JSON_ARRAY)
        return gt_json_fail(pins, err, "must be a list");
    if (status != GEMMTUNE_OK)
        return status;
    lock->pin = calloc(gt_json_count(pins) + 1, sizeof *lock->pin);
    if (lock->pin == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; i < gt_json_count(pins) && status == GEMMTUNE_OK; i++)
        status = read_pin(&lock->pin[lock->count++], gt_json_at(pins, i), templates, err);
    if (status != GEMMTUNE_OK)
        return status;
    qsort(lock->pin, lock->count, sizeof *lock->pin, by_problem);
    for (size_t i = 1; i < lock->count; i++)
        if (by_problem(&lock->pin[i - 1], &lock->pin[i]) == 0)
            return gt_json_fail(pins, err, "%.300s is pinned twice", lock->pin[i].problem);
    return GEMMTUNE_OK;
}

/* ---- the file ------------------------------------------------------------------------ */

static gt_status read_device(struct gt_lock *lock, struct gt_node root,
                             struct gt_err *err) {
    static const char *const keys[] = {"key", "name", "arch", "driver", "compiler", NULL};
    struct gt_node n;
    gt_status status = gt_json_need(&n, root, "device", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_string(&lock->device_key, n, "key", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_string(&lock->device_name, n, "name", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_string(&lock->arch, n, "arch", err);
    if (status == GEMMTUNE_OK)
        status = read_text(&lock->driver, n, "driver", NULL, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_string(&lock->compiler, n, "compiler", err);
    return status;
}

static gt_status read_others(struct gt_lock *lock, struct gt_node root,
                             struct gt_err *err) {
    const char *word;
    const gt_status status = read_text(&word, root, "others", "refuse", err);
    if (status != GEMMTUNE_OK)
        return status;
    lock->others = strcmp(word, "lookup") == 0;
    return lock->others || strcmp(word, "refuse") == 0
               ? GEMMTUNE_OK
               : gt_json_fail(gt_json_member(root, "others"), err,
                              "must be refuse or lookup");
}

static gt_status read_images(struct gt_lock *lock, struct gt_node root, const char *path,
                             struct gt_err *err) {
    bool kept = false;
    const gt_status status = is_there(root, "images")
                                 ? gt_json_bool(&kept, gt_json_member(root, "images"), err)
                                 : GEMMTUNE_OK;
    if (status != GEMMTUNE_OK || !kept)
        return status;
    const size_t size = strlen(path) + sizeof GT_LOCK_FOLDER;
    lock->folder = malloc(size);
    if (lock->folder == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    (void)snprintf(lock->folder, size, "%s" GT_LOCK_FOLDER, path);
    return GEMMTUNE_OK;
}

/* The members that all kernels share. */
static void hand_down(struct gt_lock *lock) {
    for (size_t i = 0; i < lock->count; i++)
        for (int k = 0; k < GT_PIN_KERNELS; k++) {
            lock->pin[i].kernel[k].pinned.compiler = lock->compiler;
            lock->pin[i].kernel[k].pinned.folder = lock->folder;
        }
}

static gt_status read_all(struct gt_lock *lock, const char *path, struct gt_err *err) {
    static const char *const keys[] = {"format", "gemmtune",  "device", "others",
                                       "images", "templates", "pins",   NULL};
    const struct gt_node root = gt_json_root(lock->doc);
    int64_t format;
    gt_status status = gt_json_only(root, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&format, root, "format", 1, 1, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_string(&lock->version, root, "gemmtune", err);
    if (status == GEMMTUNE_OK)
        status = read_device(lock, root, err);
    if (status == GEMMTUNE_OK)
        status = read_others(lock, root, err);
    if (status == GEMMTUNE_OK)
        status = read_images(lock, root, path, err);
    if (status == GEMMTUNE_OK)
        status = read_pins(lock, root, err);
    if (status == GEMMTUNE_OK)
        hand_down(lock);
    return status;
}

gt_status gt_lock_take(struct gt_lock **out, struct gt_json *doc, const char *path,
                       struct gt_err *err) {
    *out = NULL;
    struct gt_lock *lock = calloc(1, sizeof *lock);
    if (lock == NULL) {
        gt_json_destroy(doc);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    lock->doc = doc;
    lock->path = gt_json_file(doc);
    const gt_status status = read_all(lock, path, err);
    if (status == GEMMTUNE_OK)
        *out = lock;
    else
        gt_lock_destroy(lock);
    return status;
}

gt_status gt_lock_load(struct gt_lock **out, const char *path, struct gt_err *err) {
    struct gt_json *doc = NULL;
    *out = NULL;
    const gt_status status = gt_json_load(&doc, path, err);
    return status == GEMMTUNE_OK ? gt_lock_take(out, doc, path, err) : status;
}

void gt_lock_destroy(struct gt_lock *lock) {
    if (lock == NULL)
        return;
    gt_json_destroy(lock->doc);
    free(lock->folder);
    free(lock->pin);
    free(lock);
}
