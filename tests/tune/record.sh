#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# record.sh - `gemmtune record` and `exec` stand in front of every way in which a program finds cuBLAS, pass every
# function on to the library that the program means, and count what was asked for.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

use_client "programs with cuBLAS"
clients=$GT_BUILD/tests/shim blas=$GT_BUILD/tests/fake/blas13

# record ARGUMENT...: into $out.json, from nothing
record() {
    rm -f "$TMPDIR"/out.json* "$FAKE_BLAS_LOG"
    "$GEMMTUNE" record -o out.json "$@" >said 2>&1
    code=$?
}

# counted: "problem count" of each line of out.json
counted() {
    sql :memory: "SELECT json_extract(value, '\$.problem') || ' ' || json_extract(value, '\$.count')
        FROM json_each(readfile('out.json'), '\$.sizes')"
}

# kept: "function: reason" of each line of out.json that is no problem
kept() {
    sql :memory: "SELECT json_extract(value, '\$.function') || ': ' || json_extract(value, '\$.why')
        FROM json_each(readfile('out.json'), '\$.passed_on')"
}

# preload MODE COMMAND...: without the program gemmtune
preload() {
    mode=$1
    shift
    GEMMTUNE_EXEC=$mode LD_PRELOAD=$GT_BUILD/libgemmtune-blas.so "$@"
}

# ---- every way to find cuBLAS, with the auditor ----

for how in "linked" "linked_now" "linked12" "loader plugin $clients/plugin.so" "loader deepbind $clients/plugin.so" \
    "loader library $blas/libcublas.so.13"; do
    # shellcheck disable=SC2086 # words
    record -- "$clients/"$how shape=5,6,7 gemm=3
    name=$(echo "$how" | sed 's|/[^ ]*/||')
    is "$name: the program's exit code" "$code" 0
    is "$name: its calls are counted" "$(counted)" "f32-nn-6x5x7 3"
    is "$name: and reach its library" "$(grep -c cublasSgemm_v2 log)" 3
done
LD_LIBRARY_PATH=$blas record "$clients/loader" library libcublas.so.13 shape=5,6,7 gemm=3
is "by soname: calls are counted" "$(counted)" "f32-nn-6x5x7 3"
record "$clients/loader" both "$clients/plugin.so" shape=5,6,7 gemm=2
is "two releases at once: exit code" "$code" 0
is "two releases at once: each gets its own calls" "$(sort log | uniq -c | tr -s ' ')" \
    " 2 cublasSgemm_v2 12
 2 cublasSgemm_v2 13"

# ---- locks of ld.so ----

# A constructor runs with ld.so's lock held. Another thread waits for that lock, and must not hold one of the shim's.
for known in "" known; do
    record env ${known:+EARLY=known} timeout 60 "$clients/loader" early "$clients/early.so" shape=5,6,7 gemm=3
    is "a constructor and a thread${known:+, with cuBLAS known}: they end" "$code" 0
    is "their calls are counted" "$(counted | sort | tr '\n' ' ')" "f32-nn-1x1x1 2 f32-nn-6x5x7 3 "
    preload serve env ${known:+EARLY=known} timeout 60 "$clients/loader" early "$clients/early.so" gemm=3 2>said
    is "they end while products are served" $? 0
done

# ---- preloaded alone ----

for how in "linked" "linked_now" "linked12" "loader plugin $clients/plugin.so" "loader both $clients/plugin.so"; do
    rm -f out.json* log
    # shellcheck disable=SC2086
    preload "record:$TMPDIR/out.json" "$clients/"$how each
    is "preloaded alone, $(echo "$how" | sed 's|/[^ ]*/||'): every function" $? 0
    "$GEMMTUNE" record --merge -q -o out.json
    is "its calls are counted" "$(counted | head -n 1)" "$(echo "$how" |
        sed 's/.*both.*/f32-nn-3x4x5 8/; t; s/.*/f32-nn-3x4x5 4/')"
done

# ---- every function, by the auditor's way too ----

