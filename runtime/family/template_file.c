/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_file.c - see template_file.h.
 *
 * The check for directives does not parse the language, so strings and comments cannot hide
 * a directive from it. It looks at every "#", in all its spellings and anywhere, and
 * refuses the source when one of these words comes next.
 */
#include "runtime/family/template_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 }; /* bytes; ours are below 64 KiB */

/* ---- reading --------------------------------------------------------------------- */

static gt_status read_text(char **out, int fd, const char *path, struct gt_err *err) {
    size_t size = 0;
    ssize_t n = 0;
    char *text = malloc(FILE_MAX + 2);
    gt_status status = GEMMTUNE_OK;
    if (text == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    do {
        n = read(fd, text + size, FILE_MAX + 1 - size);
        size += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EINTR));
    if (n < 0)
        status = gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
    else if (size > FILE_MAX)
        status = gt_fail(err, GEMMTUNE_EPARSE, "%s: larger than %d bytes", path, FILE_MAX);
    else if (memchr(text, '\0', size) != NULL)
        status = gt_fail(err, GEMMTUNE_EPARSE, "%s: holds a NUL byte", path);
    if (status != GEMMTUNE_OK) {
        free(text);
        return status;
    }
    text[size] = '\0';
    char *fitted = realloc(text, size + 1);
    *out = fitted != NULL ? fitted : text;
    return GEMMTUNE_OK;
}

gt_status gt_template_read(char **out, const char *path, struct gt_err *err) {
    struct stat about;
    gt_status status = GEMMTUNE_OK;
    /* O_NONBLOCK: opening a pipe must not wait for a writer */
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    *out = NULL;
    if (fd < 0 && errno == ELOOP)
        return gt_fail(err, GEMMTUNE_EIO,
                       "%s: a link; the files of a family stand in its folder", path);
    if (fd < 0)
        return gt_fail(
            err, errno == ENOENT || errno == ENOTDIR ? GEMMTUNE_ENOTFOUND : GEMMTUNE_EIO,
            "%s: %s", path, strerror(errno));
    if (fstat(fd, &about) != 0)
        status = gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(about.st_mode))
        status = gt_fail(err, GEMMTUNE_EIO, "%s: not a regular file", path);
    else
        status = read_text(out, fd, path, err);
    (void)close(fd);
    return status;
}

/* ---- directives ------------------------------------------------------------------ */

/* Bytes of the line end at `at`; 0 when there is none. */
static size_t end_of_line(const char *at) {
    return at[0] == '\r' && at[1] == '\n' ? 2 : at[0] == '\n' || at[0] == '\r';
}

/* Bytes of the line continuation at `at`: a backslash or its trigraph, blanks, and the end
 * of the line. */
static size_t continuation(const char *at) {
    const size_t head = at[0] == '\\' ? 1
                        : strncmp(at,
                                  "?"
                                  "?/",
                                  3) == 0
                            ? 3
                            : 0;
    const size_t blanks = head > 0 ? strspn(at + head, " \t\v\f") : 0;
    const size_t end = head > 0 ? end_of_line(at + head + blanks) : 0;
    return end > 0 ? head + blanks + end : 0;
}

/* Joins lines that end in a continuation. */
static void join_lines(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        const size_t skipped = continuation(from);
        if (skipped == 0)
            *to++ = *from++;
        from += skipped;
    }
    *to = '\0';
}

/* Bytes of "#", in any of its spellings, at `at`. */
static size_t hash_sign(const char *at) {
    return at[0] == '#'                ? 1
           : strncmp(at, "%:", 2) == 0 ? 2
           : strncmp(at,
                     "?"
                     "?=",
                     3) == 0
               ? 3
               : 0;
}

/* The first place after blanks and comments. */
static const char *next_word(const char *at) {
    for (;;) {
        at += strspn(at, " \t\v\f");
        if (strncmp(at, "/*", 2) != 0)
            return at;
        const char *end = strstr(at + 2, "*/");
        if (end == NULL)
            return at;
        at = end + 2;
    }
}

static bool is_letter(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The word of the list that stands at `at`, else NULL. */
static const char *word_at(const char *at, const char *const *list) {
    for (; *list != NULL; list++)
        if (strncmp(at, *list, strlen(*list)) == 0 && !is_letter(at[strlen(*list)]))
            return *list;
    return NULL;
}

/* The word that would read another file; NULL: there is none. */
static const char *find_directive(const char *text) {
    static const char *const directives[] = {"include", "include_next",     "import",
                                             "embed",   "__include_macros", NULL};
    static const char *const questions[] = {"__has_include", "__has_include_next",
                                            "__has_embed", NULL};
    const char *found = NULL;
    for (const char *at = text; found == NULL && *at != '\0'; at++) {
        const size_t sign = hash_sign(at);
        if (sign > 0)
            found = word_at(next_word(at + sign), directives);
        else if (at == text || !is_letter(at[-1]))
            found = word_at(at, questions);
    }
    return found;
}

gt_status gt_template_check(const char *source, const char *path, struct gt_err *err) {
    char *text = strdup(source);
    if (text == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    join_lines(text);
    const char *found = find_directive(text);
    free(text);
    if (found == NULL)
        return GEMMTUNE_OK;
    return gt_fail(err, GEMMTUNE_EPARSE, "%s: \"%s\": a template includes nothing", path,
                   found);
}
