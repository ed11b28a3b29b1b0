/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - the words of a text in PTX. See ptx.h. */
#include "tests/ptx/parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

void refuse(struct reader *r, const char *what, const char *word) {
    snprintf(r->why, PTX_WHY, "line %d of the PTX: %s %.200s", r->line, what, word);
    longjmp(r->out, 1);
}

void *grown_list(void *old, size_t count, size_t *room, size_t size) {
    if (count < *room)
        return old;
    const size_t wanted = *room ? 2 * *room : 16;
    void *grown = realloc(old, wanted * size);
    if (!grown)
        return NULL;
    memset((char *)grown + *room * size, 0, (wanted - *room) * size);
    *room = wanted;
    return grown;
}

void *grow(struct reader *r, void *old, size_t count, size_t *room, size_t size) {
    void *grown = grown_list(old, count, room, size);
    if (!grown)
        refuse(r, "no memory for", "the module");
    return grown;
}

void skip_line(struct reader *r) {
    while (*r->at && *r->at != '\n')
        r->at++;
}

void skip(struct reader *r) {
    for (;; r->at++) {
        if (r->at[0] == '/' && r->at[1] == '/')
            skip_line(r);
        if (*r->at == '\n')
            r->line++;
        if (!isspace((unsigned char)*r->at))
            return;
    }
}

bool accept(struct reader *r, char c) {
    skip(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

void expect(struct reader *r, char c) {
    const char wanted[2] = {c, '\0'};
    if (!accept(r, c))
        refuse(r, "this is missing:", wanted);
}

bool take_name(struct reader *r, char *out, size_t size) {
    size_t length = 0;
    skip(r);
    while (isalnum((unsigned char)*r->at) || (*r->at && strchr("_$%.:", *r->at))) {
        if (*r->at == ':' && r->at[1] != ':' && (length == 0 || r->at[-1] != ':'))
            break; /* of a label */
        if (length + 1 < size)
            out[length++] = *r->at;
        r->at++;
    }
    out[length] = '\0';
    return length > 0;
}

uint64_t take_number(struct reader *r) {
    char *end;
    uint64_t value;
    skip(r);
    const bool minus = *r->at == '-';
    const char *digits = r->at + (*r->at == '-' || *r->at == '+');
    if (digits[0] == '0' && digits[1] && strchr("fFdD", digits[1]))
        value = strtoull(digits + 2, &end, 16);
    else
        value = strtoull(digits, &end, 0);
    if (end == digits)
        refuse(r, "a number is missing", "");
    while (*end == 'U')
        end++;
    r->at = end;
    return minus ? 0 - value : value;
}
