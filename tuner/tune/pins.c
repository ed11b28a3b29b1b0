/* SPDX-License-Identifier: Apache-2.0 */
/* pins.c - the kernels of a lock: see pins.h. */
#include "tuner/tune/pins.h"

#include "core/hash.h"
#include "core/new_file.h"
#include "core/io.h"
#include "runtime/plan/plan_choose.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- images -------------------------------------------------------------------------- */

static gt_status make_folder(char folder[GT_PATH_SIZE], const char *lock,
                             struct gt_err *err) {
    const int needed = snprintf(folder, GT_PATH_SIZE, "%s" GT_LOCK_FOLDER, lock);
    if (needed < 0 || needed >= GT_PATH_SIZE)
        return gt_fail(err, GEMMTUNE_EIO, "%.200s...: the path is too long", lock);
    return mkdir(folder, 0777) == 0 || errno == EEXIST
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EIO, "%s: %s", folder, strerror(errno));
}

/* A file of this name with other bytes is replaced. */
static gt_status keep_image(const struct gt_pins_setup *setup, const struct gt_image *image,
                            const char *digest, struct gt_err *err) {
    char folder[GT_PATH_SIZE], path[GT_PATH_SIZE], there[GT_DIGEST_SIZE];
    struct gt_new_file file;
    gt_status status = make_folder(folder, setup->path, err);
    if (status == GEMMTUNE_OK)
        status = gt_pinned_path(path, sizeof path, folder, digest, err);
    if (status != GEMMTUNE_OK ||
        (gt_hash_file(there, path, NULL) == GEMMTUNE_OK && strcmp(there, digest) == 0))
        return status;
    status = gt_new_file_begin(&file, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (gt_write_all(file.fd, image->bytes, image->size))
        return gt_new_file_keep(&file, err);
    gt_new_file_drop(&file);
    return gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
}

/* ---- a kernel ------------------------------------------------------------------------ */

struct trying {
    const struct gt_pins_setup *setup;
    struct gt_pinned_kernel *out;
};

static gt_status take_image(const struct trying *t, const struct gt_gpu *gpu,
                            const char *source, struct gt_err *err) {
    struct gt_image image;
    gt_status status = GEMMTUNE_OK;
    if (gt_build_find(&image, gpu->driver, &gpu->device, source)) {
        gt_digest(t->out->source, source, strlen(source));
        gt_digest(t->out->image, image.bytes, image.size);
        if (t->setup->images)
            status = keep_image(t->setup, &image, t->out->image, err);
    } else {
        status = gt_fail(err, GEMMTUNE_EIO, "the image cache does not keep the kernel");
    }
    gt_image_clear(&image);
    return status;
}

/* A gt_try_fn: builds the kernel into the image cache, and digests it. */
static gt_status build(void *user, struct gt_gpu *gpu, const struct gt_fit *fit,
                       struct gt_err *err) {
    const struct trying *t = user;
    char *source = NULL;
    gt_status status = gt_exec_compile(gpu, fit, err);
    if (status == GEMMTUNE_OK)
        status = gt_source_of(&source, &fit->binding, &gpu->device, err);
    if (status == GEMMTUNE_OK)
        status = take_image(t, gpu, source, err);
    t->out->workspace = fit->passes.workspace_bytes;
    free(source);
    return status;
}

static void describe(struct gt_pinned_kernel *out, const struct gt_choice *choice) {
    out->family = choice->family;
    (void)gt_point_text(&choice->point, out->point);
}

/* The kernel for unaligned pointers, where there is one. A plan makes do without. */
static gt_status pin_unaligned(struct gt_pinned_kernel *out,
                               const struct gt_pins_setup *setup, struct gt_query query,
                               const struct gt_choice *wide, struct gt_err *err) {
    struct trying t = {setup, out};
    struct gt_choice narrow;
    /* A plan on such a driver builds it late, with no more workspace than it has said. */
    if (!setup->gpu->driver->pointers_are_addresses)
        query.workspace_max = (size_t)wide->fit.passes.workspace_bytes;
    const gt_status status =
        gt_plan_choose_narrow(&narrow, setup->gpu, query, wide, false, build, &t, err);
    if (status == GEMMTUNE_OK)
        describe(out, &narrow);
    return gt_is_about_kernel(status) ? GEMMTUNE_OK : status;
}

/* Whether the kernel may be pinned: it has won its latest duel, where duels are asked. */
static bool has_won(const struct gt_pins_setup *setup, const char *device_key,
                    const char *problem, const struct gt_choice *choice) {
    const struct gt_duel *first;
    char point[GT_POINT_TEXT_MAX];
    if (setup->duels == NULL)
        return true;
    (void)gt_point_text(&choice->point, point);
    const struct gt_db_subject kernel = {device_key, problem, choice->family->name,
                                         choice->family->hash, point};
    const size_t count = gt_duels_of(&first, setup->duels, gt_db_subject_key(&kernel));
    const struct gt_duel *d = gt_duels_pick(first, count, 0, setup->workspace_max);
    return d != NULL && d->verdict == GT_WIN;
}

static void set_signature(struct gt_pinned_problem *out, const struct gt_pins_setup *setup,
                          const gemmtune_problem *p) {
    struct gt_row_order order;
    gt_match_order(&order, setup->snapshot, &setup->gpu->device, p);
    memcpy(out->signature, order.text, sizeof out->signature);
}

gt_status gt_pin_problem(bool *pinned, struct gt_pinned_problem *out,
                         const struct gt_pins_setup *setup, const gemmtune_problem *p,
                         struct gt_err *err) {
    char key[GT_DEVICE_KEY_MAX];
    struct trying t = {setup, &out->kernel[GT_PIN_WIDE]};
    struct gt_choice choice;
    *out = (struct gt_pinned_problem){.match = GEMMTUNE_MATCH_EXACT};
    (void)gt_problem_name(p, out->problem);
    gt_device_key(&setup->gpu->device, key);
    const struct gt_query query = {.snapshot = setup->snapshot,
                                   .device = &setup->gpu->device,
                                   .device_key = key,
                                   .problem = p,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = setup->workspace_max,
                                   .pointer_align = GT_VECTOR_BYTES};
    /* what a lookup gives is asked before it is built */
    *pinned = setup->duels == NULL || (gt_match(&choice, &query, NULL) == GEMMTUNE_OK &&
                                       has_won(setup, key, out->problem, &choice));
    if (!*pinned)
        return GEMMTUNE_OK;
    gt_status status = gt_plan_choose(&choice, setup->gpu, query, false, build, &t, err);
    if (status != GEMMTUNE_OK)
        return gt_fail_within(err, status, "%.200s", out->problem);
    *pinned = has_won(setup, key, out->problem, &choice); /* another one, if that fails */
    if (!*pinned)
        return GEMMTUNE_OK;
    describe(t.out, &choice);
    out->match = choice.match;
    out->expected_loss = choice.expected_loss;
    set_signature(out, setup, p);
    if (gt_wants_narrow(&choice.fit, p))
        status = pin_unaligned(&out->kernel[GT_PIN_UNALIGNED], setup, query, &choice, err);
    return status;
}

/* ---- the file ------------------------------------------------------------------------ */

static void put_member(FILE *out, const char *before, const char *key, const char *text) {
    (void)fprintf(out, "%s\"%s\": ", before, key);
    gt_json_quote(out, text);
}

static void put_kernel(FILE *out, const char *key, const struct gt_pinned_kernel *k) {
    (void)fprintf(out, ",\n     \"%s\": {", key);
    put_member(out, "", "family", k->family->name);
    put_member(out, ", ", "point", k->point);
    put_member(out, ",\n      ", "source", k->source);
    put_member(out, ",\n      ", "image", k->image);
    (void)fprintf(out, ", \"workspace\": %lld}", (long long)k->workspace);
}

static void put_pin(FILE *out, const struct gt_pinned_problem *p, bool first) {
    put_member(out, first ? "\n    {" : ",\n    {", "problem", p->problem);
    put_member(out, ",\n     ", "match", gt_match_word(p->match));
    (void)fprintf(out, ", \"expected_loss\": %.6g", p->expected_loss);
    if (p->signature[0] != '\0')
        put_member(out, ",\n     ", "signature", p->signature);
    put_kernel(out, "kernel", &p->kernel[GT_PIN_WIDE]);
    if (p->kernel[GT_PIN_UNALIGNED].family != NULL)
        put_kernel(out, "unaligned", &p->kernel[GT_PIN_UNALIGNED]);
    (void)fputc('}', out);
}

static bool is_used(const struct gt_family *f, const struct gt_pinned_problem *pin,
                    size_t count) {
    bool used = false;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < GT_PIN_KERNELS; k++)
            used = used || pin[i].kernel[k].family == f;
    return used;
}

