/* SPDX-License-Identifier: Apache-2.0 */
/* original.c - see original.h. */
#include "shim/original.h"

#include "shim/state.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* The auditor writes here before the first call that it redirects. */
extern __attribute__((
    visibility("default"))) _Atomic(void *) gemmtune_blas_originals[GT_SHIM_IDS];
_Atomic(void *) gemmtune_blas_originals[GT_SHIM_IDS];

enum { LIBRARIES_MAX = 8, CALLERS_MAX = 64 };

static struct gt_shim_library libraries[LIBRARIES_MAX];
static int library_count;

/* An object of the program's that calls us: its code, and the libraries that serve it. */
struct caller {
    uintptr_t begin, end;
    _Atomic(struct gt_shim_library *) blas, lt;
};
static struct caller callers[CALLERS_MAX];
static _Atomic int caller_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_lt(int id) {
    return id == GT_SHIM_cublasLtMatmul || id == GT_SHIM_cublasLtMatmulAlgoGetHeuristic;
}

/* ---- libraries  ---- */

static void *find(void *handle, const char *name) {
    return handle != NULL ? dlsym(handle, name) : NULL;
}

static void fill(struct gt_shim_library *l) {
    void *symbol;
#define X(member, name, params)                                                            \
    symbol = find(l->handle, #name);                                                       \
    memcpy(&l->member, &symbol, sizeof symbol);
    GT_SHIM_BLAS_CALLS(X)
    GT_SHIM_LT_CALLS(X)
#undef X
    symbol = find(l->handle, "cublasLtGetVersion");
    memcpy(&l->lt_version, &symbol, sizeof symbol);
    l->lt_release = l->lt_version != NULL ? l->lt_version() : 0;
    for (int i = 0; i < GT_SHIM_IDS; i++)
        atomic_store(&l->original[i], find(l->handle, gt_shim_names[i]));
}

/* The object of this library's own code. */
static const void *own_base(void) {
    Dl_info info;
    return dladdr((void *)&lock, &info) != 0 ? info.dli_fbase : NULL;
}

/* The library that `address` lies in; NULL when that is this one, or there is no room. */
static struct gt_shim_library *library_of(void *address) {
    Dl_info info;
    if (address == NULL || dladdr(address, &info) == 0 || info.dli_fbase == own_base())
        return NULL;
    for (int i = 0; i < library_count; i++)
        if (libraries[i].base == info.dli_fbase)
            return &libraries[i];
    void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL || library_count == LIBRARIES_MAX)
        return NULL;
    struct gt_shim_library *l = &libraries[library_count++];
    l->handle = handle;
    l->base = info.dli_fbase;
    l->number = (uint8_t)library_count;
    fill(l);
    return l;
}

/* ---- where a caller's library is  ---- */

/* The library that the object of `from` was linked with. dlsym in an object looks through
 * it and what it needs, and not through what was preloaded; the program itself needs
 * RTLD_NEXT for that. */
static struct gt_shim_library *linked_with(const void *from, const char *name) {
    Dl_info info;
    struct link_map *map = NULL;
    if (from == NULL ||
        dladdr1((void *)(uintptr_t)from, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 ||
        map == NULL)
        return NULL;
    if (map->l_name[0] == '\0')
        return library_of(dlsym(RTLD_NEXT, name));
    void *object = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    struct gt_shim_library *l = library_of(find(object, name));
    if (object != NULL)
        (void)dlclose(object); /* the program may unload it */
    return l;
}

static struct gt_shim_library *of_known_name(bool lt, const char *name) {
    static const char *const sonames[2][3] = {
        {"libcublas.so.13", "libcublas.so.12", "libcublas.so"},
        {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}};
    struct gt_shim_library *l = NULL;
    for (int i = 0; l == NULL && i < 3; i++)
        l = library_of(find(dlopen(sonames[lt][i], RTLD_LAZY | RTLD_NOLOAD), name));
    return l;
}

struct search {
    const char *begins; /* how the file's name begins */
    char path[4096];
};

static int look_at(struct dl_phdr_info *info, size_t size, void *user) {
    struct search *s = user;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash != NULL ? slash + 1 : info->dlpi_name;
    (void)size;
    if (strncmp(file, s->begins, strlen(s->begins)) != 0 ||
        strlen(info->dlpi_name) >= sizeof s->path)
        return 0;
    memcpy(s->path, info->dlpi_name, strlen(info->dlpi_name) + 1);
    return 1;
}

static struct gt_shim_library *loaded(bool lt, const char *name) {
    struct search s = {.begins = lt ? "libcublasLt.so" : "libcublas.so"};
    if (dl_iterate_phdr(look_at, &s) == 0)
        return NULL;
    return library_of(find(dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD), name));
}

