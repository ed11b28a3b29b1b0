/* SPDX-License-Identifier: Apache-2.0 */
/* match_epilogue.c - records of a product that was tuned without an epilogue, or with
 * another one: how much their epilogues are like a query's. */
#include "runtime/lookup/match_inside.h"

#include "core/epilogue/epilogue_cost.h"
#include "core/epilogue/epilogue_keep.h"

#include <math.h>
#include <string.h>

/* Whether two problems are the same but for their epilogues. */
static bool is_same_product(const gemmtune_problem *x, const gemmtune_problem *y) {
    const gemmtune_problem plain[2] = {gt_problem_plain(x), gt_problem_plain(y)};
    char name[2][GT_PROBLEM_NAME_MAX];
    for (int i = 0; i < 2; i++)
        (void)gt_problem_name(&plain[i], name[i]);
    return strcmp(name[0], name[1]) == 0;
}

/* Bytes of memory traffic and functions that an element's epilogue has. */
static void weigh(double *bytes, double *functions, const gemmtune_problem *p) {
    enum { SIDE = 1024 }; /* operands with rows or columns only hardly count */
    const struct gt_epilogue *e = gt_epilogue_of(p);
    *bytes = *functions = 0;
    if (e == NULL)
        return;
    const struct gt_epilogue_cost cost = gt_epilogue_cost_of(e, 1, SIDE, SIDE);
    *bytes = (double)(cost.bytes_in + cost.bytes_out) / SIDE / SIDE;
    *functions = cost.functions;
}

/* How far the epilogues of two problems are apart: in elements of C that they move and, far
 * less, in functions that they compute. */
static double epilogues_apart(const gemmtune_problem *x, const gemmtune_problem *y) {
    static const double of_function = 0.1;
    double bytes[2], functions[2];
    weigh(&bytes[0], &functions[0], x);
    weigh(&bytes[1], &functions[1], y);
    return fabs(bytes[0] - bytes[1]) / (double)gt_type_size(x->type_c) +
           of_function * fabs(functions[0] - functions[1]);
}

/* Imported winners come after all winners that were measured here. */
static const double unverified = 1000;

size_t gt_near_same_product(struct gt_near *out, const struct gt_near *near, size_t count,
                            const gemmtune_problem *p) {
    double apart[GT_NEAR_MAX];
    size_t found = 0;
    for (size_t i = 0; i < count && found < GT_NEAR_MAX; i++) {
        const gemmtune_problem *known = &near[i].known->problem;
        size_t at = found;
        if (near[i].known->rank > 0 || gt_problem_distance2(known, p) > 0 ||
            !is_same_product(known, p))
            continue;
        const double own =
            epilogues_apart(known, p) + (near[i].known->verified ? 0 : unverified);
        for (; at > 0 && apart[at - 1] > own; at--) {
            apart[at] = apart[at - 1];
            out[at] = out[at - 1];
        }
        apart[at] = own;
        out[at] = near[i];
        found++;
    }
    return found;
}
