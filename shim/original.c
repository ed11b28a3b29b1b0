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
static atomic_int library_count;

/* An object of the program's that calls us: its code, and the libraries that serve it. */
struct caller {
    uintptr_t begin, end;
    _Atomic(struct gt_shim_library *) blas, lt;
};
static struct caller callers[CALLERS_MAX];
static atomic_int caller_count;
/* Of writers to the two tables. ld.so has locks of its own, so nothing asks ld.so with this
 * lock held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Last answers of this thread, for code that has no place among the callers: a JIT's, which
 * lies in no object, and code of objects beyond CALLERS_MAX. */
enum { ANSWERS = 32 };
static _Thread_local struct answer {
    const void *from;
    struct gt_shim_library *library[2];
} answers[ANSWERS];

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

static struct gt_shim_library *known_library(const void *base) {
    const int count = atomic_load_explicit(&library_count, memory_order_acquire);
    for (int i = 0; i < count; i++)
        if (libraries[i].base == base)
            return &libraries[i];
    return NULL;
}

/* Adds a library that is filled in, unless another thread has added it. NULL: there is no
 * room. */
static struct gt_shim_library *publish(const struct gt_shim_library *filled) {
    (void)pthread_mutex_lock(&lock);
    struct gt_shim_library *l = known_library(filled->base);
    const int count = atomic_load(&library_count);
    if (l == NULL && count < LIBRARIES_MAX) {
        l = &libraries[count];
        memcpy(l, filled, sizeof *l);
        l->number = (uint8_t)(count + 1);
        atomic_store_explicit(&library_count, count + 1, memory_order_release);
    }
    (void)pthread_mutex_unlock(&lock);
    return l;
}

/* The library that `address` lies in; NULL when that is this one, or there is no room. */
static struct gt_shim_library *library_of(void *address) {
    Dl_info info;
    if (address == NULL || dladdr(address, &info) == 0 || info.dli_fbase == own_base())
        return NULL;
    struct gt_shim_library *l = known_library(info.dli_fbase);
    if (l != NULL)
        return l;
    struct gt_shim_library filled = {.base = info.dli_fbase};
    filled.handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (filled.handle == NULL)
        return NULL;
    fill(&filled);
    l = publish(&filled);
    if (l == NULL || l->handle != filled.handle)
        (void)dlclose(filled.handle);
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

/* A place for the object that `from` lies in. NULL: it lies in no object, or there is no
 * room. */
static struct caller *new_caller(const void *from) {
    struct range r = {.at = (uintptr_t)from};
    if (atomic_load(&caller_count) == CALLERS_MAX || dl_iterate_phdr(contains, &r) == 0)
        return NULL;
    (void)pthread_mutex_lock(&lock);
    struct caller *c = known_caller(from); /* another thread may have added it */
    const int count = atomic_load(&caller_count);
    if (c == NULL && count < CALLERS_MAX) {
        c = &callers[count];
        c->begin = r.begin;
        c->end = r.end;
        atomic_store_explicit(&caller_count, count + 1, memory_order_release);
    }
    (void)pthread_mutex_unlock(&lock);
    return c;
}

static struct answer *answer_of(const void *from) {
    const uint64_t at = (uint64_t)(uintptr_t)from * UINT64_C(0x9e3779b97f4a7c15);
    return &answers[(at >> 32) % ANSWERS];
}

static void keep(struct caller *c, int id, const void *from, struct gt_shim_library *l) {
    if (c != NULL) {
        atomic_store_explicit(is_lt(id) ? &c->lt : &c->blas, l, memory_order_release);
        return;
    }
    struct answer *a = answer_of(from);
    if (a->from != from)
        *a = (struct answer){.from = from};
    a->library[is_lt(id)] = l;
}

static struct gt_shim_library *kept(const struct caller *c, int id, const void *from) {
    if (c != NULL)
        return atomic_load_explicit(is_lt(id) ? &c->lt : &c->blas, memory_order_acquire);
    const struct answer *a = answer_of(from);
    return a->from == from ? a->library[is_lt(id)] : NULL;
}

void *gt_shim_original(const struct gt_shim_library **library, int id, const void *from) {
    struct caller *c = known_caller(from);
    struct gt_shim_library *l = kept(c, id, from);
    if (l == NULL) {
        l = search(id, from);
        if (c == NULL)
            c = new_caller(from);
        if (l != NULL)
            keep(c, id, from, l);
    }
    *library = l;
    return l != NULL ? atomic_load_explicit(&l->original[id], memory_order_relaxed) : NULL;
}

void gt_shim_original_hold(bool held) {
    (void)(held ? pthread_mutex_lock(&lock) : pthread_mutex_unlock(&lock));
}
