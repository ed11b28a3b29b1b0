/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress lines of long commands: a line that rewrites itself on a terminal, plain
 * lines elsewhere, nothing with --quiet. The time left is meant for the problem, and for
 * all problems once some are done.
 */
#define _XOPEN_SOURCE   700 /* for posix_openpt */
#define _DEFAULT_SOURCE     /* for struct winsize */
#include "tests/unit/capture.h"

#include "core/clock.h"
#include "tuner/base/progress.h"
#include "tuner/base/talk.h"
#include "tuner/base/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

static char said[4096];

static struct gt_progress started(bool live, bool quiet, size_t problems) {
    struct gt_progress p;
    gt_progress_init(&p, problems, quiet);
    p.live = live;
    return p;
}

/* Everything that the four functions say of a short loop. */
static void say_all(struct gt_progress *p) {
    FILE *file = tmpfile();
    assert_non_null(file);
    const int kept = capture(STDERR_FILENO, file);
    gt_progress_say(p, "opening");
    gt_progress_step(p, "a step");
    for (size_t i = 0; i < 3; i++) {
        p->shown = 0;
        gt_progress_count(p, "counting", i, 3);
    }
    gt_progress_end(p);
    gt_progress_line(p, "done");
    release(STDERR_FILENO, kept, file, said, sizeof said);
}

static void test_quiet(void **state) {
    (void)state;
    for (int live = 0; live < 2; live++) {
        struct gt_progress p = started(live != 0, true, 1);
        say_all(&p);
        assert_string_equal(said, "");
    }
}

static void test_terminal(void **state) {
    (void)state;
    struct gt_progress p = started(true, false, 1);
    say_all(&p);
    assert_non_null(strstr(said, "\r\033[Kopening"));
    assert_non_null(strstr(said, "\r\033[Ka step"));
    assert_non_null(strstr(said, "\r\033[Kcounting: 1 of 3, "));
    assert_non_null(strstr(said, " s left"));
    assert_string_equal(strrchr(said, '\r'), "\r\033[Kdone\n");
}

/* Short work says nothing of its steps; long work does, a line each. */
static void test_elsewhere(void **state) {
    (void)state;
    struct gt_progress p = started(false, false, 1);
    say_all(&p);
    assert_string_equal(said, "gemmtune: opening\ndone\n");

    FILE *file = tmpfile();
    assert_non_null(file);
    const int kept = capture(STDERR_FILENO, file);
    gt_progress_count(&p, "counting", 0, 10);
    p.count_began -= 100; /* as if it had begun long ago */
    p.shown = 0;
    gt_progress_count(&p, "counting", 5, 10);
    gt_progress_count(&p, "counting", 6, 10); /* too soon */
    release(STDERR_FILENO, kept, file, said, sizeof said);
    assert_string_equal(said, "gemmtune: counting: 5 of 10, 100 s left\n");
}

/* Two problems took 10 s each; the third has 4 s left, and two are to come. */
static void test_left(void **state) {
    (void)state;
    struct gt_progress p = started(true, false, 5);
    p.problem = 3;
    p.started = gt_seconds() - 20;
    FILE *file = tmpfile();
    assert_non_null(file);
    const int kept = capture(STDERR_FILENO, file);
    gt_progress_show(&p, "f32-nn-8x8x8", 13, 0, 2.5, 100, "tile", 4);
    release(STDERR_FILENO, kept, file, said, sizeof said);
    assert_string_equal(said,
                        "\r\033[K[3/5] f32-nn-8x8x8  13 trials, 2.5/s, 4 s left, 24 s of "
                        "all  best so far 100 GFLOP/s (tile)");
}

/* A terminal of our own as stderr. Returns its other end. */
static int open_terminal(int *kept) {
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    const int end = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(end >= 0);
    *kept = dup(STDERR_FILENO);
    assert_int_equal(dup2(end, STDERR_FILENO), STDERR_FILENO);
    (void)close(end);
    return master;
}

static void resize(int master, unsigned short columns) {
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
}

/* The text that has come since, without the order that erases a line. */
static const char *shown(int master) {
    static const char erase[] = "\r\033[K";
    struct pollfd more = {.fd = master, .events = POLLIN};
    ssize_t got = 0;
    do { /* a terminal passes on what it has whenever it likes */
        const ssize_t part = read(master, said + got, sizeof said - 1 - (size_t)got);
        assert_true(part > 0);
        got += part;
    } while (poll(&more, 1, 100) > 0);
    said[got] = '\0';
    assert_memory_equal(said, erase, strlen(erase));
    return said + strlen(erase);
}

