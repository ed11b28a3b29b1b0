/* SPDX-License-Identifier: Apache-2.0 */
/* trouble.c - see trouble.h. */
#include "shim/trouble.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static char trouble[400];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void gt_shim_trouble(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    (void)pthread_mutex_lock(&lock);
    if (trouble[0] == '\0')
        (void)vsnprintf(trouble, sizeof trouble, fmt, args);
    for (char *at = trouble; *at != '\0'; at++)
        if (*at == '\n')
            *at = ' ';
    (void)pthread_mutex_unlock(&lock);
    va_end(args);
}

void gt_shim_trouble_anew(void) {
    (void)pthread_mutex_init(&lock, NULL);
}

const char *gt_shim_first_trouble(void) {
    return trouble;
}
