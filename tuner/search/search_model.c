/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_model.c - the default strategy. Each space has a surrogate, which learns from its
 * measured points. The next pick is the candidate of any space with the largest expected
 * improvement on the best time of all spaces. Families thus share the budget by their
 * promise, and the surroundings of a leader by their uncertainty.
 *
 * A space begins with its starts and a few first looks: points that are far apart or have
 * good forecasts. Its candidates are then a random sample, all neighbours of its leaders
 * (one parameter differs), and the best candidates of the last time. From the best one the
 * search climbs to better neighbours, so that it need not score all points of a large
 * space. Now and then a random point is picked, since a surrogate can be sure and wrong.
 */
#include "tuner/base/best.h"
#include "tuner/search/search.h"
#include "tuner/search/surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POOL = 1024,                         /* candidates of a space */
    SCRATCH = GT_SURROGATE_SLOTS - POOL, /* neighbours that are scored while climbing */
    LEADERS = 8,    /* best points of a space; their neighbours are candidates */
    KEPT = 256,     /* candidates that stay when the pool is drawn again */
    LOOKS_MAX = 10, /* first looks at a space, at most */
    LOOKS_MIN = 3,  /* first looks after which an unpromising space gets no more */
    CLIMBS = 4,
    LOOK_TRIES = 48,  /* random points from which a first look is chosen */
    RANDOM_EVERY = 24 /* one pick in this many is random */
};
/* log units */
static const double promising_within = 0.7; /* up to twice the best time */
static const double hopeless_beyond = 1.1;  /* more than three times the best time */
_Static_assert(SCRATCH > 0, "the pool leaves room for neighbours");

struct region {
    struct gt_surrogate *surrogate;
    size_t given, told;                   /* number of picks, starts included */
    struct gt_keyed_pick leader[LEADERS]; /* by logarithm of time */
    int leaders;
    struct gt_pick look[LOOKS_MAX]; /* the first picks; the next look keeps away */
    double least_guess;             /* of its picks; HUGE_VAL: none has a forecast */
    int pool;                       /* number of candidates */
    size_t index[GT_SURROGATE_SLOTS];
    double score[GT_SURROGATE_SLOTS];
    double scored_best; /* the best time of all when the candidates were scored */
    bool stale;         /* a pick was given out or told since then */
    int top;            /* slot of the best candidate; -1: none */
};

struct model {
    struct gt_search *search;
    int spaces;
    struct region *region;
    double best;        /* logarithm of the best time of all */
    double least_guess; /* the least logarithm of a forecast of all picks */
    size_t first_looks; /* of a space before its surrogate is asked */
    size_t asked;
    double *guess; /* scratch, as large as a pool */
};

static void model_destroy(void *self) {
    struct model *m = self;
    if (!m)
        return;
    for (int i = 0; m->region && i < m->spaces; i++)
        gt_surrogate_destroy(m->region[i].surrogate);
    free(m->region);
    free(m->guess);
    free(m);
}

/* First looks take a quarter of the budget, but each space gets at least two. */
static size_t first_looks_of(const struct gt_search_setup *setup) {
    const size_t least = 2, spaces = (size_t)setup->spaces;
    const size_t fair = setup->budget / 4 / (spaces > 0 ? spaces : 1);
    return fair < least ? least : fair < LOOKS_MAX ? fair : LOOKS_MAX;
}

static gt_status model_create(void **self, struct gt_search *search, struct gt_err *err) {
    const struct gt_search_setup *setup = gt_search_setup_of(search);
    struct model *m = calloc(1, sizeof *m);
    gt_status status = GEMMTUNE_OK;
    *self = m;
    if (!m)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    m->search = search;
    m->spaces = setup->spaces;
    m->best = m->least_guess = HUGE_VAL;
    m->first_looks = first_looks_of(setup);
    m->region = calloc((size_t)m->spaces + 1, sizeof *m->region);
    m->guess = malloc(GT_SURROGATE_SLOTS * sizeof *m->guess);
    if (!m->region || !m->guess)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    for (int i = 0; status == GEMMTUNE_OK && i < m->spaces; i++) {
        m->region[i].stale = true;
        m->region[i].least_guess = HUGE_VAL;
        status = gt_surrogate_create(&m->region[i].surrogate, &setup->space[i], err);
    }
    return status;
}

/* The logarithm of the forecast for a point; NAN when there is none. */
static double guess_of(const struct model *m, struct gt_pick p) {
    const struct gt_search_setup *setup = gt_search_setup_of(m->search);
    const double ns = setup->predict ? setup->predict(setup->user, &p) : 0;
    return ns > 0 ? log(ns) : NAN;
}

/* ---- first looks ---- */

static double distance2(const struct gt_space *s, size_t a, size_t b) {
    const size_t params = (size_t)s->params;
    double sum = 0;
    for (size_t i = 0; i < params; i++) {
        const int span = s->family->param[i].count - 1;
        const int d = s->idx[a * params + i] - s->idx[b * params + i];
        if (span > 0)
            sum += (double)(d * d) / (double)(span * span);
    }
    return sum;
}

