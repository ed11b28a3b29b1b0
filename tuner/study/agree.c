/* SPDX-License-Identifier: Apache-2.0 */
/* agree.c - see agree.h. */
#include "tuner/study/agree.h"

#include "tuner/base/quantile.h"
#include "tuner/lab/ratio.h"
#include "tuner/lab/race.h"

#include <math.h>
#include <string.h>

static int fastest(const struct gt_measurement *again, int winners) {
    int best = -1;
    for (int i = 0; i < winners; i++)
        if (again[i].samples > 0 &&
            (best < 0 || again[i].median_ns < again[best].median_ns))
            best = i;
    return best;
}

static int votes_for(int winner, const struct gt_agree_run *run, int runs) {
    int votes = 0;
    for (int i = 0; i < runs; i++)
        votes += run[i].choice == winner;
    return votes;
}

static int favourite(const struct gt_agree_run *run, int runs, int winners) {
    int best = 0;
    for (int i = 1; i < winners; i++)
        if (votes_for(i, run, runs) > votes_for(best, run, runs))
            best = i;
    return best;
}

static double over(const struct gt_measurement *own, const struct gt_measurement *other) {
    return gt_ratio_median(own, other) - 1;
}

static bool are_tied(const struct gt_measurement *a, const struct gt_measurement *b) {
    return a->samples > 0 && b->samples > 0 && gt_race_tied(a, b) && gt_race_tied(b, a);
}

static bool is_found_again(const struct gt_measurement *again,
                           const struct gt_measurement *stored) {
    return stored->low_ns <= again->median_ns && again->median_ns <= stored->high_ns;
}

void gt_agree(struct gt_agreement *out, struct gt_agree_run *run, int runs,
              const struct gt_measurement *again, int winners, int reference) {
    double regret[GT_AGREE_RUNS_MAX], over_reference[GT_AGREE_RUNS_MAX];
    const int best = fastest(again, winners), most = favourite(run, runs, winners);
    const bool has_reference = reference >= 0 && again[reference].samples > 0;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < winners; i++)
        out->winners += votes_for(i, run, runs) > 0;
    for (int i = 0; i < runs; i++) {
        struct gt_agree_run *r = &run[i];
        if (r->choice < 0 || again[r->choice].samples == 0)
            continue;
        /* the best one is not known exactly; a choice that is faster by chance has no
         * regret */
        r->regret = fmax(over(&again[r->choice], &again[best]), 0);
        r->over_reference = has_reference ? over(&again[r->choice], &again[reference]) : 0;
        r->found_again = is_found_again(&again[r->choice], &r->stored);
        over_reference[out->runs] = r->over_reference;
        regret[out->runs++] = r->regret;
        out->same += r->choice == most;
        out->same_tie += r->choice == most || (r->tied >> most & 1) ||
                         are_tied(&again[r->choice], &again[most]);
        out->found_again += r->found_again;
    }
    if (out->runs == 0)
        return;
    out->median_regret = gt_median(regret, (size_t)out->runs);
    out->most_regret = regret[out->runs - 1];
    out->median_over_reference = gt_median(over_reference, (size_t)out->runs);
}
