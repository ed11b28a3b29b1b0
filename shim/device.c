/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - see device.h. */
#include "shim/device.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* NULL: nobody has looked yet. It is never freed. */
static _Atomic(struct gt_shim_driver *) driver;
static struct gt_shim_driver absent; /* there is no driver */

static bool load(struct gt_shim_driver *out) {
    static const struct {
        const char *symbol;
        size_t offset;
        bool needed;
    } rows[] = {
#define X(member, symbol, needed, params)                                                  \
    {#symbol, offsetof(struct gt_shim_driver, member), needed},
        GT_SHIM_DRIVER_CALLS(X)
#undef X
    };
    const char *path = getenv("GEMMTUNE_LIBCUDA");
    void *library = dlopen(path != NULL && path[0] != '\0' ? path : "libcuda.so.1",
                           RTLD_LAZY | RTLD_LOCAL);
    bool ready = library != NULL;
    for (size_t i = 0; ready && i < sizeof rows / sizeof *rows; i++) {
        void *symbol = dlsym(library, rows[i].symbol);
        memcpy((char *)out + rows[i].offset, &symbol, sizeof symbol);
        ready = symbol != NULL || !rows[i].needed;
    }
    return ready;
}

/* As with gt_shim_gemmtune, nobody waits for a thread that is in ld.so. */
static struct gt_shim_driver *look(void) {
    struct gt_shim_driver *own = calloc(1, sizeof *own), *before = NULL;
    struct gt_shim_driver *found = own != NULL && load(own) ? own : &absent;
    const bool first = atomic_compare_exchange_strong(&driver, &before, found);
    if (!first || found != own)
        free(own);
    return first ? found : before;
}

const struct gt_shim_driver *gt_shim_driver(void) {
    struct gt_shim_driver *d = atomic_load_explicit(&driver, memory_order_acquire);
    if (d == NULL)
        d = look();
    return d != &absent ? d : NULL;
}

uint64_t gt_shim_context(const struct gt_shim_driver *d) {
    void *context = NULL;
    return d->current(&context) == 0 ? (uint64_t)(uintptr_t)context : 0;
}

uint64_t gt_shim_context_number(const struct gt_shim_driver *d, uint64_t context) {
    unsigned long long id = 0;
    return d->context_id != NULL && d->context_id((void *)(uintptr_t)context, &id) == 0
               ? id + 1
               : 0;
}

bool gt_shim_captures(const struct gt_shim_driver *d, void *stream) {
    unsigned status = 0;
    return d->is_capturing(stream, &status) != 0 || status != 0;
}

unsigned gt_shim_relax(const struct gt_shim_driver *d) {
    unsigned mode = 2; /* CU_STREAM_CAPTURE_MODE_RELAXED */
    return d->exchange_mode(&mode) == 0 ? mode : 0;
}

void gt_shim_unrelax(const struct gt_shim_driver *d, unsigned mode) {
    (void)d->exchange_mode(&mode);
}
