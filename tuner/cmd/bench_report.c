/* SPDX-License-Identifier: Apache-2.0 */
/* bench_report.c - sums up the lines of `gemmtune bench` as they arrive. */
#include "tuner/cmd/bench.h"
#include "tuner/cmd/session.h"
#include "tuner/lab/ratio.h"
#include "tuner/base/talk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- judging and counting ---- */

static struct gt_bench_entry enter(const struct gt_bench_report *r, size_t index,
                                   const struct gt_bench_line *line, gt_outcome outcome,
                                   const char *text) {
    struct gt_bench_entry e = {
        .item = &r->sweep->item[index], .line = line, .outcome = outcome, .text = text};
    for (int i = 0; i < GT_RIVALS; i++)
        e.wrong += line->rival[i].wrong;
    if (!text && !line->own.timed) {
        e.outcome = line->own.outcome;
        e.text = line->own.error;
    }
    if (e.text || line->best < 0)
        return e;
    e.base = &line->rival[line->best];
    e.base_name = gt_rivals[line->best]->name;
    e.ratio = e.base->ratio.median_ns;
    return e;
}

/* Judges a line. Against ourselves, each line first gets its own floor; the floor of its
 * types is the largest of these. */
static void judge(struct gt_bench_report *r, struct gt_bench_entry *e) {
    const size_t row = gt_dtype_index(gt_dtype_of(&e->item->problem));
    if (r->aa) {
        r->has_floor[row] = true;
        r->floor[row] = fmax(r->floor[row], gt_ratio_floor(&e->base->ratio));
    }
    e->floor = r->floor[row];
    e->verdict = gt_verdict_of(&e->base->ratio, e->floor);
}

static void count_clock(struct gt_bench_report *r, const struct gt_bench_line *line) {
    const int low = line->clock_low_mhz, high = line->clock_high_mhz;
    r->dropped += line->dropped;
    if (low > 0 && (r->clock_low_mhz == 0 || low < r->clock_low_mhz))
        r->clock_low_mhz = low;
    if (high > r->clock_high_mhz)
        r->clock_high_mhz = high;
}

static void count_entry(struct gt_bench_report *r, const struct gt_bench_entry *e) {
    const gemmtune_problem *p = &e->item->problem;
    const size_t row = gt_dtype_index(gt_dtype_of(p));
    r->done++;
    r->wrong_candidates += e->wrong;
    r->wrong_lines += e->wrong > 0;
    if (e->text) {
        r->wrong += e->outcome == GT_WRONG_RESULT;
        r->failed += e->outcome != GT_WRONG_RESULT;
        return;
    }
    r->seen[row] = true;
    count_clock(r, e->line);
    r->alone += e->base == NULL;
    if (!e->base)
        return;
    gt_tally_add(&r->all, e->verdict, e->ratio);
    gt_tally_add(&r->types[row], e->verdict, e->ratio);
    gt_tally_add(&r->shape[gt_shape_class_index(p)], e->verdict, e->ratio);
    if (e->verdict != GT_NOISY && (r->worst == 0 || e->ratio < r->worst)) {
        r->worst = e->ratio;
        snprintf(r->worst_problem, sizeof r->worst_problem, "%s", e->item->name);
    }
}

/* ---- one line ---- */

/* A rival that was requested by name must be there. Any other may be missing. */
bool gt_bench_hear_rivals(void *user, const struct gt_absence *why) {
    const struct gt_bench_report *r = user;
    bool go_on = true;
    if (r->store != NULL)
        gt_bench_store_versions(r->store, why);
    for (int i = 0; i < GT_RIVALS; i++) {
        if (!why[i].text[0] || (!r->by_name && why[i].foreign))
            continue;
        gt_talk("without %s: %s", gt_rivals[i]->name, why[i].text);
        go_on = go_on && !r->by_name;
    }
    return go_on;
}

void gt_bench_hear_floor(void *user, size_t row, double floor) {
    struct gt_bench_report *r = user;
    r->has_floor[row] = true;
    r->floor[row] = floor;
}

void gt_bench_print_head(const struct gt_device *d, const char *command, double workspace) {
    char key[GT_DEVICE_KEY_MAX];
    bool first = true;
    gt_device_key(d, key);
    (void)fputs("{", stdout);
    gt_json_text(&first, "gemmtune", gt_common_version());
    gt_json_text(&first, "command", command);
    gt_json_text(&first, "device", key);
    gt_json_text(&first, "name", d->name);
    gt_json_text(&first, "driver", d->driver);
    gt_json_text(&first, "compiler", d->compiler);
    gt_json_number(&first, "workspace", workspace);
    gt_json_name(&first, "lines");
    (void)fputs("[", stdout);
}

