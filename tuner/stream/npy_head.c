/* SPDX-License-Identifier: Apache-2.0 */
/* npy_head.c - see npy_head.h. */
#include "tuner/stream/npy_head.h"

#include "core/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MAGIC = 6 };

static const char magic[] = "\x93NUMPY";
static const char blanks[] = " \t\r\n\f";

/* NumPy's words on little-endian machines: the one that it writes, then others that it
 * reads. */
static const struct {
    gemmtune_dtype type;
    const char *word, *name, *letter;
} words[] = {{GEMMTUNE_F32, "<f4", "float32", "f"},
             {GEMMTUNE_F64, "<f8", "float64", "d"},
             {GEMMTUNE_F16, "<f2", "float16", "e"},
             {GEMMTUNE_I32, "<i4", "int32", "i"},
             {GEMMTUNE_I8, "|i1", "int8", "b"}};
enum { WORDS = sizeof words / sizeof *words };

const char *gt_npy_word(gemmtune_dtype type) {
    for (size_t i = 0; i < WORDS; i++)
        if (words[i].type == type)
            return words[i].word;
    return NULL;
}

/* ---- Python's texts ------------------------------------------------------------------ */

static const char *skip_blanks(const char *at) {
    return at + strspn(at, blanks);
}

/* The text after a string in quotes; NULL when the string does not end. */
static const char *skip_string(const char *at) {
    const char quote = *at++;
    while (*at != '\0' && *at != quote)
        at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
    return *at == quote ? at + 1 : NULL;
}

/* Takes a value: all up to the next comma, colon or bracket that belongs to the dictionary.
 * NULL when there is no value, or when something in it does not end. */
static const char *take_value(struct gt_npy_value *out, const char *at) {
    const char *const begin = at = skip_blanks(at);
    const char *end = at; /* of what is not blank */
    int depth = 0;
    while (at != NULL && *at != '\0' && depth >= 0 &&
           (depth > 0 || strchr(",:}", *at) == NULL)) {
        const bool blank = strchr(blanks, *at) != NULL;
        depth += strchr("([{", *at) != NULL;
        depth -= strchr(")]}", *at) != NULL;
        at = *at == '\'' || *at == '"' ? skip_string(at) : at + 1;
        end = blank ? end : at;
    }
    if (at == NULL || depth != 0 || end == begin)
        return NULL;
    *out = (struct gt_npy_value){begin, (int)(end - begin)};
    return at;
}

/* Takes the quotes off; false when the value is no single string. */
static bool unquote(struct gt_npy_value *out, struct gt_npy_value v) {
    if (v.len > 0 && (*v.text == 'u' || *v.text == 'U')) /* Python 2's mark of Unicode */
        v = (struct gt_npy_value){v.text + 1, v.len - 1};
    if (v.len < 2 || (*v.text != '\'' && *v.text != '"') ||
        skip_string(v.text) != v.text + v.len)
        return false;
    *out = (struct gt_npy_value){v.text + 1, v.len - 2};
    return true;
}

static bool is(struct gt_npy_value v, const char *word) {
    return (size_t)v.len == strlen(word) && memcmp(v.text, word, (size_t)v.len) == 0;
}

/* ---- the dictionary ------------------------------------------------------------------ */

