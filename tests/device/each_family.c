/* SPDX-License-Identifier: Apache-2.0 */
/*
 * each_family.c - for simulators (tools/oclgrind-check, tests/tune/ptx.sh): runs the
 * default and the starting points of every family that serves the first device on one small
 * problem, and compares with a plain loop. It does far less than a trial, since a simulator
 * takes a million times as long: no reference kernel, no rotating data, no timing.
 *
 *     each_family PROBLEM [FAMILY [special] [random SEED COUNT [POINT]]]
 *
 * It prints a line for each point and exits with 1 when one is wrong. Products of small
 * integers are compared exactly. `special`, for f32: some elements are infinities, NaNs,
 * zeros of either sign, subnormal or near overflow, and C must be as in f32 arithmetic.
 *
 * `random`: COUNT other points that the rules accept. The same SEED draws the same points.
 * POINT ("TAIL=1,PERSIST=1") fixes some parameters, or all of them, to repeat one failure.
 */
#include "core/mix.h"
#include "runtime/exec/exec.h"
#include "tuner/lab/data.h"
#include "tuner/rig/rig.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 1 << 19 };

static struct gt_err err;
static struct gt_rig *rig;
static gemmtune_problem problem;
static bool special;
static char trying[GT_POINT_TEXT_MAX]; /* the point */
static struct {
    uint64_t state;
    long count; /* 0: the default and the starts are tried instead */
    struct gt_point fixed;
} drawn;
static union gt_value a[ELEMENTS_MAX], b[ELEMENTS_MAX]; /* each by its type, in the front */
static double x[ELEMENTS_MAX], y[ELEMENTS_MAX];
static char got[8 * ELEMENTS_MAX];

static void need(gt_status status) {
    if (status == GEMMTUNE_OK)
        return;
    fprintf(stderr, "each_family: %s%s%s\n", trying, *trying ? ": " : "", err.line);
    exit(1);
}

/* Element i of a matrix of special values. Most are small integers. At most one element of
 * a row or column is special, and only elements of one matrix are: then the order of a sum
 * does not decide whether it overflows. */
static double special_value(int64_t i, int salt) {
    static const double rare[] = {INFINITY, -INFINITY,    (double)NAN,  FLT_MAX,
                                  -0.0,     -0x1p127,     0x1.ffp127,   0x2001p-149,
                                  0x1p-149, -0x1.fep-126, 0x1.000002p0, -0x1.ffffp-1};
    enum { RARE = sizeof rare / sizeof *rare, APART = 97 };
    const bool has_them = (salt == 1) == (problem.trans_b == GEMMTUNE_NOTRANS);
    return has_them && i % APART == 0 ? rare[i / APART % RARE]
                                      : (double)((i * 7 + salt) % 11 - 5);
}

/* Small integers, packed as the type wants them. */
static void *matrix(double *value, void *packed, gemmtune_dtype type, int64_t count,
                    int salt) {
    const size_t size = gt_type_size(type);
    void *mem = NULL;
    if (count > ELEMENTS_MAX) {
        fprintf(stderr, "each_family: a matrix has more than %d elements\n", ELEMENTS_MAX);
        exit(2);
    }
    for (int64_t i = 0; i < count; i++) {
        union gt_value v;
        value[i] = special ? special_value(i, salt) : (double)((i * 7 + salt) % 11 - 5);
        gt_element_put(&v, type, value[i]);
        memcpy((char *)packed + (size_t)i * size, &v, size);
    }
    need(gt_rig_head(rig)->ops->alloc(&mem, rig, count * (int64_t)size, &err));
    need(gt_rig_head(rig)->ops->write(rig, mem, 0, packed, count * (int64_t)size, &err));
    return mem;
}

/* Whether c is right for the exact `sum`. `size` is the sum of the terms' sizes. A term may
 * be off by a share of itself, or by five times the least number of its parts' type. */
static bool is_right(double c, double sum, double size) {
    const bool halves = problem.math == GEMMTUNE_MATH_BF16X3;
    const double share = halves ? 0x1p-15 : 0x1p-20, least = halves ? 0x1p-133 : 0x1p-136;
    const double want = gt_element_round(problem.type_c, sum);
    if (!special || isinf(want))
        return c == want;
    if (isnan(want))
        return isnan(c);
    return fabs(c - want) <= share * size + (double)problem.k * 5 * least &&
           (want != 0 || size != 0 || signbit(c) == signbit(want));
}

static int64_t count_wrong(void) {
    const gemmtune_problem *p = &problem;
    const size_t size = gt_type_size(p->type_c);
    int64_t wrong = 0;
    for (int64_t e = 0; e < p->batch * p->m * p->n; e++) {
        const int64_t z = e / p->n / p->m, i = e / p->n % p->m, j = e % p->n;
        const double *row = x + z * p->stride_a, *column = y + z * p->stride_b;
        double sum = 0, all = 0;
        for (int64_t q = 0; q < p->k; q++) {
            const double term = row[p->trans_a ? q * p->lda + i : i * p->lda + q] *
                                column[p->trans_b ? j * p->ldb + q : q * p->ldb + j];
            sum += term;
            all += fabs(term);
        }
        const char *at = got + (size_t)(z * p->stride_c + i * p->ldc + j) * size;
        wrong += !is_right(gt_element_get(at, p->type_c), sum, all);
    }
    return wrong;
}

/* No sum of small integers is as large as an element of these bytes. Without it, an element
 * that a kernel does not write would have the right value of the kernel before. */
static void poison(void *dc, int64_t bytes) {
    memset(got, 0x7f, (size_t)bytes);
    need(gt_rig_head(rig)->ops->write(rig, dc, 0, got, bytes, &err));
}

