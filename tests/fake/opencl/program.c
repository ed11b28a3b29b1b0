/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - OpenCL C to PTX by clang, kernels, launches on tests/ptx/. See
 * fake_opencl.h. */
#include "tests/fake/opencl/fake_opencl.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The functions of OpenCL C that our kernels call, in words of clang. */
static const char built_in[] =
    "#define GT_FAKE_ static inline __attribute__((always_inline, overloadable))\n"
    "#define get_local_id(d) ((size_t)((d) == 0 ? __nvvm_read_ptx_sreg_tid_x() : "
    "(d) == 1 ? __nvvm_read_ptx_sreg_tid_y() : __nvvm_read_ptx_sreg_tid_z()))\n"
    "#define get_group_id(d) ((size_t)((d) == 0 ? __nvvm_read_ptx_sreg_ctaid_x() : "
    "(d) == 1 ? __nvvm_read_ptx_sreg_ctaid_y() : __nvvm_read_ptx_sreg_ctaid_z()))\n"
    "#define get_num_groups(d) ((size_t)((d) == 0 ? __nvvm_read_ptx_sreg_nctaid_x() : "
    "(d) == 1 ? __nvvm_read_ptx_sreg_nctaid_y() : __nvvm_read_ptx_sreg_nctaid_z()))\n"
    "#define get_local_size(d) ((size_t)((d) == 0 ? __nvvm_read_ptx_sreg_ntid_x() : "
    "(d) == 1 ? __nvvm_read_ptx_sreg_ntid_y() : __nvvm_read_ptx_sreg_ntid_z()))\n"
    "#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))\n"
    "#define get_global_size(d) (get_num_groups(d) * get_local_size(d))\n"
    "#define barrier(flags) __syncthreads()\n"
    "GT_FAKE_ float gt_fake_fma(float a, float b, float c) "
    "{ return __nvvm_fma_rn_f(a, b, c); }\n"
    "GT_FAKE_ double gt_fake_fma(double a, double b, double c) "
    "{ return __nvvm_fma_rn_d(a, b, c); }\n"
    "#define fma gt_fake_fma\n"
    "#define atomic_add(p, x) __sync_fetch_and_add(p, x)\n"
    "#define atomic_or(p, x) __sync_fetch_and_or(p, x)\n"
    "#line 1\n";

static void write_file(const char *path, const char *head, const char *text) {
    FILE *f = fopen(path, "w");
    if (!f || fputs(head, f) < 0 || fputs(text, f) < 0 || fclose(f) != 0)
        abort();
}

static char *read_file(const char *path) {
    FILE *f = fopen(path, "r");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        return f ? (fclose(f), NULL) : NULL;
    const long size = ftell(f);
    char *text = calloc((size_t)size + 1, 1);
    rewind(f);
    if (text && fread(text, 1, (size_t)size, f) != (size_t)size)
        text[0] = '\0';
    (void)fclose(f);
    return text;
}

