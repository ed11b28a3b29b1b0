/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checker.c - a checker (check.h): it loads the kernels of tuner/lab/kernels/ and keeps the
 * workspace that the checked kernels share. checker_run.c launches the kernels.
 */
#include "tuner/lab/check_internal.h"

#include "core/embed.h"
#include "runtime/family/family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernels' files, one text in this order: each uses the texts before it. */
#define FOLDER "tuner/lab/kernels/"
static const char *const kernel_file[] = {FOLDER "element.cl",   FOLDER "data.cl",
                                          FOLDER "reference.cl", FOLDER "compare.cl",
                                          FOLDER "clock.cl",     FOLDER "witness.cl"};

static const char *const kernel_entry[GT_CHECKER_KERNELS] = {
    [GT_KERNEL_FILL] = "gt_fill",
    [GT_KERNEL_REFERENCE] = "gt_reference",
    [GT_KERNEL_REFERENCE_SMALL] = "gt_reference_small",
    [GT_KERNEL_COMPARE] = "gt_compare",
    [GT_KERNEL_UNCHANGED] = "gt_unchanged",
    [GT_KERNEL_WITHIN] = "gt_within",
    [GT_KERNEL_PACE] = "gt_pace",
    [GT_KERNEL_BETWEEN] = "gt_between",
    [GT_KERNEL_SAME] = "gt_same",
    [GT_KERNEL_ERROR] = "gt_error",
    [GT_KERNEL_SPOIL] = "gt_spoil",
    [GT_KERNEL_WITNESS] = "gt_witness",
    [GT_KERNEL_STAIN] = "gt_stain",
};

/* ---- the kernels ---- */

/* Loads all kernels from one image. */
static gt_status load(struct gt_checker *c, const char *source, struct gt_err *err) {
    const struct gt_rig_head *h = gt_rig_head(c->rig);
    const struct gt_driver *driver = h->gpu->driver;
    const struct gt_launch launch = {
        .grid = {1, 1, 1}, .block = {GT_CHECKER_THREADS, 1, 1}, .cluster = {1, 1, 1}};
    struct gt_image image = {0};
    gt_status status = gt_build(&image, driver, h->device, source, NULL, err);
    if (status == GEMMTUNE_OK)
        status = driver->load(&c->kernel[0], h->gpu, &image, source, kernel_entry[0],
                              &launch, err);
    for (int k = 1; status == GEMMTUNE_OK && k < GT_CHECKER_KERNELS; k++)
        status = driver->load_also(&c->kernel[k], h->gpu, c->kernel[0], kernel_entry[k],
                                   &launch, err);
    gt_image_clear(&image);
    return status;
}

static const char *wide_macro(gemmtune_dtype wide) {
    return wide == GEMMTUNE_F64   ? "GT_WIDE_F64"
           : wide == GEMMTUNE_I32 ? "GT_WIDE_I32"
                                  : "GT_WIDE_F32";
}

/* Whether sums of f32 are made in f64. Dot2 in f32 takes ten instructions, f64 one. */
static bool sums_are_wider(const struct gt_device *d, gemmtune_dtype wide) {
    const double f64 = gt_device_plain_peak(d, gt_dtype_by_name("f64", 3));
    const double f32 = gt_device_plain_peak(d, gt_dtype_by_name("f32", 3));
    return wide == GEMMTUNE_F32 && d->has_f64 && (d->is_cpu || 8 * f64 > f32);
}

/* Appends the text of all files. A compiler's message names the file that it is about. */
static void print_files(FILE *to) {
    for (size_t i = 0; i < sizeof kernel_file / sizeof *kernel_file; i++)
        fprintf(to, "#line 1 \"%s\"\n%s", kernel_file[i],
                gt_embedded_text(gt_embedded_kernels, kernel_file[i]));
}

/* The text of the kernels with the macros that it needs. The caller frees it; NULL when
 * memory is short. */
static char *text_for(const struct gt_device *d, const gemmtune_problem *types) {
    const gemmtune_dtype type[3] = {types->type_a, types->type_b, types->type_c};
    const gemmtune_dtype wide = gt_type_wide(types->type_acc);
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    if (f == NULL)
        return NULL;
    for (int i = 0; i < 3; i++)
        fprintf(f, "#define GT_BYTES_%c %zu\n#define GT_BITS_%c %d\n", "ABC"[i],
                gt_type_size(type[i]), "ABC"[i], gt_type_bits(type[i]));
    fprintf(f, "#define %s 1\n#define GT_SUMS_ARE_WIDER %d\n", wide_macro(wide),
            sums_are_wider(d, wide));
    print_files(f);
    fclose(f);
    return text;
}

