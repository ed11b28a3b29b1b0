/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - see library.h. */
#include "shim/library.h"

#include "shim/trouble.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL: nobody has looked yet. It is never freed. */
static _Atomic(struct gt_shim_gemmtune *) functions;
static struct gt_shim_gemmtune absent; /* the library cannot be opened */

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
/* While the major version is 0, each minor version is an ABI of its own. */
#if GEMMTUNE_VERSION_MAJOR == 0
#define SONAME "libgemmtune.so.0." TEXT(GEMMTUNE_VERSION_MINOR)
#else
#define SONAME "libgemmtune.so." TEXT(GEMMTUNE_VERSION_MAJOR)
#endif

/* The library beside this one. */
static void *open_neighbour(void) {
    char path[4096];
    Dl_info info;
    if (dladdr((void *)&absent, &info) == 0 || strlen(info.dli_fname) >= sizeof path)
        return NULL;
    memcpy(path, info.dli_fname, strlen(info.dli_fname) + 1);
    char *slash = strrchr(path, '/');
    if (slash == NULL || (size_t)(slash + 1 - path) + sizeof SONAME > sizeof path)
        return NULL;
    memcpy(slash + 1, SONAME, sizeof SONAME);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static bool load(struct gt_shim_gemmtune *out) {
    static const struct {
        const char *symbol;
        size_t offset;
        bool needed;
    } rows[] = {
#define X(member, symbol, needed, result, params)                                          \
    {#symbol, offsetof(struct gt_shim_gemmtune, member), needed},
        GT_SHIM_GEMMTUNE_CALLS(X)
#undef X
    };
    void *library = open_neighbour();
    if (library == NULL)
        library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
    bool ready = library != NULL;
    if (!ready)
        gt_shim_trouble("%s", dlerror());
    for (size_t i = 0; ready && i < sizeof rows / sizeof *rows; i++) {
        void *symbol = dlsym(library, rows[i].symbol);
        memcpy((char *)out + rows[i].offset, &symbol, sizeof symbol);
        ready = symbol != NULL || !rows[i].needed;
        if (!ready)
            gt_shim_trouble(SONAME " has no %s", rows[i].symbol);
    }
    return ready;
}

/* A thread that holds the lock of ld.so must not wait for another one that opens the
 * library, so several may open it at once. The first one to end is believed. */
static struct gt_shim_gemmtune *look(void) {
    struct gt_shim_gemmtune *own = calloc(1, sizeof *own), *before = NULL;
    struct gt_shim_gemmtune *found = own != NULL && load(own) ? own : &absent;
    const bool first = atomic_compare_exchange_strong(&functions, &before, found);
    if (!first || found != own)
        free(own);
    return first ? found : before;
}

const struct gt_shim_gemmtune *gt_shim_gemmtune(void) {
    struct gt_shim_gemmtune *g = atomic_load_explicit(&functions, memory_order_acquire);
    if (g == NULL)
        g = look();
    return g != &absent ? g : NULL;
}
