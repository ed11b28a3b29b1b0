/* SPDX-License-Identifier: Apache-2.0 */
/* player.c - see player.h. */
#include "tuner/bench/player.h"

#include "tuner/lab/lab_internal.h"

static gt_status play(void *self, const struct gt_call *x, struct gt_err *err) {
    const struct gt_player *p = self;
    return p->who->enqueue(p->self, p->variant, x, err);
}

struct gt_product gt_player_product(struct gt_player *p) {
    return (struct gt_product){
        .enqueue = play, .self = p, .rounds_sum = p->who->rounds_sum};
}

gt_status gt_player_start(struct gt_player *p, struct gt_lab *lab, double sample_ns,
                          double most_ns, struct gt_err *err) {
    const struct gt_product product = gt_player_product(p);
    char what[GT_CPU_ABOUT_MAX];
    return p->who->on_host
               ? gt_cpu_watch_create(&p->cpu_watch, what, GT_CPU_BLAS, &lab->problem,
                                     sample_ns, err)
               : gt_stopwatch_create(&p->watch, lab, &product, sample_ns, most_ns, err);
}

void gt_player_stop(struct gt_player *p) {
    gt_stopwatch_destroy(p->watch);
    gt_cpu_watch_destroy(p->cpu_watch);
    p->watch = NULL;
    p->cpu_watch = NULL;
}

bool gt_player_has_started(const struct gt_player *p) {
    return p->watch != NULL || p->cpu_watch != NULL;
}

gt_status gt_player_sample(struct gt_player *p, double *ns, struct gt_err *err) {
    if (p->cpu_watch == NULL)
        return gt_stopwatch_sample(p->watch, ns, err);
    *ns = gt_cpu_watch_sample(p->cpu_watch);
    return GEMMTUNE_OK;
}

int gt_player_launches(const struct gt_player *p) {
    return p->cpu_watch != NULL ? gt_cpu_watch_calls(p->cpu_watch)
                                : gt_stopwatch_launches(p->watch);
}
