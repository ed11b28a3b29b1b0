/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_overhead.c - see bench_overhead.h. Calls are timed one by one, each kind a few dozen times in
 * turn; the device is waited for between turns, so that no call waits for room in its queue.
 *
 * What a plan launches is found by capturing it in a graph and reading the graph's nodes: the driver's
 * launch then gets the very same kernels and arguments.
 */
#include "tuner/bench_overhead.h"

#include "tuner/bench_stats.h"
#include "tuner/cublas_api.h"
#include "tuner/lab_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TURN = 32,   /* calls between two waits */
    TURNS = 40,  /* of each kind */
    WARM_UP = 2, /* turns that do not count */
    NODES_MAX = 8
};

static const char *const names[GT_CALLS] = {
    [GT_CALL_LAUNCH] = "driver launch",
    [GT_CALL_EXECUTE] = "gemmtune_execute",
    [GT_CALL_GEMM] = "gemmtune_gemm",
    [GT_CALL_CUBLAS] = "cublasSgemm",
};

const char *gt_call_name(enum gt_call_kind kind) {
    return names[kind];
}

struct calls {
    struct gt_lab *lab;
    gemmtune_problem problem;
    gemmtune_ctx *ctx;
    gemmtune_plan *plan;
    void *workspace, *stream;
    union gt_value alpha, beta;
    struct gt_operands x;
    /* CUDA */
    const struct gt_cuda *cu;
    CUgraph graph; /* owns what the nodes point to */
    int nodes;
    struct gt_cu_kernel_node node[NODES_MAX];
    const struct gt_cublas *cublas;
    cublasHandle_t handle;
    struct gt_cublas_shape shape;
};

/* ---- the calls ---- */

static gt_status said(gt_status status, struct gt_err *err) {
    return status ? gt_fail(err, status, "%s", gemmtune_errmsg()) : GEMMTUNE_OK;
}

static gt_status driver_result(gt_cu_result r, const char *call, struct gt_err *err) {
    return r == GT_CU_SUCCESS ? GEMMTUNE_OK : gt_cuda_fail(err, call, r);
}

static gt_status call_launch(struct calls *c, struct gt_err *err) {
    gt_cu_result r = GT_CU_SUCCESS;
    for (int i = 0; r == GT_CU_SUCCESS && i < c->nodes; i++) {
        const struct gt_cu_kernel_node *n = &c->node[i];
        r = c->cu->cuLaunchKernel(n->function, n->grid_x, n->grid_y, n->grid_z, n->block_x,
                                  n->block_y, n->block_z, n->smem_bytes, c->stream,
                                  n->params, NULL);
    }
    return driver_result(r, "cuLaunchKernel", err);
}

static gt_status call_execute(struct calls *c, struct gt_err *err) {
    return said(gemmtune_execute(c->plan, c->x.alpha, c->x.a, c->x.b, c->x.beta, c->x.c,
                                 c->workspace, c->stream),
                err);
}

static gt_status call_gemm(struct calls *c, struct gt_err *err) {
    return said(gemmtune_gemm(c->ctx, &c->problem, c->x.alpha, c->x.a, c->x.b, c->x.beta,
                              c->x.c, c->stream),
                err);
}

static gt_status call_cublas(struct calls *c, struct gt_err *err) {
    const struct gt_cublas_shape *s = &c->shape;
    return gt_cublas_result(c->cublas->cublasSgemm(c->handle, s->op_a, s->op_b, s->m, s->n,
                                                   s->k, &c->alpha.f32, c->x.b, s->lda,
                                                   c->x.a, s->ldb, &c->beta.f32, c->x.c,
                                                   s->ldc),
                            "cublasSgemm", err);
}

/* ---- making them ready ---- */

static gt_status capture(struct calls *c, struct gt_err *err) {
    gt_status status =
        driver_result(c->cu->cuStreamBeginCapture(c->stream, GT_CU_CAPTURE_RELAXED),
                      "cuStreamBeginCapture", err);
    if (status)
        return status;
    status = call_execute(c, err);
    const gt_cu_result ended = c->cu->cuStreamEndCapture(c->stream, &c->graph);
    return status ? status : driver_result(ended, "cuStreamEndCapture", err);
}

static gt_status ready_launch(struct calls *c, struct gt_err *err) {
    CUgraphNode node[NODES_MAX] = {NULL};
    size_t count = NODES_MAX;
    if (gt_rig_head(c->lab->rig)->ops->backend != GEMMTUNE_CUDA)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "only CUDA tells what was launched");
    c->cu = gt_cuda_api(err);
    if (!c->cu)
        return GEMMTUNE_ENODRIVER;
    if (!c->cu->cuGraphGetNodes || !c->cu->cuGraphKernelNodeGetParams)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "the driver is too old to tell");
    gt_status status = capture(c, err);
    if (!status)
        status = driver_result(c->cu->cuGraphGetNodes(c->graph, node, &count),
                               "cuGraphGetNodes", err);
    for (size_t i = 0; !status && i < count && i < NODES_MAX; i++)
        status = driver_result(c->cu->cuGraphKernelNodeGetParams(node[i], &c->node[i]),
                               "cuGraphKernelNodeGetParams", err);
    c->nodes = status ? 0 : (int)count;
    return status;
}

