/* SPDX-License-Identifier: Apache-2.0 */
/* each.c - every function of the shim, called once. */
#include "tests/shim/step.h"

#include "shim/blas.h"
#include "shim/entries.h"

#include <string.h>

/* ---- every function once  ---- */

enum { M = 4, N = 3, K = 5, ROOM = 64, BATCH = 2 };

/* A is all 1, B all 2, so each element of the product is 2 K. */
static struct matrices {
    union {
        float f32[ROOM];
        double f64[ROOM];
        uint16_t f16[ROOM];
    } a, b, c;
    const void *pa[BATCH], *pb[BATCH];
    void *pc[BATCH];
} x;

static void fill(unsigned type) {
    memset(&x, 0, sizeof x);
    for (int i = 0; i < ROOM; i++)
        switch (type) {
        case GT_SHIM_R_32F:
            x.a.f32[i] = 1;
            x.b.f32[i] = 2;
            break;
        case GT_SHIM_R_64F:
            x.a.f64[i] = 1;
            x.b.f64[i] = 2;
            break;
        default: /* bf16 */
            x.a.f16[i] = 0x3f80;
            x.b.f16[i] = 0x4000;
        }
    for (int i = 0; i < BATCH; i++) {
        x.pa[i] = &x.a;
        x.pb[i] = &x.b;
        x.pc[i] = (char *)&x.c + i * 128;
    }
}

static double element(unsigned type) {
    union {
        uint32_t bits;
        float value;
    } f = {.bits = (uint32_t)x.c.f16[M * N - 1] << 16};
    return type == GT_SHIM_R_32F    ? (double)x.c.f32[M * N - 1]
           : type == GT_SHIM_R_64F  ? x.c.f64[M * N - 1]
           : type == GT_SHIM_R_16BF ? (double)f.value
                                    : 2.0 * K;
}

static const float one32 = 1, zero32 = 0;
static const double one64 = 1, zero64 = 0;

#define ONE(type)  ((type) == GT_SHIM_R_64F ? (const void *)&one64 : (const void *)&one32)
#define ZERO(type) ((type) == GT_SHIM_R_64F ? (const void *)&zero64 : (const void *)&zero32)
#define HEAD(whole)                                                                        \
    void *handle, unsigned op_a, unsigned op_b, whole m, whole n, whole k, const void *alpha
#define START(type) handle, 0, 0, M, N, K, ONE(type)

#define SINGLE(symbol, whole, type, compute)                                               \
    CALL(#symbol,                                                                          \
         (HEAD(whole), const void *a, whole lda, const void *b, whole ldb,                 \
          const void *beta, void *c, whole ldc),                                           \
         (START(type), &x.a, M, &x.b, K, ZERO(type), &x.c, M))
#define SINGLE_EX(symbol, whole, type, compute)                                            \
    CALL(#symbol,                                                                          \
         (HEAD(whole), const void *a, unsigned ta, whole lda, const void *b, unsigned tb,  \
          whole ldb, const void *beta, void *c, unsigned tc, whole ldc),                   \
         (START(type), &x.a, type, M, &x.b, type, K, ZERO(type), &x.c, type, M))
#define SINGLE_ANY(symbol, whole, type, compute)                                           \
    CALL(#symbol,                                                                          \
         (HEAD(whole), const void *a, unsigned ta, whole lda, const void *b, unsigned tb,  \
          whole ldb, const void *beta, void *c, unsigned tc, whole ldc, unsigned how,      \
          int algo),                                                                       \
         (START(type), &x.a, GT_SHIM_R_16BF, M, &x.b, GT_SHIM_R_16BF, K, ZERO(type), &x.c, \
          GT_SHIM_R_16BF, M, GT_SHIM_32F, -1))
#define STRIDED(symbol, whole, type, compute)                                              \
    CALL(#symbol,                                                                          \
         (HEAD(whole), const void *a, whole lda, long long sa, const void *b, whole ldb,   \
          long long sb, const void *beta, void *c, whole ldc, long long sc, whole batch),  \
         (START(type), &x.a, M, 0, &x.b, K, 0, ZERO(type), &x.c, M, M * N, BATCH))
