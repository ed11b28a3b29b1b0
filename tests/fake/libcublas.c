/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcublas.c - a replacement for cuBLAS and cublasLt (GEMMTUNE_LIBCUBLAS and
 * GEMMTUNE_LIBCUBLASLT) on top of tests/fake/cuda/. Every call launches a plain kernel
 * through the driver that GEMMTUNE_LIBCUDA names, so it is captured, timed and checked like
 * the real libraries. It is column-major, takes host scalars, and wants the workspace after
 * the stream.
 *
 *   FAKE_CUBLAS   one WORD@K: the fault of products of depth K; without @K, of all
 *       wrong     cublasGemmEx adds 1 to every element
 *       ltwrong   the first of cublasLt's candidates does the same
 *       ltallwrong   all of them do
 *       refuse    cublasGemmEx says that it does not support this
 *       crash     cublasGemmEx ends the process
 *       hang      cublasGemmEx does not return
 *       fault     cublasGemmEx loses the context
 *       trample   cublasGemmEx also writes its product into A
 */
#include "tuner/bench/cublas_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define X(name, symbol, needed, params) gt_cublas_status symbol params;
GT_CUBLAS_SYMBOLS(X)
GT_CUBLASLT_SYMBOLS(X)
#undef X
size_t cublasLtGetVersion(void);

enum {
    WAYS = 4,
    THREADS = 64,
    VERSION = 130100,
    NOT_INITIALIZED = 1,
    EXECUTION_FAILED = 13
};

/* elem is the type of sums, in_a, in_b and out the types of the factors and of C.
 * FROM_A(x), FROM_B(x), FROM_OUT(x) and TO_OUT(x) turn one into another. */
static const char source[] =
    "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void product(\n"
    "    int ta, int tb, int m, int n, int k, elem alpha, const __global in_a *a, long "
    "lda,\n"
    "    const __global in_b *b, long ldb, elem beta, __global out *c, long ldc, elem "
    "off,\n"
    "    const __global out *bias, int epilogue) {\n"
    "    const long at = get_global_id(0);\n"
    "    const long i = at % m, j = at / m;\n"
    "    elem sum = 0;\n"
    "    if (j >= n)\n"
    "        return;\n"
    "    for (long q = 0; q < k; q++)\n"
    "        sum = FMA(FROM_A(a[ta ? i * lda + q : q * lda + i]),\n"
    "                  FROM_B(b[tb ? q * ldb + j : j * ldb + q]), sum);\n"
    "    sum = alpha * sum + off;\n"
    "    sum = beta == 0 ? sum : sum + beta * FROM_OUT(c[j * ldc + i]);\n"
    "    if (epilogue & 4)\n"
    "        sum += FROM_OUT(bias[i]);\n"
    "    if (epilogue & 2)\n"
    "        sum = sum > 0 ? sum : 0;\n"
    "    c[j * ldc + i] = TO_OUT(sum);\n"
    "}\n";

#define SAME(type)                                                                         \
    "#define elem " #type "\n#define in_a elem\n#define in_b elem\n#define out elem\n"     \
    "#define FROM_A(x) (x)\n#define FROM_B(x) (x)\n#define FROM_OUT(x) (x)\n"              \
    "#define TO_OUT(x) (x)\n#define FMA(a, b, c) fma(a, b, c)\n"
#define FLOATS(a, type_a, b, type_b)                                                       \
    "#define elem float\n#define FMA(a, b, c) fma(a, b, c)\n"                              \
    "#define in_a " #type_a "\n#define in_b " #type_b "\n"                                 \
    "#define FROM_A(x) " a "(x)\n#define FROM_B(x) " b "(x)\n"                             \
    "#define FROM_BF16(x) as_float((uint)(x) << 16)\n"                                     \
    "#define FROM_F16(x) half_value((uint)(x))\n"                                          \
    "#define FROM_E5M2(x) half_value((uint)(x) << 8)\n"                                    \
    "#define FROM_E4M3(x) (half_value(((x) & 128u) << 8 | ((x) & 127u) << 7) * 256)\n"     \
    "float half_value(uint x) {\n"                                                         \
    "    const ushort bits = (ushort)x;\n"                                                 \
    "    return vload_half(0, (const half *)&bits);\n"                                     \
    "}\n"                                                                                  \
    "ushort half_of(float x) {\n"                                                          \
    "    ushort bits;\n"                                                                   \
    "    vstore_half_rte(x, 0, (half *)&bits);\n"                                          \
    "    return bits;\n"                                                                   \
    "}\n"
