/* SPDX-License-Identifier: Apache-2.0 */
/* reference.c - see reference.h. */
#include "tuner/lab/reference.h"

#include "core/clock.h"
#include "tuner/base/quantile.h"
#include "tuner/lab/data.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 32 };

struct matrices {
    void *a, *b, *c;
};

static void clear(struct matrices *x) {
    free(x->a);
    free(x->b);
    free(x->c);
}

static void *elements(int64_t count, gemmtune_dtype type) {
    return malloc((size_t)(count > 0 ? count : 1) * gt_type_size(type));
}

static gt_status make(struct matrices *x, const gemmtune_problem *p, struct gt_err *err) {
    x->a = elements(gt_problem_elems_a(p), p->type_a);
    x->b = elements(gt_problem_elems_b(p), p->type_b);
    x->c = elements(gt_problem_elems_c(p), p->type_c);
    if (!x->a || !x->b || !x->c)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no host memory for the product on the CPU");
    const struct gt_stack a = gt_stack_of(p, 0), b = gt_stack_of(p, 1);
    gt_data_fill(x->a, &a, 1, GT_DATA_UNIFORM);
    gt_data_fill(x->b, &b, 2, GT_DATA_UNIFORM);
    /* the first write to a page is the system's work, not the product's */
    memset(x->c, 0, (size_t)gt_problem_elems_c(p) * gt_type_size(p->type_c));
    return GEMMTUNE_OK;
}

/* ---- the loop everybody writes first ---- */

#define LOOP(name, type, sum_type)                                                         \
    static void name(const gemmtune_problem *p, const struct matrices *x) {                \
        const int64_t ai = p->trans_a ? 1 : p->lda, ak = p->trans_a ? p->lda : 1;          \
        const int64_t bk = p->trans_b ? 1 : p->ldb, bj = p->trans_b ? p->ldb : 1;          \
        for (int64_t e = 0; e < p->batch * p->m * p->n; e++) {                             \
            const int64_t z = e / p->n / p->m, i = e / p->n % p->m, j = e % p->n;          \
            const type *a = (const type *)x->a + z * p->stride_a;                          \
            const type *b = (const type *)x->b + z * p->stride_b;                          \
            sum_type sum = 0;                                                              \
            for (int64_t k = 0; k < p->k; k++)                                             \
                sum += (sum_type)a[i * ai + k * ak] * (sum_type)b[k * bk + j * bj];        \
            ((type *)x->c)[z * p->stride_c + i * p->ldc + j] = (type)sum;                  \
        }                                                                                  \
    }

LOOP(loop_f32, float, double) /* with a double accumulator, as in the published table */
LOOP(loop_f64, double, double)
LOOP(loop_i32, uint32_t, uint32_t)

/* ---- CBLAS ---- */

enum { CBLAS_ROW = 101, CBLAS_NO = 111, CBLAS_YES = 112 };
typedef void (*sgemm_fn)(int, int, int, int, int, int, float, const float *, int,
                         const float *, int, float, float *, int);
typedef void (*dgemm_fn)(int, int, int, int, int, int, double, const double *, int,
                         const double *, int, double, double *, int);

static struct {
    void *library; /* NULL: no library is open */
    sgemm_fn sgemm;
    dgemm_fn dgemm;
    const char *warning; /* a reason why it is slow, or NULL */
    char about[128];
} blas;

static bool try_library(const char *file) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void *s = library != NULL ? dlsym(library, "cblas_sgemm") : NULL;
    void *d = library != NULL ? dlsym(library, "cblas_dgemm") : NULL;
    if (s == NULL || d == NULL) {
        if (library != NULL)
            (void)dlclose(library);
        return false;
    }
    memcpy(&blas.sgemm, &s, sizeof s);
    memcpy(&blas.dgemm, &d, sizeof d);
    blas.library = library;
    return true;
}

/* Calls a function of the library that takes nothing and returns a text. NULL when there is
 * no such function. */
static const char *text_of(const char *function) {
    const char *(*call)(void);
    void *symbol = dlsym(blas.library, function);
    memcpy(&call, &symbol, sizeof call);
    return symbol != NULL ? call() : NULL;
}

/* An OpenBLAS that is older than the CPU falls back to the core type Prescott, whose
 * vectors have 16 bytes. */
static const char *warning_of_core(const char *core) {
#if defined(__x86_64__)
    static const char slow[] = "the CPU BLAS of this machine does not know this CPU, and "
                               "is several times slower than it could be: set ";
    static const char wide[] = "OPENBLAS_CORETYPE=SkylakeX",
                      narrow[] = "OPENBLAS_CORETYPE=Haswell";
    static char text[sizeof slow + sizeof wide];
    if (strcmp(core, "Prescott") == 0 && __builtin_cpu_supports("avx2")) {
        snprintf(text, sizeof text, "%s%s", slow,
                 __builtin_cpu_supports("avx512f") ? wide : narrow);
        return text;
    }
#endif
    (void)core;
    return NULL;
}

/* Writes the library's file, version and core type to blas.about. OpenBLAS chooses its
 * kernels by the core type that it detects. The text of openblas_get_config begins
 * "OpenBLAS 0.3.21". */
static void describe(const char *file) {
    const char *config = text_of("openblas_get_config");
    const char *core = text_of("openblas_get_corename");
    const char *blis = text_of("bli_info_get_version_str");
    if (config != NULL && core != NULL) {
        const char *version = strncmp(config, "OpenBLAS ", 9) == 0 ? config + 9 : config;
        snprintf(blas.about, sizeof blas.about, "%s, OpenBLAS %.*s, core %s", file,
                 (int)strcspn(version, " "), version, core);
        blas.warning = warning_of_core(core);
        return;
    }
    if (blis != NULL) {
        snprintf(blas.about, sizeof blas.about, "%s, BLIS %s", file, blis);
        return;
    }
    const bool is_reference = dlsym(blas.library, "MKL_Get_Version_String") == NULL &&
                              dlsym(blas.library, "ATL_buildinfo") == NULL;
    snprintf(blas.about, sizeof blas.about, "%s%s", file,
             is_reference ? ", reference BLAS" : "");
    if (is_reference)
        blas.warning = "the CPU BLAS of this machine is the reference BLAS, tens of times "
                       "slower than a tuned one: install OpenBLAS to compare with";
}

