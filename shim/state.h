/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - what this process does, and what it has counted. */
#ifndef GT_SHIM_STATE_H
#define GT_SHIM_STATE_H

#include "shim/entries.h"
#include "shim/mode.h"
#include "shim/reason.h"

#include <stdatomic.h>
#include <stdint.h>

struct gt_shim_state {
    struct gt_shim_mode mode;
    /* The program's environment changes what its library computes. */
    bool emulates_f32, emulates_f64, overrides_tf32;
    bool locked;           /* GEMMTUNE_LOCK: what it pins is served, and nothing else */
    atomic_bool has_plans; /* a child after a fork must serve nothing */
    atomic_bool forked;    /* this is such a child */
    /* Calls that were passed on before a problem was known, by function and reason. */
    atomic_uint_least64_t passed[GT_SHIM_IDS][GT_SHIM_REASON_COUNT];
};

/* The state; the first call reads the environment. */
struct gt_shim_state *gt_shim_state(void);
/* The name of a function of entries.h. */
extern const char *const gt_shim_names[GT_SHIM_IDS];
/* The words of a reason. */
extern const char *const gt_shim_words[GT_SHIM_REASON_COUNT];

#endif
