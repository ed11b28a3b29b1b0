/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.c - libgemmtune-audit.so, an auditor of ld.so (LD_AUDIT, rtld-audit(7)). A
 * preloaded definition reaches callers that look a symbol up in the order of ld.so. It does
 * not reach one that asks dlsym for the symbol of one library, nor a plug-in that was
 * opened with RTLD_DEEPBIND. The auditor hands the definitions of libgemmtune-blas.so to
 * these as well, for the functions of entries.h and the first cuBLAS and cublasLt of the
 * process. A second one is left alone: a caller that was not linked with it cannot be told
 * from others.
 *
 * ld.so loads an auditor into a namespace of its own, with a libc of its own. So this file
 * calls nothing but string functions.
 */
#include "shim/entries.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED unsigned la_version(unsigned version);
EXPORTED unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie);
EXPORTED uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from,
                                uintptr_t *to, unsigned *flags, const char *name);

static const char *const names[GT_SHIM_IDS] = {
#define X(form, symbol, whole, type, compute) #symbol,
    GT_SHIM_GEMMS(X)
#undef X
#define X(symbol) #symbol,
        GT_SHIM_OTHERS(X)
#undef X
};

/* The kinds of objects; an object's cookie is its kind. */
enum object { ANY, BLAS, LT, OURS };

static struct {
    const struct link_map *map; /* NULL: it is not preloaded */
    const Elf64_Sym *symbols;
    const char *strings;
    uint32_t count;
} shim;
static bool has_blas, has_lt;

unsigned la_version(unsigned version) {
    return version; /* what is used here is the same in all versions */
}

/* ---- the shim's symbols  ---- */

/* Some ld.so relocate these addresses in place, and some do not. */
static const void *at_address(const struct link_map *map, Elf64_Addr address) {
    return (const void *)(address < map->l_addr ? map->l_addr + address : address);
}

static void read_shim(const struct link_map *map) {
    const uint32_t *hash = NULL;
    for (const Elf64_Dyn *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            shim.symbols = at_address(map, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            shim.strings = at_address(map, d->d_un.d_ptr);
        else if (d->d_tag == DT_HASH)
            hash = at_address(map, d->d_un.d_ptr);
    }
    if (hash == NULL || shim.symbols == NULL || shim.strings == NULL)
        return;
    shim.count = hash[1];
    shim.map = map;
}

static void *own(const char *name) {
    for (uint32_t i = 0; shim.map != NULL && i < shim.count; i++)
        if (shim.symbols[i].st_shndx != SHN_UNDEF &&
            strcmp(shim.strings + shim.symbols[i].st_name, name) == 0)
            return (void *)(shim.map->l_addr + shim.symbols[i].st_value);
    return NULL;
}

/* ---- objects  ---- */

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static enum object kind_of(const char *file) {
    return begins(file, "libcublasLt.so") ? LT : begins(file, "libcublas.so") ? BLAS : ANY;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie) {
    const char *slash = map->l_name != NULL ? strrchr(map->l_name, '/') : NULL;
    const char *file = slash != NULL ? slash + 1 : map->l_name != NULL ? map->l_name : "";
    const enum object kind = kind_of(file);
    bool *seen = kind == LT ? &has_lt : &has_blas;
    *cookie = ANY;
    if (namespace != LM_ID_BASE)
        return 0;
    if (begins(file, "libgemmtune")) {
        if (begins(file, "libgemmtune-blas.so"))
            read_shim(map);
        *cookie = OURS;
        return 0;
    }
    if (kind == ANY)
        return LA_FLG_BINDFROM;
    if (*seen)
        return 0;
    *seen = true;
    *cookie = kind;
    return LA_FLG_BINDTO;
}

/* ---- bindings  ---- */

static int id_of(const char *name) {
    for (int i = 0; begins(name, "cublas") && i < GT_SHIM_IDS; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
                       unsigned *flags, const char *name) {
    static _Atomic(void *) *originals;
    (void)index;
    *flags |= LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
    /* Our own libraries look for the originals. */
    const int id = *from == OURS || (*to != BLAS && *to != LT) ? -1 : id_of(name);
    void *ours = id >= 0 ? own(name) : NULL;
    if (originals == NULL)
        originals = own(GT_SHIM_ORIGINALS);
    if (ours == NULL || originals == NULL)
        return symbol->st_value;
    originals[id] = (void *)symbol->st_value;
    return (uintptr_t)ours;
}