#define OUT_F32 "#define out float\n#define FROM_OUT(x) (x)\n#define TO_OUT(x) (x)\n"
#define OUT_F16                                                                            \
    "#define out ushort\n#define FROM_OUT(x) FROM_F16(x)\n#define TO_OUT(x) half_of(x)\n"
#define OUT_BF16                                                                           \
    "#define out ushort\n#define FROM_OUT(x) FROM_BF16(x)\n"                               \
    "#define TO_OUT(x) (ushort)((as_uint(x) + 32767 + (as_uint(x) >> 16 & 1)) >> 16)\n"
#define BF16 FLOATS("FROM_BF16", ushort, "FROM_BF16", ushort)
#define F16  FLOATS("FROM_F16", ushort, "FROM_F16", ushort)
#define E4M3 FLOATS("FROM_E4M3", uchar, "FROM_E4M3", uchar)
#define E5E4 FLOATS("FROM_E5M2", uchar, "FROM_E4M3", uchar)

/* Types of the factors and of C that the library serves. */
static const struct mix {
    gt_cublas_type a, b, c;
    const char *macros;
} mixes[] = {
    {GT_CUBLAS_F32, GT_CUBLAS_F32, GT_CUBLAS_F32, SAME(float)},
    {GT_CUBLAS_F64, GT_CUBLAS_F64, GT_CUBLAS_F64,
     "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" SAME(double)},
    {GT_CUBLAS_BF16, GT_CUBLAS_BF16, GT_CUBLAS_F32, BF16 OUT_F32},
    {GT_CUBLAS_BF16, GT_CUBLAS_BF16, GT_CUBLAS_BF16, BF16 OUT_BF16},
    {GT_CUBLAS_F16, GT_CUBLAS_F16, GT_CUBLAS_F32, F16 OUT_F32},
    {GT_CUBLAS_F16, GT_CUBLAS_F16, GT_CUBLAS_F16, F16 OUT_F16},
    {GT_CUBLAS_E4M3, GT_CUBLAS_E4M3, GT_CUBLAS_BF16, E4M3 OUT_BF16},
    {GT_CUBLAS_E4M3, GT_CUBLAS_E4M3, GT_CUBLAS_F32, E4M3 OUT_F32},
    {GT_CUBLAS_E5M2, GT_CUBLAS_E4M3, GT_CUBLAS_F16, E5E4 OUT_F16},
    {GT_CUBLAS_I8, GT_CUBLAS_I8, GT_CUBLAS_I32,
     "#define elem int\n#define in_a char\n#define in_b char\n#define out int\n"
     "#define FROM_A(x) (x)\n#define FROM_B(x) (x)\n#define FROM_OUT(x) (x)\n"
     "#define TO_OUT(x) (x)\n#define FMA(a, b, c) ((a) * (b) + (c))\n"},
};
enum { MIXES = sizeof mixes / sizeof *mixes };

/* The mix of a product; MIXES when there is none. */
static int mix_of(gt_cublas_type a, gt_cublas_type b, gt_cublas_type c) {
    int i = 0;
    while (i < MIXES && (mixes[i].a != a || mixes[i].b != b || mixes[i].c != c))
        i++;
    return i;
}

struct cublasContext {
    CUstream stream;
    bool has_workspace; /* perhaps one of 0 bytes */
};

struct cublasLtContext {
    int unused;
};

struct gt_cublaslt_desc {
    gt_cublas_op op_a, op_b;
    int8_t fast;
    uint32_t epilogue;
    const void *bias;
    gt_cublas_type bias_type; /* or not_declared */
};

static const gt_cublas_type not_declared = UINT32_MAX;

struct gt_cublaslt_layout {
    gt_cublas_type type;
    uint64_t rows, cols;
    int64_t ld;
    int32_t batch;
    int64_t stride;
};

