/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcuda.c - a stand-in for the CUDA driver (GEMMTUNE_LIBCUDA) that runs kernels for real,
 * on the CPU through PoCL: with tests/fake/libnvrtc.c an "image" is the kernel's source,
 * which compiles as OpenCL C too. So the whole CUDA side of gemmtune runs without a GPU,
 * and every fault that a driver can have can be had on demand. It is stricter than a
 * driver: addresses must lie in live allocations, shared memory must have been asked for, a
 * context must be current.
 *
 * It runs everything at once and in order; what CUDA does later it does in the call. It
 * exports NVML's functions too: name the same file in GEMMTUNE_LIBNVML to have clocks.
 *
 *   FAKE_CUDA_DEVICE   devices, by commas: h200 (default), gtx1080, gtx1050-2gb,
 * gtx1050-3gb FAKE_CUDA_TIME     "model": times come from a model of the launch, the same
 * in every run, and a graph is executed in part; else from the clock FAKE_CUDA_SEED     of
 * the model's noise FAKE_CUDA_REPORT   file to which each destroyed context adds a line:
 * what was left in it FAKE_CUDA_STATE    file that counts for the script over all processes
 * of a run FAKE_CUDA_SCRIPT   rules separated by ';' (spaces are not skipped). NAME/KERNEL
 * counts that kernel's launches alone; each rule counts for itself, from 1. cuMemAlloc:5=2
 * the fifth call returns error 2 cuLaunchKernel:12=700!  and so does every later call: the
 * context is lost fault@7                 launch 7 is accepted, the context is found lost
 * afterwards hang@7                  launch 7 does not come back corrupt@7 launch 7 leaves
 * a wrong element at the start of what it writes lose@7                  launch 7 is not
 * executed clock=0.6@30            from measurement 30 on the clock is at 60 %; NVML says
 * throttled noted=0.9               NVML notes that clock, whatever it is outlier=100@5
 * measurement 5 is 100 times as long (0, -1 and nan as well) slow=1.2 everything takes 1.2
 * times as long
 *
 * cuInit reads the environment; a changed script counts from the start.
 */
#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>

#include "runtime/cuda_api.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define X(name, symbol, needed, params) gt_cu_result symbol params;
GT_CUDA_SYMBOLS(X)
#undef X
#define X(name, symbol, needed, params) unsigned symbol params;
GT_NVML_SYMBOLS(X)
#undef X

enum {
    PARAMS_MAX = 32,
    VALUE_MAX = sizeof(struct gt_cu_tensor_map), /* bytes of a parameter */
    STACK_MAX = 32,                              /* of contexts, a thread */
    RULES_MAX = 32,
    DEVICES_MAX = 8,
    IN_CAPTURE = 900, /* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED */
    MODEL_NODES = 4,  /* of a graph that are executed when times come from the model */
    ALIGNMENT = 512,  /* of device memory */
    STATIC_SMEM_MAX = 48 * 1024
};

_Noreturn static void stop(const char *why, const char *what) {
    fprintf(stderr, "fake libcuda: %s %s\n", why, what);
    abort();
}

/* ---- OpenCL
 * -------------------------------------------------------------------------------- */

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

static struct {
#define X(name) __typeof__(name) *name;
    CL_FUNCTIONS(X)
#undef X
    cl_context context;
    cl_command_queue queue;
    cl_device_id device;
} cl;

