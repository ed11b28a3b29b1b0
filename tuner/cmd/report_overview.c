/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_overview.c - sentences about the rows. Under each sentence are the rows
 * that it speaks of, the most important ones first.
 */
#include "tuner/cmd/report.h"

#include "core/text.h"
#include "tuner/base/html.h"
#include "tuner/bench/bench_stats.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 12, SENTENCE_MAX = 600 };

/* The rows of a sentence: those with the least keys. */
struct shown {
    size_t count; /* of all */
    struct {
        double key;
        const struct gt_report_problem *p;
        char note[160];
    } row[ROWS];
    size_t rows;
};

static void keep(struct shown *s, const struct gt_report_problem *p, double key,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static void keep(struct shown *s, const struct gt_report_problem *p, double key,
                 const char *fmt, ...) {
    size_t at = s->rows < ROWS ? s->rows++ : ROWS;
    va_list args;
    s->count++;
    while (at > 0 && key < s->row[at - 1].key) {
        if (at < ROWS)
            s->row[at] = s->row[at - 1];
        at--;
    }
    if (at == ROWS)
        return;
    s->row[at].key = key;
    s->row[at].p = p;
    va_start(args, fmt);
    (void)vsnprintf(s->row[at].note, sizeof s->row[at].note, fmt, args);
    va_end(args);
}

static void say(FILE *out, const struct shown *s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void say(FILE *out, const struct shown *s, const char *fmt, ...) {
    char text[SENTENCE_MAX];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)fputs(s->rows > 0 ? "<details><summary>" : "<p>", out);
    gt_html_text(out, text);
    if (s->rows == 0) {
        (void)fputs("</p>\n", out);
        return;
    }
    (void)fputs("</summary><ul>", out);
    for (size_t i = 0; i < s->rows; i++) {
        (void)fputs("<li><code>", out);
        gt_html_text(out, s->row[i].p->name);
        (void)fputs("</code> ", out);
        gt_html_text(out, s->row[i].note);
    }
    if (s->count > s->rows)
        fprintf(out, "<li>and %zu more", s->count - s->rows);
    (void)fputs("</ul></details>\n", out);
}

static const char *plural(size_t count) {
    return gt_text_plural((int64_t)count);
}

/* ---- sentences ---- */

static void say_devices(FILE *out, const struct gt_report_page *r) {
    const struct shown none = {0};
    for (size_t i = 0; i < r->records.device_count; i++) {
        const struct gt_view_device *d = &r->records.device[i];
        size_t problems = 0, winners = 0, trials = 0;
        for (size_t j = 0; j < r->count; j++)
            if (r->problem[j].place == i) {
                problems++;
                winners += r->problem[j].has_winner;
                trials += r->problem[j].trials;
            }
        if (problems > 0)
            say(out, &none,
                "%s (%s): %zu problem%s with a kernel, %zu without one, %zu trial%s.",
                d->device.name, d->key, winners, plural(winners), problems - winners,
                trials, plural(trials));
    }
}

static void say_families(FILE *out, const struct gt_report_page *r) {
    struct shown s = {0};
    struct {
        const char *name;
        size_t wins;
    } family[64] = {{0}};
    size_t families = 0;
    char text[400] = "";
    int len = 0;
    for (size_t i = 0; i < r->count; i++) {
        size_t j = 0;
        if (!r->problem[i].has_winner)
            continue;
        const char *name = r->problem[i].winner.row->family;
        while (j < families && strcmp(family[j].name, name) != 0)
            j++;
        if (j == 64)
            continue;
        if (j == families)
            family[families++].name = name;
        family[j].wins++;
    }
    for (int round = 0; round < 6; round++) {
        size_t most = 0;
        for (size_t j = 1; j < families; j++)
            if (family[j].wins > family[most].wins)
                most = j;
        if (families == 0 || family[most].wins == 0)
            break;
        char word[GT_NAME_MAX + 32];
        (void)snprintf(word, sizeof word, "%s%s %zu", len > 0 ? ", " : "",
                       family[most].name, family[most].wins);
        len = gt_text_put(text, sizeof text, len, word);
        family[most].wins = 0;
    }
    if (families > 0)
        say(out, &s, "Kernels of %zu famil%s win. The most wins: %s.", families,
            families == 1 ? "y" : "ies", text);
}

/* One sentence for each verdict, and the mean. */
static void say_vendor(FILE *out, const struct gt_report_page *r) {
    static const struct {
        enum gt_verdict verdict;
        double sign; /* of the key: the largest gains or the largest losses first */
        const char *words;
    } kinds[] = {{GT_WIN, -1, "faster than the vendor's library"},
                 {GT_TIE, 1, "as fast as the vendor's library, within what can be told"},
                 {GT_LOSS, 1, "slower than the vendor's library"},
                 {GT_NOISY, 1, "measured beside the vendor's library without a verdict"}};
    struct gt_tally tally = {0};
    const struct shown none = {0};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct shown s = {0};
        for (size_t i = 0; i < r->count; i++) {
            const struct gt_report_problem *p = &r->problem[i];
            const struct gt_duel *duel = p->has_winner ? p->winner.duel : NULL;
            if (duel == NULL || duel->verdict != kinds[k].verdict)
                continue;
            gt_tally_add(&tally, duel->verdict, duel->ratio);
            keep(&s, p, kinds[k].sign * duel->ratio, "%.2f times as fast as %s",
                 duel->ratio, p->winner.vendor);
        }
        if (s.count > 0)
            say(out, &s, "%zu problem%s %s %s, each side with 32 MiB of workspace.",
                s.count, plural(s.count), s.count == 1 ? "is" : "are", kinds[k].words);
    }
    if (gt_tally_count(&tally) > 0)
        say(out, &none,
            "The vendor's time over ours is %.3f in the geometric mean of %d problems with "
            "a verdict.",
            gt_tally_geomean(&tally), gt_tally_count(&tally));
    else if (r->count > 0 && r->figures.files == 0)
        say(out, &none,
            "No kernel was measured beside a vendor's library: gemmtune tune --against, or "
            "bench --store, does that.");
}

