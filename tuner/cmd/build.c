/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.c - `gemmtune build`: builds the kernels that the library would take into the image
 * cache, so that no first call waits for a compiler. With --general it builds a few kernels
 * for each kind of problem, which serve until better ones are built. Exit 1 when one is
 * missing at the end.
 */
#include "tuner/cmd/build.h"

#include "runtime/drivers/build.h"
#include "runtime/drivers/cache.h"
#include "runtime/lookup/known.h"
#include "tuner/base/talk.h"
#include "tuner/cmd/build_general.h"
#include "tuner/cmd/common.h"
#include "tuner/cmd/session.h"
#include "tuner/tune/prebuild.h"

#include <stdlib.h>
#include <string.h>

struct values {
    struct gt_format format;
    const char *db, *sizes;
    bool dry_run;
    struct gt_build_values build;
    struct gt_build_general_values general;
};

static const struct gt_option options[] = {
    {"device", 'd', GT_OPT_TEXT, offsetof(struct values, build.device), "N",
     "device: index, UUID, PCI id, key or part of its name", 0, 0},
    GT_OPTION_READ_DB(struct values),
    {"sizes", 's', GT_OPT_TEXT, offsetof(struct values, sizes), "FILE",
     "build for the problems of FILE (sweep.json) and not for all that have results", 0, 0},
    {"general", 0, GT_OPT_FLAG, offsetof(struct values, build.general), NULL,
     "build general kernels instead: a few for each kind of problem, which serve until "
     "better ones are built (GEMMTUNE_OPEN_BUILD_BEHIND), and print what they lose",
     0, 0},
    {"types", 0, GT_OPT_NAMES, offsetof(struct values, general.types), "WORDS",
     "types of general kernels (default: types with results)", 0, 0},
    {"kernels", 0, GT_OPT_INT, offsetof(struct values, general.kernels), "N",
     "general kernels of a kind (default 24)", 1, 32},
    {"draws", 0, GT_OPT_INT, offsetof(struct values, general.draws), "N",
     "problems of a kind that they are chosen with, about (default 192)", 8, 4096},
    {"seed", 0, GT_OPT_INT, offsetof(struct values, general.seed), "N",
     "random seed of these problems (default 1)", 0, INT64_C(1) << 52},
    {"dry-run", 'n', GT_OPT_FLAG, offsetof(struct values, dry_run), NULL,
     "with --general: only print what they lose", 0, 0},
    GT_OPTION_JOBS(struct values, build.jobs),
    {"quiet", 'q', GT_OPT_FLAG, offsetof(struct values, build.quiet), NULL,
     "no progress on stderr", 0, 0},
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

/* One run of it. */
struct work {
    const struct values *v;
    const struct gt_sweep *sweep; /* the problems; NULL: all that have results, if wanted */
    struct gt_general_set general;
    struct gt_session session;
    struct gt_snapshot snapshot;
    struct gt_known *known;
    struct gt_index *index;
    gemmtune_problem *problem;
    size_t problems;
    struct gt_prebuild_result result;
};

/* ---- problems ---- */

static int by_name(const void *a, const void *b) {
    const struct gt_known *x = *(const struct gt_known *const *)a;
    const struct gt_known *y = *(const struct gt_known *const *)b;
    return strcmp(x->problem_name, y->problem_name);
}

/* Each problem that has results of the architecture, once. */
static gt_status take_known(struct work *w, struct gt_err *err) {
    const size_t count = w->snapshot.count;
    const struct gt_known **by = calloc(count + 1, sizeof(struct gt_known *));
    w->problem = calloc(count + 1, sizeof *w->problem);
    if (by == NULL || w->problem == NULL) {
        free(by);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < count; i++)
        by[i] = &w->known[i];
    qsort(by, count, sizeof(struct gt_known *), by_name);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(by[i]->problem_name, by[i - 1]->problem_name) != 0)
            w->problem[w->problems++] = by[i]->problem;
    free(by);
    return GEMMTUNE_OK;
}

static gt_status take_sweep(struct work *w, struct gt_err *err) {
    w->problem = calloc(w->sweep->count + 1, sizeof *w->problem);
    if (w->problem == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; i < w->sweep->count; i++)
        w->problem[w->problems++] = w->sweep->item[i].problem;
    return GEMMTUNE_OK;
}

/* Reads the database as gemmtune_open does, which will find what that keeps in the
 * cache. */
