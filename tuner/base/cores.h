/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.h - a core of its own for the process that times kernels: where a kernel takes
 * microseconds, the host thread that launches it must not wait for a compiler's turn.
 */
#ifndef GT_TUNER_BASE_CORES_H
#define GT_TUNER_BASE_CORES_H

#include <stdbool.h>
#include <sys/types.h>

enum { GT_CORES_MAX = 1024 }; /* as the C library has it */
struct gt_core_set {
    bool has[GT_CORES_MAX];
};

int gt_core_set_count(const struct gt_core_set *s);
/* Takes a list as the kernel writes it, "0-3,8,10-11"; false when it is none. */
bool gt_core_set_parse(struct gt_core_set *out, const char *list);

/* What the process may run on; none when the system does not say. */
void gt_cores_allowed(struct gt_core_set *out);
/* The threads of one core with `core`, itself among them. */
void gt_cores_beside(struct gt_core_set *out, int core);
/* Keeps the process, and what it starts, to these cores; none, or where the system refuses:
 * as it was. */
void gt_cores_keep(const struct gt_core_set *s);
/* The same for the first thread of another process; those that it has started already stay.
 */
void gt_cores_keep_other(pid_t pid, const struct gt_core_set *s);

/* How many times longer work takes here than with a core for each thread that wants one, by
 * the system's load of the last minute: from 1 to GT_CROWDING_MAX. */
enum { GT_CROWDING_MAX = 10 };
double gt_cores_crowding(void);
double gt_crowding(double threads, int cores);

/* Divides what is allowed: `own` gets the last core with all its threads, away from core 0,
 * which most interrupts go to. False, and both are empty, where there are fewer than four
 * or nothing is left. */
bool gt_cores_split(struct gt_core_set *own, struct gt_core_set *rest,
                    const struct gt_core_set *allowed,
                    void (*beside)(struct gt_core_set *out, int core));

#endif
