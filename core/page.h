/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - a text that is written piece by piece into a buffer that may be too small. */
#ifndef GT_CORE_PAGE_H
#define GT_CORE_PAGE_H

#include "core/status.h"

#include <stdbool.h>

struct gt_page {
    char *buf;
    size_t size;
    int len; /* length of the whole text, even when it does not fit */
};

/* An empty page; the text in buf always ends in a NUL. */
struct gt_page gt_page_of(char *buf, size_t size);
void gt_page_put(struct gt_page *page, const char *fmt, ...) GT_PRINTF(2, 3);

#endif
