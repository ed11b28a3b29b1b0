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

/* 0: it is not set to a width. */
static size_t asked(void) {
    const char *text = getenv("COLUMNS");
    int64_t columns;
    return text != NULL && gt_text_int(&columns, text, strlen(text)) && columns > 0 &&
                   columns <= WIDTH_MAX
               ? (size_t)columns
               : 0;
}

/* 0: the terminal does not say. */
static size_t reported(FILE *out) {
    struct winsize size = {0};
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static size_t first_known(FILE *out, size_t a, size_t b) {
    if (!isatty(fileno(out)))
        return 0;
    return a > 0 ? a : b > 0 ? b : WIDTH_USUAL;
}

size_t gt_terminal_width(FILE *out) {
    return first_known(out, asked(), reported(out));
}

size_t gt_terminal_window(FILE *out) {
    return first_known(out, reported(out), asked());
}
