#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# ptx.sh - families that need CUDA, without a GPU: a real NVRTC compiles them to PTX, and
# tests/ptx/ runs it under the fake driver. The default and the starts of every family run on
# a ragged problem in each layout, and on batches. So do a few other points, always the same
# ones. GT_LONG=1: more of everything.
. "$GT_SRC/tests/tune/lib.sh"

use_software_gpu
each_family=$GT_BUILD/tests/device/each_family

"$GT_BUILD/tests/device/test_pack" >"$TMPDIR/out" 2>&1
is "gemmtune_pack, and products with its output" "exit $?$(grep FAILED "$TMPDIR/out")" "exit 0"

"$GT_BUILD/tests/device/test_odd_pointers" >"$TMPDIR/out" 2>&1
is "matrices that begin at any element" "exit $?$(grep FAILED "$TMPDIR/out")" "exit 0"

FAKE_CUDA_DEVICE=h200 FAKE_CUDA_ORDER=1 "$GT_BUILD/tests/device/test_one_call" >"$TMPDIR/out" 2>&1
is "workspaces of one-call forms: streams, threads, captures" "exit $?$(grep FAILED "$TMPDIR/out")" "exit 0"

FAKE_CUDA_DEVICE=h200 GEMMTUNE_LIBOPENCL=/nowhere GT_SHARE="${GT_SHARE:-0/4}" \
    "$GT_BUILD/tests/device/test_drawn" >"$TMPDIR/out" 2>&1
is "drawn problems with drawn kernels, workspaces and offsets" "exit $?$(grep -A 1 FAILED "$TMPDIR/out")" "exit 0"

# starts DEVICE PROBLEM FAMILY [OPTION...]: its default and starts, which must be right or refuse
# the problem; at least one must run. Options as of each_family.
starts() {
    is_mine || return 0
    row="$3 on $1: $2"
    export FAKE_CUDA_DEVICE="$1"
    shift
    "$each_family" "$@" >"$TMPDIR/out" 2>&1
    code=$?
    shift 2
    ran=$(grep -c '^ok' "$TMPDIR/out")
    is "$row $*" "exit $code, $([ "$ran" -gt 0 ] && echo some ran)$(grep -v -e '^ok' -e '^refused' \
        -e '^random' "$TMPDIR/out")" "exit 0, some ran"
}

# A row each: device, family, type, shape. Rows of a multiple of 16 bytes let copies of 16 bytes
# and tensor maps take part.
few='h200 dmma f64 65x130x70
h200 tma f32 65x132x72
rtx5090 tma f32 65x132x72
h200 limbs i32 65x130x70
t4 dot i8 64x144x176
h200 multistage f32 65x132x72
a100 mma bf16 72x136x272
l40s mma e4m3 80x48x272
a100 triple f32@bf16x3 65x132x72
h200 triple f32@split 65x132x72
h200 triple f32@bf16x3 64x64x64
h200 wgmma bf16 136x144x152
h200 wgmma i8 48x144x272
h200 wgmma bf16 65x147x71
h200 bundle f32 13x9x7,batch=21
h200 tailored f32 65x47x39,batch=5
h200 pipeline f16 33x17x41,batch=9
h200 pipeline f32 10x12x36,batch=11
h200 mma bf16 40x40x404,batch=3,sb=0
h200 limbs i32 20x33x70,batch=3,sc=700'
many='h200 dmma f64 33x17x41
t4 remainder f64@residues 65x66x70
h200 tma i32 65x132x72
a100 dmma f64 66x34x40
a100 limbs i32 65x130x70
a100 multistage f64 33x66x40
h200 tile bf16=f32 33x64x40
l40s naive bf16 33x64x41
t4 multistage i32 33x66x41
t4 mma f16 72x136x72
t4 mma i8 65x130x70
t4 dot i8 65x130x70
t4 dot i8 33x36x44,batch=3,sb=0
a100 mma tf32 65x132x72
a100 mma i8 80x144x272
h200 mma bf16=f32 65x131x70
l40s triple f32@bf16x3 33x67x41
l40s mma e5m2+e4m3=f16@fast 80x48x272
rtx5090 mma f16=f32 65x131x70
h200 skinny f32 5x130x70
h200 skinny f32 2x64x300
h200 skinny f32 1x64x300
h200 skinny f32 64x1x300
h200 block f32 65x132x72
h200 bundle f64 10x10x100,batch=5
a100 bundle bf16 16x16x16,batch=33
t4 bundle f16=f32 33x17x4,batch=7
l40s bundle i32 64x64x64,batch=2
a100 tailored f64 51x70x36,batch=3,sb=0
t4 tailored i32 100x40x52,batch=3,sc=4100
h200 pipeline f64 24x24x24,batch=7,sa=0
a100 pipeline bf16 64x64x16,batch=5
l40s pipeline f16=f32 24x20x40,batch=13,sc=600
rtx5090 pipeline i32 7x9x10,batch=30,sb=100
h200 pipeline e4m3=f16 16x16x12,batch=40
h200 column f64 65x132x72
h200 wgmma f16=f32 33x17x41
h200 wgmma tf32 64x72x88
h200 wgmma f16 65x67x333
h200 wgmma e4m3+e5m2=f16@fast 136x80x144
h200 dmma f64 40x40x134,batch=3,sa=0,sc=1602
h200 multistage f32 40x36x270,batch=3,sc=1440
a100 mma i8 40x33x132,batch=3,sa=5281
rtx5090 skinny f32 5x132x134,batch=3,sb=0
h200 block f32 24x40x48,batch=3,ldc=120,sc=40
h200 column f64 24x40x48,batch=3
h200 coalesced f32 20x33x21,batch=5'
layouts="nn tt"
if [ -n "${GT_LONG:-}" ]; then
    few="$few
$many"
    layouts="nn nt tn tt"
fi
while read -r device family type shape; do
    for layout in $layouts; do
        starts "$device" "$type-$layout-$shape" "$family"
    done
done <<END
$few
END

# Infinities, NaNs, subnormal numbers and numbers near overflow give what they give in f32.
for layout in $layouts; do
    starts h200 "f32@split-$layout-64x68x40" triple special
done
starts h200 f32@bf16x3-nt-64x68x40 triple special

# Points that nobody chose: device, problem, family, how many.
drawn='h200 f32@bf16x3-nn-64x64x64 triple 8'
if [ -n "${GT_LONG:-}" ]; then
    drawn="$drawn
h200 f32@split-tn-65x132x72 triple 30
h200 bf16-nt-136x144x152 wgmma 20
h200 tf32-nn-72x132x136 wgmma 20
a100 bf16-nn-65x131x70 mma 20
h200 f32-tn-65x132x72 tma 20
a100 f32-nn-65x132x72 multistage 20
h200 f64-nn-65x130x72 dmma 20
t4 i8-nn-68x132x148 dot 20
t4 i8-tt-65x131x149 dot 10
h200 f16-nn-33x17x41,batch=9 pipeline 20
h200 f32-nt-13x9x7,batch=21 bundle 20
h200 f32-nt-65x47x39,batch=5 tailored 20
h200 f32-tn-130x100x20,batch=2 tailored 20
h200 f64-nt-65x46x40,batch=3 tailored 20
h200 f16-nn-65x46x40,batch=3 tailored 20"
fi
while read -r device problem family count; do
    starts "$device" "$problem" "$family" random 1 "$count"
done <<END
$drawn
END

exit "$bad"