/* The line is cut to the width that the terminal has now, so that it does not go on below.
 * The first figures of a long line are the ones that matter. */
static void test_width(void **state) {
    static const unsigned short columns[] = {80, 40, 132, 20};
    int kept;
    (void)state;
    unsetenv("COLUMNS");
    const int master = open_terminal(&kept);
    struct gt_progress p = started(true, false, 6);
    assert_true(p.live);
    p.problem = 1;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        resize(master, columns[i]);
        p.shown = 0;
        gt_progress_show(&p, "f32-nn-64x96x128,lda=1000,ldb=1000,ldc=1000,beta", 12, 256,
                         2.9, 123.4, "multistage", 7);
        assert_in_range(strlen(shown(master)), 1, columns[i] - 1);
        p.shown = 0;
        gt_progress_crowd(&p, "2.9 trials/s, 7 s left  0: f32-nn-64x96x128 12 trials  1: "
                              "f32-nn-96x96x128 12 trials  2: f32-nn-128x96x128 12 trials");
        assert_in_range(strlen(shown(master)), 1, columns[i] - 1);
        gt_progress_step(&p, "[1/6] f32-nn-64x96x128,lda=1000,ldb=1000,ldc=1000,beta  256 "
                             "trials, measuring the best in turn");
        assert_in_range(strlen(shown(master)), 1, columns[i] - 1);
    }
    resize(master, 80);
    p.shown = 0;
    gt_progress_show(&p, "f32-nn-64x96x128,lda=1000,ldb=1000,ldc=1000,beta", 12, 256, 2.9,
                     123.4, "multistage", 7);
    assert_string_equal(shown(master), "[1/6] f32-nn-64x96x128,lda=1000,ldb=1000,ld...  "
                                       "12/256 trials, 2.9/s, 7 s left,");
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    (void)close(kept);
    (void)close(master);
}

/* The first problem has taken 20 s and has 4 s left, and four are to come. */
static void test_left_at_first(void **state) {
    (void)state;
    struct gt_progress p = started(true, false, 5);
    p.problem = 1;
    p.started = gt_seconds() - 20;
    FILE *file = tmpfile();
    assert_non_null(file);
    const int kept = capture(STDERR_FILENO, file);
    gt_progress_show(&p, "f32-nn-8x8x8", 13, 0, 2.5, 0, NULL, 4);
    release(STDERR_FILENO, kept, file, said, sizeof said);
    assert_non_null(strstr(said, ", 4 s left, 100 s of all"));
}

/* Tables may be wider than the window, for a pager; the line that is rewritten may not: it
 * would go on below, where nothing erases it. */
static void test_window_before_columns(void **state) {
    int kept;
    (void)state;
    const int master = open_terminal(&kept);
    resize(master, 40);
    setenv("COLUMNS", "200", 1);
    const size_t tables = gt_terminal_width(stderr);
    gt_talk_redraw("a line of more than forty characters, which has to be cut");
    assert_int_equal(strlen(shown(master)), 39);
    assert_int_equal(tables, 200);
    gt_talk_clear();
    unsetenv("COLUMNS");
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    (void)close(kept);
    (void)close(master);
}

enum { SPEAKERS = 8, SENTENCES = 40 };

static void *speak(void *letter) {
    for (int i = 0; i < SENTENCES; i++)
        gt_talk_line("%.20s %.20s", (const char *)letter, (const char *)letter);
    return NULL;
}

/* The library logs from several threads. A line that is wrapped is printed word by word,
 * and still no other one gets between. */
