/* SPDX-License-Identifier: Apache-2.0 */
/* life.c - see life.h. */
#include "shim/life.h"

#include "shim/decide.h"
#include "shim/handle.h"
#include "shim/original.h"
#include "shim/record.h"
#include "shim/say.h"
#include "shim/table.h"
#include "shim/trouble.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool begun; /* a product was called */

static void hold(bool held) {
    gt_shim_original_hold(held);
    gt_shim_table_hold(held);
    gt_shim_record_hold(held);
}

static void before_fork(void) {
    hold(true);
}

static void in_parent(void) {
    hold(false);
}

/* CUDA of a parent is of no use to its child, and neither are our plans. A parent that had
 * none leaves a child that begins anew. */
static void in_child(void) {
    struct gt_shim_state *s = gt_shim_state();
    hold(false);
    gt_shim_handle_anew();
    gt_shim_trouble_anew();
    gt_shim_decide_anew();
    if (atomic_load(&s->has_plans))
        atomic_store(&s->forked, true);
    for (int i = 0; i < GT_SHIM_IDS; i++)
        for (int why = 0; why < GT_SHIM_REASON_COUNT; why++)
            atomic_store(&s->passed[i][why], 0);
    gt_shim_forget_counts();
    gt_shim_record_anew();
}

static void watch(void) {
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

void gt_shim_watch_forks(void) {
    (void)pthread_once(&once, watch);
}

struct gt_shim_state *gt_shim_life(void) {
    if (!atomic_load_explicit(&begun, memory_order_acquire)) {
        gt_shim_watch_forks();
        atomic_store_explicit(&begun, true, memory_order_release);
    }
    return gt_shim_state();
}

/* A process that called no product says nothing and writes nothing. */
__attribute__((destructor)) static void end(void) {
    if (!atomic_load(&begun))
        return;
    struct gt_shim_state *s = gt_shim_state();
    if (s->mode.does == GT_SHIM_RECORD)
        gt_shim_record_end();
    if (!s->mode.quiet)
        gt_shim_say(s);
}
