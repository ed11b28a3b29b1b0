/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family_words.c - the words of space.json: names that expressions and kernels may use, and
 * readers of single values.
 */
#include "runtime/family/family_inside.h"

#include <stdlib.h>
#include <string.h>

/* ---- names --------------------------------------------------------------------------- */

const struct gt_builtin_name gt_builtins[GT_BUILTIN_COUNT] = {
#define X(id, name, macro) {name, macro},
    GT_BUILTIN_LIST(X)
#undef X
};

const struct gt_arg_name gt_arg_names[] = {
    {"m", GT_ARG_M, false},
    {"n", GT_ARG_N, false},
    {"k", GT_ARG_K, false},
    {"alpha", GT_ARG_ALPHA, true},
    {"beta", GT_ARG_BETA, true},
    {"a", GT_ARG_A, true},
    {"b", GT_ARG_B, true},
    {"c", GT_ARG_C, true},
    {"lda", GT_ARG_LDA, false},
    {"ldb", GT_ARG_LDB, false},
    {"ldc", GT_ARG_LDC, false},
    {"workspace", GT_ARG_WORKSPACE, false},
    {"batch", GT_ARG_BATCH, false},
    {"stride_a", GT_ARG_STRIDE_A, false},
    {"stride_b", GT_ARG_STRIDE_B, false},
    {"stride_c", GT_ARG_STRIDE_C, false},
    {NULL, GT_ARG_M, false},
};

uint64_t gt_dtype_bit(const struct gt_dtype *row) {
    return row != NULL ? UINT64_C(1) << gt_dtype_index(row) : 0;
}

/* All mixes of 8-bit inputs, of one kind and in one arithmetic. */
static uint64_t bits_of_8(bool (*is_kind)(const struct gt_dtype *), gemmtune_math math) {
    uint64_t bits = 0;
    for (size_t i = 0; gt_dtype_at(i) != NULL; i++)
        if (is_kind(gt_dtype_at(i)) && gt_dtype_at(i)->math == math)
            bits |= gt_dtype_bit(gt_dtype_at(i));
    return bits;
}

uint64_t gt_dtype_word_bits(const char *word) {
    if (strcmp(word, "int8") == 0)
        return bits_of_8(gt_dtype_is_integer_8, GEMMTUNE_MATH_STRICT);
    if (strcmp(word, "fp8") == 0)
        return bits_of_8(gt_dtype_is_float_8, GEMMTUNE_MATH_STRICT);
    if (strcmp(word, "fp8@fast") == 0)
        return bits_of_8(gt_dtype_is_float_8, GEMMTUNE_MATH_FAST);
    if (strcmp(word, "fp8@promoted") == 0)
        return bits_of_8(gt_dtype_is_float_8, GEMMTUNE_MATH_PROMOTED);
    return gt_dtype_bit(gt_dtype_by_name(word, strlen(word)));
}

uint64_t gt_layout_bit(const char *layout) {
    for (int i = 0; i < GT_LAYOUTS; i++)
        if (strcmp(gt_layout_words[i], layout) == 0)
            return UINT64_C(1) << i;
    return 0;
}

int gt_arg_by_name(const char *name) {
    for (const struct gt_arg_name *a = gt_arg_names; a->name != NULL; a++)
        if (strcmp(a->name, name) == 0)
            return (int)a->arg;
    return -1;
}

int gt_family_args(gt_arg out[GT_ARGS_MAX], const struct gt_binding *b) {
    static const gt_arg more[] = {GT_ARG_BATCH,    GT_ARG_STRIDE_A, GT_ARG_STRIDE_B,
                                  GT_ARG_STRIDE_C, GT_ARG_STRIDE_W, GT_ARG_ROWS};
    const struct gt_family *f = b->family;
    const int added = b->slot_rows > 0 ? GT_ARGS_BATCH : GT_ARGS_BATCH - 1;
    int count = f->arg_count;
    memcpy(out, f->args, sizeof f->args);
    if (b->is_batch && f->batching == GT_BATCHING_GRID) {
        memcpy(out + count, more, (size_t)added * sizeof *more);
        count += added;
    }
    return count;
}

const char *gt_arg_pointer(gt_arg arg) {
    static const char *const name[GT_ARG_MAP] = {
        [GT_ARG_A] = "a",           [GT_ARG_B] = "b",
        [GT_ARG_C] = "c",           [GT_ARG_WORKSPACE] = "workspace",
        [GT_ARG_ROWS] = "all_rows",
    };
    return arg < GT_ARG_MAP ? name[arg] : NULL;
}

bool gt_family_has_param(const struct gt_family *f, const char *name) {
    for (int i = 0; i < f->param_count; i++)
        if (strcmp(f->param[i].name, name) == 0)
            return true;
    return false;
}

/* ---- small readers ------------------------------------------------------------------- */

gt_status gt_read_text(char **out, struct gt_node n, struct gt_err *err) {
    const char *text;
    const gt_status status = gt_json_string(&text, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    free(*out);
    *out = strdup(text);
    return *out != NULL ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

gt_status gt_read_list(struct gt_node n, enum gt_json_kind kind, size_t least, size_t most,
                       struct gt_err *err) {
    const size_t count = gt_json_count(n);
    if (gt_json_kind(n) != kind)
        return gt_json_fail(n, err, "must be %s",
                            kind == GT_JSON_ARRAY ? "an array" : "an object");
    if (count < least)
        return gt_json_fail(n, err, "has %zu entries, needs at least %zu", count, least);
    if (count > most)
        return gt_json_fail(n, err, "has %zu entries, at most %zu are allowed", count,
                            most);
    return GEMMTUNE_OK;
}

bool gt_is_word(const char *text, bool identifier) {
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
    static const char more[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    const size_t len = strlen(text);
    if (len == 0 || len >= GT_NAME_MAX)
        return false;
    if (strchr(lower, text[0]) == NULL && !(identifier && strchr(more, text[0]) != NULL))
        return false;
    for (size_t i = 1; i < len; i++)
        if (strchr(lower, text[i]) == NULL && strchr("0123456789_", text[i]) == NULL &&
            !(identifier && strchr(more, text[i]) != NULL))
            return false;
    return true;
}

gt_status gt_read_entry(char out[GT_NAME_MAX], struct gt_node n, struct gt_err *err) {
    const char *entry;
    const gt_status status = gt_json_string(&entry, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (!gt_is_word(entry, true))
        return gt_json_fail(n, err, "\"%s\" is not a C name of at most %d characters",
                            entry, GT_NAME_MAX - 1);
    memcpy(out, entry, strlen(entry) + 1);
    return GEMMTUNE_OK;
}