/* The dialect of kernels for the wide type is meant. */
gt_status gt_checker_source(char **out, const struct gt_device *d,
                            const gemmtune_problem *types, struct gt_err *err) {
    char *text = text_for(d, types);
    gemmtune_problem wide;
    if (text == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the checking kernels");
    gemmtune_problem_init(&wide, gt_type_wide(types->type_acc), 1, 1, 1);
    const gt_status status =
        gt_source_plain(out, d, &wide, "tuner/lab/checker.c", text, err);
    free(text);
    return status;
}

static gt_status load_all(struct gt_checker *c, struct gt_err *err) {
    char *source = NULL;
    gt_status status =
        gt_checker_source(&source, gt_rig_head(c->rig)->device, &c->types, err);
    if (status == GEMMTUNE_OK)
        status = load(c, source, err);
    free(source);
    return status;
}

/* ---- a checker ---- */

void gt_checker_release(struct gt_checker *c, void *mem) {
    if (mem)
        gt_rig_head(c->rig)->ops->release(c->rig, mem);
}

gt_status gt_checker_create(struct gt_checker **out, struct gt_rig *rig,
                            const gemmtune_problem *types, int64_t scratch_bytes,
                            struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    *out = NULL;
    struct gt_checker *c = calloc(1, sizeof *c);
    if (!c)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the checking kernels");
    c->rig = rig;
    c->types = *types;
    c->wide = gt_type_wide(types->type_acc);
    c->scratch_bytes = gt_guarded_bytes(scratch_bytes);
    gt_status status = load_all(c, err);
    if (status == GEMMTUNE_OK)
        status = ops->alloc(&c->found, rig, GT_CASES_MAX * GT_COUNTERS * 4, err);
    if (status == GEMMTUNE_OK)
        status = ops->alloc(&c->scratch, rig, c->scratch_bytes, err);
    if (status != GEMMTUNE_OK) {
        gt_checker_destroy(c);
        return status;
    }
    *out = c;
    return GEMMTUNE_OK;
}

void gt_checker_unreserve(struct gt_checker *c) {
    if (c->workspace.view)
        gt_rig_head(c->rig)->ops->view_release(c->rig, c->workspace.view);
    gt_checker_release(c, c->workspace.mem);
    memset(&c->workspace, 0, sizeof c->workspace);
}

void gt_checker_destroy(struct gt_checker *c) {
    if (!c)
        return;
    const struct gt_rig_head *h = gt_rig_head(c->rig);
    const struct gt_driver *driver = h->gpu->driver;
    gt_checker_release(c, c->found);
    gt_checker_release(c, c->scratch);
    gt_checker_unreserve(c);
    for (int k = GT_CHECKER_KERNELS - 1; k >= 0;
         k--) /* the first one owns the module, so it goes last */
        if (c->kernel[k])
            driver->unload(c->kernel[k]);
    free(c);
}

/* ---- the workspace ---- */

int64_t gt_workspace_bytes(int64_t bytes) {
    return bytes > 0 ? gt_guarded_bytes(bytes) : 0;
}

static gt_status make_workspace(struct gt_checker *c, int64_t bytes, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    gt_status status =
        ops->alloc(&c->workspace.mem, c->rig, gt_workspace_bytes(bytes), err);
    if (status == GEMMTUNE_OK)
        status =
            ops->view(&c->workspace.view, c->rig, c->workspace.mem, GT_GUARD, bytes, err);
    if (status == GEMMTUNE_OK)
        c->workspace.bytes = bytes;
    return status;
}

/* There may be no room for both workspaces, so the old one is freed first. It is made again
 * when the new one fails, because other kernels rely on it. */
gt_status gt_checker_reserve(struct gt_checker *c, int64_t bytes, struct gt_err *err) {
    const int64_t had = c->workspace.bytes;
    if (bytes <= had)
        return GEMMTUNE_OK;
    gt_checker_unreserve(c);
    const gt_status status = make_workspace(c, bytes, err);
    if (status == GEMMTUNE_OK)
        return GEMMTUNE_OK;
    gt_checker_unreserve(c);
    if (had > 0)
        (void)make_workspace(c, had, NULL);
    return status;
}

void *gt_checker_workspace(const struct gt_checker *c) {
    return c->workspace.view;
}
