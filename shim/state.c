/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - see state.h. */
#include "shim/state.h"

#include "shim/trouble.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const char *const gt_shim_names[GT_SHIM_IDS] = {
#define X(form, symbol, whole, type, compute) #symbol,
    GT_SHIM_GEMMS(X)
#undef X
#define X(symbol) #symbol,
        GT_SHIM_OTHERS(X)
#undef X
};

const char *const gt_shim_words[GT_SHIM_REASON_COUNT] = {
#define X(name, words) words,
    GT_SHIM_REASONS(X)
#undef X
};

static struct gt_shim_state state;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool ready;

/* Set, and neither empty nor 0. */
static bool is_on(const char *variable) {
    const char *text = getenv(variable);
    return text != NULL && text[0] != '\0' && strcmp(text, "0") != 0;
}

static void read_environment(void) {
    const char *text = getenv(GT_SHIM_VARIABLE);
    if (!gt_shim_mode_read(&state.mode, text))
        gt_shim_trouble("%.200s is no value of " GT_SHIM_VARIABLE, text);
    state.emulates_f32 = is_on("CUBLAS_EMULATE_SINGLE_PRECISION");
    state.emulates_f64 = is_on("CUBLAS_EMULATE_DOUBLE_PRECISION");
    state.locked = is_on("GEMMTUNE_LOCK");
    state.overrides_tf32 = getenv("NVIDIA_TF32_OVERRIDE") != NULL;
    atomic_store_explicit(&ready, true, memory_order_release);
}

struct gt_shim_state *gt_shim_state(void) {
    if (!atomic_load_explicit(&ready, memory_order_acquire))
        (void)pthread_once(&once, read_environment);
    return &state;
}
