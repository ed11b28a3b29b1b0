/* SPDX-License-Identifier: Apache-2.0 */
/*
 * surrogate.c - see surrogate.h.
 *
 * Covariance: 1 / (1 + r^2 / 2), the rational quadratic with alpha 1. It needs no
 * exponential, and its long tail suits a landscape with steps. r^2 is the sum of
 * ((x - y) / length)^2 over the parameters. A coordinate runs from 0 to 1; it is the
 * logarithm of the value where all values are positive, else the place in the domain.
 * Times that are more than `clip` above the best count as equal: accuracy matters only near
 * the best.
 *
 * The factor of the covariance matrix, K = U' U, is kept as an upper triangle by rows, with
 * the points in the order in which they were added. Let z = U'^-1 (y - mean). A point that
 * has not been told or has failed gets the value that the earlier points predict, which
 * makes its element of z zero: it reduces the uncertainty and has no other effect. So
 * nothing has to be computed again when it is told.
 *
 * A slot is a candidate. For each slot, w = U'^-1 k, where k are its covariances with the
 * points. Its predicted mean is w' z, and its variance is 1 - w' w.
 */
#include "tuner/search/surrogate.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = GT_SURROGATE_ROWS,
    SLOTS = GT_SURROGATE_SLOTS,
    DIMS = GT_POINT_MAX,
    LEARN_ROWS = 96, /* rows to learn lengths from, at most; lengths change slowly */
    KEEP = 128,      /* rows that stay when all are used */
    GOOD_MIN = 2     /* good points needed before anything is learned */
};
/* Weight of the uncertainty in a point's score. With 1, small budgets are spent on
 * exploring 16 parameters. */
static const double uncertainty_share = 0.5;
static const double clip = 0.5;         /* log units: 1.65 times the best */
static const double length_sd = 0.7;    /* prior of the logarithm of a length, around 0 */
static const double usual_noise = 2e-3; /* variance, as a part of the signal's variance */
static const double noise_sd = 1.5;
static const double slope_sd = 0.5;

enum state { PENDING, GOOD, FAILED };

struct row {
    size_t index;
    enum state state;
    double value, guess; /* logarithms of time; guess is NAN when unknown */
    float x[DIMS];
};

struct gt_surrogate {
    const struct gt_space *space;
    int dims;
    int param[DIMS]; /* the parameters that vary */
    float coord[DIMS][GT_VALUES_MAX];
    double length[DIMS], noise, slope; /* all are logarithms but the slope */
    double step[DIMS + 2];             /* next change to try of each of them */
    double mean, variance;             /* of target() */
    double level;                      /* the mean as a logarithm of time */
    int rows, told;
    int learned;      /* `told` when the lengths were learned */
    int guesses;      /* number of known guesses added */
    double guess_sum; /* their sum */
    int failures;
    double best;
    struct row row[ROWS];
    double u[ROWS][ROWS], z[ROWS]; /* see the head of this file, as for w */
    /* candidates, by slot */
    float x[DIMS][SLOTS], w[ROWS][SLOTS];
    float guess[SLOTS], var[SLOTS], near_good[SLOTS], near_bad[SLOTS];
    /* Of the first slot of a group: the number of rows that are in w and var, and the
     * number that are in near_good and near_bad. */
    int w_rows[SLOTS], near_rows[SLOTS];
};

void gt_surrogate_destroy(struct gt_surrogate *s) {
    free(s);
}

/* ---- coordinates ---- */

static void scale_param(float *coord, const struct gt_param *param) {
    double value[GT_VALUES_MAX], low = HUGE_VAL, high = -HUGE_VAL;
    bool positive = true;
    for (int i = 0; i < param->count; i++)
        positive = positive && param->value[i] > 0;
    for (int i = 0; i < param->count; i++) {
        value[i] = positive ? log2((double)param->value[i]) : i;
        low = fmin(low, value[i]);
        high = fmax(high, value[i]);
    }
    for (int i = 0; i < param->count; i++)
        coord[i] = (float)((value[i] - low) / (high - low));
}

/* Whether the parameter has several values in legal points. */
static bool varies(const struct gt_space *space, int p) {
    const size_t params = (size_t)space->params;
    for (size_t i = 1; i < space->count; i++)
        if (space->idx[i * params + (size_t)p] != space->idx[p])
            return true;
    return false;
}

gt_status gt_surrogate_create(struct gt_surrogate **out, const struct gt_space *space,
                              struct gt_err *err) {
    struct gt_surrogate *s = calloc(1, sizeof *s);
    *out = s;
    if (!s)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    s->space = space;
    s->best = HUGE_VAL;
    s->noise = log(usual_noise);
    s->variance = 0.1;
    s->level = HUGE_VAL;
    for (int p = 0; p < space->params; p++)
        if (varies(space, p)) {
            scale_param(s->coord[s->dims], &space->family->param[p]);
            s->param[s->dims++] = p;
        }
    for (int i = 0; i < DIMS + 2; i++)
        s->step[i] = 0.5;
    return GEMMTUNE_OK;
}

