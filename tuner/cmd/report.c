/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - `gemmtune report -o FILE`: one page of HTML about a database, results of
 * `bench`, and two devices beside each other. It needs no device.
 */
#include "tuner/cmd/report.h"

#include "tuner/cmd/again.h"
#include "tuner/cmd/import_shelf.h"

#include <string.h>

struct values {
    struct gt_compare_values of;
    struct gt_texts bench, pictures, templates;
    const char *device, *output;
};

static const struct gt_option options[] = {
    {"output", 'o', GT_OPT_TEXT, offsetof(struct values, output), "FILE",
     "the page, or - for standard output; a file appears whole", 0, 0},
    {"db", 0, GT_OPT_LIST, offsetof(struct values, of.db), "FILE",
     "database, or a folder of export --shelf (else $GEMMTUNE_DB, else the user's own); "
     "of further ones only the two devices are taken",
     0, 0},
    {"device", 'd', GT_OPT_TEXT, offsetof(struct values, device), "NAME",
     "only this device: its key, or part of its key or name; two with a comma between are "
     "compared, as by gemmtune compare",
     0, 0},
    {"bench", 0, GT_OPT_LIST, offsetof(struct values, bench), "FILE",
     "what gemmtune bench --json has written; may be repeated", 0, 0},
    {"picture", 0, GT_OPT_LIST, offsetof(struct values, pictures), "FILE",
     "an SVG file to show, as stream --timeline and replay --svg write; may be repeated", 0,
     0},
    {"device-file", 0, GT_OPT_LIST, offsetof(struct values, of.device_files), "FILE",
     "describe one of two devices: a file, or a built-in one by name (gtx-1050-3gb); may "
     "be repeated",
     0, 0},
    GT_OPTION_TEMPLATES(struct values),
    {"quiet", 'q', GT_OPT_FLAG, offsetof(struct values, of.quiet), NULL,
     "no progress on stderr", 0, 0},
    GT_OPTION_END,
};

enum { PART_MAX = 256 };

/* "A,B" in two names; one name leaves the second empty. */
static int split(char name[2][PART_MAX], const char *text) {
    const char *comma = strchr(text, ',');
    const size_t first = comma != NULL ? (size_t)(comma - text) : strlen(text);
    const char *rest = comma != NULL ? comma + 1 : "";
    if (first == 0 || first >= PART_MAX || strlen(rest) >= PART_MAX ||
        (comma != NULL && (*rest == '\0' || strchr(rest, ',') != NULL)))
        return gt_die(GT_EXIT_USAGE, "--device takes a name, or two with a comma between");
    memcpy(name[0], text, first);
    name[0][first] = '\0';
    (void)snprintf(name[1], PART_MAX, "%s", rest);
    return -1;
}

/* ---- reading ---- */

static int read_figures(struct gt_report_page *r, const struct gt_texts *files) {
    struct gt_err err = {""};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < files->count; i++)
        status = gt_figures_read(&r->figures, files->text[i], &err);
    if (status == GEMMTUNE_OK && r->figures.files > 0)
        status = gt_figures_group(&r->figures, GT_FIGURES_BY_TYPE, &err);
    return status == GEMMTUNE_OK ? -1 : gt_die(GT_EXIT_INPUT, "%s", err.line);
}

/* The rows of the named devices, or of all, in the order of keys. Of two, one may be in no
 * database. */
static gt_status add_rows(struct gt_report_page *r, struct gt_db *db,
                          char name[2][PART_MAX], struct gt_err *err) {
    struct gt_view devices = {0};
    size_t index[2], found = 0;
    const bool two = name[1][0] != '\0';
    gt_status status = GEMMTUNE_OK;
    if (name[0][0] == '\0')
        return gt_report_add(r, db, NULL, err);
    status = gt_view_devices(&devices, db, err);
    for (int i = 0; status == GEMMTUNE_OK && i < 1 + two; i++) {
        status = gt_view_pick(&index[found], &devices, name[i], err);
        if (status == GEMMTUNE_OK)
            found++;
        else if (status == GEMMTUNE_ENOTFOUND)
            status = two ? GEMMTUNE_OK : GEMMTUNE_EINVAL;
    }
    const bool turned = found == 2 && index[0] > index[1];
    for (size_t i = 0; status == GEMMTUNE_OK && i < found; i++)
        status = gt_report_add(r, db, devices.device[index[turned ? 1 - i : i]].key, err);
    gt_view_clear(&devices);
    return status;
}

static int read_versus(struct gt_comparison *c, struct gt_report_page *r,
                       const struct values *v, char name[2][PART_MAX]) {
    char *names[] = {name[0], name[1]};
    r->versus = c;
    return gt_compare_load(c, &v->of, r->families, names);
}

/* ---- the command ---- */

static int write_page(struct gt_report_page *r, struct gt_db *db, char name[2][PART_MAX],
                      const char *path) {
    static struct gt_again again;
    struct gt_err err = {""};
    again = (struct gt_again){.db = db};
    gt_status status = db != NULL ? add_rows(r, db, name, &err) : GEMMTUNE_OK;
    if (status == GEMMTUNE_OK)
        status = gt_report_find(r, &err);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    status = gt_report_write(r, &again, path, &err);
    if (status == GEMMTUNE_OK)
        return GT_EXIT_OK;
    return gt_die(status == GEMMTUNE_EPARSE ? GT_EXIT_INPUT : GT_EXIT_FAILURE, "%s",
                  err.line);
}

static int report(struct gt_report_page *r, const struct values *v) {
    static char name[2][PART_MAX];
    struct gt_comparison comparison = {.families = NULL};
    struct gt_borrowed results = {.db = NULL};
    const char *db = v->of.db.count > 0 ? v->of.db.text[0] : NULL;
    int code = v->device != NULL ? split(name, v->device) : -1;
    if (code < 0 && v->of.device_files.count > 0 && name[1][0] == '\0')
        code = gt_die(GT_EXIT_USAGE, "report: --device-file describes one of two devices: "
                                     "--device A,B names them");
    if (code < 0)
        code = read_figures(r, &v->bench);
    if (code < 0 && name[1][0] != '\0')
        code = read_versus(&comparison, r, v, name);
    if (code < 0)
        code = gt_import_open(&results, db);
    if (code < 0)
        code = write_page(r, results.db, name, v->output);
    gt_import_return(&results);
    gt_compare_clear(&comparison);
    return code;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.output = NULL};
    static struct gt_report_page r;
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, NULL, 0, 0, &first);
    if (code < 0 && v.output == NULL)
        code = gt_die(GT_EXIT_USAGE, "report: -o FILE names the page");
    if (code < 0)
        code = gt_common_output(v.output);
    if (code < 0)
        code = gt_common_families(&r.families, &v.templates);
    r.pictures = v.pictures;
    if (code < 0)
        code = report(&r, &v);
    gt_report_clear(&r);
    return code;
}

const struct gt_cmd gt_cmd_report = {
    .name = "report",
    .operands = "-o FILE",
    .about = "Write a page of HTML about stored results: winners, rooflines, searches, "
             "other libraries and two devices, to look at without a network.",
    .options = options,
    .run = run,
};
