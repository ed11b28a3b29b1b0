/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.h - a sweep on several equal devices at once. Each device has a member: a process of
 * this program with cores of its own. A member tunes as the program does on one device, and
 * stores its results in the same database. The program hands out problems to free members,
 * the costliest first or as they are listed (gt_sweep.in_order), and draws the progress of
 * all.
 */
#ifndef GT_TUNER_TUNE_CREW_H
#define GT_TUNER_TUNE_CREW_H

#include "tuner/rig/alike.h"
#include "tuner/tune/budget.h"

struct gt_crew_setup {
    const struct gt_alike *devices;
    /* `gemmtune member IN OUT WORD...`: the options of `gemmtune tune` that were given */
    const char *const *word;
    int words;
    struct gt_tuner *tuner; /* progress, stop */
    /* of the sweep; the crew leaves out problems that are given already */
    struct gt_budget *budget;
    /* A problem has ended: its result is there. */
    void (*ended)(void *user, size_t problem);
    void *user;
};

/* Fills result[i] of every problem that a member gets.
 * - When a member dies, another member tunes its problem. When two members die while tuning
 *   a problem, the problem is given up, and its result says so.
 * - A failure of the database ends all members.
 * - When the tuner is told to stop, members store their trials and end.
 * *code is the worst exit code of a member that ended early; 0: no member did. */
gt_status gt_crew_tune(struct gt_tune_result *result, int *code,
                       const struct gt_crew_setup *setup, struct gt_err *err);

#endif
