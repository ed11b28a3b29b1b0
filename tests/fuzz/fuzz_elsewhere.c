/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_elsewhere.c - any bytes as results of another tuner. Accepted ones have a device, a
 * problem and points, the fastest first; refused ones a reason.
 */
#include "tests/fuzz/standalone.h"

#include "tuner/study/elsewhere.h"

#include <stdlib.h>

static void check(const struct gt_elsewhere *e) {
    gemmtune_problem p;
    if (e->count < 1 || e->count > GT_ELSEWHERE_MAX || e->device[0] == '\0' ||
        e->results < (size_t)e->count ||
        gt_problem_from_name(&p, e->problem, NULL) != GEMMTUNE_OK)
        abort();
    for (int i = 0; i < e->count; i++)
        if (!(e->best[i].ns > 0) || e->best[i].kernel[0] == '\0' ||
            (i > 0 && e->best[i].ns < e->best[i - 1].ns))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct gt_seeds *seeds;
    static struct gt_families *families;
    const struct gt_elsewhere_given nothing = {NULL, NULL};
    struct gt_elsewhere e;
    struct gt_err err = {""};
    if (seeds == NULL && (gt_seeds_create(&seeds, NULL, NULL) != GEMMTUNE_OK ||
                          gt_families_create(&families, NULL) != GEMMTUNE_OK))
        abort();
    if (gt_elsewhere_read(&e, "input", (const char *)data, size, &nothing, seeds, families,
                          &err) == GEMMTUNE_OK)
        check(&e);
    else if (err.line[0] == '\0' || e.count != 0)
        abort();
    return 0;
}
