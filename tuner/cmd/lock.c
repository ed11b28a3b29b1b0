/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - `gemmtune lock`: writes a file that pins the kernels of problems, for
 * gemmtune_open and `gemmtune exec`; with --check it tells which of them have changed.
 */
#include "tuner/cmd/lock.h"

#include "runtime/drivers/build.h"
#include "runtime/lookup/known.h"
#include "runtime/plan/workspace.h"
#include "tuner/base/progress.h"
#include "tuner/base/talk.h"
#include "tuner/cmd/common.h"
#include "tuner/rig/probe.h"
#include "tuner/rig/rig.h"
#include "tuner/tune/pins.h"

#include <stdlib.h>
#include <string.h>

struct values {
    struct gt_lock_check_values check;
    const char *sizes, *output, *others;
    double workspace;
    bool images, any_driver, faster, quiet;
};

static const struct gt_option options[] = {
    {"device", 'd', GT_OPT_TEXT, offsetof(struct values, check.device), "N",
     "device: index, UUID, PCI id, key or part of its name", 0, 0},
    {"sizes", 's', GT_OPT_TEXT, offsetof(struct values, sizes), "FILE",
     "pin the kernels of the problems of FILE (sweep.json)", 0, 0},
    {"output", 'o', GT_OPT_TEXT, offsetof(struct values, output), "FILE",
     "the lock, or - for standard output; a file appears whole or not at all", 0, 0},
    {"images", 0, GT_OPT_FLAG, offsetof(struct values, images), NULL,
     "keep the images in the folder FILE.d, so that no compiler is needed later", 0, 0},
    {"faster", 0, GT_OPT_FLAG, offsetof(struct values, faster), NULL,
     "pin only kernels that were measured faster than the vendor's library", 0, 0},
    {"others", 0, GT_OPT_TEXT, offsetof(struct values, others), "WORD",
     "problems that are not pinned: refuse or lookup (default: refuse)", 0, 0},
    {"any-driver", 0, GT_OPT_FLAG, offsetof(struct values, any_driver), NULL,
     "a driver of another version is no change", 0, 0},
    GT_OPTION_WORKSPACE(struct values,
                        "workspace that callers will have: 0, a size such as "
                        "32MiB, or none for no limit (default: 32MiB, as "
                        "calls without a plan have)"),
    {"db", 0, GT_OPT_TEXT, offsetof(struct values, check.db), "FILE",
     "database, a file that must exist (else $GEMMTUNE_DB, else the user's own)", 0, 0},
    {"check", 0, GT_OPT_TEXT, offsetof(struct values, check.path), "FILE",
     "write nothing: print a line for each change since FILE was made, exit 7 if any", 0,
     0},
    {"device-file", 0, GT_OPT_TEXT, offsetof(struct values, check.device_file), "FILE",
     "with --check: a device that is not present, by its description (devices/)", 0, 0},
    {"quiet", 'q', GT_OPT_FLAG, offsetof(struct values, quiet), NULL,
     "no progress on stderr", 0, 0},
    GT_OPTION_END,
};

/* One run of it. */
struct work {
    const struct values *v;
    const struct gt_sweep *sweep;
    struct gt_families *families;
    struct gt_known *known;
    struct gt_index *index;
    struct gt_snapshot snapshot;
    struct gt_rig *rig;
    struct gt_duels duels;
    struct gt_pinned_problem *pin;
    size_t pins;
};

