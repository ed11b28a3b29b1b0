/* SPDX-License-Identifier: Apache-2.0 */
/* strategies.c - the list of search strategies: one line each. */
#include "tuner/search/search.h"

#include <stdio.h>
#include <string.h>

const struct gt_strategy *const gt_strategies[] = {
    &gt_search_model,   &gt_search_ils,    &gt_search_anneal, &gt_search_genetic,
    &gt_search_clblast, &gt_search_random, &gt_search_full,   NULL};

const struct gt_strategy *gt_strategy_find(const char *name) {
    for (const struct gt_strategy *const *s = gt_strategies; *s; s++)
        if (strcmp((*s)->name, name) == 0)
            return *s;
    return NULL;
}

const char *gt_strategy_names(void) {
    static char names[256];
    size_t used = 0;
    for (const struct gt_strategy *const *s = gt_strategies; *s; s++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 used == 0 ? ""
                                 : s[1]    ? ", "
                                           : " or ",
                                 (*s)->name);
    return names;
}
