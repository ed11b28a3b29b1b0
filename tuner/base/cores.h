/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.h - reserves a core for the process that times kernels. When a kernel takes
 * microseconds, the host thread that launches it must not wait for a compiler.
 */
#ifndef GT_TUNER_BASE_CORES_H
#define GT_TUNER_BASE_CORES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { GT_CORES_MAX = 1024 }; /* the size of the C library's set */
struct gt_core_set {
    bool has[GT_CORES_MAX];
};

int gt_core_set_count(const struct gt_core_set *s);
/* Reads a list in the format of the kernel, "0-3,8,10-11". False when the text is not a
 * list. */
bool gt_core_set_parse(struct gt_core_set *out, const char *list);

/* The cores that the process may run on; an empty set when the system does not say. */
void gt_cores_allowed(struct gt_core_set *out);
/* The same of another process. */
void gt_cores_allowed_other(struct gt_core_set *out, pid_t pid);
/* The hardware threads of the core that `core` belongs to, `core` included. */
void gt_cores_beside(struct gt_core_set *out, int core);
/* Limits the process and its later children to these cores. Does nothing when the set is
 * empty or when the system refuses. */
void gt_cores_keep(const struct gt_core_set *s);
/* The same for the first thread of another process. Threads and children that it has
 * already started are not moved. */
void gt_cores_keep_other(pid_t pid, const struct gt_core_set *s);

/* How many times longer work takes than it would with a core for each thread that wants
 * one: 1 to GT_CROWDING_MAX. The first asks the system for the load of the last minute. */
enum { GT_CROWDING_MAX = 10 };
double gt_cores_crowding(void);
double gt_crowding(double threads, int cores);
/* How many times longer work of one thread takes just now, 1 to GT_CROWDING_MAX: measured
 * by working for a twentieth of a second. Unlike the load, it knows who waits for whom. */
double gt_cores_slowdown(void);

/* Divides the allowed cores. `own` gets the last core with all its hardware threads, since
 * most interrupts go to core 0; `rest` gets the others. Returns false and leaves both empty
 * when there are fewer than four cores or when nothing would be left. */
bool gt_cores_split(struct gt_core_set *own, struct gt_core_set *rest,
                    const struct gt_core_set *allowed,
                    void (*beside)(struct gt_core_set *out, int core));
/* Part `index` of `parts` of the allowed cores. Parts consist of whole cores and differ by
 * one core at most. The cores of a part have neighbouring numbers, since neighbours share
 * caches and memory. With fewer cores than parts, each part has all cores. */
void gt_cores_part(struct gt_core_set *out, const struct gt_core_set *allowed, size_t index,
                   size_t parts, void (*beside)(struct gt_core_set *out, int core));

#endif
