/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orders.c - products of cublasLt in every combination of orders of A, B and D, transposes
 * and batches. Leading dimensions are larger than needed. Each result is compared with the
 * definition, and the gaps between columns, rows and products with what they were.
 */
#include "tests/shim/step.h"

#include "shim/blas.h"
#include "tests/shim/cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 12, N = 20, K = 28, GAP = 4, GAP_OF_PRODUCTS = 8, NOT_SUPPORTED = 15 };

/* A matrix of each product, as it is stored. */
struct stored {
    int rows, cols, ld, batch;
    int64_t stride;
    int32_t order;
    float *at;
};

static int place(const struct stored *s, int z, int row, int col) {
    const int within =
        s->order == GT_SHIM_ORDER_ROW ? row * s->ld + col : col * s->ld + row;
    return z * (int)s->stride + within;
}

static size_t count(const struct stored *s) {
    return (size_t)s->stride * (size_t)s->batch;
}

/* Small integers, in the gaps too. */
static float value(size_t i, int seed) {
    return (float)((int)(i * 7 + (size_t)seed * 3) % 11 - 5);
}

static struct stored make(int rows, int cols, int32_t order, int batch, int seed) {
    struct stored s = {.rows = rows, .cols = cols, .batch = batch, .order = order};
    s.ld = (order == GT_SHIM_ORDER_ROW ? cols : rows) + GAP;
    s.stride = (int64_t)s.ld * (order == GT_SHIM_ORDER_ROW ? rows : cols) + GAP_OF_PRODUCTS;
    s.at = cuda_memory(count(&s) * sizeof *s.at);
    for (size_t i = 0; i < count(&s); i++)
        s.at[i] = value(i, seed);
    return s;
}

/* ---- a combination ---- */

struct combination {
    int32_t order_a, order_b, order_d;
    unsigned op_a, op_b, epilogue;
    int batch;
    float beta;
};

struct ordered {
    struct combination is;
    struct stored a, b, d;
    float bias[M];
    float *given_bias; /* the same in device memory, or NULL */
};

static double element(const struct stored *s, unsigned op, int z, int row, int col) {
    return (double)s->at[op == GT_SHIM_N ? place(s, z, row, col) : place(s, z, col, row)];
}

static float by_definition(const struct ordered *o, float before, int z, int i, int j) {
    const struct combination *c = &o->is;
    double sum = 0;
    for (int q = 0; q < K; q++)
        sum += element(&o->a, c->op_a, z, i, q) * element(&o->b, c->op_b, z, q, j);
    sum += (double)(c->beta * before);
    sum += c->epilogue & 4 ? (double)o->bias[i] : 0;
    return (float)(c->epilogue & 2 ? fmax(sum, 0) : sum);
}

/* All of D's memory as it must be. */
static float *expected(const struct ordered *o) {
    float *want = malloc(count(&o->d) * sizeof *want);
    memcpy(want, o->d.at, count(&o->d) * sizeof *want);
    for (int z = 0; z < o->d.batch; z++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                float *at = &want[place(&o->d, z, i, j)];
                *at = by_definition(o, *at, z, i, j);
            }
    return want;
}

/* ---- the call ---- */

static void *layout(const struct stored *s) {
    void *out = NULL;
    const struct {
        unsigned attribute;
        const void *value;
        size_t size;
    } rows[] = {{GT_SHIM_LAYOUT_ORDER, &s->order, sizeof s->order},
                {GT_SHIM_LAYOUT_BATCH, &s->batch, sizeof s->batch},
                {GT_SHIM_LAYOUT_STRIDE, &s->stride, sizeof s->stride}};
    (void)CALL("cublasLtMatrixLayoutCreate",
               (void **, unsigned, uint64_t, uint64_t, int64_t),
               (&out, GT_SHIM_R_32F, (uint64_t)s->rows, (uint64_t)s->cols, s->ld));
    for (int i = 0; i < 3; i++)
        (void)CALL("cublasLtMatrixLayoutSetAttribute",
                   (void *, unsigned, const void *, size_t),
                   (out, rows[i].attribute, rows[i].value, rows[i].size));
    return out;
}

