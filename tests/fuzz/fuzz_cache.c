/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_cache.c - any bytes as a cache of Kernel Tuner. An accepted cache must be a space of
 * points that can be found again, with times above 0.
 */
#include "tests/fuzz/standalone.h"

#include "tuner/study/stored.h"

#include <math.h>
#include <stdlib.h>

static void check(const struct gt_stored *s) {
    if (s->spaces != 1 || s->space->count == 0 || !(s->best_ns > 0))
        abort();
    for (size_t i = 0; i < s->space->count; i++) {
        struct gt_point point;
        gt_space_point(s->space, i, &point);
        if (gt_space_find(s->space, &point) != i)
            abort();
        if (s->outcome[0][i] == GT_CORRECT && !(s->ns[0][i] >= s->best_ns))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct gt_stored s;
    struct gt_err err = {""};
    const gt_status status = gt_stored_parse(&s, "input", (const char *)data, size, &err);
    if (status == GEMMTUNE_OK)
        check(&s);
    else if (err.line[0] == '\0' || s.spaces != 0)
        abort();
    gt_stored_clear(&s);
    return 0;
}