struct gt_cublaslt_pref {
    size_t workspace_bytes;
};

/* The arguments of a product in both libraries. */
struct call {
    int mix;
    gt_cublas_op op_a, op_b;
    int m, n, k;
    const void *alpha, *a, *b, *beta;
    void *c;
    int64_t lda, ldb, ldc;
    int batch; /* products */
    int64_t stride_a, stride_b, stride_c;
    uint32_t epilogue; /* bits: 2 relu, 4 bias */
    const void *bias;
    int way; /* which of the kernels, all alike but for the time that the fake driver's
                model gives */
    bool wrong;
};

/* ---- the driver ---- */

static struct gt_cuda cu;

static bool find_driver(void) {
    static const struct {
        const char *name;
        size_t offset;
    } rows[] = {
#define X(name, symbol, needed, params) {#symbol, offsetof(struct gt_cuda, name)},
        GT_CUDA_SYMBOLS(X)
#undef X
    };
    const char *path = getenv("GEMMTUNE_LIBCUDA");
    void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library && i < sizeof rows / sizeof *rows; i++) {
        void *symbol = dlsym(library, rows[i].name);
        memcpy((char *)&cu + rows[i].offset, &symbol, sizeof symbol);
    }
    return cu.cuLaunchKernel != NULL;
}

/* Loaded once, outside of any capture: the first call comes before timing. */
static CUfunction kernel(int mix, int way) {
    static CUfunction loaded[MIXES][WAYS];
    CUmodule module = NULL;
    CUdevice device = 0;
    int major = 0, minor = 0;
    char image[sizeof source + 2048];
    if (loaded[mix][way])
        return loaded[mix][way];
    (void)cu.cuCtxGetDevice(&device);
    (void)cu.cuDeviceGetAttribute(&major, GT_CU_CC_MAJOR, device);
    (void)cu.cuDeviceGetAttribute(&minor, GT_CU_CC_MINOR, device);
    snprintf(image, sizeof image, "FAKECUBIN sm_%d registers 40\n#define WAY %d\n%s%s",
             10 * major + minor, way, mixes[mix].macros, source);
    if (cu.cuModuleLoadData(&module, image) == GT_CU_SUCCESS)
        (void)cu.cuModuleGetFunction(&loaded[mix][way], module, "product");
    return loaded[mix][way];
}

static gt_cublas_status launch_one(const struct call *x, CUstream stream) {
    CUfunction function = kernel(x->mix, x->way);
    int ta = x->op_a == GT_CUBLAS_T, tb = x->op_b == GT_CUBLAS_T;
    int m = x->m, n = x->n, k = x->k;
    int64_t lda = x->lda, ldb = x->ldb, ldc = x->ldc;
    double off64 = x->wrong;
    float off32 = x->wrong;
    int32_t whole = x->wrong;
    void *off = mixes[x->mix].c == GT_CUBLAS_F64   ? (void *)&off64
                : mixes[x->mix].c == GT_CUBLAS_I32 ? (void *)&whole
                                                   : (void *)&off32;
    const void *alpha = x->alpha, *beta = x->beta;
    union {
        const void *theirs;
        void *ours;
    } scalar[2] = {{alpha}, {beta}};
    const void *a = x->a, *b = x->b;
    void *c = x->c;
    const void *bias = x->bias != NULL ? x->bias : x->c; /* memory that exists */
    int epilogue = (int)x->epilogue;
    void *params[] = {&ta,
                      &tb,
                      &m,
                      &n,
                      &k,
                      scalar[0].ours,
                      (void *)&a,
                      &lda,
                      (void *)&b,
                      &ldb,
                      scalar[1].ours,
                      &c,
                      &ldc,
                      off,
                      (void *)&bias,
                      &epilogue};
    const int64_t blocks = ((int64_t)m * n + THREADS - 1) / THREADS;
    if (!function)
        return EXECUTION_FAILED;
    return cu.cuLaunchKernel(function, (unsigned)blocks, 1, 1, THREADS, 1, 1, 0, stream,
                             params, NULL) == GT_CU_SUCCESS
               ? GT_CUBLAS_SUCCESS
               : EXECUTION_FAILED;
}

