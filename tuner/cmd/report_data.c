/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_data.c - the data of the page's script, in JSON. A row for each row of the table
 * of problems:
 *
 *     {"families": {"NAME": {"about": "...", "params": {"BM": "rows of C"}}},
 *      "forms": [["NAME", "BM BN"]],
 *      "rows": [{"d": "device", "n": "f32-nn-8x8x8", "f": operations, "r": roofline in ns,
 *                "k": [[form, "values", ns, low, high, flags, workspace]],  finalists
 *                "v": [["library", workspace, ratio, low, high, "verdict", ns of ours]],
 *                "t": [[form, "values", ns]],                  trials in their order
 *                "x": [["outcome", "error", "command"]],       failures
 *                "all": [trials, failures]}]}
 *
 * Points are values of a form, which is a family with the names of its parameters: names
 * would be most of the page. A trial that failed has 0 ns.
 */
#include "tuner/cmd/again.h"
#include "tuner/cmd/report.h"

#include "tuner/base/html.h"
#include "tuner/bench/bench_stats.h"
#include "tuner/bench/cublas_api.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* TRIALS: of the whole page; ROW_LEAST: of a problem, however many problems there are;
 * FAILURES, FAMILIES: of a problem. */
enum {
    FORMS_MAX = 256,
    FORM_MAX = 512,
    TRIALS = 40000,
    ROW_LEAST = 40,
    FAILURES = 12,
    FAMILIES = 64
};

struct form {
    char family[GT_NAME_MAX], names[FORM_MAX];
};

struct data {
    FILE *out;
    const struct gt_report_page *r;
    struct gt_again *again;
    struct form form[FORMS_MAX];
    size_t forms;
    size_t trials; /* that a problem may show */
};

static void number(FILE *out, double value) {
    if (isfinite(value))
        fprintf(out, "%.6g", value);
    else
        (void)fputs("null", out);
}

/* ---- points ---- */

/* Splits "BM=16 BN=32" into "BM BN" and "16 32". False where it is another
 * text, or long. */
static bool split(const char *point, char names[FORM_MAX], char values[FORM_MAX]) {
    size_t n = 0, v = 0;
    bool in_value = false;
    for (; *point != '\0'; point++) {
        if (n + 1 >= FORM_MAX || v + 1 >= FORM_MAX)
            return false;
        if (*point == '=')
            in_value = true;
        else if (*point == ' ') {
            names[n++] = values[v++] = ' ';
            in_value = false;
        } else if (in_value)
            values[v++] = *point;
        else
            names[n++] = *point;
    }
    names[n] = values[v] = '\0';
    return true;
}

static size_t form_of(struct data *d, const char *family, const char *names) {
    size_t i = 0;
    while (i < d->forms &&
           (strcmp(d->form[i].family, family) != 0 || strcmp(d->form[i].names, names) != 0))
        i++;
    if (i == d->forms && i < FORMS_MAX) {
        (void)snprintf(d->form[i].family, sizeof d->form[i].family, "%s", family);
        (void)snprintf(d->form[i].names, sizeof d->form[i].names, "%s", names);
        d->forms++;
    }
    return i;
}

/* "3,"16 32"": the form and the values. A point of no form has -1 and all of its text. */
static void put_point(struct data *d, const struct gt_view_row *row) {
    char names[FORM_MAX], values[FORM_MAX];
    const size_t form =
        split(row->point, names, values) ? form_of(d, row->family, names) : FORMS_MAX;
    if (form < FORMS_MAX) {
        fprintf(d->out, "%zu,", form);
        gt_html_json(d->out, values);
    } else {
        (void)fputs("-1,", d->out);
        gt_html_json(d->out, row->point);
    }
}

/* ---- a problem ---- */

enum { TIED = 1, VERIFIED = 2, OUTDATED = 4 };

static void put_finals(struct data *d, const struct gt_report_problem *p) {
    for (size_t i = 0; i < p->finals; i++) {
        const struct gt_view_row *row = p->winner.row + i;
        const bool outdated = gt_view_outdated(row, d->r->families) != NULL;
        fprintf(d->out, "%s[", i > 0 ? "," : "");
        put_point(d, row);
        fprintf(d->out, ",%.6g,%.6g,%.6g,%d,", row->median_ns, row->low_ns, row->high_ns,
                row->tied * TIED + row->verified * VERIFIED + outdated * OUTDATED);
        number(d->out, gt_winner_workspace(&p->winner, row));
        (void)fputc(']', d->out);
    }
}

static void put_duels(struct data *d, const struct gt_report_problem *p) {
    const struct gt_duel *duel = NULL;
    char version[32];
    if (!p->has_winner)
        return;
    const struct gt_view_row *row = p->winner.row;
    const struct gt_db_subject kernel = {row->device, row->problem, row->family, row->hash,
                                         row->point};
    const size_t count = gt_duels_of(&duel, &d->r->duels, gt_db_subject_key(&kernel));
    for (size_t i = 0; i < count; i++, duel++) {
        char name[GT_DB_LIBRARY_MAX + 40];
        gt_cublas_version(version, (size_t)duel->version);
        (void)snprintf(name, sizeof name, "%s %s", duel->library, version);
        fprintf(d->out, "%s[", i > 0 ? "," : "");
        gt_html_json(d->out, name);
        fprintf(d->out, ",%" PRId64 ",%.4g,%.4g,%.4g,", duel->workspace, duel->ratio,
                duel->ratio_low, duel->ratio_high);
        gt_html_json(d->out, gt_verdict_word(duel->verdict));
        fprintf(d->out, ",%.6g]", duel->ours_ns);
    }
}

