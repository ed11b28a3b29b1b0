/* SPDX-License-Identifier: Apache-2.0 */
/* plan_key.c - the key of a plan. */
#include "runtime/plan/plan_key.h"

#include "core/mix.h"

#include <stdlib.h>
#include <string.h>

/* Small numbers side by side. */
static uint64_t pack_words(const gemmtune_problem *p) {
    const unsigned part[] = {
        (unsigned)p->type_a,   (unsigned)p->type_b,
        (unsigned)p->type_c,   (unsigned)p->type_acc,
        (unsigned)p->math,     (unsigned)p->trans_a << 1 | (unsigned)p->trans_b,
        (unsigned)p->packed_b, (unsigned)p->row_order << 1 | (unsigned)p->reads_c};
    uint64_t packed = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        packed = packed << 8 | part[i];
    return packed;
}

struct gt_plan_key gt_plan_key_of(const gemmtune_problem *p, size_t workspace_max) {
    return (struct gt_plan_key){
        .word = {pack_words(p), (uint64_t)p->m, (uint64_t)p->n, (uint64_t)p->k,
                 (uint64_t)p->lda, (uint64_t)p->ldb, (uint64_t)p->ldc, (uint64_t)p->batch,
                 (uint64_t)p->stride_a, (uint64_t)p->stride_b, (uint64_t)p->stride_c,
                 (uint64_t)p->expected_rows,
                 (uint64_t)p->pointer_align << 8 | (uint64_t)p->batch_kind, workspace_max},
        .epilogue = p->epilogue,
    };
}

bool gt_plan_key_same(const struct gt_plan_key *x, const struct gt_plan_key *y) {
    if (memcmp(x->word, y->word, sizeof x->word) != 0)
        return false;
    return x->epilogue == NULL || y->epilogue == NULL
               ? x->epilogue == y->epilogue
               : strcmp(x->epilogue, y->epilogue) == 0;
}

/* gt_mix over the words of a single product: most calls pay for no more. Batches of one
 * shape then share a slot's chain. */
size_t gt_plan_key_hash(const struct gt_plan_key *key) {
    uint64_t h = 0;
    for (int i = 0; i < GT_PLAN_KEY_SIZES; i++)
        h = gt_mix(h + key->word[i] + GT_MIX_STEP);
    return (size_t)h;
}

void *gt_plan_key_bytes(size_t *size, const struct gt_plan_key *key, gemmtune_match worst,
                        bool swapped) {
    const uint64_t more[] = {(uint64_t)worst, swapped, key->epilogue != NULL};
    const size_t text = key->epilogue != NULL ? strlen(key->epilogue) : 0;
    *size = sizeof key->word + sizeof more + text;
    unsigned char *bytes = malloc(*size);
    if (bytes == NULL)
        return NULL;
    memcpy(bytes, key->word, sizeof key->word);
    memcpy(bytes + sizeof key->word, more, sizeof more);
    if (text > 0)
        memcpy(bytes + sizeof key->word + sizeof more, key->epilogue, text);
    return bytes;
}
