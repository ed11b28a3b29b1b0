/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.c - `gemmtune lookup PROBLEM`: shows which kernel the library would choose on a
 * device, and why. It calls the same function as the library and builds nothing.
 */
#include "tuner/cmd/common.h"

#include "tuner/base/choose.h"
#include "tuner/base/talk.h"
#include "tuner/base/wrap.h"
#include "tuner/cmd/which_device.h"

#include <math.h>

struct values {
    struct gt_format format;
    const char *db, *device;
    struct gt_texts templates;
    double workspace;
};

static const struct gt_option options[] = {
    GT_OPTION_ANY_DEVICE(struct values),
    GT_OPTION_READ_DB(struct values),
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_WORKSPACE(struct values, "workspace that the caller has: 0, a size such as "
                                       "32MiB, or none for no limit (default: none)"),
    GT_OPTION_JSON(struct values),
    GT_OPTION_END,
};

/* ---- printing ---- */

struct answer {
    char problem[GT_PROBLEM_NAME_MAX], key[GT_DEVICE_KEY_MAX], point[GT_POINT_TEXT_MAX];
    const struct gt_device *device;
    const struct gt_choice *choice;
};

static void print_json(const struct answer *a) {
    const struct gt_known *known = a->choice->known;
    bool first = true;
    (void)fputs("{", stdout);
    gt_json_text(&first, "problem", a->problem);
    gt_json_text(&first, "device", a->key);
    gt_json_text(&first, "match", gt_match_word(a->choice->match));
    gt_json_text(&first, "family", a->choice->family->name);
    gt_json_text(&first, "point", a->point);
    gt_json_text(&first, "from", known != NULL ? known->problem_name : NULL);
    gt_json_text(&first, "from_device", known != NULL ? known->device_key : NULL);
    gt_json_name(&first, "median_ns");
    char buf[GT_CELL_MAX];
    (void)fputs(known != NULL ? gt_show_count(buf, known->median_ns) : "null", stdout);
    gt_json_number(&first, "workspace_bytes",
                   (double)a->choice->fit.passes.workspace_bytes);
    gt_json_number(&first, "expected_loss_percent", gt_expected_percent(a->choice));
    gt_json_text(&first, "why", a->choice->why);
    (void)fputs("}\n", stdout);
}

static void print_people(const struct answer *a) {
    const struct gt_known *known = a->choice->known;
    char buf[GT_CELL_MAX];
    gt_wrap_print(stdout, 9, "problem  %s", a->problem);
    gt_wrap_print(stdout, 9, "device   %s (%s)", a->device->name, a->key);
    gt_wrap_print(stdout, 9, "match    %s", gt_match_word(a->choice->match));
    gt_wrap_print(stdout, 9, "family   %s", a->choice->family->name);
    gt_wrap_print(stdout, 9, "point    %s", a->point);
    if (known != NULL)
        gt_wrap_print(stdout, 9, "from     %s on %s, %s", known->problem_name,
                      known->device_key, gt_show_ns(buf, known->median_ns));
    gt_wrap_print(stdout, 9, "needs    %lld byte%s of workspace",
                  (long long)a->choice->fit.passes.workspace_bytes,
                  gt_text_plural(a->choice->fit.passes.workspace_bytes));
    gt_wrap_print(stdout, 9, "loss     %s", gt_expected_loss(buf, a->choice));
    gt_wrap_print(stdout, 9, "why      %s", a->choice->why);
}

/* ---- the command ---- */

static int look_up(const gemmtune_problem *p, struct gt_db *db,
                   const struct gt_families *families, const struct values *v) {
    struct gt_device device;
    struct gt_chosen chosen = {.known = NULL};
    struct gt_err err = {""};
    struct answer a = {.device = &device, .choice = &chosen.choice};
    const struct gt_which which = {.device = v->device, .opened = &db};
    const int code = gt_which_device(&device, &which, &err);
    if (code >= 0)
        return gt_die(code, "%s", err.line);
    const gt_status status =
        gt_choose(&chosen, db, families, &device, p, gt_common_bytes(v->workspace), &err);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    if (chosen.stale > 0)
        gt_talk("stored results of older kernel sources: %lld", (long long)chosen.stale);
    gt_device_key(&device, a.key);
    (void)gt_problem_name(p, a.problem);
    (void)gt_point_text(&chosen.choice.point, a.point);
    (v->format.json ? print_json : print_people)(&a);
    gt_chosen_clear(&chosen);
    return GT_EXIT_OK;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.workspace = (double)INFINITY};
    gemmtune_problem p;
    struct gt_families *families = NULL;
    struct gt_db *db = NULL;
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 1, 1, &first);
    if (code < 0)
        code = gt_common_problem(&p, argv[first]);
    if (code < 0)
        code = gt_common_families(&families, &v.templates);
    if (code < 0)
        code = gt_common_read_db(&db, v.db);
    if (code < 0)
        code = look_up(&p, db, families, &v);
    gt_db_close(db);
    gt_families_destroy(families);
    return code;
}

const struct gt_cmd gt_cmd_lookup = {
    .name = "lookup",
    .operands = "PROBLEM [--device N]",
    .about = "Show which stored result the library would use for a problem, and why.",
    .options = options,
    .run = run,
};