static size_t size_of(gt_cublas_type type) {
    static const struct {
        gt_cublas_type type;
        size_t bytes;
    } sizes[] = {{GT_CUBLAS_F64, 8},  {GT_CUBLAS_F32, 4},  {GT_CUBLAS_I32, 4},
                 {GT_CUBLAS_F16, 2},  {GT_CUBLAS_BF16, 2}, {GT_CUBLAS_I8, 1},
                 {GT_CUBLAS_E4M3, 1}, {GT_CUBLAS_E5M2, 1}};
    size_t i = 0;
    while (sizes[i].type != type)
        i++;
    return sizes[i].bytes;
}

/* One launch for each product. */
static gt_cublas_status launch(const struct call *x, CUstream stream) {
    const struct mix *mix = &mixes[x->mix];
    gt_cublas_status status = GT_CUBLAS_SUCCESS;
    for (int z = 0; status == GT_CUBLAS_SUCCESS && z < (x->batch > 1 ? x->batch : 1); z++) {
        struct call one = *x;
        one.a = (const char *)x->a + (size_t)(z * x->stride_a) * size_of(mix->a);
        one.b = (const char *)x->b + (size_t)(z * x->stride_b) * size_of(mix->b);
        one.c = (char *)x->c + (size_t)(z * x->stride_c) * size_of(mix->c);
        status = launch_one(&one, stream);
    }
    return status;
}

/* ---- scripted faults of a call ---- */

static bool befalls(const char *word, int k) {
    const char *text = getenv("FAKE_CUBLAS");
    const size_t length = strlen(word);
    if (!text || strncmp(text, word, length) != 0)
        return false;
    return text[length] == '\0' || (text[length] == '@' && atoi(text + length + 1) == k);
}

static void hang(void) {
    const struct timespec hour = {.tv_sec = 3600};
    for (;;)
        (void)nanosleep(&hour, NULL);
}

/* ---- cuBLAS ---- */

gt_cublas_status cublasCreate_v2(cublasHandle_t *handle) {
    *handle = find_driver() ? calloc(1, sizeof **handle) : NULL;
    return *handle ? GT_CUBLAS_SUCCESS : NOT_INITIALIZED;
}

gt_cublas_status cublasDestroy_v2(cublasHandle_t handle) {
    free(handle);
    return GT_CUBLAS_SUCCESS;
}

gt_cublas_status cublasGetVersion_v2(cublasHandle_t handle, int *version) {
    *version = VERSION;
    return GT_CUBLAS_SUCCESS;
}

gt_cublas_status cublasSetStream_v2(cublasHandle_t handle, CUstream stream) {
    handle->stream = stream;
    handle->has_workspace = false; /* as documented */
    return GT_CUBLAS_SUCCESS;
}

gt_cublas_status cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace,
                                       size_t bytes) {
    handle->has_workspace = (workspace != NULL) == (bytes > 0);
    return handle->has_workspace ? GT_CUBLAS_SUCCESS : GT_CUBLAS_INVALID_VALUE;
}

/* All products of cuBLAS share this: the order of its calls, its types, and faults. */
static gt_cublas_status serve(cublasHandle_t handle, struct call *x,
                              gt_cublas_compute compute) {
    x->way = compute == GT_CUBLAS_COMPUTE_F32_PEDANTIC ||
             compute == GT_CUBLAS_COMPUTE_F64_PEDANTIC;
    x->wrong = befalls("wrong", x->k);
    if (!handle->has_workspace)
        return GT_CUBLAS_INVALID_VALUE;
    if (befalls("refuse", x->k) || x->mix == MIXES || compute == GT_CUBLAS_COMPUTE_FIXED)
        return GT_CUBLAS_NOT_SUPPORTED;
    if (befalls("crash", x->k))
        abort();
    if (befalls("hang", x->k))
        hang();
    if (befalls("fault", x->k) || befalls("trample", x->k)) {
        struct call other = *x;
        const void *theirs = befalls("fault", x->k) ? (const void *)(uintptr_t)4096 : x->b;
        memcpy(&other.c, &theirs, sizeof theirs);
        (void)launch(&other, handle->stream);
    }
    return launch(x, handle->stream);
}

