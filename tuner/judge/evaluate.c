/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.c - `gemmtune evaluate`: measures how much time the library loses on problems
 * that were not tuned. Tuned problems are hidden. Each rule's kernel for them is timed in
 * turn with the problem's own winner; with --stored, its time is taken from the trials in
 * the database. Problems that are named or drawn are tuned: see evaluate_fresh.c.
 */
#include "tuner/judge/evaluate.h"

#include "core/text.h"
#include "tuner/base/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double preset_holdout = 0.25;

static const struct gt_option options[] = {
    GT_OPTION_DEVICE(struct gt_evaluate_values),
    GT_OPTION_READ_DB(struct gt_evaluate_values),
    GT_OPTION_TEMPLATES(struct gt_evaluate_values),
    {"holdout", 0, GT_OPT_NUMBER, offsetof(struct gt_evaluate_values, holdout), "PART",
     "part of the tuned problems to hide (default 0.25)", 0, 0},
    {"folds", 0, GT_OPT_INT, offsetof(struct gt_evaluate_values, folds), "N",
     "hide each problem once, an Nth of them at a time", 2, 100000},
    {"rule", 0, GT_OPT_NAMES, offsetof(struct gt_evaluate_values, rules), "NAMES",
     "lookup, nearest, volume, single, untuned, default (default: all)", 0, 0},
    {"stored", 0, GT_OPT_FLAG, offsetof(struct gt_evaluate_values, stored), NULL,
     "use no device: losses are taken from stored trials, where they are known", 0, 0},
    {"sizes", 's', GT_OPT_TEXT, offsetof(struct gt_evaluate_values, sizes), "FILE",
     "instead of hiding tuned problems, tune, look up and time those of FILE (sweep.json) "
     "and those that are named; only a problem's own records are hidden from its lookup",
     0, 0},
    {"random", 0, GT_OPT_INT, offsetof(struct gt_evaluate_values, drawn.random), "N",
     "the same for N problems that are drawn", 1, 100000},
    GT_OPTION_TYPES(struct gt_evaluate_values),
    GT_OPTION_VOLUME(struct gt_evaluate_values),
    GT_OPTION_BATCH(struct gt_evaluate_values),
    GT_OPTION_EFFORT(struct gt_evaluate_values),
    GT_OPTION_WORKSPACE(
        struct gt_evaluate_values,
        "workspace of winners and answers: 0, a size such as 32MiB, or none "
        "for no limit (default: none)"),
    {"keep", 0, GT_OPT_TEXT, offsetof(struct gt_evaluate_values, keep), "FILE",
     "keep the trials of named or drawn problems, and the answers, in this database", 0, 0},
    {"budget", 'b', GT_OPT_SECONDS, offsetof(struct gt_evaluate_values, budget), "TIME",
     "start no problem after this time", 0, 0},
    {"seed", 0, GT_OPT_INT, offsetof(struct gt_evaluate_values, seed), "N",
     "random seed of hidden or drawn problems, of searches and of the data (default 1)", 0,
     INT64_C(1) << 52},
    GT_OPTION_QUIET(struct gt_evaluate_values),
    GT_OPTION_JSON(struct gt_evaluate_values),
    GT_OPTION_CSV(struct gt_evaluate_values),
    GT_OPTION_WIDE(struct gt_evaluate_values),
    GT_OPTION_END,
};

/* ---- the command line ---- */

static int pick_rule(unsigned *rules, const char *name) {
    const char *names[GT_RULES + 1] = {NULL};
    for (int r = 0; r < GT_RULES; r++) {
        names[r] = gt_rule_name((enum gt_rule_kind)r);
        if (strcmp(names[r], name) == 0) {
            *rules |= 1U << r;
            return -1;
        }
    }
    const char *near = gt_text_nearest(name, names);
    if (near != NULL)
        return gt_die(GT_EXIT_USAGE, "there is no rule '%s'; did you mean '%s'?", name,
                      near);
    return gt_die(GT_EXIT_USAGE,
                  "there is no rule '%s'; 'gemmtune evaluate --help' lists them", name);
}

/* Whether the problems are named or drawn. Tuned ones are hidden otherwise. */
static bool has_fresh(const struct gt_evaluate_work *w) {
    return w->sweep.count > 0 || w->v.drawn.random > 0;
}

static int check_values(struct gt_evaluate_work *w) {
    int code = -1;
    if (w->v.holdout > 0 && w->v.folds > 0)
        return gt_die(GT_EXIT_USAGE, "evaluate: --holdout and --folds exclude each other");
    if (w->v.holdout >= 1)
        return gt_die(GT_EXIT_USAGE,
                      "evaluate: --holdout needs a part below 1, not all of them");
    if (has_fresh(w) && (w->v.holdout > 0 || w->v.folds > 0 || w->v.stored))
        return gt_die(GT_EXIT_USAGE, "evaluate: problems that are named, --sizes and "
                                     "--random exclude --holdout, --folds and --stored");
    if (w->sweep.count > 0 && w->v.drawn.random > 0)
        return gt_die(GT_EXIT_USAGE, "evaluate: --random excludes --sizes and problems "
                                     "that are named");
    if (gt_drawn_lacks_random(&w->v.drawn))
        return gt_die(GT_EXIT_USAGE, "evaluate: --types, --volume and --batch are about "
                                     "problems that --random draws");
    if (!has_fresh(w) && (w->v.effort != NULL || w->v.keep != NULL))
        return gt_die(GT_EXIT_USAGE, "evaluate: --effort and --keep are about problems "
                                     "that are named or drawn");
    for (int i = 0; code < 0 && i < w->v.rules.count; i++)
        code = pick_rule(&w->rules, w->v.rules.text[i]);
    if (w->rules == 0)
        w->rules = has_fresh(w) ? 1U << GT_RULE_LOOKUP | 1U << GT_RULE_UNTUNED
                                : (1U << GT_RULES) - 1;
    return code;
}