static void fill_cl(void *library) {
#define X(name)                                                                            \
    {                                                                                      \
        void *symbol = dlsym(library, #name);                                              \
        memcpy(&cl.name, &symbol, sizeof symbol);                                          \
        if (!symbol)                                                                       \
            stop("libOpenCL has no", #name);                                               \
    }
    CL_FUNCTIONS(X)
#undef X
}

/* Once a process, and late: the parent of gemmtune's workers must never get here. */
static void open_cl(void) {
    if (cl.context)
        return;
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    cl_platform_id platform[8];
    cl_uint count = 0;
    cl_int result = CL_SUCCESS;
    if (!library)
        stop("there is no", "libOpenCL.so.1");
    fill_cl(library);
    (void)cl.clGetPlatformIDs(8, platform, &count);
    for (cl_uint i = 0; i < count && !cl.device; i++)
        (void)cl.clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_CPU, 1, &cl.device, NULL);
    if (!cl.device)
        stop("OpenCL has no", "CPU device");
    cl.context = cl.clCreateContext(NULL, 1, &cl.device, NULL, NULL, &result);
    if (cl.context)
        cl.queue =
            cl.clCreateCommandQueueWithProperties(cl.context, cl.device, NULL, &result);
    if (!cl.queue)
        stop("no OpenCL queue on the", "CPU device");
}

/* ---- devices
 * ------------------------------------------------------------------------------- */

struct chip {
    const char *word, *name;
    int cc, units, bus_bits, clock_mhz, mem_clock_mhz, l2_bytes, smem_optin, smem_per_unit;
    size_t memory;
};

/* The two GeForce GTX 1050 differ in silicon and share a name. */
static const struct chip chips[] = {
    {"h200", "NVIDIA H200", 90, 132, 6144, 1980, 3201, 62914560, 232448, 233472,
     (size_t)150754 << 20},
    {"gtx1080", "NVIDIA GeForce GTX 1080", 61, 20, 256, 1734, 5005, 2097152, 49152, 98304,
     (size_t)8107 << 20},
    {"gtx1050-2gb", "NVIDIA GeForce GTX 1050", 61, 5, 128, 1455, 3504, 1048576, 49152,
     98304, (size_t)2000 << 20},
    {"gtx1050-3gb", "NVIDIA GeForce GTX 1050", 61, 6, 96, 1518, 3504, 786432, 49152, 98304,
     (size_t)3020 << 20},
};

static const struct chip *device[DEVICES_MAX];
static int devices;

static const struct chip *find_chip(const char *word, size_t length) {
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (strlen(chips[i].word) == length && memcmp(chips[i].word, word, length) == 0)
            return &chips[i];
    stop("FAKE_CUDA_DEVICE has an unknown device:", word);
}

static void read_devices(void) {
    const char *text = getenv("FAKE_CUDA_DEVICE");
    devices = 0;
    for (const char *p = text && *text ? text : "h200"; *p && devices < DEVICES_MAX;) {
        const size_t length = strcspn(p, ",");
        device[devices++] = find_chip(p, length);
        p += length + (p[length] == ',');
    }
}

/* ---- the script
 * ---------------------------------------------------------------------------- */

struct rule {
    char what[48], kernel[48];
    long at; /* 0: always */
    double value;
    bool sticky;
};

static struct {
    char text[1024];
    int count;
    struct rule rule[RULES_MAX];
    atomic_long own[RULES_MAX], *seen; /* seen: own, or a file that processes share */
} script;

static bool word_is_known(const char *word) {
    static const char *const words[] = {"fault",           "hang",  "corrupt", "lose",
                                        "clock",           "noted", "outlier", "slow",
#define X(name, symbol, needed, params) #name,
                                        GT_CUDA_SYMBOLS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* What follows each delimiter, in any order. */
static void read_rule(struct rule *r, const char *p) {
    static const char delimiters[] = "/:@=!;";
    size_t length = strcspn(p, delimiters);
    *r = (struct rule){.at = 0};
    snprintf(r->what, sizeof r->what, "%.*s", (int)length, p);
    if (!word_is_known(r->what))
        stop("FAKE_CUDA_SCRIPT does not know", r->what);
    for (p += length; *p && *p != ';'; p += length) {
        const char kind = *p++;
        length = strcspn(p, delimiters);
        if (kind == '/')
            snprintf(r->kernel, sizeof r->kernel, "%.*s", (int)length, p);
        else if (kind == '=')
            r->value = strtod(p, NULL);
        else if (kind == '!')
            r->sticky = true;
        else
            r->at = strtol(p, NULL, 10);
    }
}

static atomic_long *shared_counters(const char *path) {
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *map = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof script.own) == 0)
        map = mmap(NULL, sizeof script.own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        stop("cannot use FAKE_CUDA_STATE", path);
    close(fd);
    return map;
}

static void read_script(void) {
    const char *text = getenv("FAKE_CUDA_SCRIPT"), *state = getenv("FAKE_CUDA_STATE");
    if (!text)
        text = "";
    if (script.seen && strcmp(text, script.text) == 0)
        return;
    snprintf(script.text, sizeof script.text, "%s", text);
    script.count = 0;
    for (const char *p = text; *p && script.count < RULES_MAX;) {
        read_rule(&script.rule[script.count], p);
        atomic_store(&script.own[script.count++], 0);
        p += strcspn(p, ";");
        p += *p == ';';
    }
    script.seen = state && *state ? shared_counters(state) : script.own;
}

/* Counts an event and gives the rule that is due with it, or NULL. */
static const struct rule *due(const char *what, const char *kernel) {
    const struct rule *found = NULL;
    for (int i = 0; i < script.count; i++) {
        const struct rule *r = &script.rule[i];
        if (strcmp(r->what, what) != 0 || (r->kernel[0] && strcmp(r->kernel, kernel) != 0))
            continue;
        const long seen = atomic_fetch_add(&script.seen[i], 1) + 1;
        if (r->at == 0 || seen == r->at)
            found = r;
    }
    return found;
}

/* The factor of the clock, 1 until its rule has begun. Counts a measurement when asked to.
 */
static double clock_factor(bool measuring) {
    for (int i = 0; i < script.count; i++) {
        if (strcmp(script.rule[i].what, "clock") != 0)
            continue;
        const long seen = measuring ? atomic_fetch_add(&script.seen[i], 1) + 1
                                    : atomic_load(&script.seen[i]);
        if (seen >= script.rule[i].at)
            return script.rule[i].value;
    }
    return 1;
}

/* ---- objects
 * ------------------------------------------------------------------------------- */

struct CUstream_st {
    CUgraph capturing;
    double clock_ns; /* the model's */
};

struct CUctx_st {
    int device;
    gt_cu_result lost; /* what every call returns once the context is ruined */
    struct CUstream_st null_stream;
};

struct CUevent_st {
    bool recorded;
    double ns;
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
    int m, n, k, alpha;  /* which parameters are called so; -1 */
    unsigned cluster[3]; /* of its first launch: it is made for that */
    size_t smem;         /* what its __local arrays take */
    size_t dynamic_max;  /* what may be asked for at a launch */
    uint64_t hash, runs; /* for the model */
};

struct CUmod_st {
    cl_program program;
    int registers;
    bool wide;     /* gt_elem has 8 bytes */
    uint64_t hash; /* of source and device */
    struct CUfunc_st *functions;
};

struct launch {
    CUfunction function;
    unsigned grid[3], block[3], cluster[3], smem;
    bool early; /* may begin before the one ahead of it has ended */
    _Alignas(8) unsigned char value[PARAMS_MAX][VALUE_MAX];
    void *param[PARAMS_MAX]; /* to the values, for who asks a graph */
};

struct CUgraph_st {
    size_t count, room;
    struct launch *node;
};

struct CUgraphExec_st {
    struct CUgraph_st graph; /* a copy */
};

struct memory {
    struct memory *next;
    CUcontext context;
    void *room; /* as allocated */
    char *base; /* aligned as CUDA does */
    size_t bytes;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local CUcontext stack[STACK_MAX];
static _Thread_local int depth;
static struct CUctx_st primary[DEVICES_MAX];
static struct memory *memories;
static struct { long contexts, modules, streams, events, graphs, launches, early; } live;

static CUcontext current(void) {
    return depth > 0 ? stack[depth - 1] : NULL;
}

/* The allocation that holds [at, at + bytes), or NULL. */
static struct memory *holding(CUdeviceptr at, size_t bytes) {
    for (struct memory *m = memories; m; m = m->next) {
        const CUdeviceptr base = (CUdeviceptr)(uintptr_t)m->base;
        if (at >= base && at - base <= m->bytes && bytes <= m->bytes - (at - base))
            return m;
    }
    return NULL;
}

static char *host(CUdeviceptr at) {
    return (char *)(uintptr_t)at;
}

/* ---- entering a call
 * ----------------------------------------------------------------------- */

enum call {
#define X(name, symbol, needed, params) CALL_##name,
    GT_CUDA_SYMBOLS(X)
#undef X
};

static const char *const call_name[] = {
#define X(name, symbol, needed, params) #name,
    GT_CUDA_SYMBOLS(X)
#undef X
};

static void unlock(int *unused) {
    (void)unused;
    (void)pthread_mutex_unlock(&mutex);
}

/* What the call returns before it does anything. From cuCtxSynchronize on, calls need a
 * context that is not lost. */
static gt_cu_result enter(enum call call, const char *kernel) {
    const bool needs_context = call >= CALL_cuCtxSynchronize;
    if (devices == 0 && call >= CALL_cuDeviceGetCount)
        return 3; /* CUDA_ERROR_NOT_INITIALIZED */
    if (needs_context && !current())
        return GT_CU_INVALID_CONTEXT;
    if (needs_context && current()->lost)
        return current()->lost;
    const struct rule *r = due(call_name[call], kernel);
    if (!r)
        return GT_CU_SUCCESS;
    if (r->sticky && current())
        current()->lost = (gt_cu_result)r->value;
    return (gt_cu_result)r->value;
}

#define LOCK                                                                               \
    __attribute__((cleanup(unlock))) int locked_ = pthread_mutex_lock(&mutex);             \
    (void)locked_
#define ENTER_KERNEL(call, kernel)                                                         \
    LOCK;                                                                                  \
    const gt_cu_result scripted_ = enter(CALL_##call, kernel);                             \
    if (scripted_)                                                                         \
    return scripted_
#define ENTER(call) ENTER_KERNEL(call, "")

/* ---- errors, devices, contexts
 * ------------------------------------------------------------- */

gt_cu_result cuInit(unsigned flags) {
    LOCK;
    read_script();
    const gt_cu_result scripted = enter(CALL_cuInit, "");
    if (!scripted)
        read_devices();
    return scripted;
}

gt_cu_result cuDriverGetVersion(int *version) {
    ENTER(cuDriverGetVersion);
    *version = 13000;
    return GT_CU_SUCCESS;
}

static const struct {
    gt_cu_result code;
    const char *name;
} errors[] = {
#define X(name, theirs, value) {value, #theirs},
    GT_CUDA_CONSTANTS(X)
#undef X
};

/* The list goes on with other enumerations, whose values repeat; errors come first. */
gt_cu_result cuGetErrorName(gt_cu_result error, const char **text) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error && strncmp(errors[i].name, "CUDA_", 5) == 0) {
            *text = errors[i].name;
            return GT_CU_SUCCESS;
        }
    *text = NULL;
    return GT_CU_INVALID_VALUE;
}

gt_cu_result cuGetErrorString(gt_cu_result error, const char **text) {
    *text = "as the test's script wanted it";
    return error == GT_CU_SUCCESS ? GT_CU_INVALID_VALUE : GT_CU_SUCCESS;
}

gt_cu_result cuDeviceGetCount(int *count) {
    ENTER(cuDeviceGetCount);
    *count = devices;
    return GT_CU_SUCCESS;
}

gt_cu_result cuDeviceGet(CUdevice *out, int ordinal) {
    ENTER(cuDeviceGet);
    *out = ordinal;
    return ordinal >= 0 && ordinal < devices ? GT_CU_SUCCESS : 101;
}

gt_cu_result cuDeviceGetName(char *name, int size, CUdevice d) {
    ENTER(cuDeviceGetName);
    snprintf(name, (size_t)size, "%s", device[d]->name);
    return GT_CU_SUCCESS;
}

static void make_uuid(struct gt_cu_uuid *uuid, CUdevice d) {
    memset(uuid, d, sizeof *uuid);
    memcpy(uuid->bytes, device[d]->word, 4);
    memcpy(uuid->bytes + 4, device[d]->word + strlen(device[d]->word) - 3, 3);
}

gt_cu_result cuDeviceGetUuid_v2(struct gt_cu_uuid *uuid, CUdevice d) {
    ENTER(cuDeviceGetUuid);
    make_uuid(uuid, d);
    return GT_CU_SUCCESS;
}

gt_cu_result cuDeviceGetUuid(struct gt_cu_uuid *uuid, CUdevice d) {
    ENTER(cuDeviceGetUuid_v1);
    make_uuid(uuid, d);
    return GT_CU_SUCCESS;
}

gt_cu_result cuDeviceGetAttribute(int *value, gt_cu_device_attribute attribute,
                                  CUdevice d) {
    ENTER(cuDeviceGetAttribute);
    const struct chip *c = device[d];
    const struct {
        enum gt_cuda_constant attribute;
        int value;
    } rows[] = {
        {GT_CU_MAX_THREADS_PER_BLOCK, 1024},
        {GT_CU_SMEM_PER_BLOCK, STATIC_SMEM_MAX},
        {GT_CU_WARP_SIZE, 32},
        {GT_CU_REGISTERS_PER_BLOCK, 65536},
        {GT_CU_CLOCK_KHZ, c->clock_mhz * 1000},
        {GT_CU_UNITS, c->units},
        {GT_CU_PCI_BUS, d + 1},
        {GT_CU_MEM_CLOCK_KHZ, c->mem_clock_mhz * 1000},
        {GT_CU_BUS_BITS, c->bus_bits},
        {GT_CU_L2_BYTES, c->l2_bytes},
        {GT_CU_CC_MAJOR, c->cc / 10},
        {GT_CU_CC_MINOR, c->cc % 10},
        {GT_CU_SMEM_PER_UNIT, c->smem_per_unit},
        {GT_CU_SMEM_PER_BLOCK_OPTIN, c->smem_optin},
    };
    *value = 0; /* what is not listed is 0: no time-out, not integrated, default mode */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((unsigned)rows[i].attribute == attribute)
            *value = rows[i].value;
    return GT_CU_SUCCESS;
}

gt_cu_result cuDeviceTotalMem_v2(size_t *bytes, CUdevice d) {
    ENTER(cuDeviceTotalMem);
    *bytes = device[d]->memory;
    return GT_CU_SUCCESS;
}

static gt_cu_result push(CUcontext context) {
    if (!context || depth == STACK_MAX)
        return GT_CU_INVALID_CONTEXT;
    stack[depth++] = context;
    return GT_CU_SUCCESS;
}

gt_cu_result cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice d) {
    ENTER(cuDevicePrimaryCtxRetain);
    open_cl();
    primary[d].device = d;
    *context = &primary[d];
    return GT_CU_SUCCESS;
}

gt_cu_result cuDevicePrimaryCtxRelease_v2(CUdevice d) {
    ENTER(cuDevicePrimaryCtxRelease);
    return GT_CU_SUCCESS;
}

gt_cu_result cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice d) {
    ENTER(cuCtxCreate);
    open_cl();
    CUcontext c = calloc(1, sizeof *c);
    if (!c)
        return GT_CU_OUT_OF_MEMORY;
    c->device = d;
    *context = c;
    live.contexts++;
    return push(c);
}

