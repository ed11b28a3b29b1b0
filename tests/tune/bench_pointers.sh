#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# bench_pointers.sh - batches behind arrays of pointers against vendors' libraries, on the software GPU: the fake compiler
# does not know their kernels.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"
use_software_gpu
export FAKE_CUDA_DEVICE=h200 GEMMTUNE_LIBCUBLAS="$fake/libcublas.so" GEMMTUNE_LIBCUBLASLT="$fake/libcublas.so"

"$GEMMTUNE" bench --device 0 --rounds 6 f32-nn-6x5x7,batch=3,pointers \
    f64-tn-9x8x4,batch=5,pointers,beta f32-nn-32x24x16,batch=3,pointers,epi=row_bias --json >"$TMPDIR/out" 2>"$TMPDIR/err"
is "batches behind pointers: exit 0" $? 0
is "batches behind pointers: cuBLAS alone, and right" "$(sql :memory: "
    SELECT json_extract(value, '\$.outcome') || '|' || json_extract(value, '\$.note')
    FROM json_each(json_extract(readfile('$TMPDIR/out'), '\$.lines'))" | sed 's/[ 0-9.]* us//g')" \
    "correct|cublas
correct|cublas
correct|cublas+kernel"
exit "$bad"