static gt_status ready_execute(struct calls *c, struct gt_err *err) {
    return said(gemmtune_plan_create(&c->plan, c->ctx, &c->problem, GEMMTUNE_MATCH_DEFAULT,
                                     GT_WORKSPACE_BYTES),
                err);
}

static gt_status ready_gemm(struct calls *c, struct gt_err *err) {
    return call_gemm(c, err); /* plans, and remembers it */
}

static gt_status ready_cublas(struct calls *c, struct gt_err *err) {
    if (!gt_cublas_serves(gt_lab_device(c->lab), &c->problem) ||
        c->problem.type_c != GEMMTUNE_F32)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "for f32 on CUDA only");
    c->shape = gt_cublas_shape_of(&c->problem);
    const gt_status status = gt_cublas_open(&c->cublas, &c->handle, c->stream, c->workspace,
                                            GT_WORKSPACE_BYTES, err);
    return status ? status : call_cublas(c, err);
}

/* In the order in which they are made ready: a launch needs the plan. */
static const struct {
    enum gt_call_kind kind;
    gt_status (*ready)(struct calls *c, struct gt_err *err);
    gt_status (*call)(struct calls *c, struct gt_err *err);
} table[GT_CALLS] = {
    {GT_CALL_EXECUTE, ready_execute, call_execute},
    {GT_CALL_LAUNCH, ready_launch, call_launch},
    {GT_CALL_GEMM, ready_gemm, call_gemm},
    {GT_CALL_CUBLAS, ready_cublas, call_cublas},
};

static gt_status open_calls(struct calls *c, const struct gt_device *d,
                            const struct gt_bench_options *o, const gemmtune_problem *p,
                            struct gt_err *err) {
    gemmtune_target target;
    c->problem = *p;
    gt_status status = gt_lab_create(&c->lab, d, err);
    if (!status)
        status = gt_lab_setup(c->lab, p, o->seed, err);
    if (!status)
        status = gt_rig_head(c->lab->rig)
                     ->ops->alloc(&c->workspace, c->lab->rig, GT_WORKSPACE_BYTES, err);
    if (!status)
        status = gt_rival_target(&target, c->lab->rig, err);
    if (!status)
        status = said(gemmtune_open(&c->ctx, o->db, &target), err);
    if (status)
        return status;
    const struct gt_sets *s = &c->lab->sets;
    c->stream = gt_rig_head(c->lab->rig)->stream;
    gt_data_put(&c->alpha, p->type_acc, 1);
    c->x = (struct gt_operands){&c->alpha, s->view[0][0], s->view[1][0], &c->beta,
                                s->view[2][0]};
    return GEMMTUNE_OK;
}

static void close_calls(struct calls *c) {
    if (c->handle)
        (void)c->cublas->cublasDestroy(c->handle);
    if (c->graph)
        (void)c->cu->cuGraphDestroy(c->graph);
    gemmtune_plan_destroy(c->plan);
    gemmtune_close(c->ctx);
    if (c->workspace)
        gt_rig_head(c->lab->rig)->ops->release(c->lab->rig, c->workspace);
    gt_lab_destroy(c->lab);
}

/* ---- timing them ---- */

static double now_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The median of a turn's calls. */
static gt_status turn(double *ns, struct calls *c, int row, struct gt_err *err) {
    struct gt_measurement m = {.samples = 0};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; !status && i < TURN; i++) {
        const double before = now_ns();
        status = table[row].call(c, err);
        m.sample_ns[m.samples++] = (float)(now_ns() - before);
    }
    gt_measurement_summarize(&m);
    *ns = m.median_ns;
    return status ? status : gt_rig_head(c->lab->rig)->ops->finish(c->lab->rig, err);
}

static gt_status take_turns(struct gt_overhead *out, struct calls *c, struct gt_err *err) {
    struct gt_measurement m[GT_CALLS] = {{0}};
    gt_status status = GEMMTUNE_OK;
    for (int t = 0; !status && t < TURNS + WARM_UP; t++)
        for (int i = 0; !status && i < GT_CALLS; i++) {
            double ns = 0;
            if (out->why[table[i].kind][0])
                continue;
            status = turn(&ns, c, i, err);
            if (t >= WARM_UP)
                m[i].sample_ns[m[i].samples++] = (float)ns;
        }
    for (int i = 0; i < GT_CALLS; i++) {
        gt_measurement_summarize(&m[i]);
        out->ns[table[i].kind] = m[i].median_ns;
    }
    return status;
}

gt_status gt_overhead_measure(struct gt_overhead *out, const struct gt_device *d,
                              const struct gt_bench_options *options,
                              const gemmtune_problem *p, struct gt_err *err) {
    struct calls c = {.lab = NULL};
    memset(out, 0, sizeof *out);
    gt_status status = open_calls(&c, d, options, p, err);
    for (int i = 0; !status && i < GT_CALLS; i++) {
        struct gt_err why = {""};
        if (!table[i].ready(&c, &why))
            continue;
        snprintf(out->why[table[i].kind], GT_VERDICT_TEXT_MAX, "%s", why.line);
        if (table[i].kind == GT_CALL_EXECUTE) /* without it there is nothing to compare */
            status = gt_fail(err, GEMMTUNE_EDEVICE, "%s", why.line);
    }
    if (!status)
        status = take_turns(out, &c, err);
    out->launches = c.nodes;
    if (c.lab)
        close_calls(&c);
    return status;
}