static void begin(struct gt_bench_report *r) {
    r->started = true;
    if (r->format.json)
        gt_bench_print_head(&r->device, r->command, r->workspace);
    else
        gt_bench_print_heading(r);
}

static void store(struct gt_bench_report *r, const struct gt_bench_entry *e) {
    struct gt_err err = {""};
    if (r->store == NULL || e->text != NULL || r->unstored != GEMMTUNE_OK)
        return;
    r->unstored = gt_bench_store_line(r->store, e->item->name, e->line, e->floor, &err);
    if (r->unstored != GEMMTUNE_OK)
        gt_talk("not stored, nor are the lines that follow: %s", err.line);
}

void gt_bench_hear_line(void *user, size_t index, const struct gt_bench_line *line,
                        gt_outcome outcome, const char *text) {
    struct gt_bench_report *r = user;
    struct gt_bench_entry e = enter(r, index, line, outcome, text);
    if (e.base)
        judge(r, &e);
    if (!r->started)
        begin(r);
    if (r->format.json)
        (void)fputs(r->done > 0 ? ",\n  " : "\n  ", stdout);
    count_entry(r, &e);
    gt_bench_print_line(r, &e);
    (void)fflush(stdout);
    store(r, &e);
}

void gt_bench_hear_waiting(void *user, size_t index, const struct gt_rival *rival,
                           double limit_s) {
    const struct gt_bench_report *r = user;
    gt_talk("%s: %s is compiling or setting up; it has %.0f s", r->sweep->item[index].name,
            rival->name, limit_s);
}

/* ---- the end ---- */

/* Lines that are summed up together. */
struct row {
    const char *name, *about;
    const struct gt_tally *tally;
};

static double mean_of(const struct gt_tally *t) {
    return floor(gt_tally_geomean(t) * 1e4 + 0.5) / 1e4;
}

#define SUMS(X)                                                                            \
    X("lines_of", "lines of", TEXT, 0, r->name, "all lines, a data type or a class")       \
    X("about", "", TAIL, 1, r->about, "shapes of the class")                               \
    X("lines", "lines", COUNT, 0, gt_tally_count(r->tally), "lines with a baseline")       \
    X("geomean", "geomean", COUNT, 0, mean_of(r->tally), "geometric mean of the ratios")   \
    X("wins", "wins", COUNT, 0, r->tally->wins, "lines on which our kernel is faster")     \
    X("ties", "ties", COUNT, 0, r->tally->ties, "lines on which neither is faster")        \
    X("losses", "losses", COUNT, 0, r->tally->losses,                                      \
      "lines on which the baseline is faster")                                             \
    X("noisy", "noisy", COUNT, 0, r->tally->noisy,                                         \
      "lines whose ratio is too uncertain for a verdict")
GT_COLUMNS(sum, struct row, SUMS)
const struct gt_form gt_bench_sum_form = GT_FORM(sum, "of the sums");

static void add(struct gt_table *t, const char *name, const char *about,
                const struct gt_tally *tally) {
    if (gt_tally_count(tally) + tally->noisy > 0)
        (void)add_sum(t, &(struct row){name, about, tally}, NULL);
}

static void add_sums(struct gt_table *t, const struct gt_bench_report *r) {
    const char *name, *about;
    add(t, "all", "", &r->all);
    for (size_t i = 0; i < GT_DTYPES; i++)
        add(t, gt_dtype_at(i)->name, "", &r->types[i]);
    for (size_t i = 0; (name = gt_shape_class_at(i, &about)) != NULL; i++)
        add(t, name, about, &r->shape[i]);
}

static void print_floors(const struct gt_bench_report *r, FILE *out) {
    for (size_t i = 0; i < GT_DTYPES; i++)
        if (r->has_floor[i])
            fprintf(out,
                    "noise floor, %s: ratios of equal kernels were within %.2f %% of 1\n",
                    gt_dtype_at(i)->name, 100 * r->floor[i]);
}

static void print_floors_json(const struct gt_bench_report *r) {
    bool first = true;
    (void)fputs("{", stdout);
    for (size_t i = 0; i < GT_DTYPES; i++)
        if (r->has_floor[i])
            gt_json_number(&first, gt_dtype_at(i)->name, r->floor[i]);
    (void)fputs("}", stdout);
}

