#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# epilogue.sh - problems with an epilogue, on the first device: every family is right with each kind
# of operand, each type and a second output; a plain product's record serves them; they are tuned,
# looked up by meaning, and verified.
. "$GT_SRC/tests/tune/lib.sh"

# right FAMILY PROBLEM [POINT]: a ragged problem at the family's default point, or with some other values.
right() {
    "$GEMMTUNE" trial "$2" --device 0 --untimed --family "$1" --point "${3:-}" >"$TMPDIR/out" 2>&1
    has "$1: $2" "$(cat "$TMPDIR/out")" 'correct'
}
right naive 'f64-nt-33x18x20,beta,epi=s:f32;q[i,j]:i8;d=x*s-q[i,j]'
right tile 'i32-tn-33x18x20,epi=b[i]:e4m3;d2[i,j]:i8;d2=x;d=max(x,c)*b[i]'
right block 'bf16-nn-65x72x36,epi=dequantise_bias_gelu'
right multistage 'f32-tt-65x72x36,beta,epi=swiglu'
# So many elements that the host makes their ranges in two slabs of rows.
right tile 'f64-nn-2051x2100x1,epi=residual'
# A NaN becomes 0 as an integer, in arithmetic of floats and of integers.
right naive 'f32-nn-33x18x20,epi=d2[i,j]:i8;d2=log(x);d=abs(i8(x/0)+1)'
right block 'bf16-nn-65x72x36,epi=d=i32(sqrt(x))'
right tile 'f64-tn-33x18x20,epi=d=i8(sqrt(x))-i32(log(x))'
right tile 'i32-tn-33x18x20,epi=d2[i,j]:f32;d2=i8(log(x));d=i8(x/0)+i32(sqrt(x))'
# A NaN stays one in functions that compare.
right naive 'f32-nn-33x18x20,epi=d=relu(sqrt(x));d2=min(log(x),1)'
right tile 'f64-tn-33x18x20,epi=d=max(log(x),x)'
# Numbers beyond all integers, known to the compiler or not, and functions far below 0.
right naive 'i8-nn-33x18x20,epi=d2=-3e9;d=2147483648'
right vector 'i8-nn-33x18x20,epi=d2=i32(1e30)+x;d=x*1e30'
right naive 'f32-nn-33x18x20,epi=d2=gelu_tanh(x*1e9);d=silu(-1e30*abs(x))+gelu(x*1e30)'
right tile 'f64-nn-33x18x20,epi=d2=gelu_tanh(x*1e9);d=gelu(x*3)'
# Integers that are rounded once to 16 bits, though no f32 holds them.
right naive 'i8=bf16-nn-33x18x20,beta,epi=d2=x;d=max(acc*16842753,c)'
right vector 'i8=bf16-nn-33x18x20,epi=d2[i,j]:f32;d2=bf16(acc*16842753);d=-acc*16842753'
# Batches: operands with rows have the rows of all products, others serve all of them. C's products
# lie side by side, have gaps or none, and a kernel has a workspace for each.
right tile 'f64-tn-33x18x20,batch=3,epi=s:f32;d2=x;d=s*x+r[i,j]*b[j]+q[i]'
right multistage 'f32-nt-65x72x36,batch=2,ldc=200,sc=72,beta,epi=swiglu'
right skinny 'f32-nn-5x130x70,batch=3,sc=700,epi=row_bias_silu'
# Operands with a value or a row for each product, or for each group of rows. Rows that no group or product has
# are left as they are.
right tile 'f64-tn-33x18x20,batch=3,epi=scale_batch_batch_bias'
right multistage 'f32-nt-200x72x36,groups=5,beta,epi=batch_bias_swiglu'
right vector 'f32-nn-200x33x40,groups=5,epi=d=c+x*s[z]+q[i];d2=x'
right block 'bf16-nn-60x72x36,batch=4,masked,epi=d2[i,j]:f32;d=silu(x+b[z,j])*r[i,j];d2=x'
right bundle 'f16-nn-6x6x7,batch=40,epi=scale_batch_batch_bias_swiglu'
# Several products a block: C leaves by pieces that have parts of two rows, by elements where
# there are gaps, and straight from the threads. A block's last group is not full.
right bundle 'f32-nn-9x7x9,batch=33,beta,epi=s:f32;d2[i,j]:bf16;d2=s*x;d=relu(x)+r[i,j]*b[j]+q[i]' "GATHER=1 SHARE=1"
right bundle 'bf16-tn-5x12x3,batch=40,epi=dequantise_bias_gelu' "GATHER=0 SHARE=1 SPREAD=1"
right series 'f32-nn-9x7x9,batch=33,beta,epi=s:f32;d2[i,j]:bf16;d2=s*x;d=relu(x)+r[i,j]*b[j]+q[i]'
right series 'f32-nt-8x8x8,batch=21,ldc=12,sc=100,epi=bias_swiglu' "MR=3 AHEAD=0"
if [ -n "${GT_LONG:-}" ]; then
    right bundle 'f32-nt-8x8x8,batch=21,ldc=12,sc=100,epi=bias_swiglu' "GATHER=1 SPREAD=1"
    right bundle 'i32-nn-6x10x4,batch=37,sb=0,epi=b[i]:e4m3;d2[i,j]:i8;d2=x;d=max(x,c)*b[i]' "GATHER=1"
    right bundle 'f64-tt-9x5x7,batch=9,beta,epi=row_bias_residual' "TM=2 TN=3"
    right series 'f64-tt-9x5x7,batch=9,beta,epi=row_bias_residual'
    right series 'i32-nn-6x10x4,batch=37,sb=0,epi=b[i]:e4m3;d2[i,j]:i8;d2=x;d=max(x,c)*b[i]'
    right naive 'bf16-nn-17x9x5,batch=7,sb=0,epi=dequantise'
    right block 'f32-nn-65x72x36,batch=3,epi=residual_relu'
    right column 'i32-nn-33x18x20,batch=2,epi=d=x+b[i]'
    right coalesced 'f32-tt-36x40x20,batch=2,beta,epi=d=max(x,c)*b[i]'
    right vector 'f32-nn-65x72x36,batch=2,epi=residual'
    right coalesced 'f32-nn-65x72x36,beta,epi=r[i,j]:f16;d2[i,j]:bf16;d2=alpha*x;d=c-r[i,j]'
    right column 'f32-nn-65x72x36,epi=row_bias_silu'
    right vector 'f32-nn-65x72x36,epi=r[i,j]:f16;d2[i,j]:e5m2;d2=x;d=tanh(x)+r[i,j]'
    right skinny 'f32-nn-5x130x70,epi=scale_rows_scale_cols_relu'
    right skinny 'f32-nn-12x130x70,groups=3,epi=batch_bias_silu'
    right naive 'i32-nn-50x9x5,groups=7,epi=s[z]:i32;b[z,j]:i8;d=x*s[z]-b[z,j]'
    right column 'f32-tn-60x33x40,batch=4,masked,epi=scale_rows_residual'
    right series 'f32-nn-5x6x7,batch=40,epi=scale_batch_batch_bias_relu'
    right tile 'f32-nn-33x18x20,epi=batch_bias' # a single product is number 0
