/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/stream/npy.h"

#include "core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 6, HEADER_MAX = 64 * 1024, ALIGN = 64, NEW_HEADER = 128 };

static const char magic[] = "\x93NUMPY";

/* NumPy's words, for little-endian machines. */
static const struct {
    gemmtune_dtype type;
    const char *word;
} words[] = {{GEMMTUNE_F32, "<f4"},
             {GEMMTUNE_F64, "<f8"},
             {GEMMTUNE_F16, "<f2"},
             {GEMMTUNE_I32, "<i4"},
             {GEMMTUNE_I8, "|i1"}};

static const char *word_of(gemmtune_dtype type) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].type == type)
            return words[i].word;
    return NULL;
}

/* ---- the header ---------------------------------------------------------------------- */

struct header {
    char text[HEADER_MAX + 1]; /* a Python dictionary */
    size_t data;               /* where the elements begin */
};

static gt_status read_header(struct header *h, const unsigned char *file, size_t size,
                             const char *path, struct gt_err *err) {
    if (size < MAGIC + 4 || memcmp(file, magic, MAGIC) != 0)
        return gt_fail(err, GEMMTUNE_EPARSE, "%.300s is not a .npy file", path);
    const int version = file[MAGIC];
    const size_t begin = version == 1 ? MAGIC + 4 : MAGIC + 6;
    size_t length = file[MAGIC + 2] | (size_t)file[MAGIC + 3] << 8;
    if (version > 1 && size >= begin)
        length |= (size_t)file[MAGIC + 4] << 16 | (size_t)file[MAGIC + 5] << 24;
    if (version < 1 || version > 3 || length > HEADER_MAX || size < begin ||
        size - begin < length)
        return gt_fail(err, GEMMTUNE_EPARSE, "%.300s: its .npy header is damaged", path);
    memcpy(h->text, file + begin, length);
    h->text[length] = '\0';
    h->data = begin + length;
    return GEMMTUNE_OK;
}

/* The text behind 'key': in the dictionary; NULL when the key is not there. */
static const char *value_of(const struct header *h, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(h->text, quoted);
    if (at == NULL)
        return NULL;
    at += strlen(quoted);
    at += strspn(at, " ");
    return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

/* (rows, cols), and nothing else. */
static bool read_shape(struct gt_shape *out, const char *text) {
    int64_t side[2];
    if (*text++ != '(')
        return false;
    for (int i = 0; i < 2; i++) {
        text += strspn(text, " ");
        const size_t length = strspn(text, "0123456789");
        if (!gt_text_int(&side[i], text, length))
            return false;
        text += length + strspn(text + length, " ");
        if (i == 0 && *text++ != ',')
            return false;
    }
    text += *text == ',';
    text += strspn(text, " ");
    *out = (struct gt_shape){side[0], side[1]};
    return *text == ')';
}

static gt_status check_header(const struct header *h, const char *path, gemmtune_dtype type,
                              struct gt_shape want, struct gt_err *err) {
    const char *descr = value_of(h, "descr"), *order = value_of(h, "fortran_order"),
               *shape = value_of(h, "shape"), *word = word_of(type);
    struct gt_shape has = {0, 0};
    if (descr == NULL || order == NULL || shape == NULL)
        return gt_fail(err, GEMMTUNE_EPARSE, "%.300s: its .npy header is damaged", path);
    if (strncmp(order, "False", 5) != 0)
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "%.300s is in Fortran order: save it with numpy.ascontiguousarray, "
                       "or save its transpose and say t in the problem's layout",
                       path);
    if (*descr != '\'' || strncmp(descr + 1, word, strlen(word)) != 0 ||
        descr[1 + strlen(word)] != '\'')
        return gt_fail(err, GEMMTUNE_EINVAL, "%.300s holds %.*s, the problem wants '%s'",
                       path, (int)strcspn(descr, ",}"), descr, word);
    if (!read_shape(&has, shape))
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "%.300s holds an array of shape %.*s), not a matrix", path,
                       (int)strcspn(shape, ")}"), shape);
    if (has.rows != want.rows || has.cols != want.cols)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "%.300s is %" PRId64 " x %" PRId64 ", the problem wants %" PRId64
                       " x %" PRId64,
                       path, has.rows, has.cols, want.rows, want.cols);
    return GEMMTUNE_OK;
}

/* ---- files --------------------------------------------------------------------------- */

static size_t bytes_of(gemmtune_dtype type, struct gt_shape shape) {
    return (size_t)shape.rows * (size_t)shape.cols * gt_type_size(type);
}

