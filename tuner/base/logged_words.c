/* SPDX-License-Identifier: Apache-2.0 */
/* logged_words.c - small functions of the readers of logged_inside.h. */
#include "tuner/base/logged_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int gt_logged_value(const struct gt_logged_word *table, struct gt_piece piece,
                    int otherwise) {
    for (; table->word != NULL; table++)
        if (gt_piece_is(piece, table->word))
            return table->value;
    return otherwise;
}

bool gt_logged_is(char c, const char *set) {
    return c != '\0' && strchr(set, c) != NULL;
}

const char *gt_logged_after(const char *line, size_t len, const char *word) {
    const size_t size = strlen(word);
    for (const char *at = line, *end = line + len; (size_t)(end - at) >= size; at++)
        if (*at == *word && memcmp(at, word, size) == 0)
            return at + size;
    return NULL;
}

void gt_logged_damage(struct gt_logged_call *c, struct gt_err *err, const char *fmt, ...) {
    char reason[128];
    va_list args;
    va_start(args, fmt);
    gt_text_line(reason, sizeof reason, fmt, args);
    va_end(args);
    c->fate = GT_LOGGED_DAMAGED;
    (void)gt_fail(err, GEMMTUNE_EPARSE, "%s", reason);
}
