/* SPDX-License-Identifier: Apache-2.0 */
/* effort.c - the efforts by name: how long and how far a search goes. */
#include "tuner/tune/tune.h"

#include <string.h>

const struct gt_effort gt_efforts[] = {
    {"normal", 256, 3.5, 3},
    {"quick", 16, 1, 2},
    {"full", SIZE_MAX, 0, 0},
    {NULL, 0, 0, 0},
};

const struct gt_effort *gt_effort_find(const char *name) {
    for (const struct gt_effort *e = gt_efforts; e->name; e++)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}

const struct gt_effort *gt_effort_choose(const char *name, double budget_s) {
    static const struct gt_effort timed = {"budget", SIZE_MAX, 0, 0};
    return !name && budget_s > 0 ? &timed : gt_effort_find(name ? name : "normal");
}