static void *describe(const struct ordered *o) {
    void *desc = NULL;
    const struct {
        unsigned attribute;
        const void *value;
        size_t size;
    } rows[] = {{GT_SHIM_DESC_OP_A, &o->is.op_a, sizeof o->is.op_a},
                {GT_SHIM_DESC_OP_B, &o->is.op_b, sizeof o->is.op_b},
                {GT_SHIM_DESC_EPILOGUE, &o->is.epilogue, sizeof o->is.epilogue},
                {GT_SHIM_DESC_BIAS, &o->given_bias, sizeof o->given_bias}};
    (void)CALL("cublasLtMatmulDescCreate", (void **, unsigned, unsigned),
               (&desc, GT_SHIM_32F, GT_SHIM_R_32F));
    for (int i = 0; i < 4; i++)
        (void)CALL("cublasLtMatmulDescSetAttribute",
                   (void *, unsigned, const void *, size_t),
                   (desc, rows[i].attribute, rows[i].value, rows[i].size));
    return desc;
}

static unsigned multiply(void *handle, const struct ordered *o) {
    const float one = 1;
    void *desc = describe(o), *a = layout(&o->a), *b = layout(&o->b), *d = layout(&o->d);
    const unsigned status = CALL("cublasLtMatmul",
                                 (void *, void *, const void *, const void *, void *,
                                  const void *, void *, const void *, const void *, void *,
                                  void *, void *, const void *, void *, size_t, void *),
                                 (handle, desc, &one, o->a.at, a, o->b.at, b, &o->is.beta,
                                  o->d.at, d, o->d.at, d, NULL, NULL, 0, NULL));
    (void)CALL("cublasLtMatrixLayoutDestroy", (void *), (d));
    (void)CALL("cublasLtMatrixLayoutDestroy", (void *), (b));
    (void)CALL("cublasLtMatrixLayoutDestroy", (void *), (a));
    (void)CALL("cublasLtMatmulDescDestroy", (void *), (desc));
    return status;
}

/* ---- all of them ---- */

/* Without a bias descriptors of two calls have the same bytes. */
static void give_bias(struct ordered *o) {
    o->given_bias = cuda_memory(sizeof o->bias);
    for (int i = 0; i < M; i++)
        o->given_bias[i] = o->bias[i] = value((size_t)i, 4);
}

static void name(char *out, size_t size, const struct combination *c) {
    static const char order[] = "cr", op[] = "nt";
    (void)snprintf(out, size, "orders %c%c%c, %c%c, batch %d", order[c->order_a],
                   order[c->order_b], order[c->order_d], op[c->op_a], op[c->op_b],
                   c->batch);
}

static void try_one(void *handle, const struct combination *c) {
    struct ordered o = {.is = *c};
    char what[64];
    const bool ta = c->op_a == GT_SHIM_T, tb = c->op_b == GT_SHIM_T;
    o.a = make(ta ? K : M, ta ? M : K, c->order_a, c->batch, 1);
    o.b = make(tb ? N : K, tb ? K : N, c->order_b, c->batch, 2);
    o.d = make(M, N, c->order_d, c->batch, 3);
    if (c->epilogue & 4)
        give_bias(&o);
    float *want = expected(&o);
    name(what, sizeof what, c);
    const bool refused = c->epilogue & 4 && c->order_d == GT_SHIM_ORDER_ROW;
    const unsigned status = multiply(handle, &o);
    cuda_wait(NULL);
    if (refused)
        scene_expect(what, status == NOT_SUPPORTED ? 0 : 1, status, NOT_SUPPORTED);
    for (size_t i = 0, wrong = 0; !refused && i < count(&o.d) && wrong == 0; i++) {
        wrong = o.d.at[i] != want[i];
        if (status != 0 || wrong)
            scene_expect(what, status, (double)o.d.at[i], (double)want[i]);
    }
    free(want);
}

/* C is read where there is one product. */
void each_order(void *handle, unsigned epilogue) {
    for (int i = 0; i < 64; i++) {
        const struct combination c = {.order_a = i & 1,
                                      .order_b = i >> 1 & 1,
                                      .order_d = i >> 2 & 1,
                                      .op_a = i >> 3 & 1,
                                      .op_b = i >> 4 & 1,
                                      .batch = i >> 5 ? 3 : 1,
                                      .beta = i >> 5 ? 0 : 2,
                                      .epilogue = epilogue};
        try_one(handle, &c);
    }
}
