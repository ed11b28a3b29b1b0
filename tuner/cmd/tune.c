/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.c - `gemmtune tune`: a list of problems on one device or several, each searched for
 * as long as it may take, every trial committed.
 */
#include "tuner/cmd/tune.h"

#include "tuner/base/misses.h"
#include "tuner/base/shard.h"
#include "tuner/base/talk.h"
#include "tuner/cmd/build.h"
#include "tuner/cmd/tune_cover.h"
#include "tuner/cmd/tune_report.h"
#include "tuner/tune/doubtful.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gt_option options[] = {
    {"device", 'd', GT_OPT_TEXT, offsetof(struct gt_tune_values, device), "N",
     "device: index, UUID, PCI id, key or part of its name; several equal ones at once: "
     "\"0,2\" or all",
     0, 0},
    {"sizes", 's', GT_OPT_TEXT, offsetof(struct gt_tune_values, sizes), "FILE",
     "problems to tune: sweep.json, or the log of another program (TunableOp, rocBLAS, "
     "hipBLASLt; docs/guide.md)",
     0, 0},
    {"output", 'o', GT_OPT_TEXT, offsetof(struct gt_tune_values, output), "FILE",
     "with -- PROGRAM: sweep file in which its products are counted, or to which they are "
     "added (default: recorded.json)",
     0, 0},
    {"from-misses", 0, GT_OPT_TEXT, offsetof(struct gt_tune_values, misses), "FILE",
     "also tune the problems of FILE, to which programs that ran with "
     "GEMMTUNE_MISSES=FILE wrote the problems that a forecast answered; the largest sum "
     "of expected losses comes first",
     0, 0},
    {"random", 0, GT_OPT_INT, offsetof(struct gt_tune_values, drawn.random), "N",
     "also draw N problems that no list names, and tune them after the named ones; "
     "the largest expected loss of a lookup comes first; another --seed draws others",
     1, 10000},
    {"cover", 0, GT_OPT_SECONDS, offsetof(struct gt_tune_values, cover), "TIME",
     "for a device that nothing is known of: draw the problems that teach most, try "
     "kernels on them and learn, for this time; lookups of all problems gain; the same "
     "command goes on",
     0, 0},
    GT_OPTION_TYPES(struct gt_tune_values),
    GT_OPTION_VOLUME(struct gt_tune_values),
    GT_OPTION_BATCH(struct gt_tune_values),
    {"shard", 0, GT_OPT_TEXT, offsetof(struct gt_tune_values, shard), "I/N",
     "part I of N of the problems, for N machines: the same division everywhere, by "
     "expected time (with --budget by weight)",
     0, 0},
    GT_OPTION_DB(struct gt_tune_values),
    {"budget", 'b', GT_OPT_SECONDS, offsetof(struct gt_tune_values, budget), "TIME",
     "time for all problems together, shared by weight: 90s, 5m, 1h", 0, 0},
    GT_OPTION_EFFORT(struct gt_tune_values),
    {"strategy", 0, GT_OPT_TEXT, offsetof(struct gt_tune_values, strategy), "NAME",
     "how to search: " GT_STRATEGY_HELP, 0, 0},
    {"family", 'f', GT_OPT_NAMES, offsetof(struct gt_tune_values, families), "NAMES",
     "try these families only, with commas between; may be repeated", 0, 0},
    GT_OPTION_WORKSPACE(
        struct gt_tune_values,
        "search only kernels that need at most SIZE of workspace, and decide "
        "between them: 0 or 4MiB (default none: any)"),
    GT_OPTION_TEMPLATES(struct gt_tune_values),
    GT_OPTION_SEED(struct gt_tune_values),
    {"timeout", 0, GT_OPT_SECONDS, offsetof(struct gt_tune_values, timeout), "TIME",
     "for compiling one candidate, and for its launches (default: a minute, and by the "
     "size of the problem)",
     0, 0},
    {"jobs", 'j', GT_OPT_INT, offsetof(struct gt_tune_values, jobs), "N",
     "compile workers a device (default: by the number of cores)", 0, 32},
    {"dry-run", 'n', GT_OPT_FLAG, offsetof(struct gt_tune_values, dry_run), NULL,
     "count points, estimate time and memory; run nothing", 0, 0},
    {"again", 0, GT_OPT_FLAG, offsetof(struct gt_tune_values, again), NULL,
     "search problems again that were tuned with at least this effort", 0, 0},
    {"trials-only", 0, GT_OPT_FLAG, offsetof(struct gt_tune_values, trials_only), NULL,
     "store trials and choose no winner: half of the time of a quick effort, for predict "
     "--learn",
     0, 0},
    {"against", 0, GT_OPT_TEXT, offsetof(struct gt_tune_values, against), "LIST",
     "then measure the winners in turns with these libraries, without a workspace, with "
     "32 MiB and with --workspace, and store who is faster: cublas, cublaslt or both with "
     "a comma between; of the same kernel and version nothing is measured twice",
     0, 0},
    {"build", 0, GT_OPT_FLAG, offsetof(struct gt_tune_values, build), NULL,
     "then build the kernels that serve these problems (with --cover those of all "
     "results), as gemmtune build does",
     0, 0},
    GT_OPTION_GENERAL(struct gt_tune_values, general),
    {"report", 0, GT_OPT_TEXT, offsetof(struct gt_tune_values, report), "FILE",
     "keep a page of HTML about the database current, which shows how far the run is in a "
     "browser that is left open",
     0, 0},
    GT_OPTION_QUIET(struct gt_tune_values),
    GT_OPTION_JSON(struct gt_tune_values),
    GT_OPTION_CSV(struct gt_tune_values),
    GT_OPTION_WIDE(struct gt_tune_values),
    GT_OPTION_END,
};

