/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_keep.c - see epilogue_keep.h: a list that only grows, read without a lock. */
#include "core/epilogue/epilogue_keep.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct kept {
    const struct kept *next;
    char text[GT_EPILOGUE_MAX];
    struct gt_epilogue tree;
};

static _Atomic(const struct kept *) first_kept;

static bool is_kept(const struct kept *k, const char *text, gemmtune_dtype type_c,
                    gemmtune_dtype type_acc) {
    return k->tree.type_c == (int32_t)type_c && k->tree.type_acc == (int32_t)type_acc &&
           (k->text == text || strcmp(k->text, text) == 0);
}

/* The kept epilogue with this canonical text, or NULL. */
static const struct kept *find(const char *text, gemmtune_dtype type_c,
                               gemmtune_dtype type_acc) {
    const struct kept *k = atomic_load_explicit(&first_kept, memory_order_acquire);
    while (k != NULL && !is_kept(k, text, type_c, type_acc))
        k = k->next;
    return k;
}

/* Adds `fresh`, or finds the same text that another thread has added meanwhile. */
static const struct kept *add(struct kept *fresh) {
    const gemmtune_dtype type_c = (gemmtune_dtype)fresh->tree.type_c;
    const gemmtune_dtype type_acc = (gemmtune_dtype)fresh->tree.type_acc;
    const struct kept *first = atomic_load_explicit(&first_kept, memory_order_acquire);
    const struct kept *own = find(fresh->text, type_c, type_acc);
    while (own == NULL) {
        fresh->next = first;
        if (atomic_compare_exchange_weak_explicit(
                &first_kept, &first, fresh, memory_order_acq_rel, memory_order_acquire))
            return fresh;
        own = find(fresh->text, type_c, type_acc);
    }
    free(fresh);
    return own;
}

static gt_status keep(const struct kept **out, const char *text, gemmtune_dtype type_c,
                      gemmtune_dtype type_acc, struct gt_err *err) {
    *out = find(text, type_c, type_acc);
    if (*out != NULL)
        return GEMMTUNE_OK;
    struct kept *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    gt_status status = gt_epilogue_parse(&fresh->tree, text, type_c, type_acc, err);
    if (status == GEMMTUNE_OK)
        status = gt_epilogue_canonical(fresh->text, &fresh->tree, err);
    if (status == GEMMTUNE_OK)
        *out = add(fresh);
    else
        free(fresh);
    return status;
}

gt_status gt_epilogue_keep(const char **text, gemmtune_dtype type_c,
                           gemmtune_dtype type_acc, struct gt_err *err) {
    const struct kept *k;
    const gt_status status = keep(&k, *text, type_c, type_acc, err);
    if (status == GEMMTUNE_OK)
        *text = k->text;
    return status;
}

const struct gt_epilogue *gt_epilogue_of(const gemmtune_problem *p) {
    const struct kept *k = NULL;
    if (p->epilogue != NULL)
        (void)keep(&k, p->epilogue, p->type_c, p->type_acc, NULL);
    return k != NULL ? &k->tree : NULL;
}
