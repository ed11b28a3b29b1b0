/* SPDX-License-Identifier: Apache-2.0 */
/* misses.c - see misses.h. */
#include "runtime/plan/misses.h"

#include "core/device.h"
#include "core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The loss has at most 7 digits. There are two blanks, the line's end and the NUL. */
enum { LINE_SIZE = 11 + GT_DEVICE_KEY_MAX + GT_PROBLEM_NAME_MAX };

/* Whether the file may get more lines. A device or a pipe gets none. */
static bool has_room(int file) {
    struct stat s;
    return fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size < GT_MISSES_BYTES;
}

static bool append(const char *path, const char *line, size_t size) {
    const int file =
        open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    const bool done = !has_room(file) || write(file, line, size) == (ssize_t)size;
    return close(file) == 0 && done;
}

/* Nothing can be tuned for an empty product. */
static bool is_empty(const gemmtune_problem *p) {
    return p->m == 0 || p->n == 0 || p->k == 0;
}

void gt_misses_note(const gemmtune_problem *p, const char *device_key,
                    double expected_loss) {
    const char *path = getenv("GEMMTUNE_MISSES");
    char name[GT_PROBLEM_NAME_MAX], line[LINE_SIZE];
    if (path == NULL || path[0] == '\0' || is_empty(p))
        return;
    (void)gt_problem_name(p, name);
    const double loss = fmin(fmax(round(1e3 * expected_loss), 1), GT_MISS_LOSS_MAX);
    const int size = snprintf(line, sizeof line, "%d %s %s\n", (int)loss, device_key, name);
    if (!append(path, line, (size_t)size))
        gt_log(GEMMTUNE_LOG_WARN, "%.300s: no misses are logged: %s", path,
               strerror(errno));
}
