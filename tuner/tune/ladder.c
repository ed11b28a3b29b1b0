/* SPDX-License-Identifier: Apache-2.0 */
/* ladder.c - see ladder.h. */
#include "tuner/tune/ladder.h"

#include "tuner/lab/cpu_time.h"
#include "tuner/lab/race.h"
#include "tuner/base/view.h"

#include <stdio.h>
#include <string.h>

/* The kinds of rung. */
enum kind { CPU_LOOP, CPU_BLAS, FAMILY, TUNED };

/* A rung during the climb: the kernels that may stand on it, and the best stored trial
 * among them. */
struct place {
    enum kind kind;
    const struct gt_family *family; /* set for FAMILY */
    const struct gt_rung *rung;     /* of a FAMILY; NULL: the family has none of its own */
    struct gt_candidate candidate;  /* no kernel stands here while its family is "" */
    double ns;                      /* of the stored trial; 0: there is none */
};

struct places {
    int count;
    struct place at[GT_LADDER_MAX];
};

static void add_place(struct places *p, struct place place) {
    if (p->count < GT_LADDER_MAX)
        p->at[p->count++] = place;
}

/* Families are listed by rank, and the last one makes the lowest rung. One rung is kept for
 * the tuned best. */
static void add_rungs(struct places *p, const struct gt_families *families) {
    for (size_t i = gt_families_count(families); i-- > 0;) {
        const struct gt_family *f = gt_families_at(families, i);
        for (int r = 0; r < f->rung_count && p->count < GT_LADDER_MAX - 1; r++)
            add_place(p, (struct place){.kind = FAMILY, .family = f, .rung = &f->rung[r]});
    }
}

/* The same for families without rungs of their own: each gets one of its name. */
static void add_others(struct places *p, const struct gt_families *families) {
    for (size_t i = gt_families_count(families); i-- > 0;) {
        const struct gt_family *f = gt_families_at(families, i);
        if (f->rung_count == 0 && p->count < GT_LADDER_MAX - 1)
            add_place(p, (struct place){.kind = FAMILY, .family = f});
    }
}

/* `others`: whether families without rungs of their own stand there too. */
static void find_places(struct places *p, const struct gt_families *families, bool others) {
    memset(p, 0, sizeof *p);
    add_place(p, (struct place){.kind = CPU_LOOP});
    add_place(p, (struct place){.kind = CPU_BLAS});
    add_rungs(p, families);
    if (others)
        add_others(p, families);
    add_place(p, (struct place){.kind = TUNED});
}

static const char *name_of(const struct place *place) {
    static const char *const names[] = {
        [CPU_LOOP] = "cpu loop", [CPU_BLAS] = "cpu blas", [TUNED] = "tuned"};
    if (place->kind != FAMILY)
        return names[place->kind];
    return place->rung != NULL ? place->rung->name : place->family->name;
}

static bool is_baseline(const struct place *place) {
    return place->kind == FAMILY && place->family->role == GT_ROLE_BASELINE;
}

static void name_rungs(struct gt_ladder *out, const struct places *p) {
    memset(out, 0, sizeof *out);
    out->count = p->count;
    out->baseline = -1;
    for (int i = 0; i < p->count; i++) {
        snprintf(out->rung[i].name, sizeof out->rung[i].name, "%s", name_of(&p->at[i]));
        out->rung[i].on_device = p->at[i].kind == FAMILY || p->at[i].kind == TUNED;
        if (is_baseline(&p->at[i]) && out->baseline < 0)
            out->baseline = i;
    }
}

void gt_ladder_init(struct gt_ladder *out, const struct gt_families *families) {
    struct places p;
    find_places(&p, families, false);
    name_rungs(out, &p);
}

/* ---- the kernel of each rung ---- */

static bool has_values(const struct gt_point *point, const struct gt_point *fixed) {
    for (int i = 0; i < fixed->count; i++) {
        int64_t value = 0;
        if (!gt_point_get(point, fixed->entry[i].name, &value) ||
            value != fixed->entry[i].value)
            return false;
    }
    return true;
}

