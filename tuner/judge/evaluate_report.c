/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_report.c - the two tables of `gemmtune evaluate`. */
#include "tuner/judge/evaluate_report.h"

#include "tuner/base/choose.h"
#include "tuner/base/talk.h"
#include "tuner/base/wrap.h"
#include "tuner/bench/bench_stats.h"

#include <math.h>

static double rounded(double percent) {
    return round(10 * percent) / 10;
}

static double percent(double part) {
    return rounded(100 * part);
}

/* ---- a line a problem and rule ---- */

struct answer {
    const struct gt_hidden *hidden;
    enum gt_rule_kind rule;
    const struct gt_answer *answer;
    bool known; /* the loss is known */
    /* of the rule's kernel, of the winner */
    char point[GT_POINT_TEXT_MAX], best[GT_POINT_TEXT_MAX];
};

static double if_known(const struct answer *r, double value) {
    return r->known ? value : (double)NAN;
}

static const char *class_of(const struct answer *r) {
    return gt_shape_class(&r->hidden->winner->problem);
}

static const char *family_of(const struct answer *r) {
    return r->answer->found ? r->answer->choice.family->name : NULL;
}

/* The other rules do not say what they expect. */
static bool expects(enum gt_rule_kind rule) {
    return rule == GT_RULE_LOOKUP || rule == GT_RULE_UNTUNED;
}

static double expected(const struct answer *r) {
    return r->answer->found && expects(r->rule)
               ? rounded(gt_expected_percent(&r->answer->choice))
               : (double)NAN;
}

static const char *why(const struct answer *r) {
    return r->answer->found ? r->answer->choice.why : "no kernel that may run it";
}

#define ANSWERS(X)                                                                         \
    X("problem", "problem", TEXT, 0, r->hidden->winner->problem_name, "its name")          \
    X("class", "class", TEXT, 1, class_of(r), "class of its shape, as in bench")           \
    X("rule", "rule", TEXT, 0, gt_rule_name(r->rule), "the rule that answers")             \
    X("loss_percent", "loss %", COUNT, 0,                                                  \
      if_known(r, percent(r->answer->ns / r->answer->best_ns - 1)),                        \
      "how much slower the rule's kernel is than the problem's own winner")                \
    X("expected_loss_percent", "expected %", COUNT, 1, expected(r),                        \
      "the loss that a lookup expected; empty when nothing was known")                     \
    X("family", "family", TEXT, 1, family_of(r), "family of the rule's kernel")            \
    X("point", NULL, TEXT, 0, gt_cell_filled(r->point), "values of its parameters")        \
    X("ns", NULL, COUNT, 0, if_known(r, r->answer->ns), "its time")                        \
    X("best_ns", NULL, COUNT, 0, if_known(r, r->answer->best_ns), "the winner's time")     \
    X("best_family", NULL, TEXT, 0, r->hidden->winner->family->name,                       \
      "family of the winner")                                                              \
    X("best_point", NULL, TEXT, 0, r->best, "values of its parameters")                    \
    X("why", "why", TAIL, 2, why(r), "the reason for the rule's choice")
GT_COLUMNS(answer, struct answer, ANSWERS)
const struct gt_form gt_evaluate_form = GT_FORM(answer, "");

static gt_status put_answer(struct gt_table *t, const struct gt_hidden *h,
                            enum gt_rule_kind rule, struct gt_err *err) {
    struct answer row = {.hidden = h, .rule = rule, .answer = &h->answer[rule]};
    struct gt_point best;
    row.known = row.answer->found && row.answer->ns > 0 && row.answer->best_ns > 0;
    if (row.answer->found)
        (void)gt_point_text(&row.answer->choice.point, row.point);
    gt_known_point(&best, h->winner);
    (void)gt_point_text(&best, row.best);
    return add_answer(t, &row, err);
}

/* ---- a line a rule ---- */

struct rule {
    enum gt_rule_kind rule;
    struct gt_loss loss;
};

static const char *worst_of(const struct rule *r) {
    return r->loss.known > 0 ? r->loss.worst_of->winner->problem_name : NULL;
}

static double of_losses(const struct rule *r, double part) {
    return r->loss.known > 0 ? percent(part) : (double)NAN;
}

static double expected_of(const struct rule *r) {
    return expects(r->rule) && r->loss.expecting > 0 ? percent(r->loss.expected)
                                                     : (double)NAN;
}

