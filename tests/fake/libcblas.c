/* SPDX-License-Identifier: Apache-2.0 */
/* libcblas.c - a CBLAS that says nothing of itself, as the reference one. */
#include "tests/fake/cblas.h"
