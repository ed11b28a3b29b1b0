/* SPDX-License-Identifier: Apache-2.0 */
/* file_text.c - see file_text.h. */
#include "tuner/study/file_text.h"

#include "core/io.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { TEXT_MAX = 64 << 20 }; /* the limit of gt_json_parse */

struct text {
    char *byte;
    size_t size, room;
};

static bool grow(struct text *t) {
    const size_t room = t->room ? 2 * t->room : 1 << 16;
    char *byte = realloc(t->byte, room);
    if (!byte)
        return false;
    t->byte = byte;
    t->room = room;
    return true;
}

static bool ends_in(const char *path, const char *tail) {
    const size_t len = strlen(path), n = strlen(tail);
    return len >= n && strcmp(path + len - n, tail) == 0;
}

static gt_status read_all(struct text *t, gzFile file, const char *path,
                          struct gt_err *err) {
    int got = 1, code;
    errno = 0;
    while (got > 0 && t->size <= TEXT_MAX) {
        if (t->size == t->room && !grow(t))
            return gt_fail(err, GEMMTUNE_ENOMEM, "%s: out of memory", path);
        const size_t left = t->room - t->size;
        got = gzread(file, t->byte + t->size, (unsigned)(left < 1 << 30 ? left : 1 << 30));
        t->size += got > 0 ? (size_t)got : 0;
    }
    const char *why = gzerror(file, &code);
    const char *colon =
        strstr(why, ": "); /* the name that zlib gives the file ends there */
    if (code == Z_ERRNO)
        return gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
    if (got < 0 || code != Z_OK)
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "%s: its gzip data is cut short or damaged (%s)", path,
                       colon ? colon + 2 : why);
    if (ends_in(path, ".gz") && gzdirect(file))
        return gt_fail(err, GEMMTUNE_EPARSE, "%s: not a gzip file, despite its name", path);
    return GEMMTUNE_OK;
}

gt_status gt_file_text(char **text, size_t *size, const char *path, struct gt_err *err) {
    struct text t = {0};
    int fd;
    *text = NULL;
    gt_status status = gt_open_input(&fd, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    gzFile file = gzdopen(fd, "rb");
    if (!file) {
        (void)close(fd);
        return gt_fail(err, GEMMTUNE_ENOMEM, "%s: out of memory", path);
    }
    if (!grow(&t))
        status = gt_fail(err, GEMMTUNE_ENOMEM, "%s: out of memory", path);
    if (status == GEMMTUNE_OK)
        status = read_all(&t, file, path, err);
    (void)gzclose(file);
    *size = t.size;
    if (status == GEMMTUNE_OK)
        *text = t.byte;
    else
        free(t.byte);
    return status;
}

gt_status gt_file_json(struct gt_json **doc, const char *name, const char *text,
                       size_t size, struct gt_err *err) {
    static const char tail[] = "}}";
    while (size > 0 && strchr(" \t\r\n", text[size - 1]) && text[size - 1])
        size--;
    if (size == 0 || (text[size - 1] != ',' && text[size - 1] != '{'))
        return gt_json_parse_python(doc, name, text, size, err);
    const size_t kept = text[size - 1] == ',' ? size - 1 : size;
    char *closed = malloc(kept + sizeof tail);
    if (!closed)
        return gt_fail(err, GEMMTUNE_ENOMEM, "%s: out of memory", name);
    memcpy(closed, text, kept);
    memcpy(closed + kept, tail, sizeof tail);
    const gt_status status =
        gt_json_parse_python(doc, name, closed, kept + strlen(tail), err);
    free(closed);
    return status;
}
