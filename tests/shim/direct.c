/* SPDX-License-Identifier: Apache-2.0 */
/* direct.c - calls of functions by their name. linked.c takes addresses, which ld.so binds
 * in another way. */
#include "tests/shim/direct.h"

unsigned cublasSgemm_v2(void *handle, unsigned op_a, unsigned op_b, int m, int n, int k,
                        const void *alpha, const void *a, int lda, const void *b, int ldb,
                        const void *beta, void *c, int ldc);

unsigned direct_sgemm(void *handle, unsigned op_a, unsigned op_b, int m, int n, int k,
                      const void *alpha, const void *a, int lda, const void *b, int ldb,
                      const void *beta, void *c, int ldc) {
    return cublasSgemm_v2(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
