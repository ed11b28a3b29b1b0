/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - what programs do to their threads and descriptors. */
#include "tests/shim/step.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_key_t key;
static void (*late)(void);

static void at_end(void *data) {
    (void)data;
    late();
}

static void *run(void *user) {
    if (pthread_setspecific(key, &key) != 0)
        exit(2);
    late();
    return user;
}

/* Data of an earlier key are destroyed earlier: the shim made its key before. */
void call_late(void (*call)(void)) {
    pthread_t thread;
    late = call;
    late();
    if (pthread_key_create(&key, at_end) != 0 ||
        pthread_create(&thread, NULL, run, NULL) != 0)
        exit(2);
    (void)pthread_join(thread, NULL);
}

enum { FIRST = 3, LAST = 255, THEIRS = 128 };
static ino_t theirs;

void become_daemon(const char *file) {
    for (int fd = FIRST; fd <= LAST; fd++)
        (void)close(fd);
    const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    struct stat s;
    for (int i = 1; fd >= 0 && i < THEIRS; i++)
        (void)!dup(fd);
    if (fd != FIRST || fstat(fd, &s) != 0)
        exit(2);
    theirs = s.st_ino;
}

int lost_descriptors(void) {
    int lost = 0;
    for (int i = 0; i < THEIRS; i++) {
        struct stat s;
        lost += fstat(FIRST + i, &s) != 0 || s.st_ino != theirs;
    }
    return lost;
}
