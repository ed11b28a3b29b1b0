/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_blas.h - libcublas.so.N and libcublasLt.so.N for programs of tests: they have the
 * sonames and the versions of symbols that the real ones have, and compute on the host at
 * once, on memory of malloc or of tests/fake/cuda/.
 *
 * - FAKE_BLAS_LOG=FILE: every product adds a line with the name of its function and the
 *   major version
 * - FAKE_BLAS=nested: cublasGemmEx calls cublasLtMatmul, as cuBLAS does for some products
 * - FAKE_BLAS=silent: nothing is computed, for timings
 */
#ifndef GT_TESTS_FAKE_BLAS_H
#define GT_TESTS_FAKE_BLAS_H

#include "shim/blas.h"

#include <stdbool.h>

/* A product. A matrix is in column order, unless its row_ says that it is in row order. */
struct fake_product {
    unsigned op_a, op_b, type_a, type_b, type_c;
    bool wide;  /* sums and scalars are f64 */
    bool whole; /* they are i32 */
    bool row_a, row_b, row_c, row_d;
    int64_t m, n, k, lda, ldb, ldc;
    const void *alpha, *a, *b, *beta, *c;
    void *d;
    int64_t ldd;
    const void *bias;
    unsigned bias_type;
    unsigned epilogue;
};

void fake_log(const char *function);
bool fake_is(const char *word);
/* Complex products are left undone. */
void fake_compute(const struct fake_product *p);
size_t fake_size(unsigned type);

#endif
