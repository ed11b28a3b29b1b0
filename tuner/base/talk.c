/* SPDX-License-Identifier: Apache-2.0 */
/* talk.c - see talk.h. */
#include "tuner/base/talk.h"

#include "core/text.h"
#include "tuner/base/terminal.h"
#include "tuner/base/wrap.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { LINE_BYTES = 2048, INDENT = 4 }; /* long enough for an error line with a path */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a line is printed */
static bool drawn; /* the terminal's last line is one that is rewritten */

static const char erase[] = "\r\033[K"; /* the line that the cursor is in */

static void clear(void) {
    (void)fflush(stdout);
    if (drawn)
        (void)fputs(erase, stderr);
    drawn = false;
}

void gt_talk_clear(void) {
    (void)pthread_mutex_lock(&lock);
    clear();
    (void)pthread_mutex_unlock(&lock);
}

void gt_talk_redraw(const char *text) {
    const size_t width = gt_terminal_window(stderr);
    /* where its last column is used, a terminal may begin a new line */
    const size_t most = width > 0 ? width - 1 : (size_t)-1;
    (void)pthread_mutex_lock(&lock);
    (void)fflush(stdout);
    fprintf(stderr, "%s%.*s", erase, (int)gt_wrap_part(text, most), text);
    (void)fflush(stderr);
    drawn = true;
    (void)pthread_mutex_unlock(&lock);
}

static void say(const char *head, const char *fmt, va_list args) GT_PRINTF(2, 0);

static void say(const char *head, const char *fmt, va_list args) {
    char line[LINE_BYTES];
    struct gt_wrap w = gt_wrap_begin(stderr, INDENT);
    const size_t len = (size_t)snprintf(line, sizeof line, "%s", head);
    gt_text_line(line + len, sizeof line - len, fmt, args);
    (void)pthread_mutex_lock(&lock);
    clear();
    if (w.room == 0 || gt_wrap_width(line) <= w.room) {
        fprintf(stderr, "%s\n", line); /* one write: other processes may speak, too */
    } else {
        gt_wrap_words(&w, line);
        gt_wrap_end(&w);
    }
    (void)pthread_mutex_unlock(&lock);
}

void gt_talk_args(const char *fmt, va_list args) {
    say("gemmtune: ", fmt, args);
}

void gt_talk(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    gt_talk_args(fmt, args);
    va_end(args);
}

void gt_talk_line(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    say("", fmt, args);
    va_end(args);
}
