/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - `gemmtune list`: every problem's winner, grouped by device. */
#include "tuner/cmd/common.h"

#include "runtime/plan/workspace.h"
#include "tuner/cmd/gains.h"
#include "tuner/cmd/winner.h"

#include <math.h>
#include <string.h>

struct values {
    struct gt_format format;
    const char *db, *device, *sizes;
    struct gt_texts templates;
};

static const struct gt_option options[] = {
    GT_OPTION_DB(struct values),
    {"device", 'd', GT_OPT_TEXT, offsetof(struct values, device), "NAME",
     "only this device: its key, or part of its key or name", 0, 0},
    {"sizes", 's', GT_OPT_TEXT, offsetof(struct values, sizes), "FILE",
     "a line for each problem of FILE (sweep.json): whether it is tuned, the vendor's time "
     "beside ours, and what exec would save in the calls that gemmtune record counted",
     0, 0},
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

#define WINNERS(X)                                                                         \
    X("problem", "problem", TEXT, 0, r->row->problem, "its name")                          \
    X("device", "device", KEY, 0, r->row->device,                                          \
      "key of the device on which it was tuned")                                           \
    X("family", "family", TEXT, 0, r->row->family, "family of the fastest kernel")         \
    X("point", "point", POINT, 1, r->row->point, "values of the family's parameters")      \
    X("median_ns", "median", NS, 0, r->row->median_ns, "median time of a product")         \
    X("low_ns", "low", NS, 3, r->row->low_ns, "lower end of the median's 95 % interval")   \
    X("high_ns", "high", NS, GT_PAIRED(3), r->row->high_ns, "upper end of the interval")   \
    X("samples", "samples", COUNT, 4, r->row->samples,                                     \
      "samples of the time; a single one has no interval, and is taken again by tune")     \
    X("gflops", "GFLOP/s", RATE, 0, gt_winner_flops(r->row->problem) / r->row->median_ns,  \
      "rate at the median")                                                                \
    X("workspace_bytes", "workspace", BYTES, 3, gt_winner_workspace(r, r->row),            \
      "workspace that the kernel needs")                                                   \
    X("within_ns", "in 32 MiB", NS, 3, gt_winner_within_ns(r, GT_WORKSPACE_DEFAULT),       \
      "median of the fastest stored kernel that needs at most 32 MiB, as a one-call form " \
      "has")                                                                               \
    X("without_ns", "without", NS, 3, gt_winner_within_ns(r, 0),                           \
      "median of the fastest stored kernel that needs no workspace")                       \
    X("vendor", "vendor", TEXT, 3, gt_cell_filled(r->vendor),                              \
      "the fastest vendor's library that was measured beside that kernel, each with 32 "   \
      "MiB (tune --against, bench --store)")                                               \
    X("vendor_ratio", "vs vendor", COUNT, 1, gt_winner_ratio(r->duel),                     \
      "its time over ours, round by round, median: above 1 ours is faster")                \
    X("vendor_ratio_low", NULL, COUNT, 0,                                                  \
      r->duel != NULL ? gt_winner_rounded(r->duel->ratio_low) : (double)NAN,               \
      "lower end of the ratio's 95 % interval")                                            \
    X("vendor_ratio_high", NULL, COUNT, 0,                                                 \
      r->duel != NULL ? gt_winner_rounded(r->duel->ratio_high) : (double)NAN,              \
      "upper end of the interval")                                                         \
    X("vendor_verdict", "verdict", TEXT, GT_PAIRED(1), gt_winner_verdict(r->duel),         \
      "win, tie, loss or noisy, as in bench")                                              \
    X("vendor_without_ratio", "vs without", COUNT, 4, gt_winner_ratio(r->duel_without),    \
      "the ratio of kernels and libraries without a workspace")                            \
    X("vendor_without_verdict", "verdict", TEXT, GT_PAIRED(4),                             \
      gt_winner_verdict(r->duel_without), "its verdict")                                   \
    X("status", "status", TEXT, 2, gt_winner_status(r),                                    \
      "verified here, imported, stale (of older kernel sources) or no family "             \
      "(--templates?)")                                                                    \
    X("provenance", NULL, TEXT, 0, r->row->provenance, "origin of the result")
GT_COLUMNS(winner, struct gt_winner, WINNERS)
static const struct gt_form winners = GT_FORM(winner, "without --sizes");

static gt_status print_winners(struct gt_view *v, const struct gt_families *families,
                               const struct gt_duels *duels, const struct gt_format *format,
                               struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status = gt_table_create(&t, &winners, err);
    gt_view_rank(v, 0, families);
    for (size_t i = 0; status == GEMMTUNE_OK && i < v->row_count; i++) {
        struct gt_winner w;
        if (v->row[i].rank != 0)
            continue;
        gt_winner_find(&w, v, &v->row[i], families, duels);
        status = add_winner(t, &w, err);
    }
    if (status == GEMMTUNE_OK)
        gt_common_print(t, format);
    gt_table_destroy(t);
    return status;
}

/* Loads the rows of one device, or of all. */
static gt_status load(struct gt_view *v, struct gt_duels *duels, struct gt_db *db,
                      const char *device, struct gt_err *err) {
    size_t index = 0;
    gt_status status = gt_view_devices(v, db, err);
    if (status == GEMMTUNE_OK && device != NULL)
        status = gt_view_pick(&index, v, device, err);
    if (status != GEMMTUNE_OK)
        return status == GEMMTUNE_ENOTFOUND ? GEMMTUNE_EINVAL : status;
    const char *key = device != NULL ? v->device[index].key : NULL;
    status = gt_view_records(v, db, key, NULL, err);
    return status == GEMMTUNE_OK ? gt_duels_load(duels, db, key, err) : status;
}

static gt_status list_winners(const struct values *v, struct gt_db *db,
                              const struct gt_families *families, struct gt_err *err) {
    struct gt_view view = {0};
    struct gt_duels duels = {NULL, 0};
    gt_status status = db != NULL ? load(&view, &duels, db, v->device, err) : GEMMTUNE_OK;
    if (status == GEMMTUNE_OK)
        status = print_winners(&view, families, &duels, &v->format, err);
    if (status == GEMMTUNE_OK && view.row_count == 0 && db != NULL && v->device == NULL)
        gt_common_say_empty(v->db);
    gt_duels_clear(&duels);
    gt_view_clear(&view);
    return status;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.db = NULL};
    struct gt_families *families = NULL;
    struct gt_sweep sweep = {0};
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, 0, &first);
    if (code < 0)
        code = gt_common_families(&families, &v.templates);
    if (code < 0 && v.sizes != NULL)
        code = gt_common_sweep(&sweep, v.sizes, NULL, 0);
    if (code < 0)
        code = gt_common_read_db(&db, v.db);
    if (code < 0) {
        const struct gt_gains_ask ask = {&sweep, db, families, v.device};
        const gt_status status = v.sizes != NULL ? gt_gains_print(&ask, &v.format, &err)
                                                 : list_winners(&v, db, families, &err);
        code = status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
    }
    gt_db_close(db);
    gt_sweep_clear(&sweep);
    gt_families_destroy(families);
    return code;
}

const struct gt_cmd gt_cmd_list = {
    .name = "list",
    .operands = "[--sizes FILE]",
    .about = "List the problems that have been tuned, and the winner of each.",
    .options = options,
    .tables = (const struct gt_form *const[]){&winners, &gt_gains_form, NULL},
    .run = run,
};