static bool may_stand(const struct place *place, const struct gt_view_row *row,
                      const struct gt_point *point) {
    if (place->kind == FAMILY)
        return strcmp(place->family->name, row->family) == 0 &&
               (place->rung == NULL || has_values(point, &place->rung->fixed));
    return place->kind == TUNED;
}

static void offer(struct places *p, const struct gt_view_row *row,
                  const struct gt_families *families) {
    struct gt_point point;
    if (row->outcome != GT_CORRECT || row->median_ns <= 0 ||
        !gt_view_current(row, families) ||
        gt_point_parse(&point, row->point, NULL) != GEMMTUNE_OK)
        return;
    for (int i = 0; i < p->count; i++) {
        struct place *place = &p->at[i];
        if (!may_stand(place, row, &point) ||
            (place->ns > 0 && place->ns <= row->median_ns))
            continue;
        place->ns = row->median_ns;
        gt_candidate_set(&place->candidate, row->family, row->point);
    }
}

/* A rung without a trial gets its family's default point. Families without rungs of their
 * own do not: some are far too slow for a problem of another kind. */
static void fall_back(struct place *place, const struct gt_tuner *t,
                      const gemmtune_problem *p) {
    struct gt_point point;
    if (place->kind != FAMILY || place->rung == NULL || place->ns > 0 ||
        !gt_family_serves(place->family, &t->device, p, NULL))
        return;
    gt_family_default(place->family, &point);
    for (int i = 0; i < place->rung->fixed.count; i++)
        (void)gt_point_set(&point, place->rung->fixed.entry[i].name,
                           place->rung->fixed.entry[i].value, NULL);
    gt_candidate_set_point(&place->candidate, place->family, &point);
}

/* The least time of many trials is partly luck, so finals have decided. */
static void seat_winner(struct places *p, const struct gt_tune_result *tuned) {
    for (int i = 0; i < p->count; i++)
        if (p->at[i].kind == TUNED && tuned->winners > 0) {
            p->at[i].candidate = tuned->winner[0].candidate;
            p->at[i].ns = tuned->winner[0].time.median_ns;
        }
}

static gt_status find_kernels(struct places *p, struct gt_tuner *t,
                              const struct gt_sweep_item *item, struct gt_err *err) {
    struct gt_view view = {0};
    const gt_status status = gt_view_trials(&view, t->db, t->device_key, item->name, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < view.row_count; i++)
        offer(p, &view.row[i], t->families);
    for (int i = 0; i < p->count; i++)
        fall_back(&p->at[i], t, &item->problem);
    gt_view_clear(&view);
    return status;
}

/* Drops the families that have neither a rung of their own nor a trial. */
static void drop_strangers(struct places *p) {
    int kept = 0;
    for (int i = 0; i < p->count; i++) {
        const struct place *place = &p->at[i];
        if (place->kind != FAMILY || place->rung != NULL || place->ns > 0)
            p->at[kept++] = *place;
    }
    p->count = kept;
}

/* ---- measuring ---- */

static void take(struct gt_ladder_rung *out, const struct gt_candidate *c,
                 const struct gt_result *r) {
    snprintf(out->how, sizeof out->how, "%s %s", c->family, c->point);
    if (r->outcome == GT_CORRECT)
        out->ns = r->time.median_ns;
    else
        snprintf(out->note, sizeof out->note, "%s: %.90s", gt_outcome_word(r->outcome),
                 r->error);
}

_Static_assert((int)GT_LADDER_MAX <= (int)GT_JOB_POINTS_MAX,
               "a job has room for all rungs");

/* The candidate's index in the job, to which it is added if it is missing. -1: there is no
 * room. */
static int seat(struct gt_job *job, const struct gt_candidate *c) {
    for (int i = 0; i < job->count; i++)
        if (gt_candidate_same(&job->candidate[i], c))
            return i;
    if (job->count == GT_JOB_POINTS_MAX)
        return -1;
    job->candidate[job->count] = *c;
    return job->count++;
}

/* The device's fastest rung if that is another kernel than the tuned one; else -1. */
static int rung_above(const struct gt_ladder *l, const int at[], int tuned) {
    int best = tuned;
    for (int i = 0; i < l->count; i++)
        if (at[i] >= 0 && l->rung[i].ns > 0 && l->rung[i].ns < l->rung[best].ns)
            best = i;
    return at[best] == at[tuned] ? -1 : best;
}