static bool is_correct(const struct gt_view_row *row) {
    return row->state == GT_TRIAL_DONE && row->outcome == GT_CORRECT && row->median_ns > 0;
}

/* The least time of each family so far. */
struct bests {
    size_t count;
    struct {
        const char *family;
        double ns;
    } of[FAMILIES];
};

static bool is_best(struct bests *b, const char *family, double ns) {
    size_t i = 0;
    while (i < b->count && strcmp(b->of[i].family, family) != 0)
        i++;
    if (!(ns > 0) || i == FAMILIES || (i < b->count && ns >= b->of[i].ns))
        return false;
    b->count += i == b->count;
    b->of[i].family = family;
    b->of[i].ns = ns;
    return true;
}

/* The best trials of each family so far, among them the best of all, and an even part
 * of the others. */
static void put_trials(struct data *d, const struct gt_report_problem *p) {
    const size_t step = (p->trials + d->trials - 1) / d->trials;
    struct bests bests = {.count = 0};
    bool first = true;
    for (size_t i = 0; i < p->trials; i++) {
        const struct gt_view_row *row = &d->r->trials.row[p->trial + i];
        const double ns = is_correct(row) ? row->median_ns : 0;
        if (!is_best(&bests, row->family, ns) && i % step != 0)
            continue;
        (void)fputs(first ? "[" : ",[", d->out);
        put_point(d, row);
        fprintf(d->out, ",%.6g]", ns);
        first = false;
    }
}

static void put_failures(struct data *d, const struct gt_report_problem *p) {
    char command[GT_AGAIN_COMMAND_MAX];
    int count = 0;
    for (size_t i = 0; i < p->trials && count < FAILURES; i++) {
        const struct gt_view_row *row = &d->r->trials.row[p->trial + i];
        if (row->state == GT_TRIAL_DONE && row->outcome == GT_CORRECT)
            continue;
        gt_again_command(command, d->again, row);
        (void)fputs(count++ > 0 ? ",[" : "[", d->out);
        gt_html_json(d->out, gt_view_word(row));
        (void)fputc(',', d->out);
        gt_html_json(d->out, row->error);
        (void)fputc(',', d->out);
        gt_html_json(d->out, command);
        (void)fputc(']', d->out);
    }
}

static void put_row(struct data *d, const struct gt_report_problem *p) {
    (void)fputs("{\"d\":", d->out);
    gt_html_json(d->out, p->device);
    (void)fputs(",\"n\":", d->out);
    gt_html_json(d->out, p->name);
    fprintf(d->out, ",\"f\":%.6g,\"r\":%.6g,\"k\":[", p->flops, p->roofline_ns);
    put_finals(d, p);
    (void)fputs("],\"v\":[", d->out);
    put_duels(d, p);
    if (p->trials > 0) {
        (void)fputs("],\"t\":[", d->out);
        put_trials(d, p);
        (void)fputs("],\"x\":[", d->out);
        put_failures(d, p);
        fprintf(d->out, "],\"all\":[%zu,%zu]}", p->trials, p->trials - p->correct);
    } else {
        (void)fputs("]}", d->out);
    }
}

/* ---- families ---- */

static void put_family(FILE *out, const struct gt_family *f) {
    bool first = true;
    gt_html_json(out, f->name);
    (void)fputs(":{\"about\":", out);
    gt_html_json(out, f->about);
    (void)fputs(",\"params\":{", out);
    for (int i = 0; i < f->param_count; i++) {
        if (f->param[i].about == NULL)
            continue;
        (void)fputs(first ? "" : ",", out);
        gt_html_json(out, f->param[i].name);
        (void)fputc(':', out);
        gt_html_json(out, f->param[i].about);
        first = false;
    }
    (void)fputs("}}", out);
}

static void put_families(const struct data *d) {
    bool first = true;
    for (size_t i = 0; i < d->forms; i++) {
        const struct gt_family *f = gt_families_find(d->r->families, d->form[i].family);
        size_t before = 0;
        while (before < i && strcmp(d->form[before].family, d->form[i].family) != 0)
            before++;
        if (f == NULL || before < i)
            continue;
        (void)fputs(first ? "" : ",\n", d->out);
        put_family(d->out, f);
        first = false;
    }
}

static void put_forms(const struct data *d) {
    for (size_t i = 0; i < d->forms; i++) {
        (void)fputs(i > 0 ? ",\n[" : "[", d->out);
        gt_html_json(d->out, d->form[i].family);
        (void)fputc(',', d->out);
        gt_html_json(d->out, d->form[i].names);
        (void)fputc(']', d->out);
    }
}

void gt_report_data(FILE *out, const struct gt_report_page *r, struct gt_again *again) {
    static struct data d;
    size_t tried = 0;
    d = (struct data){.out = out, .r = r, .again = again};
    for (size_t i = 0; i < r->count; i++)
        tried += r->problem[i].trials > 0;
    d.trials = tried > 0 && TRIALS / tried > ROW_LEAST ? TRIALS / tried : ROW_LEAST;
    (void)fputs("{\"rows\":[", out);
    for (size_t i = 0; i < r->count; i++) {
        (void)fputs(i > 0 ? ",\n" : "\n", out);
        put_row(&d, &r->problem[i]);
    }
    (void)fputs("],\n\"forms\":[", out);
    put_forms(&d);
    (void)fputs("],\n\"families\":{", out);
    put_families(&d);
    (void)fputs("}}\n", out);
}
