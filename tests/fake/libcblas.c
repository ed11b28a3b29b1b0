/* SPDX-License-Identifier: Apache-2.0 */
/* libcblas.c - a CBLAS that does not describe itself, like the reference BLAS. */
#include "tests/fake/cblas.h"
