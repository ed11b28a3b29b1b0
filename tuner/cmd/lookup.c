/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.c - `gemmtune lookup PROBLEM`: what the library would run on a device, and why. Asks
 * the same function as the library does; builds nothing.
 */
#include "tuner/cmd/common.h"

#include "runtime/match.h"
#include "tuner/probe.h"

#include <stdlib.h>

struct values {
    struct gt_format format;
    const char *db, *device;
    struct gt_texts templates;
};

static const struct gt_option options[] = {
    GT_OPTION_DEVICE(struct values),
    GT_OPTION_DB(struct values),
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_END,
};

enum { POINTER_ALIGN = 256 }; /* what a device allocation is aligned to, at the least */

static const char *const match_words[] = {
    [GEMMTUNE_MATCH_EXACT] = "exact",
    [GEMMTUNE_MATCH_SHAPE] = "shape",
    [GEMMTUNE_MATCH_ARCH] = "arch",
    [GEMMTUNE_MATCH_DEFAULT] = "default",
};

/* ---- printing ---------------------------------------------------------------------- */

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
    gt_json_text(&first, "match", match_words[a->choice->match]);
    gt_json_text(&first, "family", a->choice->family->name);
    gt_json_text(&first, "point", a->point);
    gt_json_text(&first, "from", known != NULL ? known->problem_name : NULL);
    gt_json_text(&first, "from_device", known != NULL ? known->device_key : NULL);
    gt_json_name(&first, "median_ns");
    char buf[GT_CELL_MAX];
    (void)fputs(known != NULL ? gt_show_count(buf, known->median_ns) : "null", stdout);
    gt_json_text(&first, "why", a->choice->why);
    (void)fputs("}\n", stdout);
}

static void print_people(const struct answer *a) {
    const struct gt_known *known = a->choice->known;
    char buf[GT_CELL_MAX];
    printf("problem  %s\n", a->problem);
    printf("device   %s (%s)\n", a->device->name, a->key);
    printf("match    %s\n", match_words[a->choice->match]);
    printf("family   %s\n", a->choice->family->name);
    printf("point    %s\n", a->point);
    if (known != NULL)
        printf("from     %s on %s, %s\n", known->problem_name, known->device_key,
               gt_show_ns(buf, known->median_ns));
    printf("why      %s\n", a->choice->why);
}

/* ---- the command --------------------------------------------------------------------- */

static gt_status choose(struct gt_known **known, struct gt_choice *out, struct gt_db *db,
                        const struct gt_families *families, const struct gt_device *device,
                        const char *key, const gemmtune_problem *p, struct gt_err *err) {
    size_t count = 0;
    int64_t stale = 0;
    if (db != NULL) {
        const gt_status status =
            gt_known_load(known, &count, &stale, db, families, device->arch, err);
        if (status != GEMMTUNE_OK)
            return status;
    }
    if (stale > 0)
        fprintf(stderr, "gemmtune: %lld stored results are of older kernel sources\n",
                (long long)stale);
    const struct gt_snapshot snapshot = {families, *known, count};
    return gt_match(out, &snapshot, device, key, p, GEMMTUNE_MATCH_DEFAULT, SIZE_MAX,
                    POINTER_ALIGN, NULL, NULL, err);
}

static int look_up(const gemmtune_problem *p, struct gt_db *db,
                   const struct gt_families *families, const struct values *v) {
    struct gt_device device;
    struct gt_choice choice;
    struct gt_known *known = NULL;
    struct gt_err err = {""};
    struct answer a = {.device = &device, .choice = &choice};
    gt_status status = gt_probe_pick(&device, v->device, false, &err);
    if (status == GEMMTUNE_OK) {
        gt_device_key(&device, a.key);
        status = choose(&known, &choice, db, families, &device, a.key, p, &err);
    }
    if (status == GEMMTUNE_OK) {
        (void)gt_problem_name(p, a.problem);
        (void)gt_point_text(&choice.point, a.point);
        (v->format.json ? print_json : print_people)(&a);
    }
    free(known);
    return status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.db = NULL};
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
    .operands = "PROBLEM --device N",
    .about = "Say which stored result the library would use for a problem, and why.",
    .options = options,
    .run = run,
};
