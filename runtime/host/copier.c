/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "runtime/host/copier.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS_MAX = 16,
    PIECE_BYTES = 256 * 1024 /* bytes that a thread takes at a time */
};

/* A call of gt_copier_copy that is not finished. It lives on its caller's stack. */
struct job {
    struct job *next;
    char *to;
    const char *from;
    int64_t to_pitch, from_pitch, row_bytes;
    int64_t last_bytes;        /* of the last row */
    int64_t rows, taken, done; /* rows in all, given to threads, and copied */
    int64_t piece;             /* rows to take at a time */
};

struct gt_copier {
    pthread_mutex_t lock; /* guards all that follows */
    pthread_cond_t work;  /* there are rows to take, or `closing` */
    pthread_cond_t done;  /* a job is done */
    struct job *jobs;     /* jobs with rows to take, the oldest first */
    bool closing;
    int threads;
    pthread_t thread[THREADS_MAX];
};

static void copy_rows(const struct job *j, int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; i++)
        memcpy(j->to + i * j->to_pitch, j->from + i * j->from_pitch,
               (size_t)(i == j->rows - 1 ? j->last_bytes : j->row_bytes));
}

/* Takes the next piece of a job. Returns how many rows, from *first on. The lock is
 * held. */
static int64_t take(struct gt_copier *c, struct job *j, int64_t *first) {
    const int64_t left = j->rows - j->taken;
    const int64_t count = j->piece < left ? j->piece : left;
    *first = j->taken;
    j->taken += count;
    if (j->taken == j->rows) {
        struct job **at = &c->jobs;
        while (*at != j)
            at = &(*at)->next;
        *at = j->next;
    }
    return count;
}

/* Takes a piece and copies it. The lock is held before and after, but not during the
 * copy. */
static void do_piece(struct gt_copier *c, struct job *j) {
    int64_t first;
    const int64_t count = take(c, j, &first);
    (void)pthread_mutex_unlock(&c->lock);
    copy_rows(j, first, count);
    (void)pthread_mutex_lock(&c->lock);
    j->done += count;
    if (j->done == j->rows)
        (void)pthread_cond_broadcast(&c->done);
}

static void *run(void *user) {
    struct gt_copier *c = user;
    (void)pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->jobs == NULL && !c->closing)
            (void)pthread_cond_wait(&c->work, &c->lock);
        if (c->jobs == NULL)
            break;
        do_piece(c, c->jobs);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

static int default_threads(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    const int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 2;
    const int half = cores / 2 > 1 ? cores / 2 : 1;
    return half < THREADS_MAX ? half : THREADS_MAX;
}

gt_status gt_copier_create(struct gt_copier **out, int threads, struct gt_err *err) {
    struct gt_copier *c = calloc(1, sizeof *c);
    *out = c;
    if (c == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->work, NULL);
    (void)pthread_cond_init(&c->done, NULL);
    const int most = threads > 0 ? threads : default_threads();
    /* The caller of a copy copies as well. */
    while (c->threads < most - 1 && c->threads < THREADS_MAX &&
           pthread_create(&c->thread[c->threads], NULL, run, c) == 0)
        c->threads++;
    return GEMMTUNE_OK;
}

int gt_copier_threads(const struct gt_copier *c) {
    return c->threads + 1;
}

void gt_copier_destroy(struct gt_copier *c) {
    if (c == NULL)
        return;
    (void)pthread_mutex_lock(&c->lock);
    c->closing = true;
    (void)pthread_cond_broadcast(&c->work);
    (void)pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->threads; i++)
        (void)pthread_join(c->thread[i], NULL);
    (void)pthread_cond_destroy(&c->done);
    (void)pthread_cond_destroy(&c->work);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

/* Rows without gaps on both sides are one long row. A long row is cut, so that several
 * threads can share it. */
static struct job job_of(void *to, int64_t to_pitch, const void *from, int64_t from_pitch,
                         int64_t row_bytes, int64_t rows) {
    struct job j = {.to = to,
                    .from = from,
                    .to_pitch = to_pitch,
                    .from_pitch = from_pitch,
                    .row_bytes = row_bytes,
                    .last_bytes = row_bytes,
                    .rows = rows,
                    .piece = row_bytes > 0 ? PIECE_BYTES / row_bytes : 1};
    const int64_t all = row_bytes * rows;
    const bool whole = rows == 1 || (to_pitch == row_bytes && from_pitch == row_bytes);
    if (whole && all > PIECE_BYTES) {
        j.rows = (all + PIECE_BYTES - 1) / PIECE_BYTES;
        j.row_bytes = j.to_pitch = j.from_pitch = PIECE_BYTES;
        j.last_bytes = all - (j.rows - 1) * PIECE_BYTES;
    }
    if (j.piece < 1)
        j.piece = 1;
    return j;
}

void gt_copier_copy(struct gt_copier *c, void *to, int64_t to_pitch, const void *from,
                    int64_t from_pitch, int64_t row_bytes, int64_t rows) {
    struct job job = job_of(to, to_pitch, from, from_pitch, row_bytes, rows);
    if (job.rows <= 0)
        return;
    (void)pthread_mutex_lock(&c->lock);
    struct job **at = &c->jobs;
    while (*at != NULL)
        at = &(*at)->next;
    *at = &job;
    (void)pthread_cond_broadcast(&c->work);
    while (job.taken < job.rows)
        do_piece(c, &job);
    while (job.done < job.rows)
        (void)pthread_cond_wait(&c->done, &c->lock);
    (void)pthread_mutex_unlock(&c->lock);
}
