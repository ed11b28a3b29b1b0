/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue_promises.h - what holds of every text that is taken for an epilogue, for several
 * types of problems. A refusal is one line. A column that it names is one of the text. An
 * accepted text has
 *     a canonical text, which has the same tree and is its own canonical text,
 *     a text of declarations and assignments with the same tree, also with brackets around
 *         what d is assigned,
 *     a source that fits, with no text of its own, costs, and a range for every element.
 */
#ifndef GT_TESTS_FUZZ_EPILOGUE_PROMISES_H
#define GT_TESTS_FUZZ_EPILOGUE_PROMISES_H

#include "core/epilogue/epilogue_cost.h"
#include "core/epilogue/epilogue_range.h"
#include "core/epilogue/epilogue_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void promise(bool kept, const char *text, const char *what) {
    if (kept)
        return;
    (void)fprintf(stderr, "not so: %s: %s\n", what, text);
    abort();
}

static inline void check_refusal(const char *text, const struct gt_err *err) {
    int column = 1;
    promise(err->line[0] != '\0' && strchr(err->line, '\n') == NULL, text,
            "a refusal is a line");
    promise(strncmp(err->line, "column ", 7) != 0 ||
                (sscanf(err->line, "column %d ", &column) == 1 && column >= 1 &&
                 column <= (int)strlen(text) + 1),
            text, "a refusal names a column of the text");
}

static inline bool has_tree(const char *text, const struct gt_epilogue *e) {
    struct gt_epilogue again;
    return gt_epilogue_parse(&again, text, (gemmtune_dtype)e->type_c,
                             (gemmtune_dtype)e->type_acc, NULL) == GEMMTUNE_OK &&
           gt_epilogue_same(e, &again);
}

static inline void check_canonical(const struct gt_epilogue *e, const char *text) {
    char canonical[GT_EPILOGUE_MAX], twice[GT_EPILOGUE_MAX];
    struct gt_err err = {""};
    if (gt_epilogue_canonical(canonical, e, &err) != GEMMTUNE_OK) {
        promise(strstr(err.line, " bytes") != NULL, text,
                "only a long canonical text is refused");
        return;
    }
    promise(has_tree(canonical, e), text, "the canonical text has the tree");
    promise(gt_epilogue_settle(twice, canonical, (gemmtune_dtype)e->type_c,
                               (gemmtune_dtype)e->type_acc, NULL) == GEMMTUNE_OK &&
                strcmp(canonical, twice) == 0,
            text, "the canonical text is its own");
}

/* Deep ones may be refused with one more bracket. */
static inline void check_print(const struct gt_epilogue *e, const char *text) {
    char plain[GT_EPILOGUE_MAX], more[GT_EPILOGUE_MAX + 2];
    struct gt_epilogue again;
    const gemmtune_dtype c = (gemmtune_dtype)e->type_c, acc = (gemmtune_dtype)e->type_acc;
    const int len = gt_epilogue_print(e, plain, sizeof plain);
    if (len < 0 || len + 2 >= GT_EPILOGUE_MAX)
        return;
    promise(has_tree(plain, e), text, "the printed text has the tree");
    const char *later = strstr(plain, ";d=");
    promise(strncmp(plain, "d=", 2) == 0 || later != NULL, text, "d is assigned");
    const char *d = later == NULL ? plain : later + 1;
    const size_t head = (size_t)(d + 2 - plain), body = strcspn(d + 2, ";");
    (void)snprintf(more, sizeof more, "%.*s(%.*s)%s", (int)head, plain, (int)body, d + 2,
                   d + 2 + body);
    if (gt_epilogue_parse(&again, more, c, acc, NULL) == GEMMTUNE_OK)
        promise(gt_epilogue_same(e, &again), text, "brackets around all change nothing");
}

static inline void check_source(const struct gt_epilogue *e, const char *text) {
    char source[GT_EPILOGUE_SOURCE_MAX];
    const int len = gt_epilogue_source(e, source, sizeof source);
    promise(len > 0 && len < GT_EPILOGUE_SOURCE_MAX, text, "the source fits");
    promise(strpbrk(source, "\"#\\$@`'") == NULL && strstr(source, "null") == NULL, text,
            "the source has no text of the user's");
    promise(gt_epilogue_cost_of(e, INT32_MAX, INT32_MAX, INT32_MAX).flops >= 0, text,
            "it costs");
}

static inline void check_range(const struct gt_epilogue *e, const char *text, double acc,
                               double other) {
    const double operand[GT_EPILOGUE_OPERANDS_MAX] = {other, 1, -2, 0, acc, other, 3, NAN};
    const struct gt_epi_values values = {acc, 1e-6, other, 1, other, operand};
    struct gt_epi_result out[2];
    gt_epilogue_eval(out, e, &values);
    for (int i = 0; i < 1 + (e->d2 >= 0); i++)
        promise(out[i].store.low <= out[i].store.high || out[i].store.nan, text,
                "an element has a range, or is NaN");
}

/* Returns how many types of problems accept the text. */
static inline int check_epilogue(const char *text) {
    static const gemmtune_dtype types[][2] = {{GEMMTUNE_F32, GEMMTUNE_F32},
                                              {GEMMTUNE_BF16, GEMMTUNE_F32},
                                              {GEMMTUNE_F64, GEMMTUNE_F64},
                                              {GEMMTUNE_I32, GEMMTUNE_I32}};
    static const double numbers[] = {0, 1, -1e30, INFINITY, NAN};
    int accepted = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct gt_epilogue e;
        struct gt_err err = {""};
        if (gt_epilogue_parse(&e, text, types[i][0], types[i][1], &err) != GEMMTUNE_OK) {
            check_refusal(text, &err);
            continue;
        }
        accepted++;
        check_canonical(&e, text);
        check_print(&e, text);
        check_source(&e, text);
        check_range(&e, text, numbers[strlen(text) % 5], numbers[i % 5]);
    }
    return accepted;
}

#endif
