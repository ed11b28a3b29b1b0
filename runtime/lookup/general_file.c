/* SPDX-License-Identifier: Apache-2.0 */
/*
 * general_file.c - the list of general kernels as text, and the file that keeps it:
 * <hash of the device's key>.general in the folder of the image cache, a digest and the
 * text. A line is "<types> <layout> single|batch <family> <point>".
 */
#include "runtime/lookup/general.h"

#include "core/backend.h"
#include "core/hash.h"
#include "core/io.h"
#include "runtime/drivers/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEX = GT_CACHE_KEY_SIZE - 1,
    LINE_MAX_BYTES = GT_TYPES_WORD_MAX + 3 * GT_NAME_MAX + GT_POINT_TEXT_MAX,
    FILE_MAX_BYTES = 4 << 20
};

/* ---- text ------------------------------------------------------------------------ */

static const char *const counts[] = {"single", "batch"};

/* The list as text. The caller frees it; NULL: out of memory. */
static char *text_of(const struct gt_generals *g) {
    char *text = malloc(g->count * LINE_MAX_BYTES + 1), *to = text;
    if (text == NULL)
        return NULL;
    *to = '\0';
    for (size_t i = 0; i < g->count; i++) {
        const struct gt_general *k = &g->item[i];
        char point_text[GT_POINT_TEXT_MAX];
        struct gt_point point;
        gt_point_of_values(&point, k->family, k->values);
        (void)gt_point_text(&point, point_text);
        to += snprintf(to, LINE_MAX_BYTES, "%s %s %s %s %s\n", k->kind.types->name,
                       k->kind.layout, counts[k->kind.batch], k->family->name, point_text);
    }
    return text;
}

/* Cuts the next word off a line, which then begins after it. */
static char *cut_word(char **line) {
    char *word = *line;
    *line += strcspn(*line, " ");
    if (**line != '\0')
        *(*line)++ = '\0';
    return word;
}

static const char *layout_of(const char *word) {
    for (int i = 0; i < GT_LAYOUTS; i++)
        if (strcmp(gt_layout_words[i], word) == 0)
            return gt_layout_words[i];
    return NULL;
}

/* Reads a line, which is changed. False when it is not sound. */
static bool parse_line(struct gt_general *out, const struct gt_families *families,
                       char *line) {
    const char *types = cut_word(&line), *layout = cut_word(&line),
               *count = cut_word(&line), *family = cut_word(&line);
    memset(out, 0, sizeof *out);
    out->kind.types = gt_dtype_by_name(types, strlen(types));
    out->kind.layout = layout_of(layout);
    out->kind.batch = strcmp(count, counts[1]) == 0;
    out->family = gt_families_find(families, family);
    return out->kind.types != NULL && out->kind.layout != NULL && out->family != NULL &&
           (out->kind.batch || strcmp(count, counts[0]) == 0) &&
           gt_general_may(out->family) &&
           gt_values_parse(out->values, out->family, line, NULL) == GEMMTUNE_OK;
}

/* False: out of memory. */
static bool parse(struct gt_generals *g, const struct gt_families *families,
                  const char *text) {
    char line[LINE_MAX_BYTES];
    bool done = true;
    while (*text != '\0' && done) {
        const size_t length = strcspn(text, "\n");
        struct gt_general kernel;
        (void)snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (length < sizeof line && parse_line(&kernel, families, line))
            done = gt_generals_add(g, &kernel);
        text += length + (text[length] == '\n');
    }
    return done;
}

/* ---- the file -------------------------------------------------------------------- */

static void set_name(char name[GT_CACHE_KEY_SIZE], const struct gt_device *d) {
    char key[GT_DEVICE_KEY_MAX];
    struct gt_hash h;
    gt_device_key(d, key);
    gt_hash_init(&h);
    gt_hash_add_text(&h, "gemmtune general 1");
    gt_hash_add_text(&h, gt_backend_name(d->backend));
    gt_hash_add_text(&h, key);
    gt_hash_hex(&h, name);
}

static void set_digest(char digest[GT_CACHE_KEY_SIZE], const char *text) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add_text(&h, text);
    gt_hash_hex(&h, digest);
}

/* The text of a file that is as it was written, or NULL. The caller frees it. */
static char *read_text(int fd) {
    char noted[HEX], digest[GT_CACHE_KEY_SIZE] = "";
    struct stat s;
    if (fstat(fd, &s) != 0 || s.st_size < HEX || s.st_size > FILE_MAX_BYTES ||
        !gt_read_all(fd, noted, HEX))
        return NULL;
    const size_t size = (size_t)s.st_size - HEX;
    char *text = malloc(size + 1);
    if (text == NULL)
        return NULL;
    bool sound = gt_read_all(fd, text, size);
    text[size] = '\0';
    if (sound)
        set_digest(digest, text);
    sound = sound && memcmp(digest, noted, HEX) == 0;
    if (!sound)
        free(text);
    return sound ? text : NULL;
}

void gt_generals_load(struct gt_generals *g, const struct gt_families *families,
                      const struct gt_device *d) {
    char name[GT_CACHE_KEY_SIZE];
    *g = (struct gt_generals){.count = 0};
    const int folder = gt_cache_open();
    if (folder < 0)
        return;
    set_name(name, d);
    const int fd = gt_cache_open_file(folder, name, GT_CACHE_GENERAL);
    char *text = fd >= 0 ? read_text(fd) : NULL;
    if (text != NULL)
        (void)parse(g, families, text);
    free(text);
    if (fd >= 0)
        (void)close(fd);
    (void)close(folder);
}

bool gt_generals_keep(const struct gt_generals *g, const struct gt_device *d) {
    char name[GT_CACHE_KEY_SIZE], digest[GT_CACHE_KEY_SIZE];
    char *text = text_of(g), *file = NULL;
    const size_t size = text != NULL ? strlen(text) : 0;
    const int folder = gt_cache_open();
    bool done = false;
    if (text != NULL && folder >= 0)
        file = malloc(HEX + size);
    if (file != NULL) {
        set_name(name, d);
        set_digest(digest, text);
        memcpy(file, digest, HEX);
        memcpy(file + HEX, text, size);
        done = gt_cache_write(folder, name, GT_CACHE_GENERAL, file, HEX + size);
    }
    free(file);
    free(text);
    if (folder >= 0)
        (void)close(folder);
    return done;
}
