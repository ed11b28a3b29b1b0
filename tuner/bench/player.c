/* SPDX-License-Identifier: Apache-2.0 */
/* player.c - see player.h. */
#include "tuner/bench/player.h"

static gt_status play(void *self, const struct gt_call *x, struct gt_err *err) {
    const struct gt_player *p = self;
    return p->who->enqueue(p->self, p->variant, x, err);
}

struct gt_product gt_player_product(struct gt_player *p) {
    return (struct gt_product){
        .enqueue = play, .self = p, .rounds_sum = p->who->rounds_sum};
}