static struct gt_shim_library *search(int id, const void *from) {
    struct gt_shim_library *l = linked_with(from, gt_shim_names[id]);
    if (l == NULL)
        l = library_of(atomic_load(&gemmtune_blas_originals[id]));
    if (l == NULL)
        l = of_known_name(is_lt(id), gt_shim_names[id]);
    return l != NULL ? l : loaded(is_lt(id), gt_shim_names[id]);
}

/* ---- callers  ---- */

static struct caller *known_caller(const void *from) {
    const uintptr_t at = (uintptr_t)from;
    const int count = atomic_load_explicit(&caller_count, memory_order_acquire);
    for (int i = 0; i < count; i++)
        if (at >= callers[i].begin && at < callers[i].end)
            return &callers[i];
    return NULL;
}

struct range {
    uintptr_t at, begin, end;
};

static int contains(struct dl_phdr_info *info, size_t size, void *user) {
    struct range *r = user;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && r->at >= begin && r->at - begin < p->p_memsz) {
            r->begin = begin;
            r->end = begin + p->p_memsz;
            return 1;
        }
    }
    return 0;
}

/* A place for the object that `from` lies in. Code that belongs to none (a JIT's) has a
 * range of its own. NULL: there is no room. */
static struct caller *new_caller(const void *from) {
    struct range r = {.at = (uintptr_t)from};
    const int count = atomic_load(&caller_count);
    if (count == CALLERS_MAX)
        return NULL;
    if (dl_iterate_phdr(contains, &r) == 0) {
        r.begin = r.at;
        r.end = r.at + 1;
    }
    callers[count].begin = r.begin;
    callers[count].end = r.end;
    atomic_store_explicit(&caller_count, count + 1, memory_order_release);
    return &callers[count];
}

/* Under the lock. dlopen and dlsym may run a program's own code, so the thread's lock is
 * recursive in effect: an inner call finds no place and searches anew. */
static struct gt_shim_library *search_and_keep(int id, const void *from) {
    struct gt_shim_library *l = search(id, from);
    struct caller *c = known_caller(from);
    if (c == NULL)
        c = new_caller(from);
    if (c != NULL && l != NULL)
        atomic_store_explicit(is_lt(id) ? &c->lt : &c->blas, l, memory_order_release);
    return l;
}

void *gt_shim_original(const struct gt_shim_library **library, int id, const void *from) {
    struct caller *c = known_caller(from);
    struct gt_shim_library *l = NULL;
    if (c != NULL)
        l = atomic_load_explicit(is_lt(id) ? &c->lt : &c->blas, memory_order_acquire);
    if (l == NULL) {
        (void)pthread_mutex_lock(&lock);
        l = search_and_keep(id, from);
        (void)pthread_mutex_unlock(&lock);
    }
    *library = l;
    return l != NULL ? atomic_load_explicit(&l->original[id], memory_order_relaxed) : NULL;
}

void gt_shim_original_hold(bool held) {
    (void)(held ? pthread_mutex_lock(&lock) : pthread_mutex_unlock(&lock));
}
