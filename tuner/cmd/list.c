/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - `gemmtune list`: every problem's winner, device by device. */
#include "tuner/cmd/common.h"

#include "tuner/base/view.h"

struct values {
    struct gt_format format;
    const char *db, *device;
    struct gt_texts templates;
};

static const struct gt_option options[] = {
    GT_OPTION_DB(struct values),
    {"device", 'd', GT_OPT_TEXT, offsetof(struct values, device), "NAME",
     "only this device: its key, or part of its key or name", 0, 0},
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_END,
};

static const struct gt_column columns[] = {
    {"problem", "problem", GT_LEFT, GT_CELL_TEXT},
    {"device", "device", GT_LEFT, GT_CELL_TEXT},
    {"family", "family", GT_LEFT, GT_CELL_TEXT},
    {"point", "point", GT_LEFT, GT_CELL_TEXT},
    {"median", NULL, GT_RIGHT, GT_CELL_TEXT},
    {NULL, "median_ns", GT_RIGHT, GT_CELL_NUMBER},
    {"low", NULL, GT_RIGHT, GT_CELL_TEXT},
    {NULL, "low_ns", GT_RIGHT, GT_CELL_NUMBER},
    {"high", NULL, GT_RIGHT, GT_CELL_TEXT},
    {NULL, "high_ns", GT_RIGHT, GT_CELL_NUMBER},
    {"GFLOP/s", "gflops", GT_RIGHT, GT_CELL_NUMBER},
    {"status", "status", GT_LEFT, GT_CELL_TEXT},
    {NULL, "provenance", GT_LEFT, GT_CELL_TEXT},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static const char *status_of(const struct gt_view_row *r,
                             const struct gt_families *families) {
    if (!gt_view_current(r, families))
        return "stale";
    return r->verified ? "verified" : "imported";
}

static double flops_of(const char *problem) {
    gemmtune_problem p;
    return gt_problem_from_name(&p, problem, NULL) == GEMMTUNE_OK ? gt_problem_flops(&p)
                                                                  : 0;
}

static gt_status add_winner(struct gt_table *t, const struct gt_view_row *r,
                            const struct gt_families *families, struct gt_err *err) {
    char shown[3][GT_CELL_MAX], ns[3][GT_CELL_MAX], rate[GT_CELL_MAX];
    const char *const row[COLUMNS] = {
        r->problem,
        r->device,
        r->family,
        r->point,
        gt_show_ns(shown[0], r->median_ns),
        gt_show_count(ns[0], r->median_ns),
        gt_show_ns(shown[1], r->low_ns),
        gt_show_count(ns[1], r->low_ns),
        gt_show_ns(shown[2], r->high_ns),
        gt_show_count(ns[2], r->high_ns),
        gt_show_rate(rate, flops_of(r->problem), r->median_ns),
        status_of(r, families),
        r->provenance,
    };
    return gt_table_row(t, row, err);
}

static gt_status print_winners(struct gt_view *v, const struct gt_families *families,
                               const struct gt_format *format, struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status = gt_table_create(&t, columns, COLUMNS, err);
    gt_view_rank(v, 0, families);
    for (size_t i = 0; status == GEMMTUNE_OK && i < v->row_count; i++)
        if (v->row[i].rank == 0)
            status = add_winner(t, &v->row[i], families, err);
    if (status == GEMMTUNE_OK)
        gt_common_print(t, format);
    gt_table_destroy(t);
    return status;
}

/* The rows of one device, or of all. */
static gt_status load(struct gt_view *v, struct gt_db *db, const char *device,
                      struct gt_err *err) {
    size_t index = 0;
    gt_status status = gt_view_devices(v, db, err);
    if (status == GEMMTUNE_OK && device != NULL)
        status = gt_view_pick(&index, v, device, err);
    if (status != GEMMTUNE_OK)
        return status == GEMMTUNE_ENOTFOUND ? GEMMTUNE_EINVAL : status;
    return gt_view_records(v, db, device != NULL ? v->device[index].key : NULL, NULL, err);
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.db = NULL};
    struct gt_families *families = NULL;
    struct gt_view view = {0};
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, 0, &first);
    if (code < 0)
        code = gt_common_families(&families, &v.templates);
    if (code < 0)
        code = gt_common_read_db(&db, v.db);
    if (code >= 0)
        goto done;
    gt_status status = db != NULL ? load(&view, db, v.device, &err) : GEMMTUNE_OK;
    if (status == GEMMTUNE_OK)
        status = print_winners(&view, families, &v.format, &err);
    code = status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
done:
    gt_view_clear(&view);
    gt_db_close(db);
    gt_families_destroy(families);
    return code;
}

const struct gt_cmd gt_cmd_list = {
    .name = "list",
    .operands = "",
    .about = "List the problems that have been tuned, and the winner of each.",
    .options = options,
    .run = run,
};
