#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# row_order_ptx.sh - rows of C have the same bits for every m, batch and group: the families of CUDA, on the software
# GPU.
. "$GT_SRC/tests/tune/lib.sh"
export GEMMTUNE_CACHE_DIR="$TMPDIR/cache"

use_software_gpu
row_order=$GT_BUILD/tests/device/row_order
# rows DEVICE PROBLEM FAMILY POINT [starts]: none may differ
rows() {
    is_mine || return 0
    export FAKE_CUDA_DEVICE="$1"
    shift
    out=$("$row_order" "$1" "$2" "$3" 70 2 ${4:+"$4"} 2>&1)
    is "$1 by $2 $3: $out" "exit $?" "exit 0"
}
small="BM=64 WGM=1 STAGES=2 GROUP=1 REPACK=0"
FAKE_CUDA_DEVICE=h200 GEMMTUNE_LIBOPENCL=/nowhere "$GT_BUILD/tests/device/test_fold" >"$TMPDIR/out" 2>&1
is "parts of k that a block folds, as splits and clusters" "exit $?$(grep FAILED "$TMPDIR/out")" "exit 0"
has "clusters were compared" "$(cat "$TMPDIR/out")" "split ones and of 3 clusters"
rows h200 bf16-nt-64x48x160,row_order wgmma "$small BN=16"
rows h200 bf16-nt-64x48x320,row_order wgmma "$small BN=16 SPLIT=2"
# A cluster adds the parts, or a block computes them in turns: a record of each kind, and starts of the other kind.
rows h200 bf16-nt-64x48x768,row_order wgmma "$small BN=16 SPLIT=4 REDUCE=1" starts
rows h200 f16=f32-nn-64x48x768,row_order wgmma "$small BN=16 SPLIT=4 REDUCE=2 PERSIST=1" starts
if is_mine; then # more tiles than blocks
    FAKE_CUDA_DEVICE=h200 "$GEMMTUNE" trial bf16-nt-8x1088x256,row_order --untimed --timeout 200 --device 0 --family wgmma --point "$small \
        BN=8 WGN=1 CM=1 CN=1 PERSIST=1 PINGPONG=0 MINB=1 SPLIT=2 REDUCE=2 TAIL=0 SWAP=0 STORE=0 RS=0 PRODUCERS=0" \
        >"$TMPDIR/out" 2>&1
    has "blocks that take tiles in turns, parts of each in turns" "$(cat "$TMPDIR/out")" "correct"
fi
rows h200 tf32-nt-64x48x64,row_order mma "VA=16 VB=16"
rows a100 f16-nn-64x40x72,row_order,epi=bias_gelu mma "SPLIT=2"
rows a100 f64-nn-64x40x48,row_order dmma "SLICES=2"
rows h200 f32-nn-64x40x48,row_order multistage "SPLIT=2 GROUP=1"
rows h200 f32-nn-64x40x64,row_order multistage "FOLD=2"
rows h200 f32-nt-64x40x64,row_order skinny "LANES=8"
rows a100 f32@split-nt-64x40x48,row_order triple ""
exit "$bad"