/* Explains "% roof" where the peak is not the one that the type's name suggests. */
static void print_peaks(const struct gt_bench_report *r, FILE *out) {
    for (size_t i = 0; i < GT_DTYPES; i++) {
        const double peak = gt_device_peak(&r->device, gt_dtype_at(i));
        if (r->seen[i] && peak > 0)
            fprintf(out, "%% roof, %s: of %.4g T/s (%s) or the memory's %.4g GB/s\n",
                    gt_dtype_at(i)->name, peak / 1e12,
                    gt_device_peak_about(&r->device, gt_dtype_at(i)),
                    gt_device_bandwidth(&r->device) / 1e9);
    }
}

static void print_workspace(const struct gt_bench_report *r, FILE *out) {
    char buf[GT_CELL_MAX];
    if (isinf(r->workspace))
        fprintf(out, "workspace of each side: twice A, B and C, at least 64 MiB\n");
    else
        fprintf(out, "workspace of each side: %s\n",
                r->workspace > 0 ? gt_show_bytes(buf, r->workspace) : "none");
}

/* Vendors' libraries are asked for the strict arithmetic of these types. */
static void print_arithmetic(const struct gt_bench_report *r, FILE *out) {
    for (size_t i = 0; i < GT_DTYPES; i++)
        if (r->seen[i] && gt_math_is_own(gt_dtype_at(i)->math))
            fprintf(out, "%s: the baselines compute in strict %s\n", gt_dtype_at(i)->name,
                    gt_dtype_strict(gt_dtype_at(i))->name);
}

static void print_end(struct gt_bench_report *r) {
    struct gt_table *t = NULL;
    if (gt_table_create(&t, &gt_bench_sum_form, NULL) != GEMMTUNE_OK)
        return;
    add_sums(t, r);
    if (r->format.json) {
        bool first = false;
        (void)fputs("\n]", stdout);
        gt_json_text(&first, "worst", r->worst > 0 ? r->worst_problem : NULL);
        gt_json_number(&first, "worst_ratio", r->worst > 0 ? r->worst : NAN);
        gt_json_number(&first, "wrong_candidates", r->wrong_candidates);
        gt_json_number(&first, "wrong_lines", r->wrong_lines);
        gt_json_name(&first, "floors");
        print_floors_json(r);
        gt_json_name(&first, "sums");
        gt_table_json(t, stdout);
        (void)fputs("}\n", stdout);
    } else if (gt_tally_count(&r->all) > 0) {
        FILE *out = r->format.csv ? stderr : stdout;
        gt_talk_clear();
        (void)fputs("\n", out);
        gt_common_print_people(t, &r->format, out);
        fprintf(out, "worst: %s, %.3f\n", r->worst_problem, r->worst);
        print_floors(r, out);
        print_arithmetic(r, out);
        if (r->clock_high_mhz > 0)
            fprintf(out, "clock: %d to %d MHz, %d throttled round%s dropped\n",
                    r->clock_low_mhz, r->clock_high_mhz, r->dropped,
                    gt_text_plural(r->dropped));
    }
    if (!r->format.json && !r->format.csv) {
        print_workspace(r, stdout);
        print_peaks(r, stdout);
    }
    gt_table_destroy(t);
}

static int verdict(const struct gt_bench_report *r) {
    if (r->all.noisy > 0)
        gt_talk("%d of %zu line%s %s noisy: the interval of the ratio spans more than a "
                "factor of %g, so it is no verdict",
                r->all.noisy, r->done, gt_text_plural((int64_t)r->done),
                r->all.noisy == 1 ? "is" : "are", GT_RATIO_SPAN_MAX);
    if (r->wrong_candidates > 0)
        gt_talk("%d wrong candidate%s on %d line%s: their results failed our check, and "
                "they were left out",
                r->wrong_candidates, gt_text_plural(r->wrong_candidates), r->wrong_lines,
                gt_text_plural(r->wrong_lines));
    if (r->alone > 0)
        gt_talk("%d of %zu line%s %s no baseline", r->alone, r->done,
                gt_text_plural((int64_t)r->done), r->alone == 1 ? "has" : "have");
    if (r->wrong > 0)
        return gt_die(GT_EXIT_VERIFY, "%d of our results %s wrong", r->wrong,
                      r->wrong == 1 ? "is" : "are");
    if (r->done < r->sweep->count)
        return gt_die(gt_session_exit(GT_EXIT_FAILURE), "stopped after %zu of %zu line%s",
                      r->done, r->sweep->count, gt_text_plural((int64_t)r->sweep->count));
    if (r->failed > 0)
        return gt_die(GT_EXIT_FAILURE, "%d of %zu line%s failed", r->failed, r->done,
                      gt_text_plural((int64_t)r->done));
    return GT_EXIT_OK;
}

int gt_bench_end(struct gt_bench_report *r) {
    print_end(r);
    return verdict(r);
}
