/* SPDX-License-Identifier: Apache-2.0 */
/* modules.c - modules, which PoCL compiles, and their kernels. See fake_cuda.h. */
#include "tests/fake/cuda/fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_bytes(uint64_t hash, const char *text, size_t len) {
    for (const char *at = text; at < text + len; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    return hash;
}

uint64_t hash_text(uint64_t hash, const char *text) {
    return gt_mix(hash_bytes(hash, text, strlen(text)));
}

double fraction(uint64_t hash) {
    return (double)(hash >> 11) / 9007199254740992.0;
}

static void show_log(cl_program program) {
    char log[4000] = "";
    (void)cl.clGetProgramBuildInfo(program, cl.device, CL_PROGRAM_BUILD_LOG, sizeof log,
                                   log, NULL);
    fprintf(stderr, "fake libcuda: the source does not build as OpenCL C:\n%s\n", log);
}

/* The text says which instructions the GPU has. PoCL has none of them. */
static void take_abilities(char *text) {
    static const char *const names[] = {"#define GT_F16 ", "#define GT_PTX ",
                                        "#define GT_DOT4 "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *const line = strstr(text, names[i]);
        for (char *c = line ? line + strlen(names[i]) : NULL; c && *c > ' '; c++)
            *c = '0';
    }
}

static cl_program create(const char *source) {
    cl_int result;
    char *const text = strdup(source);
    const char *texts[] = {text};
    if (!text)
        return NULL;
    take_abilities(text);
    cl_program program = cl.clCreateProgramWithSource(cl.context, 1, texts, NULL, &result);
    free(text);
    return program;
}

static cl_program build(const char *source) {
    cl_int result;
    cl_program program = create(source);
    if (!program)
        return NULL;
    result = cl.clBuildProgram(program, 1, &cl.device,
                               "-cl-std=CL1.2 -w -cl-kernel-arg-info", NULL, NULL);
    if (result == CL_SUCCESS)
        return program;
    show_log(program);
    (void)cl.clReleaseProgram(program);
    return NULL;
}

/* Built programs stay until the process ends: tests load the same images many times. */
static cl_program built(const char *source) {
    static struct built {
        struct built *next;
        uint64_t hash;
        cl_program program;
    } * list;
    const uint64_t hash = hash_text(0, source);
    for (struct built *b = list; b; b = b->next)
        if (b->hash == hash)
            return b->program;
    struct built *b = calloc(1, sizeof *b);
    cl_program program = b ? build(source) : NULL;
    if (!program) {
        free(b);
        return NULL;
    }
    *b = (struct built){list, hash, program};
    list = b;
    return program;
}

/* The hash of a text but for the prelude, which stands between the macros of the point and
 * the kernel's own file: an edit of the prelude changes no time. */
static uint64_t hash_kernel(uint64_t hash, const char *text) {
    static const char file[] = "\n#line 1 ";
    const char *kernel = strstr(text, file);
    if (!kernel)
        return hash_text(hash, text);
    hash = hash_bytes(hash, text, (size_t)(kernel - text));
    for (const char *next = kernel; (next = strstr(next, file)); next++)
        kernel = next;
    return hash_text(hash, kernel);
}

static gt_cu_result keep(CUmodule *module, CUmodule m, const char *text) {
    m->hash = hash_kernel(hash_text(1, device[current()->device]->word), text);
    live.modules++;
    *module = m;
    return GT_CU_SUCCESS;
}

/* "FAKECUBIN sm_61 registers 40\n" and the source; see libnvrtc.c. */
static gt_cu_result load_source(CUmodule m, const char *text) {
    const struct chip *chip = device[current()->device];
    int arch = 0;
    if (sscanf(text, "FAKECUBIN sm_%d%*[a] registers %d", &arch, &m->registers) != 2 &&
        sscanf(text, "FAKECUBIN sm_%d registers %d", &arch, &m->registers) != 2)
        return GT_CU_INVALID_IMAGE;
    if (arch / 10 != chip->cc / 10 || arch > chip->cc)
        return GT_CU_NO_BINARY_FOR_GPU;
    m->program = built(strchr(text, '\n') + 1);
    m->wide = strstr(text, "#define GT_DTYPE_F64 1\n") != NULL;
    return m->program ? GT_CU_SUCCESS : GT_CU_INVALID_IMAGE;
}

gt_cu_result cuModuleLoadData(CUmodule *module, const void *image) {
    ENTER(cuModuleLoadData);
    CUmodule m = calloc(1, sizeof *m);
    if (!m)
        return GT_CU_OUT_OF_MEMORY;
    const gt_cu_result result = is_ptx(image) ? load_ptx(m, image) : load_source(m, image);
    if (!result)
        return keep(module, m, image);
    free(m);
    return result;
}

gt_cu_result cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                                gt_cu_jit_option *options, void **values) {
    return cuModuleLoadData(module, image);
}

gt_cu_result cuModuleUnload(CUmodule module) {
    ENTER(cuModuleUnload);
    (void)cl.clFinish(cl.queue);
    for (CUfunction f = module->functions; f;) {
        CUfunction next = f->next;
        if (f->kernel)
            (void)cl.clReleaseKernel(f->kernel);
        free(f);
        f = next;
    }
    ptx_free(module->ptx);
    live.modules--;
    free(module);
    return GT_CU_SUCCESS;
}

