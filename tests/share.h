/* SPDX-License-Identifier: Apache-2.0 */
/* share.h - GT_SHARE=I/N: of a long list, a test tries every Nth item, from item I on. */
#ifndef GT_TESTS_SHARE_H
#define GT_TESTS_SHARE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether item `i` is to be tried. All are when GT_SHARE is not set or has no such form. */
static inline bool is_in_share(int i) {
    const char *text = getenv("GT_SHARE");
    int share, shares;
    return text == NULL || sscanf(text, "%d/%d", &share, &shares) != 2 || shares < 1 ||
           i % shares == share % shares;
}

#endif
