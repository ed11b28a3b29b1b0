/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.c - `gemmtune bench`: compares tuned kernels with the libraries that a user would
 * otherwise call, measured in turn in one run. Each line is printed as soon as it is done.
 */
#include "tuner/cmd/bench.h"
#include "runtime/plan/workspace.h"
#include "tuner/base/progress.h"
#include "tuner/base/talk.h"
#include "tuner/rig/probe.h"
#include "tuner/cmd/session.h"

#include <math.h>
#include <stdio.h>

struct values {
    const char *device, *sizes, *db, *against, *spread;
    int64_t rounds, seed;
    double budget, turn, timeout, workspace;
    bool aa, overhead, error, used, store, quiet;
    struct gt_format format;
    char command[GT_COMMAND_MAX];
};

static const struct gt_option options[] = {
    GT_OPTION_DEVICE(struct values),
    {"sizes", 's', GT_OPT_TEXT, offsetof(struct values, sizes), "FILE",
     "problems to measure: sweep.json, or the log of another program (docs/guide.md)", 0,
     0},
    GT_OPTION_READ_DB(struct values),
    {"against", 0, GT_OPT_TEXT, offsetof(struct values, against), "LIST",
     "cublas, cublaslt, cublas+kernel, cublaslt+kernel, clblast, cpu, cublas-autotune or "
     "self, with commas between (default: all but the last two)",
     0, 0},
    {"rounds", 'r', GT_OPT_INT, offsetof(struct values, rounds), "N",
     "samples of each side, in turn (default 21)", 6, GT_SAMPLES_MAX},
    {"budget", 'b', GT_OPT_SECONDS, offsetof(struct values, budget), "TIME",
     "device time for the rounds of a line (default 5s)", 0, 0},
    {"turn", 0, GT_OPT_SECONDS, offsetof(struct values, turn), "TIME",
     "device time of a side in its turn; its second half counts (default: one sample)", 0,
     0},
    {"timeout", 0, GT_OPT_SECONDS, offsetof(struct values, timeout), "TIME",
     "limit for a line and for a rival's preparation, after which it counts as hung "
     "(default: by its size; for a rival 20 times the budget more)",
     0, 0},
    {"seed", 0, GT_OPT_INT, offsetof(struct values, seed), "N",
     "seed of the data (default 1)", 0, INT64_C(1) << 52},
    GT_OPTION_SPREAD(struct values),
    GT_OPTION_WORKSPACE(struct values,
                        "workspace of every side: 0, a size, or none: twice the matrices, "
                        "at least 64MiB (default 32MiB, as cuBLAS has on Hopper)"),
    {"aa", 0, GT_OPT_FLAG, offsetof(struct values, aa), NULL,
     "compare our kernel with itself: how far apart equal kernels are measured", 0, 0},
    {"as-used", 0, GT_OPT_FLAG, offsetof(struct values, used), NULL,
     "measure plans with and without a workspace and the one-call form, beside the others",
     0, 0},
    {"overhead", 0, GT_OPT_FLAG, offsetof(struct values, overhead), NULL,
     "measure the host time of calls instead: library, driver alone, vendors' libraries", 0,
     0},
    {"error", 0, GT_OPT_FLAG, offsetof(struct values, error), NULL,
     "measure times and errors of f32 and f64 instead, in our arithmetic and in cuBLAS's",
     0, 0},
    {"store", 0, GT_OPT_FLAG, offsetof(struct values, store), NULL,
     "store what was measured of cublas and cublaslt, for list and gemmtune_plan_rival", 0,
     0},
    GT_OPTION_QUIET(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

static bool is_stopped(void) {
    return gt_session_stop != 0;
}

/* Prints the vendors' libraries and the noise floor, before the first line of the table. */
static void say_begin(size_t count, const struct values *v) {
    struct gt_progress progress;
    char text[224];
    gt_progress_init(&progress, count, v->quiet);
    (void)snprintf(
        text, sizeof text,
        "opening libraries; then %zu problem%s, up to %.3g s of rounds each, and "
        "the noise floor ahead of each; rivals may have to compile first",
        count, gt_text_plural((int64_t)count), v->budget);
    gt_progress_line(&progress, text);
}

static int compare(const struct gt_device *d, const struct gt_bench_options *o,
                   const struct gt_sweep *sweep, const struct values *v) {
    struct gt_err err = {""};
    struct gt_bench_report r = {.device = *d,
                                .command = v->command,
                                .sweep = sweep,
                                .format = v->format,
                                .aa = v->aa,
                                .workspace = v->workspace,
                                .by_name = v->against != NULL};
    struct gt_bench_store store = {.db = v->db, .device = d};
    const struct gt_bench_listener on = {.user = &r,
                                         .rivals = gt_bench_hear_rivals,
                                         .floor = gt_bench_hear_floor,
                                         .line = gt_bench_hear_line,
                                         .waiting = v->quiet ? NULL : gt_bench_hear_waiting,
                                         .stopped = is_stopped};
    struct gt_families *families = NULL;
    if (v->store && gt_families_create(&families, &err) != GEMMTUNE_OK)
        return gt_common_fail(GEMMTUNE_ENOMEM, &err);
    store.families = families;
    r.store = v->store ? &store : NULL;
    say_begin(sweep->count, v);
    const gt_status status = gt_bench_run(d, o, sweep, !v->aa, &on, &err);
    gt_families_destroy(families);
    if (r.done == 0 && status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    /* there is nothing to sum up: a rival is missing, as was said before */
    if (r.done == 0)
        return is_stopped() ? gt_die(gt_session_exit(GT_EXIT_FAILURE),
                                     "stopped after 0 of %zu line%s", sweep->count,
                                     gt_text_plural((int64_t)sweep->count))
                            : GT_EXIT_FAILURE;
    const int code = gt_bench_end(&r);
    if (v->store && !v->quiet)
        gt_talk_line("%lld comparison%s stored", (long long)store.stored,
                     gt_text_plural(store.stored));
    return status != GEMMTUNE_OK                             ? gt_common_fail(status, &err)
           : code == GT_EXIT_OK && r.unstored != GEMMTUNE_OK ? gt_exit_of(r.unstored)
                                                             : code;
}

/* ---- the cost of a call ---- */

/* One call for one problem. */
struct call_row {
    const char *problem;
    const struct gt_overhead *overhead;
    int call;
};

static double cost(double ns, bool known) {
    return known ? floor(ns + 0.5) : (double)NAN;
}

static bool counts(const struct call_row *r) {
    return gt_call_counts(r->overhead, r->call);
}

/* Whether the call has a column for its difference to the driver's launch. */
static bool is_compared(const struct call_row *r) {
    return counts(r) && r->call != GT_CALL_LAUNCH &&
           gt_call_counts(r->overhead, GT_CALL_LAUNCH);
}

static const char *note_of(const struct call_row *r) {
    return r->call == GT_CALL_EXECUTE && counts(r) ? r->overhead->what
                                                   : r->overhead->why[r->call];
}

#define CALLS(X)                                                                           \
    X("problem", "problem", TEXT, 0, r->problem, "its name")                               \
    X("kernels", "kernels", COUNT, 3, gt_cell_known(r->overhead->launches),                \
      "launches of our product")                                                           \
    X("call", "call", TEXT, 0, gt_call_name(r->call), "the call")                          \
    X("ns", "ns", COUNT, 0, cost(r->overhead->cost[r->call].median_ns, counts(r)),         \
      "host time of a call, median")                                                       \
    X("low_ns", "from", COUNT, 2, cost(r->overhead->cost[r->call].low_ns, counts(r)),      \
      "lower end of the median's 95 % interval")                                           \
    X("high_ns", "to", COUNT, GT_PAIRED(2),                                                \
      cost(r->overhead->cost[r->call].high_ns, counts(r)), "upper end of the interval")    \
    X("above_launch_ns", "above the launch", COUNT, 0,                                     \
      cost(r->overhead->above[r->call].median_ns, is_compared(r)),                         \
      "difference to the driver's launch alone, median")                                   \
    X("above_launch_low_ns", "from", COUNT, 2,                                             \
      cost(r->overhead->above[r->call].low_ns, is_compared(r)),                            \
      "lower end of that median's 95 % interval")                                          \
    X("above_launch_high_ns", "to", COUNT, GT_PAIRED(2),                                   \
      cost(r->overhead->above[r->call].high_ns, is_compared(r)),                           \
      "upper end of the interval")                                                         \
    X("note", "", TAIL, 1, note_of(r),                                                     \
      "our kernel, or the reason why the call was not measured")
GT_COLUMNS(call, struct call_row, CALLS)
static const struct gt_form calls = GT_FORM(call, "with --overhead");

/* A problem that fails does not affect the rows of the others. */
static int call_cost(const struct gt_device *d, const struct gt_bench_options *o,
                     const struct gt_sweep *sweep, const struct values *v) {
    struct gt_progress progress;
    struct gt_table *t = NULL;
    gt_status last = GEMMTUNE_OK;
    size_t done = 0;
    struct gt_err err = {""};
    if (gt_table_create(&t, &calls, &err) != GEMMTUNE_OK)
        return gt_common_fail(GEMMTUNE_ENOMEM, &err);
    gt_progress_init(&progress, sweep->count, v->quiet);
    for (size_t i = 0; i < sweep->count && !is_stopped(); i++) {
        struct gt_overhead overhead;
        gt_progress_count(&progress, "measuring calls", i, sweep->count);
        const gt_status status = gt_bench_ask_overhead(
            &overhead, d, o, &sweep->item[i].problem, is_stopped, &err);
        if (status != GEMMTUNE_OK && !is_stopped()) {
            gt_talk("%s: %s", sweep->item[i].name, err.line);
            last = status;
        }
        done += status == GEMMTUNE_OK;
        for (int call = 0; status == GEMMTUNE_OK && call < GT_CALLS; call++)
            if (overhead.asked[call])
                (void)add_call(t, &(struct call_row){sweep->item[i].name, &overhead, call},
                               NULL);
    }
    gt_progress_end(&progress);
    gt_common_print(t, &v->format);
    gt_table_destroy(t);
    if (is_stopped() && done < sweep->count)
        return gt_die(gt_session_exit(GT_EXIT_FAILURE),
                      "stopped after %zu of %zu problem%s", done, sweep->count,
                      gt_text_plural((int64_t)sweep->count));
    return last != GEMMTUNE_OK ? gt_common_fail(last, &err) : GT_EXIT_OK;
}

/* Some short problems, which are enough for the overhead. */
static int load_short(struct gt_sweep *s) {
    static const char *const names[] = {"f32-nn-128x128x128",  "f32-nn-1024x1024x1024",
                                        "f32-nn-256x256x8192", "f32-nn-16x2048x2048",
                                        "f64-nn-512x512x512",  "i32-nn-512x512x512"};
    return gt_common_sweep(s, NULL, names, sizeof names / sizeof *names);
}

static int load_problems(struct gt_sweep *s, const struct values *v, int argc, char **argv,
                         int first) {
    const bool named = v->sizes != NULL || first < argc;
    if (!named && !v->overhead)
        return gt_die(GT_EXIT_USAGE,
                      "bench: name problems, or a file of them with --sizes");
    return named ? gt_common_sweep(s, v->sizes, (const char *const *)argv + first,
                                   argc - first)
                 : load_short(s);
}

static int set_options(struct gt_bench_options *o, const struct values *v) {
    struct gt_err err = {""};
    *o = (struct gt_bench_options){.db = v->db,
                                   .rounds = (int)v->rounds,
                                   .budget_s = v->budget,
                                   .turn_s = v->turn,
                                   .workspace = v->workspace,
                                   .timeout_s = v->timeout,
                                   .seed = (uint64_t)v->seed};
    const int code = gt_common_spread(&o->spread, v->spread);
    if (code >= 0)
        return code;
    gt_status status = gt_rivals_environment(&err);
    if (status == GEMMTUNE_OK)
        status = gt_rivals_parse(&o->rivals, v->aa ? "self" : v->against, &err);
    return status != GEMMTUNE_OK ? gt_die(GT_EXIT_USAGE, "bench: %s", err.line) : -1;
}

/* Checks that there is a database, and reports it as other commands do. The library opens
 * it. */
static int look_at_database(const struct values *v) {
    struct gt_db *db = NULL;
    const int code = gt_common_read_db(&db, v->db);
    gt_db_close(db);
    return code;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.rounds = GT_BENCH_ROUNDS,
                       .seed = 1,
                       .budget = GT_BENCH_BUDGET_S,
                       .workspace = GT_WORKSPACE_DEFAULT};
    struct gt_bench_options o;
    struct gt_sweep sweep = {0};
    struct gt_device device;
    struct gt_err err = {""};
    int first = 0;
    gt_common_command(v.command, argc, argv);
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, 100000, &first);
    if (code < 0 && v.error + v.overhead + v.used + v.aa > 1)
        code = gt_die(GT_EXIT_USAGE, "bench: --aa, --as-used, --error and --overhead "
                                     "exclude each other");
    if (code < 0 && v.store && v.error + v.overhead + v.used + v.aa > 0)
        code = gt_die(GT_EXIT_USAGE, "bench: --store goes with none of --aa, --as-used, "
                                     "--error and --overhead");
    if (code < 0)
        code = set_options(&o, &v);
    if (code < 0)
        code = load_problems(&sweep, &v, argc, argv, first);
    gt_session_catch(false); /* looking at the devices takes its time too */
    if (code < 0)
        code = look_at_database(&v);
    if (code < 0 && gt_probe_pick(&device, v.device, true, &err) != GEMMTUNE_OK)
        code = gt_die(gt_session_exit(GT_EXIT_DEVICE), "%s", err.line);
    if (code < 0)
        code = v.error      ? gt_bench_errors(&device, &o, &sweep, &v.format, v.quiet)
               : v.overhead ? call_cost(&device, &o, &sweep, &v)
               : v.used     ? gt_bench_used(&device, o, &sweep, &v.format, v.command,
                                            v.against != NULL)
                            : compare(&device, &o, &sweep, &v);
    gt_sweep_clear(&sweep);
    return code;
}

const struct gt_cmd gt_cmd_bench = {
    .name = "bench",
    .operands = "[PROBLEM...] [--device N]",
    .about = "Measure tuned kernels against vendors' libraries, in turn.",
    .options = options,
    .tables = (const struct gt_form *const[]){&gt_bench_line_form, &gt_bench_sum_form,
                                              &gt_bench_use_form, &calls,
                                              &gt_bench_way_form, NULL},
    .run = run,
};