/* ---- problems ---- */

static int load_problems(struct gt_sweep *s, const struct gt_tune_values *v, int argc,
                         char **argv, int first) {
    if (v->output != NULL)
        return gt_die(GT_EXIT_USAGE,
                      "tune: --output is about the products of a program after --");
    if (!v->sizes && !v->misses && v->drawn.random == 0 && first == argc)
        return gt_die(
            GT_EXIT_USAGE,
            "nothing to tune: give --sizes FILE, --from-misses FILE, --random N, --cover "
            "TIME, problem names or -- PROGRAM");
    return gt_common_sweep(s, v->sizes, (const char *const *)argv + first, argc - first);
}

/* Leaves the shard's problems, and says how many those are. */
static int keep_shard(struct gt_sweep *s, const struct gt_tune_values *v) {
    struct gt_err err = {""};
    struct gt_shard shard;
    double share = 0;
    const size_t all = s->count;
    const bool by_weight = v->budget > 0;
    if (v->shard == NULL)
        return -1;
    if (!gt_shard_parse(&shard, v->shard))
        return gt_die(
            GT_EXIT_USAGE,
            "--shard needs I/N, as in 2/8, with I from 1 to N and N up to %d, not '%s'",
            GT_SHARDS_MAX, v->shard);
    const gt_status status = gt_sweep_keep_shard(&share, s, &shard, by_weight, &err);
    if (status != GEMMTUNE_OK)
        return gt_die(GT_EXIT_FAILURE, "%s", err.line);
    if (!v->quiet)
        gt_talk_line("shard %s: %zu of %zu problem%s, %.1f %% of the %s", v->shard,
                     s->count, all, gt_text_plural((int64_t)all), 100 * share,
                     by_weight ? "weight" : "expected time");
    return -1;
}

/* ---- devices ---- */

static int find_devices(struct gt_alike *out, const struct gt_tune_values *v) {
    struct gt_err err = {""};
    const gt_status status = gt_alike_find(out, v->device, &err);
    if (status != GEMMTUNE_OK)
        return gt_die(status == GEMMTUNE_EINVAL ? GT_EXIT_USAGE
                                                : gt_session_exit(GT_EXIT_DEVICE),
                      "%s", err.line);
    if (v->quiet || (out->count == 1 && out->others[0] == '\0'))
        return -1;
    char numbers[256] = "";
    for (size_t i = 0, len = 0; i < out->count && len < sizeof numbers; i++)
        len += (size_t)snprintf(numbers + len, sizeof numbers - len, "%s %zu",
                                i > 0 ? "," : "", out->number[i]);
    gt_talk_line("on device%s%s, %s%s%s", out->count > 1 ? "s" : "", numbers,
                 out->device[0].name, out->others[0] != '\0' ? "; " : "", out->others);
    return -1;
}

/* ---- misses ---- */

/* Adds the problems that the device missed, after the named problems. */
static int add_misses(struct gt_tune_request *r) {
    struct gt_misses_read found;
    struct gt_err err = {""};
    char key[GT_DEVICE_KEY_MAX];
    if (r->v->misses == NULL)
        return -1;
    const int code = find_devices(&r->devices, r->v);
    if (code >= 0)
        return code;
    gt_device_key(&r->devices.device[0], key);
    const gt_status status = gt_misses_load(&found, r->sweep, r->v->misses, key, &err);
    if (status != GEMMTUNE_OK)
        return gt_die(GT_EXIT_INPUT, "%s", err.line);
    if (!r->v->quiet)
        gt_talk_line("%s: %lld line%s of this device, %zu problem%s; %lld of others",
                     r->v->misses, (long long)found.lines, gt_text_plural(found.lines),
                     found.problems, gt_text_plural((int64_t)found.problems),
                     (long long)found.others);
    r->sweep->in_order = true;
    if (r->sweep->count > 0 || r->v->drawn.random > 0)
        return -1;
    return gt_die(GT_EXIT_INPUT, "%s: no misses of %s", r->v->misses, key);
}