static void free_memory(struct memory *m) {
    cl.clSVMFree(cl.context, m->room);
    free(m);
}

/* Frees what was left in a context, as the driver does, and tells how much that was. */
static void clear_memories(CUcontext context, long *count, size_t *bytes) {
    for (struct memory **at = &memories; *at;) {
        struct memory *m = *at;
        if (m->context != context) {
            at = &m->next;
            continue;
        }
        (*count)++;
        *bytes += m->bytes;
        *at = m->next;
        free_memory(m);
    }
}

static void report(CUcontext context, long count, size_t bytes) {
    const char *path = getenv("FAKE_CUDA_REPORT");
    FILE *file = path && *path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(
        file,
        "memory %ld bytes %zu modules %ld streams %ld events %ld graphs %ld launches %ld "
        "early %ld lost %u pid %ld\n",
        count, bytes, live.modules, live.streams, live.events, live.graphs, live.launches,
        live.early, context->lost, (long)getpid());
    (void)fclose(file);
}

gt_cu_result cuCtxDestroy_v2(CUcontext context) {
    ENTER(cuCtxDestroy);
    long count = 0;
    size_t bytes = 0;
    (void)cl.clFinish(cl.queue);
    clear_memories(context, &count, &bytes);
    if (context->lost) /* nothing in it could be given back */
        live.modules = live.streams = live.events = live.graphs = count = 0;
    report(context, count, bytes);
    int kept = 0;
    for (int i = 0; i < depth; i++)
        if (stack[i] != context)
            stack[kept++] = stack[i];
    depth = kept;
    live.contexts--;
    free(context);
    return GT_CU_SUCCESS;
}

