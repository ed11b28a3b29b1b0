/* SPDX-License-Identifier: Apache-2.0 */
/* read_stream.h - what is left of a stream, as one text. */
#ifndef GT_TOOLS_READ_STREAM_H
#define GT_TOOLS_READ_STREAM_H

#include <stdio.h>
#include <stdlib.h>

/* The caller frees the text; NULL when memory is short. */
static inline char *gt_read_stream(FILE *in) {
    char *text = NULL, part[4096];
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL)
        return NULL;
    for (size_t got = fread(part, 1, sizeof part, in); got > 0;
         got = fread(part, 1, sizeof part, in))
        (void)fwrite(part, 1, got, to);
    if (fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

#endif