/* ---- hiding ---- */

static int make_room(struct gt_evaluate_work *w) {
    const size_t all = gt_evaluation_count(w->evaluation);
    if (all < 2)
        return gt_die(GT_EXIT_FAILURE,
                      "evaluate hides tuned problems and needs at least two; here %s",
                      all == 0 ? "is none" : "is one");
    w->hidden = calloc(all, sizeof *w->hidden);
    return w->hidden != NULL ? -1
                             : gt_die(GT_EXIT_FAILURE, "no memory for %zu problems", all);
}

static void hide(struct gt_evaluate_work *w) {
    const size_t all = gt_evaluation_count(w->evaluation);
    const double part = w->v.holdout > 0 ? w->v.holdout : preset_holdout;
    const size_t folds = (size_t)w->v.folds < all ? (size_t)w->v.folds : all;
    struct gt_progress progress;
    w->count = folds > 0 ? all : (size_t)fmax(1, floor((double)all * part));
    gt_progress_init(&progress, w->count, w->v.quiet);
    if (folds == 0)
        gt_evaluation_hide(w->hidden, w->evaluation, 0, w->count, w->rules, &progress);
    for (size_t f = 0; f < folds; f++)
        gt_evaluation_hide(w->hidden + f * all / folds, w->evaluation, f * all / folds,
                           (f + 1) * all / folds, w->rules, &progress);
    gt_progress_end(&progress);
}

static int measure(struct gt_evaluate_work *w) {
    const int64_t start_ms = gt_now_ms();
    struct gt_progress progress;
    int code = -1;
    gt_progress_init(&progress, w->count, w->v.quiet);
    gt_evaluate_build_ahead(w, &progress);
    while (code < 0 && w->done < w->count && gt_evaluate_has_time(w, start_ms)) {
        gt_progress_count(&progress, "measuring hidden problems", w->done, w->count);
        code = gt_evaluate_measure(w, &w->hidden[w->done++]);
    }
    gt_progress_end(&progress);
    return code;
}

/* ---- the command ---- */

static int evaluate(struct gt_evaluate_work *w) {
    int code = gt_evaluate_prepare(w);
    if (code < 0)
        code = make_room(w);
    if (code >= 0)
        return code;
    hide(w);
    if (w->session == NULL)
        w->done = w->count;
    else
        code = measure(w);
    return code < 0 ? gt_evaluate_end(w) : code;
}

static int evaluate_here(struct gt_evaluate_work *w) {
    const struct gt_session_setup setup = {
        .device = w->v.device, .templates = &w->v.templates, .compilers = -1};
    struct gt_session session;
    int code = gt_session_open(&session, &setup);
    if (code >= 0)
        return code;
    gt_evaluate_take(w, &session);
    code = evaluate(w);
    gt_session_close(&session);
    return code;
}

static int evaluate_stored(struct gt_evaluate_work *w) {
    struct gt_families *families = NULL;
    int code = gt_common_families(&families, &w->v.templates);
    w->families = families;
    if (code < 0)
        code = evaluate(w);
    gt_families_destroy(families);
    return code;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct gt_evaluate_work w;
    int first = 0;
    memset(&w, 0, sizeof w);
    w.v.seed = 1;
    w.v.workspace = (double)INFINITY;
    int code = gt_common_parse(cmd, argc, argv, &w.v, &w.v.format, 0, argc, &first);
    if (code < 0)
        code = gt_common_sweep(&w.sweep, w.v.sizes, (const char *const *)argv + first,
                               argc - first);
    if (code < 0)
        code = check_values(&w);
    if (code < 0)
        code = has_fresh(&w) ? gt_evaluate_fresh(&w)
               : w.v.stored  ? evaluate_stored(&w)
                             : evaluate_here(&w);
    gt_evaluation_destroy(w.evaluation);
    free(w.hidden);
    free(w.known);
    gt_sweep_clear(&w.sweep);
    gt_view_clear(&w.view);
    return code;
}

const struct gt_cmd gt_cmd_evaluate = {
    .name = "evaluate",
    .operands = "[PROBLEM...] [--device N]",
    .about = "Measure how much time lookups lose on problems that were not tuned.",
    .options = options,
    .tables =
        (const struct gt_form *const[]){&gt_evaluate_form, &gt_evaluate_rule_form, NULL},
    .run = run,
};