fi

db=$TMPDIR/epilogue.db
plain=f32-nn-48x40x32
tune "$plain" --db "$db" --family naive --effort quick
"$GEMMTUNE" lookup "$plain,epi=residual" --device 0 --db "$db" >"$TMPDIR/out"
has "a plain product's record serves an epilogue" "$(cat "$TMPDIR/out")" "from     $plain on"
tune "$plain,epi=bias[j]:f32;d=relu(x+bias[j])" --db "$db" --family naive --effort quick
is "a problem with an epilogue is tuned" "$(sql "$db" \
    "SELECT count(*) FROM record WHERE rank = 0 AND verified = 1")" 2
"$GEMMTUNE" lookup "$plain,epi=bias_relu" --device 0 --db "$db" >"$TMPDIR/out"
has "another spelling finds it" "$(cat "$TMPDIR/out")" "match    exact"
"$GEMMTUNE" verify --device 0 --db "$db" >"$TMPDIR/out" 2>&1
has "both are verified" "$(cat "$TMPDIR/out")" "2 correct, 0 wrong"
has "run checks a batch with one" "$("$GEMMTUNE" run "$plain,batch=3,epi=residual" --device 0 \
    --db "$db" 2>&1)" "checked*correct"
"$GEMMTUNE" explain "$plain,epi=bias_relu" --peak-gflops 1 --bandwidth-gbs 1 >"$TMPDIR/out"
has "explain says what is saved" "$(cat "$TMPDIR/out")" "saved by the epilogue      15 KiB"
"$GEMMTUNE" explain bf16-nn-8x8x8,epi=dequantise_bias_swiglu --peak-gflops 1 --bandwidth-gbs 1 >"$TMPDIR/out"
is "and the operands of a call" "$(sed -n 's/^operands *//p' "$TMPDIR/out")" \
    "sa[i]:f32, sb[j]:f32, bias[j]:bf16, up[i,j]:bf16"
"$GEMMTUNE" explain 'f16-nn-8x8x8,batch=2,epi=d2[i,j]:f32;d2=x;d=relu(x)' --peak-gflops 1 --bandwidth-gbs 1 \
    --json >"$TMPDIR/out"
has "also in JSON" "$(cat "$TMPDIR/out")" '"operands": "d2:f32"'
# C is 64 MiB there, A and B are one each.
thin=f32-nn-4096x4096x64
for epi in swiglu "d2=x;d=relu(x)" d=x+c "d2=x;d=x+c,batch=2"; do
    case $epi in *,batch=2) name="$thin,batch=2,epi=${epi%,*}" ;; *) name="$thin,epi=$epi" ;; esac
    "$GEMMTUNE" explain "$name" --peak-gflops 1 --bandwidth-gbs 1 |
        sed -n 's/^\(footprint\|traffic, perfect kernel\)  *\([0-9]* MiB\).*/\2/p'
done >"$TMPDIR/out"
is "explain counts operands, d2 and a C that is read" "$(tr '\n' ',' <"$TMPDIR/out")" \
    "130 MiB,130 MiB,130 MiB,130 MiB,66 MiB,130 MiB,260 MiB,388 MiB,"
"$GEMMTUNE" stream "$plain,epi=relu" --device 0 >"$TMPDIR/out" 2>&1
has "a host product has none" "$(cat "$TMPDIR/out")" "host products have no epilogues"
exit "$bad"