for how in "linked" "loader library $blas/libcublas.so.13"; do
    # shellcheck disable=SC2086
    record "$clients/"$how each
    is "every function: right results" "$code $(grep -c status said)" "0 0"
    is "every function: each reaches its own original once" "$(sort log | uniq -c | grep -vc ' 1 ')" 0
    is "every function: 56 of them" "$(wc -l <log)" 56
    is "every function: problems" "$(counted | sort)" "bf16-nn-3x4x5 2
bf16-nn-3x4x5,batch=2,pointers 2
bf16-nn-3x4x5,batch=2,sa=0,sb=0 2
f32-nn-3x4x5 4
f32-nn-3x4x5,batch=2,pointers 2
f32-nn-3x4x5,batch=2,sa=0,sb=0 2
f64-nn-3x4x5 2
f64-nn-3x4x5,batch=2,pointers 2
f64-nn-3x4x5,batch=2,sa=0,sb=0 2"
    is "every function: what is of another kind, and why" \
        "$(sql :memory: "SELECT json_extract(value, '\$.why') || ' ' || count(*)
            FROM json_each(readfile('out.json'), '\$.passed_on') GROUP BY json_extract(value, '\$.why')")" \
        "a compute type without a kernel 6
complex numbers 24
groups of products 6"
done
FAKE_BLAS=nested record "$clients/linked" type=bf16 shape=5,6,7 gemm=2
is "cuBLAS that calls cublasLt: one call of the program is one call" "$(counted)" "bf16-nn-6x5x7 2"
is "and both functions ran" "$(sort log | uniq -c | tr -s ' ' | tr '\n' ,)" " 2 cublasGemmEx 13, 2 cublasLtMatmul 13,"

# ---- a sweep file ----

record "$clients/linked" gemm=2 shape=512,512,512 gemm=1 epilogue=6 lt=1 type=f64 beta=1 gemm=1 algo=2 lt=1
is "the heaviest comes first, with its options and epilogue" "$(counted)" "f32-nn-512x512x512 1
f32-nn-512x512x512,epi=bias_relu 1
f64-nn-512x512x512,beta 1
f64-nn-512x512x512,beta,epi=bias_relu 1
f32-nn-48x32x64 2"
"$GEMMTUNE" tune --sizes out.json --dry-run --device 0 >dry 2>&1
is "tune reads it" $? 0
has "all problems of it" "$(tail -n 1 dry)" "5 problems"
"$GEMMTUNE" record -q -o out.json "$clients/linked" gemm=5 2>said
has "a second run adds to it" "$(counted)" "f32-nn-48x32x64 7"
is "and leaves nothing beside it" "$(ls out.json*)" out.json
printf '{"format": 1, "sizes": ["f32-nn-4x4x4", {"dtype": "f32", "m": 8}]}' >out.json
"$GEMMTUNE" record -o out.json "$clients/linked" gemm=1 2>said
is "a file that is no record: the program's exit code" $? 0
has "a file that is no record: one line" "$(cat said)" "out.json:1: /sizes/1"
is "a file that is no record: what was counted stays" "$(find . -name 'out.json.*' | wc -l)" 1

# ---- what cuBLAS computes in another way, or refuses ----

record "$clients/linked" type=e4m3 epilogue=4 lt=1
is "8-bit floats: the type of a bias that none was declared for is not that of D" "$code $(counted) $(kept)" \
    "0  cublasLtMatmul: an epilogue of cublasLt without an equal"
record "$clients/linked" type=e4m3 epilogue=4 bias-type=0 lt=1 bias-type=14 lt=1
is "8-bit floats: a bias of a declared type" "$code $(counted | sort | tr '\n' ' ')" \
    "0 e4m3=f32@promoted-nn-48x32x64,epi=bias 1 e4m3=f32@promoted-nn-48x32x64,epi=bias[j]:bf16;bias 1 "
