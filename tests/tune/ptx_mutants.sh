#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# ptx_mutants.sh - families that need CUDA with a mistake in their source, on the software GPU: a
# trial refuses each with a sentence that names the mistake. GT_LONG=1: more of them.
. "$GT_SRC/tests/tune/lib.sh"

use_software_gpu

# Batches of small products: more groups than blocks, so that the ring turns round.
thin=f32-nn-4x4x512,batch=1100
turns="PRODUCTS=4 TM=2 TN=4 SLICES=8 STAGES=2"

own=$TMPDIR/own/mutant

# copy FAMILY FROM TO: a copy of a family with FROM replaced by TO in its sources.
copy() {
    rm -rf "$own"
    mkdir -p "$own"
    for file in "$GT_SRC/templates/$1"/*; do
        case $file in
        *.json) edit="s/\"family\": \"$1\"/\"family\": \"mutant\"/" ;;
        *) edit="s/$2/$3/" ;;
        esac
        sed "$edit" "$file" >"$own/${file##*/}"
    done
}

# refused WHAT PROBLEM POINT PATTERN: a trial of the copy is refused with a sentence that matches.
refused() {
    "$GEMMTUNE" trial "$2" --device 0 --untimed --timeout 500s --templates "$TMPDIR/own" \
        --family mutant --point "$3" >"$TMPDIR/out" 2>&1
    has "$1: $4" "$(cat "$TMPDIR/out")" "$4"
}

# mutant FAMILY FROM TO PROBLEM POINT PATTERN: the trial of such a copy is refused. That there is
# a place for the mistake is checked every time.
mutant() {
    copy "$1" "$2" "$3"
    diff -q -x space.json "$GT_SRC/templates/$1" "$own" >"$TMPDIR/out" &&
        is "mutant of $1: $2" unchanged changed
    is_mine || return 0
    refused "$1 with '$3' for '$2'" "$4" "$5" "$6"
}

# mutant_of_split FROM TO PROBLEM POINT PATTERN: a copy of triple that has templates/common/split.h
# as a file of its own, in which FROM is replaced by TO.
mutant_of_split() {
    copy triple '^' ''
    sed -i 's/"split", //;s/"cuda": \[/&"split.h", /;s/SPLIT_DEPTH/32/' "$own/space.json"
    sed "s/$1/$2/" "$GT_SRC/templates/common/split.h" >"$own/split.h"
    cmp -s "$GT_SRC/templates/common/split.h" "$own/split.h" &&
        is "mutant of split.h: $1" unchanged changed
    is_mine || return 0
    refused "split.h with '$2' for '$1'" "$3" "$4" "$5"
}
# Slabs that reach into the next matrix of a batch, and its first row may be NaN.
if is_mine; then
    copy wgmma '^' ''
    sed -i 's/"PLANES": ".*"/"PLANES": "0"/' "$own/space.json"
    refused "wgmma without planes" bf16-nn-100x80x136,batch=3 \
        "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0 STORE=1" "is nan, not"
fi
wgmma="ENGINE=1 CLUSTER=1 BM=128 BN=64 BK=128 WM=64 WN=64 STAGES=4 GROUP=8"
mutant limbs 'GT_WGMMA_WAIT(1);' 'GT_WGMMA_WAIT(2);' i32-nt-33x66x700 "$wgmma" \
    "which a wgmma in flight reads, has been overwritten"
mutant limbs 'gt_await_slab(.*' 'gt_warp_barrier();' i32-nt-33x66x700 "$wgmma" "a copy to it is under way"
wide="ENGINE=1 BM=128 BN=128 KBYTES=128 WM=16 WN=128"
mutant triple 'add(sum, a->low, b->high, h);' '' f32@bf16x3-nn-33x67x40 "SPLIT=1" "elements wrong"
mutant triple 'add_product(sum, x\[j\].high, low);' '' f32@split-nn-33x67x40 "$wide" \
    "elements wrong"
mutant triple 'gt_async_sees_stores();' '' f32@split-nn-33x67x40 "$wide" "proxy"
# A splitter tells before it stores.
early='if (t % 32 == 0) gt_barrier_arrive(r->full + turn.stage * 8);'
mutant triple 'gt_barrier_wait(r->empty.*' "&$early/;s/^        gt_barrier_arrive(r->full.*/        ;" \
    f32@split-nn-33x67x40 "$wide" "which a wgmma in flight reads, has been overwritten"
