/* SPDX-License-Identifier: Apache-2.0 */
/* ptx.c - modules and launches of PTX, which tests/ptx/ runs. See fake_cuda.h. */
#include "tests/fake/cuda/fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGISTERS = 64 /* a number that every block has room for */ };

static char complaint[PTX_WHY];

const char *ptx_complaint(void) {
    return complaint;
}

static void complain(const char *why) {
    snprintf(complaint, sizeof complaint, "%s", why);
    fprintf(stderr, "fake libcuda: %s\n", why);
}

bool is_ptx(const char *image) {
    return strncmp(image, "//", 2) == 0 || strncmp(image, ".version", 8) == 0;
}

/* PTX for an older architecture is taken, as by a driver; sm_90a only by its own. */
gt_cu_result load_ptx(CUmodule m, const char *image) {
    const int cc = device[current()->device]->cc;
    char why[PTX_WHY];
    m->ptx = ptx_parse(image, why);
    if (!m->ptx) {
        complain(why);
        return GT_CU_INVALID_IMAGE;
    }
    m->registers = REGISTERS;
    if (ptx_target(m->ptx) <= cc)
        return GT_CU_SUCCESS;
    ptx_free(m->ptx);
    m->ptx = NULL;
    return GT_CU_NO_BINARY_FOR_GPU;
}

bool find_ptx(CUfunction f, const char *name) {
    const struct ptx_kernel *k = ptx_find(f->module->ptx, name);
    if (!k)
        return false;
    f->ptx = k;
    f->count = k->params;
    for (int i = 0; i < k->params; i++)
        f->param[i].size = k->param_size[i];
    return true;
}

static uint64_t number_from(const char *variable, uint64_t usual) {
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 10) : usual;
}

/* Four instructions of each warp scheduler and 1024 multiply-adds a clock and unit. */
static double time_of(const struct ptx_report *report) {
    const struct chip *c = device[current()->device];
    return ((double)report->steps / 128 + (double)report->tensor_ops / 2048) * 1e3 /
           ((double)c->units * c->clock_mhz);
}

gt_cu_result execute_ptx(const struct launch *l) {
    static uint64_t launches;
    const CUfunction f = l->function;
    _Alignas(128) unsigned char params[PARAMS_MAX * VALUE_MAX] = {0};
    struct ptx_report report;
    struct ptx_launch launch = {.kernel = f->ptx,
                                .smem = l->smem,
                                .params = params,
                                .units = (unsigned)device[current()->device]->units,
                                .seed = number_from("FAKE_CUDA_SEED", 1) + launches++,
                                .most_steps = number_from("FAKE_CUDA_STEPS", 0),
                                .strict = number_from("FAKE_CUDA_STRICT", 0) != 0,
                                .find = find_memory};
    memcpy(launch.grid, l->grid, sizeof launch.grid);
    memcpy(launch.block, l->block, sizeof launch.block);
    memcpy(launch.cluster, l->cluster, sizeof launch.cluster);
    for (int i = 0; i < f->count; i++)
        memcpy(params + f->ptx->param_at[i], l->value[i], f->param[i].size);
    (void)cl.clFinish(cl.queue); /* kernels of libcublas.c run there */
    ptx_run(&report, &launch);
    f->ptx_ns = time_of(&report);
    if (report.result == PTX_OK)
        return GT_CU_SUCCESS;
    complain(report.why);
    current()->lost = (gt_cu_result)report.result;
    return GT_CU_SUCCESS;
}