static void test_threads(void **state) {
    static char letters[SPEAKERS][24], all[1 << 16];
    pthread_t thread[SPEAKERS];
    struct pollfd more = {.events = POLLIN};
    int kept, lines = 0;
    size_t size = 0;
    (void)state;
    more.fd = open_terminal(&kept);
    resize(more.fd, 30);
    for (int i = 0; i < SPEAKERS; i++) {
        memset(letters[i], 'a' + i, 20);
        assert_int_equal(pthread_create(&thread[i], NULL, speak, letters[i]), 0);
    }
    while (lines < 2 * SPEAKERS * SENTENCES && poll(&more, 1, 10000) > 0) {
        const ssize_t got = read(more.fd, all + size, sizeof all - 1 - size);
        assert_true(got > 0);
        for (ssize_t i = 0; i < got; i++)
            lines += all[size + (size_t)i] == '\n';
        size += (size_t)got;
    }
    for (int i = 0; i < SPEAKERS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    (void)close(kept);
    (void)close(more.fd);
    assert_int_equal(lines, 2 * SPEAKERS * SENTENCES);
    const char *at = all; /* a terminal ends lines with CR LF */
    for (int i = 0; i < SPEAKERS * SENTENCES; i++, at += 20 + 2 + 4 + 20 + 2) {
        assert_memory_equal(at, letters[at[0] - 'a'], 20);
        assert_memory_equal(at + 20, "\r\n    ", 6);
        assert_memory_equal(at + 26, letters[at[0] - 'a'], 20);
    }
}

/* Several processes have one line, on a terminal alone, and not too often. */
static void test_crowd(void **state) {
    (void)state;
    for (int live = 0; live < 2; live++) {
        struct gt_progress p = started(live != 0, false, 9);
        FILE *file = tmpfile();
        assert_non_null(file);
        p.problem = 3;
        const int kept = capture(STDERR_FILENO, file);
        gt_progress_crowd(&p, "two of them at something long");
        gt_progress_crowd(&p, "too soon");
        release(STDERR_FILENO, kept, file, said, sizeof said);
        assert_string_equal(said,
                            live ? "\r\033[K[3/9] two of them at something long" : "");
    }
}

struct relayed {
    char notes[256];
};

static void note_down(void *user, const struct gt_progress_note *note) {
    struct relayed *r = user;
    const size_t used = strlen(r->notes);
    (void)snprintf(r->notes + used, sizeof r->notes - used, "%d %zu %g %s; ",
                   (int)note->kind, note->done, note->rate, note->text);
}

/* A process of several draws nothing: it passes on what it has to say. */
static void test_relay(void **state) {
    struct relayed relayed = {""};
    struct gt_progress p = started(true, false, 1);
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    p.relay = note_down;
    p.user = &relayed;
    const int kept = capture(STDERR_FILENO, file);
    gt_progress_show(&p, "a problem", 7, 9, 2.5, 100, "tile", 3);
    gt_progress_step(&p, "a step");
    gt_progress_line(&p, "a line");
    gt_progress_end(&p);
    release(STDERR_FILENO, kept, file, said, sizeof said);
    assert_string_equal(said, "");
    assert_string_equal(relayed.notes, "0 7 2.5 a problem; 1 0 0 a step; 2 0 0 a line; ");
}

/* Colours are for terminals that show them, and for people who want them. */
static void test_colours(void **state) {
    static const struct {
        const char *term, *no_color;
        bool wanted;
    } rows[] = {{"xterm", NULL, true},
                {"xterm", "", true},
                {"xterm", "1", false},
                {"dumb", NULL, false},
                {NULL, NULL, false}};
    int kept;
    (void)state;
    const int master = open_terminal(&kept);
    bool found[sizeof rows / sizeof *rows];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsetenv("NO_COLOR");
        unsetenv("TERM");
        if (rows[i].no_color != NULL)
            setenv("NO_COLOR", rows[i].no_color, 1);
        if (rows[i].term != NULL)
            setenv("TERM", rows[i].term, 1);
        found[i] = gt_terminal_colours(stderr);
    }
    setenv("TERM", "xterm", 1);
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_false(gt_terminal_colours(file));
    (void)fclose(file);
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    (void)close(kept);
    (void)close(master);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(found[i], rows[i].wanted);
}

/* The line that a test has left on what it took for a terminal is gone. */
static int erase(void **state) {
    (void)state;
    gt_talk_clear();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_quiet, erase),
        cmocka_unit_test_teardown(test_terminal, erase),
        cmocka_unit_test_teardown(test_elsewhere, erase),
        cmocka_unit_test_teardown(test_left, erase),
        cmocka_unit_test_teardown(test_left_at_first, erase),
        cmocka_unit_test_teardown(test_crowd, erase),
        cmocka_unit_test_teardown(test_relay, erase),
        cmocka_unit_test_teardown(test_width, erase),
        cmocka_unit_test_teardown(test_window_before_columns, erase),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
