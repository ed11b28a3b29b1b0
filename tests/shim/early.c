/* SPDX-License-Identifier: Apache-2.0 */
/*
 * early.c - a library with a constructor that calls cuBLAS, while a second thread calls
 * cuBLAS for the first time. ld.so holds its lock while a constructor runs, so the second
 * thread waits in ld.so. With EARLY=known the constructor has called cuBLAS before, and the
 * shim knows where it is.
 */
#include "tests/shim/scene.h"
#include "tests/shim/step.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

__attribute__((visibility("default"))) int play(int argc, char **argv);

static pthread_t second;
static sem_t begun;
static int failures;

#define PARAMS                                                                             \
    (void *handle, unsigned op_a, unsigned op_b, int m, int n, int k, const void *alpha,   \
     const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc)

static void multiply(void) {
    const float one = 1, zero = 0;
    _Alignas(16) const float two = 2;
    _Alignas(16) float c = 0;
    void *handle = NULL;
    union {
        void *address;
        unsigned(*call) PARAMS;
    } gemm = {find_linked("cublasSgemm_v2")};
    union {
        void *address;
        unsigned (*call)(void **handle);
    } create = {find_linked("cublasCreate_v2")};
    if (create.call(&handle) != 0 ||
        gemm.call(handle, 0, 0, 1, 1, 1, &one, &two, 1, &two, 1, &zero, &c, 1) != 0 ||
        (int)c != 4)
        __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
}

/* A complex product is passed on before the shim opens a library of its own. */
static void find_cublas(void) {
    const float z[2] = {1, 0};
    float c[2] = {0};
    void *handle = NULL;
    union {
        void *address;
        unsigned(*call) PARAMS;
    } gemm = {find_linked("cublasCgemm_v2")};
    (void)gemm.call(handle, 0, 0, 1, 1, 1, z, z, 1, z, 1, z, c, 1);
}

static void *run(void *user) {
    (void)sem_post(&begun);
    multiply();
    return user;
}

__attribute__((constructor)) static void begin(void) {
    const struct timespec pause = {.tv_nsec = 300 * 1000 * 1000};
    if (getenv("EARLY") != NULL)
        find_cublas();
    if (sem_init(&begun, 0, 0) != 0 || pthread_create(&second, NULL, run, NULL) != 0)
        abort();
    (void)sem_wait(&begun);
    (void)nanosleep(&pause, NULL); /* the second thread comes to ld.so */
    multiply();
}

int play(int argc, char **argv) {
    (void)pthread_join(second, NULL);
    return failures != 0 ? 1 : scene(find_linked, argc, argv);
}
