#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# batch.sh - strided batches on the first device, from end to end: families compute every
# product, the tuner finds a kernel and checks it, the library looks it up and runs it.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

each_family=$GT_BUILD/tests/device/each_family

# Ragged sizes, gaps between matrices, a shared A, products side by side in the rows of C, and
# kernels that have a workspace for each product. Of families with large kernels, which take
# the compiler seconds, some points are drawn.
while read -r family problem points; do
    # shellcheck disable=SC2086 # options
    "$each_family" "$problem" "$family" $points >"$TMPDIR/out" 2>&1
    code=$?
    is "$family: $problem" "exit $code$(grep -v -e '^ok' -e '^refused' -e '^random' "$TMPDIR/out")" "exit 0"
    has "some points ran: $family" "$(cat "$TMPDIR/out")" "ok $family"
done <<END
tile f32-nn-40x33x21,batch=3,sa=841,sc=1400
coalesced f64-tt-24x40x48,batch=5,sb=0,ldc=200,sc=40
naive i32-nt-17x5x9,batch=7,sa=0
skinny f32-nn-5x40x64,batch=3 random 1 6
column bf16-tn-20x24x16,batch=4,lda=32,sa=600 random 1 2 BM=16,BK=4
END

# A batch of more products than a grid has blocks along y.
"$GEMMTUNE" trial f32-nn-3x2x4,batch=65537 --device 0 --family naive --untimed >"$TMPDIR/out" 2>&1
is "many products: exit 0" "$?" 0
has "many products" "$(cat "$TMPDIR/out")" "outcome*correct"

problem=f32-nn-8x8x8,batch=300,sb=0
tune --db "$TMPDIR/a.db" --family naive --effort quick "$problem"
is "tune: exit 0" "$?" 0
is "the record has the name of the batch" \
    "$("$GEMMTUNE" list --db "$TMPDIR/a.db" --json |
        sed -n 's/.*"problem": *"\([^"]*\)".*/\1/p')" "$problem"
has "the library finds it" "$("$GEMMTUNE" lookup "$problem" --device 0 --db "$TMPDIR/a.db")" \
    "exact*naive"
has "run checks it" "$("$GEMMTUNE" run "$problem" --device 0 --db "$TMPDIR/a.db" 2>&1)" \
    "checked*correct*error*at most*in the mean"
# Finals also measure the error: of groups, which share one C, and of computed rows alone.
for rows in f32-nn-100x33x17,groups=6 f32-nn-30x33x17,batch=4,masked,rows=10; do
    tune --db "$TMPDIR/rows.db" --family naive --effort quick "$rows"
    is "tune $rows: exit 0" "$?" 0
    has "$rows is tuned" "$("$GEMMTUNE" lookup "$rows" --device 0 --db "$TMPDIR/rows.db")" \
        "exact*naive"
done
error() { # the error that run measures
    "$GEMMTUNE" run "$1" --device 0 --no-cpu --json 2>/dev/null | sed -n \
        's/.*"error_max": \([^,]*\), "error_mean": \([^,]*\),.*/\1 \2/p'
}
is "the error of f32" "$(error f32-nn-64x48x100 |
    awk '{ print ($1 > 0.3 && $1 < 20), ($2 > 0.01 && $2 < 1) }')" "1 1"
is "integers have none" "$(error i32-nn-8x8x8)" "null null"
"$GEMMTUNE" bench "$problem" --device 0 --db "$TMPDIR/a.db" --against self >"$TMPDIR/out" 2>&1
is "bench: exit 0" "$?" 0
has "bench runs it through the library" "$(cat "$TMPDIR/out")" "$problem"
"$GEMMTUNE" stream "$problem" --device 0 >"$TMPDIR/out" 2>&1
is "no batch of host matrices: exit 3" "$?" 3
has "and one sentence" "$(cat "$TMPDIR/out")" "single product, not a batch"
exit "$bad"
