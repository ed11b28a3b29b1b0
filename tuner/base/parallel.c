/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/base/parallel.h"

#include "tuner/base/cores.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { THREADS_MAX = 256, PARTS_A_THREAD = 8 };

struct work {
    gt_parallel_fn *fn;
    void *user;
    int64_t count, part;
    _Atomic int64_t next;
    struct gt_core_set cores;
};

struct worker {
    struct work *work;
    int thread;
};

static struct gt_core_set borrowed;

void gt_parallel_borrow(const struct gt_core_set *cores) {
    borrowed = *cores;
}

/* The cores of the process and the borrowed ones. */
static void find_cores(struct gt_core_set *out) {
    gt_cores_allowed(out);
    for (size_t i = 0; i < GT_CORES_MAX; i++)
        out->has[i] = out->has[i] || borrowed.has[i];
}

static int threads_for(const struct gt_core_set *all) {
    const int cores = gt_core_set_count(all);
    return cores < 1 ? 1 : cores < THREADS_MAX ? cores : THREADS_MAX;
}

int gt_parallel_threads(void) {
    struct gt_core_set all;
    find_cores(&all);
    return threads_for(&all);
}

static void *run(void *user) {
    const struct worker *w = user;
    struct work *work = w->work;
    if (w->thread > 0) /* thread 0 is the caller and keeps its own cores */
        gt_cores_keep(&work->cores);
    for (;;) {
        const int64_t first = atomic_fetch_add(&work->next, work->part);
        if (first >= work->count)
            return NULL;
        const int64_t end = first + work->part;
        work->fn(work->user, w->thread, first, end < work->count ? end : work->count);
    }
}

void gt_parallel(gt_parallel_fn *fn, void *user, int64_t count) {
    struct work work = {.fn = fn, .user = user, .count = count};
    find_cores(&work.cores);
    const int cores = threads_for(&work.cores);
    const int threads = count < cores ? (int)(count > 1 ? count : 1) : cores;
    struct worker worker[THREADS_MAX];
    pthread_t thread[THREADS_MAX];
    bool started[THREADS_MAX] = {false};
    work.part = count / (threads * PARTS_A_THREAD);
    if (work.part < 1)
        work.part = 1;
    for (int i = 0; i < threads; i++)
        worker[i] = (struct worker){&work, i};
    for (int i = 1; i < threads; i++)
        started[i] = pthread_create(&thread[i], NULL, run, &worker[i]) == 0;
    (void)run(&worker[0]);
    for (int i = 1; i < threads; i++)
        if (started[i])
            (void)pthread_join(thread[i], NULL);
}