/* Opens the library that GEMMTUNE_LIBCBLAS names, or the first of these that opens and has
 * both functions. It looks only once. */
static bool find_blas(void) {
    static const char *const files[] = {"libopenblas.so.0", "libopenblas.so",
                                        "libblis.so.4",     "libmkl_rt.so.2",
                                        "libcblas.so.3",    "libblas.so.3"};
    static bool looked;
    const char *named = getenv("GEMMTUNE_LIBCBLAS");
    if (looked)
        return blas.library != NULL;
    looked = true;
    if (named != NULL && try_library(named))
        describe(named);
    for (size_t i = 0;
         named == NULL && blas.library == NULL && i < sizeof files / sizeof *files; i++)
        if (try_library(files[i]))
            describe(files[i]);
    return blas.library != NULL;
}

const char *gt_cpu_blas_warning(void) {
    return find_blas() ? blas.warning : NULL;
}

/* One product. */
static void blas_one(const gemmtune_problem *p, double alpha, const void *a, const void *b,
                     double beta, void *c) {
    const int ta = p->trans_a ? CBLAS_YES : CBLAS_NO,
              tb = p->trans_b ? CBLAS_YES : CBLAS_NO;
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const int lda = (int)p->lda, ldb = (int)p->ldb, ldc = (int)p->ldc;
    if (p->type_c == GEMMTUNE_F64)
        blas.dgemm(CBLAS_ROW, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    else
        blas.sgemm(CBLAS_ROW, ta, tb, m, n, k, (float)alpha, a, lda, b, ldb, (float)beta, c,
                   ldc);
}

/* A CBLAS has no call for batches that all libraries know. */
void gt_cpu_blas_run(const gemmtune_problem *p, double alpha, const void *a, const void *b,
                     double beta, void *c) {
    const size_t size = gt_type_size(p->type_c);
    for (int64_t z = 0; z < p->batch; z++)
        blas_one(p, alpha, (const char *)a + (size_t)(z * p->stride_a) * size,
                 (const char *)b + (size_t)(z * p->stride_b) * size, beta,
                 (char *)c + (size_t)(z * p->stride_c) * size);
}

static void blas_any(const gemmtune_problem *p, const struct matrices *x) {
    gt_cpu_blas_run(p, 1, x->a, x->b, 0, x->c);
}

/* ---- choosing and timing a function ---- */

typedef void (*product_fn)(const gemmtune_problem *p, const struct matrices *x);

static const struct {
    gemmtune_dtype type;
    product_fn by[2]; /* by enum gt_cpu */
} products[] = {
    {GEMMTUNE_F32, {loop_f32, blas_any}},
    {GEMMTUNE_F64, {loop_f64, blas_any}},
    {GEMMTUNE_I32, {loop_i32, NULL}},
};

static product_fn choose(enum gt_cpu which, const gemmtune_problem *p) {
    if (p->type_a != p->type_c || p->type_b != p->type_c || p->epilogue != NULL ||
        gt_problem_has_rows(p))
        return NULL;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (products[i].type == p->type_c)
            return products[i].by[which];
    return NULL;
}

const char *gt_cpu_blas_for(const gemmtune_problem *p) {
    return choose(GT_CPU_BLAS, p) && find_blas() ? blas.about : NULL;
}

/* Nanoseconds of the median run. The first run starts threads and touches pages for the
 * first time, so it counts only when it is long enough to be the only one. */
static double median_of_runs(product_fn product, const gemmtune_problem *p,
                             const struct matrices *set, int sets) {
    enum { RUNS = 33 };
    const double enough_s = 1;
    double run[RUNS], spent = 0;
    int count = 0;
    for (int i = 0; i < RUNS && spent < enough_s; i++) {
        const double start = gt_seconds();
        product(p, &set[i % sets]);
        const double s = gt_seconds() - start;
        spent += s;
        if (i > 0 || spent >= enough_s)
            run[count++] = s;
    }
    return gt_median(run, (size_t)count) * 1e9;
}

/* The number of sets of matrices that exceeds the caches of most machines. No run then
 * finds its inputs in a cache, as when kernels are timed. */
static int set_count(const gemmtune_problem *p) {
    const double enough = 96 << 20, count = enough / gt_problem_bytes(p) + 1;
    return count < SETS_MAX ? (int)count : SETS_MAX;
}

gt_status gt_cpu_time(double *ns, char what[GT_CPU_ABOUT_MAX], enum gt_cpu which,
                      const gemmtune_problem *p, struct gt_err *err) {
    const product_fn product = choose(which, p);
    struct matrices set[SETS_MAX] = {{0}};
    const int sets = set_count(p);
    if (!product)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "the CPU's product does not support this type");
    if (which == GT_CPU_BLAS && !find_blas())
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "no CBLAS library on this machine");
    snprintf(what, GT_CPU_ABOUT_MAX, "%s",
             which == GT_CPU_BLAS ? blas.about : "three loops, one thread");
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < sets; i++)
        status = make(&set[i], p, err);
    if (status == GEMMTUNE_OK)
        *ns = median_of_runs(product, p, set, sets);
    for (int i = 0; i < sets; i++)
        clear(&set[i]);
    return status;
}
