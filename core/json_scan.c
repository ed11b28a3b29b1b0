/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_scan.c - the grammar of RFC 8259, one function a rule. It builds nothing.
 *
 * Values are counted in the order in which they begin: a container before its members.
 */
#include "core/json_scan.h"

#include "core/text.h"

#include <stdbool.h>
#include <string.h>

enum {
    DEPTH_MAX = 64, /* containers inside one another; bounds every recursion */
    NUMBER_MAX = 62 /* characters: cJSON 1.7.15 misreads numbers of 64 and more */
};

struct scan {
    const char *name, *at, *end;
    int line, depth;
    size_t count; /* values so far */
    int *lines;   /* receives each value's line; NULL in the first pass */
    struct gt_err *err;
};

static gt_status fail_at(struct scan *s, const char *fmt, ...) GT_PRINTF(2, 3);

static gt_status fail_at(struct scan *s, const char *fmt, ...) {
    va_list args;
    struct gt_err what;
    va_start(args, fmt);
    gt_text_line(what.line, sizeof what.line, fmt, args);
    va_end(args);
    return gt_fail(s->err, GEMMTUNE_EPARSE, "%s:%d: %s", s->name, s->line, what.line);
}

/* The next byte, -1 at the end. */
static int peek(const struct scan *s) {
    return s->at < s->end ? (unsigned char)*s->at : -1;
}

static bool skip(struct scan *s, char c) {
    const bool there = peek(s) == c;
    s->at += there;
    return there;
}

static gt_status fail_expected(struct scan *s, const char *what) {
    const int c = peek(s);
    if (c < 0)
        return fail_at(s, "expected %s, but the text ends", what);
    if (c < 0x20 || c >= 0x7F)
        return fail_at(s, "expected %s, not the byte 0x%02X", what, (unsigned)c);
    return fail_at(s, "expected %s, not '%c'", what, c);
}

static void skip_space(struct scan *s) {
    for (int c = peek(s); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = peek(s)) {
        s->line += c == '\n';
        s->at++;
    }
}

static gt_status scan_hex4(struct scan *s, unsigned *out) {
    static const char digits[] = "0123456789abcdefABCDEF";
    *out = 0;
    for (int i = 0; i < 4; i++) {
        const int c = peek(s);
        const char *digit = c > 0 ? strchr(digits, c) : NULL;
        if (digit == NULL)
            return fail_expected(s, "four hexadecimal digits after \\u");
        const unsigned at = (unsigned)(digit - digits);
        *out = *out * 16 + (at < 16 ? at : at - 6);
        s->at++;
    }
    return GEMMTUNE_OK;
}

/* The part after "\u": one code unit or a surrogate pair, not NUL. */
static gt_status scan_unicode(struct scan *s) {
    unsigned unit = 0;
    unsigned low = 0;
    gt_status status = scan_hex4(s, &unit);
    if (status != GEMMTUNE_OK)
        return status;
    if (unit == 0)
        return fail_at(s, "a string holds a NUL (\\u0000)");
    if (unit < 0xD800 || unit > 0xDFFF)
        return GEMMTUNE_OK;
    if (unit < 0xDC00 && skip(s, '\\') && skip(s, 'u'))
        status = scan_hex4(s, &low);
    if (status == GEMMTUNE_OK && (low < 0xDC00 || low > 0xDFFF))
        status = fail_at(s, "\\u%04X is half of a surrogate pair", unit);
    return status;
}

static gt_status scan_escape(struct scan *s) {
    if (skip(s, 'u'))
        return scan_unicode(s);
    const int c = peek(s);
    if (c <= 0 || strchr("\"\\/bfnrt", c) == NULL)
        return fail_expected(s, "one of \" \\ / b f n r t u after a backslash");
    s->at++;
    return GEMMTUNE_OK;
}

static gt_status scan_string(struct scan *s) {
    gt_status status = GEMMTUNE_OK;
    if (!skip(s, '"'))
        return fail_expected(s, "a string");
    while (status == GEMMTUNE_OK && !skip(s, '"')) {
        const int c = peek(s);
        const size_t len = gt_text_utf8(s->at, (size_t)(s->end - s->at));
        if (c < 0 || c == '\n')
            status = fail_at(s, "a string is not closed on its line");
        else if (c < 0x20)
            status = fail_at(s, "a string holds the control character 0x%02X", (unsigned)c);
        else if (len == 0)
            status = fail_at(s, "a string holds 0x%02X, which is not UTF-8", (unsigned)c);
        s->at += len;
        if (status == GEMMTUNE_OK && c == '\\')
            status = scan_escape(s);
    }
    return status;
}