/* The distance to the nearest of the first picks. */
static double distance_from_looks(const struct model *m, struct gt_pick p) {
    const struct gt_space *s = &gt_search_setup_of(m->search)->space[p.space];
    const struct region *r = &m->region[p.space];
    double least = HUGE_VAL;
    for (size_t i = 0; i < r->given && i < LOOKS_MAX; i++)
        least = fmin(least, distance2(s, p.index, r->look[i].index));
    return least;
}

/* Picks a first look among a few random points: in turn the one farthest from the others
 * and the one with the best forecast, if any has one. */
static bool pick_first_look(struct model *m, int space, struct gt_pick *out) {
    const bool by_guess = m->region[space].given % 2;
    struct gt_pick p, farthest = {space, 0}, fastest = {space, 0};
    double most = -HUGE_VAL, least = HUGE_VAL;
    for (int i = 0; i < LOOK_TRIES; i++) {
        if (!gt_search_any_of(&p, m->search, space))
            return false;
        const double away = distance_from_looks(m, p),
                     guess = by_guess ? guess_of(m, p) : NAN;
        if (away > most) {
            farthest = p;
            most = away;
        }
        if (guess < least) { /* never true when guess is NAN */
            fastest = p;
            least = guess;
        }
    }
    *out = least < HUGE_VAL ? fastest : farthest;
    return true;
}

/* Whether both the times and the forecasts of a space's picks are far from the best ones.
 * Forecasts may be off by a factor that all share. Families with a role are what winners
 * are compared with, so they keep their looks. */
static bool is_hopeless(const struct model *m, int space) {
    const struct region *r = &m->region[space];
    return gt_search_setup_of(m->search)->space[space].family->role == GT_ROLE_NONE &&
           r->leaders > 0 && r->leader[0].key > m->best + hopeless_beyond &&
           isfinite(r->least_guess) && r->least_guess > m->least_guess + hopeless_beyond;
}

/* Whether a space is given up after its first trial, where trials are costly. */
static bool is_left(const struct model *m, int space) {
    const struct region *r = &m->region[space];
    return gt_search_setup_of(m->search)->costly && r->leaders > 0 &&
           r->leader[0].key > m->best + hopeless_beyond;
}

/* The number of first looks that a space gets. A space that is far slower than the best
 * after LOOKS_MIN of them gets no more, one that forecasts call hopeless too gets none. */
static size_t looks_due(const struct model *m, int space) {
    const struct region *r = &m->region[space];
    if (is_hopeless(m, space) || is_left(m, space))
        return 0;
    const bool hopeful = r->leaders > 0 && r->leader[0].key < m->best + promising_within;
    return hopeful || m->spaces == 1 || m->first_looks < LOOKS_MIN ? m->first_looks
                                                                   : LOOKS_MIN;
}

/* The space with the fewest picks that lacks first looks; -1: none. */
static int region_to_look_at(const struct model *m) {
    int least = -1;
    for (int i = 0; i < m->spaces; i++)
        if (m->region[i].given < looks_due(m, i) && gt_search_left(m->search, i) > 0 &&
            (least < 0 || m->region[i].given < m->region[least].given))
            least = i;
    return least;
}

/* ---- candidates ---- */

static void add_candidate(struct model *m, int space, size_t index, int room) {
    struct region *r = &m->region[space];
    if (r->pool < room && !gt_search_taken(m->search, (struct gt_pick){space, index}))
        r->index[r->pool++] = index;
}

struct scored {
    size_t index;
    double score;
};

