/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.c - `gemmtune figures FILE...`: sums up and draws what `gemmtune bench --json`
 * has written. It needs no device and no database.
 */
#include "tuner/cmd/common.h"

#include "tuner/base/wrap.h"
#include "tuner/study/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct values {
    const char *by, *svg;
    bool lines, markdown;
    struct gt_format format;
};

static const struct gt_option options[] = {
    {"by", 0, GT_OPT_TEXT, offsetof(struct values, by), "WORD",
     "sums by type or by class of shape (default: type)", 0, 0},
    {"lines", 0, GT_OPT_FLAG, offsetof(struct values, lines), NULL,
     "print each problem instead of sums", 0, 0},
    {"svg", 0, GT_OPT_TEXT, offsetof(struct values, svg), "FILE",
     "draw the ratios of all problems into FILE", 0, 0},
    {"markdown", 0, GT_OPT_FLAG, offsetof(struct values, markdown), NULL,
     "print a table of Markdown", 0, 0},
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

/* ---- tables ---- */

static double mean_of(const struct gt_figure_group *g) {
    return gt_tally_count(&g->tally) > 0 ? gt_tally_geomean(&g->tally) : (double)NAN;
}

#define SUMS(X)                                                                            \
    X("group", "", TEXT, 0, r->name, "a data type or a class; batches stand alone")        \
    X("problems", "problems", COUNT, 0, gt_tally_count(&r->tally),                         \
      "problems with a verdict")                                                           \
    X("geomean", "geometric mean", FIXED, 0, mean_of(r),                                   \
      "of the ratios, the other library's time over ours")                                 \
    X("wins", "faster", COUNT, 0, r->tally.wins, "problems on which ours is faster")       \
    X("ties", "ties", COUNT, 0, r->tally.ties, "problems on which neither is faster")      \
    X("losses", "slower", COUNT, 0, r->tally.losses, "problems on which ours is slower")   \
    X("noisy", NULL, COUNT, 0, r->tally.noisy, "problems too uncertain for a verdict")     \
    X("alone", NULL, COUNT, 0, r->alone, "problems that the others have no kernel for")    \
    X("failed", NULL, COUNT, 0, r->failed, "problems on which ours failed")                \
    X("worst", "worst", FIXED, 0, r->worst != NULL ? r->worst->ratio : (double)NAN,        \
      "the least ratio")                                                                   \
    X("worst_problem", "", TEXT, 0, r->worst != NULL ? r->worst->problem : NULL,           \
      "its problem")
GT_COLUMNS(sum, struct gt_figure_group, SUMS)
static const struct gt_form sum_form = GT_FORM(sum, "");

#define LINES(X)                                                                           \
    X("problem", "problem", TEXT, 0, r->problem, "its name")                               \
    X("ours_ns", "gemmtune", NS, 0, r->ours_ns, "our median time")                         \
    X("baseline", "baseline", TEXT, 0, r->baseline, "the fastest of the others")           \
    X("baseline_ns", "time", NS, 0, r->base_ns, "its median time")                         \
    X("ratio", "ratio", FIXED, 0, r->ratio,                                                \
      "its time over ours, round by round, median: above 1 ours is faster")                \
    X("ratio_low", "from", FIXED, 1, r->low, "lower end of the ratio's 95 % interval")     \
    X("ratio_high", "to", FIXED, GT_PAIRED(1), r->high, "upper end of the interval")       \
    X("verdict", "", TEXT, 0, gt_figure_word(r), "win, tie, loss or noisy")
GT_COLUMNS(line, struct gt_figure, LINES)
static const struct gt_form line_form = GT_FORM(line, "with --lines");

/* ---- runs with --as-used ---- */

/* The lines of a group in one way. */
struct used_sum {
    double mean, least;        /* NAN: no line has a ratio */
    const char *least_problem; /* NULL as well */
};

static struct used_sum sum_up(const struct gt_figures *f, const struct gt_figure_group *g,
                              enum gt_used_way way) {
    struct used_sum s = {(double)NAN, (double)NAN, NULL};
    double logs = 0;
    int count = 0;
    for (size_t i = g->begin; i < g->end; i++) {
        const double x = f->line[i].used[way];
        if (isnan(x))
            continue;
        logs += log(x);
        count++;
        if (s.least_problem == NULL || x < s.least) {
            s.least = x;
            s.least_problem = f->line[i].problem;
        }
    }
    if (count > 0)
        s.mean = exp(logs / count);
    return s;
}

struct used_row {
    const char *name;
    int problems;
    struct used_sum way[GT_USED_WAYS];
};

#define USED(X)                                                                            \
    X("group", "", TEXT, 0, r->name, "a data type or a class; batches stand alone")        \
    X("problems", "problems", COUNT, 0, r->problems, "problems that the others can do")    \
    X("none", "none", FIXED, 0, r->way[GT_USED_NONE].mean,                                 \
      "geometric mean of the ratios of plans without a workspace")                         \
    X("same", "same", FIXED, 0, r->way[GT_USED_SAME].mean,                                 \
      "of plans with the workspace of all sides")                                          \
    X("any", "any", FIXED, 0, r->way[GT_USED_ANY].mean, "of plans with any workspace")     \
    X("call", "one call", FIXED, 0, r->way[GT_USED_CALL].mean, "of gemmtune_gemm")         \
    X("none_worst", "worst, none", FIXED, 0, r->way[GT_USED_NONE].least,                   \
      "the least ratio of plans without a workspace")                                      \
    X("none_worst_problem", "", TEXT, 0, r->way[GT_USED_NONE].least_problem,               \
      "its problem")                                                                       \
    X("same_worst", "worst, same", FIXED, 0, r->way[GT_USED_SAME].least,                   \
      "the least ratio with the workspace of all sides")                                   \
    X("same_worst_problem", "", TEXT, 0, r->way[GT_USED_SAME].least_problem, "its problem")
GT_COLUMNS(used, struct used_row, USED)
static const struct gt_form used_form = GT_FORM(used, "of runs with --as-used");

static gt_status make_used_table(struct gt_table **out, const struct gt_figures *f,
                                 struct gt_err *err) {
    gt_status status = gt_table_create(out, &used_form, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < f->groups; i++) {
        const struct gt_figure_group *g = &f->group[i];
        struct used_row row = {.name = g->name};
        for (int way = 0; way < GT_USED_WAYS; way++)
            row.way[way] = sum_up(f, g, (enum gt_used_way)way);
        for (size_t j = g->begin; j < g->end; j++)
            row.problems += !isnan(f->line[j].used[GT_USED_SAME]);
        if (row.problems > 0)
            status = add_used(*out, &row, err);
    }
    return status;
}

static gt_status make_table(struct gt_table **out, const struct gt_figures *f, bool lines,
                            struct gt_err *err) {
    gt_status status = gt_table_create(out, lines ? &line_form : &sum_form, err);
    for (size_t i = 0; status == GEMMTUNE_OK && lines && i < f->count; i++)
        status = add_line(*out, &f->line[i], err);
    for (size_t i = 0; status == GEMMTUNE_OK && !lines && i < f->groups; i++)
        if (f->group[i].worst != NULL) /* the conditions count the other lines */
            status = add_sum(*out, &f->group[i], err);
    return status;
}

/* ---- the conditions ---- */

enum { CONDITIONS_MAX = 1024 };

static int put_known(char *text, int len, const char *before, const char *word) {
    if (word == NULL || word[0] == '\0')
        return len;
    len = gt_text_put(text, CONDITIONS_MAX, len, before);
    return gt_text_put(text, CONDITIONS_MAX, len, word);
}

/* Writes "NVIDIA H200, driver 580.1, NVRTC 13.0, gemmtune 0.3.0 beside cuBLAS 13.1.0." */
static int put_setup(char *text, const struct gt_figures *f) {
    const struct gt_figure_file *first = &f->file[0];
    char rivals[160];
    gt_figures_rivals(rivals, sizeof rivals, f);
    int len = put_known(text, 0, "", first->name != NULL ? first->name : first->device);
    len = put_known(text, len, ", driver ", first->driver);
    len = put_known(text, len, ", ", first->compiler);
    len = put_known(text, len, ", gemmtune ", first->version);
    len = put_known(text, len, " beside ", rivals);
    return gt_text_put(text, CONDITIONS_MAX, len, ".");
}

static int put_workspace(char *text, int len, double bytes) {
    char size[GT_CELL_MAX], words[128];
    if (isnan(bytes))
        return gt_text_put(text, CONDITIONS_MAX, len,
                           " Each side had a workspace of twice the matrices, and at "
                           "least 64 MiB.");
    if (bytes < 1)
        return gt_text_put(text, CONDITIONS_MAX, len, " No side had a workspace.");
    (void)snprintf(words, sizeof words, " Each side had a workspace of %s.",
                   gt_show_bytes(size, bytes));
    return gt_text_put(text, CONDITIONS_MAX, len, words);
}

/* Writes ", 2 WHAT", the first time after the beginning of a sentence. */
static int put_count(char *text, int len, bool *first, int count, const char *what) {
    char words[128];
    if (count == 0)
        return len;
    (void)snprintf(words, sizeof words, "%s%d %s",
                   *first ? " Not among the problems: " : ", ", count, what);
    *first = false;
    return gt_text_put(text, CONDITIONS_MAX, len, words);
}

static void describe(char text[CONDITIONS_MAX], const struct gt_figures *f) {
    int noisy = 0, alone = 0, failed = 0;
    bool first = true;
    for (size_t i = 0; i < f->groups; i++) {
        noisy += f->group[i].tally.noisy;
        alone += f->group[i].alone;
        failed += f->group[i].failed;
    }
    int len = put_workspace(text, put_setup(text, f), f->file[0].workspace);
    len = put_count(text, len, &first, noisy, "too noisy for a verdict");
    len = put_count(text, len, &first, alone, "without a kernel of the others");
    len = put_count(text, len, &first, failed, "on which gemmtune failed");
    if (!first)
        (void)gt_text_put(text, CONDITIONS_MAX, len, ".");
}

static void print_conditions(const struct gt_figures *f, bool markdown) {
    char text[CONDITIONS_MAX];
    describe(text, f);
    printf("\n");
    if (markdown)
        printf("%s\n", text);
    else
        gt_wrap_print(stdout, 0, "%s", text);
    printf("\n");
    for (size_t i = 0; i < f->files; i++)
        if (f->file[i].command != NULL)
            printf("    %s\n", f->file[i].command);
}

/* ---- the command ---- */

static gt_status print(const struct gt_figures *f, const struct values *v,
                       struct gt_err *err) {
    struct gt_table *t = NULL;
    const gt_status status = f->file[0].as_used && !v->lines
                                 ? make_used_table(&t, f, err)
                                 : make_table(&t, f, v->lines, err);
    if (status == GEMMTUNE_OK && v->markdown)
        gt_table_markdown(t, stdout);
    else if (status == GEMMTUNE_OK)
        gt_common_print(t, &v->format);
    if (status == GEMMTUNE_OK && !v->format.json && !v->format.csv)
        print_conditions(f, v->markdown);
    gt_table_destroy(t);
    return status;
}

static int choose(enum gt_figures_by *by, const struct values *v) {
    if (v->markdown && (v->format.json || v->format.csv))
        return gt_die(GT_EXIT_USAGE, "figures: --markdown excludes --json and --csv");
    *by = v->by != NULL && strcmp(v->by, "class") == 0 ? GT_FIGURES_BY_CLASS
                                                       : GT_FIGURES_BY_TYPE;
    if (v->by != NULL && *by == GT_FIGURES_BY_TYPE && strcmp(v->by, "type") != 0)
        return gt_die(GT_EXIT_USAGE, "figures: --by '%s': neither type nor class", v->by);
    return -1;
}

static int read_all(struct gt_figures *f, int count, char **paths) {
    struct gt_err err = {""};
    for (int i = 0; i < count; i++) {
        const gt_status status = gt_figures_read(f, paths[i], &err);
        if (status != GEMMTUNE_OK)
            return gt_die(status == GEMMTUNE_ENOMEM ? GT_EXIT_FAILURE : GT_EXIT_INPUT, "%s",
                          err.line);
    }
    return -1;
}

/* The picture always has the rows of the types. */
static gt_status answer(struct gt_figures *f, const struct values *v, enum gt_figures_by by,
                        struct gt_err *err) {
    gt_status status = gt_figures_group(f, GT_FIGURES_BY_TYPE, err);
    if (status == GEMMTUNE_OK && v->svg != NULL)
        status = gt_figures_svg(f, v->svg, err);
    if (status == GEMMTUNE_OK && by != GT_FIGURES_BY_TYPE)
        status = gt_figures_group(f, by, err);
    return status == GEMMTUNE_OK ? print(f, v, err) : status;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.by = NULL};
    struct gt_figures f = {.files = 0};
    struct gt_err err = {""};
    enum gt_figures_by by = GT_FIGURES_BY_TYPE;
    int first;
    int code =
        gt_common_parse(cmd, argc, argv, &v, &v.format, 1, GT_FIGURE_FILES_MAX, &first);
    if (code < 0)
        code = choose(&by, &v);
    if (code < 0)
        code = gt_common_picture(v.svg);
    if (code < 0)
        code = read_all(&f, argc - first, argv + first);
    if (code < 0)
        code = answer(&f, &v, by, &err) == GEMMTUNE_OK
                   ? GT_EXIT_OK
                   : gt_die(GT_EXIT_FAILURE, "%s", err.line);
    gt_figures_clear(&f);
    return code;
}

const struct gt_cmd gt_cmd_figures = {
    .name = "figures",
    .operands = "FILE...",
    .about = "Sum up and draw what bench --json has written.",
    .options = options,
    .tables = (const struct gt_form *const[]){&sum_form, &line_form, &used_form, NULL},
    .run = run,
};
