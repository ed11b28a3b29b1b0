/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemmkit_test.c - runs every kernel that the folder has for the present device, and
 * compares all elements of C with a reference that the CPU computes. Elements are small
 * integers, so that every sum is exact and C must be equal. A row of A has as many elements
 * that are not 0 as the CPU has time for.
 *
 *   gemmkit_test [--quick] [--exact] | --time-only
 *     --quick      leaves out problems of more than 2^27 multiply-adds, and shapes of
 * general kernels
 *     --exact      leaves out general kernels
 *     --time-only  checks nothing and prints times: of the first product of a process, and
 *                  of calls
 *
 * Exit 0: all are right. 1: one is wrong or failed. 4: no device, or no kernel for it.
 */
#include "gemmkit_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* Runs the plan once. With beta 0 C holds no numbers before, unless the plan has an
 * epilogue: that may read it. */
static int run_once(struct product *x, const gemmkit_plan *plan, void *workspace, int alpha,
                    int beta, const char *name) {
    const int acc = x->p.kind.type_acc;
    const union scalar alphas = scalar_of(acc, alpha), betas = scalar_of(acc, beta);
    const bool lists = x->p.kind.batch == 2;
    const void *operand[GK_OPERANDS];
    gemmkit_args args = {.alpha = &alphas,
                         .beta = &betas,
                         .a = at_address(lists ? x->a.list : x->a.memory),
                         .b = at_address(lists ? x->b.list : x->b.memory),
                         .c = at_address(lists ? x->c.list : x->c.memory),
                         .workspace = workspace};
    if (x->epilogue != NULL) {
        for (int i = 0; i < x->epilogue->operands; i++)
            operand[i] = at_address(x->operand[i].memory);
        args.operands = x->epilogue->operands;
        args.operand = operand;
        args.d2 = x->epilogue->d2 >= 0 ? at_address(x->d2.memory) : NULL;
    }
    gk_reset(x, beta != 0 || x->epilogue != NULL);
    if (gemmkit_launch(plan, &args, NULL) != GEMMKIT_OK) {
        printf("FAILED %s: %s\n", name, gemmkit_errmsg());
        return 1;
    }
    if (gk_cu.cuCtxSynchronize() != 0) {
        printf("FAILED %s: the kernel\n", name);
        exit(1); /* the context is lost */
    }
    return gk_compare(x, alpha, beta, name);
}

static int run_plan(const struct gk_problem *p, const gemmkit_plan *plan, int shift,
                    const char *name) {
    gemmkit_plan_info info;
    gemmkit_plan_describe(plan, &info);
    struct product x = gk_make_product(p, shift);
    const device_t workspace = gk_allocate(info.workspace_bytes);
    void *const room = info.workspace_bytes > 0 ? at_address(workspace) : NULL;
    int bad = run_once(&x, plan, room, 1, 0, name);
    if (!bad)
        bad = run_once(&x, plan, room, 2, -1, name);
    (void)gk_cu.cuMemFree(workspace);
    gk_clear_product(&x);
    return bad;
}

/* ---- all kernels ---- */

static gemmkit_problem public_of(const struct gk_problem *p) {
    return (gemmkit_problem){
        .layout = GEMMKIT_ROW_MAJOR,
        .trans_a = (gemmkit_trans)p->kind.trans_a,
        .trans_b = (gemmkit_trans)p->kind.trans_b,
        .type_a = (gemmkit_dtype)p->kind.type_a,
        .type_b = (gemmkit_dtype)p->kind.type_b,
        .type_c = (gemmkit_dtype)p->kind.type_c,
        .type_acc = (gemmkit_dtype)p->kind.type_acc,
        .math = (gemmkit_math)p->kind.math,
        .batch_kind = p->kind.batch == 2 ? GEMMKIT_BATCH_POINTERS : GEMMKIT_BATCH_STRIDED,
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
        .stride_c = p->stride[2],
        .epilogue = p->kind.epilogue != 0 ? gk_epilogues[p->kind.epilogue - 1].text : NULL};
}

/* Whether the kernel takes pointers only that are aligned to more than an element. */
static bool needs_more(const struct gk_exact *x) {
    const struct gk_kind *const k = &x->problem.kind;
    const int type[3] = {k->type_a, k->type_b, k->type_c};
    bool more = false;
    for (int i = 0; i < 3; i++)
        more = more || (size_t)gk_kernels[x->kernel].fit->align[i] > gk_type_size(type[i]);
    return more && k->batch != 2;
}

/* The same product as a column-major caller sees it, in one call. */
static int run_columns(gemmkit_ctx *ctx, const struct gk_exact *x) {
    const gemmkit_problem r = public_of(&x->problem);
    gemmkit_problem p = r;
    const size_t bytes = (size_t)gk_kernels[x->kernel].fit->workspace;
    struct product own = gk_make_product(&x->problem, 0);
    const device_t workspace = gk_allocate(bytes);
    const union scalar one = scalar_of(r.type_acc, 1), zero = scalar_of(r.type_acc, 0);
    const bool lists = x->problem.kind.batch == 2;
    p.layout = GEMMKIT_COL_MAJOR;
    p.trans_a = r.trans_b, p.trans_b = r.trans_a;
    p.type_a = r.type_b, p.type_b = r.type_a;
    p.m = r.n, p.n = r.m;
    p.lda = r.ldb, p.ldb = r.lda;
    p.stride_a = r.stride_b, p.stride_b = r.stride_a;
    gk_reset(&own, false);
    int bad = gemmkit_gemm(ctx, &p, &one, at_address(lists ? own.b.list : own.b.memory),
                           at_address(lists ? own.a.list : own.a.memory), &zero,
                           at_address(lists ? own.c.list : own.c.memory),
                           at_address(workspace), bytes, NULL) != GEMMKIT_OK;
    if (bad)
        printf("FAILED %s in columns: %s\n", x->name, gemmkit_errmsg());
    else
        bad = gk_compare(&own, 1, 0, x->name);
    (void)gk_cu.cuMemFree(workspace);
    gk_clear_product(&own);
    return bad;
}

