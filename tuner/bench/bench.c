/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - see bench.h. */
#include "tuner/bench/bench.h"

#include "tuner/bench/player.h"
#include "tuner/lab/ratio.h"
#include "tuner/lab/lab_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* for a counted sample, and for one that only chooses a variant */
static const double sample_ns = 1e6, brief_ns = 2e5;

enum {
    ROUNDS_LEAST = 6,
    BRIEF_SAMPLES = 3 /* samples that choose among a rival's variants */
};

/* A side that takes part: ours, or a rival with its chosen variant. */
struct contender {
    struct gt_player player;
    int index; /* index in gt_rivals; -1 for ours */
    struct gt_bench_side *side;
};

struct gt_bench {
    struct gt_lab *lab;
    struct gt_bench_workspace workspace;
    struct gt_bench_options options;
    void *own, *rival[GT_RIVALS]; /* NULL: not available */
    /* a wrong kernel may have written anywhere, even to references */
    bool spoiled;
};

/* ---- opening ---- */

static void destroy(struct gt_bench *b) {
    if (!b)
        return;
    for (int i = 0; i < GT_RIVALS; i++)
        if (b->rival[i])
            gt_rivals[i]->close(b->rival[i]);
    if (b->own)
        gt_rival_own.close(b->own);
    gt_bench_workspace_release(&b->workspace);
    gt_lab_destroy(b->lab);
    free(b);
}

/* Says who runs now: index in gt_rivals, or -1 for ours. */
static void set_active(struct gt_bench *b, int who) {
    if (!b->options.active)
        return;
    atomic_store(&b->options.active->who, who);
    atomic_fetch_add(&b->options.active->entrances, 1);
}

/* Whether a rival runs on the device at all: some compute nothing but epilogues. */
static bool runs_on(const struct gt_rival *r, const struct gt_device *d) {
    static const char *const names[] = {"f32-nn-1x1x1", "f32-nn-1x1x1,epi=relu"};
    bool runs = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        gemmtune_problem p;
        runs = runs || (gt_problem_from_name(&p, names[i], NULL) == GEMMTUNE_OK &&
                        r->serves(d, &p));
    }
    return runs;
}

/* A rival that cannot be opened is only missing. */
static void open_rivals(struct gt_bench *b, const struct gt_rival_setup *setup,
                        struct gt_absence why[GT_RIVALS]) {
    for (int i = 0; i < GT_RIVALS; i++) {
        struct gt_err err = {""};
        why[i] = (struct gt_absence){.foreign = false};
        if (!(b->options.rivals & 1u << i))
            continue;
        set_active(b, i);
        why[i].foreign = !runs_on(gt_rivals[i], gt_lab_device(b->lab));
        if (why[i].foreign)
            (void)gt_fail(&err, GEMMTUNE_EUNSUPPORTED, "it does not run on this device");
        else
            (void)gt_rivals[i]->open(&b->rival[i], setup, &err);
        if (b->rival[i] != NULL && gt_rivals[i]->version != NULL)
            why[i].version = gt_rivals[i]->version(b->rival[i]);
        snprintf(why[i].text, sizeof why[i].text, "%s", err.line);
    }
    set_active(b, -1);
}

gt_status gt_bench_create(struct gt_bench **out, const struct gt_device *d,
                          const struct gt_bench_options *options,
                          struct gt_absence why[GT_RIVALS], struct gt_err *err) {
    struct gt_bench *b = calloc(1, sizeof *b);
    *out = NULL;
    if (!b)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a comparison");
    b->options = *options;
    gt_status status = gt_lab_create(&b->lab, d, err);
    if (status == GEMMTUNE_OK) {
        b->lab->rounds_sum = true;
        b->lab->spread = options->spread;
    }
    b->workspace.rig = b->lab ? b->lab->rig : NULL;
    b->workspace.limit = options->workspace;
    const struct gt_rival_setup setup = {.rig = b->workspace.rig,
                                         .lab = b->lab,
                                         .db = options->db,
                                         .workspace = &b->workspace};
    if (status == GEMMTUNE_OK)
        status = gt_rival_own.open(&b->own, &setup, err);
    if (status != GEMMTUNE_OK) {
        destroy(b);
        return status;
    }
    open_rivals(b, &setup, why);
    *out = b;
    return GEMMTUNE_OK;
}