gt_cu_result cuCtxPushCurrent_v2(CUcontext context) {
    ENTER(cuCtxPushCurrent);
    return push(context);
}

gt_cu_result cuCtxPopCurrent_v2(CUcontext *context) {
    ENTER(cuCtxPopCurrent);
    if (depth == 0)
        return GT_CU_INVALID_CONTEXT;
    *context = stack[--depth];
    return GT_CU_SUCCESS;
}

gt_cu_result cuCtxSetCurrent(CUcontext context) {
    ENTER(cuCtxSetCurrent);
    depth -= depth > 0;
    return context ? push(context) : GT_CU_SUCCESS;
}

gt_cu_result cuCtxGetCurrent(CUcontext *context) {
    ENTER(cuCtxGetCurrent);
    *context = current();
    return GT_CU_SUCCESS;
}

gt_cu_result cuCtxGetDevice(CUdevice *d) {
    ENTER(cuCtxGetDevice);
    if (!current())
        return GT_CU_INVALID_CONTEXT;
    *d = current()->device;
    return GT_CU_SUCCESS;
}

/* Waits, and says whether a launch before has ruined the context. */
static gt_cu_result finish(void) {
    (void)cl.clFinish(cl.queue);
    return current()->lost;
}

gt_cu_result cuCtxSynchronize(void) {
    ENTER(cuCtxSynchronize);
    return finish();
}

/* ---- memory
 * -------------------------------------------------------------------------------- */

static size_t used(CUcontext context) {
    size_t bytes = 0;
    for (const struct memory *m = memories; m; m = m->next)
        bytes += m->context == context ? m->bytes : 0;
    return bytes;
}

gt_cu_result cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
    ENTER(cuMemGetInfo);
    *total_bytes = device[current()->device]->memory;
    *free_bytes = *total_bytes - used(current());
    return GT_CU_SUCCESS;
}