/* A product is tuned by its first call, which must not be captured. */
static bool is_tuned(const struct cublasContext *handle, const struct call *x) {
    static struct { int mix, m, n, k; } tuned[64];
    static size_t count;
    gt_cu_capture_status capture = GT_CU_CAPTURE_NONE;
    for (size_t i = 0; i < count; i++)
        if (tuned[i].mix == x->mix && tuned[i].m == x->m && tuned[i].n == x->n &&
            tuned[i].k == x->k)
            return true;
    if (!find_driver() ||
        cu.cuStreamIsCapturing(handle->stream, &capture) != GT_CU_SUCCESS ||
        capture != GT_CU_CAPTURE_NONE || count == sizeof tuned / sizeof *tuned)
        return false;
    tuned[count].mix = x->mix;
    tuned[count].m = x->m;
    tuned[count].n = x->n;
    tuned[count++].k = x->k;
    return true;
}

gt_cublas_status cublasGemmStridedBatchedEx(
    cublasHandle_t handle, gt_cublas_op op_a, gt_cublas_op op_b, int m, int n, int k,
    const void *alpha, const void *a, gt_cublas_type type_a, int lda, long long stride_a,
    const void *b, gt_cublas_type type_b, int ldb, long long stride_b, const void *beta,
    void *c, gt_cublas_type type_c, int ldc, long long stride_c, int batch,
    gt_cublas_compute compute, gt_cublas_algo algo) {
    struct call x = {.mix = mix_of(type_a, type_b, type_c),
                     .op_a = op_a,
                     .op_b = op_b,
                     .m = m,
                     .n = n,
                     .k = k,
                     .alpha = alpha,
                     .a = a,
                     .lda = lda,
                     .b = b,
                     .ldb = ldb,
                     .beta = beta,
                     .c = c,
                     .ldc = ldc,
                     .batch = batch,
                     .stride_a = stride_a,
                     .stride_b = stride_b,
                     .stride_c = stride_c};
    if (algo != GT_CUBLAS_ALGO_DEFAULT && algo != GT_CUBLAS_ALGO_AUTOTUNE)
        return GT_CUBLAS_INVALID_VALUE;
    return algo == GT_CUBLAS_ALGO_DEFAULT || is_tuned(handle, &x)
               ? serve(handle, &x, compute)
               : GT_CUBLAS_NOT_SUPPORTED;
}

/* The matrices of product i; their pointers are in device memory. */
struct matrices {
    const void *a, *b;
    void *c;
};

static gt_cublas_status matrices_of(struct matrices *to, const void *const *a,
                                    const void *const *b, void *const *c, int i) {
    const struct {
        void *to;
        const void *from;
    } rows[] = {{&to->a, a + i}, {&to->b, b + i}, {&to->c, c + i}};
    gt_cu_result result = GT_CU_SUCCESS;
    for (int r = 0; r < 3 && result == GT_CU_SUCCESS; r++)
        result = cu.cuMemcpyDtoH(rows[r].to, (CUdeviceptr)(uintptr_t)rows[r].from,
                                 sizeof(void *));
    return result == GT_CU_SUCCESS ? GT_CUBLAS_SUCCESS : EXECUTION_FAILED;
}

gt_cublas_status cublasGemmBatchedEx(cublasHandle_t handle, gt_cublas_op op_a,
                                     gt_cublas_op op_b, int m, int n, int k,
                                     const void *alpha, const void *const *a,
                                     gt_cublas_type type_a, int lda, const void *const *b,
                                     gt_cublas_type type_b, int ldb, const void *beta,
                                     void *const *c, gt_cublas_type type_c, int ldc,
                                     int batch, gt_cublas_compute compute,
                                     gt_cublas_algo algo) {
    gt_cublas_status status = GT_CUBLAS_SUCCESS;
    for (int i = 0; status == GT_CUBLAS_SUCCESS && i < batch; i++) {
        struct matrices x;
        status = matrices_of(&x, a, b, c, i);
        if (status == GT_CUBLAS_SUCCESS)
            status = cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, x.a, type_a, lda, x.b,
                                  type_b, ldb, beta, x.c, type_c, ldc, compute, algo);
    }
    return status;
}

