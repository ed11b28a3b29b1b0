/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival_cpu.c - this machine's CPU BLAS, beside kernels of an OpenCL CPU device. It is
 * checked on the device's memory, which is mapped and unmapped around each product. That
 * takes six commands and some twenty changes of threads, 50 to 120 us, which a program that
 * calls a BLAS never pays. So it is timed on memory of the host (on_host).
 */
#include "runtime/drivers/opencl_api.h"
#include "tuner/lab/cpu_time.h"
#include "tuner/lab/data.h"
#include "tuner/bench/rival.h"
#include "tuner/base/talk.h"

#include <stdio.h>
#include <stdlib.h>

struct cpu {
    const struct gt_opencl *cl;
    cl_command_queue queue;
    gemmtune_problem problem;
};

static bool serves(const struct gt_device *d, const gemmtune_problem *p) {
    return d->is_cpu && d->backend == GEMMTUNE_OPENCL && p->math == GEMMTUNE_MATH_STRICT &&
           p->batch_kind == GEMMTUNE_BATCH_STRIDED && p->epilogue == NULL &&
           p->type_a == p->type_c && p->type_b == p->type_c &&
           (p->type_c == GEMMTUNE_F32 || p->type_c == GEMMTUNE_F64);
}

static gt_status open_cpu(void **self, const struct gt_rival_setup *setup,
                          struct gt_err *err) {
    struct cpu *c = calloc(1, sizeof *c);
    *self = NULL;
    if (!c)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to open the CPU BLAS");
    c->queue = gt_rig_head(setup->rig)->stream;
    c->cl = gt_opencl_api(err);
    gemmtune_problem any;
    gemmtune_problem_init(&any, GEMMTUNE_F32, 1, 1, 1);
    if (!c->cl || !gt_cpu_blas_for(&any)) {
        free(c);
        return gt_fail(err, GEMMTUNE_ENODRIVER, "no CBLAS library on this machine");
    }
    *self = c;
    if (gt_cpu_blas_warning() != NULL)
        gt_talk("%s", gt_cpu_blas_warning());
    return GEMMTUNE_OK;
}

static void close_cpu(void *self) {
    free(self);
}

static gt_status prepare(int *variants, void *self, const gemmtune_problem *p,
                         struct gt_err *err) {
    struct cpu *c = self;
    (void)err;
    c->problem = *p;
    *variants = 1;
    return GEMMTUNE_OK;
}

static gt_status map(void **out, const struct cpu *c, cl_mem mem, int64_t elements,
                     cl_bitfield how, struct gt_err *err) {
    cl_int r = GT_CL_SUCCESS;
    const size_t bytes = (size_t)elements * gt_type_size(c->problem.type_c);
    *out = c->cl->clEnqueueMapBuffer(c->queue, mem, GT_CL_TRUE, how, 0, bytes, 0, NULL,
                                     NULL, &r);
    return r == GT_CL_SUCCESS ? GEMMTUNE_OK : gt_opencl_fail(err, "clEnqueueMapBuffer", r);
}

static gt_status unmap(const struct cpu *c, cl_mem mem, void *mapped, struct gt_err *err) {
    if (!mapped)
        return GEMMTUNE_OK;
    const cl_int r = c->cl->clEnqueueUnmapMemObject(c->queue, mem, mapped, 0, NULL, NULL);
    return r == GT_CL_SUCCESS ? GEMMTUNE_OK
                              : gt_opencl_fail(err, "clEnqueueUnmapMemObject", r);
}

static gt_status enqueue(void *self, int variant, const struct gt_call *x,
                         struct gt_err *err) {
    const struct cpu *c = self;
    const gemmtune_problem *p = &c->problem;
    const double alpha = gt_element_get(x->alpha, p->type_acc);
    const double beta = gt_element_get(x->beta, p->type_acc);
    void *a = NULL, *b = NULL, *out = NULL;
    (void)variant;
    gt_status status = map(&a, c, x->a, gt_problem_elems_a(p), GT_CL_MAP_READ, err);
    if (status == GEMMTUNE_OK)
        status = map(&b, c, x->b, gt_problem_elems_b(p), GT_CL_MAP_READ, err);
    if (status == GEMMTUNE_OK)
        status = map(&out, c, x->c, gt_problem_elems_c(p), GT_CL_MAP_READ | GT_CL_MAP_WRITE,
                     err);
    if (status == GEMMTUNE_OK)
        gt_cpu_blas_run(p, alpha, a, b, beta, out);
    const gt_status ended[3] = {unmap(c, x->a, a, err), unmap(c, x->b, b, err),
                                unmap(c, x->c, out, err)};
    for (int i = 0; status == GEMMTUNE_OK && i < 3; i++)
        status = ended[i];
    return status;
}

static void describe(char text[GT_RIVAL_TEXT_MAX], void *self, int variant) {
    const struct cpu *c = self;
    (void)variant;
    snprintf(text, GT_RIVAL_TEXT_MAX, "%s, %s", gt_cpu_blas_for(&c->problem),
             GT_CPU_CONDITION);
}

const struct gt_rival gt_rival_cpu = {
    .name = "cpu",
    .about = "the CPU BLAS of this machine, on OpenCL CPU devices",
    .on_host = true,
    .rest_ms = 60, /* OpenBLAS spins for 2^26 clocks, 34 ms at 2 GHz */
    .serves = serves,
    .open = open_cpu,
    .close = close_cpu,
    .prepare = prepare,
    .enqueue = enqueue,
    .describe = describe,
};