/* PoCL reports a type by its declared name, and accepts any size for a typedef. The
 * prelude's typedefs are listed here. */
static size_t scalar_size(const struct CUfunc_st *f, cl_uint i) {
    const size_t elem = f->module->wide ? 8 : 4;
    const struct {
        const char *name;
        size_t size;
    } rows[] = {
        {"int", 4},       {"uint", 4},       {"float", 4},
        {"long", 8},      {"ulong", 8},      {"double", 8},
        {"gt_long", 8},   {"gt_ulong", 8},   {"gt_elem", elem},
        {"gt_acc", elem}, {"gt_wide", elem}, {"struct gt_tensor_map", VALUE_MAX},
    };
    char type[48] = "";
    (void)cl.clGetKernelArgInfo(f->kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof type - 1,
                                type, NULL);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if (strcmp(rows[r].name, type) == 0)
            return rows[r].size;
    stop("add to scalar_size the type", type);
}

static void read_param(CUfunction f, int i) {
    struct param *p = &f->param[i];
    cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_PRIVATE;
    cl_kernel_arg_type_qualifier type = 0;
    char name[48] = "";
    const cl_uint at = (cl_uint)i;
    (void)cl.clGetKernelArgInfo(f->kernel, at, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                                sizeof space, &space, NULL);
    (void)cl.clGetKernelArgInfo(f->kernel, at, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof type,
                                &type, NULL);
    (void)cl.clGetKernelArgInfo(f->kernel, at, CL_KERNEL_ARG_NAME, sizeof name - 1, name,
                                NULL);
    p->pointer = space != CL_KERNEL_ARG_ADDRESS_PRIVATE;
    p->written = p->pointer && !(type & CL_KERNEL_ARG_TYPE_CONST);
    p->size = p->pointer ? sizeof(CUdeviceptr) : scalar_size(f, at);
    int *const by_name[] = {&f->m, &f->n, &f->k, &f->alpha};
    static const char *const names[] = {"m", "n", "k", "alpha"};
    for (size_t j = 0; j < sizeof names / sizeof *names; j++)
        if (strcmp(name, names[j]) == 0)
            *by_name[j] = i;
}

static bool find_kernel(CUfunction f, const char *name) {
    cl_int result;
    f->kernel = cl.clCreateKernel(f->module->program, name, &result);
    return f->kernel != NULL;
}

/* The parameters of a kernel that OpenCL has. */
static void read_function(CUfunction f) {
    cl_uint count = 0;
    cl_ulong local = 0;
    (void)cl.clGetKernelInfo(f->kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
    (void)cl.clGetKernelWorkGroupInfo(f->kernel, cl.device, CL_KERNEL_LOCAL_MEM_SIZE,
                                      sizeof local, &local, NULL);
    if (count > PARAMS_MAX)
        stop("too many parameters in", f->name);
    f->count = (int)count;
    f->smem = (size_t)local;
    for (int i = 0; i < f->count; i++)
        read_param(f, i);
}

gt_cu_result cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    ENTER(cuModuleGetFunction);
    CUfunction f = calloc(1, sizeof *f);
    if (!f)
        return GT_CU_OUT_OF_MEMORY;
    snprintf(f->name, sizeof f->name, "%s", name);
    f->module = module;
    f->hash = hash_text(module->hash, name);
    f->m = f->n = f->k = f->alpha = -1;
    f->dynamic_max = STATIC_SMEM_MAX;
    if (module->ptx ? !find_ptx(f, name) : !find_kernel(f, name)) {
        free(f);
        return GT_CU_NOT_FOUND;
    }
    if (!module->ptx)
        read_function(f);
    f->next = module->functions;
    module->functions = f;
    *function = f;
    return GT_CU_SUCCESS;
}

int threads_max(const struct CUmod_st *m) {
    const int by_registers = 65536 / m->registers / 32 * 32;
    return by_registers < 1024 ? by_registers : 1024;
}

gt_cu_result cuFuncGetAttribute(int *value, gt_cu_function_attribute attribute,
                                CUfunction function) {
    ENTER(cuFuncGetAttribute);
    *value = 0;
    if (attribute == GT_CU_FUNC_MAX_THREADS)
        *value = threads_max(function->module);
    else if (attribute == GT_CU_FUNC_REGISTERS)
        *value = function->module->registers;
    else if (attribute == GT_CU_FUNC_MAX_DYNAMIC_SMEM)
        *value = (int)function->dynamic_max;
    return GT_CU_SUCCESS;
}

gt_cu_result cuFuncSetAttribute(CUfunction function, gt_cu_function_attribute attribute,
                                int value) {
    ENTER(cuFuncSetAttribute);
    if (attribute != GT_CU_FUNC_MAX_DYNAMIC_SMEM)
        return GT_CU_SUCCESS;
    if (value < 0 || value > device[current()->device]->smem_optin)
        return GT_CU_INVALID_VALUE;
    function->dynamic_max = (size_t)value;
    return GT_CU_SUCCESS;
}

gt_cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                         int block_size,
                                                         size_t smem_bytes) {
    ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    *blocks = 65536 / (function->module->registers * (block_size > 0 ? block_size : 1));
    return GT_CU_SUCCESS;
}

gt_cu_result cuOccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                          const struct gt_cu_launch_config *config) {
    ENTER(cuOccupancyMaxActiveClusters);
    *clusters = 0;
    return GT_CU_NOT_SUPPORTED;
}