/* Runs clang with its messages in a file. Returns whether it did well. */
static bool run_clang(const char *source, const char *ptx, const char *messages) {
    char cpu[16];
    const char *clang = getenv("FAKE_OPENCL_CLANG");
    (void)snprintf(cpu, sizeof cpu, "sm_%d", fake_cc() < 80 ? fake_cc() : 80);
    const char *const argv[] = {clang ? clang : "clang",
                                "-x",
                                "cl",
                                "-cl-std=CL1.2",
                                "-target",
                                "nvptx64-nvidia-nvcl",
                                "-Xclang",
                                "-finclude-default-header",
                                "-Xclang",
                                "-fdeclare-opencl-builtins",
                                "-Xclang",
                                "-target-cpu",
                                "-Xclang",
                                cpu,
                                "-Xclang",
                                "-target-feature",
                                "-Xclang",
                                "+ptx72",
                                "-O2",
                                "-w",
                                "-S",
                                "-o",
                                ptx,
                                source,
                                NULL};
    posix_spawn_file_actions_t to_file;
    pid_t child;
    int status = -1;
    (void)posix_spawn_file_actions_init(&to_file);
    (void)posix_spawn_file_actions_addopen(&to_file, STDERR_FILENO, messages,
                                           O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int failed = posix_spawnp(&child, argv[0], &to_file, NULL,
                                    (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawn_file_actions_destroy(&to_file);
    return !failed && waitpid(child, &status, 0) == child && status == 0;
}

/* Compiles the program in a folder of its own. */
static bool compile(cl_program p) {
    char folder[] = "/tmp/fake_opencl_XXXXXX", source[64], ptx[64], messages[64];
    if (!mkdtemp(folder))
        return false;
    (void)snprintf(source, sizeof source, "%s/a.cl", folder);
    (void)snprintf(ptx, sizeof ptx, "%s/a.ptx", folder);
    (void)snprintf(messages, sizeof messages, "%s/log", folder);
    write_file(source, built_in, p->source);
    const bool good = run_clang(source, ptx, messages);
    free(p->log);
    p->log = read_file(messages);
    if (good)
        p->ptx = read_file(ptx);
    (void)unlink(source);
    (void)unlink(ptx);
    (void)unlink(messages);
    (void)rmdir(folder);
    return good && p->ptx;
}

/* ---- programs ---- */

static cl_program make(const char *source, const char *ptx, cl_int *error) {
    cl_program p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->users = 1;
    p->source = source ? strdup(source) : NULL;
    p->ptx = ptx ? strdup(ptx) : NULL;
    p->log = strdup("");
    if (error)
        *error = GT_CL_SUCCESS;
    return p;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **text,
                                     const size_t *lengths, cl_int *error) {
    return make(text[0], NULL, error);
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count,
                                     const cl_device_id *devices, const size_t *sizes,
                                     const unsigned char **binaries, cl_int *verdicts,
                                     cl_int *error) {
    *verdicts = GT_CL_SUCCESS;
    return make(NULL, (const char *)binaries[0], error);
}

cl_int clBuildProgram(cl_program p, cl_uint count, const cl_device_id *devices,
                      const char *options, void (*notify)(cl_program program, void *user),
                      void *user) {
    char why[PTX_WHY];
    if (!p->ptx && !compile(p))
        return GT_CL_BUILD_PROGRAM_FAILURE;
    p->module = ptx_parse(p->ptx, why);
    if (p->module)
        return GT_CL_SUCCESS;
    free(p->log);
    p->log = strdup(why);
    return GT_CL_BUILD_PROGRAM_FAILURE;
}

cl_int clGetProgramBuildInfo(cl_program p, cl_device_id device, cl_uint what, size_t size,
                             void *value, size_t *needed) {
    const char *log = p->log ? p->log : "";
    return fake_answer(log, strlen(log) + 1, size, value, needed);
}

cl_int clGetProgramInfo(cl_program p, cl_uint what, size_t size, void *value,
                        size_t *needed) {
    static const cl_uint one = 1;
    const size_t bytes = p->ptx ? strlen(p->ptx) + 1 : 0;
    cl_device_id device;
    if (what == GT_CL_PROGRAM_NUM_DEVICES)
        return fake_answer(&one, sizeof one, size, value, needed);
    if (what == GT_CL_PROGRAM_BINARY_SIZES)
        return fake_answer(&bytes, sizeof bytes, size, value, needed);
    if (what == GT_CL_PROGRAM_BINARIES) {
        memcpy(*(void **)value, p->ptx, bytes);
        return GT_CL_SUCCESS;
    }
    cl_uint count;
    (void)clGetDeviceIDs(NULL, 0, 1, &device, &count);
    return fake_answer(&device, sizeof device, size, value, needed);
}

cl_int clReleaseProgram(cl_program p) {
    if (--p->users > 0)
        return GT_CL_SUCCESS;
    ptx_free(p->module);
    free(p->source);
    free(p->log);
    free(p->ptx);
    free(p);
    return GT_CL_SUCCESS;
}

/* ---- kernels ---- */

cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *error) {
    const struct ptx_kernel *code = ptx_find(p->module, name);
    cl_kernel k = code ? aligned_alloc(128, (sizeof *k + 127) / 128 * 128) : NULL;
    if (error)
        *error = code ? GT_CL_SUCCESS : GT_CL_INVALID_KERNEL_NAME;
    if (!k)
        return NULL;
    memset(k, 0, sizeof *k);
    k->program = p;
    k->code = code;
    p->users++;
    return k;
}

cl_int clReleaseKernel(cl_kernel k) {
    (void)clReleaseProgram(k->program);
    free(k);
    return GT_CL_SUCCESS;
}

cl_int clSetKernelArg(cl_kernel k, cl_uint index, size_t size, const void *value) {
    if (index >= (cl_uint)k->code->params || size != k->code->param_size[index])
        return GT_CL_INVALID_VALUE;
    void *handle = NULL;
    char *address = NULL;
    if (size == sizeof handle) {
        memcpy(&handle, value, size);
        address = fake_address(handle);
    }
    memcpy(k->params + k->code->param_at[index], address ? (void *)&address : value, size);
    return GT_CL_SUCCESS;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id device, cl_uint what, size_t size,
                                void *value, size_t *needed) {
    const cl_ulong local = k->code->static_smem, none = 0;
    const size_t most = 1024, warp = 32;
    switch (what) {
    case GT_CL_KERNEL_WORK_GROUP_SIZE:
        return fake_answer(&most, sizeof most, size, value, needed);
    case GT_CL_KERNEL_WORK_GROUP_MULTIPLE:
        return fake_answer(&warp, sizeof warp, size, value, needed);
    case GT_CL_KERNEL_LOCAL_MEM_SIZE:
        return fake_answer(&local, sizeof local, size, value, needed);
    default:
        return fake_answer(&none, sizeof none, size, value, needed);
    }
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel k, cl_uint dimensions,
                              const size_t *offset, const size_t *global,
                              const size_t *local, cl_uint wait_count, const cl_event *wait,
                              cl_event *event) {
    static uint64_t launches;
    struct ptx_report report;
    struct ptx_launch launch = {.kernel = k->code,
                                .grid = {1, 1, 1},
                                .block = {1, 1, 1},
                                .cluster = {1, 1, 1},
                                .params = k->params,
                                .units = FAKE_UNITS,
                                .seed = ++launches,
                                .find = fake_find};
    for (cl_uint i = 0; i < dimensions; i++) {
        launch.grid[i] = (unsigned)(global[i] / local[i]);
        launch.block[i] = (unsigned)local[i];
    }
    ptx_run(&report, &launch);
    fake_event(event, 1 + report.steps / 128);
    if (report.result == PTX_OK)
        return GT_CL_SUCCESS;
    fprintf(stderr, "fake libOpenCL: %s\n", report.why);
    return GT_CL_OUT_OF_RESOURCES;
}
