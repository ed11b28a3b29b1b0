/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/stream/npy.h"

#include "core/io.h"
#include "tuner/stream/mapped.h"
#include "tuner/stream/npy_head.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static gt_status fail_io(const char *path, int error, struct gt_err *err) {
    return gt_fail(err, GEMMTUNE_EIO, "%.300s: %s", path, strerror(error));
}

static size_t bytes_of(gemmtune_dtype type, struct gt_shape shape) {
    return (size_t)shape.rows * (size_t)shape.cols * gt_type_size(type);
}

/* ---- mapping ------------------------------------------------------------------------- */

static gt_status map_file(struct gt_npy *out, int fd, const char *path, int protection,
                          struct gt_err *err) {
    struct stat about;
    if (fstat(fd, &about) != 0)
        return fail_io(path, errno, err);
    if (!S_ISREG(about.st_mode))
        return gt_fail(err, GEMMTUNE_EIO, "%.300s is not an ordinary file", path);
    if (about.st_size == 0)
        return gt_fail(err, GEMMTUNE_EPARSE, "%.300s is not a .npy file", path);
    out->size = (size_t)about.st_size;
    out->map = mmap(NULL, out->size, protection, MAP_SHARED, fd, 0);
    if (out->map != MAP_FAILED && gt_mapped_watch(out->map, out->size))
        return GEMMTUNE_OK;
    const int error = out->map != MAP_FAILED ? EMFILE : errno;
    if (out->map != MAP_FAILED)
        (void)munmap(out->map, out->size);
    out->map = NULL;
    return fail_io(path, error, err);
}

static gt_status map_to_read(struct gt_npy *out, const char *path, struct gt_err *err) {
    *out = (struct gt_npy){0};
    /* O_NONBLOCK: the opening of a pipe would wait for its other end */
    out->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (out->fd < 0)
        return fail_io(path, errno, err);
    const gt_status status = map_file(out, out->fd, path, PROT_READ, err);
    if (status != GEMMTUNE_OK)
        (void)close(out->fd);
    return status;
}

void gt_npy_close(struct gt_npy *npy) {
    if (npy->map != NULL) {
        gt_mapped_forget(npy->map);
        (void)munmap(npy->map, npy->size);
        if (npy->file.path[0] == '\0')
            (void)close(npy->fd);
    }
    gt_new_file_drop(&npy->file);
    *npy = (struct gt_npy){0};
}

/* The map covers the file as it was. After the new end of a file that was cut, the rest of
 * a page reads as zeros without a signal. */
gt_status gt_npy_check(const struct gt_npy *npy, const char *path, struct gt_err *err) {
    struct stat about;
    const bool is_new = npy->file.path[0] != '\0';
    if (npy->map == NULL)
        return GEMMTUNE_OK;
    if (fstat(is_new ? npy->file.fd : npy->fd, &about) == 0 &&
        (size_t)about.st_size < npy->size)
        return gt_fail(err, GEMMTUNE_EIO, "%.300s was cut short while it was in use", path);
    if (gt_mapped_lost(npy->map))
        return gt_fail(err, GEMMTUNE_EIO,
                       "%.300s could not be %s: it was changed, or its disk is full or has "
                       "failed",
                       path, is_new ? "written" : "read");
    return GEMMTUNE_OK;
}

/* ---- reading ------------------------------------------------------------------------- */

enum { DESCR_SHOWN = 150 };

/* The contents that a file must have. */
struct wanted {
    gemmtune_dtype type;
    struct gt_shape shape;
};

static gt_status check_order(const struct gt_npy_head *h, const char *path,
                             struct gt_err *err) {
    if (gt_npy_head_is_c(h))
        return GEMMTUNE_OK;
    return gt_fail(err, GEMMTUNE_EPARSE,
                   "%.300s is in Fortran order: save it with numpy.ascontiguousarray, or "
                   "save its transpose and say t in the problem's layout",
                   path);
}

/* `wish` ends the sentence. */
static gt_status refuse_type(const struct gt_npy_head *h, const char *path,
                             const char *wish, struct gt_err *err) {
    const bool whole = h->descr.len <= DESCR_SHOWN;
    return gt_fail(err, GEMMTUNE_EINVAL, "%.200s holds %.*s%s, %s", path,
                   whole ? h->descr.len : DESCR_SHOWN, h->descr.text, whole ? "" : "...",
                   wish);
}

static gt_status read_shape(struct gt_shape *out, const struct gt_npy_head *h,
                            const char *path, struct gt_err *err) {
    return gt_npy_head_shape(out, h)
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EINVAL,
                         "%.200s holds an array of shape %.*s, not a matrix", path,
                         h->shape.len <= DESCR_SHOWN ? h->shape.len : DESCR_SHOWN,
                         h->shape.text);
}

static gt_status check_head(const struct gt_npy_head *h, const char *path,
                            const struct wanted *want, struct gt_err *err) {
    char wish[64];
    gemmtune_dtype type;
    struct gt_shape has = {0, 0};
    gt_status status = check_order(h, path, err);
    (void)snprintf(wish, sizeof wish, "the problem wants '%s'", gt_npy_word(want->type));
    if (status == GEMMTUNE_OK && (!gt_npy_head_type(&type, h) || type != want->type))
        status = refuse_type(h, path, wish, err);
    if (status == GEMMTUNE_OK)
        status = read_shape(&has, h, path, err);
    if (status == GEMMTUNE_OK &&
        (has.rows != want->shape.rows || has.cols != want->shape.cols))
        status = gt_fail(err, GEMMTUNE_EINVAL,
                         "%.300s is %" PRId64 " x %" PRId64 ", the problem wants %" PRId64
                         " x %" PRId64,
                         path, has.rows, has.cols, want->shape.rows, want->shape.cols);
    return status;
}

