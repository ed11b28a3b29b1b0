/* SPDX-License-Identifier: Apache-2.0 */
/* check: long */
/*
 * test_library_tuned.c - from tuning to use: the program tunes four problems, then a
 * program linked to the library opens that database and multiplies real numbers on an
 * OpenCL device, in shapes that were never tuned. The result must be OpenBLAS's (or a plain
 * loop's, where that is not installed), and the plan must say how it was found. Then the
 * same with families of the tests that have winners with a workspace.
 */
#include "db/db.h"
#include "runtime/plan/context.h"
#include "runtime/drivers/opencl_device.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPLIT  "f32-nn-45x50x71"
#define HUNGRY "f32-nn-64x64x64"
#define TUNED  "f32-nn-64x64x64 f64-nt-48x40x56 i32-tn-33x31x64 f32-tt-80x50x60"

static struct machine {
    struct gt_device device;
    const struct gt_opencl *cl;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
} machine;

static int failures;

static void need(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "test_library_tuned: %s: %s\n", what, gemmtune_errmsg());
    exit(1);
}

/* ---- the reference: everything in double, row-major ---- */

struct product {
    const char *name;
    double alpha, beta;
    gemmtune_match match; /* how its kernel must be found */
};

/* The workspace that the caller gives. */
struct offer {
    size_t workspace_max;
    size_t least;  /* bytes of it that the kernel must need */
    bool one_call; /* gemmtune_gemm; its context has 32 MiB */
};

typedef void (*dgemm_fn)(int order, int ta, int tb, int m, int n, int k, double alpha,
                         const double *a, int lda, const double *b, int ldb, double beta,
                         double *c, int ldc);

static void plain_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha,
                        const double *a, int lda, const double *b, int ldb, double beta,
                        double *c, int ldc) {
    (void)order;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += (ta == 112 ? a[l * lda + i] : a[i * lda + l]) *
                       (tb == 112 ? b[j * ldb + l] : b[l * ldb + j]);
            c[i * ldc + j] = alpha * sum + beta * c[i * ldc + j];
        }
}

static dgemm_fn find_dgemm(void) {
    union {
        void *symbol;
        dgemm_fn call;
    } f = {NULL};
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library)
        f.symbol = dlsym(library, "cblas_dgemm");
    printf("# the reference is %s\n", f.symbol ? "OpenBLAS" : "a plain loop");
    return f.symbol ? f.call : plain_dgemm;
}

/* ---- matrices ---- */

struct matrix {
    int64_t elements;
    gemmtune_dtype type;
    double *value, *size; /* as doubles, and their absolutes */
    void *stored;
    cl_mem memory;
};

static void store(const struct matrix *x, int64_t i, double value) {
    if (x->type == GEMMTUNE_F32)
        ((float *)x->stored)[i] = (float)value;
    else if (x->type == GEMMTUNE_F64)
        ((double *)x->stored)[i] = value;
    else
        ((int32_t *)x->stored)[i] = (int32_t)value;
}

static double fetch(const struct matrix *x, int64_t i) {
    return x->type == GEMMTUNE_F32   ? (double)((float *)x->stored)[i]
           : x->type == GEMMTUNE_F64 ? ((double *)x->stored)[i]
                                     : (double)((int32_t *)x->stored)[i];
}

static size_t bytes_of(const struct matrix *x) {
    return (size_t)x->elements * (x->type == GEMMTUNE_F64 ? 8 : 4);
}

/* Random numbers in [-1, 1), or integers in -1000..999. */
static struct matrix make(gemmtune_dtype type, int64_t elements, uint64_t seed) {
    struct matrix x = {.elements = elements, .type = type};
    cl_int result = 0;
    x.value = calloc((size_t)elements, sizeof *x.value);
    x.size = calloc((size_t)elements, sizeof *x.size);
    x.stored = calloc((size_t)elements, 8);
    need(x.value && x.size && x.stored, "memory");
    for (int64_t i = 0; i < elements; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double random = (double)(seed >> 11) / 4503599627370496.0 - 1;
        store(&x, i, type == GEMMTUNE_I32 ? floor(1000 * random) : random);
        x.value[i] = fetch(&x, i);
        x.size[i] = fabs(x.value[i]);
    }
    x.memory = machine.cl->clCreateBuffer(machine.context, GT_CL_MEM_READ_WRITE,
                                          bytes_of(&x), NULL, &result);
    need(result == 0, "clCreateBuffer");
    need(machine.cl->clEnqueueWriteBuffer(machine.queue, x.memory, GT_CL_TRUE, 0,
                                          bytes_of(&x), x.stored, 0, NULL, NULL) == 0,
         "clEnqueueWriteBuffer");
    return x;
}

