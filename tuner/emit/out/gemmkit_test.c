/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemmkit_test.c - runs every kernel that the folder has for the present device, and
 * compares all elements of C with a reference that the CPU computes. Elements are small
 * integers, so that every sum is exact and C must be equal. A row of A has as many elements
 * that are not 0 as the CPU has time for.
 *
 *   gemmkit_test [--quick] [--exact] | --time-only
 *     --quick      leaves out problems of more than 2^27 multiply-adds
 *     --exact      leaves out general kernels
 *     --time-only  checks nothing and prints times: of the first product of a process, and
 *                  of calls
 *
 * Exit 0: all are right. 1: one is wrong or failed. 4: no device, or no kernel for it.
 */
#include "gemmkit_inside.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the device ---- */

typedef unsigned long long device_t; /* CUdeviceptr */

#define CALLS(X)                                                                           \
    X(cuInit, cuInit, (unsigned))                                                          \
    X(cuDeviceGet, cuDeviceGet, (int *, int))                                              \
    X(cuDeviceGetName, cuDeviceGetName, (char *, int, int))                                \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (void **, int))                  \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (void *))                                          \
    X(cuCtxSynchronize, cuCtxSynchronize, (void))                                          \
    X(cuMemAlloc, cuMemAlloc_v2, (device_t *, size_t))                                     \
    X(cuMemFree, cuMemFree_v2, (device_t))                                                 \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2, (device_t, const void *, size_t))                     \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2, (void *, device_t, size_t))

static struct calls {
#define X(name, symbol, params) unsigned(*name) params;
    CALLS(X)
#undef X
} cu;

static char device_name[128];

static void stop(int code, const char *what, const char *why) {
    fprintf(stderr, "gemmkit_test: %s%s\n", what, why);
    exit(code);
}

static void open_device(void) {
    static const struct {
        const char *symbol;
        size_t at;
    } wanted[] = {
#define X(name, symbol, params) {#symbol, offsetof(struct calls, name)},
        CALLS(X)
#undef X
    };
    const char *path = getenv("GEMMKIT_LIBCUDA");
    void *const library = dlopen(path != NULL ? path : "libcuda.so.1", RTLD_NOW);
    if (library == NULL)
        stop(4, "there is no CUDA driver: ", dlerror());
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *const found = dlsym(library, wanted[i].symbol);
        if (found == NULL)
            stop(4, "the CUDA driver has no ", wanted[i].symbol);
        memcpy((char *)&cu + wanted[i].at, &found, sizeof found);
    }
    int device = 0;
    void *context = NULL;
    if (cu.cuInit(0) != 0 || cu.cuDeviceGet(&device, 0) != 0 ||
        cu.cuDeviceGetName(device_name, sizeof device_name, device) != 0 ||
        cu.cuDevicePrimaryCtxRetain(&context, device) != 0 ||
        cu.cuCtxSetCurrent(context) != 0)
        stop(4, "there is no CUDA device", "");
}

static device_t allocate(size_t bytes) {
    device_t memory = 0;
    if (cu.cuMemAlloc(&memory, bytes > 0 ? bytes : 1) != 0)
        stop(1, "out of device memory", "");
    return memory;
}

static device_t upload(const void *from, size_t bytes) {
    const device_t memory = allocate(bytes);
    if (cu.cuMemcpyHtoD(memory, from, bytes) != 0)
        stop(1, "a copy to the device failed", "");
    return memory;
}

static void *at_address(device_t memory) {
    return (void *)(uintptr_t)memory;
}

static void *host(size_t bytes) {
    void *const memory = calloc(bytes > 0 ? bytes : 1, 1);
    if (memory == NULL)
        stop(1, "out of host memory", "");
    return memory;
}

/* ---- elements ---- */

/* Bits of exponent and fraction of the floats that C has no type for. */
static const struct {
    int exponent, fraction;
} floats[] = {[GEMMKIT_F16] = {5, 10},
              [GEMMKIT_BF16] = {8, 7},
              [GEMMKIT_E4M3] = {4, 3},
              [GEMMKIT_E5M2] = {5, 2}};