/* The lines of `bench`, by type: the mean, and how many are won and lost. */
static void say_figures(FILE *out, const struct gt_report_page *r) {
    const struct shown none = {0};
    char rivals[160];
    gt_figures_rivals(rivals, sizeof rivals, &r->figures);
    for (size_t i = 0; i < r->figures.groups; i++) {
        const struct gt_figure_group *g = &r->figures.group[i];
        if (g->worst != NULL)
            say(out, &none,
                "%s beside %s: %.2f times as fast in the geometric mean; of %d problems %d "
                "faster, %d ties, %d slower; the least %.3f (%s).",
                g->name, rivals, gt_tally_geomean(&g->tally), gt_tally_count(&g->tally),
                g->tally.wins, g->tally.ties, g->tally.losses, g->worst->ratio,
                g->worst->problem);
    }
}

static void say_roofline(FILE *out, const struct gt_report_page *r) {
    struct shown near = {0}, far = {0};
    for (size_t i = 0; i < r->count; i++) {
        const struct gt_report_problem *p = &r->problem[i];
        const double share = gt_report_share(p);
        char ns[GT_CELL_MAX];
        if (!isfinite(share))
            continue;
        (void)gt_show_ns(ns, p->winner.row->median_ns);
        if (share >= 0.8)
            keep(&near, p, -share, "%.0f %% of the roofline, %s", 100 * share, ns);
        else if (share < 0.3 && p->winner.row->median_ns >= 20e3)
            keep(&far, p, share, "%.0f %% of the roofline, %s", 100 * share, ns);
    }
    if (near.count > 0)
        say(out, &near, "%zu kernel%s 80 %% or more of the roofline.", near.count,
            near.count == 1 ? " has" : "s have");
    if (far.count > 0)
        say(out, &far,
            "%zu kernel%s of 20 us or more %s less than 30 %% of the roofline: there may "
            "be more to gain.",
            far.count, plural(far.count), far.count == 1 ? "has" : "have");
}

