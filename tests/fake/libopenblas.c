/* SPDX-License-Identifier: Apache-2.0 */
/* libopenblas.c - a CBLAS that describes itself as OpenBLAS does. */
#include "tests/fake/cblas.h"

#include <stdlib.h>

const char *openblas_get_config(void);
const char *openblas_get_corename(void);

const char *openblas_get_config(void) {
    return "OpenBLAS 1.2.3 NO_AFFINITY Fake MAX_THREADS=2";
}

/* The core type of FAKE_CORE. */
const char *openblas_get_corename(void) {
    const char *core = getenv("FAKE_CORE");
    return core != NULL ? core : "Fake";
}
