/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_sweep.c - any bytes as sweep.json. An accepted sweep must be within the limits, and
 * each of its names must mean the same problem again.
 */
#include "tests/fuzz/standalone.h"

#include "tests/unit/sweep_text.h"

#include <stdlib.h>
#include <string.h>

static void check(const struct gt_sweep *s) {
    if (s->count == 0 || s->count > GT_SWEEP_MAX)
        abort();
    for (size_t i = 0; i < s->count; i++) {
        gemmtune_problem p;
        char name[GT_PROBLEM_NAME_MAX];
        if (gt_problem_from_name(&p, s->item[i].name, NULL) != GEMMTUNE_OK)
            abort();
        (void)gt_problem_name(&p, name);
        if (strcmp(name, s->item[i].name) != 0 || p.m < 1 || p.n < 1 || p.k < 1)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct gt_sweep s;
    struct gt_err err = {""};
    const gt_status status = parse_sweep(&s, "input", (const char *)data, size, &err);
    if (status == GEMMTUNE_OK)
        check(&s);
    else if (err.line[0] == '\0' || s.item != NULL)
        abort();
    gt_sweep_clear(&s);
    return 0;
}