static uint64_t encode_float(int type, double v) {
    const int bits = floats[type].exponent, fraction = floats[type].fraction;
    const int bias = (1 << (bits - 1)) - 1;
    const uint64_t sign = signbit(v) ? UINT64_C(1) << (bits + fraction) : 0;
    int exponent;
    if (v == 0)
        return 0;
    (void)frexp(fabs(v), &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    const double units = nearbyint(ldexp(fabs(v), fraction - exponent));
    return sign | (((uint64_t)(exponent + bias - 1) << fraction) + (uint64_t)units);
}

/* The number's bits in the type, rounded to the nearest element. */
static uint64_t encode(int type, double v) {
    uint64_t bits = 0;
    const float f = (float)v;
    const int32_t i = (int32_t)v;
    if (type == GEMMKIT_F64)
        memcpy(&bits, &v, sizeof v);
    else if (type == GEMMKIT_F32)
        memcpy(&bits, &f, sizeof f);
    else if (type == GEMMKIT_I32 || type == GEMMKIT_I8)
        memcpy(&bits, &i, gk_type_size(type));
    else
        bits = encode_float(type, v);
    return bits;
}

static uint64_t load(const unsigned char *from, size_t size) {
    uint64_t bits = 0;
    memcpy(&bits, from, size);
    return bits;
}

static uint64_t state = 1;
static uint32_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

/* ---- one operand ---- */

struct matrix {
    int64_t rows, cols, ld, stride, count; /* as stored */
    int type;
    size_t bytes;
    int8_t *number;       /* rows * cols of each */
    unsigned char *store; /* as the device has it */
    device_t memory, list;
};

static int64_t first_of(const struct matrix *x, int64_t product) {
    return x->count > 1 ? product * x->stride : 0;
}

static struct matrix make(int64_t rows, int64_t cols, int64_t ld, int64_t stride,
                          int64_t batch, int type) {
    struct matrix x = {.rows = rows, .cols = cols, .ld = ld, .type = type};
    x.stride = stride;
    x.count = stride == 0 ? 1 : batch;
    x.bytes =
        (size_t)((x.count - 1) * stride + (rows - 1) * ld + cols) * gk_type_size(type);
    x.number = host((size_t)(x.count * rows * cols));
    x.store = host(x.bytes);
    memset(x.store, 0xff, x.bytes); /* not numbers, or -1 */
    return x;
}

/* Stores the numbers, which are -3 to 3. */
static void fill_store(struct matrix *x) {
    const size_t size = gk_type_size(x->type);
    uint64_t code[7];
    for (int i = 0; i < 7; i++)
        code[i] = encode(x->type, i - 3);
    for (int64_t p = 0; p < x->count; p++)
        for (int64_t r = 0; r < x->rows; r++)
            for (int64_t c = 0; c < x->cols; c++)
                memcpy(x->store + (size_t)(first_of(x, p) + r * x->ld + c) * size,
                       &code[x->number[(p * x->rows + r) * x->cols + c] + 3], size);
}

static void give_back(struct matrix *x) {
    free(x->number);
    free(x->store);
    (void)cu.cuMemFree(x->memory);
    if (x->list != 0)
        (void)cu.cuMemFree(x->list);
}

/* A device array of pointers to the matrices of a batch. */
static void make_list(struct matrix *x, int64_t batch) {
    device_t *const list = host((size_t)batch * sizeof *list);
    for (int64_t i = 0; i < batch; i++)
        list[i] = x->memory + (size_t)first_of(x, i) * gk_type_size(x->type);
    x->list = upload(list, (size_t)batch * sizeof *list);
    free(list);
}

/* ---- one product ---- */

enum { BUDGET = 1 << 27 }; /* additions of the reference */

struct product {
    struct gk_problem p;
    struct matrix a, b, c;
    int64_t filled; /* elements of a row of op(A) that are not 0 */
    int8_t *flat;   /* op(B), k rows of n numbers of each matrix */
};

static double volume(const struct gk_problem *p) {
    return (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
}

/* Element (i, l) of op(A) of a product. */
static int8_t *at_a(const struct product *x, int64_t b, int64_t i, int64_t l) {
    const struct matrix *a = &x->a;
    const int64_t first = (a->count > 1 ? b : 0) * a->rows * a->cols;
    return &a->number[first + (x->p.kind.trans_a ? l * a->cols + i : i * a->cols + l)];
}

/* Copies op(B) in pieces that the caches hold. */
static void flatten(struct product *x) {
    enum { PIECE = 64 };
    const struct matrix *m = &x->b;
    const int64_t n = x->p.n, k = x->p.k;
    x->flat = host((size_t)(m->count * k * n));
    if (!x->p.kind.trans_b) {
        memcpy(x->flat, m->number, (size_t)(m->count * k * n));
        return;
    }
    for (int64_t b = 0; b < m->count; b++)
        for (int64_t j = 0; j < n; j += PIECE)
            for (int64_t l = 0; l < k; l++)
                for (int64_t at = j; at < n && at < j + PIECE; at++)
                    x->flat[(b * k + l) * n + at] = m->number[(b * n + at) * k + l];
}

static int64_t packed(const struct gk_problem *p, int64_t stride, int64_t rows,
                      int64_t ld) {
    return p->kind.batch == 2 ? rows * ld : stride;
}

static struct product make_product(const struct gk_problem *p) {
    struct product x = {.p = *p};
    const bool ta = p->kind.trans_a, tb = p->kind.trans_b;
    const int64_t ra = ta ? p->k : p->m, rb = tb ? p->n : p->k;
    x.a = make(ra, ta ? p->m : p->k, p->lda, packed(p, p->stride[0], ra, p->lda), p->batch,
               p->kind.type_a);
    x.b = make(rb, tb ? p->k : p->n, p->ldb, packed(p, p->stride[1], rb, p->ldb), p->batch,
               p->kind.type_b);
    x.c = make(p->m, p->n, p->ldc, packed(p, p->stride[2], p->m, p->ldc), p->batch,
               p->kind.type_c);
    const double fits = BUDGET / ((double)p->m * (double)p->n * (double)p->batch);
    x.filled = fits >= (double)p->k ? p->k : fits < 8 ? 8 : (int64_t)fits;
    if (x.filled > p->k)
        x.filled = p->k;
    for (int64_t i = 0; i < x.b.count * x.b.rows * x.b.cols; i++)
        x.b.number[i] = (int8_t)((int)(draw() % 5) - 2);
    flatten(&x);
    for (int64_t b = 0; b < x.a.count; b++)
        for (int64_t i = 0; i < p->m; i++)
            for (int64_t f = 0; f < x.filled; f++)
                *at_a(&x, b, i, x.filled == p->k ? f : draw() % p->k) = draw() & 1 ? 1 : -1;
    for (int64_t i = 0; i < x.c.count * p->m * p->n; i++)
        x.c.number[i] = (int8_t)((int)(draw() % 7) - 3);
    fill_store(&x.a);
    fill_store(&x.b);
    x.a.memory = upload(x.a.store, x.a.bytes);
    x.b.memory = upload(x.b.store, x.b.bytes);
    x.c.memory = allocate(x.c.bytes);
    if (p->kind.batch == 2) {
        make_list(&x.a, p->batch);
        make_list(&x.b, p->batch);
        make_list(&x.c, p->batch);
    }
    return x;
}

static void clear_product(struct product *x) {
    give_back(&x->a);
    give_back(&x->b);
    give_back(&x->c);
    free(x->flat);
}

/* Row i of a product of op(A) and op(B), as sums of integers. */
static void reference(int32_t *row, const struct product *x, int64_t b, int64_t i) {
    const int64_t n = x->p.n, first = (x->b.count > 1 ? b : 0) * x->p.k;
    memset(row, 0, (size_t)n * sizeof *row);
    for (int64_t l = 0; l < x->p.k; l++) {
        const int a = *at_a(x, b, i, l);
        const int8_t *of = &x->flat[(first + l) * n];
        for (int64_t j = 0; a != 0 && j < n; j++)
            row[j] += a * of[j];
    }
}

/* The codes of small integers in a type. */
enum { CODES = 8192 };
static void make_codes(uint64_t code[CODES], int type) {
    for (int i = 0; i < CODES; i++)
        code[i] = encode(type, i - CODES / 2);
}

/* Compares C, its gaps included, with alpha times the sums plus beta times C before. The
 * store has C before. Returns 1, with one line, where it differs. */
static int compare(const struct product *x, const unsigned char *got, int alpha, int beta,
                   const char *name) {
    const struct matrix *c = &x->c;
    const size_t size = gk_type_size(c->type);
    int32_t *const row = host((size_t)x->p.n * sizeof *row);
    unsigned char *const want = c->store;
    uint64_t *const code = host(CODES * sizeof *code);
    int bad = 0;
    make_codes(code, c->type);
    for (int64_t b = 0; b < x->p.batch; b++)
        for (int64_t i = 0; i < x->p.m; i++) {
            const int64_t first = first_of(c, b) + i * c->ld;
            reference(row, x, b, i);
            for (int64_t j = 0; j < x->p.n; j++) {
                const int before = c->number[(b * c->rows + i) * c->cols + j];
                const int number = alpha * row[j] + beta * before;
                const uint64_t bits = number >= -CODES / 2 && number < CODES / 2
                                          ? code[number + CODES / 2]
                                          : encode(c->type, number);
                memcpy(want + (size_t)(first + j) * size, &bits, size);
            }
        }
    const bool same = memcmp(got, want, c->bytes) == 0;
    for (size_t at = 0; at < c->bytes && !bad && !same; at += size) {
        const uint64_t is = load(got + at, size), should = load(want + at, size);
        if (is == should || ((is | should) << (65 - 8 * size)) == 0) /* 0 and -0 */
            continue;
        printf("WRONG %s: element %zu of C is 0x%llx, not 0x%llx\n", name, at / size,
               (unsigned long long)is, (unsigned long long)should);
        bad = 1;
    }
    free(code);
    free(row);
    return bad;
}

union scalar {
    float f32;
    double f64;
    int32_t i32;
};

static union scalar scalar_of(int type, int number) {
    union scalar s;
    if (type == GEMMKIT_F64)
        s.f64 = number;
    else if (type == GEMMKIT_I32)
        s.i32 = number;
    else
        s.f32 = (float)number;
    return s;
}

/* Runs the plan once. With beta 0 C holds no numbers before. */
static int run_once(struct product *x, const gemmkit_plan *plan, void *workspace, int alpha,
                    int beta, const char *name) {
    const int acc = x->p.kind.type_acc;
    const union scalar alphas = scalar_of(acc, alpha), betas = scalar_of(acc, beta);
    const bool lists = x->p.kind.batch == 2;
    unsigned char *const got = host(x->c.bytes);
    int bad = 0;
    memset(x->c.store, 0xff, x->c.bytes);
    if (beta != 0)
        fill_store(&x->c);
    if (cu.cuMemcpyHtoD(x->c.memory, x->c.store, x->c.bytes) != 0)
        stop(1, "a copy to the device failed", "");
    const gemmkit_status status =
        gemmkit_execute(plan, &alphas, at_address(lists ? x->a.list : x->a.memory),
                        at_address(lists ? x->b.list : x->b.memory), &betas,
                        at_address(lists ? x->c.list : x->c.memory), workspace, NULL);
    if (status != GEMMKIT_OK) {
        printf("FAILED %s: %s\n", name, gemmkit_errmsg());
        bad = 1;
    } else if (cu.cuCtxSynchronize() != 0 ||
               cu.cuMemcpyDtoH(got, x->c.memory, x->c.bytes) != 0) {
        printf("FAILED %s: the kernel\n", name);
        exit(1); /* the context is lost */
    } else
        bad = compare(x, got, alpha, beta, name);
    free(got);
    return bad;
}

static int run_plan(const struct gk_problem *p, const gemmkit_plan *plan,
                    const char *name) {
    gemmkit_plan_info info;
    gemmkit_plan_describe(plan, &info);
    struct product x = make_product(p);
    const device_t workspace = allocate(info.workspace_bytes);
    void *const room = info.workspace_bytes > 0 ? at_address(workspace) : NULL;
    int bad = run_once(&x, plan, room, 1, 0, name);
    if (!bad)
        bad = run_once(&x, plan, room, 2, -1, name);
    (void)cu.cuMemFree(workspace);
    clear_product(&x);
    return bad;
}

/* ---- all kernels ---- */

static gemmkit_problem public_of(const struct gk_problem *p) {
    return (gemmkit_problem){.layout = GEMMKIT_ROW_MAJOR,
                             .trans_a = (gemmkit_trans)p->kind.trans_a,
                             .trans_b = (gemmkit_trans)p->kind.trans_b,
                             .type_a = (gemmkit_dtype)p->kind.type_a,
                             .type_b = (gemmkit_dtype)p->kind.type_b,
                             .type_c = (gemmkit_dtype)p->kind.type_c,
                             .type_acc = (gemmkit_dtype)p->kind.type_acc,
                             .math = (gemmkit_math)p->kind.math,
                             .batch_kind = p->kind.batch == 2 ? GEMMKIT_BATCH_POINTERS
                                                              : GEMMKIT_BATCH_STRIDED,
                             .pointer_align = (uint32_t)p->pointer_align,
                             .m = p->m,
                             .n = p->n,
                             .k = p->k,
                             .lda = p->lda,
                             .ldb = p->ldb,
                             .ldc = p->ldc,
                             .batch = p->batch,
                             .stride_a = p->stride[0],
                             .stride_b = p->stride[1],
                             .stride_c = p->stride[2]};
}

struct counts {
    int exact, general, left_out, refused, bad;
};

static void check_exact(struct counts *n, gemmkit_ctx *ctx, const struct gk_exact *x,
                        bool quick) {
    const gemmkit_problem p = public_of(&x->problem);
    gemmkit_plan *plan = NULL;
    gemmkit_plan_info info;
    if (quick && volume(&x->problem) > BUDGET) {
        n->left_out++;
        return;
    }
    n->exact++;
    if (gemmkit_plan_create(&plan, ctx, &p, SIZE_MAX) != GEMMKIT_OK) {
        printf("FAILED %s: %s\n", x->name, gemmkit_errmsg());
        n->bad++;
        return;
    }
    gemmkit_plan_describe(plan, &info);
    if (!info.exact || strcmp(info.name, x->name) != 0) {
        printf("WRONG %s: its plan has the kernel of %s\n", x->name, info.name);
        n->bad++;
    } else
        n->bad += run_plan(&x->problem, plan, x->name);
    gemmkit_plan_destroy(plan);
}

/* A general kernel runs the shapes that it accepts. */
static void check_general(struct counts *n, gemmkit_ctx *ctx, const struct gk_general *g,
                          int number) {
    static const int shapes[][3] = {{1, 1, 1},    {64, 64, 64},   {33, 17, 41},
                                    {16, 48, 80}, {130, 66, 70},  {1, 144, 272},
                                    {65, 1, 35},  {128, 256, 64}, {72, 136, 16}};
    int ran = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct gk_problem p = {.kind = g->kind,
                               .m = shapes[i][0],
                               .n = shapes[i][1],
                               .k = shapes[i][2],
                               .batch = g->kind.batch > 0 ? 3 : 1};
        char name[160];
        gemmkit_plan *plan = NULL;
        gemmkit_problem q = public_of(&p);
        bool swapped;
        q.stride_a = q.stride_b = q.stride_c = GEMMKIT_PACKED;
        (void)gk_settle(&p, &swapped, &q);
        (void)snprintf(name, sizeof name, "general kernel %d (%s %s), %dx%dx%d", number,
                       gk_kernels[g->kernel].family, gk_kernels[g->kernel].params,
                       shapes[i][0], shapes[i][1], shapes[i][2]);
        const gemmkit_status status = gk_plan_of(&plan, ctx, &q, g->kernel);
        if (status == GEMMKIT_EUNSUPPORTED)
            continue;
        ran++;
        if (status != GEMMKIT_OK) {
            printf("FAILED %s: %s\n", name, gemmkit_errmsg());
            n->bad++;
            return;
        }
        n->bad += run_plan(&p, plan, name);
        gemmkit_plan_destroy(plan);
    }
    n->general += ran > 0;
    n->refused += ran == 0;
}

/* ---- times ---- */

static double seconds(void) {
    struct timespec t;
    (void)timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Nanoseconds of a call of gemmkit_gemm, the least of some rounds. */
static double time_calls(gemmkit_ctx *ctx, const gemmkit_problem *p, struct product *x,
                         void *workspace, size_t bytes) {
    enum { ROUNDS = 20, CALLS_EACH = 500 };
    const double begin = seconds();
    const union scalar one = scalar_of(x->p.kind.type_acc, 1),
                       zero = scalar_of(x->p.kind.type_acc, 0);
    const bool lists = x->p.kind.batch == 2;
    double least = 1e9;
    for (int i = 0; i < ROUNDS && (i == 0 || seconds() - begin < 1); i++) {
        const double start = seconds();
        for (int j = 0; j < CALLS_EACH; j++)
            if (gemmkit_gemm(ctx, p, &one, at_address(lists ? x->a.list : x->a.memory),
                             at_address(lists ? x->b.list : x->b.memory), &zero,
                             at_address(lists ? x->c.list : x->c.memory), workspace, bytes,
                             NULL) != GEMMKIT_OK)
                stop(1, "a timed call failed: ", gemmkit_errmsg());
        const double each = (seconds() - start) / CALLS_EACH;
        least = each < least ? each : least;
        (void)cu.cuCtxSynchronize();
    }
    return 1e9 * least;
}

/* The smallest problem of the folder: calls of it wait for the device least. */
static const struct gk_exact *smallest(const struct gk_arch *arch) {
    const struct gk_exact *least = arch->exact;
    for (int i = 1; i < arch->exacts; i++)
        if (volume(&arch->exact[i].problem) < volume(&least->problem))
            least = &arch->exact[i];
    return least;
}

static const struct gk_arch *arch_here(void) {
    gemmkit_ctx *ctx = NULL;
    if (gemmkit_open(&ctx, NULL) != GEMMKIT_OK)
        stop(4, gemmkit_errmsg(), "");
    const struct gk_arch *const arch = gk_arch_of(ctx);
    gemmkit_close(ctx);
    return arch;
}

/* The first product after a context is there: opening, unpacking, loading, running. */
static void print_times(void) {
    const struct gk_exact *const x = smallest(arch_here());
    struct product product = make_product(&x->problem);
    const gemmkit_problem p = public_of(&x->problem);
    const union scalar one = scalar_of(x->problem.kind.type_acc, 1),
                       zero = scalar_of(x->problem.kind.type_acc, 0);
    const bool lists = x->problem.kind.batch == 2;
    const size_t bytes = (size_t)gk_kernels[x->kernel].fit->workspace;
    const device_t workspace = allocate(bytes);
    gemmkit_ctx *ctx = NULL;
    (void)cu.cuCtxSynchronize();
    const double start = seconds();
    gemmkit_status status = gemmkit_open(&ctx, NULL);
    if (status == GEMMKIT_OK)
        status = gemmkit_gemm(ctx, &p, &one,
                              at_address(lists ? product.a.list : product.a.memory),
                              at_address(lists ? product.b.list : product.b.memory), &zero,
                              at_address(lists ? product.c.list : product.c.memory),
                              at_address(workspace), bytes, NULL);
    if (status != GEMMKIT_OK || cu.cuCtxSynchronize() != 0)
        stop(1, "the first product failed: ", gemmkit_errmsg());
    const double first = seconds() - start;
    const double call = time_calls(ctx, &p, &product, at_address(workspace), bytes);
    gk_pretend(true);
    const double ours = time_calls(ctx, &p, &product, at_address(workspace), bytes);
    gk_pretend(false);
    printf("%s: first product %.2f ms after the context; a call takes %.0f ns, %.0f ns of "
           "them before the driver\n",
           x->name, 1e3 * first, call, ours);
    gemmkit_close(ctx);
    (void)cu.cuMemFree(workspace);
    clear_product(&product);
}

/* ---- main ---- */

int main(int argc, char **argv) {
    bool quick = false, times = false, exact = false;
    struct counts n = {0, 0, 0, 0, 0};
    gemmkit_ctx *ctx = NULL;
    for (int i = 1; i < argc; i++) {
        quick = quick || strcmp(argv[i], "--quick") == 0;
        times = times || strcmp(argv[i], "--time-only") == 0;
        exact = exact || strcmp(argv[i], "--exact") == 0;
    }
    open_device();
    if (times) {
        print_times();
        return 0;
    }
    if (gemmkit_open(&ctx, NULL) != GEMMKIT_OK)
        stop(4, gemmkit_errmsg(), "");
    const struct gk_arch *const arch = gk_arch_of(ctx);
    for (int i = 0; i < arch->exacts; i++)
        check_exact(&n, ctx, &arch->exact[i], quick);
    for (int i = 0; i < arch->generals && !exact; i++)
        check_general(&n, ctx, &arch->general[i], i);
    gemmkit_close(ctx);
    printf("%s, %s: %d kernels of problems (%d left out) and %d general ones (%d run none "
           "of the shapes), %d wrong\n",
           device_name, arch->name, n.exact, n.left_out, n.general, n.refused, n.bad);
    return n.bad > 0;
}
