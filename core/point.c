/* SPDX-License-Identifier: Apache-2.0 */
/* point.c - points as text and as pairs. It knows no family: it accepts any name and
 * integer. */
#include "core/point.h"

#include "core/text.h"

#include <string.h>

static const char separators[] = " ,";

/* A pair is a name, "=", an integer of 20 characters, and a separator or the NUL. */
_Static_assert(GT_POINT_TEXT_MAX >= GT_POINT_MAX * (GT_NAME_MAX - 1 + 1 + 20 + 1),
               "the longest point must fit its text");

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

bool gt_point_is_name(const char *text, size_t len) {
    if (len == 0 || len >= GT_NAME_MAX || !is_upper(text[0]))
        return false;
    for (size_t i = 1; i < len; i++)
        if (!is_upper(text[i]) && !(text[i] >= '0' && text[i] <= '9') && text[i] != '_')
            return false;
    return true;
}

/* Index of the entry whose name has these len bytes, or count. */
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

/* Adds the pair "NAME=12" of len bytes. */
static gt_status add_pair(struct gt_point *p, const char *pair, size_t len,
                          struct gt_err *err) {
    int64_t value = 0;
    const int shown = len < 80 ? (int)len : 80;
    const char *equals = memchr(pair, '=', len);
    const size_t name_len = equals != NULL ? (size_t)(equals - pair) : len;
    if (equals == NULL || !gt_point_is_name(pair, name_len) ||
        !gt_text_int(&value, equals + 1, len - name_len - 1))
        return gt_fail(err, GEMMTUNE_EPARSE, "\"%.*s\" in a point is not NAME=integer",
                       shown, pair);
    if (find(p, pair, name_len) < p->count)
        return gt_fail(err, GEMMTUNE_EPARSE, "\"%.*s\" in a point names %.*s a second time",
                       shown, pair, (int)name_len, pair);
    const gt_status status = append(p, pair, name_len, value, err);
    return status == GEMMTUNE_OK ? status : GEMMTUNE_EPARSE;
}

gt_status gt_point_parse(struct gt_point *out, const char *text, struct gt_err *err) {
    struct gt_point point = {0};
    gt_status status = GEMMTUNE_OK;
    text += strspn(text, separators);
    while (status == GEMMTUNE_OK && *text != '\0') {
        const size_t len = strcspn(text, separators);
        status = add_pair(&point, text, len, err);
        text += len;
        text += strspn(text, separators);
    }
    if (status == GEMMTUNE_OK)
        *out = point;
    return status;
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

bool gt_point_equal(const struct gt_point *a, const struct gt_point *b) {
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++) {
        int64_t value = 0;
        if (!gt_point_get(b, a->entry[i].name, &value) || value != a->entry[i].value)
            return false;
    }
    return true;
}