static void unmake(struct matrix *x) {
    (void)machine.cl->clReleaseMemObject(x->memory);
    free(x->value);
    free(x->size);
    free(x->stored);
}

/* ---- one product ---- */

static void call(dgemm_fn dgemm, const gemmtune_problem *p, double alpha, const double *a,
                 const double *b, double beta, double *c) {
    dgemm(101, p->trans_a ? 112 : 111, p->trans_b ? 112 : 111, (int)p->m, (int)p->n,
          (int)p->k, alpha, a, (int)p->lda, b, (int)p->ldb, beta, c, (int)p->ldc);
}

/* Elements that are off by more than 16 units of |alpha| |A| |B| + |beta| |C|, which covers
 * any order of summing, also the reference's. Padding must be unchanged. */
static int64_t count_wrong(dgemm_fn dgemm, const gemmtune_problem *p,
                           const struct product *q, const struct matrix *a,
                           const struct matrix *b, struct matrix *c) {
    const double unit = p->type_c == GEMMTUNE_F32   ? 0x1p-24
                        : p->type_c == GEMMTUNE_F64 ? 0x1p-53
                                                    : 0;
    int64_t wrong = 0;
    call(dgemm, p, q->alpha, a->value, b->value, q->beta, c->value);
    call(dgemm, p, fabs(q->alpha), a->size, b->size, fabs(q->beta), c->size);
    for (int64_t i = 0; i < c->elements; i++) {
        const double off = fabs(fetch(c, i) - c->value[i]);
        wrong += !(off <= (i % p->ldc < p->n ? 16 * unit * c->size[i] : 0));
    }
    return wrong;
}

static void put_scalar(void *out, gemmtune_dtype type, double value) {
    struct matrix one = {.type = type, .stored = out};
    store(&one, 0, value);
}

/* Device memory full of 0xff, which is NaN; NULL for none. */
static cl_mem workspace_of(size_t bytes) {
    cl_int result = 0;
    if (bytes == 0)
        return NULL;
    cl_mem memory = machine.cl->clCreateBuffer(machine.context, GT_CL_MEM_READ_WRITE, bytes,
                                               NULL, &result);
    need(result == 0, "clCreateBuffer");
    const uint32_t ones = UINT32_MAX;
    need(machine.cl->clEnqueueFillBuffer(machine.queue, memory, &ones, sizeof ones, 0,
                                         bytes / 4 * 4, 0, NULL, NULL) == 0,
         "clEnqueueFillBuffer");
    return memory;
}

static void run(gemmtune_ctx *ctx, const gemmtune_problem *p, const struct product *q,
                const struct offer *o, gemmtune_plan_info *info, struct matrix m[3]) {
    gemmtune_plan *plan;
    double alpha, beta;
    put_scalar(&alpha, p->type_acc, q->alpha);
    put_scalar(&beta, p->type_acc, q->beta);
    need(gemmtune_plan_create(&plan, ctx, p, GEMMTUNE_MATCH_DEFAULT, o->workspace_max) ==
             GEMMTUNE_OK,
         q->name);
    gemmtune_plan_describe(plan, info);
    printf("# %s: %s %s, %zu bytes of workspace, %s\n", q->name, info->family, info->params,
           info->workspace_bytes, info->why);
    cl_mem workspace = workspace_of(info->workspace_bytes);
    if (workspace)
        need(gemmtune_execute(plan, &alpha, m[0].memory, m[1].memory, &beta, m[2].memory,
                              NULL, machine.queue) == GEMMTUNE_EWORKSPACE,
             "a missing workspace is noticed");
    const gemmtune_status status =
        o->one_call ? gemmtune_gemm(ctx, p, &alpha, m[0].memory, m[1].memory, &beta,
                                    m[2].memory, machine.queue)
                    : gemmtune_execute(plan, &alpha, m[0].memory, m[1].memory, &beta,
                                       m[2].memory, workspace, machine.queue);
    need(status == GEMMTUNE_OK, q->name);
    need(machine.cl->clEnqueueReadBuffer(machine.queue, m[2].memory, GT_CL_TRUE, 0,
                                         bytes_of(&m[2]), m[2].stored, 0, NULL, NULL) == 0,
         "clEnqueueReadBuffer");
    if (workspace)
        (void)machine.cl->clReleaseMemObject(workspace);
    gemmtune_plan_destroy(plan);
}

