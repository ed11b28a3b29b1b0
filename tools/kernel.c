/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - see kernel.h. */
#include "tools/kernel.h"

#include "runtime/drivers/build.h"
#include "runtime/drivers/driver_util.h"
#include "runtime/drivers/nvrtc.h"
#include "runtime/family/family_inside.h"
#include "tools/read_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NVRTC gave 16 of 207 sources several codes, and each of these within 8 compilations. */
enum { TRIES = 8, PATH_MAX_BYTES = 4096 };

/* ---- texts -------------------------------------------------------------------------- */

/* Whether the text asks where it stands: then lines and files count. */
static bool knows_its_place(const char *text) {
    static const char *const names[] = {"__LINE__", "__FILE__", "__COUNTER__"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(text, names[i]) != NULL)
            return true;
    return false;
}

/* A family's rule, as the preprocessor leaves it, makes no code. A record's point keeps to
 * all rules, or it could not be bound. */
static bool is_rule(const char *line, size_t len) {
    static const char begin[] = "static_assert(", tag[] = ", \"gt_rule_";
    if (strncmp(line, begin, sizeof begin - 1) != 0)
        return false;
    const char *at = strstr(line, tag);
    return at != NULL && at < line + len;
}

/* Takes out lines of rules and lines that begin with #line, then comments and blanks. */
static void reduce(char *text) {
    char *to = text;
    for (const char *line = text; *line != '\0';) {
        const char *end = strchr(line, '\n');
        const size_t len = end != NULL ? (size_t)(end + 1 - line) : strlen(line);
        if (strncmp(line, "#line", 5) != 0 && !is_rule(line, len)) {
            memmove(to, line, len);
            to += len;
        }
        line += len;
    }
    *to = '\0';
    gt_code_canonical(text);
}

static bool is_same_text(const char *a, const char *b) {
    char *x = strdup(a), *y = strdup(b);
    bool same = false;
    if (x != NULL && y != NULL) {
        reduce(x);
        reduce(y);
        same = strcmp(x, y) == 0;
    }
    free(x);
    free(y);
    return same;
}

/* ---- after the preprocessor --------------------------------------------------------- */

static bool is_word(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

/* Names of compilers, which begin with two underscores, that are known to be defined, or
 * not to be, where NVRTC compiles. */
static bool is_known(const char *name, size_t len) {
    static const char *const known[] = {"__CUDA_ARCH__",        "__CUDACC__",
                                        "__CUDACC_RTC__",       "__OPENCL_VERSION__",
                                        "__OPENCL_C_VERSION__", "__clang__"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == len && strncmp(name, known[i], len) == 0)
            return true;
    return false;
}

/* Whether conditions, which end with their line, ask for known names only. */
static bool line_is_known(const char *line) {
    while (*line != '\0' && *line != '\n') {
        size_t len = 0;
        while (is_word(line[len]))
            len++;
        if (len > 2 && line[0] == '_' && line[1] == '_' && !is_known(line, len))
            return false;
        line += len > 0 ? len : *line == '\\' && line[1] == '\n' ? 2 : 1;
    }
    return true;
}

/* Whether the host's preprocessor decides every condition as NVRTC's does. */
static bool is_decidable(const char *text) {
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += strspn(line, " \t\n");
        if (*line != '#')
            continue;
        const char *word = line + 1 + strspn(line + 1, " \t");
        const bool asks = strncmp(word, "if", 2) == 0 || strncmp(word, "elif", 4) == 0;
        if (asks && !line_is_known(word))
            return false;
    }
    return true;
}

/* The macros are NVRTC's; -undef takes away the host's. As C, since a machine may have no
 * compiler of C++. */
static char *run_preprocessor(const char *path, int cc) {
    char command[PATH_MAX_BYTES + 256];
    (void)snprintf(command, sizeof command,
                   "${CC:-cc} -E -P -w -undef -nostdinc -x c -std=c17 -U__clang__ "
                   "-D__cplusplus=201703L "
                   "-D__CUDACC__=1 -D__CUDACC_RTC__=1 -D__CUDA_ARCH__=%d0 '%s' 2>&-",
                   cc, path);
    FILE *in = popen(command, "r");
    if (in == NULL)
        return NULL;
    char *text = gt_read_stream(in);
    const int status = pclose(in);
    if (status == 0 && text != NULL && text[0] != '\0')
        return text;
    free(text);
    return NULL;
}

