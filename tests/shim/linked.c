/* SPDX-License-Identifier: Apache-2.0 */
/* linked.c - see scene.h. */
#include "shim/entries.h"
#include "tests/shim/direct.h"
#include "tests/shim/scene.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Functions that entries.h does not have. */
/* clang-format off */
#define MORE(X)                                                                            \
    X(cublasCreate_v2)                                                                     \
    X(cublasGetVersion_v2)                                                                 \
    X(cublasSetPointerMode_v2)                                                             \
    X(cublasSetMathMode)                                                                   \
    X(cublasSetSmCountTarget)                                                              \
    X(cublasLtCreate)                                                                      \
    X(cublasLtDestroy)                                                                     \
    X(cublasLtMatmulDescCreate)                                                            \
    X(cublasLtMatmulDescDestroy) X(cublasLtMatmulDescSetAttribute)                         \
        X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy)                       \
            X(cublasLtMatrixLayoutSetAttribute)
/* clang-format on */

#define X(form, symbol, whole, type, compute) void symbol(void);
GT_SHIM_GEMMS(X)
#undef X
#define X(symbol) void symbol(void);
GT_SHIM_OTHERS(X)
MORE(X)
#undef X

void *find_linked(const char *name) {
    static const struct {
        const char *name;
        void (*function)(void);
    } rows[] = {
#define X(form, symbol, whole, type, compute) {#symbol, symbol},
        GT_SHIM_GEMMS(X)
#undef X
#define X(symbol) {#symbol, symbol},
            GT_SHIM_OTHERS(X) MORE(X)
#undef X
    };
    unsigned (*direct)(void *, unsigned, unsigned, int, int, int, const void *,
                       const void *, int, const void *, int, const void *, void *, int) =
        direct_sgemm;
    void *found = NULL;
    if (strcmp(name, "cublasSgemm_v2") == 0) {
        memcpy(&found, &direct, sizeof found);
        return found;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            memcpy(&found, &rows[i].function, sizeof found);
    return found;
}
