#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# orders.sh - `gemmtune record` and `exec` know products of cublasLt with matrices in row order. A program plays every
# combination of orders of A, B and D, of transposes and of batches. The driver, the compiler, cublasLt and its times are
# stand-ins.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

use_served_client "cublasLt's orders"
export FAKE_RIVAL=faster

# play MODE WORD...: the scene; its words to $TMPDIR/said, the line at exit to $TMPDIR/err
play() {
    mode=$1
    shift
    rm -f log
    GEMMTUNE_EXEC=$mode LD_PRELOAD=$ours/libgemmtune-blas.so "$client" "$@" >said 2>err
    code=$?
}

# recorded FILE QUERY LIST: of a list of the file
recorded() {
    sql :memory: "SELECT $2 FROM json_each(readfile('$1'), '\$.$3')"
}

# ---- record ----

"$GEMMTUNE" record -q -o orders.json -- "$client" orders >said 2>&1
is "record: results" "$? $(cat said)" "0 "
is "record: every call is counted, and each product has four forms" \
    "$(recorded orders.json "count(*) || ' ' || sum(json_extract(value, '\$.count')) || ' ' || max(json_extract(value, '\$.count'))" sizes)" \
    "16 64 4"
has "record: the product of columns, C is read" "$(cat orders.json)" '"f32-nn-20x12x28,lda=32,ldb=16,ldc=16,beta"'
has "record: the product of rows" "$(cat orders.json)" '"f32-nn-12x20x28,lda=32,ldb=24,ldc=24,beta"'
has "record: batches keep their strides" "$(cat orders.json)" \
    '"f32-tn-12x20x28,lda=16,ldb=24,ldc=24,batch=3,sa=456,sb=680,sc=296"'
"$GEMMTUNE" record -q -o bias.json -- "$client" epilogue=6 orders >said 2>&1
is "record: a bias; cublasLt refuses it where D is in row order" "$? $(cat said)" "0 "
is "record: a bias beside rows is passed on" "$(recorded bias.json \
    "json_extract(value, '\$.count') || ' ' || json_extract(value, '\$.why')" passed_on)" \
    "32 a bias or a second output beside a D in row order"
is "record: a bias beside columns is not" "$(recorded bias.json "sum(json_extract(value, '\$.count'))" sizes)" 32

# ---- exec ----

tune --effort quick --family naive --budget 2s --sizes orders.json f32-nn-12x20x28,lda=32,ldb=24,ldc=24,beta,epi=relu
is "the problems are tuned" $? 0
"$GEMMTUNE" build --device 0 --quiet >said 2>&1
is "their kernels are built" $? 0
# The first process may have to load the compiler to learn which images are its own.
for _ in $(seq 100); do
    play serve orders sleep=100
    case $(cat err) in *"64 of 64"*) break ;; esac
done
play serve orders orders
is "serve: results by the definition, twice" "$code $(cat said)" "0 "
has "serve: all of them" "$(cat err)" "128 of 128 GEMM calls served"
is "serve: none reaches cublasLt" "$(find . -name log)" ""
play check orders
is "check: results of cublasLt" "$code $(cat said)" "0 "
has "check: all agree" "$(cat err)" "64 of 64 GEMM calls checked, 64 compared, 0 wrong"
FAKE_CUDA_SCRIPT=corrupt@1 play check orders
has "check: a wrong element is found" "$(cat err)" "64 compared, 1 wrong"
play serve epilogue=2 orders
is "relu: results" "$code $(cat said)" "0 "
has "relu: the four forms of a product of rows" "$(cat err)" "4 of 64 GEMM calls served"

# ---- what is passed on ----

play serve order=2 lt=1
has "another order" "$(cat err)" "0 of 1 GEMM calls served, 0 s saved by the stored times; passed on: 1 an order of cublasLt"
play serve shape=1,1,64 beta=1 order-c=1 lt=1
is "C in another order than D: results" "$code $(cat said)" "0 "
has "C in another order than D, and read" "$(cat err)" "1 C is read and is not D"
play serve shape=1,1,64 order-c=1 lt=1
has "C in another order than D, and not read" "$(cat err)" "1 not tuned on this device"
exit "$bad"