/* ---- one player ---- */

static void set_failure(struct gt_bench_side *side, gt_outcome outcome, const char *text) {
    side->timed = false;
    side->outcome = outcome;
    snprintf(side->error, sizeof side->error, "%s", text);
}

static gt_outcome outcome_of(gt_status status) {
    return status == GEMMTUNE_EUNSUPPORTED ? GT_CONSTRAINTS
           : status == GEMMTUNE_ENOMEM     ? GT_OUT_OF_MEMORY
           : status == GEMMTUNE_EBUILD     ? GT_COMPILE
                                           : GT_LAUNCH;
}

/* Notes why the present variant is left out. A wrong result is a reason that none of
 * another variant replaces. */
static void leave_out(struct gt_bench_side *side, gt_outcome outcome, const char *text) {
    side->wrong += outcome == GT_WRONG_RESULT;
    if (outcome == GT_WRONG_RESULT || side->outcome != GT_WRONG_RESULT)
        set_failure(side, outcome, text);
}

/* Checks the present variant on `cases` of the two cases, exact and random data, from
 * `first` on. A failure is noted in the side. */
static bool is_right(struct gt_bench *b, struct contender *p, int first, int cases) {
    const struct gt_product product = gt_player_product(&p->player);
    struct gt_err err = {""};
    char why[GT_VERDICT_MAX];
    bool right = false;
    set_active(b, p->index);
    const gt_status status = gt_check_product(&right, why, b->lab->checker,
                                              b->lab->timed + first, &product, cases, &err);
    if (status != GEMMTUNE_OK)
        leave_out(p->side, outcome_of(status), err.line);
    else if (!right)
        leave_out(p->side, GT_WRONG_RESULT, why);
    b->spoiled = b->spoiled || (status == GEMMTUNE_OK && !right);
    return status == GEMMTUNE_OK && right;
}

/* The shortest of a few short samples. */
static gt_status time_briefly(double *ns, struct gt_bench *b, struct contender *p,
                              struct gt_err *err) {
    double now = 0;
    *ns = 0;
    gt_status status =
        gt_player_start(&p->player, b->lab, brief_ns, b->options.budget_s * 1e9, err);
    for (int i = 0; status == GEMMTUNE_OK && i < BRIEF_SAMPLES; i++) {
        status = gt_player_sample(&p->player, &now, err);
        *ns = i == 0 || now < *ns ? now : *ns;
    }
    gt_player_stop(&p->player);
    return status;
}

/* Times a default that is wrong by our bound. A program that is content with it waits no
 * longer than this. */
static void time_wrong_default(struct gt_bench *b, struct contender *p) {
    double ns;
    if (p->player.variant == 0 && p->side->wrong > 0 &&
        time_briefly(&ns, b, p, NULL) == GEMMTUNE_OK)
        p->side->wrong_default_ns = ns;
}

/* Chooses the fastest correct variant. False when none is correct. */
static bool choose_variant(struct gt_bench *b, struct contender *p, int variants) {
    struct gt_err err = {""};
    double best_ns = 0, ns = 0;
    int best = -1;
    for (p->player.variant = 0; p->player.variant < variants; p->player.variant++) {
        if (!is_right(b, p, 0, 2)) {
            time_wrong_default(b, p);
            continue;
        }
        const gt_status status = variants > 1 ? time_briefly(&ns, b, p, &err) : GEMMTUNE_OK;
        if (status != GEMMTUNE_OK)
            leave_out(p->side, outcome_of(status), err.line);
        else if (best < 0 || ns < best_ns) {
            best = p->player.variant;
            best_ns = ns;
        }
    }
    p->player.variant = best;
    return best >= 0;
}