static bool write_text(int fd, const char *text) {
    FILE *out = fdopen(fd, "w");
    if (out == NULL) {
        (void)close(fd);
        return false;
    }
    const bool written = fputs(text, out) >= 0;
    return fclose(out) == 0 && written;
}

char *gt_kernel_preprocess(const struct gt_device *d, const char *text) {
    char path[PATH_MAX_BYTES];
    const char *folder = getenv("TMPDIR");
    char *result = NULL;
    if (d->backend != GEMMTUNE_CUDA || !is_decidable(text))
        return NULL;
    const int len = snprintf(path, sizeof path, "%s/gemmtune-XXXXXX",
                             folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    const int fd = len < (int)sizeof path ? mkstemp(path) : -1;
    if (fd < 0)
        return NULL;
    if (write_text(fd, text))
        result = run_preprocessor(path, d->cc);
    (void)unlink(path);
    return result;
}

static bool is_same_behind(const struct gt_device *d, const char *a, const char *b) {
    char *x = gt_kernel_preprocess(d, a);
    char *y = x != NULL ? gt_kernel_preprocess(d, b) : NULL;
    const bool same = y != NULL && is_same_text(x, y);
    free(x);
    free(y);
    return same;
}

/* ---- machine code ------------------------------------------------------------------- */

struct codes {
    const char *which; /* "old", "new" */
    const char *text;
    int count;
    struct gt_image image[TRIES];
};

/* The first code of a text may be one that an earlier run has kept; others are fresh. */
static gt_status compile(struct gt_image *image, const struct codes *c,
                         const struct gt_device *d, struct gt_err *err) {
    struct gt_nvrtc_choice choice;
    if (c->count == 0)
        return gt_build(image, &gt_driver_cuda, d, c->text, NULL, err);
    gt_image_init(image);
    const gt_status status = gt_nvrtc_choose(&choice, d->cc, err);
    return status == GEMMTUNE_OK ? gt_nvrtc_build(image, &choice, c->text, err) : status;
}

/* Adds the code of one more compilation. False: there is none, and `why` says it. */
static bool add_code(struct codes *c, const struct gt_device *d,
                     char why[GT_KERNEL_WHY_MAX]) {
    struct gt_err err = {""};
    const gt_status status = compile(&c->image[c->count], c, d, &err);
    c->count++;
    if (status != GEMMTUNE_OK)
        (void)snprintf(why, GT_KERNEL_WHY_MAX, "the %s text has no machine code: %.400s",
                       c->which, err.line);
    return status == GEMMTUNE_OK;
}

/* Whether the newest code of `a` is one of `b`. */
static bool newest_is_in(const struct codes *a, const struct codes *b,
                         char why[GT_KERNEL_WHY_MAX]) {
    for (int i = 0; i < b->count; i++)
        if (gt_cubin_same(&a->image[a->count - 1], &b->image[i], why))
            return true;
    return false;
}

static bool is_same_code(const struct gt_device *d, struct codes *a, struct codes *b,
                         char why[GT_KERNEL_WHY_MAX]) {
    for (int i = 0; i < TRIES; i++) {
        if (!add_code(a, d, why) || !add_code(b, d, why))
            return false;
        if (newest_is_in(a, b, why) || newest_is_in(b, a, why))
            return true;
    }
    return false;
}

enum gt_same gt_kernel_compare(const struct gt_device *d, const char *old_text,
                               const char *new_text, char why[GT_KERNEL_WHY_MAX]) {
    struct codes a = {.which = "old", .text = old_text};
    struct codes b = {.which = "new", .text = new_text};
    const bool placed = knows_its_place(old_text) || knows_its_place(new_text);
    bool same = false;
    why[0] = '\0';
    if (!placed && is_same_text(old_text, new_text))
        return GT_SAME_TEXT;
    if (!placed && is_same_behind(d, old_text, new_text))
        return GT_SAME_TOKENS;
    if (d->backend == GEMMTUNE_CUDA)
        same = is_same_code(d, &a, &b, why);
    else
        (void)snprintf(why, GT_KERNEL_WHY_MAX,
                       "the texts differ, and only CUDA's are compiled without a device");
    for (int i = 0; i < TRIES; i++) {
        gt_image_clear(&a.image[i]);
        gt_image_clear(&b.image[i]);
    }
    if (same)
        why[0] = '\0';
    return same ? GT_SAME_CODE : GT_SAME_NOT;
}
