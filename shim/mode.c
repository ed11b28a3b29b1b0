/* SPDX-License-Identifier: Apache-2.0 */
/* mode.c - see mode.h. */
#include "shim/mode.h"

#include <stddef.h>
#include <string.h>

static bool is(const char *word, const char *text, size_t length) {
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

static bool read_does(struct gt_shim_mode *out, const char *text, size_t length) {
    static const struct {
        const char *word;
        enum gt_shim_does does;
    } rows[] = {{"off", GT_SHIM_OFF}, {"serve", GT_SHIM_SERVE}, {"check", GT_SHIM_CHECK}};
    static const char record[] = "record:";
    const size_t before = sizeof record - 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is(rows[i].word, text, length)) {
            out->does = rows[i].does;
            return true;
        }
    if (length <= before || length - before >= sizeof out->file ||
        memcmp(text, record, before) != 0)
        return false;
    out->does = GT_SHIM_RECORD;
    memcpy(out->file, text + before, length - before);
    out->file[length - before] = '\0';
    return true;
}

static bool read_option(struct gt_shim_mode *out, const char *text, size_t length) {
    static const struct {
        const char *word;
        size_t offset;
    } rows[] = {{"split", offsetof(struct gt_shim_mode, split)},
                {"residues", offsetof(struct gt_shim_mode, residues)},
                {"quiet", offsetof(struct gt_shim_mode, quiet)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is(rows[i].word, text, length)) {
            *(bool *)((char *)out + rows[i].offset) = true;
            return true;
        }
    return false;
}

bool gt_shim_mode_read(struct gt_shim_mode *out, const char *text) {
    *out = (struct gt_shim_mode){.does = GT_SHIM_OFF};
    if (text == NULL || text[0] == '\0')
        return true;
    size_t length = strcspn(text, ",");
    bool good = read_does(out, text, length);
    while (good && text[length] == ',') {
        text += length + 1;
        length = strcspn(text, ",");
        good = read_option(out, text, length);
    }
    if (!good)
        *out = (struct gt_shim_mode){.does = GT_SHIM_OFF};
    return good;
}
