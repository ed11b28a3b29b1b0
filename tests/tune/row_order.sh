#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# row_order.sh - rows of C have the same bits for every m, batch and group: what `verify --row-order` compares on
# PoCL, kernels that it must refuse, and what a search stores. row_order_ptx.sh has the families of CUDA.
. "$GT_SRC/tests/tune/lib.sh"
export GEMMTUNE_CACHE_DIR="$TMPDIR/cache"

# proof WANT ARGUMENT...: the exit code and the line about the rows
proof() {
    want=$1
    shift
    "$GEMMTUNE" verify --row-order --device 0 --quiet --seed 1 --rows 70 --launches 3 "$@" >"$TMPDIR/out" \
        2>"$TMPDIR/err"
    is "verify --row-order $*" "exit $?, $(sed -n 's/.*rows compared, //p' "$TMPDIR/err")" "$want"
}
none="exit 0, 0 differ (seed 1)"
proof "$none" f32-nt-5x24x33 i32-nn-1x9x17 f32-tn-1x17x20,epi=bias_gelu_residual
# A record that folds parts of k chooses the order of a split, and serves every m.
for point in FOLD=2 "SPLIT=2 GROUP=1"; do
    has "rows in the order of two parts, by $point" "$("$GT_BUILD/tests/device/row_order" \
        f32-nn-64x40x64,row_order multistage "$point" 70 2 2>&1)" 'fma parts=2 of=32: * rows, 0 differ, *'
done
"$GEMMTUNE" verify --row-order --rows 9 --device 0 f32-nn-4x4x4 --sample 1 >/dev/null 2>&1
is "--sample goes without --row-order" $? 2
"$GEMMTUNE" verify --rows 9 --device 0 >/dev/null 2>&1
is "--rows goes with --row-order" $? 2

# A family that says it adds one product after another. WAY 1: few rows have their k in two parts. WAY 2: few rows
# are added by another instruction. WAY 3: few rows are not stored. No other family has its order, so it runs.
own=$TMPDIR/own
mkdir -p "$own/fickle"
cat >"$own/fickle/fickle.cl" <<'TEMPLATE'
/* fickle - a thread has an element of C. */
GT_KERNEL(gemm, 8, 8, 1)(GT_PARAMS) {
    const int across = (n - 1) / 8 + 1;
    const int i = GT_BLOCK / across * 8 + GT_THREAD_Y, j = GT_BLOCK % across * 8 + GT_THREAD_X;
    const int depth = alpha == (gt_acc)0 ? 0 : k, few = m < 8;
    gt_acc part[2] = {0, 0};
    if (i >= m || j >= n || (GT_WAY == 3 && few))
        return;
    for (int p = 0; p < depth; p++) {
        const gt_acc x = a[i * lda + p], y = b[p * ldb + j];
        const int of = GT_WAY == 1 && few && p >= depth / 2;
        part[of] = GT_WAY == 2 && few ? part[0] + gt_fma(x, y, (gt_acc)0) : gt_fma(x, y, part[of]);
    }
    gt_store_c(c + i * ldc + j, alpha, part[0] + part[1], beta);
}
TEMPLATE
# fickle WAY WHEN [BY DEFAULT]: the family with this default, and these members of "sums"
fickle() {
    cat >"$own/fickle/space.json" <<SPACE
{ "format": 1, "family": "fickle", "about": "It follows m.", "rank": 0, "uses": [],
  "source": { "cuda": "fickle.cl", "opencl": "fickle.cl" }, "entry": "gemm", "dtypes": ["f32"], "layouts": ["nn"],
  "params": { "WAY": [0, 1, 2, 3] }, "default": { "WAY": $1 },
  "sums": { "by": "${3:-fma}", "when": "$2", "default": ${4:-1} },
  "launch": { "block": ["8", "8", "1"], "grid": ["cdiv(M, 8) * cdiv(N, 8)", "1", "1"] },
  "args": ["m", "n", "k", "alpha", "a", "lda", "b", "ldb", "beta", "c", "ldc"] }
SPACE
}
fickle 0 1 odd
proof "$none" f32-nn-1x19x60 --templates "$own"
for way in 1 2 3; do
    fickle $way 1 odd
    proof "exit 5, $("$GEMMTUNE" verify --row-order --device 0 --quiet --seed 1 --rows 70 --launches 3 \
        f32-nn-1x19x60 --templates "$own" 2>&1 >/dev/null | sed -n 's/.*rows compared, //p')" \
        f32-nn-1x19x60 --templates "$own"
    has "the first row of mutant $way" "$(cat "$TMPDIR/out")" '*in 1 product of 1 rows by fickle "WAY='
done
fickle 0 'M > 8'
has "an order that follows m" "$("$GEMMTUNE" space fickle --templates "$own" 2>&1)" \
    'M follows m, the batch, alignment or one device'

# A search stores one order for each kind of rows.
for m in 3 40; do
    tune --budget 2s --db "$TMPDIR/db" "f32-nn-${m}x24x32,row_order"
    is "a search with row_order, m $m" $? 0
done
is "one order, from the records" "$("$GEMMTUNE" explain --device 0 --db "$TMPDIR/db" --json \
    f32-nn-9x24x32,row_order 2>/dev/null | grep -o '"order": "fma", "from": "chosen by 2 tuned problems')" \
    '"order": "fma", "from": "chosen by 2 tuned problems'
proof "$none" --db "$TMPDIR/db"

# A merged database chooses another order: the problem that was tuned in the old one is tuned again.
fickle 0 1 odd 0
tune --budget 1s --templates "$own" --db "$TMPDIR/one" f32-nn-3x24x33,row_order
fickle 0 1 odd 1
tune --budget 1s --templates "$own" --db "$TMPDIR/two" f32-nn-4x24x33,row_order f32-nn-5x24x33,row_order
"$GEMMTUNE" merge --db "$TMPDIR/one" "$TMPDIR/two" >/dev/null 2>&1
tune --budget 1s --templates "$own" --db "$TMPDIR/one" f32-nn-3x24x33,row_order
is "a problem in the order of the most" "$("$GEMMTUNE" explain --templates "$own" --device 0 --db "$TMPDIR/one" --json \
    f32-nn-9x24x33,row_order 2>/dev/null | grep -o '"from": "chosen by [0-9]*\|"others": [0-9]*')" \
    '"from": "chosen by 3
"others": 0'
tune --budget 1s --templates "$own" --db "$TMPDIR/one" f32-nn-3x24x33,row_order
has "it is tuned then" "$(cat "$TMPDIR/said")" '*tuned before*'
exit "$bad"