/* Prepares a variant that is correct and warm. False when the player cannot take part. */
static bool get_ready(struct gt_bench *b, struct contender *p,
                      const gemmtune_problem *problem) {
    struct gt_err err = {""};
    int variants = 0;
    set_active(b, p->index);
    gt_status status = gt_bench_workspace_fit(&b->workspace, problem, &err);
    if (status == GEMMTUNE_OK)
        status = p->player.who->prepare(&variants, p->player.self, problem, &err);
    if (status == GEMMTUNE_OK && !choose_variant(b, p, variants))
        return false;
    if (status == GEMMTUNE_OK)
        status =
            gt_player_start(&p->player, b->lab, sample_ns, b->options.budget_s * 1e9, &err);
    if (status != GEMMTUNE_OK) {
        set_failure(p->side, outcome_of(status), err.line);
        return false;
    }
    p->side->timed = true;
    p->side->outcome = GT_CORRECT;
    p->player.who->describe(p->side->what, p->player.self, p->player.variant);
    if (p->player.who->first_s != NULL)
        p->side->first_s = p->player.who->first_s(p->player.self);
    return true;
}

/* ---- rounds ---- */

static void rest(int ms) {
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    if (ms > 0)
        (void)nanosleep(&time, NULL);
}

/* Times one side's turn. A power limit acts on the mean over many samples, so sides that
 * change after every sample share one clock, whichever of them lowers it. With longer turns
 * each side has its own clock, and only the second half of a turn counts. */
static gt_status play_turn(double *ns, double *spent_s, const struct gt_bench *b,
                           struct contender *p, struct gt_err *err) {
    double spent = 0, sum = 0, now = 0;
    int count = 0;
    gt_status status = GEMMTUNE_OK;
    do {
        status = gt_player_sample(&p->player, &now, err);
        spent += now * gt_player_launches(&p->player) * 1e-9;
        if (spent > b->options.turn_s / 2) {
            sum += now;
            count++;
        }
    } while (status == GEMMTUNE_OK && now > 0 && spent < b->options.turn_s);
    *ns = count > 0 ? sum / count : now;
    *spent_s += spent;
    rest(p->player.who->rest_ms);
    return status;
}

/* Times each player once, forwards in one round and backwards in the next (A B B A). *clean
 * is false when the clock was throttled meanwhile. */
static gt_status play_round(double ns[], double *spent_s, bool *clean,
                            struct gt_bench_line *line, struct gt_bench *b,
                            struct contender *p, int count, int round, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    *clean = true;
    for (int i = 0; status == GEMMTUNE_OK && i < count; i++) {
        const int at = round % 2 ? count - 1 - i : i;
        int mhz = 0;
        bool throttled = false;
        set_active(b, p[at].index);
        status = play_turn(&ns[at], spent_s, b, &p[at], err);
        gt_rig_head(b->lab->rig)->ops->clock(b->lab->rig, &mhz, &throttled);
        *clean = *clean && !throttled;
        if (mhz > 0 && (line->clock_low_mhz == 0 || mhz < line->clock_low_mhz))
            line->clock_low_mhz = mhz;
        if (mhz > line->clock_high_mhz)
            line->clock_high_mhz = mhz;
    }
    return status;
}

static void keep(struct contender *p, double ns) {
    struct gt_measurement *m = &p->side->time;
    m->launches = gt_player_launches(&p->player);
    m->sample_ns[m->samples++] = (float)ns;
}

static gt_status play_rounds(struct gt_bench_line *line, struct gt_bench *b,
                             struct contender *p, int count, struct gt_err *err) {
    double ns[GT_RIVALS + 1], spent_s = 0;
    const struct gt_bench_options *o = &b->options;
    gt_status status = GEMMTUNE_OK;
    bool clean = true;
    for (int kept = 0, round = 0; status == GEMMTUNE_OK && kept < o->rounds; round++) {
        if (kept >= ROUNDS_LEAST && spent_s > o->budget_s)
            break;
        status = play_round(ns, &spent_s, &clean, line, b, p, count, round, err);
        if (!clean && line->dropped < GT_THROTTLED_MAX) {
            line->dropped++;
            continue;
        }
        if (o->turn_s > 0 && round == 0)
            /* the clock rises first after the device was idle */
            continue;
        for (int i = 0; status == GEMMTUNE_OK && i < count; i++)
            keep(&p[i], ns[i]);
        kept++;
    }
    return status;
}

