/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - see record.h. */
#include "shim/record.h"

#include "shim/read.h"
#include "shim/trouble.h"
#include "shim/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MAX_ = 1024, NAMES_MAX = 100 };

static struct {
    pthread_mutex_t lock;
    int fd; /* -1: not open yet */
    bool failed;
    dev_t device;
    ino_t number;
    char path[4096 + GT_SHIM_HOST_SIZE + 32];
} file = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* ---- the file  ---- */

static bool is_own(int fd) {
    struct stat s;
    return fd >= 0 && fstat(fd, &s) == 0 && s.st_dev == file.device &&
           s.st_ino == file.number;
}

/* A program that becomes a daemon closes all descriptors, and its next file may get the
 * number of ours. Then ours is opened again. */
static void open_again(void) {
    file.fd = open(file.path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (is_own(file.fd))
        return;
    if (file.fd >= 0)
        (void)close(file.fd);
    file.fd = -1;
    file.failed = true;
    gt_shim_trouble("recording stopped: %s is gone", file.path);
}

static bool write_all(const char *text, size_t length) {
    const ssize_t done = write(file.fd, text, length);
    if (done == (ssize_t)length)
        return true;
    gt_shim_trouble("recording stopped: %s: %s", gt_shim_state()->mode.file,
                    done < 0 ? strerror(errno) : "no space left");
    file.failed = true;
    return false;
}

/* FILE.HOST.1234; another process with the same number gets FILE.HOST.1234.1. */
static void open_file(void) {
    static const char head[] = "gemmtune record 1\n";
    struct stat s = {0};
    const char *name = gt_shim_state()->mode.file;
    char host[GT_SHIM_HOST_SIZE];
    gt_shim_host(host);
    for (int i = 0; file.fd < 0 && i < NAMES_MAX; i++) {
        (void)snprintf(file.path, sizeof file.path, i == 0 ? "%s.%s.%ld" : "%s.%s.%ld.%d",
                       name, host, (long)getpid(), i);
        file.fd = open(file.path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file.fd < 0 && errno != EEXIST)
            break;
    }
    file.failed = file.fd < 0 || fstat(file.fd, &s) != 0;
    file.device = s.st_dev;
    file.number = s.st_ino;
    if (file.failed)
        gt_shim_trouble("nothing is recorded: %s: %s", name, strerror(errno));
    else
        (void)write_all(head, sizeof head - 1);
}

static void put(const char *number, uint64_t count, int id, const char *what) {
    char line[LINE_MAX_];
    const int length = snprintf(line, sizeof line, "%s %" PRIu64 " %s %s\n", number, count,
                                gt_shim_names[id], what);
    (void)pthread_mutex_lock(&file.lock);
    if (file.fd < 0 && !file.failed)
        open_file();
    else if (!file.failed && !is_own(file.fd))
        open_again();
    if (!file.failed && length > 0 && (size_t)length < sizeof line)
        (void)write_all(line, (size_t)length);
    (void)pthread_mutex_unlock(&file.lock);
}

static bool is_power_of_two(uint64_t count) {
    return (count & (count - 1)) == 0;
}

/* ---- lines  ---- */

static void put_problem(const struct gt_shim_entry *e, uint64_t count) {
    char number[24];
    (void)snprintf(number, sizeof number, "%d", e->number);
    put(number, count, e->id, e->name);
}

bool gt_shim_record(struct gt_shim_key *key, const struct gt_shim_call *x,
                    enum gt_shim_reason why) {
    /* A problem is the same one at any address. */
    const bool known =
        why == GT_SHIM_NONE || why == GT_SHIM_ALIGNMENT || why == GT_SHIM_ALGORITHM;
    struct gt_shim_entry *e = known ? gt_shim_find(key, x->id) : NULL;
    atomic_uint_least64_t *counter =
        e != NULL ? &e->calls : &gt_shim_state()->passed[x->id][known ? GT_SHIM_MANY : why];
    const uint64_t count = atomic_fetch_add_explicit(counter, 1, memory_order_relaxed) + 1;
    if (!is_power_of_two(count))
        return true;
    if (e != NULL)
        put_problem(e, count);
    else
        put("-", count, x->id, gt_shim_words[known ? GT_SHIM_MANY : why]);
    return true;
}

static void put_last(struct gt_shim_entry *e, void *user) {
    const uint64_t count = atomic_load(&e->calls);
    (void)user;
    if (!is_power_of_two(count))
        put_problem(e, count);
}

void gt_shim_record_end(void) {
    struct gt_shim_state *s = gt_shim_state();
    gt_shim_each(put_last, NULL);
    for (int i = 0; i < GT_SHIM_IDS; i++)
        for (int why = 0; why < GT_SHIM_REASON_COUNT; why++) {
            const uint64_t count = atomic_load(&s->passed[i][why]);
            if (!is_power_of_two(count))
                put("-", count, i, gt_shim_words[why]);
        }
}

/* The parent keeps its file, which this process must not add to. */
void gt_shim_record_anew(void) {
    if (is_own(file.fd))
        (void)close(file.fd);
    file.fd = -1;
    file.failed = false;
}

void gt_shim_record_hold(bool held) {
    (void)(held ? pthread_mutex_lock(&file.lock) : pthread_mutex_unlock(&file.lock));
}
