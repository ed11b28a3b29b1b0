/* SPDX-License-Identifier: Apache-2.0 */
/* say.c - see say.h. The program's stdio may be gone at exit, so the line is written at
 * once. */
#include "shim/say.h"

#include "shim/state.h"
#include "shim/table.h"
#include "shim/trouble.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

struct line {
    char text[4096];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *fmt,
                                                      ...) {
    va_list args;
    va_start(args, fmt);
    const int length =
        vsnprintf(l->text + l->length, sizeof l->text - l->length, fmt, args);
    va_end(args);
    if (length > 0 && l->length + (size_t)length < sizeof l->text)
        l->length += (size_t)length;
}

struct sums {
    uint64_t calls, served, compared, wrong, passed[GT_SHIM_REASON_COUNT], all_passed;
    double saved_ns;
    bool own_math[2]; /* served as split, as residues */
    const char *first_wrong;
};

static void sum_entry(struct gt_shim_entry *e, void *user) {
    struct sums *s = user;
    const uint64_t served = atomic_load(&e->served);
    s->calls += atomic_load(&e->calls);
    s->served += served;
    s->compared += atomic_load(&e->compared);
    s->wrong += atomic_load(&e->wrong);
    s->saved_ns += (double)served * e->saved_ns;
    if (atomic_load(&e->wrong) > 0 && s->first_wrong == NULL)
        s->first_wrong = e->name;
    if (served > 0) {
        s->own_math[0] |= e->key.math == GEMMTUNE_MATH_SPLIT;
        s->own_math[1] |= e->key.math == GEMMTUNE_MATH_RESIDUES;
    }
}

static void sum_up(struct sums *s, struct gt_shim_state *state) {
    gt_shim_each(sum_entry, s);
    for (int i = 0; i < GT_SHIM_IDS; i++)
        for (int why = 0; why < GT_SHIM_REASON_COUNT; why++) {
            const uint64_t count = atomic_load(&state->passed[i][why]);
            s->passed[why] += count;
            s->all_passed += count;
        }
}

static void say_served(struct line *l, const struct sums *s, enum gt_shim_does does) {
    const uint64_t all = s->served + s->all_passed;
    if (does == GT_SHIM_CHECK)
        add(l,
            "%" PRIu64 " of %" PRIu64 " GEMM calls checked, %" PRIu64 " compared, %" PRIu64
            " wrong",
            s->served, all, s->compared, s->wrong);
    else
        add(l,
            "%" PRIu64 " of %" PRIu64
            " GEMM calls served, %.3g s saved by the stored times",
            s->served, all, s->saved_ns * 1e-9);
    if (s->first_wrong != NULL)
        add(l, " (%s)", s->first_wrong);
    if (s->own_math[0] || s->own_math[1])
        add(l, ", %s%s%s", s->own_math[0] ? "f32 as f32@split" : "",
            s->own_math[0] && s->own_math[1] ? ", " : "",
            s->own_math[1] ? "f64 as f64@residues" : "");
}

/* The reasons, the most frequent one first. */
static void say_passed(struct line *l, struct sums *s) {
    const char *before = "; passed on: ";
    for (int turn = 0; turn < GT_SHIM_REASON_COUNT; turn++) {
        int most = 0;
        for (int why = 1; why < GT_SHIM_REASON_COUNT; why++)
            if (s->passed[why] > s->passed[most])
                most = why;
        if (s->passed[most] == 0)
            return;
        add(l, "%s%" PRIu64 " %s", before, s->passed[most], gt_shim_words[most]);
        s->passed[most] = 0;
        before = ", ";
    }
}

void gt_shim_say(struct gt_shim_state *state) {
    const char *trouble = gt_shim_first_trouble();
    struct line l = {.length = 0};
    struct sums s = {0};
    sum_up(&s, state);
    add(&l, "gemmtune: ");
    if (state->mode.does == GT_SHIM_SERVE || state->mode.does == GT_SHIM_CHECK) {
        say_served(&l, &s, state->mode.does);
        say_passed(&l, &s);
        if (trouble[0] != '\0')
            add(&l, "; ");
    } else if (trouble[0] == '\0') {
        return;
    }
    add(&l, "%s\n", trouble);
    (void)!write(STDERR_FILENO, l.text, l.length);
}
