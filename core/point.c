/* SPDX-License-Identifier: Apache-2.0 */
/* point.c - points as text and as pairs. It knows no family: it accepts any name and
 * integer. */
#include "core/point.h"

#include "core/text.h"

#include <string.h>

/* A pair is a name, "=", an integer of 20 characters, and a separator or the NUL. */
_Static_assert(GT_POINT_TEXT_MAX >= GT_POINT_MAX * (GT_NAME_MAX - 1 + 1 + 20 + 1),
               "the longest point must fit its text");

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_in_name(char c) {
    return is_upper(c) || is_digit(c) || c == '_';
}

bool gt_point_is_name(const char *text, size_t len) {
    if (len == 0 || len >= GT_NAME_MAX || !is_upper(text[0]))
        return false;
    for (size_t i = 1; i < len; i++)
        if (!is_in_name(text[i]))
            return false;
    return true;
}

/* Bytes of the parameter name before a "="; 0 when there is none. */
static size_t name_len(const char *text) {
    size_t len = 0;
    while (is_in_name(text[len]))
        len++;
    return len < GT_NAME_MAX && text[len] == '=' && is_upper(text[0]) ? len : 0;
}

/* Index of the entry with these len bytes as its name, or count. */
static int find(const struct gt_point *p, const char *name, size_t len) {
    int i = 0;
    while (i < p->count &&
           (p->entry[i].name[0] != name[0] || strncmp(p->entry[i].name, name, len) != 0 ||
            p->entry[i].name[len] != '\0'))
        i++;
    return i;
}

bool gt_point_get(const struct gt_point *p, const char *name, int64_t *value) {
    const int i = find(p, name, strlen(name));
    if (i == p->count)
        return false;
    *value = p->entry[i].value;
    return true;
}

/* Adds an entry. The name is a parameter name that no entry has. */
static gt_status append(struct gt_point *p, const char *name, size_t len, int64_t value,
                        struct gt_err *err) {
    if (p->count == GT_POINT_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "no room for %.*s: a point has at most %d parameters", (int)len,
                       name, GT_POINT_MAX);
    memcpy(p->entry[p->count].name, name, len);
    p->entry[p->count].name[len] = '\0';
    p->entry[p->count++].value = value;
    return GEMMTUNE_OK;
}

gt_status gt_point_set(struct gt_point *p, const char *name, int64_t value,
                       struct gt_err *err) {
    const size_t len = strlen(name);
    if (!gt_point_is_name(name, len))
        return gt_fail(
            err, GEMMTUNE_EINVAL,
            "\"%s\" is not a parameter name (A-Z, then A-Z 0-9 _, at most %d bytes)", name,
            GT_NAME_MAX - 1);
    const int i = find(p, name, len);
    if (i == p->count)
        return append(p, name, len, value, err);
    p->entry[i].value = value;
    return GEMMTUNE_OK;
}

static bool is_separator(char c) {
    return c == ' ' || c == ',';
}

/* Bytes before the next separator or the end. */
static size_t pair_len(const char *text) {
    size_t len = 0;
    while (text[len] != '\0' && !is_separator(text[len]))
        len++;
    return len;
}

/* Adds the pair "NAME=12" of len bytes. */
static gt_status add_pair(struct gt_point *p, const char *pair, size_t len,
                          struct gt_err *err) {
    int64_t value = 0;
    const int shown = len < 80 ? (int)len : 80;
    const size_t name = name_len(pair);
    if (name == 0 || !gt_text_int(&value, pair + name + 1, len - name - 1))
        return gt_fail(err, GEMMTUNE_EPARSE, "\"%.*s\" in a point is not NAME=integer",
                       shown, pair);
    if (find(p, pair, name) < p->count)
        return gt_fail(err, GEMMTUNE_EPARSE, "\"%.*s\" in a point names %.*s a second time",
                       shown, pair, (int)name, pair);
    const gt_status status = append(p, pair, name, value, err);
    return status == GEMMTUNE_OK ? status : GEMMTUNE_EPARSE;
}

gt_status gt_point_parse(struct gt_point *out, const char *text, struct gt_err *err) {
    struct gt_point point = {0};
    gt_status status = GEMMTUNE_OK;
    while (status == GEMMTUNE_OK && *text != '\0') {
        const size_t len = pair_len(text);
        if (len > 0)
            status = add_pair(&point, text, len, err);
        text += len > 0 ? len : 1;
    }
    if (status == GEMMTUNE_OK)
        *out = point;
    return status;
}

/* ---- the canonical text -------------------------------------------------------------- */

enum { SURE_DIGITS = 19 }; /* an integer of fewer bytes fits into 64 bits */

/* Bytes of the integer that the text begins with, as gt_text_of_int writes it; 0 when it
 * begins with none. */
static size_t int_len(const char *text) {
    const size_t sign = text[0] == '-';
    size_t len = sign;
    int64_t value = 0;
    while (is_digit(text[len]))
        len++;
    const bool padded = text[sign] == '0' && (sign > 0 || len > 1);
    const bool fits = len > sign && (len < SURE_DIGITS || gt_text_int(&value, text, len));
    return !padded && fits ? len : 0;
}

/* The names before a pair. */
struct names {
    const char *name[GT_POINT_MAX];
    int count;
    uint64_t marks; /* a bit for each: most names that are new have another one */
};

/* Adds the name, with the "=" after it; false when it is there already. */
static bool add_name(struct names *n, const char *name, size_t len) {
    const unsigned sum = (unsigned)name[0] + 7U * (unsigned)name[len - 1] + (unsigned)len;
    const uint64_t mark = UINT64_C(1) << sum % 64;
    if ((n->marks & mark) != 0)
        for (int i = 0; i < n->count; i++)
            if (n->name[i][0] == name[0] && memcmp(n->name[i], name, len + 1) == 0)
                return false;
    n->marks |= mark;
    n->name[n->count++] = name;
    return true;
}

/* Bytes of the canonical pair that the text begins with; 0 when it begins with none. */
static size_t canonical_len(const char *text, struct names *names) {
    const size_t name = name_len(text);
    const size_t value = name > 0 ? int_len(text + name + 1) : 0;
    return value > 0 && add_name(names, text, name) ? name + 1 + value : 0;
}

bool gt_point_is_canonical(const char *text) {
    struct names names = {.count = 0};
    bool more = text[0] != '\0';
    while (more && names.count < GT_POINT_MAX) {
        const size_t len = canonical_len(text, &names);
        if (len == 0 || (text[len] != '\0' && text[len] != ' '))
            return false;
        more = text[len] == ' ';
        text += len + more;
    }
    return !more;
}

int gt_point_text(const struct gt_point *p, char buf[GT_POINT_TEXT_MAX]) {
    char *at = buf;
    *at = '\0';
    for (int i = 0; i < p->count; i++) {
        const size_t len = strlen(p->entry[i].name);
        if (i > 0)
            *at++ = ' ';
        memcpy(at, p->entry[i].name, len);
        at[len] = '=';
        at += len + 1;
        at += gt_text_of_int(at, p->entry[i].value);
    }
    return (int)(at - buf);
}
