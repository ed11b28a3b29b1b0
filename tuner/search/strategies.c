/* SPDX-License-Identifier: Apache-2.0 */
/* strategies.c - finds a search strategy by its name. */
#include "tuner/search/search.h"

#include <string.h>

#define ADDRESS(name) &gt_search_##name,
const struct gt_strategy *const gt_strategies[] = {GT_STRATEGIES_OFFERED(
    ADDRESS, ADDRESS, ADDRESS) GT_STRATEGIES_COMPARED(ADDRESS, ADDRESS) NULL};

#define ONE(name) +1
enum { ALL = -1, OFFERED = GT_STRATEGIES_OFFERED(ONE, ONE, ONE) };

static const struct gt_strategy *find(const char *name, int count) {
    for (int i = 0; i != count && gt_strategies[i] != NULL; i++)
        if (strcmp(gt_strategies[i]->name, name) == 0)
            return gt_strategies[i];
    return NULL;
}

const struct gt_strategy *gt_strategy_find(const char *name) {
    return find(name, ALL);
}

const struct gt_strategy *gt_strategy_find_offered(const char *name) {
    return find(name, OFFERED);
}
