/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - one launch: accepted, timed by a model, run. See fake_cuda.h. */
#include "tests/fake/cuda/fake_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Clusters start at compute capability 9.0, and divide the grid. */
static gt_cu_result accept_cluster(const struct launch *l) {
    const unsigned blocks = l->cluster[0] * l->cluster[1] * l->cluster[2];
    for (int i = 0; i < 3; i++)
        if (l->cluster[i] == 0 || l->grid[i] % l->cluster[i] != 0)
            return GT_CU_INVALID_VALUE;
    if (blocks > 1 && device[current()->device]->cc < 90)
        return GT_CU_NOT_SUPPORTED;
    return blocks > 16 ? GT_CU_INVALID_VALUE : GT_CU_SUCCESS;
}

/* The checks that the driver makes before it accepts a launch. */
static gt_cu_result accept(const struct launch *l) {
    unsigned long threads = 1;
    for (int i = 0; i < 3; i++) {
        threads *= l->block[i];
        if (l->grid[i] == 0 || l->block[i] == 0 || (i > 0 && l->grid[i] > 65535))
            return GT_CU_INVALID_VALUE;
    }
    if (threads > 1024 || l->smem > l->function->dynamic_max)
        return GT_CU_INVALID_VALUE;
    if (threads > (unsigned long)threads_max(l->function->module))
        return GT_CU_LAUNCH_OUT_OF_RESOURCES;
    return accept_cluster(l);
}

static CUdeviceptr pointer_of(const struct launch *l, int i) {
    CUdeviceptr at;
    memcpy(&at, l->value[i], sizeof at);
    return at;
}

static int64_t number_of(const struct launch *l, int i) {
    int32_t value = 1;
    if (i >= 0)
        memcpy(&value, l->value[i], sizeof value);
    return value;
}

static void put_arguments(const struct launch *l) {
    const struct CUfunc_st *f = l->function;
    for (int i = 0; i < f->count; i++) {
        const cl_int result =
            f->param[i].pointer
                ? cl.clSetKernelArgSVMPointer(f->kernel, (cl_uint)i, host(pointer_of(l, i)))
                : cl.clSetKernelArg(f->kernel, (cl_uint)i, f->param[i].size, l->value[i]);
        if (result != CL_SUCCESS)
            stop("OpenCL does not take an argument of", f->name);
    }
}

/* Whether the launch would touch foreign memory: an address in no allocation, or more
 * shared memory than was requested. NULL is the kernel's affair: it may not read it. */
static bool trespasses(const struct launch *l) {
    for (int i = 0; i < l->function->count; i++)
        if (l->function->param[i].pointer && pointer_of(l, i) != 0 &&
            !is_allocated(pointer_of(l, i), 1))
            return true;
    return l->function->smem > l->smem;
}

/* Whether the launch reads or writes memory that another stream may be using. */
static bool is_early(const struct launch *l, CUstream stream) {
    bool early = false;
    for (int i = 0; i < l->function->count; i++)
        if (l->function->param[i].pointer && pointer_of(l, i) != 0 &&
            order_access(trail_of(pointer_of(l, i)), stream,
                         l->function->param[i].written) != GT_CU_SUCCESS)
            early = true;
    return early;
}

/* Whether the launch has other clusters than the first time: its blocks would look for
 * others that do not exist. */
static bool is_regrouped(const struct launch *l) {
    unsigned *first = l->function->cluster;
    if (first[0] == 0)
        memcpy(first, l->cluster, sizeof l->function->cluster);
    return memcmp(first, l->cluster, sizeof l->cluster) != 0;
}

/* Flips bits that matter in every type,
 * in the first 8 bytes of all arrays that it writes. */
static void corrupt(const struct launch *l) {
    (void)cl.clFinish(cl.queue);
    for (int i = 0; i < l->function->count; i++) {
        uint64_t word;
        if (!l->function->param[i].written || pointer_of(l, i) == 0)
            continue;
        memcpy(&word, host(pointer_of(l, i)), sizeof word);
        word ^= UINT64_C(0x4000000040000000);
        memcpy(host(pointer_of(l, i)), &word, sizeof word);
    }
}

static gt_cu_result execute(const struct launch *l) {
    size_t global[3], local[3];
    for (int i = 0; i < 3; i++) {
        local[i] = l->block[i];
        global[i] = (size_t)l->grid[i] * l->block[i];
    }
    put_arguments(l);
    const cl_int result = cl.clEnqueueNDRangeKernel(cl.queue, l->function->kernel, 3, NULL,
                                                    global, local, 0, NULL, NULL);
    return result == CL_SUCCESS ? GT_CU_SUCCESS : GT_CU_INVALID_VALUE;
}

bool times_are_modelled(void) {
    const char *text = getenv("FAKE_CUDA_TIME");
    return text && strcmp(text, "model") == 0;
}

/* 2 us, and the arithmetic at a share of the device's rate that the kernel's text decides,
 * give or take 1 %. Launches of a kernel count on their own, so the order of kernels does
 * not matter. */
static double model_ns(const struct launch *l) {
    CUfunction f = l->function;
    const struct chip *c = device[current()->device];
    const char *text = getenv("FAKE_CUDA_SEED");
    const uint64_t seed = text ? strtoull(text, NULL, 10) : 1;
    const double flops = 2.0 * (double)number_of(l, f->m) * (double)number_of(l, f->n) *
                         (double)number_of(l, f->k);
    const bool wide = f->alpha >= 0 && f->param[f->alpha].size == 8;
    const double rate = c->units * 128.0 * c->clock_mhz * 2e-3 / (wide ? 64 : 4);
    const double share = 0.1 + 0.8 * fraction(f->hash);
    const double noise = fraction(gt_mix(gt_mix(f->hash + seed) + f->runs++)) - 0.5;
    const double work = f->ptx ? f->ptx_ns : flops / (rate * share);
    return (2000 + 1000 * share + work) * (1 + 0.02 * noise);
}