gt_cu_result cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes) {
    ENTER(cuMemAlloc);
    const size_t total = device[current()->device]->memory;
    if (bytes == 0)
        return GT_CU_INVALID_VALUE;
    if (bytes > total - used(current()))
        return GT_CU_OUT_OF_MEMORY;
    struct memory *m = calloc(1, sizeof *m);
    if (m) /* some room behind, so that "corrupt" may write a word to anything */
        m->room = cl.clSVMAlloc(cl.context, CL_MEM_READ_WRITE, bytes + 2 * ALIGNMENT, 0);
    if (!m || !m->room) {
        free(m);
        return GT_CU_OUT_OF_MEMORY;
    }
    m->base = (char *)m->room + ALIGNMENT - (uintptr_t)m->room % ALIGNMENT;
    memset(m->base, 0xcb, bytes); /* whatever was there before; not zeros */
    m->bytes = bytes;
    m->context = current();
    m->next = memories;
    memories = m;
    *memory = (CUdeviceptr)(uintptr_t)m->base;
    return GT_CU_SUCCESS;
}

gt_cu_result cuMemFree_v2(CUdeviceptr memory) {
    ENTER(cuMemFree);
    if (memory == 0)
        return GT_CU_SUCCESS;
    (void)cl.clFinish(cl.queue);
    for (struct memory **at = &memories; *at; at = &(*at)->next) {
        struct memory *m = *at;
        if (m->base != host(memory))
            continue;
        *at = m->next;
        free_memory(m);
        return GT_CU_SUCCESS;
    }
    return GT_CU_INVALID_VALUE;
}

gt_cu_result cuMemAllocHost_v2(void **memory, size_t bytes) {
    ENTER(cuMemAllocHost);
    *memory = malloc(bytes);
    return *memory ? GT_CU_SUCCESS : GT_CU_OUT_OF_MEMORY;
}

gt_cu_result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    ENTER(cuMemHostAlloc);
    *memory = malloc(bytes);
    return *memory ? GT_CU_SUCCESS : GT_CU_OUT_OF_MEMORY;
}

gt_cu_result cuMemFreeHost(void *memory) {
    ENTER(cuMemFreeHost);
    free(memory);
    return GT_CU_SUCCESS;
}

static gt_cu_result not_in_capture(CUstream stream) {
    return stream && stream->capturing ? IN_CAPTURE : GT_CU_SUCCESS;
}

/* Before the host touches [at, at + bytes) for a stream. */
static gt_cu_result reach(CUdeviceptr at, size_t bytes, CUstream stream) {
    if (not_in_capture(stream))
        return IN_CAPTURE;
    if (!holding(at, bytes))
        return GT_CU_INVALID_VALUE;
    return finish();
}

static gt_cu_result to_device(CUdeviceptr to, const void *from, size_t bytes,
                              CUstream stream) {
    const gt_cu_result result = reach(to, bytes, stream);
    if (!result)
        memcpy(host(to), from, bytes);
    return result;
}

static gt_cu_result to_host(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    const gt_cu_result result = reach(from, bytes, stream);
    if (!result)
        memcpy(to, host(from), bytes);
    return result;
}

gt_cu_result cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
    ENTER(cuMemcpyHtoD);
    return to_device(to, from, bytes, NULL);
}

gt_cu_result cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
    ENTER(cuMemcpyDtoH);
    return to_host(to, from, bytes, NULL);
}

gt_cu_result cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                                  CUstream stream) {
    ENTER(cuMemcpyHtoDAsync);
    return to_device(to, from, bytes, stream);
}

gt_cu_result cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                                  CUstream stream) {
    ENTER(cuMemcpyDtoHAsync);
    return to_host(to, from, bytes, stream);
}

gt_cu_result cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                  CUstream stream) {
    ENTER(cuMemcpyDtoDAsync);
    const gt_cu_result result = reach(from, bytes, stream);
    return result ? result : to_device(to, host(from), bytes, stream);
}

gt_cu_result cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                             CUstream stream) {
    ENTER(cuMemsetD8Async);
    const gt_cu_result result = reach(to, count, stream);
    if (!result)
        memset(host(to), value, count);
    return result;
}

gt_cu_result cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                              CUstream stream) {
    ENTER(cuMemsetD32Async);
    if (to % 4 != 0)
        return GT_CU_INVALID_VALUE;
    const gt_cu_result result = reach(to, 4 * count, stream);
    for (size_t i = 0; !result && i < count; i++)
        memcpy(host(to) + 4 * i, &value, 4);
    return result;
}

/* ---- modules
 * ------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t hash_text(uint64_t hash, const char *text) {
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return mix(hash);
}

/* From 0 to 1. */
static double fraction(uint64_t hash) {
    return (double)(hash >> 11) / 9007199254740992.0;
}

static void show_log(cl_program program) {
    char log[4000] = "";
    (void)cl.clGetProgramBuildInfo(program, cl.device, CL_PROGRAM_BUILD_LOG, sizeof log,
                                   log, NULL);
    fprintf(stderr, "fake libcuda: the source does not build as OpenCL C:\n%s\n", log);
}

