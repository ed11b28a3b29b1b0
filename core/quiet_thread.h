/* SPDX-License-Identifier: Apache-2.0 */
/* quiet_thread.h - threads that the library starts: they get none of the program's
 * signals. */
#ifndef GT_CORE_QUIET_THREAD_H
#define GT_CORE_QUIET_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* False when no thread can be started. */
bool gt_quiet_thread_start(pthread_t *thread, void *(*run)(void *user), void *user);

#endif
