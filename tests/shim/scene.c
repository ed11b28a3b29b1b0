/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.c - see scene.h. A scene is words, which are done one after another:
 *
 * - each: calls every function once
 * - orders: calls cublasLt in every combination of orders, 64 times
 * - type=f32, f64, bf16, e4m3; shape=M,N,K; batch=N; beta=X: the product (f32, 32,48,64, 1,
 * 0)
 * - old=X: the elements of C before each call; nan is one (0)
 * - epilogue=N, algo=N, apart: of cublasLt; apart: D is not C (1, 0)
 * - order=N, order-c=N: of cublasLt's matrices, and of C alone
 * - bias-type=N, aux-ld=N: of cublasLt (not declared, 0)
 * - attribute=N,V: of cublasLt's descriptor
 * - lda=N: another leading dimension of A than its rows. The library may refuse the call
 * - odd: matrices begin one element later
 * - device-scalars: alpha and beta lie in device memory
 * - math=N, sms=N: of the handle
 * - stream: a stream of its own; same-stream: the present one, set again; workspace=N:
 * given to the handle and to cublasLt
 * - context: another CUDA context; handle: another handle, the old one is destroyed
 * - capture, replay=N: calls of one product between them are captured, and run N times
 * - gemm=N, lt=N: calls cuBLAS, cublasLt N times, and compares the result
 * - time-gemm=N, time-lt=N: prints the nanoseconds that a call takes, the least of 50 means
 * of N calls
 * - threads=N: N threads call cuBLAS 100 times each, with a handle each
 * - share=N: the same, and all use the handle of the scene
 * - no-handle: cublasLt gets none
 * - late-lt: a thread calls cublasLt, and again in the destructor of its data
 * - guard: the memory of the workspace is the program's again. intact: nobody wrote to it
 * - renew: the CUDA context ends, and another one gets its address
 * - daemon=FILE: all descriptors are closed, and FILE gets their numbers; theirs: it still
 * has them
 * - fork: what follows happens in a child
 * - sleep=MS
 */
#include "tests/shim/scene.h"

#include "shim/blas.h"
#include "tests/shim/cuda.h"
#include "tests/shim/step.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static finder find;
static int bad;

static struct {
    void *handle, *stream;
    bool captures, on_device, odd, apart, no_handle;
    int sms, times;
    struct product p;
} now = {.p = {.m = 32,
               .n = 48,
               .k = 64,
               .batch = 1,
               .epilogue = GT_SHIM_EPI_NONE,
               .bias_type = -1}};

void *scene_find(const char *name) {
    void *found = find(name);
    if (found == NULL) {
        printf("%s is not found\n", name);
        exit(2);
    }
    return found;
}

void scene_expect(const char *what, unsigned status, double got, double want) {
    if (status == 0 && got == want)
        return;
    printf("%s: status %u, %g instead of %g\n", what, status, got, want);
    bad = 1;
}

/* ---- matrices ---- */

static size_t size_of(unsigned type) {
    return type == GT_SHIM_R_64F    ? 8
           : type == GT_SHIM_R_32F  ? 4
           : type == GT_SHIM_R_E4M3 ? 1
                                    : 2;
}

static void put(void *at, unsigned type, size_t i, double value) {
    union {
        uint32_t bits;
        float value;
    } f = {.value = (float)value};
    if (type == GT_SHIM_R_64F)
        ((double *)at)[i] = value;
    else if (type == GT_SHIM_R_32F)
        ((float *)at)[i] = f.value;
    else if (type == GT_SHIM_R_E4M3)
        ((uint8_t *)at)[i] = value == 1 ? 0x38 : 0x40; /* the elements of A, and of B */
    else
        ((uint16_t *)at)[i] = (uint16_t)(f.bits >> 16);
}

static double get(const void *at, unsigned type, size_t i) {
    union {
        uint32_t bits;
        float value;
    } f;
    if (type == GT_SHIM_R_64F)
        return ((const double *)at)[i];
    if (type == GT_SHIM_R_32F)
        return (double)((const float *)at)[i];
    f.bits = (uint32_t)((const uint16_t *)at)[i] << 16;
    return (double)f.value;
}