/* ---- drawn problems ---- */

/* Sorts by the database that is there, if any. */
static int sort_drawn(struct gt_doubts *out, struct gt_sweep *drawn,
                      const struct gt_tune_request *r) {
    struct gt_families *families = NULL;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    int code = gt_common_families(&families, &r->v->templates);
    if (code < 0)
        code = gt_common_peek_db(&db, r->v->db);
    if (code < 0) {
        const gt_status status =
            gt_doubtful_sort(out, drawn, db, families, &r->devices.device[0], &err);
        code = status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
    }
    gt_db_close(db);
    gt_families_destroy(families);
    return code;
}

static void say_drawn(size_t count, const struct gt_doubts *d) {
    char losses[96] = "", unknown[96] = "";
    if (d->unknown > 0)
        (void)snprintf(unknown, sizeof unknown,
                       "; of %zu a lookup does not know what it loses", d->unknown);
    if (d->served > d->unknown)
        (void)snprintf(losses, sizeof losses, "; on %s it expects to lose %.3g to %.3g %%",
                       d->unknown > 0 ? "the others" : "these", 100 * d->most,
                       100 * d->least);
    gt_talk_line("%zu problem%s drawn%s%s%s", count, gt_text_plural((int64_t)count),
                 d->served == 0 ? ", for which a lookup has no kernel" : "", unknown,
                 losses);
}

