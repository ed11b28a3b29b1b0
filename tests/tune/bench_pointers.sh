#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# bench_pointers.sh - batches behind arrays of pointers against vendors' libraries, on the software GPU: the fake compiler
# does not know their kernels.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"
use_software_gpu
export FAKE_CUDA_DEVICE=h200 GEMMTUNE_LIBCUBLAS="$fake/libcublas.so" GEMMTUNE_LIBCUBLASLT="$fake/libcublas.so"

# pointed PROBLEM RIVALS: what is compared with it
pointed() {
    is_mine || return 0
    "$GEMMTUNE" bench --device 0 --rounds 6 "$1" --json >"$TMPDIR/out" 2>"$TMPDIR/err"
    is "$1: exit 0" $? 0
    is "$1: cuBLAS alone, and right" "$(sql :memory: "
        SELECT json_extract(value, '\$.outcome') || '|' || json_extract(value, '\$.note')
        FROM json_each(json_extract(readfile('$TMPDIR/out'), '\$.lines'))" | sed 's/[ 0-9.]* us//g')" "correct|$2"
}
pointed f32-nn-6x5x7,batch=3,pointers cublas
pointed f64-tn-9x8x4,batch=5,pointers,beta cublas
pointed f32-nn-32x24x16,batch=3,pointers,epi=row_bias cublas+kernel
exit "$bad"
