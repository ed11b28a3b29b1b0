/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.c - whether streams wait for each other where they must. The fake runs everything
 * at once, so a program that forgets to wait would still compute the right result here.
 * With FAKE_CUDA_ORDER an access to device memory fails with ILLEGAL_ADDRESS unless earlier
 * accesses that it conflicts with are ordered before it: by their stream, by events that
 * its stream waits for, or by the host. Every access has a number; `seen` is a vector
 * clock. See fake_cuda.h.
 */
#include "tests/fake/cuda/fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long accesses;              /* so far */
static long by_host[STREAMS_MAX];  /* what the host has waited for */
static bool is_taken[STREAMS_MAX]; /* numbers of streams; 0 is the null stream's */

static void merge(long into[STREAMS_MAX], const long from[STREAMS_MAX]) {
    for (int i = 0; i < STREAMS_MAX; i++)
        if (from[i] > into[i])
            into[i] = from[i];
}

void order_open(CUstream stream) {
    for (int i = 1; i < STREAMS_MAX && stream->number == 0; i++)
        if (!is_taken[i]) {
            is_taken[i] = true;
            stream->number = i;
        }
}

/* The driver waits for the stream's work. */
void order_close(CUstream stream) {
    order_join(stream->seen);
    is_taken[stream->number] = false;
}

void order_record(CUevent event, CUstream stream) {
    memcpy(event->seen, stream->seen, sizeof event->seen);
}

void order_wait(CUstream stream, CUevent event) {
    merge(stream->seen, event->seen);
}

void order_join(const long seen[STREAMS_MAX]) {
    merge(by_host, seen);
}

static bool is_ordered(const struct trail *t, const long seen[STREAMS_MAX], bool writes) {
    bool ordered = t->written <= seen[t->writer];
    for (int i = 0; writes && i < STREAMS_MAX; i++)
        ordered = ordered && t->read[i] <= seen[i];
    return ordered;
}

/* Work on the null stream, which the host waits for, conflicts with nothing. */
gt_cu_result order_access(struct trail *t, CUstream stream, bool writes) {
    const char *wanted = getenv("FAKE_CUDA_ORDER");
    if (!wanted || !*wanted || !t || !stream || stream->number == 0)
        return GT_CU_SUCCESS;
    merge(stream->seen, by_host);
    const bool ordered = is_ordered(t, stream->seen, writes);
    const long number = stream->seen[stream->number] = ++accesses;
    if (writes)
        *t = (struct trail){.writer = stream->number, .written = number};
    else
        t->read[stream->number] = number;
    if (!ordered)
        fprintf(stderr, "fake libcuda: a stream %s memory too early\n",
                writes ? "writes to" : "reads from");
    return ordered ? GT_CU_SUCCESS : GT_CU_ILLEGAL_ADDRESS;
}