static void fill(void *at, unsigned type, size_t count, double value) {
    for (size_t i = 0; i < count; i++)
        put(at, type, i, value);
}

static void *matrix(unsigned type, size_t count, double value) {
    char *at = cuda_memory((count + 1) * size_of(type));
    at += now.odd ? size_of(type) : 0;
    fill(at, type, count, value);
    return at;
}

static size_t elements(int rows, int cols) {
    return (size_t)rows * (size_t)cols * (size_t)now.p.batch;
}

/* Beside 8-bit floats a bias without a declared type is of BF16. */
static unsigned bias_type(const struct product *p) {
    return p->bias_type >= 0           ? (unsigned)p->bias_type
           : p->type == GT_SHIM_R_E4M3 ? GT_SHIM_R_16BF
                                       : p->type_c;
}

/* New matrices for the product as it is now. */
static void prepare(struct product *p) {
    enum { AUX_BIT = 128 };
    *p = now.p;
    p->a = matrix(p->type, elements(p->lda > p->m ? p->lda : p->m, p->k), 1);
    p->b = matrix(p->type, elements(p->k, p->n), 2);
    p->c = matrix(p->type_c, elements(p->m, p->n), p->old);
    p->d = now.apart ? matrix(p->type_c, elements(p->m, p->n), 7) : p->c;
    p->bias = p->epilogue & 4 ? matrix(bias_type(p), (size_t)p->m, -4) : NULL;
    p->aux = p->epilogue & AUX_BIT ? matrix(p->type_c, (size_t)p->aux_ld * (size_t)p->n, 0)
                                   : NULL;
}

/* The scalar where the call wants it. */
static const void *scalar(double value) {
    void *at = now.on_device ? cuda_memory(8) : malloc(8);
    put(at, now.p.type == GT_SHIM_R_64F ? GT_SHIM_R_64F : GT_SHIM_R_32F, 0, value);
    return at;
}

/* ---- calls ---- */

static double expected(const struct product *p, int times) {
    double value = p->old;
    for (int i = 0; i < times; i++) {
        value =
            2.0 * p->k + (p->beta == 0 ? 0 : p->beta * value) + (p->bias != NULL ? -4 : 0);
        if (p->epilogue & 2)
            value = fmax(value, 0);
    }
    return value;
}

static struct product captured;

static void compare(const struct product *p, unsigned status, int times) {
    const double want = expected(p, times);
    double got = want;
    cuda_wait(now.stream);
    for (size_t i = 0; i < elements(p->m, p->n); i++)
        if (get(p->d, p->type_c, i) != want)
            got = get(p->d, p->type_c, i);
    scene_expect("product", status, got, want);
}

static unsigned call(bool lt, const struct product *p, const void *alpha,
                     const void *beta) {
    return lt ? call_lt(now.no_handle ? NULL : now.handle, now.stream, p, alpha, beta,
                        now.sms)
              : call_gemm(now.handle, p, alpha, beta);
}

static unsigned repeat(bool lt, const struct product *p, int times) {
    const void *alpha = scalar(1), *beta = scalar(p->beta);
    unsigned status = 0;
    for (int i = 0; i < times && status == 0; i++)
        status = call(lt, p, alpha, beta);
    return status;
}

static void calls(bool lt, int times) {
    if (!now.captures)
        prepare(&captured);
    const unsigned status = repeat(lt, &captured, times);
    now.times = times;
    if (now.captures)
        scene_expect("a captured call", status, 0, 0);
    else
        compare(&captured, status, times);
}

static void call_lt_once(void) {
    calls(true, 1);
}

/* The least of many times: other programs run beside this one. */
static void take_time(bool lt, int times) {
    enum { TURNS = 50 };
    struct product p;
    double least = 1e9;
    prepare(&p);
    for (int turn = 0; turn < TURNS; turn++) {
        struct timespec begin, end;
        (void)clock_gettime(CLOCK_MONOTONIC, &begin);
        (void)repeat(lt, &p, times);
        (void)clock_gettime(CLOCK_MONOTONIC, &end);
        least = fmin(least, (1e9 * (double)(end.tv_sec - begin.tv_sec) +
                             (double)(end.tv_nsec - begin.tv_nsec)) /
                                times);
    }
    printf("%.1f ns\n", least);
}

