#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# opencl_ptx.sh - families with PTX in OpenCL C, as NVIDIA's OpenCL takes it, without a GPU: clang compiles them to
# PTX, and tests/ptx/ runs it under a fake OpenCL (tests/fake/opencl/). Whole trials; GT_LONG=1: more of them.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

fake=$GT_BUILD/tests/fake/libopencl_ptx.so
if [ -n "${GT_SAN:-}" ] || [ ! -e "$fake" ] ||
    ! "${FAKE_OPENCL_CLANG:-clang}" --print-targets 2>/dev/null | grep -q nvptx64; then
    echo "ok - PTX in OpenCL C # SKIP no clang for it, or sanitizers in use"
    exit 0
fi
export GEMMTUNE_LIBCUDA=/nowhere GEMMTUNE_LIBOPENCL="$fake"

# trial CC FAMILY PROBLEM POINT [PATTERN]
trial() {
    is_mine || return 0
    FAKE_OPENCL_CC=$1 "$GEMMTUNE" trial "$3" --device 0 --untimed --timeout 500s --family "$2" --point "$4" \
        >"$TMPDIR/out" 2>&1
    has "$2 with PTX for $1: $3 $4" "$(cat "$TMPDIR/out")" "${5:-outcome    correct}"
}

has "the device says what its compiler takes" "$(FAKE_OPENCL_CC=75 "$GEMMTUNE" devices --json)" '"extras": "ptx75"'

trial 80 mma bf16-nt-65x72x72 "VA=16 VB=16 AHEAD=1"
trial 75 mma f16-nn-65x131x70,beta "SPLIT=3"
trial 80 mma i8-tt-65x130x71 "VA=16 VB=16 REPACK=3"
trial 75 mma bf16-nt-65x72x72 "" "needs a newer compute capability"
trial 61 mma f16-nt-65x72x72 "" "needs a newer compute capability"
trial 61 dot i8-nt-65x70x71 ""
trial 60 dot i8-nt-65x70x71 "" "no instruction for four products of bytes"
if [ -n "${GT_LONG:-}" ]; then
    trial 80 mma tf32-tn-40x44x52 "VA=16 VB=16 KBYTES=128 BM=32 BN=64 WM=32 WN=32 SLICES=2 GROUP=1"
    trial 89 mma e4m3-nn-48x32x80 ""
    trial 89 mma e5m2+e4m3=f16@fast-tn-48x32x80 "VA=16 VB=16"
    trial 80 mma bf16-nt-384x384x128 "BM=128 BN=128 WM=64 WN=32 TAIL=2 VA=16 VB=16 AHEAD=1"
    trial 80 mma bf16-nn-40x40x72,batch=3,epi=bias_relu "SPLIT=2 VA=16 VB=16"
    trial 80 mma bf16-nn-100x40x72,groups=3 ""
    trial 80 mma bf16-nt-50x40x72,batch=3,masked,rows=20 "VA=16 VB=16"
fi
exit "$bad"
