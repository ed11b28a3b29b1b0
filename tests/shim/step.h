/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - the parts of a scene. */
#ifndef GT_TESTS_SHIM_STEP_H
#define GT_TESTS_SHIM_STEP_H

#include <stdbool.h>
#include <stdint.h>

/* The address of a function of cuBLAS, as the program finds it. Ends the program where
 * there is none. */
void *scene_find(const char *name);

/* Calls a function by its name and the types of its arguments. */
#define CALL(name, params, args)                                                           \
    ((union {                                                                              \
        void *address;                                                                     \
        unsigned(*call) params;                                                            \
    }){scene_find(name)})                                                                  \
        .call args

/* Fails the scene unless the call succeeded and gave the number. */
void scene_expect(const char *what, unsigned status, double got, double want);

/* Calls every function once, and compares results of f32, f64 and bf16. */
void each_function(void *handle);

/* Calls cublasLt in every combination of orders, transposes and batches, and compares. A
 * bias must be refused where D is in row order. */
void each_order(void *handle, unsigned epilogue);

/* A column-major product: A is all 1, B all 2, C all `old`. */
struct product {
    unsigned type, type_c; /* of cuBLAS: f32, f64, bf16, or e4m3 with C of f32 */
    int m, n, k, batch;
    int lda; /* 0: as it must be */
    double beta, old;
    unsigned epilogue;           /* of cublasLt */
    int order, order_c;          /* of cublasLt's A, B and D; of its C */
    int bias_type;               /* of cublasLt; -1: not declared */
    int attribute, of_attribute; /* one more of cublasLt's descriptor, and its value */
    int64_t aux_ld;              /* of cublasLt */
    int algo; /* of cublasLt: 0 none, 1 the heuristic's, 2 one of its own */
    void *a, *b, *c, *d, *bias, *aux; /* d: what is written, c or another */
    void *workspace;
    int64_t workspace_bytes;
};

/* Calls cublasSgemm, cublasDgemm or cublasGemmEx; with strides where there is a batch. */
unsigned call_gemm(void *handle, const struct product *p, const void *alpha,
                   const void *beta);
unsigned call_lt(void *handle, void *stream, const struct product *p, const void *alpha,
                 const void *beta, int sms);

/* A thread that calls cublasLt calls it once more when its data are being destroyed. */
void call_late(void (*call)(void));
/* Closes all descriptors and gives their numbers to FILE, as programs do that become
 * daemons. */
void become_daemon(const char *file);
/* How many of these descriptors somebody else has closed since. */
int lost_descriptors(void);

#endif
