/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_weigh.c - weights out of numbers of calls. */
#include "tuner/base/sweep.h"

#include <math.h>

double gt_sweep_guess(const gemmtune_problem *p) {
    static const double start_s = 3e-6, bytes_per_s = 3e12;
    const double flops_per_s = p->math == GEMMTUNE_MATH_TF32  ? 4e14
                               : gt_type_size(p->type_a) == 1 ? 1.2e15
                               : gt_type_size(p->type_a) == 2 ? 7e14
                                                              : 5e13;
    return start_s +
           fmax(gt_problem_flops(p) / flops_per_s, gt_problem_least_bytes(p) / bytes_per_s);
}

double gt_sweep_share(double mine, double most) {
    static const double heaviest = 1000;
    return fmax(1, round(heaviest * mine / fmax(most, 1e-300)));
}

void gt_sweep_weigh(struct gt_sweep *s) {
    double most = 0;
    bool counted = false;
    for (size_t i = 0; i < s->count; i++)
        counted = counted || s->item[i].weight > 1;
    for (size_t i = 0; counted && i < s->count; i++) {
        s->item[i].weight *= gt_sweep_guess(&s->item[i].problem);
        most = fmax(most, s->item[i].weight);
    }
    for (size_t i = 0; counted && i < s->count; i++)
        s->item[i].weight = gt_sweep_share(s->item[i].weight, most);
}