static void multiply(gemmtune_ctx *ctx, dgemm_fn dgemm, const struct product *q,
                     const struct offer *o) {
    gemmtune_plan_info info = {.struct_size = sizeof info};
    gemmtune_problem p;
    need(gemmtune_problem_parse(&p, q->name) == GEMMTUNE_OK, q->name);
    p.lda = p.lda ? p.lda : p.trans_a ? p.m : p.k;
    p.ldb = p.ldb ? p.ldb : p.trans_b ? p.k : p.n;
    p.ldc = p.ldc ? p.ldc : p.n;
    struct matrix m[3] = {make(p.type_a, (p.trans_a ? p.k : p.m) * p.lda, 1),
                          make(p.type_b, (p.trans_b ? p.n : p.k) * p.ldb, 2),
                          make(p.type_c, p.m * p.ldc, 3)};
    run(ctx, &p, q, o, &info, m);
    const int64_t wrong = count_wrong(dgemm, &p, q, &m[0], &m[1], &m[2]);
    const bool found = info.match == q->match && info.workspace_bytes >= o->least &&
                       info.workspace_bytes <= o->workspace_max;
    printf("%sok - %s alpha %g beta %g is right\n", wrong ? "not " : "", q->name, q->alpha,
           q->beta);
    printf("%sok - %s is found as %s\n", found ? "" : "not ", q->name,
           q->match == GEMMTUNE_MATCH_EXACT   ? "tuned for exactly this problem"
           : q->match == GEMMTUNE_MATCH_SHAPE ? "tuned in another shape"
                                              : "a default");
    failures += (wrong != 0) + !found;
    for (int i = 0; i < 3; i++)
        unmake(&m[i]);
}

static const struct product products[] = {
    {"f32-nn-64x64x64", 1, 0, GEMMTUNE_MATCH_EXACT},
    {"f64-nt-48x40x56", 1, 0, GEMMTUNE_MATCH_EXACT},
    {"i32-tn-33x31x64", 1, 0, GEMMTUNE_MATCH_EXACT},
    {"f32-tt-80x50x60", 1, 0, GEMMTUNE_MATCH_EXACT},
    {"f32-nn-127x61x255", 1, 0, GEMMTUNE_MATCH_SHAPE},
    {"f32-nn-1x1x1", 2, 1, GEMMTUNE_MATCH_SHAPE},
    {"f32-nn-300x2x77,lda=80,ldb=5,ldc=7", -1.5, 0.5, GEMMTUNE_MATCH_SHAPE},
    {"f32-tt-3x211x97", 0.25, -1, GEMMTUNE_MATCH_SHAPE},
    {"f64-nt-101x103x107", 1, 1, GEMMTUNE_MATCH_SHAPE},
    {"f64-nt-31x7x1023,lda=1024,ldb=1025,ldc=9", 3, -2, GEMMTUNE_MATCH_SHAPE},
    {"i32-tn-97x89x83", 3, -2, GEMMTUNE_MATCH_SHAPE},
    {"f64-tn-65x66x67", 1, 0,
     GEMMTUNE_MATCH_DEFAULT}, /* no problem of this kind was tuned */
};

struct served {
    struct product product;
    struct offer offer;
};

/* The family split serves its winner with much workspace. Without workspace, or with too
 * little, it serves the finalist that needs none. */
static const struct served with_passes[] = {
    {{SPLIT, 1, 0, GEMMTUNE_MATCH_EXACT}, {1 << 20, 1, false}},
    {{SPLIT, 1, 0, GEMMTUNE_MATCH_EXACT}, {0, 0, false}},
    {{SPLIT, 1, 0, GEMMTUNE_MATCH_EXACT}, {32 << 20, 1, true}},
    {{"f32-nn-45x50x71", 0, 0.5, GEMMTUNE_MATCH_EXACT}, {1 << 20, 1, false}},
    {{"f32-nn-90x33x71,lda=75,ldb=34,ldc=40", -2, 3, GEMMTUNE_MATCH_SHAPE},
     {1 << 20, 1, false}},
    {{"f32-nn-90x33x71,lda=75,ldb=34,ldc=40", -2, 3, GEMMTUNE_MATCH_SHAPE},
     {32 << 20, 1, true}},
};

/* The family hungry serves its winner, the best point within 32 MiB of workspace, or the
 * best point without any. */
static const struct served with_less[] = {
    {{HUNGRY, 1, 0, GEMMTUNE_MATCH_EXACT}, {128 << 20, (64 << 20) + 1, false}},
    {{HUNGRY, 1, 0, GEMMTUNE_MATCH_EXACT}, {32 << 20, 1, false}},
    {{HUNGRY, -2, 3, GEMMTUNE_MATCH_EXACT}, {4095, 0, false}},
    {{HUNGRY, 1, 0, GEMMTUNE_MATCH_EXACT}, {32 << 20, 1, true}},
};