static void coordinates_of(const struct gt_surrogate *s, size_t index, float x[DIMS]) {
    const unsigned char *at = s->space->idx + index * (size_t)s->space->params;
    for (int d = 0; d < s->dims; d++)
        x[d] = s->coord[d][at[s->param[d]]];
}

/* ---- the process on some rows ---- */

static double kernel(double r2) {
    return 1 / (1 + 0.5 * r2);
}

static double covariance(const float *x, const float *y, const double *inverse2, int dims) {
    double r2 = 0;
    for (int d = 0; d < dims; d++) {
        const double t = (double)(x[d] - y[d]);
        r2 += t * t * inverse2[d];
    }
    return kernel(r2);
}

static void inverse_lengths(const struct gt_surrogate *s, double inverse2[DIMS]) {
    for (int d = 0; d < s->dims; d++)
        inverse2[d] = exp(-2 * s->length[d]);
}

/* Replaces b by U'^-1 b, for the first n rows. */
static void solve(double *b, double (*u)[ROWS], int n) {
    for (int k = 0; k < n; k++) {
        const double z = b[k] /= u[k][k];
        for (int i = k + 1; i < n; i++)
            b[i] -= u[k][i] * z;
    }
}

/* Replaces the upper triangle of a symmetric matrix by its factor U. */
static void factor(double (*u)[ROWS], int n) {
    for (int j = 0; j < n; j++) {
        const double d = sqrt(fmax(u[j][j], 1e-10));
        u[j][j] = d;
        for (int k = j + 1; k < n; k++)
            u[j][k] /= d;
        for (int i = j + 1; i < n; i++) {
            const double f = u[j][i];
            for (int k = i; k < n; k++)
                u[i][k] -= f * u[j][k];
        }
    }
}

/* An unknown guess counts as the mean of the known ones, so it has no effect. */
static double guess_or_mean(const struct gt_surrogate *s, double guess) {
    if (!isnan(guess))
        return guess;
    return s->guesses > 0 ? s->guess_sum / s->guesses : 0;
}

static double target(const struct gt_surrogate *s, const struct row *r) {
    return fmin(r->value - s->best, clip) - s->slope * guess_or_mean(s, r->guess);
}

/* The rows that are learned from: good ones, and when there are many, the fastest and a
 * part of the rest. */
struct sample {
    int n;
    const struct row *row[LEARN_ROWS];
    double (*u)[ROWS];
};

static double square(double v) {
    return v * v;
}

/* Minus the logarithm of the posterior of lengths, noise and slope. Sets mean and variance
 * to their best values for these. */
static double misfit(struct gt_surrogate *s, const struct sample *a) {
    double inverse2[DIMS], one[LEARN_ROWS], y[LEARN_ROWS], sum = 0;
    inverse_lengths(s, inverse2);
    for (int i = 0; i < a->n; i++) {
        for (int j = i; j < a->n; j++)
            a->u[i][j] = covariance(a->row[i]->x, a->row[j]->x, inverse2, s->dims);
        a->u[i][i] += exp(s->noise);
        one[i] = 1;
        y[i] = target(s, a->row[i]);
    }
    factor(a->u, a->n);
    solve(one, a->u, a->n);
    solve(y, a->u, a->n);
    double oo = 0, oy = 0, rest = 0.1; /* as if one point had a variance of 0.1 */
    for (int i = 0; i < a->n; i++) {
        oo += one[i] * one[i];
        oy += one[i] * y[i];
        sum += log(a->u[i][i]);
    }
    s->mean = oy / oo;
    for (int i = 0; i < a->n; i++)
        rest += square(y[i] - s->mean * one[i]);
    s->variance = rest / a->n;
    sum += 0.5 * a->n * log(s->variance);
    for (int d = 0; d < s->dims; d++)
        sum += 0.5 * square(s->length[d] / length_sd);
    sum += 0.5 * square((s->noise - log(usual_noise)) / noise_sd);
    return sum + 0.5 * square(s->slope / slope_sd);
}

/* Tries one parameter a step up and a step down and keeps an improvement. Steps that help
 * grow; others shrink. */
static void improve(struct gt_surrogate *s, const struct sample *a, double *parameter,
                    double *step, double *fit) {
    const double least = 0.05;
    const double before = *parameter;
    for (int side = 0; side < 2; side++, *step = -*step) {
        *parameter = before + *step;
        const double now = misfit(s, a);
        if (now < *fit) {
            *fit = now;
            *step *= 1.3;
            return;
        }
    }
    *parameter = before;
    if (fabs(*step) > least)
        *step *= 0.6;
}

