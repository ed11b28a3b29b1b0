/* SPDX-License-Identifier: Apache-2.0 */
/* reference.c - see reference.h. */
#include "tuner/lab/reference.h"

#include "core/text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the loop everybody writes first ---- */

#define LOOP(name, type, sum_type)                                                         \
    static void name(const gemmtune_problem *p, const void *of_a, const void *of_b,        \
                     double beta, void *of_c) {                                            \
        const int64_t ai = p->trans_a ? 1 : p->lda, ak = p->trans_a ? p->lda : 1;          \
        const int64_t bk = p->trans_b ? 1 : p->ldb, bj = p->trans_b ? p->ldb : 1;          \
        for (int64_t e = 0; e < p->batch * p->m * p->n; e++) {                             \
            const int64_t z = e / p->n / p->m, i = e / p->n % p->m, j = e % p->n;          \
            const type *a = (const type *)of_a + z * p->stride_a;                          \
            const type *b = (const type *)of_b + z * p->stride_b;                          \
            type *c = (type *)of_c + z * p->stride_c + i * p->ldc + j;                     \
            sum_type sum = beta != 0 ? (sum_type)beta * (sum_type)*c : 0;                  \
            for (int64_t k = 0; k < p->k; k++)                                             \
                sum += (sum_type)a[i * ai + k * ak] * (sum_type)b[k * bk + j * bj];        \
            *c = (type)sum;                                                                \
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
    char about[GT_CPU_ABOUT_MAX];
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

/* An OpenBLAS that is older than the CPU falls back to the core type Prescott, with vectors
 * of 16 bytes. */
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

/* ", 2 threads", where OpenBLAS says how many it uses. */
static void add_threads(void) {
    int (*count)(void);
    void *symbol = dlsym(blas.library, "openblas_get_num_threads");
    const size_t at = strlen(blas.about);
    memcpy(&count, &symbol, sizeof count);
    if (symbol != NULL)
        snprintf(blas.about + at, sizeof blas.about - at, ", %d thread%s", count(),
                 gt_text_plural(count()));
}

/* Writes the library's file, version, core type and threads to blas.about. OpenBLAS chooses
 * its kernels by the core type that it detects. The text of openblas_get_config begins
 * "OpenBLAS 0.3.21". */
static void describe(const char *file) {
    const char *config = text_of("openblas_get_config");
    const char *core = text_of("openblas_get_corename");
    const char *blis = text_of("bli_info_get_version_str");
    if (config != NULL && core != NULL) {
        const char *version = strncmp(config, "OpenBLAS ", 9) == 0 ? config + 9 : config;
        snprintf(blas.about, sizeof blas.about, "%s, OpenBLAS %.*s, core %s", file,
                 (int)strcspn(version, " "), version, core);
        add_threads();
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

static void blas_any(const gemmtune_problem *p, const void *a, const void *b, double beta,
                     void *c) {
    gt_cpu_blas_run(p, 1, a, b, beta, c);
}

/* ---- choosing a function ---- */

static const struct {
    gemmtune_dtype type;
    gt_cpu_product by[2]; /* by enum gt_cpu */
} products[] = {
    {GEMMTUNE_F32, {loop_f32, blas_any}},
    {GEMMTUNE_F64, {loop_f64, blas_any}},
    {GEMMTUNE_I32, {loop_i32, NULL}},
};

static gt_cpu_product choose(enum gt_cpu which, const gemmtune_problem *p) {
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

gt_status gt_cpu_find(gt_cpu_product *out, char what[GT_CPU_ABOUT_MAX], enum gt_cpu which,
                      const gemmtune_problem *p, struct gt_err *err) {
    *out = choose(which, p);
    if (*out == NULL)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "the CPU's product does not support this type");
    if (which == GT_CPU_BLAS && !find_blas())
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "no CBLAS library on this machine");
    snprintf(what, GT_CPU_ABOUT_MAX, "%s",
             which == GT_CPU_BLAS ? blas.about : "three loops, one thread");
    return GEMMTUNE_OK;
}
