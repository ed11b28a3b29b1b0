/* SPDX-License-Identifier: Apache-2.0 */
/* json_python.c - see json_python.h. */
#include "core/json_python.h"

#include <stdbool.h>
#include <string.h>

enum { LONG_DIGITS = 16 }; /* 2^53 has so many */

struct rewriter {
    const char *at, *end;
    char *out;
};

static void copy(struct rewriter *r, size_t len) {
    memcpy(r->out, r->at, len);
    r->out += len;
    r->at += len;
}

static void put(struct rewriter *r, const char *word) {
    memcpy(r->out, word, strlen(word));
    r->out += strlen(word);
}

/* Whether the word stands here; then the other one is written for it. */
static bool replace(struct rewriter *r, const char *word, const char *by) {
    const size_t len = strlen(word);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
        return false;
    put(r, by);
    r->at += len;
    return true;
}

static void take_string(struct rewriter *r) {
    const char *at = r->at + 1;
    while (at < r->end && *at != '"')
        at += *at == '\\' && at + 1 < r->end ? 2 : 1;
    at += at < r->end;
    copy(r, (size_t)(at - r->at));
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static void take_number(struct rewriter *r) {
    size_t len = 0;
    bool whole = true;
    while (r->at + len < r->end &&
           (is_digit(r->at[len]) || memchr(".eE+-", r->at[len], 5) != NULL))
        whole = is_digit(r->at[len++]) && whole;
    copy(r, len);
    if (whole && len >= LONG_DIGITS)
        put(r, "e0");
}

size_t gt_json_of_python(char *out, const char *text, size_t size) {
    struct rewriter r = {text, text + size, out};
    while (r.at < r.end)
        if (*r.at == '"')
            take_string(&r);
        else if (is_digit(*r.at))
            take_number(&r);
        else if (!replace(&r, "NaN", "null") && !replace(&r, "Infinity", "1e999"))
            copy(&r, 1);
    return (size_t)(r.out - out);
}