static void make_handle(void **handle) {
    if (CALL("cublasCreate_v2", (void **), (handle)) != 0)
        exit(2);
}

struct job {
    struct product p;
    void *handle; /* NULL: one of the thread's */
};

static void *run_thread(void *user) {
    const struct job *job = user;
    struct product p = job->p;
    const bool wide = p.type == GT_SHIM_R_64F;
    const float one_f32 = 1;
    const double one_f64 = 1, zero = 0;
    const void *one = wide ? (const void *)&one_f64 : (const void *)&one_f32;
    void *handle = job->handle;
    unsigned status = 0;
    p.beta = 0;
    if (handle == NULL)
        make_handle(&handle);
    (void)cuda_begin();
    p.c = p.d = matrix(p.type_c, elements(p.m, p.n), 0);
    for (int i = 0; i < 100 && status == 0; i++)
        status = call_gemm(handle, &p, one, &zero);
    compare(&p, status, 1);
    if (job->handle == NULL)
        (void)CALL("cublasDestroy_v2", (void *), (handle));
    return NULL;
}

static void threads(int count, void *handle) {
    enum { MOST = 16 };
    pthread_t thread[MOST];
    struct job job = {.handle = handle};
    prepare(&job.p);
    for (int i = 0; i < count && i < MOST; i++)
        if (pthread_create(&thread[i], NULL, run_thread, &job) != 0)
            exit(2);
    for (int i = 0; i < count && i < MOST; i++)
        (void)pthread_join(thread[i], NULL);
}

/* ---- words ---- */

static void set_type(const char *value) {
    now.p.type = strcmp(value, "f64") == 0    ? GT_SHIM_R_64F
                 : strcmp(value, "bf16") == 0 ? GT_SHIM_R_16BF
                 : strcmp(value, "e4m3") == 0 ? GT_SHIM_R_E4M3
                                              : GT_SHIM_R_32F;
    now.p.type_c = now.p.type == GT_SHIM_R_E4M3 ? GT_SHIM_R_32F : now.p.type;
}

static void set_shape(const char *value) {
    if (sscanf(value, "%d,%d,%d", &now.p.m, &now.p.n, &now.p.k) != 3)
        exit(2);
}

static void set_attribute(const char *value) {
    if (sscanf(value, "%d,%d", &now.p.attribute, &now.p.of_attribute) != 2)
        exit(2);
}

static void set_same_stream(void) {
    (void)CALL("cublasSetStream_v2", (void *, void *), (now.handle, now.stream));
}

static void set_stream(void) {
    now.stream = cuda_stream();
    set_same_stream();
}

static void set_workspace(int bytes) {
    now.p.workspace = bytes > 0 ? cuda_memory((size_t)bytes) : NULL;
    now.p.workspace_bytes = bytes;
    (void)CALL("cublasSetWorkspace_v2", (void *, void *, size_t),
               (now.handle, now.p.workspace, (size_t)bytes));
}

/* ---- memory that is the program's again ---- */

static char *guarded;
static size_t guarded_bytes;
enum { UNTOUCHED = 0x5a };

static void guard(void) {
    guarded = now.p.workspace;
    guarded_bytes = (size_t)now.p.workspace_bytes;
    memset(guarded, UNTOUCHED, guarded_bytes);
}

static void expect_intact(void) {
    size_t touched = 0;
    cuda_wait(now.stream);
    for (size_t i = 0; i < guarded_bytes; i++)
        touched += guarded[i] != UNTOUCHED;
    scene_expect("bytes written into a workspace that was taken back", 0, (double)touched,
                 0);
}

static void set_on_device(void) {
    now.on_device = true;
    (void)CALL("cublasSetPointerMode_v2", (void *, unsigned), (now.handle, 1));
}

static void new_handle(void) {
    (void)CALL("cublasDestroy_v2", (void *), (now.handle));
    make_handle(&now.handle);
    now.stream = NULL;
}