/* The number of clocks in a millisecond, which tuner/lab/kernels/clock.cl cannot see in
 * OpenCL. */
static void keep_pace(const struct launch *l) {
    const double mhz = device[current()->device]->clock_mhz * clock_factor(false);
    const uint64_t pace[2] = {(uint64_t)lround(mhz * 1000), 1000000};
    (void)cl.clFinish(cl.queue);
    memcpy(host(pointer_of(l, 0)), pace, sizeof pace);
}

bool points_to(const struct launch *l, CUdeviceptr c) {
    for (int i = 0; i < l->function->count; i++) {
        const CUdeviceptr p = l->function->param[i].size == sizeof p ? pointer_of(l, i) : 0;
        CUdeviceptr first = 0;
        if (p != 0 && is_allocated(p, sizeof first))
            memcpy(&first, host(p), sizeof first);
        if (p == c || first == c)
            return true;
    }
    return false;
}

gt_cu_result run_untimed(const struct launch *l) {
    return l->function->ptx ? execute_ptx(l) : execute(l);
}

/* The tuner looks at the outputs of a few launches of a graph: see tuner/lab/witness.h.
 * With times from the model they have not been executed yet. The first parameters of
 * gt_witness are GT_RING_PARAMS in tuner/lab/kernels/witness.cl. */
static gt_cu_result make_outputs(const struct launch *l) {
    enum { C, FRONT, APART, SET, SETS = SET + 4 };
    int64_t front, apart;
    gt_cu_result result = GT_CU_SUCCESS;
    memcpy(&front, l->value[FRONT], sizeof front);
    memcpy(&apart, l->value[APART], sizeof apart);
    for (int i = 0; !result && i < number_of(l, SETS); i++) {
        const int64_t offset = front + number_of(l, SET + i) * apart;
        result = run_launches_on(pointer_of(l, C) + (CUdeviceptr)offset);
    }
    return result;
}

gt_cu_result run(const struct launch *l, CUstream stream, bool for_real) {
    const char *name = l->function->name;
    live.launches++;
    live.early += l->early;
    stream->clock_ns += model_ns(l);
    if (due("hang", name))
        hang();
    if (due("fault", name) || trespasses(l) || is_early(l, stream)) {
        current()->lost = GT_CU_ILLEGAL_ADDRESS;
        return GT_CU_SUCCESS;
    }
    if (is_regrouped(l)) {
        current()->lost = GT_CU_ILLEGAL_INSTRUCTION;
        return GT_CU_SUCCESS;
    }
    if (due("lose", name) || !for_real)
        return GT_CU_SUCCESS;
    if (times_are_modelled() && strcmp(name, "gt_witness") == 0 &&
        make_outputs(l) != GT_CU_SUCCESS)
        return GT_CU_INVALID_VALUE;
    const gt_cu_result result = l->function->ptx ? execute_ptx(l) : execute(l);
    if (!result && strcmp(name, "gt_pace") == 0)
        keep_pace(l);
    if (!result && due("corrupt", name))
        corrupt(l);
    return result;
}

CUstream or_null_stream(CUstream stream) {
    return stream ? stream : &current()->null_stream;
}

static gt_cu_result launch(struct launch *l, CUstream stream, void **params) {
    for (int i = 0; i < l->function->count; i++)
        memcpy(l->value[i], params[i], l->function->param[i].size);
    const gt_cu_result result = accept(l);
    if (result)
        return result;
    stream = or_null_stream(stream);
    return stream->capturing ? record(stream->capturing, l) : run(l, stream, true);
}

gt_cu_result cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y,
                            unsigned block_z, unsigned smem_bytes, CUstream stream,
                            void **params, void **extra) {
    ENTER_KERNEL(cuLaunchKernel, function->name);
    struct launch l = {.function = function,
                       .grid = {grid_x, grid_y, grid_z},
                       .block = {block_x, block_y, block_z},
                       .cluster = {1, 1, 1},
                       .smem = smem_bytes};
    return launch(&l, stream, params);
}

gt_cu_result cuLaunchKernelEx(const struct gt_cu_launch_config *c, CUfunction function,
                              void **params, void **extra) {
    ENTER_KERNEL(cuLaunchKernelEx, function->name);
    struct launch l = {.function = function,
                       .grid = {c->grid_x, c->grid_y, c->grid_z},
                       .block = {c->block_x, c->block_y, c->block_z},
                       .cluster = {1, 1, 1},
                       .smem = c->smem_bytes};
    for (unsigned i = 0; i < c->attribute_count; i++)
        if (c->attributes[i].id == GT_CU_LAUNCH_CLUSTER)
            memcpy(l.cluster, &c->attributes[i].value.cluster, sizeof l.cluster);
        else if (c->attributes[i].id == GT_CU_LAUNCH_PROGRAMMATIC &&
                 device[current()->device]->cc >= 90)
            l.early = c->attributes[i].value.programmatic_serialization == 1;
        else
            return GT_CU_NOT_SUPPORTED;
    return launch(&l, c->stream, params);
}
