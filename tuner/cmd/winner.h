/* SPDX-License-Identifier: Apache-2.0 */
/*
 * winner.h - the fastest stored kernel of a problem, with less workspace too, and beside
 * vendors' libraries. No device.
 */
#ifndef GT_TUNER_CMD_WINNER_H
#define GT_TUNER_CMD_WINNER_H

#include "runtime/lookup/duels.h"
#include "tuner/base/view.h"

struct gt_winner {
    const struct gt_view *view;
    const struct gt_view_row *row; /* the other records of its problem follow it */
    const struct gt_families *families;
    /* the fastest kernel that needs at most 32 MiB beside a vendor's library, and the one
     * that needs none; or NULL */
    const struct gt_duel *duel, *duel_without;
    char vendor[64]; /* "cublas 13.10.0" of `duel`, or "" */
};

/* `row` has rank 0 in a view with ranks. */
void gt_winner_find(struct gt_winner *out, const struct gt_view *view,
                    const struct gt_view_row *row, const struct gt_families *families,
                    const struct gt_duels *duels);
/* Bytes of workspace that a record of the problem needs; NAN when it is outdated, or cannot
 * run its problem. */
double gt_winner_workspace(const struct gt_winner *w, const struct gt_view_row *r);
/* The time of the fastest record that needs at most so many bytes; NAN: there is none. */
double gt_winner_within_ns(const struct gt_winner *w, double bytes);
/* "verified" here, "imported", "stale" or "no family". */
const char *gt_winner_status(const struct gt_winner *w);
/* Ratios and verdicts as bench prints them; NAN and NULL where `d` is NULL. */
double gt_winner_ratio(const struct gt_duel *d);
const char *gt_winner_verdict(const struct gt_duel *d);
/* A ratio with four digits. */
double gt_winner_rounded(double ratio);
/* Operations of a problem, by its name; 0: it is none. */
double gt_winner_flops(const char *problem);

#endif