# Each way to C with an epilogue: beta counts twice, and the activation comes before the bias.
twice='to->beta, old' sums='gt_load_c(wide, old, to->c + place'
relu='for (int x = 0; x < wide; x++) sum[x] = gt_relu(sum[x]);'
for case in "mma bf16-nn-33x24x17" "triple f32@split-nn-33x24x17"; do
    family=${case% *} problem=${case#* }
    mutant "$family" "sum, $twice" "sum, to->beta * $twice" "$problem,beta,epi=bias_relu" "" "elements wrong"
    mutant "$family" "$sums" "$relu $sums" "$problem,epi=bias_relu" "" "elements wrong"
done
mutant dmma "+ GN), $twice\|), to->beta," "), to->beta * to->beta," f64-nn-33x66x40,beta,epi=bias_relu "" "elements wrong"
mutant wgmma 'gt_result_of(0, alpha, sum' 'gt_result_of(0, alpha, gt_relu(sum)' bf16-nt-72x264x72,epi=bias_relu \
    "BM=64 BN=256 WGM=1 STAGES=5 GROUP=1 REPACK=0 STORE=1" "elements wrong"
mutant remainder 'alpha, sum\[e\],' 'alpha, gt_relu(sum[e]),' f64@residues-nn-33x66x40,epi=bias_relu "" "elements wrong"
mutant wgmma 'GT_CDIV(16 \/ GT_SIZEOF_C, 8)' 1 i8=i8-nt-70x150x48,ldc=151,epi=dequantise \
    "BM=64 BN=160 WGM=1 STAGES=3 GROUP=1" "elements wrong"
few=f32-nn-65x50x39,batch=3
mutant tailored 'acc, to.beta, old' 'acc, to.beta * to.beta, old' $few,beta,epi=bias_relu \
    "BM=48 BN=64 BK=8 TM=6 TN=4" "elements wrong"
mutant pipeline 'gathered_element(' 'gathered_element(/;s/c, sums\[j\] GT_PLACE/c, gt_relu(sums[j]) GT_PLACE' \
    f32-nn-9x7x9,batch=33,epi=bias_relu "PRODUCTS=4 TM=3 TN=4 STAGES=3 BULK=1" "elements wrong"
# Sums that are never promoted, and parts that are cut off instead of rounded: each fails its case.
steep="20x36x4096*elements wrong"
mutant triple 'promote(total, sum);' 'if (s == slabs - 1) promote(total, sum);' f32@bf16x3-nn-33x67x40 \
    "SPLIT=1" "$steep"
mutant triple 'total\[e\] += sum' 'total[e] = sum/;s/if (j == 0)/if (0)' f32@split-nn-33x67x40 "$wide" \
    "$steep"
mutant_of_split 'x + 0x1000u' 'x' f32@split-nn-33x67x40 "$wide" "36x20x1,*elements wrong"
mutant_of_split 'cvt.rn.bf16x2' 'cvt.rz.bf16x2' f32@bf16x3-nn-33x67x40 "SPLIT=1" "elements wrong"
mutant dmma 'GT_COPY_WAIT(STAGES - 2)' 'GT_COPY_WAIT(STAGES - 1)' f64-nn-33x66x140 "AHEAD=1" \
    "a copy to it is under way"
# Tiles in turns: tiles of another product, tiles that are announced too late, another group's rows.
tiles="BM=32 BN=32 BK=16 WM=16 WN=16 STAGES=3 GROUP=1 TAIL=1 AHEAD=0"
mutant dmma 'step->b, of.group' 'step->b, 0' f64-nn-40x40x24,batch=3 "$tiles" "elements wrong"
mutant dmma 'QUEUE = STAGES + 2' 'QUEUE = STAGES' f64-nt-70x40x16,batch=100 "$tiles" "elements wrong"
mutant dmma 'x.row = ' 'x.row = 0 * ' f64-nn-150x40x24,groups=5,epi=residual "$tiles" "elements wrong"
mutant dmma 'step->b, of.group' 'step->b, 0' f64-nn-40x40x24,batch=3,pointers,align=8 "$tiles" "elements wrong"
mutant wgmma 'GT_WGMMA_WAIT(1);' 'GT_WGMMA_WAIT(2);' i8-nn-40x80x400 \
    "BM=64 BN=32 WGM=1 STAGES=4 GROUP=1 REPACK=0 SWAP=1 RS=1" "a wgmma in flight"
mutant wgmma 'PROMOTE = GT_PROMOTE' 'PROMOTE = 0/;s/^#if !GT_PROMOTE/#if 1' \
    e4m3@promoted-nt-40x32x1152 "BM=64 BN=32 WGM=1 STAGES=4 GROUP=1 REPACK=0" "elements wrong"
mutant mma '    GT_PRODUCT();' '    GT_PRODUCT(); b = all_b[0];' \
    bf16-nn-20x24x40,batch=3,pointers,align=16 "" "elements wrong"
mutant mma '    GT_PRODUCT();' '    GT_PRODUCT(); m -= m < GT_SLOT_ROWS;' \
    bf16-nt-70x24x40,groups=3 "" "elements wrong"
mutant wgmma 'SWAP ? BEFORE_A : BEFORE_B' '0' bf16-nt-70x24x40,groups=3 \
    "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0" "elements wrong"
# Parts of tiles: one without its last slab; sums in the place of another part.
shares="BM=64 BN=32 WGM=1 STAGES=2 GROUP=1 PERSIST=1 REPACK=0 TAIL=1"
mutant wgmma 'part.slabs : 0' 'part.slabs - 1 : 0' i8-nt-40x40x1008 "$shares" "elements wrong"
mutant wgmma 'w->tile, w->part,' 'w->tile, 0,' i8-nt-40x40x1008 "$shares" "elements wrong"
walk="BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0 PERSIST=1 STORE=1"
mutant wgmma '(SWAP ? cols : rows) < TURN_LINES' 0 bf16-nt-70x24x40,groups=3 "$walk" "elements w"
mutant wgmma 'it.ahead_y = GROUPED_Y ? .*' 'it.ahead_y = 0;' bf16-nt-70x24x40,groups=3 "$walk" "elements wrong"
# An epilogue of groups: the operands of another group, and rows of a group that count from 0.
mutant wgmma 'it.product = of.group;' 'it.product = 0;' bf16-nt-70x24x40,groups=3,epi=batch_bias "$walk" \
    "elements wrong"
mutant wgmma 'it.rows_ahead = GT_GROUPED ? .*' 'it.rows_ahead = 0;' bf16-nt-70x24x40,groups=3,epi=residual "$walk" \
    "elements wrong"
mutant mma '    GT_PRODUCT();' '    GT_PRODUCT(); gt_z = 0;' bf16-nt-70x24x40,groups=3,epi=batch_bias "" \
    "elements wrong"
mutant mma '    GT_PRODUCT();' '    GT_PRODUCT(); gt_op_0 -= gt_rows_ahead * gt_ld_0;' \
    bf16-nt-70x24x40,groups=3,epi=residual "" "elements wrong"
mutant mma '    GT_PRODUCT();' '    GT_PRODUCT(); gt_op_0 -= gt_product * m;' \
    bf16-nn-20x24x40,batch=3,pointers,align=16,epi=row_bias "" "elements wrong"
# Matrices of C one after another in memory, whatever their pointers say.
first='for (int z = 0; z < batch; z++) c = GT_MIN(c, all_c[z]);'
mutant mma '    GT_PRODUCT();' "    GT_PRODUCT(); $first c += gt_product * m * n;" \
    bf16-nn-20x24x40,batch=3,pointers,align=16,epi=row_bias "" "elements wrong"
# Where no products bring the warps together (k = 0), the vectors of an epilogue need a barrier. With this
# seed a warp is slow to copy them.
export FAKE_CUDA_SEED=2
# Panels of C: copies that are there already are copied from nowhere.
panels="BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=7"
mutant wgmma '&& a != 0,' ',' bf16-nn-128x128x71 "$panels" "is in no allocation"
mutant wgmma '&& b != 0,' ',' tf32-nn-256x128x75 "$panels" "is in no allocation"
# Slabs by loads of threads: what a tensor copy would do by itself.
loose="BM=64 BN=64 WGM=1 STAGES=3 GROUP=8 REPACK=0 PRODUCERS=4"
mutant wgmma 'gt_async_sees_stores();' ';' bf16-nn-65x67x371 "$loose" "proxy"
mutant wgmma 'gt_repack_cut(words, there);' ';' bf16-nt-65x67x371 "$loose" "elements wrong"
mutant wgmma 'gt_group_barrier(.*have copied their vectors.*' ';' bf16-nn-200x264x72,epi=bias_silu \
    "BM=64 WGM=1 PERSIST=1 STORE=0 REPACK=0" "elements wrong"
unset FAKE_CUDA_SEED
mutant wgmma 'gt_barrier_wait(r->empty + turn->stage \* 8, .*' ';' bf16-tn-65x67x371 "$loose" "a wgmma in flight"
# A matrix operand that comes through the boxes of C.
mutant wgmma 'GT_COPY_WAIT(READING);' ';' bf16-nt-72x264x72,epi=residual \
    "BM=64 BN=256 WGM=1 STAGES=5 GROUP=1 REPACK=0 STORE=1" "a copy to it is under way"
mutant pipeline 'GT_COPY_WAIT(STAGES - 2)' 'GT_COPY_WAIT(STAGES - 1)' $thin "$turns" \
    "a copy to it is under way"
mutant pipeline 'gt_barrier_wait(full, parity);' ';' $thin "$turns BULK=1" \
    "a copy to it is under way"
mutant pipeline 'gt_async_sees_stores();' '' $thin "$turns BULK=1" "proxy"
mutant pipeline 'ring + last \* STAGE' 'ring + stage * STAGE' $thin "$turns" "a copy to it is"
mutant pipeline 'GT_COPY_WAIT(0);' '' $thin,pointers,align=16 "$turns BULK=0" "a copy to it is under way"
mutant pipeline 'GT_BARRIER(); .* pointers are there.*' '' $thin,pointers,align=16 "$turns BULK=0" \
    "cp.async of 16 bytes from"
mutant pipeline 'GT_PLACE(group \* COUNT \* ROWS, 0)' 'GT_PLACE(0, 0)' f16-nn-9x7x9,batch=33,epi=row_bias \
    "PRODUCTS=4 TM=3 TN=4 STAGES=3" "elements wrong"
mutant pipeline 'gt_i + product \* ROWS + row, gt_j' 'gt_i + row, gt_j' f16-nn-9x7x9,batch=33,epi=row_bias \
    "PRODUCTS=4 TM=3 TN=4 STAGES=3" "elements wrong"
mutant pipeline 'const int left = there.*' 'const int left = 16;' f16-nn-21x20x36,batch=9 \
    "ENGINE=1 PRODUCTS=1 TM=32 TN=32 STAGES=2 PAD=1" "elements wrong"
# Runs that begin within a piece: the rest of the last piece, the part of the first piece of C.
mutant pipeline 'if (whole < end)' 'if (0)' f16-nn-5x3x7,batch=101 "PRODUCTS=1 TM=2 TN=2 STAGES=2 BULK=1" "elements wrong"
mutant pipeline '(VECTOR_C - c.shift) % VECTOR_C' '0' f16-nn-5x3x7,batch=101 "PRODUCTS=1 TM=2 TN=2 STAGES=2 BULK=1" \
    "a bulk copy"
mutant pipeline 'if (!EVEN \&\& e < RUN)' 'if (0)' f16-nn-5x3x7,batch=101 "PRODUCTS=1 TM=2 TN=2 STAGES=2 BULK=1" \
    "elements wrong"
mutant pipeline '(int)(group % piece) \* run % piece' '0' f16-nn-5x3x7,batch=101 "PRODUCTS=1 TM=2 TN=2 STAGES=2 BULK=1" \
    "is no multiple of 16"
mutant pipeline '(DEEP % 32 > 4 ? 32 : 16)' '16' f16-nt-33x20x31,batch=9 \
    "ENGINE=1 PRODUCTS=1 TM=16 TN=32 STAGES=2" "elements wrong"
# A rest of four k's fits one instruction, a rest of five does not.
mutant pipeline '(DEEP % 32 > 4 ? 32 : 16)' '16' f16-tn-33x31x37,batch=9 \
    "ENGINE=1 PRODUCTS=1 TM=48 TN=32 STAGES=2" "elements wrong"
# The first and the last piece of an odd run that a neighbour has a part of, copied by all threads.
mutant pipeline 'else if (!EVEN \&\& e \* VECTOR < end)' 'else if (0)' f16-nn-5x3x7,batch=101 \
    "PRODUCTS=1 TM=2 TN=2 STAGES=2 BULK=0" "elements wrong"
mutant pipeline 'end - e \* VECTOR);' 'end - e * VECTOR - 1);' f16-nn-5x3x7,batch=101 \
    "PRODUCTS=1 TM=2 TN=2 STAGES=2 BULK=0" "elements wrong"
mutant pipeline '32 + 8 \* t' '32 + 4 * t' f16-nt-33x20x31,batch=9 \
    "ENGINE=1 PRODUCTS=1 TM=16 TN=32 STAGES=2" "elements wrong"
mutant pipeline 'if (DEEP % VK > 0 .*' 'if (0)' f32-nt-9x11x13,batch=20,ldb=14 \
    "PRODUCTS=1 TM=3 TN=4 STAGES=2 SLICES=2 PAD=1" "elements wrong"
# A tile too far up, an element of a piece too many, a slab that is not waited for, a row that is another's.
few=f32-nn-65x50x39,batch=5
mutant tailored 'row0 = tile \/ CUTS_N' 'row0 = tile % CUTS_N' $few "BM=48 BN=32 BK=8 TM=6 TN=4" "elements wrong"
mutant tailored 'cols - col :' 'cols - col + 1 :' $few "BM=48 BN=64 BK=8 TM=6 TN=4" \
    "elements wrong"
mutant tailored 'GT_COPY_WAIT(STAGES - 2)' 'GT_COPY_WAIT(STAGES - 1)' $few "BM=48 BN=64 BK=8 TM=6 TN=4 STAGES=2" \
    "where a copy to it is under way"
mutant tailored 'DEEP - (SLABS - 1) \* BK' 'DEEP - 1 - (SLABS - 1) * BK' $few "BM=48 BN=64 BK=8 TM=6 TN=4" "elements wrong"
mutant tailored 'product \* ROWS + row0' '0 * ROWS + row0' $few,epi=residual "BM=48 BN=64 BK=8 TM=6 TN=4" "elements wrong"
few=f64-nn-65x50x39,batch=3
warps="ENGINE=1 BM=48 BN=64 BK=16 TM=16 TN=32"
mutant tailored '(deep + t + 4 \* v) \* length' '(deep + t) * length' $few "$warps" "elements wrong"
mutant tailored 'TURN();' 'GT_COPY_WAIT(STAGES - 2);' $few "$warps" "where a copy to it is under way"
mutant tailored 't \/ 32 \/ TX' 't \/ 32 % TX' $few "$warps" "elements wrong"
mutant tailored 'pair_of(g) + upper' 'g + 8 * upper' $few "$warps" "elements wrong"
mutant tailored 'half ? g :' 'half ? (g ^ 1) :' $few "ENGINE=1 BM=48 BN=64 BK=16 TM=16 TN=56" "elements wrong"
few=f16-nt-65x50x39,batch=3
warps="ENGINE=1 BM=48 BN=64 BK=16 TM=16 TN=32"
mutant tailored 'line + upper + eight' 'line + eight' $few "$warps" "elements wrong"
mutant tailored 'asis ? deep + last' 'asis ? deep' $few "$warps" "elements wrong"
mutant tailored 'j \* 2) \* 4' 'j) * 4' $few "ENGINE=1 BM=48 BN=64 BK=16 TM=16 TN=56" "elements wrong"
mutant tailored 'sum_column(e) + 2 \* t' 'sum_column(e) + 6 - 2 * t' $few "$warps" "elements wrong"
few=f16-nt-65x51x39,batch=3
mutant tailored 'GT_BARRIER(); \/\* all slabs.*' '' $few "$warps" "elements wrong"
mutant tailored 'i \* DOWN) \* GT_LINE_C' 'i * DOWN) * BN' $few "$warps" "elements wrong"
mutant tailored 'col = j \* ACROSS' 'col = (BN > T ? 0 : j * ACROSS)' f64-tt-16x55x10,batch=2 \
    "ENGINE=1 BM=32 BN=64 BK=16 TM=16 TN=56" "elements wrong"
few=f16-nt-65x52x39,batch=3
mutant tailored 'odd ? four\[i\] : four\[2 + i\]' 'four[i]' $few "$warps" "elements wrong"
# Products with the matrices of their neighbours; the last product of a block left out.
few=f32-nn-8x8x8,batch=13,pointers,align=16
mutant bundle 'gt_pointed(x, z)' 'gt_pointed(x, (z) - ((z) > 0))' $few,beta \
    "PRODUCTS=4 SHARE=1 GATHER=1" "elements wrong"
mutant bundle 'beta, count GT' 'beta, count - 1 GT' $few "PRODUCTS=4 SHARE=1 GATHER=1" "elements wrong"
# Without slabs, for a single row: refused by the cases for kernels that accept no other. The timed problem
# has full tiles and whole turns.
row="SIDE=0 S=1 R=2 V=4 VX=4 U=2 STAGES=1 LANES=256 THREADS=256 MINB=1 SPLIT=1"
mutant skinny 'k < depth; k += STEP' 'k + KV <= depth; k += STEP' f32-nt-1x64x2048 "$row" "elements wrong"
mutant skinny 'GT_MIN(ROW(g, j), rows_w - 1) \* ldw + k' 'ROW(g, j) * ldw + k' f32-nt-1x64x2048 "$row" \
    "CUDA_ERROR_ILLEGAL_ADDRESS"
if [ -n "${GT_LONG:-}" ]; then
    mutant triple 'promote(total, sum);' 'if (s == slabs - 1) promote(total, sum);' \
        f32@split-nn-33x67x40 "KBYTES=128 SLICES=2 BM=32 BN=64 WM=32 WN=32 GROUP=1" "$steep"
    mutant triple 'total\[e\] += sum' 'total[e] = sum/;s/if (j == 0)/if (0)' f32@bf16x3-nn-33x67x40 \
        "$wide" "$steep"
    mutant_of_split 'x + 0x1000u' 'x' f32@split-nn-33x67x40 "SPLIT=1" "36x20x1,*elements wrong"
    mutant_of_split 'cvt.rn.bf16x2' 'cvt.rz.bf16x2' f32@bf16x3-nn-33x67x40 "$wide" "elements wrong"
    mutant triple 'gt_barrier_wait(r->empty.*' '' f32@split-nn-33x67x170 "$wide" \
        "which a wgmma in flight reads, has been overwritten"
    mutant pipeline 'GT_BARRIER(); .* the stage before it .*' '' $thin "$turns" \
        "a copy to it is under way"
    mutant limbs 'GT_WGMMA_WAIT(0);' '' i32-nt-33x66x700 "$wgmma" \
        "uses a register of a wgmma in flight"
    mutant limbs 'next_b, SLAB_B, own,' 'next_b, SLAB_B \/ 2, own,' i32-nt-33x66x700 "$wgmma" \
        "wait for a phase of an mbarrier"
    mutant wgmma 'BLOCK_SUMS = SHARE \* PITCH' 'BLOCK_SUMS = 0' i8-nn-5x33x200 \
        "BM=64 BN=16 WGM=1 GROUP=1 SWAP=1 SPLIT=3 REDUCE=1" "elements wrong"
    mutant wgmma 'GT_ARRIVALS)' '0)' i8-nt-40x40x1008 "$shares" "elements wrong" # counters not cleared
    mutant wgmma 'begin = first ? behind : 0' 'begin = 0' bf16-nt-70x153x72,ldc=155 \
        "BM=64 BN=256 WGM=1 STAGES=2 REPACK=0" "written outside C"
    mutant wgmma 'across > 0 ? -ROW_LEFT : 0' '0' bf16-nt-70x153x72,ldc=155 \
        "BM=64 BN=256 WGM=1 STAGES=2 REPACK=0" "elements wrong"
    mutant tma 'gt_barrier_arrive(empty' 'if (0) &' f32-nt-33x68x140 "REPACK=0" \
        "wait for a phase of an mbarrier"
    mutant limbs 'GT_BARRIER(); .* and the one before .*' '' i32-nt-33x66x700 "ENGINE=0" \
        "a copy"
fi
exit "$bad"
