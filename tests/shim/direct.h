/* SPDX-License-Identifier: Apache-2.0 */
/* direct.h - see direct.c. */
#ifndef GT_TESTS_SHIM_DIRECT_H
#define GT_TESTS_SHIM_DIRECT_H

unsigned direct_sgemm(void *handle, unsigned op_a, unsigned op_b, int m, int n, int k,
                      const void *alpha, const void *a, int lda, const void *b, int ldb,
                      const void *beta, void *c, int ldc);

#endif
