/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_cuda.h - libcuda.so, a replacement for the CUDA driver (GEMMTUNE_LIBCUDA) that
 * really runs kernels, on the CPU. An image is one of two things:
 *
 * - the kernel's source, with tests/fake/libnvrtc.c; it also compiles as OpenCL C, and PoCL
 *   runs it
 * - PTX, with tests/fake/libnvrtc_ptx.c and a real NVRTC; tests/ptx/ runs it
 *
 * The whole CUDA side of gemmtune thus runs without a GPU, and every fault of a driver can
 * be produced. It is stricter than a driver: addresses must lie in live allocations, shared
 * memory must have been requested, a context must be current.
 *
 * It runs everything at once and in order; work that CUDA does later is done in the call.
 * It exports NVML's functions too: GEMMTUNE_LIBNVML may name the same file. cuInit reads
 * the environment; a changed script counts from the start.
 *
 * - FAKE_CUDA_DEVICE: a list with commas of h200 (the default), rtx5090, l40s, a10, a100,
 *   t4, gtx1080, gtx1050-2gb and gtx1050-3gb
 * - FAKE_CUDA_VERSION: what cuDriverGetVersion says, 13000 unless it is set
 * - FAKE_CUDA_TIME: with "model", times come from a model of the launch, the same in every
 *   run, and a graph is executed in part; otherwise they come from the clock
 * - FAKE_CUDA_SEED: random seed of the model's noise, and of the order in which tests/ptx/
 *   runs threads and lands copies
 * - FAKE_CUDA_STRICT: 1 makes errors of what GPUs do not mind; see tests/ptx/ptx.h
 * - FAKE_CUDA_STEPS: the most instructions of a launch of PTX, all threads together
 * - FAKE_CUDA_REPORT: a file to which each destroyed context adds a line about its
 *   leftovers
 * - FAKE_CUDA_ORDER: when set, an access to device memory that other streams may disturb
 *   fails (order.c)
 * - FAKE_CUDA_STATE: a file that counts for the script over all processes of a run
 *
 * FAKE_CUDA_SCRIPT: rules, separated by ";" and without spaces. NAME/KERNEL counts only
 * that kernel's launches. Each rule counts for itself, from 1.
 *
 * - cuMemAlloc:5=2: the fifth call returns error 2
 * - cuLaunchKernel:12=700!: and so does every later call, since the context is lost
 * - fault@7: launch 7 is accepted, and the context is found lost afterwards
 * - hang@7: launch 7 does not come back
 * - stall/cuInit: calls of that function do not come back
 * - corrupt@7: launch 7 leaves a wrong element at the start of each array that it writes
 * - lose@7: launch 7 is not executed
 * - clock=0.6@30: from measurement 30 on the clock is at 60 %, and NVML says throttled
 * - noted=0.9: NVML always reports that clock
 * - outlier=100@5: measurement 5 is 100 times as long (0, -1 and nan are allowed)
 * - slow=1.2: everything takes 1.2 times as long
 */
#ifndef GT_TESTS_FAKE_CUDA_H
#define GT_TESTS_FAKE_CUDA_H

#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>

#include "core/mix.h"
#include "runtime/drivers/cuda_api.h"
#include "tests/ptx/ptx.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exported. */
#define X(name, symbol, needed, params)                                                    \
    __attribute__((visibility("default"))) gt_cu_result symbol params;
GT_CUDA_SYMBOLS(X)
#undef X
#define X(name, symbol, needed, params)                                                    \
    __attribute__((visibility("default"))) unsigned symbol params;
GT_NVML_SYMBOLS(X)
#undef X

/* Functions that shim/ calls, and gemmtune does not. */
__attribute__((visibility("default"))) gt_cu_result cuCtxGetId(CUcontext context,
                                                               unsigned long long *id);
__attribute__((visibility("default"))) gt_cu_result cuStreamGetCtx(CUstream stream,
                                                                   CUcontext *context);

enum {
    PARAMS_MAX = 32,
    VALUE_MAX = sizeof(struct gt_cu_tensor_map), /* bytes of a parameter */
    STACK_MAX = 32,                              /* of contexts, a thread */
    RULES_MAX = 32,
    DEVICES_MAX = 8,
    STREAMS_MAX = 64,    /* that are told apart by order.c */
    IN_CAPTURE = 900,    /* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED */
    CAPTURE_ENDED = 901, /* CUDA_ERROR_STREAM_CAPTURE_INVALIDATED */
    /* Nodes of a graph that are executed when times come from the model. Later, those are
     * that made the outputs which the tuner looks at (gt_witness). */
    MODEL_NODES = 4,
    ALIGNMENT = 512, /* of device memory */
    STATIC_SMEM_MAX = 48 * 1024
};