static int load(struct work *w) {
    const struct gt_session *s = &w->session;
    struct gt_err err = {""};
    struct gt_db *db = NULL;
    int64_t stale = 0;
    gt_status status = GEMMTUNE_OK;
    const int code = gt_common_read_db(&db, w->v->db);
    if (code >= 0)
        return code;
    if (db != NULL)
        status = gt_known_load_kept(&w->known, &w->snapshot.count, &stale, db, s->families,
                                    s->device.arch, &err);
    gt_db_close(db);
    if (status == GEMMTUNE_OK)
        status = gt_index_create(&w->index, w->known, w->snapshot.count, &err);
    if (status == GEMMTUNE_OK)
        status = w->sweep != NULL     ? take_sweep(w, &err)
                 : w->v->build.wanted ? take_known(w, &err)
                                      : GEMMTUNE_OK;
    w->snapshot.families = s->families;
    w->snapshot.known = w->known;
    w->snapshot.index = w->index;
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

/* ---- what came of it ---- */

static const char *plural(size_t count) {
    return gt_text_plural((int64_t)count);
}

static void say_missing(const struct gt_prebuild_result *r) {
    char limit[GT_CELL_MAX];
    (void)gt_show_bytes(limit, (double)gt_cache_max());
    if (r->failed > 0)
        gt_talk("%zu kernel%s failed to build, the first: %s", r->failed, plural(r->failed),
                r->why);
    if (r->left_out > 0)
        gt_talk("%zu kernel%s left out, which three quarters of the image cache's limit of "
                "%s do not hold; GEMMTUNE_CACHE_MAX sets another",
                r->left_out, plural(r->left_out), limit);
    if (r->dropped > 0)
        gt_talk("%zu kernel%s gone again: the image cache has reached its limit of %s "
                "(GEMMTUNE_CACHE_MAX)",
                r->dropped, plural(r->dropped), limit);
}

/* The subject of a summary: "3 problems", "24 general kernels", or both. */
enum { SUBJECT_MAX = 96 };
static void set_subject(char out[SUBJECT_MAX], const struct work *w) {
    const size_t general = w->general.list.count;
    const bool problems = w->sweep != NULL || w->v->build.wanted;
    int length = 0;
    out[0] = '\0';
    if (w->v->build.general)
        length = snprintf(out, SUBJECT_MAX, "%zu general kernel%s%s", general,
                          plural(general), problems ? " and " : "");
    if (problems)
        (void)snprintf(out + length, SUBJECT_MAX - (size_t)length, "%zu problem%s",
                       w->problems, plural(w->problems));
}

static void say(const struct work *w) {
    const struct gt_prebuild_result *r = &w->result;
    char size[GT_CELL_MAX], subject[SUBJECT_MAX];
    set_subject(subject, w);
    gt_talk_line("%s on %s: %zu kernel%s built, %zu there before, %zu failed, %zu left "
                 "out, %zu open; %s in the image cache",
                 subject, w->session.device.name, r->built, plural(r->built), r->found,
                 r->failed, r->left_out, r->open, gt_show_bytes(size, (double)r->bytes));
    say_missing(r);
    if (gt_session_stop != 0)
        gt_talk_line("stopped; what is built stays, the same command goes on");
}

static void print_json(const struct work *w) {
    const struct gt_prebuild_result *r = &w->result;
    bool first = true;
    (void)fputs("{", stdout);
    gt_json_text(&first, "device", w->session.device_key);
    gt_json_number(&first, "problems", (double)w->problems);
    gt_json_number(&first, "general", (double)w->general.list.count);
    gt_json_number(&first, "built", (double)r->built);
    gt_json_number(&first, "found", (double)r->found);
    gt_json_number(&first, "failed", (double)r->failed);
    gt_json_number(&first, "left_out", (double)r->left_out);
    gt_json_number(&first, "open", (double)r->open);
    gt_json_number(&first, "dropped", (double)r->dropped);
    gt_json_number(&first, "bytes", (double)r->bytes);
    gt_json_text(&first, "why", r->why[0] != '\0' ? r->why : NULL);
    (void)fputs("}\n", stdout);
}

static int verdict(const struct gt_prebuild_result *r) {
    const bool complete = r->failed + r->left_out + r->open + r->dropped == 0;
    return gt_session_exit(complete ? GT_EXIT_OK : GT_EXIT_FAILURE);
}

/* ---- the command ---- */

/* Chooses general kernels, and keeps the list for the library. */
static int choose_general(struct work *w) {
    const struct values *v = w->v;
    const struct gt_device *d = &w->session.device;
    struct gt_progress progress;
    gt_progress_init(&progress, 0, v->build.quiet);
    int code =
        gt_build_general_choose(&w->general, &v->general, &w->snapshot, d, &progress);
    if (code < 0 && (v->dry_run || !v->format.json))
        code = gt_build_general_print(&w->general, &v->format);
    if (code < 0 && !v->dry_run && !gt_generals_keep(&w->general.list, d))
        code = gt_die(GT_EXIT_FAILURE, "the list of general kernels cannot be kept in the "
                                       "folder of the image cache");
    return code;
}

static int build(struct work *w) {
    struct gt_err err = {""};
    struct gt_progress progress;
    const struct gt_session *s = &w->session;
    gt_progress_init(&progress, w->problems, w->v->build.quiet);
    const struct gt_prebuild_setup setup = {.snapshot = &w->snapshot,
                                            .device = &s->device,
                                            .problem = w->problem,
                                            .problems = w->problems,
                                            .wish = w->general.wish,
                                            .wishes = w->general.wishes,
                                            .pool = s->pool,
                                            .progress = &progress,
                                            .stop = &gt_session_stop};
    const gt_status status = gt_prebuild(&w->result, &setup, &err);
    if (w->v->format.json)
        print_json(w);
    else
        say(w);
    if (status == GEMMTUNE_OK)
        return verdict(&w->result);
    return gt_die(gt_session_lost(status) ? GT_EXIT_DEVICE : GT_EXIT_FAILURE, "%s",
                  err.line);
}

static int choose_and_build(struct work *w) {
    if (!w->v->dry_run && !gt_build_keeps(gt_driver_of(w->session.device.backend)))
        return gt_die(GT_EXIT_FAILURE, "no folder for the image cache can be opened: "
                                       "GEMMTUNE_CACHE_DIR names one");
    int code = load(w);
    if (code < 0 && w->v->build.general)
        code = choose_general(w);
    if (code < 0)
        code = w->v->dry_run ? GT_EXIT_OK : build(w);
    return code;
}

static int run_with(const struct values *v, const struct gt_sweep *sweep) {
    static const struct gt_texts none;
    struct work w = {.v = v, .sweep = sweep};
    const struct gt_session_setup setup = {.device = v->build.device,
                                           .found = v->build.found,
                                           .builds = true,
                                           .templates = &none,
                                           .compilers = v->build.jobs};
    gt_session_catch(true);
    int code = gt_session_open(&w.session, &setup);
    if (code >= 0)
        return code;
    code = choose_and_build(&w);
    gt_general_set_clear(&w.general);
    gt_index_destroy(w.index);
    free(w.known);
    free(w.problem);
    gt_session_close(&w.session);
    return code;
}

static const struct gt_build_general_values usual_general = {
    .kernels = GT_GENERAL_KERNELS, .draws = GT_GENERAL_DRAWS, .seed = 1};

int gt_build_after(const struct gt_build_values *build, const char *db) {
    const struct values v = {.db = db, .build = *build, .general = usual_general};
    return build->wanted || build->general
               ? run_with(&v, build->wanted ? build->sweep : NULL)
               : GT_EXIT_OK;
}

/* --general stands for itself: no problem is named beside it, and no results are built. */
static int check(const struct values *v, bool named) {
    const struct gt_build_general_values *g = &v->general;
    const bool about = g->types.count > 0 || v->dry_run || g->seed != usual_general.seed ||
                       g->kernels != usual_general.kernels ||
                       g->draws != usual_general.draws || v->format.csv || v->format.wide;
    if (v->build.general && named)
        return gt_die(GT_EXIT_USAGE, "build: --general builds for all problems, so none is "
                                     "named beside it");
    if (!v->build.general && about)
        return gt_die(GT_EXIT_USAGE, "build: --types, --kernels, --draws, --seed, "
                                     "--dry-run, --csv and --wide are about --general");
    return -1;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.build = {.jobs = -1}, .general = usual_general};
    struct gt_sweep sweep = {0};
    int first = 0;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, argc, &first);
    const bool named = v.sizes != NULL || first < argc;
    v.build.wanted = !named && !v.build.general;
    if (code < 0)
        code = check(&v, named);
    if (code < 0 && named)
        code = gt_common_sweep(&sweep, v.sizes, (const char *const *)argv + first,
                               argc - first);
    if (code < 0)
        code = run_with(&v, named ? &sweep : NULL);
    gt_sweep_clear(&sweep);
    return code;
}

const struct gt_cmd gt_cmd_build = {
    .name = "build",
    .operands = "[--device N] [--general | --sizes FILE | PROBLEM...]",
    .about = "Build the kernels of all stored results into the image cache, so that no "
             "first call waits for a compiler.",
    .options = options,
    .tables = (const struct gt_form *const[]){&gt_build_general_form, NULL},
    .run = run,
};