static cl_program build(const char *source) {
    cl_int result;
    cl_program program =
        cl.clCreateProgramWithSource(cl.context, 1, &source, NULL, &result);
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

/* An image is "FAKECUBIN sm_61 registers 40\n" and the source; see libnvrtc.c. */
gt_cu_result cuModuleLoadData(CUmodule *module, const void *image) {
    ENTER(cuModuleLoadData);
    const struct chip *chip = device[current()->device];
    const char *text = image;
    int arch = 0, registers = 0;
    if (sscanf(text, "FAKECUBIN sm_%d%*[a] registers %d", &arch, &registers) != 2 &&
        sscanf(text, "FAKECUBIN sm_%d registers %d", &arch, &registers) != 2)
        return GT_CU_INVALID_IMAGE;
    if (arch / 10 != chip->cc / 10 || arch > chip->cc)
        return GT_CU_NO_BINARY_FOR_GPU;
    CUmodule m = calloc(1, sizeof *m);
    if (!m)
        return GT_CU_OUT_OF_MEMORY;
    m->program = build(strchr(text, '\n') + 1);
    if (!m->program) {
        free(m);
        return GT_CU_INVALID_IMAGE;
    }
    m->registers = registers;
    m->wide = strstr(text, "#define GT_DTYPE_F64 1\n") != NULL;
    m->hash = hash_text(hash_text(1, chip->word), text);
    live.modules++;
    *module = m;
    return GT_CU_SUCCESS;
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
        (void)cl.clReleaseKernel(f->kernel);
        free(f);
        f = next;
    }
    (void)cl.clReleaseProgram(module->program);
    live.modules--;
    free(module);
    return GT_CU_SUCCESS;
}

/* PoCL tells a type by the name it was declared with, and takes any size where that is a
 * typedef: the prelude's are known here. */