/* At least one digit. */
static gt_status scan_digits(struct scan *s) {
    if (peek(s) < '0' || peek(s) > '9')
        return fail_expected(s, "a digit");
    while (peek(s) >= '0' && peek(s) <= '9')
        s->at++;
    return GEMMTUNE_OK;
}

/* The part after the integer; `whole` becomes false when there is one. */
static gt_status scan_fraction(struct scan *s, bool *whole) {
    gt_status status = GEMMTUNE_OK;
    *whole = true;
    if (skip(s, '.')) {
        *whole = false;
        status = scan_digits(s);
    }
    if (status == GEMMTUNE_OK && (skip(s, 'e') || skip(s, 'E'))) {
        *whole = false;
        if (!skip(s, '-'))
            (void)skip(s, '+');
        status = scan_digits(s);
    }
    return status;
}

static gt_status scan_number(struct scan *s) {
    const char *start = s->at;
    bool whole = true;
    int64_t value = 0;
    (void)skip(s, '-');
    const bool zero = peek(s) == '0';
    const char *first = s->at;
    gt_status status = scan_digits(s);
    if (status == GEMMTUNE_OK && zero && s->at - first > 1)
        status = fail_at(s, "a number begins with 0");
    if (status == GEMMTUNE_OK)
        status = scan_fraction(s, &whole);
    if (status != GEMMTUNE_OK)
        return status;
    const int len = s->at - start < 1000 ? (int)(s->at - start) : 1000;
    if (whole && (!gt_text_int(&value, start, (size_t)len) || value >= GT_JSON_INT_LIMIT ||
                  value <= -GT_JSON_INT_LIMIT))
        return fail_at(s, "%.*s reaches 2^53, too large to be read exactly",
                       len < 40 ? len : 40, start);
    if (len > NUMBER_MAX)
        return fail_at(s, "a number of more than %d characters", NUMBER_MAX);
    return GEMMTUNE_OK;
}

static gt_status scan_word(struct scan *s) {
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t len = strlen(words[i]);
        if ((size_t)(s->end - s->at) >= len && memcmp(s->at, words[i], len) == 0) {
            s->at += len;
            return GEMMTUNE_OK;
        }
    }
    return fail_expected(s, "a value");
}

static gt_status scan_value(struct scan *s);

/* One element of an array or one member of an object. */
static gt_status scan_part(struct scan *s, bool named) {
    skip_space(s);
    if (named) {
        const gt_status status = scan_string(s);
        if (status != GEMMTUNE_OK)
            return status;
        skip_space(s);
        if (!skip(s, ':'))
            return fail_expected(s, "':' after a key");
    }
    return scan_value(s);
}

static gt_status scan_container(struct scan *s, char close) {
    if (++s->depth > DEPTH_MAX)
        return fail_at(s, "nested more than %d deep", DEPTH_MAX);
    s->at++;
    skip_space(s);
    if (!skip(s, close)) {
        gt_status status;
        do {
            status = scan_part(s, close == '}');
            skip_space(s);
        } while (status == GEMMTUNE_OK && skip(s, ','));
        if (status == GEMMTUNE_OK && !skip(s, close))
            status = fail_expected(s, close == '}' ? "',' or '}'" : "',' or ']'");
        if (status != GEMMTUNE_OK)
            return status;
    }
    s->depth--;
    return GEMMTUNE_OK;
}

static gt_status scan_value(struct scan *s) {
    skip_space(s);
    if (s->lines != NULL)
        s->lines[s->count] = s->line;
    s->count++;
    const int c = peek(s);
    if (c == '{')
        return scan_container(s, '}');
    if (c == '[')
        return scan_container(s, ']');
    if (c == '"')
        return scan_string(s);
    if (c == '-' || (c >= '0' && c <= '9'))
        return scan_number(s);
    return scan_word(s);
}

gt_status gt_json_scan(size_t *count, int *lines, const char *name, const char *text,
                       size_t size, struct gt_err *err) {
    struct scan s = {.name = name,
                     .at = text,
                     .end = text + size,
                     .line = 1,
                     .lines = lines,
                     .err = err};
    const gt_status status = scan_value(&s);
    *count = s.count;
    if (status != GEMMTUNE_OK)
        return status;
    skip_space(&s);
    return s.at < s.end ? fail_expected(&s, "nothing more") : GEMMTUNE_OK;
}
