/* SPDX-License-Identifier: Apache-2.0 */
/* cores.c - see cores.h. */
#define _GNU_SOURCE /* for sched_setaffinity and getloadavg */
#include "tuner/base/cores.h"

#include "core/clock.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CORES_MIN = 4
}; /* on fewer cores, a core without a compiler costs more than it gains */

_Static_assert(GT_CORES_MAX <= CPU_SETSIZE, "a core must fit the C library's set");

int gt_core_set_count(const struct gt_core_set *s) {
    int n = 0;
    for (int i = 0; i < GT_CORES_MAX; i++)
        n += s->has[i];
    return n;
}

bool gt_core_set_parse(struct gt_core_set *out, const char *list) {
    int first, last, used;
    memset(out, 0, sizeof *out);
    for (; sscanf(list, "%d%n", &first, &used) == 1; list++) {
        list += used;
        last = first;
        if (sscanf(list, "-%d%n", &last, &used) == 1)
            list += used;
        if (first < 0 || last < first || last >= GT_CORES_MAX)
            return false;
        for (int i = first; i <= last; i++)
            out->has[i] = true;
        if (*list != ',')
            return *list == '\0' || *list == '\n';
    }
    return false;
}

void gt_cores_allowed_other(struct gt_core_set *out, pid_t pid) {
    cpu_set_t set;
    memset(out, 0, sizeof *out);
    if (sched_getaffinity(pid, sizeof set, &set) != 0)
        return;
    for (size_t i = 0; i < GT_CORES_MAX; i++)
        out->has[i] = CPU_ISSET(i, &set);
}

void gt_cores_allowed(struct gt_core_set *out) {
    gt_cores_allowed_other(out, 0);
}

double gt_crowding(double threads, int cores) {
    return cores > 0 ? fmin(fmax(threads / cores, 1), GT_CROWDING_MAX) : 1;
}

double gt_cores_crowding(void) {
    struct gt_core_set allowed;
    double load;
    gt_cores_allowed(&allowed);
    return getloadavg(&load, 1) == 1 ? gt_crowding(load, gt_core_set_count(&allowed)) : 1;
}

static double thread_seconds(void) {
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0
               ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
               : 0;
}

double gt_cores_slowdown(void) {
    const double enough_s = 0.05, most_s = 0.5;
    const double began = gt_seconds(), worked_before = thread_seconds();
    double worked, spent;
    do {
        worked = thread_seconds() - worked_before;
        spent = gt_seconds() - began;
    } while (worked < enough_s && spent < most_s);
    return worked > 0 ? fmin(fmax(spent / worked, 1), GT_CROWDING_MAX) : 1;
}

void gt_cores_beside(struct gt_core_set *out, int core) {
    char path[96], list[256] = "";
    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", core);
    FILE *file = fopen(path, "re");
    const bool read = file && fgets(list, sizeof list, file);
    if (file)
        (void)fclose(file);
    if (!read || !gt_core_set_parse(out, list))
        memset(out, 0, sizeof *out);
    out->has[core] = true;
}

void gt_cores_keep_other(pid_t pid, const struct gt_core_set *s) {
    cpu_set_t set;
    if (gt_core_set_count(s) == 0)
        return;
    CPU_ZERO(&set);
    for (size_t i = 0; i < GT_CORES_MAX; i++)
        if (s->has[i])
            CPU_SET(i, &set);
    (void)sched_setaffinity(pid, sizeof set, &set);
}

void gt_cores_keep(const struct gt_core_set *s) {
    gt_cores_keep_other(0, s);
}

bool gt_cores_split(struct gt_core_set *own, struct gt_core_set *rest,
                    const struct gt_core_set *allowed,
                    void (*beside)(struct gt_core_set *out, int core)) {
    const struct gt_core_set none = {{false}};
    int last = GT_CORES_MAX - 1;
    *own = *rest = none;
    if (gt_core_set_count(allowed) < CORES_MIN)
        return false;
    while (!allowed->has[last])
        last--;
    beside(own, last);
    for (int i = 0; i < GT_CORES_MAX; i++) {
        own->has[i] = own->has[i] && allowed->has[i];
        rest->has[i] = allowed->has[i] && !own->has[i];
    }
    if (gt_core_set_count(rest) > 0)
        return true;
    *own = none;
    return false;
}

/* Takes the first core of *left, with all its threads that are there; false: none is. */
static bool take_core(struct gt_core_set *core, struct gt_core_set *left,
                      void (*beside)(struct gt_core_set *out, int core)) {
    int first = 0;
    while (first < GT_CORES_MAX && !left->has[first])
        first++;
    if (first == GT_CORES_MAX)
        return false;
    beside(core, first);
    for (int i = 0; i < GT_CORES_MAX; i++) {
        core->has[i] = core->has[i] && left->has[i];
        left->has[i] = left->has[i] && !core->has[i];
    }
    return true;
}

void gt_cores_part(struct gt_core_set *out, const struct gt_core_set *allowed, size_t index,
                   size_t parts, void (*beside)(struct gt_core_set *out, int core)) {
    struct gt_core_set left = *allowed, core;
    size_t cores = 0;
    while (take_core(&core, &left, beside))
        cores++;
    left = *out = *allowed;
    if (cores < parts)
        return;
    *out = (struct gt_core_set){{false}};
    for (size_t n = 0; take_core(&core, &left, beside); n++)
        for (int i = 0; n * parts / cores == index && i < GT_CORES_MAX; i++)
            out->has[i] = out->has[i] || core.has[i];
}