/* Ends the process: the test itself is wrong. */
_Noreturn void stop(const char *why, const char *what);

/* ---- opencl.c ---- */

#define CL_FUNCTIONS(X)                                                                    \
    X(clGetPlatformIDs)                                                                    \
    X(clGetDeviceIDs)                                                                      \
    X(clCreateContext)                                                                     \
    X(clCreateCommandQueueWithProperties)                                                  \
    X(clCreateProgramWithSource)                                                           \
    X(clBuildProgram)                                                                      \
    X(clGetProgramBuildInfo)                                                               \
    X(clReleaseProgram)                                                                    \
    X(clCreateKernel)                                                                      \
    X(clReleaseKernel)                                                                     \
    X(clGetKernelInfo)                                                                     \
    X(clGetKernelArgInfo)                                                                  \
    X(clGetKernelWorkGroupInfo)                                                            \
    X(clSetKernelArg)                                                                      \
    X(clSetKernelArgSVMPointer)                                                            \
    X(clEnqueueNDRangeKernel)                                                              \
    X(clFinish)                                                                            \
    X(clSVMAlloc)                                                                          \
    X(clSVMFree)

struct fake_cl {
#define X(name) __typeof__(name) *name;
    CL_FUNCTIONS(X)
#undef X
    cl_context context;
    cl_command_queue queue;
    cl_device_id device;
};

extern struct fake_cl cl;

void open_cl(void);

/* ---- devices.c ---- */

struct chip {
    const char *word, *name;
    int cc, units, bus_bits, clock_mhz, mem_clock_mhz, l2_bytes, smem_optin, smem_per_unit;
    size_t memory;
};

extern const struct chip *device[DEVICES_MAX];
extern int devices;

void read_devices(void);

/* ---- script.c ---- */

struct rule {
    char what[48], kernel[48];
    long at; /* 0: always */
    double value;
    bool sticky;
};

void read_script(void);
/* Counts an event. Returns the rule that is due with it, or NULL. */
const struct rule *due(const char *what, const char *kernel);
/* The factor of the clock, 1 until its rule has begun.
 * Counts a measurement when asked to. */
double clock_factor(bool measuring);

/* ---- objects ---- */

struct CUstream_st {
    CUgraph capturing;
    bool broken;           /* the capture came to nothing */
    bool strictly;         /* captured in global mode */
    unsigned long long id; /* no other stream has had it */
    double clock_ns;       /* the model's */
    int number;            /* for order.c; 0: none */
    CUcontext context;     /* it was made in */
    long seen[STREAMS_MAX];
};

struct CUctx_st {
    int device;
    unsigned long long id; /* no other context has had it */
    gt_cu_result lost;     /* every call returns it once the context is lost */
    struct CUstream_st null_stream;
};

struct CUevent_st {
    bool recorded;
    double ns;
    long seen[STREAMS_MAX];
};

struct param {
    bool pointer, written; /* written: a pointer to what is not const */
    size_t size;
};

struct CUfunc_st {
    struct CUfunc_st *next;
    CUmodule module;
    cl_kernel kernel;
    char name[48];
    int count;
    struct param param[PARAMS_MAX];
    int m, n, k, alpha;           /* which parameters are called so; -1 */
    unsigned cluster[3];          /* of its first launch: it is made for that */
    size_t smem;                  /* size of its __local arrays */
    size_t dynamic_max;           /* what may be asked for at a launch */
    uint64_t hash, runs;          /* for the model */
    const struct ptx_kernel *ptx; /* NULL: OpenCL runs it */
    double ptx_ns;                /* the time that the model gives it */
};

struct CUmod_st {
    cl_program program;
    struct ptx_module *ptx; /* NULL: OpenCL has it */
    int registers;
    bool wide;     /* gt_elem has 8 bytes */
    uint64_t hash; /* of kernel and device */
    struct CUfunc_st *functions;
};