/* The call with groups wants one type for all matrices. Types of 16 bits have no pedantic
 * arithmetic. */
static bool groups_serve(gt_cublas_type type_a, gt_cublas_type type_c,
                         gt_cublas_compute compute) {
    const bool is_wide = type_a == GT_CUBLAS_F32 || type_a == GT_CUBLAS_F64;
    return type_a == type_c && (is_wide || compute == GT_CUBLAS_COMPUTE_F32);
}

/* Whether tensor cores can load the matrices of product i. */
static bool is_aligned(const struct matrices *x, int k, gt_cublas_type type) {
    const uintptr_t bits = (uintptr_t)x->a | (uintptr_t)x->b | (uintptr_t)x->c;
    return (size_t)k * size_of(type) % 16 != 0 || bits % 16 == 0;
}

/* cuBLAS faults where tensor cores meet matrices that are not aligned. So the stand-in
 * refuses them with a status that is no refusal. */
gt_cublas_status cublasGemmGroupedBatchedEx(
    cublasHandle_t handle, const gt_cublas_op *op_a, const gt_cublas_op *op_b, const int *m,
    const int *n, const int *k, const void *alpha, const void *const *a,
    gt_cublas_type type_a, const int *lda, const void *const *b, gt_cublas_type type_b,
    const int *ldb, const void *beta, void *const *c, gt_cublas_type type_c, const int *ldc,
    int groups, const int *group_size, gt_cublas_compute compute) {
    const size_t size = type_c == GT_CUBLAS_F64 ? sizeof(double) : sizeof(float);
    const bool narrow = size_of(type_a) < sizeof(float);
    gt_cublas_status status =
        groups_serve(type_a, type_c, compute) ? GT_CUBLAS_SUCCESS : GT_CUBLAS_NOT_SUPPORTED;
    for (int g = 0, i = 0; g < groups; g++)
        for (int j = 0; status == GT_CUBLAS_SUCCESS && j < group_size[g]; j++, i++) {
            struct matrices x;
            status = matrices_of(&x, a, b, c, i);
            if (status == GT_CUBLAS_SUCCESS && narrow && !is_aligned(&x, k[g], type_a))
                status = EXECUTION_FAILED;
            if (status == GT_CUBLAS_SUCCESS)
                status = cublasGemmEx(handle, op_a[g], op_b[g], m[g], n[g], k[g],
                                      (const char *)alpha + (size_t)g * size, x.a, type_a,
                                      lda[g], x.b, type_b, ldb[g],
                                      (const char *)beta + (size_t)g * size, x.c, type_c,
                                      ldc[g], compute, GT_CUBLAS_ALGO_DEFAULT);
        }
    return status;
}

gt_cublas_status cublasGemmEx(cublasHandle_t handle, gt_cublas_op op_a, gt_cublas_op op_b,
                              int m, int n, int k, const void *alpha, const void *a,
                              gt_cublas_type type_a, int lda, const void *b,
                              gt_cublas_type type_b, int ldb, const void *beta, void *c,
                              gt_cublas_type type_c, int ldc, gt_cublas_compute compute,
                              gt_cublas_algo algo) {
    return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0,
                                      b, type_b, ldb, 0, beta, c, type_c, ldc, 0, 1,
                                      compute, algo);
}

gt_cublas_status cublasSetEmulationStrategy(cublasHandle_t handle,
                                            gt_cublas_strategy strategy) {
    return strategy == GT_CUBLAS_STRATEGY_EAGER ? GT_CUBLAS_SUCCESS
                                                : GT_CUBLAS_INVALID_VALUE;
}

gt_cublas_status cublasSgemm_v2(cublasHandle_t handle, gt_cublas_op op_a, gt_cublas_op op_b,
                                int m, int n, int k, const float *alpha, const float *a,
                                int lda, const float *b, int ldb, const float *beta,
                                float *c, int ldc) {
    return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, GT_CUBLAS_F32, lda, b,
                        GT_CUBLAS_F32, ldb, beta, c, GT_CUBLAS_F32, ldc,
                        GT_CUBLAS_COMPUTE_F32, GT_CUBLAS_ALGO_DEFAULT);
}