/* Rounds that are made whatever the budget: ROUNDS_LEAST, the first one and the dropped
 * ones. One more may begin within the budget. */
double gt_bench_seconds(const struct gt_bench_options *o) {
    return o->budget_s +
           (ROUNDS_LEAST + GT_THROTTLED_MAX + 2) * (GT_RIVALS + 1) * o->turn_s;
}

/* ---- a line ---- */

static void conclude(struct gt_bench_line *line) {
    struct gt_bench_side *own = &line->own;
    gt_measurement_summarize(&own->time);
    for (int i = 0; i < GT_RIVALS; i++) {
        struct gt_bench_side *r = &line->rival[i];
        if (!r->timed)
            continue;
        gt_measurement_summarize(&r->time);
        gt_ratio_of(&r->ratio, &r->time, &own->time);
        if (gt_rivals[i]->is_way)
            continue;
        if (line->best < 0 || r->time.median_ns < line->rival[line->best].time.median_ns)
            line->best = i;
    }
}

/* Prepares the players: ours first, then the rivals that are available, serve the problem
 * and are correct. An error means that the device can no longer be used. */
static gt_status gather(int *count, struct contender *p, struct gt_bench_line *line,
                        struct gt_bench *b, const gemmtune_problem *problem,
                        unsigned rivals, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    *count = 0;
    *p = (struct contender){
        .player = {.who = &gt_rival_own, .self = b->own}, .index = -1, .side = &line->own};
    if (!get_ready(b, p, problem))
        return GEMMTUNE_OK;
    gt_rival_own_kernel(&line->kernel, b->own);
    line->workspace = (int64_t)b->workspace.bytes;
    ++*count;
    for (int i = 0; status == GEMMTUNE_OK && i < GT_RIVALS; i++) {
        const struct gt_rival *r = gt_rivals[i];
        if (!b->rival[i] || !(rivals & 1u << i) ||
            !r->serves(gt_lab_device(b->lab), problem))
            continue;
        p[*count] = (struct contender){
            .player = {.who = r, .self = b->rival[i]}, .index = i, .side = &line->rival[i]};
        if (get_ready(b, &p[*count], problem))
            ++*count;
        else
            status = gt_rig_head(b->lab->rig)->ops->finish(b->lab->rig, err);
    }
    return status;
}

/* Checks again after timing. When a kernel was wrong, all cases are checked, ours first,
 * since that kernel may have written anywhere. */
static void check_again(struct gt_bench *b, struct contender *p, int count) {
    for (int i = 0; i < count; i++)
        (void)is_right(b, &p[i], b->spoiled ? 0 : 1, b->spoiled ? 2 : 1);
}

gt_status gt_bench_measure(struct gt_bench_line *out, struct gt_bench *b,
                           const gemmtune_problem *p, unsigned rivals, struct gt_err *err) {
    struct contender contender[GT_RIVALS + 1] = {{.index = 0}};
    struct gt_err lost = {""};
    int count = 0;
    memset(out, 0, sizeof *out);
    out->best = -1;
    set_active(b, -1);
    gt_status status = gt_lab_setup(b->lab, p, b->options.seed, err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_setup_inputs(b->lab, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gather(&count, contender, out, b, p, rivals, err);
    if (status == GEMMTUNE_OK && count > 0)
        status = play_rounds(out, b, contender, count, err);
    if (status == GEMMTUNE_OK)
        check_again(b, contender, count);
    for (int i = 0; i < count; i++)
        gt_player_stop(&contender[i].player);
    conclude(out);
    /* A failed launch may have lost the context. */
    out->fatal = b->spoiled || gt_rig_head(b->lab->rig)->ops->finish(b->lab->rig, &lost);
    return status;
}