void gt_ladder_remark(struct gt_ladder *l, const int at[], const struct gt_report *report) {
    const int tuned = l->count - 1; /* the highest rung */
    l->remark[0] = '\0';
    if (at[tuned] < 0 || l->rung[tuned].ns <= 0)
        return;
    const int above = rung_above(l, at, tuned);
    if (above < 0)
        return;
    const bool proven =
        gt_race_proven(&report->result[at[tuned]].time, &report->result[at[above]].time);
    snprintf(l->remark, sizeof l->remark,
             "here rung \"%s\" takes %.3g %% less time than the tuned kernel%s",
             l->rung[above].name, 100 * (1 - l->rung[above].ns / l->rung[tuned].ns),
             proven ? ": tune the problem again, with --again"
                    : ", which is within the noise");
}

/* Measures all kernels of the ladder in one job. */
static gt_status measure(struct gt_ladder *out, struct gt_tuner *t,
                         const struct gt_sweep_item *item, const struct places *p,
                         struct gt_err *err) {
    struct gt_job job;
    struct gt_report report;
    int at[GT_LADDER_MAX];
    gt_job_init(&job, GT_JOB_FINAL, &t->device, item->name);
    job.seed = t->seed + 0x1add;
    for (int i = 0; i < p->count; i++) {
        const struct gt_candidate *c = &p->at[i].candidate;
        at[i] = c->family[0] != '\0' ? seat(&job, c) : -1;
    }
    char text[GT_PROBLEM_NAME_MAX + 128];
    snprintf(text, sizeof text, "[%zu/%zu] %s  measuring %d rungs in turn",
             t->progress.problem, t->progress.problems, item->name, job.count);
    gt_progress_step(&t->progress, text);
    const gt_status status = gt_pool_run_final(&report, t->pool, &job, true, err);
    for (int i = 0; status == GEMMTUNE_OK && i < p->count; i++)
        if (at[i] >= 0)
            take(&out->rung[i], &job.candidate[at[i]], &report.result[at[i]]);
    if (status == GEMMTUNE_OK)
        gt_ladder_remark(out, at, &report);
    return status;
}

static void measure_cpu(struct gt_ladder *out, const struct places *p, double loop_volume) {
    const gemmtune_problem *problem = &out->problem;
    for (int i = 0; i < p->count; i++) {
        struct gt_ladder_rung *rung = &out->rung[i];
        const bool loop = p->at[i].kind == CPU_LOOP;
        struct gt_err err = {""};
        if (out->rung[i].on_device)
            continue;
        if (loop && gt_problem_flops(problem) / 2 > loop_volume)
            snprintf(rung->note, sizeof rung->note, "left out above %.3g multiplications",
                     loop_volume);
        else if (gt_cpu_time(&rung->ns, rung->how, loop ? GT_CPU_LOOP : GT_CPU_BLAS,
                             problem, &err) != GEMMTUNE_OK)
            snprintf(rung->note, sizeof rung->note, "%.120s", err.line);
    }
}

gt_status gt_ladder_climb(struct gt_ladder *out, struct gt_tuner *t,
                          const struct gt_sweep_item *item, double seconds,
                          double loop_volume, struct gt_err *err) {
    struct gt_tune_result tuned;
    struct places places;
    find_places(&places, t->families, true);
    gt_status status = gt_tune_problem(&tuned, t, item, seconds, err);
    if (status == GEMMTUNE_OK && tuned.error[0])
        status = gt_fail(err, GEMMTUNE_EDEVICE, "%s", tuned.error);
    if (status == GEMMTUNE_OK && *t->stop)
        return GEMMTUNE_OK;
    if (status == GEMMTUNE_OK)
        status = find_kernels(&places, t, item, err);
    seat_winner(&places, &tuned);
    drop_strangers(&places);
    name_rungs(out, &places);
    out->problem = item->problem;
    snprintf(out->name, sizeof out->name, "%s", item->name);
    if (status == GEMMTUNE_OK)
        status = measure(out, t, item, &places, err);
    if (status == GEMMTUNE_OK)
        measure_cpu(out, &places, loop_volume);
    return status;
}
