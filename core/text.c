/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - small functions on text. They know no word of gemmtune's own, and use no
 * function of libc that depends on the locale.
 */
#include "core/text.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 64 }; /* longer words are not worth a suggestion */

/* ---- integers -------------------------------------------------------------- */

bool gt_text_int(int64_t *out, const char *text, size_t len) {
    const bool negative = len > 0 && text[0] == '-';
    size_t i = negative ? 1 : 0;
    if (i == len)
        return false;
    int64_t value = 0;
    for (; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        const int digit = text[i] - '0';
        /* A negative number is built downwards: INT64_MIN has no positive counterpart. */
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return false;
    }
    *out = value;
    return true;
}

int gt_text_of_int(char buf[GT_INT_TEXT_MAX], int64_t value) {
    char digits[GT_INT_TEXT_MAX];
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int count = 0, len = 0;
    do
        digits[count++] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (value < 0)
        buf[len++] = '-';
    while (count > 0)
        buf[len++] = digits[--count];
    buf[len] = '\0';
    return len;
}

int gt_text_put(char *buf, size_t size, int len, const char *word) {
    const size_t at = (size_t)len, length = strlen(word);
    if (at + 1 < size) {
        const size_t room = size - 1 - at, part = length < room ? length : room;
        memcpy(buf + at, word, part);
        buf[at + part] = '\0';
    }
    return len + (int)length;
}

/* ---- pieces ---------------------------------------------------------------- */

/* As strchr, also true for a NUL; without a call, since there are few stops. */
static bool is_stop(char c, const char *stops) {
    while (*stops != '\0' && *stops != c)
        stops++;
    return *stops == c;
}

struct gt_piece gt_piece_take(struct gt_reader *r, const char *stops) {
    struct gt_piece piece = {.text = r->at};
    while (r->at < r->end && !is_stop(*r->at, stops))
        r->at++;
    piece.len = (int)(r->at - piece.text);
    if (r->at < r->end)
        piece.stop = *r->at++;
    return piece;
}

bool gt_piece_is(struct gt_piece piece, const char *word) {
    return strlen(word) == (size_t)piece.len && memcmp(piece.text, word, strlen(word)) == 0;
}

/* ---- UTF-8 ----------------------------------------------------------------- */

/* A row of the table of well-formed sequences (Unicode 15, table 3-7). The second byte has
 * a range of its own, which excludes overlong forms and surrogates; later bytes are
 * 80..BF. */
struct utf8_form {
    unsigned char first_low, first_high, second_low, second_high;
    size_t len;
};

static const struct utf8_form utf8_forms[] = {
    {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
    {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
    {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

static const struct utf8_form *utf8_form_of(unsigned char first) {
    for (size_t i = 0; i < sizeof utf8_forms / sizeof *utf8_forms; i++)
        if (first >= utf8_forms[i].first_low && first <= utf8_forms[i].first_high)
            return &utf8_forms[i];
    return NULL;
}

size_t gt_text_utf8(const char *text, size_t len) {
    if (len == 0)
        return 0;
    const unsigned char *byte = (const unsigned char *)text;
    if (byte[0] < 0x80)
        return 1;
    const struct utf8_form *form = utf8_form_of(byte[0]);
    if (form == NULL || len < form->len || byte[1] < form->second_low ||
        byte[1] > form->second_high)
        return 0;
    for (size_t i = 2; i < form->len; i++)
        if (byte[i] < 0x80 || byte[i] > 0xBF)
            return 0;
    return form->len;
}

/* ---- lines ----------------------------------------------------------------- */

/* Whether the character of `len` bytes is one that a terminal obeys instead of showing. */
static bool is_control(const char *at, size_t len) {
    const unsigned char *c = (const unsigned char *)at;
    if (len == 1)
        return c[0] < 0x20 || c[0] == 0x7F;
    if (len == 2)
        return c[0] == 0xC2 && c[1] < 0xA0;
    /* U+2028 to U+202E: ends of lines, directions; U+2066 to U+2069: directions */
    return len == 3 && c[0] == 0xE2 &&
           ((c[1] == 0x80 && c[2] >= 0xA8 && c[2] <= 0xAE) ||
            (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));
}

void gt_text_clean(char *text) {
    char *to = text;
    for (size_t left = strlen(text); left > 0;) {
        const size_t valid = gt_text_utf8(text, left), len = valid > 0 ? valid : 1;
        if (valid == 0)
            *to++ = '?';
        else if (is_control(text, len))
            *to++ = ' ';
        else
            for (size_t i = 0; i < len; i++)
                *to++ = text[i];
        text += len;
        left -= len;
    }
    *to = '\0';
}

void gt_text_line(char *line, size_t size, const char *fmt, va_list args) {
    if (vsnprintf(line, size, fmt, args) < 0)
        line[0] = '\0';
    gt_text_clean(line);
}

/* ---- suggestions ----------------------------------------------------------- */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Levenshtein distance, one row at a time: insertions, deletions and replacements. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len) {
    size_t row[WORD_MAX + 1];
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_len];
}

const char *gt_text_nearest(const char *word, const char *const *list) {
    const char *nearest = NULL;
    size_t nearest_distance = 0;
    const size_t len = strlen(word);
    for (; *list != NULL; list++) {
        const size_t list_len = strlen(*list);
        const size_t longer = len > list_len ? len : list_len;
        if (longer > WORD_MAX)
            continue;
        const size_t d = distance(word, len, *list, list_len);
        /* One slip in a short word, one for every three letters of a long one. */
        const bool near = d < longer && d <= (longer < 6 ? 1 : longer / 3);
        if (near && (nearest == NULL || d < nearest_distance)) {
            nearest = *list;
            nearest_distance = d;
        }
    }
    return nearest;
}

const char *gt_text_plural(int64_t count) {
    return count == 1 ? "" : "s";
}
