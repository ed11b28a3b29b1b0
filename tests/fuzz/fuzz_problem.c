/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_problem.c - any bytes as a problem's name. An accepted problem must have a name that
 * means the same problem; sizes must not overflow.
 */
#include "tests/fuzz/standalone.h"

#include "core/problem/problem.h"

#include <stdlib.h>
#include <string.h>

static void check(const gemmtune_problem *p) {
    gemmtune_problem again;
    char name[GT_PROBLEM_NAME_MAX], twice[GT_PROBLEM_NAME_MAX];
    if (gt_problem_name(p, name) >= GT_PROBLEM_NAME_MAX)
        abort();
    if (gt_problem_read_name(&again, name, NULL) != GEMMTUNE_OK ||
        !gt_problem_same_kind(p, &again))
        abort();
    (void)gt_problem_name(&again, twice);
    if (strcmp(name, twice) != 0 || gt_problem_elems_a(p) < 0 ||
        gt_problem_elems_b(p) < 0 || gt_problem_elems_c(p) < 0 ||
        !(gt_problem_flops(p) >= 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gemmtune_problem p, supported;
    struct gt_err err = {""};
    char *name = malloc(size + 1);
    if (name == NULL)
        return 0;
    memcpy(name, data, size);
    name[size] = '\0';
    const gt_status status = gt_problem_read_name(&p, name, &err);
    if (status == GEMMTUNE_OK)
        check(&p);
    else if (err.line[0] == '\0')
        abort();
    if (gt_problem_from_name(&supported, name, &err) == GEMMTUNE_OK &&
        status != GEMMTUNE_OK)
        abort();
    free(name);
    return 0;
}
