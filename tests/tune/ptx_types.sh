#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# ptx_types.sh - verification notices mistakes in kernels of tensor cores: zeros, a dropped tail of
# k, a lost row and a wrong scale. The kernels come from `mma` and `wgmma`, on the software GPU. A
# copy of a family has the mistakes as values of one more parameter. Three types are tried, with
# GT_LONG=1 every type.
. "$GT_SRC/tests/tune/lib.sh"

use_software_gpu

# After GT_PRODUCT(). Scales of integers are integers.
mistakes='    GT_PRODUCT();
    if (GT_MISTAKE == 1)
        alpha = 0;
    if (GT_MISTAKE == 2)
        k -= k % BK;
    if (GT_MISTAKE == 3)
        m -= m > 1;
    if (GT_MISTAKE == 4)
        alpha = (gt_acc)0.5 == 0 ? alpha + (alpha != 0) : alpha * (gt_acc)1.01;'

# break_family NAME: its copy is the family "broken"; with MISTAKE=0 it is right.
break_family() {
    rm -rf "$TMPDIR/own"
    mkdir -p "$TMPDIR/own"
    cp -r "$GT_SRC/templates/$1" "$TMPDIR/own/broken"
    sed -e "s/\"family\": \"$1\"/\"family\": \"broken\"/" \
        -e 's/"BM": \([0-9]\)/"MISTAKE": 0, "BM": \1/' \
        -e 's/"BM": \[/"MISTAKE": [0, 1, 2, 3, 4], "BM": [/' \
        "$GT_SRC/templates/$1/space.json" >"$TMPDIR/own/broken/space.json"
    printf '%s\n' "$mistakes" >"$TMPDIR/mistakes"
    sed -e "/^    GT_PRODUCT();/{r $TMPDIR/mistakes" -e 'd}' "$GT_SRC/templates/$1/$1.cu" \
        >"$TMPDIR/own/broken/$1.cu"
}

# types FAMILY POINT TYPE...
types() {
    family=$1 point=$2
    break_family "$1"
    shift 2
    for type; do
        is_mine || continue
        "$GEMMTUNE" trial "$type-nt-33x24x141" --device 0 --untimed --timeout 500s --json \
            --templates "$TMPDIR/own" --family broken --point "$point MISTAKE=0" \
            --point "$point MISTAKE=1" --point "$point MISTAKE=2" --point "$point MISTAKE=3" \
            --point "$point MISTAKE=4" >"$TMPDIR/out" 2>&1
        is "$family, $type: right, zeros, no tail, a row less, scaled" \
            "$(grep -o '"outcome": *"[a-z_]*"' "$TMPDIR/out" | cut -d '"' -f 4 | tr '\n' ' ')" \
            "correct wrong_result wrong_result wrong_result wrong_result "
    done
}

wgmma="BM=64 BN=32 WGM=1 STAGES=3 GROUP=1"
types mma "" bf16
types wgmma "$wgmma" tf32 i8
if [ -n "${GT_LONG:-}" ]; then
    types wgmma "$wgmma" f16=f32 bf16 e4m3@fast e4m3@promoted e5m2+e4m3=f32@fast
    types mma "" f16 tf32 i8
    FAKE_CUDA_DEVICE=l40s
    export FAKE_CUDA_DEVICE
    types mma "" e5m2+e4m3=f16 e4m3@fast
fi
exit "$bad"
