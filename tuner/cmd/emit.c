/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.c - `gemmtune emit`: writes the kernels of a list of problems as a folder of C that
 * needs libc and the CUDA driver alone. Without a device, too: NVRTC compiles for an
 * architecture, and a device of the database or of devices/ stands for it.
 */
#include "tuner/emit/emit.h"

#include "core/bytes.h"
#include "runtime/drivers/nvrtc.h"
#include "runtime/lookup/known.h"
#include "tuner/base/talk.h"
#include "tuner/base/view.h"
#include "tuner/cmd/common.h"
#include "tuner/cmd/which_device.h"
#include "tuner/study/predict.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct values {
    struct gt_format format;
    const char *db, *sizes, *out;
    struct gt_texts arch, device_file, templates;
    double workspace;
    bool force, quiet;
};

static const struct gt_option options[] = {
    {"sizes", 's', GT_OPT_TEXT, offsetof(struct values, sizes), "FILE",
     "the problems (sweep.json)", 0, 0},
    {"arch", 0, GT_OPT_NAMES, offsetof(struct values, arch), "WORDS",
     "architectures: sm_90, or compute_80 for PTX, which later devices compile (default: "
     "the first device here)",
     0, 0},
    {"device-file", 0, GT_OPT_LIST, offsetof(struct values, device_file), "FILE",
     "a device that stands for its architecture, by its description (devices/); may be "
     "repeated",
     0, 0},
    {"output", 'o', GT_OPT_TEXT, offsetof(struct values, out), "FOLDER",
     "where the files go: a new or an empty folder", 0, 0},
    {"force", 0, GT_OPT_FLAG, offsetof(struct values, force), NULL,
     "replace the files of an earlier emit in FOLDER", 0, 0},
    GT_OPTION_WORKSPACE(struct values, "most workspace of a kernel (default 32MiB); none: "
                                       "any"),
    GT_OPTION_READ_DB(struct values),
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_QUIET(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

/* ---- the summary ---- */

struct row {
    const char *arch, *kernel, *family, *chosen;
    char point[GT_POINT_TEXT_MAX];
    double ns, workspace, image;
};

#define EMITTED(X)                                                                         \
    X("arch", "arch", TEXT, 0, r->arch, "architecture")                                    \
    X("kernel", "kernel", TEXT, 0, r->kernel,                                              \
      "the problem, or types and layout of a general kernel")                              \
    X("chosen", "chosen", TEXT, 0, r->chosen,                                              \
      "tuned: by a record of this problem; forecast: by the model, out of other records "  \
      "or of starts; general: for all other problems")                                     \
    X("median_ns", "time", NS, 1, r->ns, "of a product, as tuned or forecast")             \
    X("workspace_bytes", "workspace", BYTES, 1, r->workspace, "that a call needs")         \
    X("image_bytes", "image", BYTES, 2, r->image, "of the compressed image")               \
    X("family", "family", TEXT, 0, r->family, "kernel family")                             \
    X("point", "point", POINT, 2, r->point, "values of the family's parameters")
GT_COLUMNS(emitted, struct row, EMITTED)
static const struct gt_form emitted = GT_FORM(emitted, "");

static const char *chosen_word(const struct gt_emit_kernel *k) {
    return k->general ? "general" : k->tuned ? "tuned" : "forecast";
}

static gt_status print(const struct gt_emit_kit *kit, const struct gt_format *format,
                       struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status = gt_table_create(&t, &emitted, err);
    for (int i = 0; i < kit->kernels && status == GEMMTUNE_OK; i++) {
        const struct gt_emit_kernel *k = &kit->kernel[i];
        const struct gt_family *f = k->fit.binding.family;
        int64_t values[GT_POINT_MAX];
        struct gt_point point;
        struct row row = {.arch = kit->target[k->target].arch,
                          .kernel = k->name,
                          .family = f->name,
                          .chosen = chosen_word(k),
                          .ns = k->general ? 0 : k->ns,
                          .workspace = (double)k->fit.passes.workspace_bytes,
                          .image = (double)kit->image[k->image].packed_size};
        for (int j = 0; j < f->param_count; j++)
            values[j] = k->fit.binding.value[f->param[j].slot];
        gt_point_of_values(&point, f, values);
        (void)gt_point_text(&point, row.point);
        status = add_emitted(t, &row, err);
    }
    if (status == GEMMTUNE_OK)
        gt_common_print(t, format);
    gt_table_destroy(t);
    return status;
}

/* ---- targets ---- */

/* Reads what was tuned on the target's architecture. */
static gt_status read_known(struct gt_emit_target *t, struct gt_db *db,
                            const struct gt_families *families, struct gt_err *err) {
    int64_t stale = 0;
    gt_status status = GEMMTUNE_OK;
    gt_device_key(&t->device, t->device_key);
    if (db != NULL)
        status = gt_known_load(&t->known, &t->snapshot.count, &stale, db, families,
                               t->device.arch, err);
    if (status == GEMMTUNE_OK)
        status = gt_index_create(&t->index, t->known, t->snapshot.count, err);
    t->snapshot.families = families;
    t->snapshot.known = t->known;
    t->snapshot.index = t->index;
    return status;
}

static size_t count_known(const struct gt_known *known, size_t count, const char *key) {
    size_t mine = 0;
    for (size_t i = 0; i < count; i++)
        mine += strcmp(known[i].device_key, key) == 0;
    return mine;
}

/* The device of the architecture with the most records, if the database has one. */
static gt_status find_in_db(bool *found, struct gt_device *out, struct gt_db *db,
                            const struct gt_families *families, const char *arch,
                            struct gt_err *err) {
    struct gt_view view = {0};
    struct gt_known *known = NULL;
    size_t count = 0, most = 0;
    int64_t stale = 0;
    *found = false;
    gt_status status = gt_view_devices(&view, db, err);
    if (status == GEMMTUNE_OK)
        status = gt_known_load(&known, &count, &stale, db, families, arch, err);
    for (size_t i = 0; i < view.device_count && status == GEMMTUNE_OK; i++) {
        const size_t mine = count_known(known, count, view.device[i].key);
        if (strcmp(view.device[i].device.arch, arch) != 0 || mine <= most)
            continue;
        most = mine;
        *out = view.device[i].device;
        *found = true;
    }
    free(known);
    gt_view_clear(&view);
    return status;
}

static bool find_described(struct gt_device *out, const char *arch) {
    char name[GT_NAME_MAX];
    for (size_t i = 0; gt_describe_at(out, name, i); i++)
        if (strcmp(out->arch, arch) == 0)
            return true;
    return false;
}

static int find_arch(struct gt_device *out, struct gt_db *db,
                     const struct gt_families *families, const char *arch) {
    struct gt_err err = {""};
    bool found = false;
    const gt_status status =
        db != NULL ? find_in_db(&found, out, db, families, arch, &err) : GEMMTUNE_OK;
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    if (found || find_described(out, arch))
        return -1;
    return gt_die(GT_EXIT_DEVICE,
                  "no device of %.40s is in the database or in devices/: --device-file "
                  "describes one",
                  arch);
}

static int add_target(struct gt_emit_kit *kit, const struct gt_device *d, struct gt_db *db,
                      const struct gt_families *families, bool ptx) {
    struct gt_err err = {""};
    struct gt_nvrtc_choice choice;
    if (!gt_driver_of(d->backend)->speaks_cuda)
        return gt_die(GT_EXIT_DEVICE,
                      "%s is no CUDA device, and emitted kernels are for "
                      "CUDA: --arch or --device-file names one",
                      d->name);
    for (int i = 0; i < kit->targets; i++)
        if (strcmp(kit->target[i].device.arch, d->arch) == 0 && kit->target[i].ptx == ptx)
            return gt_die(GT_EXIT_USAGE, "emit: %s is named twice", kit->target[i].arch);
    if (kit->targets == GT_EMIT_TARGETS_MAX)
        return gt_die(GT_EXIT_USAGE, "emit: at most %d architectures", GT_EMIT_TARGETS_MAX);
    struct gt_emit_target *t = &kit->target[kit->targets++];
    t->device = *d;
    t->ptx = ptx;
    (void)snprintf(t->arch, sizeof t->arch, ptx ? "compute_%d" : "sm_%d", d->cc);
    if (ptx && gt_nvrtc_choose_ptx(&choice, d->cc, &err) != GEMMTUNE_OK)
        return gt_die(GT_EXIT_DEVICE, "%s", err.line);
    const gt_status status = read_known(t, db, families, &err);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

#define VIRTUAL "compute_" /* PTX for an architecture and later ones */

static int add_targets(struct gt_emit_kit *kit, const struct values *v, struct gt_db *db,
                       const struct gt_families *families) {
    struct gt_err err = {""};
    struct gt_device d;
    int code = -1;
    for (int i = 0; i < v->arch.count && code < 0; i++) {
        char arch[24];
        const bool ptx = strncmp(v->arch.text[i], VIRTUAL, strlen(VIRTUAL)) == 0;
        (void)snprintf(arch, sizeof arch, "%s%s", ptx ? "sm_" : "",
                       v->arch.text[i] + (ptx ? strlen(VIRTUAL) : 0));
        code = find_arch(&d, db, families, arch);
        if (code < 0)
            code = add_target(kit, &d, db, families, ptx);
    }
    for (int i = 0; i < v->device_file.count && code < 0; i++) {
        if (gt_describe_load(&d, v->device_file.text[i], &err) != GEMMTUNE_OK)
            return gt_die(GT_EXIT_INPUT, "%s", err.line);
        code = add_target(kit, &d, db, families, false);
    }
    if (code < 0 && kit->targets == 0) {
        const struct gt_which here = {.opened = &db};
        code = gt_which_device(&d, &here, &err);
        code = code >= 0 ? gt_die(code, "%s", err.line)
                         : add_target(kit, &d, db, families, false);
    }
    return code;
}

/* ---- the folder ---- */

static bool is_empty_folder(const char *path) {
    DIR *const folder = opendir(path);
    bool empty = folder != NULL;
    for (struct dirent *e; empty && (e = readdir(folder)) != NULL;)
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    if (folder != NULL)
        (void)closedir(folder);
    return empty;
}

static int make_folder(const char *path) {
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? -1
               : gt_die(GT_EXIT_FAILURE, "%s: %s", path, strerror(errno));
}

/* Whether a folder can be made there. Nothing is left. */
static int try_folder(const char *path) {
    const int code = make_folder(path);
    if (code < 0)
        (void)rmdir(path);
    return code;
}

/* Whether files may go there, before the work on them. Files of anybody else are never
 * replaced. */
static int check_folder(const struct values *v) {
    char mark[GT_PATH_SIZE];
    struct stat now;
    if (stat(v->out, &now) != 0)
        return try_folder(v->out);
    if (is_empty_folder(v->out))
        return -1;
    (void)snprintf(mark, sizeof mark, "%s/gemmkit_kernels.c", v->out);
    if (access(mark, F_OK) != 0)
        return gt_die(GT_EXIT_FAILURE, "%s is there, and gemmtune emit did not make it",
                      v->out);
    return v->force ? -1
                    : gt_die(GT_EXIT_FAILURE,
                             "%s is there already: --force replaces its files", v->out);
}

/* ---- the command ---- */

static int check(const struct values *v, bool named, const struct gt_sweep *sweep) {
    for (size_t i = 0; i < sweep->count; i++) {
        const char *why = gt_emit_refusal(&sweep->item[i].problem);
        if (why != NULL)
            return gt_die(GT_EXIT_INPUT, "%s: %s", sweep->item[i].name, why);
    }
    if (v->out == NULL)
        return gt_die(GT_EXIT_USAGE, "emit: -o FOLDER is missing");
    return named && sweep->count > 0
               ? -1
               : gt_die(GT_EXIT_USAGE, "emit: name problems, or a file of them by --sizes");
}

static void say(const struct gt_emit_kit *kit, const char *folder) {
    int exact = 0, tuned = 0;
    char size[GT_CELL_MAX];
    for (int i = 0; i < kit->kernels; i++) {
        exact += !kit->kernel[i].general;
        tuned += kit->kernel[i].tuned;
    }
    gt_talk_line("%s: %d kernel%s for problems, %d of them tuned and the others forecast; "
                 "%d general one%s; %s of images",
                 folder, exact, gt_text_plural(exact), tuned, kit->kernels - exact,
                 gt_text_plural(kit->kernels - exact),
                 gt_show_bytes(size, (double)kit->image_bytes));
}

/* Whether there is a compiler at all. */
static bool has_compilers(const struct gt_emit_kit *kit) {
    char text[GT_TOOLCHAIN_MAX];
    for (int i = 0; i < kit->targets; i++) {
        const struct gt_device *d = &kit->target[i].device;
        if (gt_driver_of(d->backend)->toolchain(text, d, NULL) != GEMMTUNE_OK)
            return false;
    }
    return true;
}

enum { TRIES = 8 }; /* choices, when kernels do not build, before emit gives up */

static int make(struct gt_emit_kit *kit, const struct values *v,
                const struct gt_sweep *sweep) {
    struct gt_err err = {""};
    struct gt_progress progress;
    gt_progress_init(&progress, sweep->count, v->quiet);
    const size_t workspace = gt_common_bytes(v->workspace);
    gt_status status = gt_emit_choose(kit, sweep, workspace, &err);
    if (status == GEMMTUNE_OK)
        status = gt_emit_build(kit, &progress, &err);
    for (int i = 0; status == GEMMTUNE_EBUILD && i < TRIES && has_compilers(kit); i++) {
        struct gt_err next = {""};
        gt_talk_line("does not build, trying the next: %s", err.line);
        if (gt_emit_choose(kit, sweep, workspace, &next) != GEMMTUNE_OK)
            break;
        status = gt_emit_build(kit, &progress, &err);
    }
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    const int code = make_folder(v->out);
    if (code >= 0)
        return code;
    status = gt_emit_write(kit, v->out, &err);
    if (status == GEMMTUNE_OK)
        status = print(kit, &v->format, &err);
    if (status != GEMMTUNE_OK)
        return gt_die(GT_EXIT_FAILURE, "%s", err.line);
    if (!v->format.json && !v->format.csv)
        say(kit, v->out);
    return GT_EXIT_OK;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.workspace = 32 << 20};
    struct gt_emit_kit *kit = calloc(1, sizeof *kit);
    struct gt_families *families = NULL;
    struct gt_sweep sweep = {0};
    struct gt_db *db = NULL;
    int first = 0;
    if (kit == NULL)
        return gt_die(GT_EXIT_FAILURE, "out of memory");
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, argc, &first);
    const bool named = v.sizes != NULL || first < argc;
    if (code < 0 && named)
        code = gt_common_sweep(&sweep, v.sizes, (const char *const *)argv + first,
                               argc - first);
    if (code < 0)
        code = check(&v, named, &sweep);
    if (code < 0)
        code = check_folder(&v);
    if (code < 0)
        code = gt_common_families(&families, &v.templates);
    if (code < 0)
        code = gt_common_read_db(&db, v.db);
    if (code < 0)
        code = add_targets(kit, &v, db, families);
    gt_db_close(db);
    if (code < 0)
        code = make(kit, &v, &sweep);
    gt_emit_clear(kit);
    free(kit);
    gt_sweep_clear(&sweep);
    gt_families_destroy(families);
    return code;
}

const struct gt_cmd gt_cmd_emit = {
    .name = "emit",
    .operands = "-o FOLDER [--arch WORDS] [--sizes FILE | PROBLEM...]",
    .about = "Write the kernels of problems as a folder of C that needs libc and the CUDA "
             "driver alone.",
    .options = options,
    .tables = (const struct gt_form *const[]){&emitted, NULL},
    .run = run,
};
