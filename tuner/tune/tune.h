/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - one problem on one device, from candidates to stored records. The parent's side:
 * it asks the search, keeps the compilers and the run worker busy, and commits every trial.
 */
#ifndef GT_TUNER_TUNE_TUNE_H
#define GT_TUNER_TUNE_TUNE_H

#include "db/db.h"
#include "tuner/search/outlook.h"
#include "tuner/work/pool.h"
#include "tuner/base/progress.h"
#include "tuner/search/search.h"
#include "tuner/base/sweep.h"

#include <pthread.h>
#include <stdatomic.h>

/* How much to look at. */
struct gt_effort {
    const char *name;
    size_t trials;       /* a problem, at most */
    double gpu_s, cpu_s; /* seconds a problem, at most, by kind of device; 0: no limit */
};
extern const struct gt_effort
    gt_efforts[]; /* ended by a NULL name; "normal" is the default */
const struct gt_effort *gt_effort_find(const char *name);
/* The one of this name, or NULL; without a name a budget limits time and not trials. */
const struct gt_effort *gt_effort_choose(const char *name, double budget_s);

/* What is made for the next problem while one is tuned: see ahead.h. */
struct gt_ahead {
    const struct gt_tuner *tuner;
    const struct gt_sweep_item *item; /* the next problem; NULL: nothing was begun */
    bool running;                     /* `thread` makes the spaces */
    atomic_bool done;                 /* it has: joining it takes no time */
    pthread_t thread;
    struct gt_space *space; /* NULL: there are none, or they were taken */
    int spaces;
    struct gt_outlook outlook; /* of them */
    struct gt_err untried;     /* families that have none */
};

/* What stays the same over a whole run. */
struct gt_tuner {
    struct gt_db *db;
    int64_t run_id;
    struct gt_device device;
    char device_key[GT_DEVICE_KEY_MAX];
    const struct gt_families *families;
    const struct gt_texts *only; /* families to try; none: all */
    struct gt_pool *pool;
    int compilers;   /* of the pool, that compile ahead; 0: none */
    int64_t next_id; /* of jobs; never given twice, so that a late report finds nobody */
    const struct gt_strategy *strategy;
    const struct gt_effort *effort;
    uint64_t seed;
    struct gt_progress progress;
    /* the problem after the one to be tuned; may be NULL */
    const struct gt_sweep_item *next;
    struct gt_ahead ahead;
    struct gt_err untried; /* families that could not be counted, as last said */
    bool strict; /* seconds are a budget: work that goes on beyond them is cut off */
    volatile const int *stop; /* set by a signal: finish the trial, save, end */
};

/* The best of the search, GT_BEST_STEADY of them at most where the clock stayed, and one
 * more for each usual workspace that is too small for all of those, and one of each family
 * that winners are compared with. */
enum {
    GT_BEST_STEADY = 5,
    GT_BEST_MAX = 8,
    GT_WORKSPACE_LIMITS = 2,
    GT_COMPARED = 2, /* families that winners are compared with: baseline and textbook */
    GT_FINALISTS_MAX = GT_BEST_MAX + GT_WORKSPACE_LIMITS + GT_COMPARED
};

/* What came of a problem. */
struct gt_tune_result {
    char error[512];        /* "" or why it was not tuned */
    bool before;            /* it was not searched: it had been tuned before */
    size_t trials, fresh;   /* known in all; of them measured by this run */
    size_t tried_elsewhere; /* points that another process was at */
    size_t abandoned;       /* points whose worker somebody else killed */
    size_t outcome[GT_OUTCOMES];
    size_t legal;        /* points */
    int winners;         /* entries of winner, best first */
    int64_t measured_ms; /* when their finals began, since 1970 */
    struct {
        struct gt_candidate candidate;
        struct gt_measurement time;
        bool tied; /* with the first */
    } winner[GT_FINALISTS_MAX];
    /* Best medians of the families with these roles, in the finals where one took part;
     * 0: none. */
    double baseline_ns, textbook_ns;
    double seconds;         /* from start to end, finals included */
    struct gt_pool_use use; /* of those */
    struct gt_spent spent;  /* of its trials' jobs, in the run worker */
    int dropped;            /* samples, for a throttled clock */
};

/* EDB and EIO: the database; everything else about this problem alone is in result->error.
 */
gt_status gt_tune_problem(struct gt_tune_result *result, struct gt_tuner *t,
                          const struct gt_sweep_item *item, double seconds,
                          struct gt_err *err);

/* Point `index` of a space, as jobs name it. */
void gt_tune_candidate(struct gt_candidate *out, const struct gt_space *space,
                       size_t index);
/* Whether the family is one of those to try. */
bool gt_tune_wants(const struct gt_tuner *t, const struct gt_family *f);
/* The spaces of every family that serves the problem on the device; *spaces of them.
 * Families whose points cannot be counted are left out; `untried` says which and why, or is
 * "". EUNSUPPORTED when no family serves it, EINVAL when those that do cannot be counted.
 */
gt_status gt_tune_spaces(struct gt_space **out, int *spaces, struct gt_err *untried,
                         const struct gt_tuner *t, const gemmtune_problem *p,
                         struct gt_err *err);
void gt_tune_spaces_free(struct gt_space *space, int spaces);

#endif
