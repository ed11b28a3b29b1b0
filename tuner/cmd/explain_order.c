/* SPDX-License-Identifier: Apache-2.0 */
/* explain_order.c - see explain_order.h. */
#include "tuner/cmd/explain_order.h"

#include "tuner/base/choose.h"
#include "tuner/base/wrap.h"
#include "tuner/cmd/common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The time of a lookup's answer: as tuned for this problem, else its forecast; 0: none. */
static double time_of(bool *measured, char *kernel, size_t size,
                      const struct gt_snapshot *s, const struct gt_device *d,
                      const gemmtune_problem *p) {
    char text[GT_POINT_TEXT_MAX];
    struct gt_choice choice;
    kernel[0] = '\0';
    *measured = false;
    if (gt_choose_from(&choice, s, d, p, SIZE_MAX, NULL) != GEMMTUNE_OK)
        return 0;
    (void)gt_point_text(&choice.point, text);
    (void)snprintf(kernel, size, "%s \"%s\"", choice.family->name, text);
    *measured = choice.match == GEMMTUNE_MATCH_EXACT;
    return choice.forecast_ns > 0 ? choice.forecast_ns
           : choice.known != NULL ? choice.known->median_ns
                                  : 0;
}

static void fill(struct gt_explained_order *out, const struct gt_snapshot *s,
                 const struct gt_device *d, const gemmtune_problem *p) {
    struct gt_row_order order;
    gemmtune_problem free_choice = *p;
    bool measured[2];
    gt_match_order(&order, s, d, p);
    memcpy(out->order, order.text, sizeof out->order);
    out->others = order.others;
    if (order.known != NULL)
        (void)snprintf(out->from, sizeof out->from, "chosen by %d tuned problem%s: %s",
                       order.records, order.records == 1 ? "" : "s",
                       order.known->problem_name);
    else if (order.family != NULL)
        (void)snprintf(out->from, sizeof out->from,
                       "the default, of family %s: none of its problems was tuned",
                       order.family->name);
    free_choice.row_order = 0;
    out->ns = time_of(&measured[0], out->kernel[0], sizeof out->kernel[0], s, d, p);
    out->free_ns =
        time_of(&measured[1], out->kernel[1], sizeof out->kernel[1], s, d, &free_choice);
    out->measured = measured[0] && measured[1];
}

int gt_explain_order(struct gt_explained_order *out, const char *db,
                     const struct gt_families *families, const struct gt_device *device,
                     const gemmtune_problem *p) {
    struct gt_db *file = NULL;
    struct gt_known *known = NULL;
    struct gt_err err = {""};
    int64_t stale = 0;
    size_t count = 0;
    gt_status status = GEMMTUNE_OK;
    memset(out, 0, sizeof *out);
    const int code = gt_common_peek_db(&file, db);
    if (code >= 0)
        return code;
    if (file != NULL)
        status = gt_known_load(&known, &count, &stale, file, families, device->arch, &err);
    gt_db_close(file);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    const struct gt_snapshot s = {families, known, count, NULL};
    fill(out, &s, device, p);
    free(known);
    return -1;
}

void gt_explain_order_print(const struct gt_explained_order *o) {
    char buf[2][GT_CELL_MAX];
    printf("\nrow_order\n");
    if (o->order[0] == '\0') {
        printf("order of sums              none: no family states one for it\n");
        return;
    }
    gt_wrap_print(stdout, 27, "order of sums              %s", o->order);
    gt_wrap_print(stdout, 27, "                           %s", o->from);
    if (o->others > 0)
        gt_wrap_print(stdout, 27,
                      "                           %d problem%s tuned in another order, and "
                      "not used",
                      o->others, o->others == 1 ? " was" : "s were");
    gt_wrap_print(stdout, 27, "kernel                     %s",
                  o->kernel[0][0] != '\0' ? o->kernel[0] : "none in this order may run it");
    gt_wrap_print(stdout, 27, "free choice                %s", o->kernel[1]);
    if (o->ns > 0 && o->free_ns > 0)
        gt_wrap_print(stdout, 27, "cost                       %s beside %s, %.2f times: %s",
                      gt_show_ns(buf[0], o->ns), gt_show_ns(buf[1], o->free_ns),
                      o->ns / o->free_ns, o->measured ? "measured" : "by forecast");
}

void gt_explain_order_json(const struct gt_explained_order *o) {
    bool first = true;
    (void)fputs("{", stdout);
    gt_json_text(&first, "order", o->order[0] != '\0' ? o->order : NULL);
    gt_json_text(&first, "from", o->from);
    gt_json_number(&first, "others", o->others);
    gt_json_text(&first, "kernel", o->kernel[0][0] != '\0' ? o->kernel[0] : NULL);
    gt_json_text(&first, "free_kernel", o->kernel[1][0] != '\0' ? o->kernel[1] : NULL);
    gt_json_number(&first, "ns", o->ns > 0 ? o->ns : (double)NAN);
    gt_json_number(&first, "free_ns", o->free_ns > 0 ? o->free_ns : (double)NAN);
    gt_json_text(&first, "times", o->measured ? "measured" : "forecast");
    (void)fputs("}", stdout);
}
