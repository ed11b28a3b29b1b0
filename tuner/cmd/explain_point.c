/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_point.c - `gemmtune explain PROBLEM --point "FAMILY ..."`: prints a prediction
 * term by term.
 */
#include "tuner/base/wrap.h"
#include "tuner/cmd/explain_point.h"

#include <string.h>

int gt_explain_read_point(const struct gt_family **family, struct gt_point *out,
                          const struct gt_families *families, const char *text) {
    char name[GT_NAME_MAX] = "";
    struct gt_err err = {""};
    const size_t len = strcspn(text, " ,");
    if (len == 0 || len >= sizeof name)
        return gt_die(GT_EXIT_USAGE, "--point begins with the name of a family");
    memcpy(name, text, len);
    const int code = gt_common_family(family, families, name);
    if (code >= 0)
        return code;
    const gt_status status =
        gt_predict_point(out, *family, text + len + strspn(text + len, " ,"), &err);
    return status == GEMMTUNE_OK ? -1 : gt_die(GT_EXIT_USAGE, "%s", err.line);
}

int gt_explain_point(struct gt_predicted *out, const struct gt_families *families,
                     const char *text, const struct gt_device *d,
                     const gemmtune_problem *p) {
    struct gt_err err = {""};
    const int code = gt_explain_read_point(&out->family, &out->point, families, text);
    if (code >= 0)
        return code;
    const gt_status status =
        gt_model_explain(&out->prediction, out->family, d, p, &out->point, &err);
    if (status == GEMMTUNE_EINVAL)
        return gt_die(GT_EXIT_USAGE, "%s", err.line);
    return status == GEMMTUNE_OK ? -1 : gt_die(GT_EXIT_FAILURE, "%s", err.line);
}

void gt_explain_point_json(const struct gt_predicted *f) {
    const struct gt_prediction *p = &f->prediction;
    char text[GT_POINT_TEXT_MAX];
    bool first = true, term = true;
    (void)gt_point_text(&f->point, text);
    (void)fputs("{", stdout);
    gt_json_text(&first, "family", f->family->name);
    gt_json_text(&first, "point", text);
    gt_json_number(&first, "predicted_ns", p->ns);
    gt_json_text(&first, "binds", gt_term_word(p->binds));
    gt_json_name(&first, "terms_ns");
    (void)fputs("{", stdout);
    for (int i = 0; i < GT_TERM_COUNT; i++)
        gt_json_number(&term, gt_term_word((enum gt_term)i), p->term_ns[i]);
    (void)fputs("}", stdout);
    gt_json_number(&first, "learned", p->learned);
    gt_json_number(&first, "least_ns", p->least_ns);
    gt_json_number(&first, "registers", p->registers);
    gt_json_number(&first, "resident_blocks", p->resident);
    gt_json_number(&first, "blocks", (double)p->blocks);
    gt_json_number(&first, "slabs", (double)p->slabs);
    gt_json_number(&first, "waves", (double)p->waves);
    gt_json_number(&first, "last_wave", p->last_wave);
    gt_json_number(&first, "workspace_bytes", (double)p->workspace_bytes);
    (void)fputs("}", stdout);
}

void gt_explain_point_print(const struct gt_predicted *f, double flops) {
    const struct gt_prediction *p = &f->prediction;
    char text[GT_POINT_TEXT_MAX], buf[2][GT_CELL_MAX], registers[40] = "";
    (void)gt_point_text(&f->point, text);
    printf("\n%s %s\n", f->family->name, text);
    gt_wrap_print(stdout, 27, "predicted                  %s, %s GFLOP/s, bound by %s",
                  gt_show_ns(buf[0], p->ns), gt_show_rate(buf[1], flops, p->ns),
                  gt_term_word(p->binds));
    if (p->registers > 0)
        (void)snprintf(registers, sizeof registers, " (%d registers a thread)",
                       p->registers);
    gt_wrap_print(stdout, 27,
                  "blocks                     %lld of %lld slabs, %d a unit at once%s",
                  (long long)p->blocks, (long long)p->slabs, p->resident, registers);
    gt_wrap_print(stdout, 27, "waves                      %lld, the last one %.0f %% full",
                  (long long)p->waves, 100 * p->last_wave);
    gt_wrap_print(stdout, 27, "workspace                  %s",
                  gt_show_bytes(buf[0], (double)p->workspace_bytes));
    for (int i = 0; i < GT_TERM_COUNT; i++)
        printf("  %-8s %10s  %5.1f %%  %s\n", gt_term_word((enum gt_term)i),
               p->term_ns[i] > 0 ? gt_show_ns(buf[0], p->term_ns[i]) : "-",
               100 * p->term_ns[i] / gt_computed_ns(p), gt_term_about((enum gt_term)i));
    if (p->learned < 1 || p->learned > 1)
        gt_wrap_print(stdout, 27,
                      "learned                    x %.3f, from trials of like points",
                      p->learned);
    if (p->least_ns > 0) /* the peaks are known */
        gt_wrap_print(stdout, 27, "at least                   %s, by the device's peaks",
                      gt_show_ns(buf[0], p->least_ns));
}