#define RULES(X)                                                                           \
    X("rule", "rule", TEXT, 0, gt_rule_name(r->rule), "the rule that answers")             \
    X("answered", "answered", COUNT, 1, r->loss.asked,                                     \
      "problems for which it found a kernel")                                              \
    X("known", "known", COUNT, 1, r->loss.known, "problems whose loss is known")           \
    X("geomean_loss_percent", "mean loss %", COUNT, 0, of_losses(r, r->loss.mean),         \
      "geometric mean of the losses")                                                      \
    X("expected_loss_percent", "expected %", COUNT, 1, expected_of(r),                     \
      "geometric mean of the losses that lookups expected, where they expected any")       \
    X("loss_percent_95", "95 %", COUNT, 0, of_losses(r, r->loss.most),                     \
      "the 95th percentile of the losses")                                                 \
    X("worst_loss_percent", "worst %", COUNT, 0, of_losses(r, r->loss.worst),              \
      "the largest loss")                                                                  \
    X("worst_problem", "worst of", TEXT, 0, worst_of(r), "its problem")
GT_COLUMNS(rule, struct rule, RULES)
const struct gt_form gt_evaluate_rule_form = GT_FORM(rule, "of the rules");

/* ---- both ---- */

static gt_status fill(struct gt_table *answers, struct gt_table *rules,
                      const struct gt_evaluate_report *report, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < report->done; i++)
        for (int r = 0; status == GEMMTUNE_OK && r < GT_RULES; r++)
            if (report->rules >> r & 1)
                status = put_answer(answers, &report->hidden[i], (enum gt_rule_kind)r, err);
    for (int r = 0; status == GEMMTUNE_OK && r < GT_RULES; r++) {
        struct rule row = {.rule = (enum gt_rule_kind)r};
        if ((report->rules >> r & 1) == 0)
            continue;
        status = gt_loss_of(&row.loss, report->hidden, report->done, row.rule, err);
        if (status == GEMMTUNE_OK)
            status = add_rule(rules, &row, err);
    }
    return status;
}

static void print_json(const struct gt_evaluate_report *report,
                       const struct gt_table *answers, const struct gt_table *rules) {
    bool first = true;
    (void)fputs("{", stdout);
    gt_json_text(&first, "device", report->device_key);
    gt_json_text(&first, "times", report->stored ? "stored" : "measured");
    gt_json_number(&first, "seed", (double)report->seed);
    gt_json_number(&first, "tuned", (double)report->tuned);
    gt_json_number(&first, "known", (double)report->known);
    gt_json_number(&first, report->fresh != NULL ? report->fresh : "hidden",
                   (double)report->hidden_count);
    gt_json_name(&first, "lines");
    gt_table_json(answers, stdout);
    gt_json_name(&first, "rules");
    gt_table_json(rules, stdout);
    (void)fputs("}\n", stdout);
}

static void print_text(const struct gt_evaluate_report *report,
                       const struct gt_table *answers, const struct gt_table *rules,
                       const struct gt_format *format) {
    FILE *out = format->csv ? stderr : stdout;
    gt_common_print(answers, format);
    gt_talk_clear();
    (void)fputs("\n", out);
    gt_common_print_people(rules, format, out);
    if (report->fresh != NULL)
        gt_wrap_print(out, 4, "%zu problem%s %s, %zu stored kernel%s, seed %lld",
                      report->done, gt_text_plural((int64_t)report->done), report->fresh,
                      report->known, gt_text_plural((int64_t)report->known),
                      (long long)report->seed);
    else
        gt_wrap_print(out, 4, "%zu of %zu tuned problem%s hidden, seed %lld, times %s",
                      report->done, report->tuned, gt_text_plural((int64_t)report->tuned),
                      (long long)report->seed,
                      report->stored ? "stored" : "measured with the winner's in turn");
}

gt_status gt_evaluate_print(const struct gt_evaluate_report *report,
                            const struct gt_format *format, struct gt_err *err) {
    struct gt_table *answers = NULL, *rules = NULL;
    gt_status status = gt_table_create(&answers, &gt_evaluate_form, err);
    if (status == GEMMTUNE_OK)
        status = gt_table_create(&rules, &gt_evaluate_rule_form, err);
    if (status == GEMMTUNE_OK)
        status = fill(answers, rules, report, err);
    if (status == GEMMTUNE_OK && format->json)
        print_json(report, answers, rules);
    else if (status == GEMMTUNE_OK)
        print_text(report, answers, rules, format);
    gt_table_destroy(answers);
    gt_table_destroy(rules);
    return status;
}