static void put_templates(FILE *out, const struct gt_families *families,
                          const struct gt_pinned_problem *pin, size_t count) {
    const char *between = "\n    ";
    (void)fputs(",\n  \"templates\": {", out);
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        if (!is_used(f, pin, count))
            continue;
        put_member(out, between, f->name, f->hash);
        between = ",\n    ";
    }
    (void)fputc('}', out);
}

static void put_device(FILE *out, const struct gt_pins_setup *setup,
                       const char *toolchain) {
    struct gt_device d = setup->gpu->device;
    char key[GT_DEVICE_KEY_MAX];
    gt_device_key(&d, key);
    if (setup->gpu->driver->fill_version != NULL)
        setup->gpu->driver->fill_version(&d);
    (void)fputs(",\n  \"device\": {", out);
    put_member(out, "", "key", key);
    put_member(out, ", ", "name", d.name);
    put_member(out, ", ", "arch", d.arch);
    if (!setup->any_driver)
        put_member(out, ",\n    ", "driver", d.driver);
    put_member(out, ",\n    ", "compiler", toolchain);
    (void)fputc('}', out);
}

gt_status gt_pins_write(const struct gt_pins_setup *setup,
                        const struct gt_pinned_problem *pin, size_t count,
                        struct gt_err *err) {
    const struct gt_gpu *gpu = setup->gpu;
    char toolchain[GT_TOOLCHAIN_MAX];
    struct gt_new_text text;
    gt_status status = gpu->driver->toolchain(toolchain, &gpu->device, err);
    if (status == GEMMTUNE_OK)
        status = gt_new_text_begin(&text, setup->path, err);
    if (status != GEMMTUNE_OK)
        return status;
    (void)fputs("{\n  \"format\": 1", text.out);
    put_member(text.out, ",\n  ", "gemmtune", setup->version);
    put_device(text.out, setup, toolchain);
    put_member(text.out, ",\n  ", "others", setup->others ? "lookup" : "refuse");
    (void)fprintf(text.out, ",\n  \"images\": %s", setup->images ? "true" : "false");
    put_templates(text.out, setup->snapshot->families, pin, count);
    (void)fputs(",\n  \"pins\": [", text.out);
    for (size_t i = 0; i < count; i++)
        put_pin(text.out, &pin[i], i == 0);
    (void)fputs("\n  ]\n}\n", text.out);
    return gt_new_text_end(&text, status, err);
}