/* ---- set-up ---- */

static void find_device(void) {
    struct gt_device_list list = {0};
    struct gt_err err = {""};
    cl_platform_id platform;
    cl_int result = 0;
    need(gt_devices_list(&list, &err) == GEMMTUNE_OK, err.line);
    size_t i = 0;
    while (i < list.count && list.device[i].backend != GEMMTUNE_OPENCL)
        i++;
    need(i < list.count, "no OpenCL device");
    machine.device = list.device[i];
    gt_devices_clear(&list);
    machine.cl = gt_opencl_api(NULL);
    need(gt_opencl_device(&platform, &machine.id, machine.device.ordinal, &err) ==
             GEMMTUNE_OK,
         err.line);
    machine.context =
        machine.cl->clCreateContext(NULL, 1, &machine.id, NULL, NULL, &result);
    need(result == 0, "clCreateContext");
    machine.queue =
        machine.cl->clCreateCommandQueue(machine.context, machine.id, 0, &result);
    need(result == 0, "clCreateCommandQueue");
}

static void tune(const char *db, const char *arguments) {
    char key[GT_DEVICE_KEY_MAX], command[2048];
    const char *program = getenv("GEMMTUNE");
    gt_device_key(&machine.device, key);
    snprintf(command, sizeof command,
             "\"%s\" tune --device %s --db \"%s\" --quiet %s >/dev/null",
             program ? program : "build/gemmtune", key, db, arguments);
    need(system(command) == 0, command);
}

static gemmtune_ctx *opened(const char *db_path) {
    const gemmtune_target target = {.struct_size = sizeof target,
                                    .backend = GEMMTUNE_OPENCL,
                                    .context = machine.context,
                                    .device = machine.id};
    gemmtune_ctx *ctx;
    need(gemmtune_open(&ctx, db_path, &target) == GEMMTUNE_OK, "gemmtune_open");
    return ctx;
}

#define FAMILIES "tests/data/families"

/* The library has only its own families: the tests' families are put into the context, and
 * the database is read again. */
static void add_families(gemmtune_ctx *ctx, const char *db_path) {
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    int64_t stale;
    free(ctx->known);
    gt_index_destroy(ctx->index);
    need(gt_families_add_folder(ctx->families, FAMILIES, &err) == GEMMTUNE_OK, err.line);
    need(gt_db_open(&db, db_path, GT_DB_READ, &err) == GEMMTUNE_OK, err.line);
    need(gt_known_load(&ctx->known, &ctx->snapshot.count, &stale, db, ctx->families,
                       machine.device.arch, &err) == GEMMTUNE_OK,
         err.line);
    need(gt_index_create(&ctx->index, ctx->known, ctx->snapshot.count, &err) == GEMMTUNE_OK,
         err.line);
    ctx->snapshot.known = ctx->known;
    ctx->snapshot.index = ctx->index;
    gt_db_close(db);
}

/* Tunes one of the tests' families on a problem, and multiplies with the result. */
static void serve(dgemm_fn dgemm, const char *family, const char *problem,
                  const struct served *served, size_t count) {
    char db[1024], arguments[256];
    const char *tmp = getenv("TMPDIR");
    snprintf(db, sizeof db, "%s/%s.db", tmp ? tmp : "/tmp", family);
    snprintf(arguments, sizeof arguments,
             "--effort full --templates " FAMILIES " --family %s %s", family, problem);
    tune(db, arguments);
    gemmtune_ctx *ctx = opened(db);
    add_families(ctx, db);
    for (size_t i = 0; i < count; i++)
        multiply(ctx, dgemm, &served[i].product, &served[i].offer);
    gemmtune_close(ctx);
}

int main(void) {
    const struct offer nothing = {0, 0, false};
    char db[1024];
    const char *tmp = getenv("TMPDIR");
    const dgemm_fn dgemm = find_dgemm();
    snprintf(db, sizeof db, "%s/tuned.db", tmp ? tmp : "/tmp");
    find_device();
    tune(db, "--effort quick --family naive --family tile --family coalesced " TUNED);
    gemmtune_ctx *ctx = opened(db);
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        multiply(ctx, dgemm, &products[i], &nothing);
    gemmtune_close(ctx);
    serve(dgemm, "split", SPLIT, with_passes, sizeof with_passes / sizeof *with_passes);
    serve(dgemm, "hungry", HUNGRY, with_less, sizeof with_less / sizeof *with_less);
    (void)machine.cl->clReleaseCommandQueue(machine.queue);
    (void)machine.cl->clReleaseContext(machine.context);
    return failures > 0;
}