static int by_score(const void *a, const void *b) {
    const struct scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Reduces the pool to its KEPT best. */
static void keep_best(struct model *m, int space) {
    struct region *r = &m->region[space];
    struct scored all[POOL];
    const int before = r->pool;
    for (int i = 0; i < before; i++)
        all[i] = (struct scored){r->index[i], r->score[i]};
    qsort(all, (size_t)before, sizeof *all, by_score);
    r->pool = 0;
    for (int i = 0; i < before; i++)
        add_candidate(m, space, all[i].index, KEPT);
}

static void set_slots(struct model *m, int space, int from, int count) {
    struct region *r = &m->region[space];
    for (int i = 0; i < count; i++)
        m->guess[i] = guess_of(m, (struct gt_pick){space, r->index[from + i]});
    gt_surrogate_set(r->surrogate, from, count, &r->index[from], m->guess);
}

static void draw_pool(struct model *m, int space) {
    const struct gt_space *s = &gt_search_setup_of(m->search)->space[space];
    struct region *r = &m->region[space];
    struct gt_pick near[POOL];
    if (s->count <= POOL) {
        r->pool = 0;
        for (size_t i = 0; i < s->count; i++)
            add_candidate(m, space, i, POOL);
    } else {
        keep_best(m, space);
        for (int i = 0; i < r->leaders; i++) {
            const int n = gt_search_neighbours(near, POOL, s, r->leader[i].pick, true);
            for (int j = 0; j < n; j++)
                add_candidate(m, space, near[j].index, POOL - KEPT);
        }
        struct gt_pick p;
        while (r->pool < POOL && gt_search_any_of(&p, m->search, space))
            r->index[r->pool++] = p.index;
    }
    set_slots(m, space, 0, r->pool);
}

/* The best slot that is not taken; -1: all are taken. */
static int best_slot(const struct model *m, int space, int from, int count) {
    const struct region *r = &m->region[space];
    int best = -1;
    for (int i = from; i < from + count; i++)
        if ((best < 0 || r->score[i] > r->score[best]) &&
            !gt_search_taken(m->search, (struct gt_pick){space, r->index[i]}))
            best = i;
    return best;
}

static void score_region(struct model *m, int space) {
    struct region *r = &m->region[space];
    if (!r->stale && !(m->best < r->scored_best))
        return;
    if (gt_surrogate_learn(r->surrogate) || r->pool == 0)
        draw_pool(m, space);
    gt_surrogate_score(r->surrogate, 0, r->pool, m->best, r->score);
    r->top = best_slot(m, space, 0, r->pool);
    if (r->top < 0 && gt_search_left(m->search, space) > 0) {
        draw_pool(m, space);
        gt_surrogate_score(r->surrogate, 0, r->pool, m->best, r->score);
        r->top = best_slot(m, space, 0, r->pool);
    }
    r->scored_best = m->best;
    r->stale = false;
}

/* Climbs from the best candidate to better neighbours, a few times. Returns the point
 * reached. */
static size_t climb(struct model *m, int space) {
    const struct gt_space *s = &gt_search_setup_of(m->search)->space[space];
    struct region *r = &m->region[space];
    struct gt_pick at = {space, r->index[r->top]}, near[SCRATCH];
    double score = r->score[r->top];
    for (int i = 0; i < CLIMBS && s->count > POOL; i++) {
        const int n = gt_search_neighbours(near, SCRATCH, s, at, true);
        for (int j = 0; j < n; j++)
            r->index[POOL + j] = near[j].index;
        set_slots(m, space, POOL, n);
        gt_surrogate_score(r->surrogate, POOL, n, m->best, &r->score[POOL]);
        const int best = best_slot(m, space, POOL, n);
        if (best < 0 || !(r->score[best] > score))
            break;
        at.index = r->index[best];
        score = r->score[best];
    }
    return at.index;
}

/* ---- ask and tell ---- */

static void model_add(void *self, const struct gt_pick *p) {
    struct model *m = self;
    struct region *r = &m->region[p->space];
    if (r->given < LOOKS_MAX)
        r->look[r->given] = *p;
    r->given++;
    r->stale = true;
    const double guess = guess_of(m, *p);
    r->least_guess = fmin(r->least_guess, guess); /* fmin passes over NAN */
    m->least_guess = fmin(m->least_guess, guess);
    gt_surrogate_add(r->surrogate, p->index, guess);
}

static int most_promising(struct model *m) {
    int best = -1;
    double most = -1;
    for (int i = 0; i < m->spaces; i++) {
        if (gt_search_left(m->search, i) == 0 || is_left(m, i))
            continue;
        score_region(m, i);
        const struct region *r = &m->region[i];
        /* open picks may disappoint, so a space with many of them counts less */
        const double told_share = (double)(r->told + 1) / (double)(r->given + 1);
        const double score = r->top >= 0 ? r->score[r->top] * told_share : -1;
        if (score > most) {
            best = i;
            most = score;
        }
    }
    return best;
}

static enum gt_ask model_ask(void *self, struct gt_pick *out) {
    struct model *m = self;
    const int fresh = region_to_look_at(m);
    m->asked++;
    if (fresh >= 0) {
        if (!pick_first_look(m, fresh, out))
            return GT_ASK_DONE;
    } else if (isinf(m->best) || m->asked % RANDOM_EVERY == 0) {
        if (!gt_search_any(out, m->search))
            return GT_ASK_DONE;
    } else {
        const int space = most_promising(m);
        if (space < 0)
            return GT_ASK_DONE;
        *out = (struct gt_pick){space, climb(m, space)};
    }
    model_add(m, out);
    return GT_ASK_PICK;
}

static void add_leader(struct region *r, struct gt_pick p, double value) {
    struct gt_keyed_pick *place =
        gt_best_place(r->leader, &r->leaders, LEADERS, sizeof *r->leader, value);
    if (place != NULL)
        *place = (struct gt_keyed_pick){value, p};
}

static void model_tell(void *self, const struct gt_pick *pick, gt_outcome outcome,
                       double ns) {
    struct model *m = self;
    struct region *r = &m->region[pick->space];
    const double value = outcome == GT_CORRECT && ns > 0 ? log(ns) : NAN;
    r->told++;
    r->stale = true;
    gt_surrogate_tell(r->surrogate, value);
    if (isnan(value))
        return;
    add_leader(r, *pick, value);
    m->best = fmin(m->best, value);
}

const struct gt_strategy gt_search_model = {
    .name = "model",
    .create = model_create,
    .destroy = model_destroy,
    .add_start = model_add,
    .ask = model_ask,
    .tell = model_tell,
};
