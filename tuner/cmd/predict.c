/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.c - `gemmtune predict PROBLEM...`: shows which point should win on a device,
 * which need not be present, and how long it should take. `predict --check` compares such
 * predictions with the trials of a database. Nothing is run, and the output says that it is
 * predicted.
 */
#include "tuner/cmd/predict.h"

#include "tuner/cmd/which_device.h"

#include <stdlib.h>
#include <unistd.h>

struct values {
    struct gt_format format;
    const char *device, *device_file, *db;
    struct gt_texts families, templates;
    int64_t top;
    bool check, fit, learn, learn_more;
};

enum { TOP_MOST = 1000 };

static const struct gt_option options[] = {
    GT_OPTION_DEVICE_FILE(struct values),
    GT_OPTION_ANY_DEVICE(struct values),
    {"family", 'f', GT_OPT_NAMES, offsetof(struct values, families), "NAMES",
     "these kernel families only", 0, 0},
    {"top", 0, GT_OPT_INT, offsetof(struct values, top), "N",
     "points for each problem, fastest first (default 1)", 1, TOP_MOST},
    {"check", 0, GT_OPT_FLAG, offsetof(struct values, check), NULL,
     "compare predictions with the trials of the database", 0, 0},
    {"fit", 0, GT_OPT_FLAG, offsetof(struct values, fit), NULL,
     "fit the model's costs to the trials of the database", 0, 0},
    {"learn", 0, GT_OPT_FLAG, offsetof(struct values, learn), NULL,
     "learn the model's errors from the trials of the database", 0, 0},
    {"learn-more", 0, GT_OPT_FLAG, offsetof(struct values, learn_more), NULL,
     "learn the errors that the shipped trees leave, and keep these trees", 0, 0},
    GT_OPTION_DB(struct values),
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

/* One prediction for a problem. */
struct row {
    const char *problem;
    double flops;
    const struct gt_predicted *predicted;
    char point[GT_POINT_TEXT_MAX];
    size_t rank, asked;
    const struct gt_device *device;
};

#define PREDICTIONS(X)                                                                     \
    X("problem", "problem", TEXT, 0, r->problem, "its name")                               \
    X("predicted_ns", "predicted", NS, 0, r->predicted->prediction.ns,                     \
      "time of a product")                                                                 \
    X("predicted_gflops", "GFLOP/s", RATE, 1, r->flops / r->predicted->prediction.ns,      \
      "rate at that time")                                                                 \
    X("binds", "binds", TEXT, 2, gt_term_word(r->predicted->prediction.binds),             \
      "the resource that the kernel waits for longest")                                    \
    X("family", "family", TEXT, 0, r->predicted->family->name, "kernel family")            \
    X("point", "point", POINT, 1, r->point, "values of the family's parameters")           \
    X("rank", NULL, COUNT, 0, r->rank, "rank among the predictions, from 1")               \
    X("points", NULL, COUNT, 0, r->asked, "points that were examined")                     \
    X("device", NULL, TEXT, 0, r->device->name, "name of the device")
GT_COLUMNS(prediction, struct row, PREDICTIONS)
static const struct gt_form predictions = GT_FORM(prediction, "");

static gt_status add_problem(struct gt_table *t, const struct values *v,
                             const struct gt_families *families, const struct gt_device *d,
                             const gemmtune_problem *p, struct gt_err *err) {
    char name[GT_PROBLEM_NAME_MAX];
    size_t count, asked;
    struct gt_predicted *best = calloc((size_t)v->top, sizeof *best);
    gt_status status = GEMMTUNE_OK;
    (void)gt_problem_name(p, name);
    if (best == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    const struct gt_predict_query query = {.families = families,
                                           .names = &v->families,
                                           .device = d,
                                           .problem = p,
                                           .distinct = true};
    status = gt_predict_best(best, (size_t)v->top, &count, &asked, &query, err);
    if (status == GEMMTUNE_OK && count == 0)
        status = gt_fail(err, GEMMTUNE_ENOTFOUND,
                         "%s: no point that can be predicted on %s", name, d->name);
    for (size_t i = 0; status == GEMMTUNE_OK && i < count; i++) {
        struct row row = {.problem = name,
                          .flops = gt_problem_flops(p),
                          .predicted = &best[i],
                          .rank = i + 1,
                          .asked = asked,
                          .device = d};
        (void)gt_point_text(&best[i].point, row.point);
        status = add_prediction(t, &row, err);
    }
    free(best);
    return status;
}

/* Reads all names before it walks through the first space. */
static int predict(const struct values *v, const struct gt_families *families,
                   char **names) {
    const struct gt_which which = {v->device, v->device_file, v->db, NULL};
    struct gt_device device;
    struct gt_table *t = NULL;
    struct gt_err err = {""};
    gemmtune_problem p;
    int code = -1;
    for (char **name = names; code < 0 && *name != NULL; name++)
        code = gt_common_problem(&p, *name);
    for (int i = 0; code < 0 && i < v->families.count; i++) {
        const struct gt_family *f;
        code = gt_common_family(&f, families, v->families.text[i]);
    }
    if (code >= 0)
        return code;
    code = gt_which_device(&device, &which, &err);
    if (code >= 0)
        return gt_die(code, "%s", err.line);
    gt_status status = gt_table_create(&t, &predictions, &err);
    for (char **name = names; status == GEMMTUNE_OK && *name != NULL; name++) {
        (void)gt_problem_from_name(&p, *name, NULL); /* cannot fail: it was read before */
        status = add_problem(t, v, families, &device, &p, &err);
    }
    if (status == GEMMTUNE_OK && !v->format.json && !v->format.csv)
        printf("predicted, not measured, for %s\n\n", device.name);
    if (status == GEMMTUNE_OK)
        gt_common_print(t, &v->format);
    gt_table_destroy(t);
    return status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
}

/* ---- the command ---- */

/* The option that asks for work on stored trials, or NULL. */
static const char *stored_work(const struct values *v, enum gt_predict_work *work) {
    const struct {
        bool asked;
        const char *option;
    } works[] = {[GT_PREDICT_CHECK] = {v->check, "check"},
                 [GT_PREDICT_FIT] = {v->fit, "fit"},
                 [GT_PREDICT_LEARN] = {v->learn, "learn"},
                 [GT_PREDICT_LEARN_MORE] = {v->learn_more, "learn-more"}};
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (works[i].asked) {
            *work = (enum gt_predict_work)i;
            return works[i].option;
        }
    return NULL;
}

static int refuse(const struct values *v, const char *option) {
    if (v->check + v->fit + v->learn + v->learn_more > 1)
        return gt_die(GT_EXIT_USAGE, "predict: --check, --fit, --learn and --learn-more "
                                     "exclude each other");
    if ((v->learn || v->learn_more) && !v->format.json && isatty(STDOUT_FILENO))
        return gt_die(GT_EXIT_USAGE,
                      "predict: --%s prints a file of bytes: redirect it to trees.bin",
                      option);
    if (option != NULL && !v->check && v->format.csv)
        return gt_die(GT_EXIT_USAGE, "predict: --%s and --csv exclude each other", option);
    return -1;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.top = 1};
    struct gt_families *families = NULL;
    enum gt_predict_work work = GT_PREDICT_CHECK;
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, argc, &first);
    const char *const option = stored_work(&v, &work);
    if (code < 0)
        code = refuse(&v, option);
    if (code < 0 && (option != NULL) == (first < argc))
        code = option != NULL
                   ? gt_die(GT_EXIT_USAGE, "predict: --%s takes no problems", option)
                   : gt_die(GT_EXIT_USAGE,
                            "predict: PROBLEM is missing; usage: gemmtune predict %s",
                            cmd->operands);
    if (code < 0)
        code = gt_common_families(&families, &v.templates);
    if (code < 0)
        code = option != NULL
                   ? gt_predict_check_command(families, v.db, v.device, work, &v.format)
                   : predict(&v, families, argv + first);
    gt_families_destroy(families);
    return code;
}

const struct gt_cmd gt_cmd_predict = {
    .name = "predict",
    .operands = "PROBLEM... [--device N | --device-file FILE]",
    .about =
        "Work out which point should be fastest on a device, here or not, and its time.",
    .options = options,
    .tables = (const struct gt_form *const[]){&predictions, &gt_predict_check_form, NULL},
    .run = run,
};
