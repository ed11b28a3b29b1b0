/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hard_data.c - for simulators (tests/tune/remainder.sh): one point of a family that
 * computes f64, on data that trials do not have: wide exponents, subnormal and huge
 * numbers, zeros, infinities, NaNs. Every element must keep the bound of docs/residues.md,
 *
 *     |c - ref| <= min(k / 2, 2 sqrt(k)) u |A||B| + 2 u |ref| + k (least subnormal number)
 *
 * which sums of these data in f64 keep as well, or be the NaN or the infinity that the sum
 * is.
 *
 *     hard_data PROBLEM FAMILY POINT [FOLDER]
 *
 * FOLDER has more families. It prints a line for each kind of data and exits with 1 when
 * one is wrong.
 */
#include "core/point.h"
#include "runtime/exec/exec.h"
#include "tests/chance.h"
#include "tuner/lab/data.h"
#include "tuner/rig/rig.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 1 << 16 };

static struct gt_err err;
static struct gt_rig *rig;
static gemmtune_problem problem;
static struct gt_exec *kernel;
static double a[ELEMENTS_MAX], b[ELEMENTS_MAX], c[ELEMENTS_MAX];
static void *da, *db, *dc, *workspace;

static void need(gt_status status) {
    if (status == GEMMTUNE_OK)
        return;
    fprintf(stderr, "hard_data: %s\n", err.line);
    exit(1);
}

/* ---- kinds of data ---- */

/* The makers of an element take its row and column in the stored matrix. */
typedef double maker(int64_t i, int64_t j);

static double uniform(int64_t i, int64_t j) {
    return any_uniform();
}
static double integer(int64_t i, int64_t j) {
    return (double)(any_bits() % 11) - 5;
}
static double any_exponent(int64_t i, int64_t j) {
    return ldexp(any_uniform(), (int)(any_bits() % 400) - 200);
}
static double scaled_row(int64_t i, int64_t j) {
    return ldexp(any_uniform(), (int)(i * 37 % 400) - 200);
}
static double scaled_column(int64_t i, int64_t j) {
    return ldexp(any_uniform(), (int)(j * 41 % 400) - 200);
}
static double subnormal(int64_t i, int64_t j) {
    return any_uniform() * 0x1p-1030;
}
static double huge(int64_t i, int64_t j) {
    return any_uniform() * 0x1p1010;
}
static double greatest(int64_t i, int64_t j) { /* a sum of sizes is infinite */
    return (j & 1 ? -1 : 1) * DBL_MAX;
}
static double tiny(int64_t i, int64_t j) {
    return any_uniform() * 0x1p-1000;
}
static double zero(int64_t i, int64_t j) {
    return i & 1 ? 0.0 : -0.0;
}
static double zero_row(int64_t i, int64_t j) {
    return i % 3 == 0 ? 0 : any_uniform();
}
static double infinite(int64_t i, int64_t j) {
    return i == 3 && j % 8 == 2 ? (double)INFINITY : any_uniform();
}
static double not_a_number(int64_t i, int64_t j) {
    return i == 5 && j == 6 ? (double)NAN : any_uniform();
}

static const struct kind {
    const char *name;
    maker *a, *b;
} kinds[] = {
    {"uniform", uniform, uniform},
    {"integers", integer, integer},
    {"wide exponents", any_exponent, any_exponent},
    {"scaled rows and columns", scaled_row, scaled_column},
    {"subnormal by huge", subnormal, huge},
    {"greatest by tiny", greatest, tiny},
    {"results below the least", tiny, tiny},
    {"zeros", zero, uniform},
    {"rows of zeros", zero_row, zero_row},
    {"infinities", infinite, uniform},
    {"infinities by infinities", infinite, infinite},
    {"NaN", uniform, not_a_number},
};

static void fill(double *x, void *dx, maker *make, int64_t count, int64_t ld) {
    for (int64_t e = 0; e < count; e++)
        x[e] = make(e / ld, e % ld);
    need(gt_rig_head(rig)->ops->write(rig, dx, 0, x, count * (int64_t)sizeof *x, &err));
}

/* ---- one product ---- */