enum { AGAIN = 1 << 22 }; /* elements of C; larger ones run with their own kernel only */

struct counts {
    int exact, general, left_out, refused, bad;
};

static void check_exact(struct counts *n, gemmkit_ctx *ctx, const struct gk_exact *x,
                        bool quick) {
    const gemmkit_problem p = public_of(&x->problem);
    gemmkit_plan *plan = NULL;
    gemmkit_plan_info info;
    char name[600];
    (void)snprintf(name, sizeof name, "%s with pointers that are aligned to elements",
                   x->name);
    if ((quick && volume(&x->problem) > BUDGET) ||
        !gk_fits_device(ctx, x->kernel, gk_kernels[x->kernel].fit)) {
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
        n->bad += run_plan(&x->problem, plan, 0, x->name);
    const bool again = (double)x->problem.m * (double)x->problem.n < AGAIN;
    if (n->bad == 0 && again && needs_more(x))
        n->bad += run_plan(&x->problem, plan, 1, name);
    gemmkit_plan_destroy(plan);
    if (n->bad == 0 && again && x->problem.kind.epilogue == 0)
        n->bad += run_columns(ctx, x);
}

/* A general kernel runs the shapes that it accepts. */
static void check_general(struct counts *n, gemmkit_ctx *ctx, const struct gk_general *g,
                          int number, bool quick) {
    static const int shapes[][3] = {{1, 1, 1},     {33, 17, 41},  {16, 48, 80},
                                    {65, 1, 35},   {64, 64, 64},  {130, 66, 70},
                                    {1, 144, 272}, {72, 136, 16}, {128, 256, 64}};
    const size_t all = sizeof shapes / sizeof *shapes;
    int ran = 0;
    for (size_t i = 0; i < (quick ? 4 : all); i++) {
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
        n->bad += run_plan(&p, plan, 0, name);
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
                gk_stop(1, "a timed call failed: ", gemmkit_errmsg());
        const double each = (seconds() - start) / CALLS_EACH;
        least = each < least ? each : least;
        (void)gk_cu.cuCtxSynchronize();
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
        gk_stop(4, gemmkit_errmsg(), "");
    const struct gk_arch *const arch = gk_arch_of(ctx);
    gemmkit_close(ctx);
    return arch;
}

/* The first product after a context is there: opening, unpacking, loading, running. */
static void print_times(void) {
    const struct gk_exact *const x = smallest(arch_here());
    struct product product = gk_make_product(&x->problem, 0);
    const gemmkit_problem p = public_of(&x->problem);
    const union scalar one = scalar_of(x->problem.kind.type_acc, 1),
                       zero = scalar_of(x->problem.kind.type_acc, 0);
    const bool lists = x->problem.kind.batch == 2;
    const size_t bytes = (size_t)gk_kernels[x->kernel].fit->workspace;
    const device_t workspace = gk_allocate(bytes);
    gemmkit_ctx *ctx = NULL;
    (void)gk_cu.cuCtxSynchronize();
    const double start = seconds();
    gemmkit_status status = gemmkit_open(&ctx, NULL);
    if (status == GEMMKIT_OK)
        status = gemmkit_gemm(ctx, &p, &one,
                              at_address(lists ? product.a.list : product.a.memory),
                              at_address(lists ? product.b.list : product.b.memory), &zero,
                              at_address(lists ? product.c.list : product.c.memory),
                              at_address(workspace), bytes, NULL);
    if (status != GEMMKIT_OK || gk_cu.cuCtxSynchronize() != 0)
        gk_stop(1, "the first product failed: ", gemmkit_errmsg());
    const double first = seconds() - start;
    const double call = time_calls(ctx, &p, &product, at_address(workspace), bytes);
    gk_pretend(true);
    const double ours = time_calls(ctx, &p, &product, at_address(workspace), bytes);
    gk_pretend(false);
    printf("%s: first product %.2f ms after the context; a call takes %.0f ns, %.0f ns of "
           "them before the driver\n",
           x->name, 1e3 * first, call, ours);
    gemmkit_close(ctx);
    (void)gk_cu.cuMemFree(workspace);
    gk_clear_product(&product);
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
    gk_open_device();
    if (times) {
        print_times();
        return 0;
    }
    if (gemmkit_open(&ctx, NULL) != GEMMKIT_OK)
        gk_stop(4, gemmkit_errmsg(), "");
    const struct gk_arch *const arch = gk_arch_of(ctx);
    for (int i = 0; i < arch->exacts; i++)
        check_exact(&n, ctx, &arch->exact[i], quick);
    for (int i = 0; i < arch->generals && !exact; i++)
        check_general(&n, ctx, &arch->general[i], i, quick);
    gemmkit_close(ctx);
    printf("%s, %s: %d kernels of problems (%d left out) and %d general ones (%d run none "
           "of the shapes), %d wrong\n",
           gk_device_name, arch->name, n.exact, n.left_out, n.general, n.refused, n.bad);
    return n.bad > 0;
}
