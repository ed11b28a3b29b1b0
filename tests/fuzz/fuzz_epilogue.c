/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_epilogue.c - any bytes as an epilogue, for several types of problems. A refusal has
 * one line. An accepted text has a canonical text with the same tree, a source that fits,
 * costs, and a range for every element.
 */
#include "tests/fuzz/standalone.h"

#include "core/epilogue_cost.h"
#include "core/epilogue_range.h"
#include "core/epilogue_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void promise(bool kept) {
    if (!kept)
        abort();
}

static void check_text(const struct gt_epilogue *e) {
    const gemmtune_dtype c = (gemmtune_dtype)e->type_c, acc = (gemmtune_dtype)e->type_acc;
    struct gt_epilogue again;
    char text[GT_EPILOGUE_MAX], twice[GT_EPILOGUE_MAX];
    struct gt_err err = {""};
    if (gt_epilogue_canonical(text, e, &err) != GEMMTUNE_OK) {
        promise(err.line[0] != '\0');
        return;
    }
    promise(gt_epilogue_parse(&again, text, c, acc, NULL) == GEMMTUNE_OK);
    promise(gt_epilogue_same(e, &again));
    promise(gt_epilogue_canonical(twice, &again, NULL) == GEMMTUNE_OK);
    promise(strcmp(text, twice) == 0);
}

static void check_source(const struct gt_epilogue *e) {
    char source[GT_EPILOGUE_SOURCE_MAX];
    const int len = gt_epilogue_source(e, source, sizeof source);
    promise(len > 0 && len < GT_EPILOGUE_SOURCE_MAX);
    promise(strchr(source, '"') == NULL && strchr(source, '#') == NULL);
    promise(strstr(source, "null") == NULL);
    promise(gt_epilogue_cost_of(e, INT32_MAX, INT32_MAX).flops >= 0);
}

static void check_range(const struct gt_epilogue *e, double acc, double other) {
    const double operand[GT_EPILOGUE_OPERANDS_MAX] = {other, 1, -2, 0, acc, other, 3, NAN};
    const struct gt_epi_values values = {acc, 1e-6, other, 1, other, operand};
    struct gt_epi_result out[2];
    gt_epilogue_eval(out, e, &values);
    for (int i = 0; i < 1 + (e->d2 >= 0); i++)
        promise(out[i].store.low <= out[i].store.high);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const gemmtune_dtype types[][2] = {{GEMMTUNE_F32, GEMMTUNE_F32},
                                              {GEMMTUNE_BF16, GEMMTUNE_F32},
                                              {GEMMTUNE_F64, GEMMTUNE_F64},
                                              {GEMMTUNE_I32, GEMMTUNE_I32}};
    static const double numbers[] = {0, 1, -1e30, INFINITY, NAN};
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct gt_epilogue e;
        struct gt_err err = {""};
        if (gt_epilogue_parse(&e, text, types[i][0], types[i][1], &err) != GEMMTUNE_OK) {
            promise(err.line[0] != '\0');
            continue;
        }
        check_text(&e);
        check_source(&e);
        check_range(&e, numbers[size % 5], numbers[i % 5]);
    }
    free(text);
    return 0;
}