/* Whether the point is correct, or refuses the problem. */
static bool try_point(const struct gt_family *f, const struct gt_point *point, void *da,
                      void *db, void *dc) {
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    const int64_t bytes =
        gt_problem_elems_c(&problem) * (int64_t)gt_type_size(problem.type_c);
    union gt_value one, zero;
    struct gt_exec *e = NULL;
    struct gt_exec_info info;
    void *workspace = NULL;
    (void)gt_point_text(point, trying);
    const gt_status status =
        gt_exec_create(&e, gt_rig_head(rig)->gpu, f, point, &problem, NULL, &err);
    if (status != GEMMTUNE_OK) {
        printf("%s %s %s: %s\n", status == GEMMTUNE_EINVAL ? "refused" : "FAILED", f->name,
               trying, err.line);
        return status == GEMMTUNE_EINVAL;
    }
    gt_exec_describe(e, &info);
    gt_element_put(&one, problem.type_acc, 1);
    gt_element_put(&zero, problem.type_acc, 0);
    if (info.fit->passes.workspace_bytes > 0)
        need(ops->alloc(&workspace, rig, info.fit->passes.workspace_bytes, &err));
    const struct gt_call call = {.alpha = &one,
                                 .a = da,
                                 .b = db,
                                 .beta = &zero,
                                 .c = dc,
                                 .workspace = workspace,
                                 .stream = gt_rig_head(rig)->stream};
    poison(dc, bytes);
    need(gt_exec_run(e, &call, &err));
    need(ops->finish(rig, &err));
    need(ops->read(rig, dc, 0, got, bytes, &err));
    const int64_t wrong = count_wrong();
    printf("%s %s %s: %" PRId64 " wrong\n", wrong ? "FAILED" : "ok", f->name, trying,
           wrong);
    (void)fflush(stdout);
    if (workspace)
        ops->release(rig, workspace);
    gt_exec_destroy(e);
    return wrong == 0;
}

static int64_t draw(int64_t below) {
    return (int64_t)(gt_mix(drawn.state += GT_MIX_STEP) % (uint64_t)below);
}

/* The default or a start, with about a third of its parameters changed. Few points that are
 * drawn from the domains alone pass the rules of a family with many: every fourth is. */
static void draw_point(struct gt_point *out, const struct gt_family *f) {
    const int64_t of = draw(f->start_count + 1), any = draw(4) == 0;
    if (of == f->start_count)
        gt_family_default(f, out);
    else
        gt_family_start(f, (int)of, out);
    for (int i = 0; i < f->param_count; i++) {
        const struct gt_param *p = &f->param[i];
        if (any || draw(3) == 0)
            need(gt_point_set(out, p->name, p->value[draw(p->count)], &err));
    }
    const struct gt_point *fixed = &drawn.fixed;
    for (int i = 0; i < fixed->count; i++)
        need(gt_point_set(out, fixed->entry[i].name, fixed->entry[i].value, &err));
}

static bool try_random(const struct gt_family *f, void *da, void *db, void *dc) {
    enum { DRAWS_MAX = 1000000 }; /* a problem or a fixed part may leave too few points */
    struct gt_point point;
    struct gt_fit fit;
    bool right = true;
    long done = 0;
    for (long i = 0; done < drawn.count && i < DRAWS_MAX; i++) {
        draw_point(&point, f);
        if (gt_fit_point(&fit, f, gt_rig_head(rig)->device, &problem, &point, &err) !=
            GEMMTUNE_OK)
            continue;
        right = try_point(f, &point, da, db, dc) && right;
        done++;
    }
    return right;
}

static bool try_family(const struct gt_family *f, void *da, void *db, void *dc) {
    struct gt_point point;
    const char *why;
    bool right;
    if (!gt_family_serves(f, gt_rig_head(rig)->device, &problem, &why))
        return true;
    if (drawn.count > 0)
        return try_random(f, da, db, dc);
    gt_family_default(f, &point);
    right = try_point(f, &point, da, db, dc);
    for (int i = 0; i < f->start_count; i++) {
        gt_family_start(f, i, &point);
        right = try_point(f, &point, da, db, dc) && right;
    }
    return right;
}

/* The words after FAMILY. */
static void options(char **word, int count) {
    special = count > 0 && strcmp(word[0], "special") == 0;
    word += special, count -= special;
    if (count < 3 || strcmp(word[0], "random") != 0)
        return;
    drawn.state = strtoull(word[1], NULL, 10);
    drawn.count = strtol(word[2], NULL, 10);
    if (count > 3)
        need(gt_point_parse(&drawn.fixed, word[3], &err));
    printf("random, seed %s:\n", word[1]);
}

int main(int argc, char **argv) {
    struct gt_device_list devices;
    struct gt_families *families;
    bool right = true;
    if (argc < 2)
        return 2;
    need(gt_problem_from_name(&problem, argv[1], &err));
    if (argc > 3)
        options(argv + 3, argc - 3);
    need(gt_devices_list(&devices, &err));
    need(gt_families_create(&families, &err));
    if (devices.count == 0)
        return 4;
    need(gt_rig_open(&rig, &devices.device[0], &err));
    const gemmtune_problem *p = &problem;
    void *da = matrix(x, a, p->type_a, gt_problem_elems_a(p), 1);
    void *db = matrix(y, b, p->type_b, gt_problem_elems_b(p), 4);
    void *dc = NULL;
    const int64_t c_bytes = gt_problem_elems_c(p) * (int64_t)gt_type_size(p->type_c);
    if (c_bytes > (int64_t)sizeof got)
        return 2;
    need(gt_rig_head(rig)->ops->alloc(&dc, rig, c_bytes, &err));
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        if (argc < 3 || strcmp(f->name, argv[2]) == 0)
            right = try_family(f, da, db, dc) && right;
    }
    return !right;
}
