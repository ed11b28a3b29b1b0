#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# extras.sh - families for abilities that only some OpenCL compilers have. Where the device has an ability, a
# trial of the family is right. Elsewhere the family is refused in words, and a copy of it without that rule
# runs in plain C, so that its source is verified on every device.
# check: platform
. "$GT_SRC/tests/tune/lib.sh"

export GEMMTUNE_LIBCUDA=/nowhere
has_extra() {
    "$GEMMTUNE" devices --json 2>/dev/null | grep -q "\"index\": 0, \"backend\": \"opencl\".*\"extras\": \"[^\"]*$1"
}
"$GEMMTUNE" devices --json 2>/dev/null | grep -q '"backend": "opencl"' || {
    echo "ok - abilities of OpenCL compilers # SKIP no OpenCL device"
    exit 0
}

# trial NAME FAMILY PROBLEM POINT WANT
trial() {
    "$GEMMTUNE" trial "$3" --device 0 --untimed --templates "$TMPDIR/own" --family "$2" --point "$4" \
        >"$TMPDIR/out" 2>&1
    has "$1: $2, $3" "$(cat "$TMPDIR/out")" "$5"
}

# plain FAMILY RULE: the family "plain_FAMILY" is a copy without the rule that begins so
plain() {
    mkdir -p "$TMPDIR/own/plain_$1"
    sed -e "s/\"family\": \"$1\"/\"family\": \"plain_$1\"/" -e "/^ *\[\"$2/d" \
        "$GT_SRC/templates/$1/space.json" >"$TMPDIR/own/plain_$1/space.json"
    cp "$GT_SRC/templates/$1/$1.cl" "$TMPDIR/own/plain_$1/"
}

# ---- products of bytes ----
plain dot DOT4
dot="correct"
has_extra dot4 || dot="the device has no instruction for four products of bytes"
trial "products of bytes" dot i8-nt-65x130x71 "" "$dot"
family="dot"
[ "$dot" = correct ] || family="plain_dot"
small="BM=32 BN=32 KW=4 THREADS=32 TM=4 PAD=0 GROUP=1"
trial "without a second pair of slabs" "$family" i8-nn-67x70x45,beta "$small DOUBLE=0" "correct"
trial "... with an epilogue" "$family" i8=bf16-tt-40x37x83,epi=bias_relu "$small" "correct"
trial "loads of four bytes of one operand" "$family" i8-tn-36x33x44,batch=2 "$small VA=4 VB=1" "correct"
trial "loads of sixteen bytes" "$family" i8-nt-48x64x160 "$small VA=16 VB=16" "correct"

# ---- subgroups, which plain C has none of ----
lanes="correct"
has_extra subgroup16 || lanes="the device has no subgroups of this size"
trial subgroups lanes f32-nn-65x67x71,beta "LANES=16" "$lanes"
if [ "$lanes" = correct ]; then
    trial "subgroups that read a row of B" lanes f32-nt-65x67x71 "LANES=16" "correct"
    trial "... at once" lanes i32-nn-64x128x70,batch=2 "LANES=16 READ=1" "correct"
    trial "... and a transposed A" lanes f64-tt-35x37x39 "LANES=16" "correct"
    trial "... with an epilogue" lanes f16-tn-35x37x39,epi=bias_relu "LANES=16" "correct"
fi
exit "$bad"