/* A NaN is right when no other result can be: another order of the sum has one as well. */
static bool is_right(int64_t i, int64_t j) {
    const gemmtune_problem *p = &problem;
    const long double u = 0x1p-53L;
    long double sum = 0, rest = 0, sizes = 0;
    double plain = 0;
    for (int64_t q = 0; q < p->k; q++) {
        const double x = a[p->trans_a ? q * p->lda + i : i * p->lda + q];
        const double y = b[p->trans_b ? j * p->ldb + q : q * p->ldb + j];
        const long double term = (long double)x * y, next = sum + term, part = next - sum;
        rest += fmal(x, y, -term) + (sum - (next - part)) + (term - part);
        sum = next;
        sizes += fabsl(term);
        plain = fma(x, y, plain);
    }
    const double got = c[i * p->ldc + j];
    if (!isfinite(plain))
        return isnan(plain) ? isnan(got) : got == plain;
    const long double k = (long double)p->k, units = fminl(k / 2, 2 * sqrtl(k));
    return fabsl(got - (sum + rest)) <=
           units * u * sizes + 2 * u * fabsl(sum + rest) + k * DBL_TRUE_MIN;
}

static bool try_kind(const struct kind *kind) {
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    const gemmtune_problem *p = &problem;
    const int64_t bytes = gt_problem_elems_c(p) * (int64_t)sizeof *c;
    const double one = 1, nothing = 0;
    const struct gt_call call = {.alpha = &one,
                                 .a = da,
                                 .b = db,
                                 .beta = &nothing,
                                 .c = dc,
                                 .workspace = workspace,
                                 .stream = gt_rig_head(rig)->stream};
    int64_t wrong = 0;
    fill(a, da, kind->a, gt_problem_elems_a(p), p->lda);
    fill(b, db, kind->b, gt_problem_elems_b(p), p->ldb);
    memset(c, 0x7a, (size_t)bytes); /* an element that is not written is about 1e282 */
    need(ops->write(rig, dc, 0, c, bytes, &err));
    need(gt_exec_run(kernel, &call, &err));
    need(ops->finish(rig, &err));
    need(ops->read(rig, dc, 0, c, bytes, &err));
    for (int64_t e = 0; e < p->m * p->n; e++)
        wrong += !is_right(e / p->n, e % p->n);
    printf("%s %s: %" PRId64 " wrong\n", wrong > 0 ? "FAILED" : "ok", kind->name, wrong);
    return wrong == 0;
}

/* ---- all ---- */

static void open_device(void) {
    struct gt_device_list devices;
    need(gt_devices_list(&devices, &err));
    if (devices.count == 0)
        exit(4);
    need(gt_rig_open(&rig, &devices.device[0], &err));
}

static void build(const char *family, const char *point_text, const char *folder) {
    struct gt_families *families;
    struct gt_point point;
    need(gt_families_create(&families, &err));
    if (folder != NULL)
        need(gt_families_add_folder(families, folder, &err));
    const struct gt_family *f = gt_families_find(families, family);
    if (f == NULL)
        exit(2);
    need(gt_point_parse(&point, point_text, &err));
    need(gt_exec_create(&kernel, gt_rig_head(rig)->gpu, f, &point, &problem, NULL, &err));
}

static void allocate(void **to, int64_t count) {
    if (count > ELEMENTS_MAX)
        exit(2);
    need(gt_rig_head(rig)->ops->alloc(to, rig, count * (int64_t)sizeof(double), &err));
}

int main(int argc, char **argv) {
    struct gt_exec_info info;
    bool right = true;
    if (argc < 4)
        return 2;
    need(gt_problem_from_name(&problem, argv[1], &err));
    if (problem.type_a != GEMMTUNE_F64)
        return 2;
    open_device();
    build(argv[2], argv[3], argc > 4 ? argv[4] : NULL);
    gt_exec_describe(kernel, &info);
    allocate(&da, gt_problem_elems_a(&problem));
    allocate(&db, gt_problem_elems_b(&problem));
    allocate(&dc, gt_problem_elems_c(&problem));
    if (info.fit->passes.workspace_bytes > 0)
        need(gt_rig_head(rig)->ops->alloc(&workspace, rig, info.fit->passes.workspace_bytes,
                                          &err));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        right = try_kind(&kinds[i]) && right;
    return !right;
}