#define STRIDED_ANY(symbol, whole, type, compute)                                          \
    CALL(#symbol,                                                                          \
         (HEAD(whole), const void *a, unsigned ta, whole lda, long long sa, const void *b, \
          unsigned tb, whole ldb, long long sb, const void *beta, void *c, unsigned tc,    \
          whole ldc, long long sc, whole batch, unsigned how, int algo),                   \
         (START(type), &x.a, GT_SHIM_R_16BF, M, 0, &x.b, GT_SHIM_R_16BF, K, 0, ZERO(type), \
          &x.c, GT_SHIM_R_16BF, M, M * N, BATCH, GT_SHIM_32F, 99))
#define ARRAYS(symbol, whole, type, compute)                                               \
    CALL(#symbol,                                                                          \
         (HEAD(whole), const void *a, whole lda, const void *b, whole ldb,                 \
          const void *beta, void *c, whole ldc, whole batch),                              \
         (START(type), x.pa, M, x.pb, K, ZERO(type), x.pc, M, BATCH))
#define ARRAYS_ANY(symbol, whole, type, compute)                                           \
    CALL(#symbol,                                                                          \
         (HEAD(whole), const void *a, unsigned ta, whole lda, const void *b, unsigned tb,  \
          whole ldb, const void *beta, void *c, unsigned tc, whole ldc, whole batch,       \
          unsigned how, int algo),                                                         \
         (START(type), x.pa, GT_SHIM_R_16BF, M, x.pb, GT_SHIM_R_16BF, K, ZERO(type), x.pc, \
          GT_SHIM_R_16BF, M, BATCH, GT_SHIM_32F, -1))
#define GROUP_HEAD(whole)                                                                  \
    void *handle, const unsigned *op_a, const unsigned *op_b, const whole *m,              \
        const whole *n, const whole *k, const void *alpha
#define GROUPS(symbol, whole, type, compute)                                               \
    CALL(#symbol,                                                                          \
         (GROUP_HEAD(whole), const void *a, const whole *lda, const void *b,               \
          const whole *ldb, const void *beta, void *c, const whole *ldc, whole groups,     \
          const whole *sizes),                                                             \
         (handle, &op, &op, &(const whole){M}, &(const whole){N}, &(const whole){K},       \
          ONE(type), x.pa, &(const whole){M}, x.pb, &(const whole){K}, ZERO(type), x.pc,   \
          &(const whole){M}, 1, &(const whole){BATCH}))
#define GROUPS_ANY(symbol, whole, type, compute)                                           \
    CALL(#symbol,                                                                          \
         (GROUP_HEAD(whole), const void *a, unsigned ta, const whole *lda, const void *b,  \
          unsigned tb, const whole *ldb, const void *beta, void *c, unsigned tc,           \
          const whole *ldc, whole groups, const whole *sizes, unsigned how),               \
         (handle, &op, &op, &(const whole){M}, &(const whole){N}, &(const whole){K},       \
          ONE(type), x.pa, GT_SHIM_R_16BF, &(const whole){M}, x.pb, GT_SHIM_R_16BF,        \
          &(const whole){K}, ZERO(type), x.pc, GT_SHIM_R_16BF, &(const whole){M}, 1,       \
          &(const whole){BATCH}, GT_SHIM_32F))

#define IS_GROUPS_SINGLE      0
#define IS_GROUPS_SINGLE_EX   0
#define IS_GROUPS_SINGLE_ANY  0
#define IS_GROUPS_STRIDED     0
#define IS_GROUPS_STRIDED_ANY 0
#define IS_GROUPS_ARRAYS      0
#define IS_GROUPS_ARRAYS_ANY  0
#define IS_GROUPS_GROUPS      1
#define IS_GROUPS_GROUPS_ANY  1

void each_function(void *handle) {
    const unsigned op = 0;
#define X(form, symbol, whole, type, compute)                                              \
    {                                                                                      \
        const unsigned stored = (compute) == 0 ? GT_SHIM_R_16BF : (type);                  \
        fill(stored);                                                                      \
        const unsigned status = form(symbol, whole, type, compute);                        \
        scene_expect(#symbol, status, IS_GROUPS_##form ? 2.0 * K : element(stored),        \
                     2.0 * K);                                                             \
    }
    GT_SHIM_GEMMS(X)
#undef X
}
