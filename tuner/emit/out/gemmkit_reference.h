/* SPDX-License-Identifier: Apache-2.0 */
/* gemmkit_reference.h - for the test: a product with its operands on the device, and C as
 * the CPU computes it. */
#ifndef GEMMKIT_REFERENCE_H
#define GEMMKIT_REFERENCE_H

#include "gemmkit_inside.h"

#include <math.h>

/* ---- the device ---- */

typedef unsigned long long device_t; /* CUdeviceptr */

#define CALLS(X)                                                                           \
    X(cuInit, cuInit, (unsigned))                                                          \
    X(cuDeviceGet, cuDeviceGet, (int *, int))                                              \
    X(cuDeviceGetName, cuDeviceGetName, (char *, int, int))                                \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (void **, int))                  \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (void *))                                          \
    X(cuCtxSynchronize, cuCtxSynchronize, (void))                                          \
    X(cuMemAlloc, cuMemAlloc_v2, (device_t *, size_t))                                     \
    X(cuMemFree, cuMemFree_v2, (device_t))                                                 \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2, (device_t, const void *, size_t))                     \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2, (void *, device_t, size_t))

struct gk_calls {
#define X(name, symbol, params) unsigned(*name) params;
    CALLS(X)
#undef X
};
extern struct gk_calls gk_cu;
extern char gk_device_name[128];

/* Opens the driver and the first device. Each of these functions ends the program where it
 * fails. */
void gk_open_device(void);
void gk_stop(int code, const char *what, const char *why);
device_t gk_allocate(size_t bytes);
device_t gk_upload(const void *from, size_t bytes);
void *gk_host(size_t bytes);

static inline void *at_address(device_t memory) {
    return (void *)(uintptr_t)memory;
}

/* ---- a product ---- */

enum { BUDGET = 1 << 27 }; /* additions of the reference */

struct matrix {
    int64_t rows, cols, ld, stride, count; /* as stored */
    int type;
    size_t bytes;
    int8_t *number;              /* rows * cols of each */
    unsigned char *store;        /* as the device has it */
    device_t base, memory, list; /* allocated; where the first element is; pointers */
};

struct product {
    struct gk_problem p;
    const struct gk_epilogue *epilogue; /* NULL: none */
    struct matrix a, b, c;
    struct matrix operand[GK_OPERANDS], d2; /* of the epilogue */
    int64_t filled;                         /* elements of a row of op(A) that are not 0 */
    int8_t *flat;                           /* op(B), k rows of n numbers of each matrix */
};

static inline double volume(const struct gk_problem *p) {
    return (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
}

/* A, B and C begin `shift` elements after addresses that are aligned for any kernel. */
struct product gk_make_product(const struct gk_problem *p, int shift);
void gk_clear_product(struct product *x);
/* Fills C on the device: with numbers, or with words that are none where no kernel may read
 * it. */
void gk_reset(struct product *x, bool numbers);
/* Compares C, its gaps included, and the epilogue's second output with the reference.
 * Returns 1, with one line, where they differ. */
int gk_compare(struct product *x, int alpha, int beta, const char *name);

/* ---- an element of an epilogue ---- */

struct gk_element {
    double x, acc, c, alpha, beta, operand[GK_OPERANDS];
};

/* The value that is stored; *d2: the second one (gemmkit_expected.c). */
double gk_expected(int epilogue, const struct gk_element *e, double *d2);
/* The nearest element of the type, at most its largest one. */
double gk_cast(int type, double v);

#define GK_FUNCTION(name, ...)                                                             \
    static inline double gk_##name(double x) {                                             \
        return __VA_ARGS__;                                                                \
    }
GK_FUNCTION(abs, fabs(x))
GK_FUNCTION(relu, x > 0 ? x : 0)
GK_FUNCTION(exp, exp(x))
GK_FUNCTION(log, log(x))
GK_FUNCTION(tanh, tanh(x))
GK_FUNCTION(erf, erf(x))
GK_FUNCTION(sqrt, sqrt(x))
GK_FUNCTION(sigmoid, 1 / (1 + exp(-x)))
GK_FUNCTION(silu, x / (1 + exp(-x)))
GK_FUNCTION(gelu, 0.5 * x * erfc(-x * 0.70710678118654752440))
GK_FUNCTION(gelu_tanh,
            x / (1 + exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x))))
static inline double gk_min(double x, double y) {
    return y < x ? y : x;
}
static inline double gk_max(double x, double y) {
    return y > x ? y : x;
}

#endif