static gt_status check_map(const struct gt_npy *npy, size_t *data, const char *path,
                           gemmtune_dtype type, struct gt_shape shape, struct gt_err *err) {
    struct header *h = malloc(sizeof *h);
    if (h == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    gt_status status = read_header(h, npy->map, npy->size, path, err);
    if (status == GEMMTUNE_OK)
        status = check_header(h, path, type, shape, err);
    if (status == GEMMTUNE_OK && npy->size - h->data < bytes_of(type, shape))
        status = gt_fail(err, GEMMTUNE_EPARSE,
                         "%.300s is too short: %zu bytes of elements where %zu belong",
                         path, npy->size - h->data, bytes_of(type, shape));
    *data = h->data;
    free(h);
    return status;
}

static gt_status map_file(struct gt_npy *out, int fd, const char *path, bool writes,
                          struct gt_err *err) {
    struct stat about;
    if (fstat(fd, &about) != 0)
        return gt_fail(err, GEMMTUNE_EIO, "%.300s: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return gt_fail(err, GEMMTUNE_EIO, "%.300s is not an ordinary file", path);
    if (about.st_size == 0)
        return gt_fail(err, GEMMTUNE_EPARSE, "%.300s is not a .npy file", path);
    out->size = (size_t)about.st_size;
    out->map = mmap(NULL, out->size, writes ? PROT_READ | PROT_WRITE : PROT_READ,
                    MAP_SHARED, fd, 0);
    if (out->map != MAP_FAILED)
        return GEMMTUNE_OK;
    out->map = NULL;
    return gt_fail(err, GEMMTUNE_EIO, "%.300s: %s", path, strerror(errno));
}

gt_status gt_npy_open(struct gt_npy *out, const char *path, gemmtune_dtype type,
                      struct gt_shape shape, bool writes, struct gt_err *err) {
    size_t data = 0;
    *out = (struct gt_npy){0};
    if (word_of(type) == NULL)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "a .npy file cannot hold %s",
                       gt_type_name(type));
    /* O_NONBLOCK: the opening of a pipe would wait for its other end */
    const int fd = open(path, (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return gt_fail(err, GEMMTUNE_EIO, "%.300s: %s", path, strerror(errno));
    gt_status status = map_file(out, fd, path, writes, err);
    (void)close(fd);
    if (status == GEMMTUNE_OK)
        status = check_map(out, &data, path, type, shape, err);
    if (status == GEMMTUNE_OK)
        out->data = (char *)out->map + data;
    else if (out->map != NULL)
        (void)munmap(out->map, out->size);
    if (status != GEMMTUNE_OK)
        *out = (struct gt_npy){0};
    return status;
}

/* Writes all bytes; returns 0 or an errno. On a full disk a write ends early without an
 * error, and the next write gives the reason. */
static int write_all(int fd, const char *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        const ssize_t wrote = write(fd, bytes + done, size - done);
        if (wrote < 0)
            return errno;
        done += (size_t)wrote;
    }
    return 0;
}

/* Writes a header of version 1.0 whose length makes the elements begin at a multiple of
 * ALIGN. */
static gt_status write_new(int fd, const char *path, gemmtune_dtype type,
                           struct gt_shape shape, struct gt_err *err) {
    char header[NEW_HEADER + 1];
    memcpy(header, magic, MAGIC);
    header[MAGIC] = 1;
    header[MAGIC + 1] = 0;
    header[MAGIC + 2] = NEW_HEADER - MAGIC - 4;
    header[MAGIC + 3] = 0;
    const int n = snprintf(header + MAGIC + 4, NEW_HEADER - MAGIC - 4,
                           "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRId64
                           ", %" PRId64 "), }",
                           word_of(type), shape.rows, shape.cols);
    memset(header + MAGIC + 4 + n, ' ', (size_t)(NEW_HEADER - MAGIC - 4 - n));
    header[NEW_HEADER - 1] = '\n';
    const off_t bytes = (off_t)(NEW_HEADER + bytes_of(type, shape));
    int error = write_all(fd, header, NEW_HEADER);
    if (error == 0) /* the room, so that a full disk shows now and not as a signal later */
        error = posix_fallocate(fd, 0, bytes);
    return error == 0 ? GEMMTUNE_OK
                      : gt_fail(err, GEMMTUNE_EIO, "%.300s: %s", path, strerror(error));
}

gt_status gt_npy_create(struct gt_npy *out, const char *path, gemmtune_dtype type,
                        struct gt_shape shape, struct gt_err *err) {
    *out = (struct gt_npy){0};
    if (access(path, F_OK) == 0)
        return gt_npy_open(out, path, type, shape, true, err);
    if (word_of(type) == NULL)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "a .npy file cannot hold %s",
                       gt_type_name(type));
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return gt_fail(err, GEMMTUNE_EIO, "%.300s: %s", path, strerror(errno));
    gt_status status = write_new(fd, path, type, shape, err);
    (void)close(fd);
    if (status == GEMMTUNE_OK)
        status = gt_npy_open(out, path, type, shape, true, err);
    if (status != GEMMTUNE_OK)
        (void)unlink(path);
    out->is_new = status == GEMMTUNE_OK;
    return status;
}

gt_status gt_npy_close(struct gt_npy *npy, const char *path, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    if (npy->map == NULL)
        return GEMMTUNE_OK;
    if (msync(npy->map, npy->size, MS_SYNC) != 0 && errno != EINVAL)
        status = gt_fail(err, GEMMTUNE_EIO, "%.300s: %s", path, strerror(errno));
    (void)munmap(npy->map, npy->size);
    *npy = (struct gt_npy){0};
    return status;
}