static void learn_from(struct gt_surrogate *s, const struct sample *a, int rounds) {
    double fit = misfit(s, a);
    for (int i = 0; i < rounds; i++) {
        for (int d = 0; d < s->dims; d++)
            improve(s, a, &s->length[d], &s->step[d], &fit);
        improve(s, a, &s->noise, &s->step[DIMS], &fit);
        if (s->guesses > 0)
            improve(s, a, &s->slope, &s->step[DIMS + 1], &fit);
    }
    (void)misfit(s, a);
}

/* ---- rows ---- */

/* Computes the row's column of U from the rows before it. */
static void append(struct gt_surrogate *s, int r, const double *inverse2) {
    double k[ROWS], left = 1 + exp(s->noise);
    for (int i = 0; i < r; i++)
        k[i] = covariance(s->row[i].x, s->row[r].x, inverse2, s->dims);
    solve(k, s->u, r);
    for (int i = 0; i < r; i++) {
        s->u[i][r] = k[i];
        left -= k[i] * k[i];
    }
    s->u[r][r] = sqrt(fmax(left, 1e-10));
}

static void append_all(struct gt_surrogate *s) {
    double inverse2[DIMS];
    inverse_lengths(s, inverse2);
    memset(s->w_rows, 0, sizeof s->w_rows);
    memset(s->near_rows, 0, sizeof s->near_rows);
    for (int r = 0; r < s->rows; r++)
        append(s, r, inverse2);
}

/* Computes z = U'^-1 (y - mean). Call it again when the best value changes: y is relative
 * to that value. */
static void update_z(struct gt_surrogate *s) {
    double b[ROWS];
    for (int i = 0; i < s->rows; i++)
        b[i] = s->row[i].state == GOOD ? target(s, &s->row[i]) - (s->level - s->best) : 0;
    for (int k = 0; k < s->rows; k++) {
        s->z[k] = s->row[k].state == GOOD ? b[k] / s->u[k][k] : 0;
        /* the b of rows without a value is never used */
        for (int i = k + 1; i < s->rows; i++)
            b[i] -= s->u[k][i] * s->z[k];
    }
}

