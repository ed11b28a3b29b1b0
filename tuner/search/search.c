/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.c - the frame around a strategy: starts, taken points, the end of the search, and
 * the queue of answers.
 *
 * Answers come whenever the device has them, but a strategy must not see such differences.
 * So they wait in a queue. Just before pick i is made, the answers of picks 0 .. i - ahead
 * are delivered (for a start, of picks 0 .. i - starts_ahead). When a strategy says WAIT,
 * further answers are delivered one at a time, in the order of asking, until it has a pick.
 */
#include "tuner/search/search.h"

#include "core/mix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t gt_random(uint64_t *state) {
    return gt_mix(*state += GT_MIX_STEP);
}

double gt_random_uniform(uint64_t *state) {
    return (double)(gt_random(state) >> 11) * 0x1p-53;
}

/* ---- the search around a strategy ---- */

struct answer {
    struct gt_pick pick;
    gt_outcome outcome;
    double ns;
};

struct gt_search {
    struct gt_search_setup setup;
    const struct gt_strategy *strategy;
    void *self;
    unsigned char **taken; /* by space, by index */
    float **told;          /* by space and index: NAN unknown, HUGE_VAL a failure */
    size_t *left;          /* by space: number of points not taken */
    size_t total, given;
    int starts_done;     /* entries of setup.start that were looked at */
    size_t starts_given; /* starts that were given out */
    /* told but not delivered: a ring of `room` entries, the largest number of open picks */
    struct answer *queue;
    size_t room, first, queued;
    size_t delivered; /* number of answers that the strategy has got */
    bool waits;       /* the strategy said WAIT and has got no answer since */
    bool reached;     /* a delivered answer was as fast as the target */
    uint64_t rng;
};

void gt_search_destroy(struct gt_search *s) {
    if (!s)
        return;
    if (s->self)
        s->strategy->destroy(s->self);
    for (int i = 0; s->taken && i < s->setup.spaces; i++)
        free(s->taken[i]);
    for (int i = 0; s->told && i < s->setup.spaces; i++)
        free(s->told[i]);
    free(s->taken);
    free(s->told);
    free(s->left);
    free(s->queue);
    free(s);
}

static bool allocate(struct gt_search *s) {
    const size_t spaces = (size_t)s->setup.spaces;
    s->taken = calloc(spaces + 1, sizeof *s->taken);
    s->told = calloc(spaces + 1, sizeof *s->told);
    s->left = calloc(spaces + 1, sizeof *s->left);
    s->queue = malloc(s->room * sizeof *s->queue);
    bool ok = s->taken && s->told && s->left && s->queue;
    for (size_t i = 0; ok && i < spaces; i++) {
        s->left[i] = s->setup.space[i].count;
        s->total += s->left[i];
        s->taken[i] = calloc(s->left[i] + 1, 1);
        s->told[i] = malloc((s->left[i] + 1) * sizeof *s->told[i]);
        ok = s->taken[i] && s->told[i];
        for (size_t j = 0; ok && j < s->left[i]; j++)
            s->told[i][j] = NAN;
    }
    return ok;
}

static bool starts_exist(const struct gt_search_setup *setup) {
    for (int i = 0; i < setup->starts; i++) {
        const struct gt_pick p = setup->start[i];
        if (p.space < 0 || p.space >= setup->spaces ||
            p.index >= setup->space[p.space].count)
            return false;
    }
    return true;
}

gt_status gt_search_create(struct gt_search **out, const struct gt_strategy *strategy,
                           const struct gt_search_setup *setup, struct gt_err *err) {
    *out = NULL;
    if (!starts_exist(setup))
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "a starting point of the search is not in its space");
    struct gt_search *s = calloc(1, sizeof *s);
    if (!s)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    s->setup = *setup;
    s->setup.ahead = setup->ahead > 0 ? setup->ahead : 1;
    if (s->setup.starts_ahead < s->setup.ahead)
        s->setup.starts_ahead = s->setup.ahead;
    s->strategy = strategy;
    s->rng = setup->seed;
    s->room = (size_t)s->setup.starts_ahead;
    gt_status status = allocate(s)
                           ? strategy->create(&s->self, s, err)
                           : gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    if (status != GEMMTUNE_OK) {
        gt_search_destroy(s);
        return status;
    }
    *out = s;
    return GEMMTUNE_OK;
}

static enum gt_ask give_out(struct gt_search *s, struct gt_pick p, struct gt_pick *out) {
    s->taken[p.space][p.index] = 1;
    s->left[p.space]--;
    s->given++;
    *out = p;
    return GT_ASK_PICK;
}