static size_t scalar_size(const struct CUfunc_st *f, cl_uint i) {
    const size_t elem = f->module->wide ? 8 : 4;
    const struct {
        const char *name;
        size_t size;
    } rows[] = {
        {"int", 4},
        {"uint", 4},
        {"float", 4},
        {"long", 8},
        {"ulong", 8},
        {"double", 8},
        {"gt_long", 8},
        {"gt_ulong", 8},
        {"gt_elem", elem},
        {"gt_acc", elem},
        {"struct gt_tensor_map", VALUE_MAX},
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

static void read_function(CUfunction f) {
    cl_uint count = 0;
    cl_ulong local = 0;
    (void)cl.clGetKernelInfo(f->kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
    (void)cl.clGetKernelWorkGroupInfo(f->kernel, cl.device, CL_KERNEL_LOCAL_MEM_SIZE,
                                      sizeof local, &local, NULL);
    if (count > PARAMS_MAX)
        stop("too many parameters in", f->name);
    f->m = f->n = f->k = f->alpha = -1;
    f->count = (int)count;
    f->smem = (size_t)local;
    f->dynamic_max = STATIC_SMEM_MAX;
    for (int i = 0; i < f->count; i++)
        read_param(f, i);
}

gt_cu_result cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    ENTER(cuModuleGetFunction);
    cl_int result;
    CUfunction f = calloc(1, sizeof *f);
    if (!f)
        return GT_CU_OUT_OF_MEMORY;
    f->kernel = cl.clCreateKernel(module->program, name, &result);
    if (!f->kernel) {
        free(f);
        return GT_CU_NOT_FOUND;
    }
    snprintf(f->name, sizeof f->name, "%s", name);
    f->module = module;
    f->hash = hash_text(module->hash, name);
    read_function(f);
    f->next = module->functions;
    module->functions = f;
    *function = f;
    return GT_CU_SUCCESS;
}

static int threads_max(const struct CUmod_st *m) {
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

/* The words of a map are address, type, sides, stride and box, for kernels to read. */
gt_cu_result cuTensorMapEncodeTiled(struct gt_cu_tensor_map *map, gt_cu_tma_type type,
                                    uint32_t rank, void *memory, const uint64_t *dims,
                                    const uint64_t *strides, const uint32_t *box,
                                    const uint32_t *element_strides,
                                    gt_cu_tma_interleave interleave,
                                    gt_cu_tma_swizzle swizzle, gt_cu_tma_l2 promotion,
                                    gt_cu_tma_fill fill) {
    ENTER(cuTensorMapEncodeTiled);
    const uint64_t widths[] = {
        [GT_CU_TMA_U8] = 1,  [GT_CU_TMA_I32] = 4, [GT_CU_TMA_F16] = 2,
        [GT_CU_TMA_F32] = 4, [GT_CU_TMA_F64] = 8, [GT_CU_TMA_BF16] = 2,
    };
    if (rank != 2 || type >= sizeof widths / sizeof *widths || widths[type] == 0 ||
        (uintptr_t)memory % 16 != 0 || strides[0] % 16 != 0 || strides[0] >> 40 != 0 ||
        box[0] * widths[type] % 16 != 0)
        return GT_CU_INVALID_VALUE;
    for (int i = 0; i < 2; i++)
        if (dims[i] == 0 || dims[i] > UINT64_C(1) << 32 || box[i] == 0 || box[i] > 256 ||
            element_strides[i] != 1)
            return GT_CU_INVALID_VALUE;
    *map = (struct gt_cu_tensor_map){
        {(uintptr_t)memory, type, dims[0], dims[1], strides[0], box[0], box[1]}};
    return GT_CU_SUCCESS;
}

/* ---- one launch
 * ---------------------------------------------------------------------------- */

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

/* What the driver checks before it accepts. */
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

/* Whether it would touch what is not its own: an address in no allocation, or more shared
 * memory than was asked for. NULL is left to the kernel: it may not read it. */
static bool trespasses(const struct launch *l) {
    for (int i = 0; i < l->function->count; i++)
        if (l->function->param[i].pointer && pointer_of(l, i) != 0 &&
            !holding(pointer_of(l, i), 1))
            return true;
    return l->function->smem > l->smem;
}

/* Whether it comes in other clusters than the first time: blocks then look for others that
 * are not there. */
static bool is_regrouped(const struct launch *l) {
    unsigned *first = l->function->cluster;
    if (first[0] == 0)
        memcpy(first, l->cluster, sizeof l->function->cluster);
    return memcmp(first, l->cluster, sizeof l->cluster) != 0;
}

/* Flips bits that matter in every type, of the first 8 bytes of all that it writes. */
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

static bool times_are_modelled(void) {
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
    const double noise = fraction(mix(mix(f->hash + seed) + f->runs++)) - 0.5;
    return (2000 + 1000 * share + flops / (rate * share)) * (1 + 0.02 * noise);
}

static void hang(void) {
    const struct timespec hour = {.tv_sec = 3600};
    for (;;)
        (void)nanosleep(&hour, NULL);
}

/* What tuner/lab/kernels/check.cl cannot see in OpenCL: how many clocks there are in a
 * millisecond. */
static void keep_pace(const struct launch *l) {
    const double mhz = device[current()->device]->clock_mhz * clock_factor(false);
    const uint64_t pace[2] = {(uint64_t)lround(mhz * 1000), 1000000};
    (void)cl.clFinish(cl.queue);
    memcpy(host(pointer_of(l, 0)), pace, sizeof pace);
}

/* Runs an accepted launch. What goes wrong from here on shows in a later call. */
static gt_cu_result run(const struct launch *l, CUstream stream, bool for_real) {
    const char *name = l->function->name;
    live.launches++;
    live.early += l->early;
    stream->clock_ns += model_ns(l);
    if (due("hang", name))
        hang();
    if (due("fault", name) || trespasses(l)) {
        current()->lost = GT_CU_ILLEGAL_ADDRESS;
        return GT_CU_SUCCESS;
    }
    if (is_regrouped(l)) {
        current()->lost = GT_CU_ILLEGAL_INSTRUCTION;
        return GT_CU_SUCCESS;
    }
    if (due("lose", name) || !for_real)
        return GT_CU_SUCCESS;
    const gt_cu_result result = execute(l);
    if (!result && strcmp(name, "gt_pace") == 0)
        keep_pace(l);
    if (!result && due("corrupt", name))
        corrupt(l);
    return result;
}

static CUstream or_null_stream(CUstream stream) {
    return stream ? stream : &current()->null_stream;
}

static gt_cu_result record(CUgraph g, const struct launch *l) {
    if (g->count == g->room) {
        const size_t room = g->room ? 2 * g->room : 16;
        struct launch *grown = realloc(g->node, room * sizeof *grown);
        if (!grown)
            return GT_CU_OUT_OF_MEMORY;
        g->node = grown;
        g->room = room;
    }
    g->node[g->count++] = *l;
    return GT_CU_SUCCESS;
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

/* ---- streams and graphs
 * -------------------------------------------------------------------- */

static void free_graph(CUgraph graph) {
    live.graphs--;
    free(graph->node);
    free(graph);
}

gt_cu_result cuStreamCreate(CUstream *stream, unsigned flags) {
    ENTER(cuStreamCreate);
    *stream = calloc(1, sizeof **stream);
    live.streams += *stream != NULL;
    return *stream ? GT_CU_SUCCESS : GT_CU_OUT_OF_MEMORY;
}

gt_cu_result cuStreamDestroy_v2(CUstream stream) {
    ENTER(cuStreamDestroy);
    (void)cl.clFinish(cl.queue);
    live.streams--;
    if (stream->capturing)
        free_graph(stream->capturing);
    free(stream);
    return GT_CU_SUCCESS;
}

gt_cu_result cuStreamSynchronize(CUstream stream) {
    ENTER(cuStreamSynchronize);
    return not_in_capture(stream) ? IN_CAPTURE : finish();
}

gt_cu_result cuStreamQuery(CUstream stream) {
    ENTER(cuStreamQuery);
    return not_in_capture(stream) ? IN_CAPTURE : finish();
}

gt_cu_result cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    ENTER(cuStreamWaitEvent);
    return GT_CU_SUCCESS; /* everything is in order anyway */
}

gt_cu_result cuStreamBeginCapture_v2(CUstream stream, gt_cu_capture_mode mode) {
    ENTER(cuStreamBeginCapture);
    if (!stream || stream->capturing)
        return GT_CU_INVALID_VALUE;
    stream->capturing = calloc(1, sizeof *stream->capturing);
    live.graphs += stream->capturing != NULL;
    return stream->capturing ? GT_CU_SUCCESS : GT_CU_OUT_OF_MEMORY;
}

gt_cu_result cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    ENTER(cuStreamEndCapture);
    *graph = stream->capturing;
    stream->capturing = NULL;
    return *graph ? GT_CU_SUCCESS : GT_CU_INVALID_VALUE;
}

gt_cu_result cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                         unsigned long long flags) {
    ENTER(cuGraphInstantiateWithFlags);
    CUgraphExec e = calloc(1, sizeof *e);
    struct launch *node = calloc(graph->count + 1, sizeof *node);
    if (!e || !node) {
        free(e);
        free(node);
        return GT_CU_OUT_OF_MEMORY;
    }
    if (graph->count)
        memcpy(node, graph->node, graph->count * sizeof *node);
    e->graph.node = node;
    e->graph.count = graph->count;
    live.graphs++;
    *exec = e;
    return GT_CU_SUCCESS;
}

gt_cu_result cuGraphUpload(CUgraphExec exec, CUstream stream) {
    ENTER(cuGraphUpload);
    return GT_CU_SUCCESS;
}

gt_cu_result cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    ENTER(cuGraphLaunch);
    const bool all = !times_are_modelled();
    gt_cu_result result = GT_CU_SUCCESS;
    for (size_t i = 0; !result && !current()->lost && i < exec->graph.count; i++)
        result = run(&exec->graph.node[i], or_null_stream(stream), all || i < MODEL_NODES);
    return result;
}

