/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_family.c - any bytes as a space.json. An accepted family is taken as far as a
 * kernel's source: defaults, rules, the space, a launch, a prediction, the text for the
 * compiler.
 */
#include "tests/fuzz/standalone.h"

#include "runtime/family/launch.h"
#include "runtime/lookup/model.h"
#include "tuner/search/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RAW_MAX = 1 << 14 }; /* larger spaces take too long for one input */

static const struct gt_device device = {
    .backend = GEMMTUNE_CUDA,
    .name = "a device",
    .arch = "sm_90",
    .cc = 90,
    .units = 4,
    .warp = 32,
    .max_threads = 1024,
    .regs_per_block = 65536,
    .clock_mhz = 1000,
    .mem_clock_mhz = 1000,
    .bus_bits = 64,
    .smem_max = 49152,
    .has_f64 = true,
};

static gemmtune_problem problem_for(const struct gt_family *f) {
    gemmtune_problem p;
    char name[GT_PROBLEM_NAME_MAX];
    const char *types = "f32";
    for (size_t i = 0; gt_dtype_at(i) != NULL; i++)
        if ((f->dtypes & gt_dtype_bit(gt_dtype_at(i))) != 0)
            types = gt_dtype_at(i)->name;
    snprintf(name, sizeof name, "%s-nn-65x33x17", types);
    if (gt_problem_from_name(&p, name, NULL) != GEMMTUNE_OK)
        abort();
    return p;
}

static void try_point(struct gt_binding *b, const struct gt_point *point) {
    struct gt_passes passes;
    struct gt_prediction prediction;
    struct gt_model model;
    char *source = NULL;
    if (gt_bind_point(b, point, NULL) != GEMMTUNE_OK)
        return;
    (void)gt_refused(b);
    (void)gt_not_accepted(b);
    (void)gt_passes_of(&passes, b, &device, NULL);
    gt_model_begin(&model, b, &device);
    (void)gt_model_predict(&prediction, &model, b, NULL);
    (void)gt_source_of(&source, b, &device, NULL);
    free(source);
}

static void use(const struct gt_family *f) {
    const gemmtune_problem p = problem_for(f);
    struct gt_binding b;
    struct gt_point point;
    struct gt_space space = {.raw = 1};
    gt_bind_problem(&b, f, &device, &p);
    gt_bind_align(&b, &p, 16);
    gt_family_default(f, &point);
    try_point(&b, &point);
    for (int i = 0; i < f->param_count; i++)
        space.raw *= f->param[i].count;
    if (space.raw > RAW_MAX || gt_space_create(&space, f, &device, &p, NULL) != GEMMTUNE_OK)
        return;
    for (size_t i = 0; i < space.count; i++) {
        gt_space_point(&space, i, &point);
        if (gt_space_find(&space, &point) != i ||
            gt_bind_point(&b, &point, NULL) != GEMMTUNE_OK || gt_refused(&b) != NULL ||
            gt_not_accepted(&b) != NULL)
            abort();
    }
    gt_space_clear(&space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const source[2] = {"kernel", "kernel"};
    struct gt_family *f = NULL;
    struct gt_err err = {""};
    char *json = malloc(size + 1);
    if (json == NULL)
        return 0;
    memcpy(json, data, size);
    json[size] = '\0';
    const char *at = strstr(json, "\"family\": \"");
    char name[GT_NAME_MAX] = "toy"; /* the folder must have the family's name */
    if (at != NULL) {
        const size_t len = strcspn(at + 11, "\"");
        if (len < sizeof name) {
            memcpy(name, at + 11, len);
            name[len] = '\0';
        }
    }
    if (gt_family_parse(&f, name, "input", json, source, &err) == GEMMTUNE_OK)
        use(f);
    gt_family_destroy(f);
    free(json);
    return 0;
}
