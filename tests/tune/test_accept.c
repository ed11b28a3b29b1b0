/* SPDX-License-Identifier: Apache-2.0 */
/* check: long */
/*
 * test_accept.c - no correct point is refused. Points are drawn at random, with a fixed
 * seed, from every family's legal ones on ragged problems, and each must be correct: the
 * other half of what test_mutants.c proves. Each family has every layout, and all families
 * together have every type in every layout that they serve. GT_LONG=N, from N = 2 on, is
 * for use by hand: each family has every type in every layout, with N points instead of one
 * and large tiles among them. N = 6 takes a quarter of an hour and more than the 600 s of
 * GT_TEST_TIMEOUT.
 */
#include "tuner/work/pool.h"
#include "tuner/rig/probe.h"
#include "tuner/search/search.h"
#include "tuner/search/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const families[] = {"naive",  "coalesced", "tile",   "block",
                                       "column", "skinny",    "vector", "multistage"};
static const char *const dtypes[] = {"f32", "f64",      "i32",  "f16",
                                     "i8",  "bf16=f32", "e4m3", "e5m2+e4m3=f16@fast"};
/* Rows that are and that are not multiples of a vector, with and without beta. */
static const char *const shapes[] = {
    "nn-61x67x71", "nt-37x129x65,lda=80,ldb=96,ldc=144,beta", "tn-131x31x97,beta",
    "tt-5x113x257,lda=16,ldb=272,ldc=128"};
enum { FAMILIES = 8, DTYPES = 8, SHAPES = 4, PROCESSES = 2 };

static struct gt_families *all;
static struct gt_device device;
static struct gt_pool *pool;
static struct gt_err err;
static int failures;
static int draws_long; /* GT_LONG */

static void need(gt_status status) {
    if (status == GEMMTUNE_OK)
        return;
    fprintf(stderr, "%s\n", err.line);
    exit(1);
}

/* Whether PoCL, which takes 20 s for the largest tiles, compiles it in about one second. */
static bool is_quick(const struct gt_point *p) {
    int64_t bm = 1, bn = 1;
    return !gt_point_get(p, "BM", &bm) || !gt_point_get(p, "BN", &bn) || bm * bn <= 2048;
}

/* Draws points with replacement. */
static void draw(struct gt_job *job, const char *family, const gemmtune_problem *p,
                 int count, uint64_t *random) {
    struct gt_space space;
    struct gt_point point;
    need(gt_space_create(&space, gt_families_find(all, family), &device, p, &err));
    for (job->count = 0; job->count < count; job->count++) {
        struct gt_candidate *c = &job->candidate[job->count];
        do
            gt_space_point(&space, gt_random(random) % space.count, &point);
        while (draws_long < 2 && !is_quick(&point));
        snprintf(c->family, sizeof c->family, "%s", family);
        gt_point_text(&point, c->point);
    }
    gt_space_clear(&space);
}

static void try_family(const char *problem, const char *family, int count,
                       uint64_t *random) {
    struct gt_job job;
    struct gt_report report;
    gemmtune_problem p;
    int right = 0;
    const char *why;
    need(gt_problem_from_name(&p, problem, &err));
    if (!gt_family_serves(gt_families_find(all, family), &device, &p, &why)) {
        printf("ok - %s %s # SKIP %s\n", problem, family, why);
        return;
    }
    gt_job_init(&job, GT_JOB_TRIAL, &device, problem);
    job.seed = 1;
    draw(&job, family, &p, count, random);
    need(gt_pool_run(&report, pool, &job, &err));
    for (int i = 0; i < report.count; i++) {
        const struct gt_result *r = &report.result[i];
        right += r->outcome == GT_CORRECT;
        if (r->outcome != GT_CORRECT)
            printf("# \"%s\" is %s: %s\n", job.candidate[i].point,
                   gt_outcome_word(r->outcome), r->error);
    }
    printf("%sok - %s %s: %d of %d points are right\n", right == count ? "" : "not ",
           problem, family, right, count);
    fflush(stdout);
    failures += right != count;
}

/* Every PROCESSES-th problem from `first` on. No point hangs: the guard of the tests limits
 * the work, and the clock runs fast beside busy neighbours. */
static void try_all(int first) {
    const struct gt_pool_setup setup = {.timeout_s = 3600};
    const bool all_pairs = draws_long > 1;
    const int problems = all_pairs ? DTYPES * SHAPES : SHAPES;
    const int count = all_pairs ? draws_long : 1;
    char problem[GT_PROBLEM_NAME_MAX];
    need(gt_pool_create(&pool, &setup, &err));
    for (int i = first; i < problems; i += PROCESSES) {
        uint64_t random = (uint64_t)i + 1;
        for (int f = 0; f < FAMILIES; f++) {
            const int type = (all_pairs ? i : i + f) % DTYPES;
            snprintf(problem, sizeof problem, "%s-%s", dtypes[type], shapes[i % SHAPES]);
            try_family(problem, families[f], count, &random);
        }
    }
    gt_pool_destroy(pool);
}

int main(void) {
    const char *program = getenv("GEMMTUNE");
    pid_t child[PROCESSES];
    if (!program) { /* its workers are this program again, which must not run the tests */
        fprintf(stderr, "GEMMTUNE must name the program\n");
        return 1;
    }
    setenv("GEMMTUNE_SELF", program, 0);
    draws_long = getenv("GT_LONG") != NULL ? atoi(getenv("GT_LONG")) : 0;
    need(gt_families_create(&all, &err));
    need(gt_probe_pick(&device, NULL, true, &err));
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            try_all(i);
            _exit(failures > 0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int state = 0;
        waitpid(child[i], &state, 0);
        failures += state != 0;
    }
    gt_families_destroy(all);
    return failures > 0;
}