static struct gt_npy_value *member(struct gt_npy_head *h, struct gt_npy_value key) {
    const struct {
        const char *name;
        struct gt_npy_value *value;
    } members[] = {
        {"descr", &h->descr}, {"fortran_order", &h->order}, {"shape", &h->shape}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (is(key, members[i].name))
            return members[i].value;
    return NULL;
}

/* Takes "'key': value"; NULL when there is no such thing, or a key that NumPy has not. */
static const char *take_member(struct gt_npy_head *h, const char *at) {
    struct gt_npy_value key, value;
    at = take_value(&key, at);
    if (at == NULL || *at != ':' || !unquote(&key, key) || member(h, key) == NULL)
        return NULL;
    at = take_value(&value, at + 1);
    if (at != NULL)
        *member(h, key) = value;
    return at;
}

static bool read_dictionary(struct gt_npy_head *h) {
    const char *at = skip_blanks(h->text);
    bool more = *at == '{';
    while (more) {
        at = skip_blanks(at + 1);
        if (*at == '}')
            break;
        at = take_member(h, at);
        more = at != NULL && *at == ',';
    }
    return at != NULL && *at == '}' && *skip_blanks(at + 1) == '\0' && h->descr.len > 0 &&
           h->order.len > 0 && h->shape.len > 0 &&
           (is(h->order, "True") || is(h->order, "False"));
}

gt_status gt_npy_head_read(struct gt_npy_head *h, const unsigned char *file, size_t size,
                           const char *path, struct gt_err *err) {
    if (size < MAGIC + 4 || memcmp(file, magic, MAGIC) != 0)
        return gt_fail(err, GEMMTUNE_EPARSE, "%.300s is not a .npy file", path);
    const int version = file[MAGIC];
    const size_t begin = version == 1 ? MAGIC + 4 : MAGIC + 6;
    size_t length = file[MAGIC + 2] | (size_t)file[MAGIC + 3] << 8;
    if (version > 1 && size >= begin)
        length |= (size_t)file[MAGIC + 4] << 16 | (size_t)file[MAGIC + 5] << 24;
    bool sound = version >= 1 && version <= 3 && length <= GT_NPY_HEAD_MAX &&
                 size >= begin && size - begin >= length;
    memset(h, 0, offsetof(struct gt_npy_head, text));
    if (sound) {
        memcpy(h->text, file + begin, length);
        h->text[length] = '\0';
        h->data = begin + length;
        sound = strlen(h->text) == length && read_dictionary(h);
    }
    return sound
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EPARSE, "%.300s: its .npy header is damaged", path);
}

/* ---- the values ---------------------------------------------------------------------- */

bool gt_npy_head_type(gemmtune_dtype *out, const struct gt_npy_head *h) {
    struct gt_npy_value v;
    if (!unquote(&v, h->descr) || v.len == 0)
        return false;
    const bool ordered = strchr("<=|>", *v.text) != NULL;
    const struct gt_npy_value code = {v.text + ordered, v.len - ordered};
    for (size_t i = 0; i < WORDS; i++) {
        const bool right_order = *v.text != '>' || gt_type_size(words[i].type) == 1;
        *out = words[i].type;
        if (right_order && (is(code, words[i].word + 1) || is(code, words[i].letter)))
            return true;
        if (is(v, words[i].name))
            return true;
    }
    return false;
}

bool gt_npy_head_is_c(const struct gt_npy_head *h) {
    return is(h->order, "False");
}

bool gt_npy_head_shape(struct gt_shape *out, const struct gt_npy_head *h) {
    const char *at = h->shape.text;
    int64_t side[2];
    if (*at++ != '(')
        return false;
    for (int i = 0; i < 2; i++) {
        at = skip_blanks(at);
        const size_t length = strspn(at, "0123456789");
        if (!gt_text_int(&side[i], at, length))
            return false;
        at += length;
        at = skip_blanks(at + (*at == 'L'));
        if (i == 0 && *at++ != ',')
            return false;
    }
    at = skip_blanks(at + (*at == ','));
    *out = (struct gt_shape){side[0], side[1]};
    return *at == ')' && at + 1 == h->shape.text + h->shape.len;
}

/* ---- writing ------------------------------------------------------------------------- */

void gt_npy_head_write(char out[GT_NPY_NEW_HEAD], gemmtune_dtype type,
                       struct gt_shape shape) {
    const int room = GT_NPY_NEW_HEAD - MAGIC - 4;
    char *const text = out + MAGIC + 4;
    memcpy(out, magic, MAGIC);
    out[MAGIC] = 1;
    out[MAGIC + 1] = 0;
    out[MAGIC + 2] = (char)room;
    out[MAGIC + 3] = 0;
    const int n = snprintf(text, (size_t)room,
                           "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRId64
                           ", %" PRId64 "), }",
                           gt_npy_word(type), shape.rows, shape.cols);
    memset(text + n, ' ', (size_t)(room - n));
    text[room - 1] = '\n';
}
