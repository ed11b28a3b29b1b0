/* SPDX-License-Identifier: Apache-2.0 */
/* mapped.c - see mapped.h. The program's handler of SIGBUS is here;
 * the library has none. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tuner/stream/mapped.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

/* Read by the handler, in any thread. `begin` is written last and cleared first. */
static struct {
    char *_Atomic begin; /* NULL: unused */
    _Atomic size_t size;
    atomic_bool lost;
} maps[GT_MAPPED_MAX];

static struct sigaction before;

static int find(const char *at) {
    for (int i = 0; i < GT_MAPPED_MAX; i++)
        if (maps[i].begin != NULL && at >= maps[i].begin &&
            (size_t)(at - maps[i].begin) < maps[i].size)
            return i;
    return -1;
}

/* Zeros are made as they are touched, so a map larger than the memory has room. mmap is a
 * system call and no more, so a handler may call it. */
static bool replace(int i) {
    enum { HOW = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE };
    /* cppcheck-suppress invalidFunctionArg ; anonymous memory has no descriptor */
    return mmap(maps[i].begin, maps[i].size, PROT_READ | PROT_WRITE, HOW, -1, 0) !=
           MAP_FAILED;
}

/* Does what would have been done without us. A fault's instruction runs again, and raises
 * the signal once more; a signal that was sent is sent again. */
static void pass_on(int number, siginfo_t *info, void *context, bool sent) {
    if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    } else if (!sent || before.sa_handler == SIG_DFL) {
        (void)sigaction(number, &before, NULL);
        if (sent)
            (void)raise(number);
    }
}

static void on_bus_error(int number, siginfo_t *info, void *context) {
    const int saved = errno;
    const bool sent = info->si_code <= 0; /* si_addr says nothing then */
    const int i = sent ? -1 : find(info->si_addr);
    if (i >= 0)
        maps[i].lost = true;
    if (i < 0 || !replace(i))
        pass_on(number, info, context, sent);
    errno = saved;
}

static int count(void) {
    int n = 0;
    for (int i = 0; i < GT_MAPPED_MAX; i++)
        n += maps[i].begin != NULL;
    return n;
}

bool gt_mapped_watch(void *map, size_t size) {
    struct sigaction ours = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    int i = 0;
    while (i < GT_MAPPED_MAX && maps[i].begin != NULL)
        i++;
    if (i == GT_MAPPED_MAX)
        return false;
    if (count() == 0)
        (void)sigaction(SIGBUS, &ours, &before);
    maps[i].size = size;
    maps[i].lost = false;
    maps[i].begin = map;
    return true;
}

bool gt_mapped_lost(const void *map) {
    const int i = map != NULL ? find(map) : -1;
    return i >= 0 && maps[i].lost;
}

void gt_mapped_forget(const void *map) {
    const int i = map != NULL ? find(map) : -1;
    if (i < 0)
        return;
    maps[i].begin = NULL;
    if (count() == 0)
        (void)sigaction(SIGBUS, &before, NULL);
}