record "$clients/linked" lda=31 gemm=1 lt=1
is "a leading dimension that is too short" "$code $(counted)" "1 "
is "why" "$(kept)" "cublasSgemm_v2: arguments that cuBLAS may refuse
cublasLtMatmul: arguments that cuBLAS may refuse"
record "$clients/linked" lda=40 gemm=1 lt=1
is "one that is longer than needed" "$code $(counted) $(kept)" "0 f32-nn-48x32x64,ldb=40 2 "
record "$clients/linked12" attribute=27,2 lt=1
is "counters of a release before 13" "$code $(counted) $(kept)" "0  cublasLtMatmul: counters of cublasLt"
record "$clients/linked" attribute=27,2 lt=1
is "release 13 has none" "$code $(counted) $(kept)" "0 f32-nn-48x32x64 1 "
record "$clients/linked" epilogue=160 aux-ld=32 lt=1
is "a second output" "$code $(counted) $(kept)" "0 f32-nn-48x32x64,epi=d2=x;d=gelu_tanh(x) 1 "
for ld in 24 36; do # less than the rows of D; no multiple of 8
    record "$clients/linked" epilogue=160 aux-ld=$ld lt=1
    is "a second output with a leading dimension of $ld" "$code $(counted) $(kept)" \
        "0  cublasLtMatmul: an epilogue of cublasLt without an equal"
done

# ---- processes ----

record "$clients/linked" gemm=1 daemon=theirs gemm=7
is "a program that closes all descriptors: its calls are counted" "$code $(counted)" "0 f32-nn-48x32x64 8"
is "and its next file is its own" "$(cat theirs)" ""
record "$clients/linked" gemm=1 daemon=theirs fork gemm=1 theirs
is "also in a child" "$code $(counted) $(cat theirs)" "0 f32-nn-48x32x64 2 "
# The matrices of the last call lie where the thread's data were.
record "$clients/linked" shape=112,112,112 beta=1 late-lt
is "calls of cublasLt while a thread's data are destroyed" "$code $(counted)" "0 f32-nn-112x112x112,beta 3"
record sh -c "$clients/linked gemm=3 & $clients/linked gemm=4; wait; exec $clients/linked fork gemm=1"
is "several processes: exit code" "$code" 0
is "several processes: all are counted" "$(counted)" "f32-nn-48x32x64 8"
record sh -c "$clients/linked gemm=3; exit 7"
is "the exit code is the program's" "$code" 7
record sh -c "kill -9 \$\$"
is "a signal that ends the program" "$code" 137
has "no call: it is said" "$(cat said)" "no call of cuBLAS was recorded"
is "no call: no file" "$(find . -name 'out.json*')" ""
(
    export GEMMTUNE_EXEC="record:$TMPDIR/out.json" LD_PRELOAD="$GT_BUILD/libgemmtune-blas.so"
    exec "$clients/linked" gemm=5 sleep=60000
) &
until grep -qs '^[0-9]* 4 ' out.json.* || ! kill -0 $!; do sleep 0.1; done
has "a process that still runs is not merged" "$("$GEMMTUNE" record --merge -o out.json 2>&1)" "1 process is still recording"
kill -9 $!
wait $! 2>/dev/null
"$GEMMTUNE" record --merge -q -o out.json
is "a process that was killed has counted within a factor of two" "$(counted)" "f32-nn-48x32x64 4"
record /nowhere/program
is "no such program" "$code" 127

printf 'gemmtune record 1\n1 5 cublasSgemm_v2 f32-nn-4x4x4\n' >"out.json.other$(uname -n | tr . _).99999999"
record2=$(find . -name 'out.json.other*' | wc -l)
"$GEMMTUNE" record --merge -q -o out.json
is "a file of another host stays" "$record2 $(find . -name 'out.json.other*' | wc -l)" "1 1"
rm -f out.json*
for i in 1 2 3 4; do
    printf 'gemmtune record 1\n1 5 cublasSgemm_v2 f32-nn-4x4x4\n' >"out.json.$(uname -n | tr . _).9999999$i"
    "$GEMMTUNE" record --merge -q -o out.json &