gt_cu_result cuGraphExecDestroy(CUgraphExec exec) {
    ENTER(cuGraphExecDestroy);
    live.graphs--;
    free(exec->graph.node);
    free(exec);
    return GT_CU_SUCCESS;
}

gt_cu_result cuGraphDestroy(CUgraph graph) {
    ENTER(cuGraphDestroy);
    free_graph(graph);
    return GT_CU_SUCCESS;
}

gt_cu_result cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    ENTER(cuGraphGetNodes);
    for (size_t i = 0; nodes && i < *count && i < graph->count; i++)
        nodes[i] = (CUgraphNode)(void *)&graph->node[i];
    *count = graph->count;
    return GT_CU_SUCCESS;
}

gt_cu_result cuGraphKernelNodeGetParams_v2(CUgraphNode node,
                                           struct gt_cu_kernel_node *params) {
    ENTER(cuGraphKernelNodeGetParams);
    struct launch *l = (void *)node;
    for (int i = 0; i < l->function->count; i++)
        l->param[i] = l->value[i];
    *params = (struct gt_cu_kernel_node){
        .function = l->function,
        .grid_x = l->grid[0],
        .grid_y = l->grid[1],
        .grid_z = l->grid[2],
        .block_x = l->block[0],
        .block_y = l->block[1],
        .block_z = l->block[2],
        .smem_bytes = l->smem,
        .params = l->param,
    };
    return GT_CU_SUCCESS;
}

/* As the driver, which says 0 of a launch without clusters. */
gt_cu_result cuGraphKernelNodeGetAttribute(CUgraphNode node, gt_cu_launch_attribute_id id,
                                           union gt_cu_launch_value *value) {
    ENTER(cuGraphKernelNodeGetAttribute);
    const struct launch *l = (void *)node;
    const bool clustered = l->cluster[0] * l->cluster[1] * l->cluster[2] > 1;
    if (id != GT_CU_LAUNCH_CLUSTER)
        return GT_CU_INVALID_VALUE;
    memset(value, 0, sizeof *value);
    if (clustered)
        memcpy(&value->cluster, l->cluster, sizeof l->cluster);
    return GT_CU_SUCCESS;
}

/* ---- events
 * -------------------------------------------------------------------------------- */

gt_cu_result cuEventCreate(CUevent *event, unsigned flags) {
    ENTER(cuEventCreate);
    *event = calloc(1, sizeof **event);
    live.events += *event != NULL;
    return *event ? GT_CU_SUCCESS : GT_CU_OUT_OF_MEMORY;
}

gt_cu_result cuEventDestroy_v2(CUevent event) {
    ENTER(cuEventDestroy);
    live.events--;
    free(event);
    return GT_CU_SUCCESS;
}

static double wall_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

gt_cu_result cuEventRecord(CUevent event, CUstream stream) {
    ENTER(cuEventRecord);
    if (not_in_capture(stream))
        return IN_CAPTURE;
    (void)cl.clFinish(cl.queue);
    event->ns = times_are_modelled() ? or_null_stream(stream)->clock_ns : wall_ns();
    event->recorded = true;
    return GT_CU_SUCCESS;
}

gt_cu_result cuEventQuery(CUevent event) {
    ENTER(cuEventQuery);
    return finish();
}

gt_cu_result cuEventSynchronize(CUevent event) {
    ENTER(cuEventSynchronize);
    return finish();
}

gt_cu_result cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
    ENTER(cuEventElapsedTime);
    if (!start->recorded || !end->recorded)
        return GT_CU_INVALID_HANDLE;
    double ns = (end->ns - start->ns) / clock_factor(true);
    const struct rule *outlier = due("outlier", ""), *slow = due("slow", "");
    if (slow)
        ns *= slow->value;
    if (outlier)
        ns *= outlier->value;
    *ms = (float)(ns * 1e-6);
    return current()->lost;
}

/* ---- NVML
 * ---------------------------------------------------------------------------------- */

unsigned nvmlInit_v2(void) {
    return 0;
}

unsigned nvmlSystemGetDriverVersion(char *version, unsigned size) {
    snprintf(version, size, "580.00");
    return 0;
}

unsigned nvmlDeviceGetHandleByPciBusId_v2(const char *pci, nvmlDevice_t *out) {
    *out = NULL;
    return 0;
}

unsigned nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *out) {
    static char first; /* never looked into */
    union {
        char *plain;
        nvmlDevice_t handle;
    } cast = {.plain = &first};
    *out = cast.handle;
    return 0;
}

unsigned nvmlDeviceGetMaxClockInfo(nvmlDevice_t d, unsigned clock, unsigned *mhz) {
    *mhz = (unsigned)device[0]->clock_mhz;
    return 0;
}

unsigned nvmlDeviceGetClockInfo(nvmlDevice_t d, unsigned clock, unsigned *mhz) {
    const struct rule *noted = due("noted", "");
    const double factor = noted ? noted->value : clock_factor(false);
    *mhz = (unsigned)lround(device[0]->clock_mhz * factor);
    return 0;
}

unsigned nvmlDeviceGetTemperature(nvmlDevice_t d, unsigned sensor, unsigned *celsius) {
    *celsius = clock_factor(false) < 1 ? 95 : 60;
    return 0;
}

unsigned nvmlDeviceGetPowerUsage(nvmlDevice_t d, unsigned *milliwatts) {
    *milliwatts = 70000;
    return 0;
}

unsigned nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t d, unsigned *milliwatts) {
    *milliwatts = 75000;
    return 0;
}

unsigned nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t d,
                                                   unsigned long long *reasons) {
    *reasons = clock_factor(false) < 1 ? GT_NVML_THROTTLE_SW_THERMAL : 0;
    return 0;
}