static int by_value(const void *a, const void *b) {
    const struct row *const *x = a, *const *y = b;
    if ((*x)->value != (*y)->value)
        return (*x)->value < (*y)->value ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

/* Lists the good rows, fastest first. */
static int sort_good(struct row **out, struct gt_surrogate *s) {
    int n = 0;
    for (int i = 0; i < s->rows; i++)
        if (s->row[i].state == GOOD)
            out[n++] = &s->row[i];
    qsort(out, (size_t)n, sizeof(struct row *), by_value);
    return n;
}

/* Keeps the rows that are not told yet and the KEEP fastest. */
static void drop_slow(struct gt_surrogate *s) {
    struct row *good[ROWS];
    const int n = sort_good(good, s);
    for (int i = KEEP; i < n; i++)
        good[i]->state = FAILED;
    int kept = 0;
    for (int i = 0; i < s->rows; i++)
        if (s->row[i].state != FAILED)
            s->row[kept++] = s->row[i];
    s->told -= s->rows - kept;
    s->learned = s->told;
    s->rows = kept;
    append_all(s);
}

void gt_surrogate_add(struct gt_surrogate *s, size_t index, double guess) {
    double inverse2[DIMS];
    if (s->rows == ROWS)
        drop_slow(s);
    if (s->rows == ROWS)
        return; /* there are more open picks than rows */
    struct row *r = &s->row[s->rows];
    *r = (struct row){.index = index, .guess = guess};
    if (!isnan(guess)) {
        s->guesses++;
        s->guess_sum += guess;
    }
    coordinates_of(s, index, r->x);
    inverse_lengths(s, inverse2);
    append(s, s->rows++, inverse2);
}

void gt_surrogate_tell(struct gt_surrogate *s, double value) {
    if (s->told == s->rows)
        return;
    struct row *r = &s->row[s->told++];
    r->state = isnan(value) ? FAILED : GOOD;
    r->value = value;
    if (r->state == FAILED)
        s->failures++;
    else if (value < s->best)
        s->best = value;
    if (s->learned == 0)
        s->level = s->best;
}

bool gt_surrogate_learn(struct gt_surrogate *s) {
    struct row *good[ROWS];
    struct sample a = {.n = 0};
    if (s->learned > 0 && s->told - s->learned < 1 + s->told / 6)
        return false;
    const int n = sort_good(good, s);
    a.n = n < LEARN_ROWS ? n : LEARN_ROWS;
    if (n < GOOD_MIN)
        return false;
    a.u = malloc((size_t)a.n * sizeof *a.u);
    if (!a.u)
        return false;
    /* the faster half, and an even part of the others */
    for (int i = 0; i < a.n; i++) {
        const int half = a.n / 2, rest = a.n - half;
        a.row[i] = good[i < half ? i : half + (i - half) * (n - half) / rest];
    }
    learn_from(s, &a, s->learned > 0 ? 1 : 3);
    free(a.u);
    s->level = s->mean + s->best;
    s->learned = s->told;
    append_all(s);
    return true;
}

/* ---- slots ---- */

void gt_surrogate_set(struct gt_surrogate *s, int from, int count, const size_t *index,
                      const double *guess) {
    float x[DIMS];
    for (int i = 0; i < count; i++) {
        coordinates_of(s, index[i], x);
        for (int d = 0; d < s->dims; d++)
            s->x[d][from + i] = x[d];
        s->guess[from + i] = (float)guess[i];
    }
    s->w_rows[from] = s->near_rows[from] = 0;
}

/* Computes the covariances of a row with the slots. */
static void covariances(const struct gt_surrogate *s, const struct row *r, int from,
                        int count, float *restrict out) {
    for (int i = 0; i < count; i++)
        out[i] = 0;
    for (int d = 0; d < s->dims; d++) {
        const float inverse = (float)exp(-s->length[d]), at = r->x[d];
        const float *restrict x = &s->x[d][from];
        for (int i = 0; i < count; i++) {
            const float t = (x[i] - at) * inverse;
            out[i] += t * t;
        }
    }
    for (int i = 0; i < count; i++)
        out[i] = 1 / (1 + 0.5F * out[i]);
}

static void update_w(struct gt_surrogate *s, int from, int count) {
    float *restrict var = &s->var[from];
    if (s->w_rows[from] == 0)
        for (int i = 0; i < count; i++)
            var[i] = 1;
    for (int r = s->w_rows[from]; r < s->rows; r++) {
        float *restrict w = &s->w[r][from];
        covariances(s, &s->row[r], from, count, w);
        for (int k = 0; k < r; k++) {
            const float u = (float)s->u[k][r];
            const float *restrict v = &s->w[k][from];
            for (int i = 0; i < count; i++)
                w[i] -= u * v[i];
        }
        const float inverse = (float)(1 / s->u[r][r]);
        for (int i = 0; i < count; i++) {
            w[i] *= inverse;
            var[i] -= w[i] * w[i];
        }
    }
    s->w_rows[from] = s->rows;
}

/* Sums how near each slot is to good points and to failed ones. */
static void sum_nearness(struct gt_surrogate *s, int from, int count) {
    float near[SLOTS];
    if (s->near_rows[from] == 0)
        for (int i = 0; i < count; i++)
            s->near_good[from + i] = s->near_bad[from + i] = 0;
    for (int r = s->near_rows[from]; r < s->told; r++) {
        float *restrict sum =
            s->row[r].state == GOOD ? &s->near_good[from] : &s->near_bad[from];
        covariances(s, &s->row[r], from, count, near);
        for (int i = 0; i < count; i++)
            sum[i] += near[i] * near[i]; /* near points count most */
    }
    s->near_rows[from] = s->told;
}

/* E max(0, gap + deviation * x) for a standard normal x. */
static double expected(double gap, double deviation) {
    const double z = gap / deviation;
    const double density = 0.3989422804014327 * exp(-0.5 * z * z);
    if (z < -6) /* the difference below would lose all digits */
        return deviation * density / (z * z);
    return gap * 0.5 * erfc(-z * 0.7071067811865476) + deviation * density;
}

void gt_surrogate_score(struct gt_surrogate *s, int from, int count, double best,
                        double *score) {
    float sum[SLOTS];
    update_w(s, from, count);
    update_z(s);
    if (isinf(s->level)) { /* no good point is known, so no improvement is expected */
        for (int i = 0; i < count; i++)
            score[i] = 0;
        return;
    }
    for (int i = 0; i < count; i++)
        sum[i] = (float)(s->slope * guess_or_mean(s, (double)s->guess[from + i]));
    for (int r = 0; r < s->told; r++) {
        const float z = (float)s->z[r];
        const float *restrict w = &s->w[r][from];
        for (int i = 0; z != 0 && i < count; i++)
            sum[i] += z * w[i];
    }
    for (int i = 0; i < count; i++) {
        const double var = fmax((double)s->var[from + i], 1e-6) * s->variance;
        score[i] =
            expected(best - s->level - (double)sum[i], uncertainty_share * sqrt(var));
    }
    if (s->failures == 0)
        return;
    sum_nearness(s, from, count);
    for (int i = 0; i < count; i++) {
        const double good = (double)s->near_good[from + i],
                     bad = (double)s->near_bad[from + i];
        score[i] *= (0.1 + good) / (0.1 + good + bad);
    }
}
