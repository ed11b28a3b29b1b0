/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/drivers/driver_util.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* dlerror's message, or a substitute. */
static const char *open_error(void) {
    const char *text = dlerror();
    return text ? text : "cannot be opened";
}

/* Whether dlerror's message about a name says that no such file is there. About a file that
 * is there it begins with the path, or with the name of another library that it needs. */
static bool says_missing(const char *said, const char *name) {
    const size_t length = strlen(name);
    return strncmp(said, name, length) == 0 && said[length] == ':' &&
           (!strchr(name, '/') || access(name, F_OK) != 0);
}

static const char absent[] = "is not installed";

static bool is_absent(const char *clause) {
    return strncmp(clause, absent, sizeof absent - 1) == 0;
}

void gt_library_keep(char kept[GT_LIBRARY_TEXT_MAX], const char *clause) {
    if (!kept[0] || (is_absent(kept) && !is_absent(clause)))
        snprintf(kept, GT_LIBRARY_TEXT_MAX, "%s", clause);
}

/* Notes why a name did not open just now. */
static void note_failure(char text[GT_LIBRARY_TEXT_MAX], const char *from,
                         const char *name) {
    char clause[GT_LIBRARY_TEXT_MAX];
    const char *said = open_error();
    snprintf(clause, sizeof clause, "%s (%s%s)",
             says_missing(said, name) ? absent : "cannot be loaded", from, said);
    gt_library_keep(text, clause);
}

void *gt_library_open(const char *override, const char *const *names,
                      char text[GT_LIBRARY_TEXT_MAX]) {
    const char *path = getenv(override);
    const bool chosen = path && *path;
    const char *const one[] = {path, NULL};
    char from[64] = "";
    text[0] = '\0';
    if (chosen)
        snprintf(from, sizeof from, "$%s: ", override);
    for (names = chosen ? one : names; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (library) {
            snprintf(text, GT_LIBRARY_TEXT_MAX, "%s", *names);
            return library;
        }
        note_failure(text, from, *names);
    }
    return NULL;
}

const char *gt_library_fill(void *table, void *library, const struct gt_symbol *symbols,
                            size_t count) {
    const char *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (!symbol && symbols[i].needed && !missing)
            missing = symbols[i].name;
        /* POSIX lets a dlsym result be a function. C has no cast for that, so the bytes are
         * copied. */
        memcpy((char *)table + symbols[i].offset, &symbol, sizeof symbol);
    }
    return missing;
}

void gt_tidy(char *out, size_t size, const char *text) {
    size_t n = 0;
    bool gap = false;
    for (; *text && n + 1 < size; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c <= ' ' || c == 0x7f) {
            gap = n > 0;
            continue;
        }
        if (gap && n + 2 < size)
            out[n++] = ' ';
        gap = false;
        out[n++] = (char)c;
    }
    if (size)
        out[n] = '\0';
}

/* Whether [line, end) contains the word "error" in any case. */
static bool complains(const char *line, const char *end) {
    static const char word[] = "error";
    for (; end - line >= (ptrdiff_t)(sizeof word - 1); line++)
        if (strncasecmp(line, word, sizeof word - 1) == 0)
            return true;
    return false;
}

static bool blank(const char *line, const char *end) {
    while (line < end && isspace((unsigned char)*line))
        line++;
    return line == end;
}

void gt_first_complaint(char *out, size_t size, const char *log) {
    const char *found = NULL, *found_end = NULL;
    for (const char *line = log; line && *line;) {
        const char *end = line + strcspn(line, "\n");
        if (complains(line, end)) {
            found = line;
            found_end = end;
            break;
        }
        if (!found && !blank(line, end)) {
            found = line;
            found_end = end;
        }
        line = *end ? end + 1 : end;
    }
    char cut[512];
    const size_t length = found ? (size_t)(found_end - found) : 0;
    snprintf(cut, sizeof cut, "%.*s", (int)(length < sizeof cut ? length : sizeof cut - 1),
             found ? found : "");
    gt_tidy(out, size, cut);
}

void gt_image_init(struct gt_image *image) {
    *image = (struct gt_image){.registers = -1, .spill_bytes = -1, .smem_bytes = -1};
    image->log = calloc(1, 1);
}

gt_status gt_image_log(struct gt_image *image, const char *text, size_t length,
                       struct gt_err *err) {
    char *copy = malloc(length + 1);
    if (!copy)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a build log");
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    free(image->log);
    image->log = copy;
    return GEMMTUNE_OK;
}