static void say_workspace(FILE *out, const struct gt_report_page *r) {
    struct shown s = {0};
    for (size_t i = 0; i < r->count; i++) {
        const struct gt_report_problem *p = &r->problem[i];
        char bytes[GT_CELL_MAX];
        if (!p->has_winner || !(p->workspace > 0))
            continue;
        const double slower = p->without / p->winner.row->median_ns;
        (void)gt_show_bytes(bytes, p->workspace);
        if (isfinite(slower))
            keep(&s, p, -slower, "needs %s, and takes %.2f times as long without", bytes,
                 slower);
        else
            keep(&s, p, 0, "needs %s; no kernel without a workspace is stored", bytes);
    }
    if (s.count > 0)
        say(out, &s, "%zu winner%s workspace.", s.count,
            s.count == 1 ? " needs" : "s need");
}

static void say_doubts(FILE *out, const struct gt_report_page *r) {
    struct shown tied = {0}, wide = {0}, old = {0}, foreign = {0};
    for (size_t i = 0; i < r->count; i++) {
        const struct gt_report_problem *p = &r->problem[i];
        if (!p->has_winner)
            continue;
        const struct gt_view_row *row = p->winner.row;
        const double width = row->high_ns > 0 && row->median_ns > 0
                                 ? (row->high_ns - row->low_ns) / row->median_ns
                                 : 0;
        const char *status = gt_winner_status(&p->winner);
        if (row->tied)
            keep(&tied, p, 0, "%s", row->family);
        if (width > 0.1)
            keep(&wide, p, -width, "the interval is %.0f %% of the median", 100 * width);
        if (gt_view_outdated(row, r->families) != NULL)
            keep(&old, p, 0, "%s: %s", row->family, status);
        else if (!row->verified)
            keep(&foreign, p, 0, "from %s", row->provenance);
    }
    if (tied.count > 0)
        say(out, &tied, "%zu winner%s not proven faster than the next kernel.", tied.count,
            tied.count == 1 ? " is" : "s are");
    if (wide.count > 0)
        say(out, &wide,
            "%zu time%s uncertain by more than 10 %%: gemmtune tune --again measures anew.",
            wide.count, wide.count == 1 ? " is" : "s are");
    if (old.count > 0)
        say(out, &old, "%zu winner%s of older kernel sources: gemmtune tune searches anew.",
            old.count, old.count == 1 ? " is" : "s are");
    if (foreign.count > 0)
        say(out, &foreign,
            "%zu winner%s imported and not verified on the machine of this database: "
            "gemmtune verify does that.",
            foreign.count, foreign.count == 1 ? " was" : "s were");
}

static void say_failures(FILE *out, const struct gt_report_page *r) {
    struct shown failed = {0}, without = {0};
    size_t failures = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct gt_report_problem *p = &r->problem[i];
        const size_t count = p->trials - p->correct;
        failures += count;
        if (count > 0)
            keep(&failed, p, -(double)count, "%zu of %zu", count, p->trials);
        if (!p->has_winner)
            keep(&without, p, 0, "%zu trial%s, %zu correct", p->trials, plural(p->trials),
                 p->correct);
    }
    if (without.count > 0)
        say(out, &without, "%zu problem%s no winner yet.", without.count,
            without.count == 1 ? " has" : "s have");
    if (failures > 0)
        say(out, &failed,
            "%zu trial%s no kernel that counts (wrong, not built, too slow, or not ended).",
            failures, failures == 1 ? " gave" : "s gave");
}

void gt_report_overview(FILE *out, const struct gt_report_page *r) {
    say_devices(out, r);
    say_families(out, r);
    say_vendor(out, r);
    say_figures(out, r);
    say_roofline(out, r);
    say_workspace(out, r);
    say_doubts(out, r);
    say_failures(out, r);
}
