/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - tunes one problem on one device, from candidates to stored records. This is the
 * parent's side: it asks the search, keeps the compilers and the run worker busy, and
 * commits every trial.
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

struct gt_seeds;

/* How long and how far a search goes. */
struct gt_effort {
    const char *name;
    size_t trials;       /* at most, for each problem */
    double gpu_s, cpu_s; /* seconds for each problem, by kind of device; 0: no limit */
};
extern const struct gt_effort
    gt_efforts[]; /* the last one's name is NULL; "normal" is the default */
const struct gt_effort *gt_effort_find(const char *name);
/* The effort of this name, or NULL when there is none. With a budget and no name, only time
 * is limited, not trials. */
const struct gt_effort *gt_effort_choose(const char *name, double budget_s);

/* The parts of the next problem that are made while one is tuned: see ahead.h. */
struct gt_ahead {
    const struct gt_tuner *tuner;
    const struct gt_sweep_item *item; /* the next problem; NULL: there is none */
    char order[GT_ORDER_MAX];         /* its order of sums, or "" (row_order.h) */
    bool running;                     /* `thread` is making the spaces */
    /* the thread has finished, so joining it takes no time */
    atomic_bool done;
    pthread_t thread;
    struct gt_space *space; /* NULL: not made, or handed over */
    int spaces;
    struct gt_outlook outlook; /* on the spaces */
    struct gt_err untried;     /* names the families with points that cannot be counted */
    struct gt_starts *starts;  /* the first candidates, once compilers ask; NULL before */
    int sent;                  /* how many of them compilers have got */
};

/* The parts that stay the same during a run. */
struct gt_tuner {
    struct gt_db *db;
    int64_t run_id;
    struct gt_device device;
    char device_key[GT_DEVICE_KEY_MAX];
    const struct gt_families *families;
    struct gt_seeds *seeds;      /* for the first trials; NULL: none */
    const struct gt_texts *only; /* names of the families to try; empty: all */
    /* Candidates that need more than workspace_max bytes of workspace are left out. */
    bool limits_workspace;
    int64_t workspace_max;
    struct gt_pool *pool;
    int compilers; /* compile workers of the pool; 0: none */
    /* Seconds that a candidate takes in a compile worker, a running mean; 0: not known */
    double compile_s;
    double finals_s; /* the same for the finals of a problem */
    int64_t next_id; /* of jobs; never used twice, so that a late report matches no entry */
    const struct gt_strategy *strategy;
    const struct gt_effort *effort;
    uint64_t seed;
    struct gt_progress progress;
    /* the problem after the present one; may be NULL */
    const struct gt_sweep_item *next;
    struct gt_ahead ahead;
    struct gt_err untried; /* the last line about families that cannot be counted */
    bool strict; /* the limit counts for the whole problem, set-up and finals included; else
                  * for its search */
    bool trials_only;              /* choose no winner */
    bool teaches;                  /* trials are to teach forecasts, and no table is made */
    struct gt_tune_orders *orders; /* of problems with row_order (row_order.h) */
    volatile const int *stop;      /* a signal sets it: end, and store nothing more */
};

/* The finalists of a problem: the best of the search (at most GT_BEST_STEADY of them where
 * the clock stayed up), one more for each usual workspace that is too small for all of
 * those, and one of each family that winners are compared with. The best within such a
 * workspace meet in finals of their own (finals_limit.h). */
enum {
    GT_BEST_STEADY = 5,
    GT_BEST_MAX = 8,
    GT_WORKSPACE_LIMITS = 2,                 /* none, and what a one-call form has */
    GT_LIMITS_MAX = GT_WORKSPACE_LIMITS + 1, /* and the limit of the search */
    GT_LIMITED_MAX = 3,                      /* finalists within such a limit */
    GT_COMPARED = 2, /* roles that winners are compared with: baseline and textbook */
    GT_FINALISTS_MAX = GT_BEST_MAX + GT_LIMITS_MAX + GT_COMPARED
};

/* The result of tuning a problem. */
struct gt_tune_result {
    char error[512];        /* the reason when it was not tuned, or "" */
    bool before;            /* it was not searched, because it had been tuned before */
    bool undecided;         /* trials_only: there are trials, and no finals */
    bool reached;           /* the run came to it */
    size_t trials, fresh;   /* with a known outcome; measured by this run */
    size_t tried_elsewhere; /* points that another process was trying */
    size_t abandoned;       /* points that lost their worker to another program */
    size_t outcome[GT_OUTCOMES];
    size_t legal;        /* number of legal points */
    int winners;         /* number of entries in winner, best first */
    int64_t measured_ms; /* time at which the finals began, since 1970 */
    struct {
        struct gt_candidate candidate;
        struct gt_measurement time;
        int64_t workspace_bytes; /* that it needs; INT64_MAX: it cannot run the problem */
        bool tied;               /* with the first one */
    } winner[GT_FINALISTS_MAX];
    /* Best medians of the families with these roles, measured in the finals if they took
     * part; 0: none. */
    double baseline_ns, textbook_ns;
    double seconds;         /* the whole problem, finals included */
    struct gt_pool_use use; /* the pool's use of these seconds */
    struct gt_spent spent;  /* seconds that the run worker spent on its trials */
    int dropped;            /* samples dropped because the clock was throttled */
};

/* Tunes within `seconds`; 0: no limit. They limit the search, or with t->strict the
 * whole problem:
 * - Required candidates (starts.h) and the finals are measured even when that takes longer.
 * - Other trials end when an eighth more of the seconds is over, required ones when some
 *   seconds more are.
 * EDB and EIO: a failure of the database. All other failures concern this problem only and
 * are in result->error. */
gt_status gt_tune_problem(struct gt_tune_result *result, struct gt_tuner *t,
                          const struct gt_sweep_item *item, double seconds,
                          struct gt_err *err);

/* Makes the candidate of point `index` of a space. */
void gt_tune_candidate(struct gt_candidate *out, const struct gt_space *space,
                       size_t index);
/* Whether the family is among those to try. */
bool gt_tune_wants(const struct gt_tuner *t, const struct gt_family *f);
/* Makes the spaces of all families that serve the problem on the device and have a legal
 * point for it. Families with points that cannot be counted are left out; `untried` names
 * them with the reason, or is "". The families are shared among the cores of the calling
 * thread. `order`: the order of sums, where the problem has row_order; else "".
 * EUNSUPPORTED when there is no such family; EINVAL when there is none, and the points of
 * some cannot be counted. */
gt_status gt_tune_spaces(struct gt_space **out, int *spaces, struct gt_err *untried,
                         const struct gt_tuner *t, const gemmtune_problem *p,
                         const char *order, struct gt_err *err);
void gt_tune_spaces_free(struct gt_space *space, int spaces);
/* The points of these spaces; counting ends at `enough`, and *points is then that or more.
 * Fails as gt_tune_spaces, by what was counted. */
gt_status gt_tune_count(size_t *points, size_t enough, const struct gt_tuner *t,
                        const gemmtune_problem *p, struct gt_err *err);

#endif
