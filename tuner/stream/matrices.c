/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tuner/stream/matrices.h"

#include "core/element.h"
#include "core/mix.h"
#include "tuner/base/parallel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- random numbers
 * ---------------------------------------------------------------------- */

static uint64_t mix(uint64_t z) {
    return gt_mix(z + GT_MIX_STEP);
}

enum { PART = 64 * 1024 }; /* elements that a thread fills at a time */

struct filling {
    char *to;
    gemmtune_dtype type;
    int64_t count;
    uint64_t seed;
};

/* From -1 to 1, with all bits of the significand; integers as they come. */
static double value_of(gemmtune_dtype type, uint64_t random) {
    const int32_t whole = (int32_t)(random >> 32);
    return type == GEMMTUNE_I32  ? whole
           : type == GEMMTUNE_I8 ? whole >> 24
                                 : (double)(int64_t)random * 0x1p-63;
}

static void fill_parts(void *user, int thread, int64_t first, int64_t end) {
    enum { BLOCK = 64 }; /* elements that are written together */
    const struct filling *f = user;
    const size_t size = gt_type_size(f->type);
    const int64_t stop = end * PART < f->count ? end * PART : f->count;
    double value[BLOCK];
    (void)thread;
    for (int64_t i = first * PART; i < stop; i += BLOCK) {
        const int64_t count = stop - i < BLOCK ? stop - i : BLOCK;
        for (int64_t b = 0; b < count; b++)
            value[b] = value_of(f->type, mix(f->seed ^ (uint64_t)(i + b)));
        gt_elements_put(f->to + (size_t)i * size, f->type, value, count);
    }
}

static void fill(void *to, gemmtune_dtype type, int64_t count, uint64_t seed) {
    struct filling f = {to, type, count, mix(seed)};
    gt_parallel(fill_parts, &f, (count + PART - 1) / PART);
}

/* ---- room ---------------------------------------------------------------------------- */

/* A number at the beginning of a file, or after `key` in it; -1 when there is none. */
static double number_in(const char *path, const char *key) {
    char line[256];
    double number = -1;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -1;
    while (number < 0 && fgets(line, sizeof line, file) != NULL) {
        char *end = line;
        const size_t length = strlen(key);
        if (strncmp(line, key, length) != 0)
            continue;
        const double found = strtod(line + length, &end);
        number = end > line + length ? found : -1;
    }
    (void)fclose(file);
    return number;
}

/* Bytes that may still be taken, by the system's count and by the process group's limit. */
static double room(void) {
    const double free_kib = number_in("/proc/meminfo", "MemAvailable:");
    const double limit = number_in("/sys/fs/cgroup/memory.max", "");
    const double used = number_in("/sys/fs/cgroup/memory.current", "");
    const double inactive = number_in("/sys/fs/cgroup/memory.stat", "inactive_file ");
    double bytes = free_kib > 0 ? free_kib * 1024 : 1e18;
    if (limit > 0 && used >= 0) {
        const double left = limit - used + (inactive > 0 ? inactive : 0);
        bytes = left < bytes ? left : bytes;
    }
    return bytes;
}

static gt_status check_room(const struct gt_matrices *m, struct gt_err *err) {
    double wanted = 0;
    for (int i = 0; i < 3; i++)
        wanted += m->path[i] == NULL ? (double)m->bytes[i] : 0;
    const double left = room();
    return wanted <= left
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_ENOMEM,
                         "the matrices take %.1f GB of host memory, and %.1f GB are free",
                         wanted * 1e-9, left * 1e-9);
}

static gt_status allocate(void **out, const struct gt_matrices *m, size_t bytes,
                          struct gt_err *err) {
    if (m->link != NULL)
        return m->link->ops->host_alloc(out, m->link, (int64_t)bytes, err);
    /* cppcheck-suppress invalidFunctionArg ; anonymous memory has no descriptor */
    *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*out != MAP_FAILED)
        return GEMMTUNE_OK;
    *out = NULL;
    return gt_fail(err, GEMMTUNE_ENOMEM, "%zu bytes of host memory: %s", bytes,
                   strerror(errno));
}

/* ---- open and close ------------------------------------------------------------------ */

static gemmtune_dtype type_of(const gemmtune_problem *p, int i) {
    const gemmtune_dtype type[3] = {p->type_a, p->type_b, p->type_c};
    return type[i];
}

static gt_status open_one(struct gt_matrices *m, int i, const gemmtune_problem *p,
                          struct gt_shape shape, uint64_t seed, struct gt_err *err) {
    const gemmtune_dtype type = type_of(p, i);
    gt_status status;
    if (m->path[i] == NULL) {
        status = allocate(&m->data[i], m, m->bytes[i], err);
        if (status == GEMMTUNE_OK)
            fill(m->data[i], type, (int64_t)(m->bytes[i] / gt_type_size(type)),
                 seed + (uint64_t)i);
        return status;
    }
    status = i == 2 ? gt_npy_create(&m->npy[i], m->path[i], type, shape, p->reads_c, err)
                    : gt_npy_open(&m->npy[i], m->path[i], type, shape, err);
    m->data[i] = m->npy[i].data;
    return status;
}

/* Two names of one file are two mappings of the same elements. */
static bool are_same_file(const char *x, const char *y) {
    struct stat one, other;
    return x != NULL && y != NULL && stat(x, &one) == 0 && stat(y, &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static gt_status check_paths(const char *const path[3], struct gt_err *err) {
    for (int i = 0; i < 2; i++)
        if (are_same_file(path[i], path[2]))
            return gt_fail(err, GEMMTUNE_EINVAL,
                           "C overlaps an input: %.200s and %.200s are the same file",
                           path[2], path[i]);
    return GEMMTUNE_OK;
}

gt_status gt_matrices_open(struct gt_matrices *out, const gemmtune_problem *p,
                           struct gt_link *pinned, const char *const path[3], uint64_t seed,
                           struct gt_err *err) {
    const struct gt_shape shape[3] = {gt_problem_shape_a(p), gt_problem_shape_b(p),
                                      gt_problem_shape_c(p)};
    const int64_t elements[3] = {gt_problem_elems_a(p), gt_problem_elems_b(p),
                                 gt_problem_elems_c(p)};
    *out = (struct gt_matrices){.link = pinned};
    for (int i = 0; i < 3; i++) {
        out->path[i] = path[i];
        out->bytes[i] = (size_t)elements[i] * gt_type_size(type_of(p, i));
    }
    gt_status status = check_paths(path, err);
    if (status == GEMMTUNE_OK)
        status = check_room(out, err);
    for (int i = 0; status == GEMMTUNE_OK && i < 3; i++)
        status = open_one(out, i, p, shape[i], seed, err);
    return status;
}

gt_status gt_matrices_check(const struct gt_matrices *m, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < 3; i++)
        status = gt_npy_check(&m->npy[i], m->path[i], err);
    return status;
}

gt_status gt_matrices_keep_c(struct gt_matrices *m, struct gt_err *err) {
    const gt_status status = gt_matrices_check(m, err);
    return status == GEMMTUNE_OK && m->path[2] != NULL
               ? gt_npy_keep(&m->npy[2], m->path[2], err)
               : status;
}

void gt_matrices_close(struct gt_matrices *m) {
    for (int i = 0; i < 3; i++) {
        if (m->path[i] != NULL)
            gt_npy_close(&m->npy[i]);
        else if (m->data[i] != NULL && m->link != NULL)
            m->link->ops->host_release(m->link, m->data[i]);
        else if (m->data[i] != NULL)
            (void)munmap(m->data[i], m->bytes[i]);
        m->data[i] = NULL;
    }
}