done
wait
"$GEMMTUNE" record --merge -q -o out.json
is "merges at once lose nothing" "$(counted)" "f32-nn-4x4x4 20"
is "and leave nothing" "$(ls out.json*)" out.json
"$GEMMTUNE" record -o "$TMPDIR/no/out.json" touch "$TMPDIR/ran" >said 2>&1
is "a folder that is not there: exit 1, and the program does not run" "$? $(cat said)" \
    "1 gemmtune: $TMPDIR/no/out.json: No such file or directory"
is "nothing was run" "$(ls "$TMPDIR/ran" 2>/dev/null)" ""
# shellcheck disable=SC2016 # the shell that exec runs expands it
GEMMTUNE_EXEC=record:$TMPDIR/out.json LD_PRELOAD=$GT_BUILD/libgemmtune-blas.so \
    "$GEMMTUNE" exec sh -c 'echo "$GEMMTUNE_EXEC"' >said 2>&1
is "exec in an environment that records" "$(cat said)" serve
# shellcheck disable=SC2016 # the program expands it
is "a signal that was ignored stays so" "$(
    trap '' HUP
    "$GEMMTUNE" record -q -o ignored.json sh -c 'kill -HUP $$; kill -HUP $PPID; echo alive'
)" alive

# ---- a full disk ----

mkdir disk
if unshare -rm mount -t tmpfs none disk 2>/dev/null; then
    rm -f log
    GEMMTUNE_EXEC="record:$TMPDIR/disk/out.json" unshare -rm sh -c "
        mount -t tmpfs -o size=8k none disk && : >disk/out.json && cat /dev/zero >disk/filler 2>/dev/null
        LD_PRELOAD=$GT_BUILD/libgemmtune-blas.so '$clients/linked' gemm=2" 2>err
    is "a full disk: exit code" $? 0
    has "a full disk: one line" "$(cat err)" "gemmtune: recording stopped: $TMPDIR/disk/out.json: No space left"
    is "a full disk: the calls reach cuBLAS" "$(wc -l <log)" 2
else
    echo "ok - a full disk # SKIP no file system of our own may be mounted"
fi

# ---- without us ----

# quietly NAME LINES MODE COMMAND...: the program runs as without us, with so many lines on stderr
quietly() {
    name=$1 lines=$2 mode=$3
    shift 3
    rm -f log
    preload "$mode" "$@" >said 2>err
    is "$name: exit code" $? 0
    is "$name: lines on stderr" "$(wc -l <err)" "$lines"
    is "$name: the calls reach cuBLAS" "$(wc -l <log)" 2
}
quietly "off" 0 off "$clients/linked" gemm=2
quietly "no variable's value" 0 "" "$clients/linked" gemm=2
quietly "a word that is none" 1 sevre "$clients/linked" gemm=2
has "it is quoted" "$(cat err)" "sevre is no value of GEMMTUNE_EXEC"
quietly "a folder that is none" 1 "record:$GEMMTUNE/out.json" "$clients/linked" gemm=2
quietly "serve without a driver" 1 serve env GEMMTUNE_LIBCUDA=/nowhere "$clients/linked" gemm=2
mkdir alone && cp "$GT_BUILD/libgemmtune-blas.so" alone
rm -f log
GEMMTUNE_EXEC=serve LD_PRELOAD=$TMPDIR/alone/libgemmtune-blas.so "$clients/linked" gemm=2 2>err
is "without libgemmtune: exit code" $? 0
is "without libgemmtune: lines on stderr" "$(wc -l <err)" 1
"$GEMMTUNE" exec sh -c 'exit 3' 2>err
is "a program without cuBLAS: exit code" $? 3
is "a program without cuBLAS: nothing is said" "$(cat err)" ""
# shellcheck disable=SC2016 # the program expands it
has "what was preloaded stays" "$(LD_PRELOAD=libm.so.6 "$GEMMTUNE" exec sh -c 'echo $LD_PRELOAD')" "libgemmtune-blas.so:libm.so.6"
exit "$bad"