/* ---- cublasLt ---- */

size_t cublasLtGetVersion(void) {
    return VERSION;
}

gt_cublas_status cublasLtCreate(cublasLtHandle_t *handle) {
    *handle = find_driver() ? calloc(1, sizeof **handle) : NULL;
    return *handle ? GT_CUBLAS_SUCCESS : NOT_INITIALIZED;
}

gt_cublas_status cublasLtDestroy(cublasLtHandle_t handle) {
    free(handle);
    return GT_CUBLAS_SUCCESS;
}

gt_cublas_status cublasLtMatmulDescCreate(gt_cublaslt_desc *desc, gt_cublas_compute compute,
                                          gt_cublas_type scale) {
    *desc = calloc(1, sizeof **desc);
    if (*desc)
        (*desc)->bias_type = not_declared;
    return GT_CUBLAS_SUCCESS;
}

gt_cublas_status cublasLtMatmulDescDestroy(gt_cublaslt_desc desc) {
    free(desc);
    return GT_CUBLAS_SUCCESS;
}

gt_cublas_status cublasLtMatmulDescSetAttribute(gt_cublaslt_desc desc,
                                                gt_cublas_desc_attribute what,
                                                const void *value, size_t size) {
    void *member = what == GT_CUBLASLT_DESC_TRANSA      ? (void *)&desc->op_a
                   : what == GT_CUBLASLT_DESC_TRANSB    ? (void *)&desc->op_b
                   : what == GT_CUBLASLT_DESC_FAST_SUMS ? (void *)&desc->fast
                   : what == GT_CUBLASLT_DESC_EPILOGUE  ? (void *)&desc->epilogue
                   : what == GT_CUBLASLT_DESC_BIAS      ? (void *)&desc->bias
                   : what == GT_CUBLASLT_DESC_BIAS_TYPE ? (void *)&desc->bias_type
                                                        : NULL;
    const size_t need = what == GT_CUBLASLT_DESC_FAST_SUMS ? sizeof desc->fast
                        : what == GT_CUBLASLT_DESC_BIAS    ? sizeof desc->bias
                                                           : sizeof(gt_cublas_op);
    if (member == NULL || size != need)
        return GT_CUBLAS_INVALID_VALUE;
    memcpy(member, value, size);
    return GT_CUBLAS_SUCCESS;
}

gt_cublas_status cublasLtMatrixLayoutCreate(gt_cublaslt_layout *layout, gt_cublas_type type,
                                            uint64_t rows, uint64_t cols, int64_t ld) {
    *layout = calloc(1, sizeof **layout);
    if (*layout)
        **layout = (struct gt_cublaslt_layout){type, rows, cols, ld, 1, 0};
    return ld >= (int64_t)rows ? GT_CUBLAS_SUCCESS : GT_CUBLAS_INVALID_VALUE;
}

gt_cublas_status cublasLtMatrixLayoutSetAttribute(gt_cublaslt_layout layout,
                                                  gt_cublas_layout_attribute what,
                                                  const void *value, size_t size) {
    if (what == GT_CUBLASLT_LAYOUT_BATCH && size == sizeof layout->batch)
        memcpy(&layout->batch, value, size);
    else if (what == GT_CUBLASLT_LAYOUT_STRIDE && size == sizeof layout->stride)
        memcpy(&layout->stride, value, size);
    else
        return GT_CUBLAS_INVALID_VALUE;
    return GT_CUBLAS_SUCCESS;
}

gt_cublas_status cublasLtMatrixLayoutDestroy(gt_cublaslt_layout layout) {
    free(layout);
    return GT_CUBLAS_SUCCESS;
}

gt_cublas_status cublasLtMatmulPreferenceCreate(gt_cublaslt_pref *pref) {
    *pref = calloc(1, sizeof **pref);
    return GT_CUBLAS_SUCCESS;
}

gt_cublas_status cublasLtMatmulPreferenceDestroy(gt_cublaslt_pref pref) {
    free(pref);
    return GT_CUBLAS_SUCCESS;
}

