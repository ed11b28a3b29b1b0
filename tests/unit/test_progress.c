/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress lines of long commands: a line that rewrites itself on a terminal, plain
 * lines elsewhere, nothing with --quiet. The time left is that of the problem, and of all
 * problems once some are done.
 */
#include "tests/unit/capture.h"

#include "core/clock.h"
#include "tuner/base/progress.h"

#include <string.h>

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
                        "\r\033[K[3/5] f32-nn-8x8x8  13 trials, 2.5/s  best so far 100 "
                        "GFLOP/s (tile)  4 s left, 24 s of all");
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
    assert_non_null(strstr(said, "  4 s left, 100 s of all"));
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quiet),         cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_elsewhere),     cmocka_unit_test(test_left),
        cmocka_unit_test(test_left_at_first), cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_relay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