struct launch {
    CUfunction function;
    unsigned grid[3], block[3], cluster[3], smem;
    bool early; /* may begin before the previous launch has ended */
    _Alignas(8) unsigned char value[PARAMS_MAX][VALUE_MAX];
    void *param[PARAMS_MAX]; /* the values, for a caller that asks a graph */
};

struct CUgraph_st {
    size_t count, room;
    struct launch *node;
};

struct CUgraphExec_st {
    struct CUgraph_st graph; /* a copy */
};

/* ---- context.c ---- */

/* Number of live objects of each kind, and of launches so far. */
struct live {
    long contexts, modules, streams, events, graphs, launches, early, pinned;
};

extern struct live live;
extern pthread_mutex_t mutex;

CUcontext current(void);
/* Never returns. */
void hang(void);
/* Waits. True when an earlier launch has destroyed the context. */
gt_cu_result finish(void);

enum call {
#define X(name, symbol, needed, params) CALL_##name,
    GT_CUDA_SYMBOLS(X)
#undef X
};

/* The result of a call before it does anything. From cuCtxSynchronize on, calls need a
 * context that is not lost. */
gt_cu_result enter(enum call call, const char *kernel);
void unlock(int *unused);

#define LOCK                                                                               \
    __attribute__((cleanup(unlock))) int locked_ = pthread_mutex_lock(&mutex);             \
    (void)locked_
#define ENTER_KERNEL(call, kernel)                                                         \
    LOCK;                                                                                  \
    const gt_cu_result scripted_ = enter(CALL_##call, kernel);                             \
    if (scripted_)                                                                         \
    return scripted_
#define ENTER(call) ENTER_KERNEL(call, "")

/* ---- order.c ---- */

/* The accesses to an allocation: the last that wrote to it, and since then the last of each
 * stream that read it. */
struct trail {
    int writer;
    long written, read[STREAMS_MAX];
};

void order_open(CUstream stream);
void order_close(CUstream stream);
void order_record(CUevent event, CUstream stream);
void order_wait(CUstream stream, CUevent event);
/* The host waits for an event or a stream. */
void order_join(const long seen[STREAMS_MAX]);
gt_cu_result order_access(struct trail *t, CUstream stream, bool writes);

/* ---- memory.c ---- */

/* The trail of the allocation that holds an address; NULL: none does. */
struct trail *trail_of(CUdeviceptr at);

static inline char *host(CUdeviceptr at) {
    return (char *)(uintptr_t)at;
}

/* Whether [at, at + bytes) lies in an allocation. */
bool is_allocated(CUdeviceptr at, size_t bytes);
/* Frees the leftovers of a context, as the driver does, and reports how many there were. */
void clear_memories(CUcontext context, long *count, size_t *bytes);
gt_cu_result not_in_capture(CUstream stream);

/* The allocation that holds an address. */
bool find_memory(uint64_t at, uint64_t *begin, uint64_t *end);

/* ---- ptx.c ---- */

bool is_ptx(const char *image);
/* The module of an image for the current device. */
gt_cu_result load_ptx(CUmodule module, const char *image);
/* The function's kernel and parameters; false when there is no such kernel. */
bool find_ptx(CUfunction function, const char *name);
gt_cu_result execute_ptx(const struct launch *l);
/* The sentence about the last kernel that failed, "" when none has. */
const char *ptx_complaint(void);

/* ---- modules.c ---- */

uint64_t hash_text(uint64_t hash, const char *text);
/* From 0 to 1. */
double fraction(uint64_t hash);
int threads_max(const struct CUmod_st *m);

/* ---- launch.c ---- */

bool times_are_modelled(void);
CUstream or_null_stream(CUstream stream);
/* Runs an accepted launch. Its errors show in a later call. */
gt_cu_result run(const struct launch *l, CUstream stream, bool for_real);
/* Executes a launch that `run` has counted and timed already. */
gt_cu_result run_untimed(const struct launch *l);
/* Whether a parameter is this address, or leads to an array of pointers that begins with
 * it.
 */
bool points_to(const struct launch *l, CUdeviceptr c);

/* ---- streams.c ---- */

/* Executes those launches of the graph launched last that have the output at c. */
gt_cu_result run_launches_on(CUdeviceptr c);
gt_cu_result record(CUgraph g, const struct launch *l);
/* Whether a capture forbids this thread to allocate. */
bool ends_a_capture(void);

#endif