gt_cublas_status cublasLtMatmulPreferenceSetAttribute(gt_cublaslt_pref pref,
                                                      gt_cublas_pref_attribute what,
                                                      const void *value, size_t size) {
    if (what != GT_CUBLASLT_PREF_WORKSPACE || size != sizeof pref->workspace_bytes)
        return GT_CUBLAS_INVALID_VALUE;
    memcpy(&pref->workspace_bytes, value, size);
    return GT_CUBLAS_SUCCESS;
}

/* Three answers; the second one is not valid. */
gt_cublas_status cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, gt_cublaslt_desc desc, gt_cublaslt_layout a,
    gt_cublaslt_layout b, gt_cublaslt_layout c, gt_cublaslt_layout d, gt_cublaslt_pref pref,
    int room, struct gt_cublaslt_result *results, int *count) {
    *count = room < 3 ? room : 3;
    for (int i = 0; i < *count; i++)
        results[i] = (struct gt_cublaslt_result){.algo = {{(uint64_t)i + 1}},
                                                 .workspace_bytes = pref->workspace_bytes,
                                                 .state = i == 1 ? GT_CUBLAS_NOT_SUPPORTED
                                                                 : GT_CUBLAS_SUCCESS};
    return GT_CUBLAS_SUCCESS;
}

/* Without a declaration a bias has the type of D; beside 8-bit floats it has BF16, unless D
 * is a 16-bit float. The kernel has a bias of D's type alone. */
static bool has_bias_of(gt_cublas_type d, gt_cublaslt_desc desc, gt_cublas_type a) {
    const bool narrow = a == GT_CUBLAS_E4M3 || a == GT_CUBLAS_E5M2;
    const gt_cublas_type undeclared = narrow && d != GT_CUBLAS_F16 ? GT_CUBLAS_BF16 : d;
    return (desc->bias_type == not_declared ? undeclared : desc->bias_type) == d;
}

gt_cublas_status cublasLtMatmul(cublasLtHandle_t handle, gt_cublaslt_desc desc,
                                const void *alpha, const void *a,
                                gt_cublaslt_layout layout_a, const void *b,
                                gt_cublaslt_layout layout_b, const void *beta,
                                const void *c, gt_cublaslt_layout layout_c, void *d,
                                gt_cublaslt_layout layout_d,
                                const struct gt_cublaslt_algo *algo, void *workspace,
                                size_t workspace_bytes, CUstream stream) {
    const uint64_t k = desc->op_a == GT_CUBLAS_T ? layout_a->rows : layout_a->cols;
    const uint64_t also_k = desc->op_b == GT_CUBLAS_T ? layout_b->cols : layout_b->rows;
    const struct call x = {.mix = mix_of(layout_a->type, layout_b->type, layout_c->type),
                           .op_a = desc->op_a,
                           .op_b = desc->op_b,
                           .m = (int)layout_c->rows,
                           .n = (int)layout_c->cols,
                           .k = (int)k,
                           .alpha = alpha,
                           .a = a,
                           .lda = layout_a->ld,
                           .b = b,
                           .ldb = layout_b->ld,
                           .beta = beta,
                           .c = d,
                           .ldc = layout_d->ld,
                           .batch = layout_d->batch,
                           .stride_a = layout_a->stride,
                           .stride_b = layout_b->stride,
                           .stride_c = layout_d->stride,
                           .epilogue = desc->epilogue,
                           .bias = desc->bias,
                           .way = 1 + (int)algo->data[0] / 2,
                           .wrong = (algo->data[0] == 1 && befalls("ltwrong", (int)k)) ||
                                    befalls("ltallwrong", (int)k)};
    if (k != also_k || c != d || (workspace_bytes > 0) != (workspace != NULL) ||
        layout_a->batch != layout_d->batch || layout_b->batch != layout_d->batch)
        return GT_CUBLAS_INVALID_VALUE;
    if (desc->epilogue & GT_CUBLASLT_BIAS &&
        !has_bias_of(layout_d->type, desc, layout_a->type))
        return GT_CUBLAS_NOT_SUPPORTED;
    return x.mix == MIXES || desc->epilogue & GT_CUBLASLT_GELU ? GT_CUBLAS_NOT_SUPPORTED
                                                               : launch(&x, stream);
}
