/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.c - see terminal.h. */
#include "tuner/base/terminal.h"

#include "core/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool gt_terminal_colours(FILE *out) {
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    return isatty(fileno(out)) && (no == NULL || no[0] == '\0') && term != NULL &&
           strcmp(term, "dumb") != 0;
}

enum { WIDTH_USUAL = 80, WIDTH_MAX = 10000 };

size_t gt_terminal_width(FILE *out) {
    const int fd = fileno(out);
    const char *asked = getenv("COLUMNS");
    struct winsize size = {0};
    int64_t columns;
    if (!isatty(fd))
        return 0;
    if (asked != NULL && gt_text_int(&columns, asked, strlen(asked)) && columns > 0 &&
        columns <= WIDTH_MAX)
        return (size_t)columns;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return WIDTH_USUAL;
}
