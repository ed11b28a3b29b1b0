/* SPDX-License-Identifier: Apache-2.0 */
/* bench_blame.c - see bench_blame.h. */
#include "tuner/bench/bench_blame.h"

#include <stdio.h>
#include <string.h>

static bool is_left_out(const struct gt_bench_suspect *s) {
    return s->skips_line || s->dropped;
}

unsigned gt_bench_blame_present(const struct gt_bench_blame *x) {
    unsigned present = x->requested;
    for (int i = 0; i < GT_RIVALS; i++)
        if (is_left_out(&x->rival[i]))
            present &= ~(1u << i);
    return present;
}

bool gt_bench_blame_any_skips(const struct gt_bench_blame *x) {
    for (int i = 0; i < GT_RIVALS; i++)
        if (x->rival[i].skips_line)
            return true;
    return false;
}

/* `wrong`: how many of its variants were wrong before. */
static void leave_out(struct gt_bench_suspect *s, gt_outcome outcome, const char *text,
                      int wrong) {
    s->reason = (struct gt_bench_side){.outcome = outcome, .wrong = wrong};
    snprintf(s->reason.error, sizeof s->reason.error, "%s", text);
    s->skips_line = true;
}

void gt_bench_blame_rivals(struct gt_bench_blame *x, int active,
                           const struct gt_bench_line *line, gt_outcome outcome,
                           const char *text) {
    const unsigned all = gt_bench_blame_present(x);
    if (active >= 0 && active < GT_RIVALS && all & 1u << active) {
        leave_out(&x->rival[active], outcome, text, line->rival[active].wrong);
        return;
    }
    for (int i = 0; i < GT_RIVALS; i++) {
        const struct gt_bench_side *s = &line->rival[i];
        char beside[GT_VERDICT_TEXT_MAX];
        snprintf(beside, sizeof beside, "ours failed beside it (%.200s)", text);
        if (all & 1u << i)
            leave_out(&x->rival[i], s->error[0] ? s->outcome : outcome,
                      s->error[0] ? s->error : beside, s->wrong);
    }
}

/* A rival loses a line when ours fails beside it and not without it. */
static void count_lost_line(struct gt_bench_suspect *s, bool lost) {
    char text[sizeof s->reason.error];
    s->lost_lines = lost ? s->lost_lines + 1 : 0;
    if (s->lost_lines < GT_BENCH_FAILURES_MAX)
        return;
    s->dropped = true;
    snprintf(text, sizeof text, "%.200s; as before: it takes no part any more",
             s->reason.error);
    memcpy(s->reason.error, text, sizeof text);
}

void gt_bench_blame_settle(struct gt_bench_line *line, struct gt_bench_blame *x,
                           bool failed) {
    for (int i = 0; i < GT_RIVALS; i++) {
        struct gt_bench_suspect *s = &x->rival[i];
        count_lost_line(s, s->skips_line && !failed);
        if (is_left_out(s)) {
            line->rival[i] = s->reason;
            s->reason.wrong = 0; /* it has no candidates on later lines */
        }
        s->skips_line = false;
    }
}
