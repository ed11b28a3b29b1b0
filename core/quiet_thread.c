/* SPDX-License-Identifier: Apache-2.0 */
#include "core/quiet_thread.h"

#include <signal.h>

bool gt_quiet_thread_start(pthread_t *thread, void *(*run)(void *user), void *user) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(thread, NULL, run, user) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
