/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - the sentences in which a launch fails. See ptx.h. */
#include "tests/ptx/inside.h"

#include <stdarg.h>
#include <stdio.h>

void name_place(char *out, size_t size, const struct launch *l, const struct ins *ins) {
    const bool known = ins->file >= 0 && ins->file < l->code->files && ins->source_line > 0;
    const char *path = known ? l->code->file[ins->file] : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (path)
        snprintf(out, size, "%.60s:%d (PTX line %d)", slash ? slash + 1 : path,
                 ins->source_line, ins->line);
    else
        snprintf(out, size, "PTX line %d", ins->line);
}

void fail(struct thread *t, const struct ins *ins, enum ptx_result result,
          const char *format, ...) {
    struct launch *l = launch_of(t);
    char place[120], what[240];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(what, sizeof what, format, list);
    va_end(list);
    name_place(place, sizeof place, l, ins);
    l->report->result = result;
    snprintf(l->report->why, PTX_WHY, "%.40s, block %u %u %u, thread %u, %s: %s",
             l->asked->kernel->name, t->block->at[0], t->block->at[1], t->block->at[2],
             t->number, place, what);
    longjmp(l->out, 1);
}

static const char *const waits_for[] = {
    [READY] = "is asked again and again",
    [AT_BARRIER] = "wait at a barrier of the block",
    [AT_CLUSTER] = "wait at the cluster's barrier",
    [AT_WARP] = "wait for other lanes",
    [AT_GROUP] = "wait for their warpgroup",
    [AT_PHASE] = "wait for a phase of an mbarrier",
    [ENDED] = "have ended",
};

/* "; 32 threads from 0 on wait ... at dmma.cu:12": the threads that wait like thread t. */
static size_t add_group(char *out, size_t size, const struct block *b,
                        const struct thread *t, bool seen[]) {
    char place[120];
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->threads; i++)
        if (b->thread[i].pc == t->pc && b->thread[i].state == t->state) {
            seen[i] = true;
            count++;
        }
    name_place(place, sizeof place, b->cluster->launch,
               t->state == AT_PHASE || t->state == AT_WARP || t->state == AT_GROUP
                   ? t->pc
                   : t->pc - 1);
    const int length =
        snprintf(out, size, "; block %u %u %u: %u from thread %u on %s%s%s", b->at[0],
                 b->at[1], b->at[2], count, t->number, waits_for[t->state],
                 t->state == ENDED ? "" : " at ", t->state == ENDED ? "" : place);
    return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

void fail_stuck(struct cluster *c) {
    struct launch *l = c->launch;
    char *out = l->report->why;
    size_t used =
        (size_t)snprintf(out, PTX_WHY, "%.40s: nobody can go on", l->asked->kernel->name);
    for (uint32_t i = 0; i < c->blocks; i++) {
        bool seen[1024] = {false};
        for (uint32_t j = 0; j < c->block[i].threads; j++)
            if (!seen[j])
                used += add_group(out + used, PTX_WHY - used, &c->block[i],
                                  &c->block[i].thread[j], seen);
    }
    l->report->result = PTX_FAILED;
    longjmp(l->out, 1);
}