static gt_status check_length(const struct gt_npy *npy, const char *path, size_t data,
                              const struct wanted *want, struct gt_err *err) {
    const size_t bytes = bytes_of(want->type, want->shape);
    return npy->size - data >= bytes
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EPARSE,
                         "%.300s is too short: %zu bytes of elements where %zu belong",
                         path, npy->size - data, bytes);
}

static gt_status read_head(struct gt_npy_head **out, const struct gt_npy *npy,
                           const char *path, struct gt_err *err) {
    *out = malloc(sizeof **out);
    return *out != NULL ? gt_npy_head_read(*out, npy->map, npy->size, path, err)
                        : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

gt_status gt_npy_look(gemmtune_dtype *type, struct gt_shape *shape, const char *path,
                      struct gt_err *err) {
    struct gt_npy npy;
    struct gt_npy_head *h = NULL;
    gt_status status = map_to_read(&npy, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = read_head(&h, &npy, path, err);
    if (status == GEMMTUNE_OK)
        status = check_order(h, path, err);
    if (status == GEMMTUNE_OK && !gt_npy_head_type(type, h))
        status = refuse_type(h, path, "a type that stream does not read", err);
    if (status == GEMMTUNE_OK)
        status = read_shape(shape, h, path, err);
    free(h);
    gt_npy_close(&npy);
    return status;
}

static gt_status check_word(gemmtune_dtype type, struct gt_err *err) {
    return gt_npy_word(type) != NULL
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EUNSUPPORTED, "a .npy file cannot hold %s",
                         gt_type_name(type));
}

gt_status gt_npy_open(struct gt_npy *out, const char *path, gemmtune_dtype type,
                      struct gt_shape shape, struct gt_err *err) {
    const struct wanted want = {type, shape};
    struct gt_npy_head *h = NULL;
    *out = (struct gt_npy){0};
    gt_status status = check_word(type, err);
    if (status == GEMMTUNE_OK)
        status = map_to_read(out, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = read_head(&h, out, path, err);
    if (status == GEMMTUNE_OK)
        status = check_head(h, path, &want, err);
    if (status == GEMMTUNE_OK)
        status = check_length(out, path, h->data, &want, err);
    if (status == GEMMTUNE_OK)
        out->data = (char *)out->map + h->data;
    else
        gt_npy_close(out);
    free(h);
    return status;
}

/* ---- making -------------------------------------------------------------------------- */

/* Returns 0 or an errno. */
static int put(int fd, const void *bytes, size_t size) {
    return gt_write_all(fd, bytes, size) ? 0 : errno;
}

/* Takes the room on the disk, so that a full one shows now. */
static int take_room(int fd, off_t bytes) {
    int error;
    do
        error = posix_fallocate(fd, 0, bytes);
    while (error == EINTR);
    return error;
}

/* Writes the header and the elements of `old`, or as many zeros when there is none. */
static gt_status fill(struct gt_npy *out, const struct gt_npy *old, const char *path,
                      const struct wanted *want, struct gt_err *err) {
    char header[GT_NPY_NEW_HEAD];
    const size_t bytes = bytes_of(want->type, want->shape);
    struct gt_err unread;
    gt_npy_head_write(header, want->type, want->shape);
    int error = put(out->file.fd, header, sizeof header);
    if (error == 0)
        error = take_room(out->file.fd, (off_t)(sizeof header + bytes));
    if (error == 0 && old != NULL)
        error = put(out->file.fd, old->data, bytes);
    if (old != NULL && gt_npy_check(old, path, &unread) != GEMMTUNE_OK)
        return gt_npy_check(old, path, err);
    return error == 0 ? GEMMTUNE_OK : fail_io(path, error, err);
}

static gt_status make(struct gt_npy *out, const struct gt_npy *old, const char *path,
                      const struct wanted *want, struct gt_err *err) {
    gt_status status = gt_new_file_begin(&out->file, path, err);
    if (status == GEMMTUNE_OK)
        status = fill(out, old, path, want, err);
    if (status == GEMMTUNE_OK)
        status = map_file(out, out->file.fd, path, PROT_READ | PROT_WRITE, err);
    if (status == GEMMTUNE_OK)
        out->data = (char *)out->map + GT_NPY_NEW_HEAD;
    else
        gt_npy_close(out);
    return status;
}

gt_status gt_npy_create(struct gt_npy *out, const char *path, gemmtune_dtype type,
                        struct gt_shape shape, bool reads, struct gt_err *err) {
    const struct wanted want = {type, shape};
    struct gt_npy old = {0};
    *out = (struct gt_npy){0};
    gt_status status = check_word(type, err);
    if (status == GEMMTUNE_OK && (reads || access(path, F_OK) == 0))
        status = gt_npy_open(&old, path, type, shape, err);
    if (status == GEMMTUNE_OK)
        status = make(out, reads ? &old : NULL, path, &want, err);
    gt_npy_close(&old);
    return status;
}

gt_status gt_npy_keep(struct gt_npy *npy, const char *path, struct gt_err *err) {
    const gt_status status = gt_npy_check(npy, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (msync(npy->map, npy->size, MS_SYNC) != 0)
        return fail_io(path, errno, err);
    return gt_new_file_keep(&npy->file, err);
}
