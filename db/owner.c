/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner.c - which process a run belongs to, and whether that process still lives. A pid
 * alone is not enough: another process gets it sooner or later, after a reboot at once.
 */
#include "db/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first line of a file; "" when it cannot be read. */
static void read_line(char *line, int size, const char *path) {
    line[0] = '\0';
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fgets(line, size, file) == NULL)
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    (void)fclose(file);
}

/* Field 22 of /proc/<pid>/stat. Field 2, the command, is in parentheses and may hold
 * anything, so fields are counted from the last ")". */
static int64_t start_time_of(int64_t pid) {
    char path[64], line[1024];
    int64_t start_time = 0;
    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    read_line(line, (int)sizeof line, path);
    const char *at = strrchr(line, ')');
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at == NULL || sscanf(at, "%" SCNd64, &start_time) != 1)
        return 0;
    return start_time;
}

void gt_owner_self(struct gt_owner *owner) {
    owner->pid = (int64_t)getpid();
    owner->start_time = start_time_of(owner->pid);
    read_line(owner->boot, (int)sizeof owner->boot, "/proc/sys/kernel/random/boot_id");
}

bool gt_owner_of_this_boot(const struct gt_owner *owner) {
    struct gt_owner self;
    gt_owner_self(&self);
    return strcmp(self.boot, owner->boot) == 0;
}

/* In doubt the process lives. A trial that is wrongly held costs one point; a trial that is
 * done twice makes the counts wrong. */
bool gt_owner_alive(const struct gt_owner *owner) {
    struct gt_owner self;
    gt_owner_self(&self);
    if (strcmp(self.boot, owner->boot) != 0 || owner->pid <= 0)
        return false;
    if (kill((pid_t)owner->pid, 0) != 0 && errno == ESRCH)
        return false;
    const int64_t start_time = start_time_of(owner->pid);
    return start_time == owner->start_time || start_time == 0 || owner->start_time == 0;
}