/* Delivers one answer to the strategy. False when there is none. */
static bool deliver(struct gt_search *s) {
    if (s->queued == 0)
        return false;
    const struct answer a = s->queue[s->first];
    s->first = (s->first + 1) % s->room;
    s->queued--;
    s->delivered++;
    s->waits = false;
    s->told[a.pick.space][a.pick.index] =
        a.outcome == GT_CORRECT ? (float)a.ns : (float)HUGE_VAL;
    s->strategy->tell(s->self, &a.pick, a.outcome, a.ns);
    if (a.outcome == GT_CORRECT && a.ns <= s->setup.target_ns)
        s->reached = true;
    return true;
}

/* Finds the next start that is not taken. It stays the same until it is given out. */
static bool next_start(struct gt_search *s, struct gt_pick *out) {
    for (; s->starts_done < s->setup.starts; s->starts_done++) {
        *out = s->setup.start[s->starts_done];
        if (!gt_search_taken(s, *out))
            return true;
    }
    return false;
}

enum gt_ask gt_search_ask(struct gt_search *s, struct gt_pick *out) {
    struct gt_pick p;
    const bool is_start = next_start(s, &p);
    const int ahead = is_start ? s->setup.starts_ahead : s->setup.ahead;
    while (s->delivered + (size_t)ahead <= s->given)
        if (!deliver(s))
            return GT_ASK_WAIT;
    if (s->reached || s->given >= s->setup.budget || s->given == s->total)
        return GT_ASK_DONE;
    if (is_start) {
        if (s->strategy->add_start)
            s->strategy->add_start(s->self, &p);
        s->starts_given++;
        return give_out(s, p, out);
    }
    for (;;) {
        const bool early = s->strategy->after_starts && s->delivered < s->starts_given;
        const enum gt_ask answer =
            s->waits || early ? GT_ASK_WAIT : s->strategy->ask(s->self, &p);
        if (answer == GT_ASK_PICK)
            return give_out(s, p, out);
        s->waits = true;
        if (answer == GT_ASK_DONE || s->delivered == s->given)
            return GT_ASK_DONE;
        if (!deliver(s))
            return GT_ASK_WAIT;
        if (s->reached)
            return GT_ASK_DONE;
    }
}

/* At most `room` picks are open, so the ring has a place for the answer of each. */
void gt_search_tell(struct gt_search *s, const struct gt_pick *pick, gt_outcome outcome,
                    double ns) {
    if (s->queued == s->room)
        return; /* was told twice */
    s->queue[(s->first + s->queued++) % s->room] = (struct answer){*pick, outcome, ns};
}

/* ---- for strategies ---- */

const struct gt_search_setup *gt_search_setup_of(const struct gt_search *s) {
    return &s->setup;
}

bool gt_search_taken(const struct gt_search *s, struct gt_pick p) {
    return s->taken[p.space][p.index] != 0;
}

double gt_search_told(const struct gt_search *s, struct gt_pick p) {
    return (double)s->told[p.space][p.index];
}

size_t gt_search_left(const struct gt_search *s, int space) {
    return s->left[space];
}

size_t gt_search_below(struct gt_search *s, size_t below) {
    /* `below` is far less than 2^64, so the bias is negligible */
    return (size_t)(gt_random(&s->rng) % below);
}

double gt_search_uniform(struct gt_search *s) {
    return gt_random_uniform(&s->rng);
}

bool gt_search_any_of(struct gt_pick *out, struct gt_search *s, int space) {
    enum { TRIES = 32 };
    const size_t count = s->setup.space[space].count;
    *out = (struct gt_pick){.space = space};
    if (s->left[space] == 0)
        return false;
    for (int i = 0; i < TRIES; i++) {
        out->index = gt_search_below(s, count);
        if (!gt_search_taken(s, *out))
            return true;
    }
    size_t skip = gt_search_below(s, s->left[space]); /* few are left: count through them */
    for (out->index = 0;; out->index++)
        if (!gt_search_taken(s, *out) && skip-- == 0)
            return true;
}

bool gt_search_any(struct gt_pick *out, struct gt_search *s) {
    if (s->given == s->total)
        return false;
    size_t at = gt_search_below(s, s->total - s->given);
    int space = 0;
    while (at >= s->left[space])
        at -= s->left[space++];
    return gt_search_any_of(out, s, space);
}

int gt_search_neighbours(struct gt_pick *out, int room, const struct gt_space *space,
                         struct gt_pick p, bool far) {
    unsigned char at[GT_POINT_MAX];
    int found = 0;
    memcpy(at, space->idx + p.index * (size_t)space->params, (size_t)space->params);
    for (int i = 0; i < space->params; i++) {
        const int here = at[i], last = space->family->param[i].count - 1;
        const int low = far ? 0 : here - 1, high = far ? last : here + 1;
        for (int v = low < 0 ? 0 : low; v <= high && v <= last && found < room; v++) {
            at[i] = (unsigned char)v;
            const size_t index = v == here ? SIZE_MAX : gt_space_at(space, at);
            if (index != SIZE_MAX)
                out[found++] = (struct gt_pick){p.space, index};
        }
        at[i] = (unsigned char)here;
    }
    return found;
}
