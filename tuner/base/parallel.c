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
};

struct worker {
    struct work *work;
    int thread;
};

int gt_parallel_threads(void) {
    struct gt_core_set allowed;
    gt_cores_allowed(&allowed);
    const int cores = gt_core_set_count(&allowed);
    return cores < 1 ? 1 : cores < THREADS_MAX ? cores : THREADS_MAX;
}

static void *run(void *user) {
    const struct worker *w = user;
    struct work *work = w->work;
    for (;;) {
        const int64_t first = atomic_fetch_add(&work->next, work->part);
        if (first >= work->count)
            return NULL;
        const int64_t end = first + work->part;
        work->fn(work->user, w->thread, first, end < work->count ? end : work->count);
    }
}

void gt_parallel(gt_parallel_fn *fn, void *user, int64_t count) {
    const int threads = gt_parallel_threads();
    struct work work = {.fn = fn, .user = user, .count = count};
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