/* Nothing may be allocated while a stream is captured. */
static void begin_capture(void) {
    prepare(&captured);
    cuda_capture(now.stream);
    now.captures = true;
}

static void replay(int times) {
    now.captures = false;
    if (!cuda_replay(now.stream, times))
        scene_expect("the capture", 1, 0, 0);
    else
        compare(&captured, 0, captured.beta == 0 ? 1 : times * now.times);
}

static void in_a_child(void) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        return;
    (void)waitpid(child, &status, 0);
    exit(bad != 0 || !WIFEXITED(status) ? 1 : WEXITSTATUS(status));
}

static void sleep_ms(int ms) {
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    (void)nanosleep(&t, NULL);
}

static void play(const char *word, const char *value) {
    const int number = atoi(value);
#define WORD(name) strcmp(word, name) == 0
    if (WORD("each"))
        each_function(now.handle);
    else if (WORD("orders"))
        each_order(now.handle, now.p.epilogue);
    else if (WORD("type"))
        set_type(value);
    else if (WORD("shape"))
        set_shape(value);
    else if (WORD("batch"))
        now.p.batch = number;
    else if (WORD("beta"))
        now.p.beta = atof(value);
    else if (WORD("old"))
        now.p.old = atof(value);
    else if (WORD("epilogue"))
        now.p.epilogue = (unsigned)number;
    else if (WORD("order"))
        now.p.order = now.p.order_c = number;
    else if (WORD("order-c"))
        now.p.order_c = number;
    else if (WORD("algo"))
        now.p.algo = number;
    else if (WORD("apart"))
        now.apart = true;
    else if (WORD("lda"))
        now.p.lda = number;
    else if (WORD("bias-type"))
        now.p.bias_type = number;
    else if (WORD("aux-ld"))
        now.p.aux_ld = number;
    else if (WORD("attribute"))
        set_attribute(value);
    else if (WORD("odd"))
        now.odd = true;
    else if (WORD("device-scalars"))
        set_on_device();
    else if (WORD("math"))
        (void)CALL("cublasSetMathMode", (void *, unsigned), (now.handle, (unsigned)number));
    else if (WORD("sms"))
        (void)CALL("cublasSetSmCountTarget", (void *, int), (now.handle, now.sms = number));
    else if (WORD("stream"))
        set_stream();
    else if (WORD("same-stream"))
        set_same_stream();
    else if (WORD("workspace"))
        set_workspace(number);
    else if (WORD("context"))
        cuda_new_context();
    else if (WORD("handle"))
        new_handle();
    else if (WORD("capture"))
        begin_capture();
    else if (WORD("replay"))
        replay(number);
    else if (WORD("gemm") || WORD("lt"))
        calls(WORD("lt"), number);
    else if (WORD("time-gemm") || WORD("time-lt"))
        take_time(WORD("time-lt"), number);
    else if (WORD("threads"))
        threads(number, NULL);
    else if (WORD("share"))
        threads(number, now.handle);
    else if (WORD("no-handle"))
        now.no_handle = true;
    else if (WORD("late-lt"))
        call_late(call_lt_once);
    else if (WORD("guard"))
        guard();
    else if (WORD("intact"))
        expect_intact();
    else if (WORD("renew"))
        cuda_renew_context();
    else if (WORD("daemon"))
        become_daemon(value);
    else if (WORD("theirs"))
        scene_expect("descriptors that somebody closed", 0, lost_descriptors(), 0);
    else if (WORD("fork"))
        in_a_child();
    else if (WORD("sleep"))
        sleep_ms(number);
    else
        exit(2);
}

int scene(finder finds, int argc, char **argv) {
    find = finds;
    (void)cuda_begin();
    make_handle(&now.handle);
    for (int i = 0; i < argc; i++) {
        char word[64];
        const char *equals = strchr(argv[i], '=');
        (void)snprintf(word, sizeof word, "%.*s",
                       (int)(equals != NULL ? equals - argv[i] : (long)strlen(argv[i])),
                       argv[i]);
        play(word, equals != NULL ? equals + 1 : "");
    }
    return bad;
}