/* Reads the database as gemmtune_open does. */
static int load(struct work *w, const struct gt_device *d) {
    static const struct gt_texts none;
    struct gt_err err = {""};
    struct gt_db *db = NULL;
    char key[GT_DEVICE_KEY_MAX];
    int64_t stale = 0;
    gt_status status = GEMMTUNE_OK;
    int code = gt_common_families(&w->families, &none);
    if (code < 0)
        code = gt_common_read_db(&db, w->v->check.db);
    if (code >= 0)
        return code;
    if (db != NULL)
        status = gt_known_load_kept(&w->known, &w->snapshot.count, &stale, db, w->families,
                                    d->arch, &err);
    gt_device_key(d, key);
    if (db != NULL && status == GEMMTUNE_OK)
        status = gt_duels_load(&w->duels, db, key, &err);
    gt_db_close(db);
    if (status == GEMMTUNE_OK)
        status = gt_index_create(&w->index, w->known, w->snapshot.count, &err);
    w->snapshot.families = w->families;
    w->snapshot.known = w->known;
    w->snapshot.index = w->index;
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

static gt_status pin_all(struct work *w, const struct gt_pins_setup *setup,
                         struct gt_err *err) {
    const size_t count = w->sweep->count;
    struct gt_progress progress;
    gt_status status = GEMMTUNE_OK;
    bool pinned = false;
    w->pin = calloc(count + 1, sizeof *w->pin);
    if (w->pin == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    gt_progress_init(&progress, count, w->v->quiet);
    for (size_t i = 0; i < count && status == GEMMTUNE_OK; i++) {
        gt_progress_count(&progress, "building kernels", i, count);
        status = gt_pin_problem(&pinned, &w->pin[w->pins], setup,
                                &w->sweep->item[i].problem, err);
        w->pins += pinned;
    }
    gt_progress_end(&progress);
    return status == GEMMTUNE_OK ? gt_pins_write(setup, w->pin, w->pins, err) : status;
}

static int pin_on(struct work *w, const struct gt_device *d) {
    const struct values *v = w->v;
    struct gt_err err = {""};
    gt_status status = gt_rig_open(&w->rig, d, &err);
    if (status != GEMMTUNE_OK)
        return gt_die(GT_EXIT_DEVICE, "%s", err.line);
    const struct gt_pins_setup setup = {.path = v->output,
                                        .version = gt_common_version(),
                                        .gpu = gt_rig_head(w->rig)->gpu,
                                        .snapshot = &w->snapshot,
                                        .duels = v->faster ? &w->duels : NULL,
                                        .workspace_max = gt_common_bytes(v->workspace),
                                        .images = v->images,
                                        .others = v->others != NULL &&
                                                  strcmp(v->others, "lookup") == 0,
                                        .any_driver = v->any_driver};
    status = pin_all(w, &setup, &err);
    if (status != GEMMTUNE_OK)
        return gt_die(status == GEMMTUNE_EIO ? GT_EXIT_FAILURE : gt_exit_of(status), "%s",
                      err.line);
    gt_talk_line("%s: %zu problem%s pinned on %s, %zu left out", v->output, w->pins,
                 gt_text_plural((int64_t)w->pins), d->name, w->sweep->count - w->pins);
    return GT_EXIT_OK;
}

static int pin(const struct values *v, const struct gt_sweep *sweep) {
    struct work w = {.v = v, .sweep = sweep};
    struct gt_device d;
    struct gt_err err = {""};
    if (gt_probe_pick(&d, v->check.device, true, &err) != GEMMTUNE_OK)
        return gt_die(GT_EXIT_DEVICE, "%s", err.line);
    if (!gt_build_keeps(gt_driver_of(d.backend)))
        return gt_die(GT_EXIT_FAILURE, "no folder for the image cache can be opened: "
                                       "GEMMTUNE_CACHE_DIR names one");
    int code = load(&w, &d);
    if (code < 0)
        code = pin_on(&w, &d);
    gt_rig_close(w.rig);
    gt_duels_clear(&w.duels);
    gt_index_destroy(w.index);
    free(w.known);
    free(w.pin);
    gt_families_destroy(w.families);
    return code;
}

static int check_usage(const struct values *v, bool named) {
    if (v->check.path != NULL && (named || v->output != NULL || v->images))
        return gt_die(GT_EXIT_USAGE,
                      "lock: --check writes nothing, and names all problems");
    if (v->check.path == NULL && (!named || v->output == NULL))
        return gt_die(GT_EXIT_USAGE, "lock: name problems, --sizes FILE or PROBLEM..., and "
                                     "the lock, --output FILE; or --check FILE");
    if (v->images && strcmp(v->output, "-") == 0)
        return gt_die(GT_EXIT_USAGE, "lock: --images keeps its folder beside the "
                                     "lock, so --output must be a file");
    if (v->check.path == NULL && v->check.device_file != NULL)
        return gt_die(GT_EXIT_USAGE, "lock: --device-file is about --check");
    if (v->others != NULL && strcmp(v->others, "refuse") != 0 &&
        strcmp(v->others, "lookup") != 0)
        return gt_die(GT_EXIT_USAGE, "lock: --others %s is neither refuse nor lookup",
                      v->others);
    return -1;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.workspace = GT_WORKSPACE_DEFAULT};
    struct gt_sweep sweep = {0};
    int first = 0;
    int code = gt_common_parse(cmd, argc, argv, &v, NULL, 0, argc, &first);
    const bool named = v.sizes != NULL || first < argc;
    if (code < 0)
        code = check_usage(&v, named);
    if (code < 0 && v.check.path != NULL)
        return gt_lock_check(&v.check);
    if (code < 0) /* before the work on it */
        code = gt_common_output(v.output);
    if (code < 0)
        code = gt_common_sweep(&sweep, v.sizes, (const char *const *)argv + first,
                               argc - first);
    if (code < 0)
        code = pin(&v, &sweep);
    gt_sweep_clear(&sweep);
    return code;
}

const struct gt_cmd gt_cmd_lock = {
    .name = "lock",
    .operands = "[--device N] [--sizes FILE | PROBLEM...] -o FILE | --check FILE",
    .about = "Pin the kernels of problems in a file that the library and exec take.",
    .options = options,
    .run = run,
};