static int append(struct gt_sweep *s, const struct gt_sweep *drawn) {
    struct gt_err err = {""};
    gt_status status = GEMMTUNE_OK;
    s->in_order = true;
    for (size_t i = 0; i < drawn->count && status == GEMMTUNE_OK; i++)
        status = gt_sweep_add(s, drawn->item[i].name, &err);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

/* Adds the drawn problems, after the problems that were named or missed. */
static int add_drawn(struct gt_tune_request *r) {
    struct gt_sweep drawn = {0};
    struct gt_doubts doubts;
    if (r->v->drawn.random == 0)
        return -1;
    int code = r->devices.count == 0 ? find_devices(&r->devices, r->v) : -1;
    if (code < 0)
        code =
            gt_drawn_make(&drawn, &r->v->drawn, r->v->seed, &r->devices.device[0], "tune");
    if (code < 0)
        code = sort_drawn(&doubts, &drawn, r);
    if (code < 0 && !r->v->quiet)
        say_drawn(drawn.count, &doubts);
    if (code < 0)
        code = append(r->sweep, &drawn);
    gt_sweep_clear(&drawn);
    return code;
}

/* ---- the run ---- */

/* A dry run makes no database. */
static int open_db(struct gt_tuner *t, const struct gt_tune_values *v) {
    if (!v->dry_run)
        return gt_common_write_db(&t->db, v->db);
    return v->db != NULL ? gt_common_peek_db(&t->db, v->db)
                         : gt_common_read_db(&t->db, NULL);
}

static int work(struct gt_tuner *t, struct gt_session *session, void *user) {
    struct gt_tune_request *r = user;
    int code = open_db(t, r->v);
    gt_report_live_watch(&r->live, &t->progress);
    if (code < 0 && r->v->cover > 0)
        code = gt_tune_cover(t, session, r->v);
    else if (code < 0)
        code = r->v->dry_run ? gt_tune_dry_run(t, r)
                             : gt_tune_learn_again(t, r->v, gt_tune_run(t, session, r));
    gt_db_close(t->db);
    return code;
}

int gt_tune_set_up(struct gt_tuner *t, struct gt_session_setup *setup,
                   const struct gt_tune_values *v) {
    const struct gt_session_search how = {v->cover > 0 ? "quick" : v->effort, v->strategy,
                                          v->budget};
    *setup = (struct gt_session_setup){
        .templates = &v->templates, .compilers = v->jobs, .timeout_s = v->timeout};
    t->only = &v->families;
    t->limits_workspace = isfinite(v->workspace);
    t->workspace_max = t->limits_workspace ? (int64_t)v->workspace : 0;
    t->seed = (uint64_t)v->seed;
    t->strict = v->budget > 0;
    t->trials_only = v->trials_only;
    t->teaches = v->trials_only || v->cover > 0;
    return gt_session_choose(t, &how);
}

static int begin(struct gt_tune_request *r,
                 int (*go)(struct gt_tuner *t, struct gt_session *session, void *user)) {
    struct gt_session_setup setup;
    struct gt_tuner *t = calloc(1, sizeof *t);
    int code = t != NULL ? gt_tune_set_up(t, &setup, r->v)
                         : gt_die(GT_EXIT_FAILURE, "out of memory");
    if (code < 0 && r->devices.count == 0)
        code = find_devices(&r->devices, r->v);
    if (code < 0) {
        setup.found = &r->devices.device[0];
        setup.watches = r->devices.count > 1;
        code = gt_session_tune(t, &setup, r->sweep->count, r->v->quiet, go, r);
    }
    free(t);
    return code;
}

/* Whether tuning could begin: options, device, families and database are looked at. */
static int look(struct gt_tuner *t, struct gt_session *session, void *user) {
    const struct gt_tune_request *r = user;
    const int code = open_db(t, r->v);
    (void)session;
    gt_db_close(t->db);
    return code;
}

static int rehearse(struct gt_tune_request *r) {
    return begin(r, look);
}

static int tune(struct gt_tune_request *r) {
    return begin(r, work);
}

/* Kernels are worth building also where the search of some problem failed. */
static int build(const struct gt_tune_request *r, int code) {
    const struct gt_build_values values = {.wanted = r->v->build && !r->v->dry_run,
                                           .general = r->v->general && !r->v->dry_run,
                                           .found = &r->devices.device[0],
                                           .sweep = r->sweep->count > 0 ? r->sweep : NULL,
                                           .jobs = r->v->jobs,
                                           .quiet = r->v->quiet};
    if (code != GT_EXIT_OK && code != GT_EXIT_FAILURE)
        return code;
    const int built = gt_build_after(&values, r->v->db);
    return built != GT_EXIT_OK ? built : code;
}

/* The words before "--", which begins the command line of a program. */
static int own_words(int argc, char **argv) {
    int own = 1;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    return own < argc ? own : argc;
}

int gt_tune_parse(struct gt_tune_values *v, int argc, char **argv, int *first) {
    const int own = own_words(argc, argv);
    *v = (struct gt_tune_values){.seed = 1, .jobs = -1, .workspace = (double)INFINITY};
    v->program = own < argc ? argv + own + 1 : NULL;
    return gt_common_parse(&gt_cmd_tune, own, argv, v, &v->format, 0, own, first);
}

/* Finds the problems; a program is run to find them. */
static int find_problems(struct gt_tune_request *r, int first, int last, char **argv) {
    const struct gt_tune_values *v = r->v;
    if (gt_drawn_lacks_random(&v->drawn))
        return gt_die(GT_EXIT_USAGE, "tune: --types, --volume and --batch are about "
                                     "problems that --random draws");
    int code = v->program == NULL ? load_problems(r->sweep, v, last, argv, first)
               : first < last
                   ? gt_die(GT_EXIT_USAGE,
                            "tune: a program after -- excludes problems named before it")
                   : gt_tune_record(r, rehearse);
    if (code < 0 && !v->dry_run)
        gt_session_catch(true);
    if (code < 0)
        code = add_misses(r);
    if (code < 0)
        code = add_drawn(r);
    return code < 0 ? keep_shard(r->sweep, v) : code;
}

/* A cover draws its problems itself. A device is learned from its own trials. */
static int begin_cover(struct gt_tune_request *r, int operands) {
    int code = gt_tune_cover_check(r->v, operands);
    if (code < 0)
        code = find_devices(&r->devices, r->v);
    if (code < 0 && r->devices.count > 1)
        return gt_die(GT_EXIT_USAGE, "tune: --cover takes one device at a time");
    if (code < 0)
        gt_session_catch(true);
    return code;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct gt_tune_values v;
    struct gt_sweep sweep = {0};
    const int own = own_words(argc, argv);
    int first = 0;
    (void)cmd;
    int code = gt_tune_parse(&v, argc, argv, &first);
    if (code < 0)
        code = gt_tune_against_check(&v);
    struct gt_tune_request request = {
        .v = &v,
        .sweep = &sweep,
        .word = (const char *const *)argv + 1,
        .words = own - 1,
        .live = {v.dry_run ? NULL : v.report, v.db, &v.templates, 0, false}};
    if (code < 0)
        code = gt_common_picture(v.report);
    if (code < 0)
        code = v.cover > 0 ? begin_cover(&request, own - first)
                           : find_problems(&request, first, own, argv);
    if (code < 0)
        code = build(&request, gt_tune_against(&request, tune(&request)));
    gt_report_live_write(&request.live, NULL);
    if (v.program != NULL && sweep.count > 0 && !v.dry_run)
        gt_tune_say_recorded(&request, code);
    gt_sweep_clear(&sweep);
    return code;
}

const struct gt_cmd gt_cmd_tune = {
    .name = "tune",
    .operands =
        "[--device N] (--sizes FILE | --from-misses FILE | --random N | --cover TIME | "
        "PROBLEM... | -- PROGRAM ARG...)",
    .about = "Search for the fastest kernel of each problem and store it.",
    .options = options,
    .tables = (const struct gt_form *const[]){&gt_tune_form, &gt_tune_dry_form,
                                              &gt_tune_cover_form, NULL},
    .run = run,
};
