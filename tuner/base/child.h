/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - what every process that is forked here does first. */
#ifndef GT_TUNER_BASE_CHILD_H
#define GT_TUNER_BASE_CHILD_H

#include <sys/types.h>

/* The child ends with its parent, however that ends and whatever the child waits for: it
 * gets `last`, SIGKILL or SIGTERM. `parent` is what getpid gave before the fork. A child
 * that comes too late for that exits here.
 *
 * Signals that often go to a whole group (Ctrl-C, timeout, a batch system) do not reach the
 * child, nor the processes that it starts: the program decides when its work ends. They are
 * blocked and not only ignored, since a compiler in the child may handle them itself: LLVM
 * deletes the files that it is writing. With SIGTERM as `last`, the child obeys SIGTERM. */
void gt_child_begin(pid_t parent, int last);

#endif
