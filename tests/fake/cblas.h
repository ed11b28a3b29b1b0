/* SPDX-License-Identifier: Apache-2.0 */
/* cblas.h - the two products of a CBLAS, as plain loops, for the libraries beside it. */
#ifndef GT_TESTS_FAKE_CBLAS_H
#define GT_TESTS_FAKE_CBLAS_H

#define FAKE_GEMM(name, type)                                                              \
    void name(int order, int ta, int tb, int m, int n, int k, type alpha, const type *a,   \
              int lda, const type *b, int ldb, type beta, type *c, int ldc);               \
    void name(int order, int ta, int tb, int m, int n, int k, type alpha, const type *a,   \
              int lda, const type *b, int ldb, type beta, type *c, int ldc) {              \
        const int turned = 112; /* CblasTrans */                                           \
        (void)order;                                                                       \
        for (int i = 0; i < m; i++)                                                        \
            for (int j = 0; j < n; j++) {                                                  \
                type sum = 0;                                                              \
                for (int p = 0; p < k; p++)                                                \
                    sum += (ta == turned ? a[p * lda + i] : a[i * lda + p]) *              \
                           (tb == turned ? b[j * ldb + p] : b[p * ldb + j]);               \
                c[i * ldc + j] = alpha * sum + (beta != 0 ? beta * c[i * ldc + j] : 0);    \
            }                                                                              \
    }
FAKE_GEMM(cblas_sgemm, float)
FAKE_GEMM(cblas_dgemm, double)

#endif
