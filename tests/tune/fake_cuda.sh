#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# fake_cuda.sh - the whole CUDA side of gemmtune without a GPU: tests/fake/cuda/ runs kernels on
# the CPU and fails on demand, tests/fake/libnvrtc.c stands in for the compiler.
. "$GT_SRC/tests/tune/lib.sh"

use_fakes "the fake CUDA driver"
export FAKE_CUDA_DEVICE=gtx1050-2gb FAKE_NVRTC_VERSION=12.9 FAKE_CUDA_TIME=model
db=$TMPDIR/fake.db
problem=f32-nn-33x17x20

# run [NAME=VALUE...] ARGUMENT...: gemmtune; leaves the exit code in $code and what it printed in
# the files out and err. (What stands before a call of a function is not the same in all shells.)
run() {
    with=yes
    for word; do
        shift
        case $with$word in
        yes*=*) ;;
        yes*) with='' && set -- "$@" "$GEMMTUNE" ;;
        esac
        set -- "$@" "$word"
    done
    env "$@" >"$TMPDIR/out" 2>"$TMPDIR/err"
    code=$?
}

# refused NAME CODE PATTERN: the last run ended so, with one line on stderr that matches.
refused() {
    is "$1: exit $2" "$code" "$2"
    has "$1: says why" "$(cat "$TMPDIR/err")" "$3"
}

# ---- devices ----

# listed FIELD: of every device, a line each
listed() {
    sql :memory: "SELECT json_extract(value, '\$.$1') FROM json_each(readfile('$TMPDIR/out'))
                  WHERE json_extract(value, '\$.backend') = 'cuda'"
}

export FAKE_CUDA_DEVICE=h200,gtx1080,gtx1050-2gb,gtx1050-3gb
run devices --json
is "devices: exit 0" "$code" 0
is "CUDA devices come first" \
    "$(sql :memory: "SELECT json_extract(readfile('$TMPDIR/out'), '\$[0].backend')")" cuda
is "every device is listed" "$(listed arch | tr '\n' ' ')" "sm_90 sm_61 sm_61 sm_61 "
is "NVRTC 12.9 serves them all" "$(listed compiler | sort -u)" "NVRTC 12.9"
is "none has a trouble" "$(listed trouble | tr -d '\n')" ""
is "two chips of one name have two keys" \
    "$(listed name | sort -u | wc -l) names, $(listed key | sort -u | wc -l) keys" \
    "3 names, 4 keys"
run FAKE_NVRTC_VERSION=13.0 devices
has "NVRTC 13 alone: a GTX is told what it needs" "$(grep 'GTX 1080' "$TMPDIR/out")" \
    "sm_61 needs NVRTC 12.9 or older"
has "and an H200 is served" "$(grep H200 "$TMPDIR/out")" "NVRTC 13.0"
export FAKE_CUDA_DEVICE=gtx1050-2gb

# ---- rules of a batch: WALK is the point's ----

# walk_rule PROBLEM: what `space --why` says of dmma's rule about tiles in turns
walk_rule() {
    run FAKE_CUDA_DEVICE=h200 space dmma "$1" --device 0 --why TAIL=1
    grep 'TAIL != 1 || WALK' "$TMPDIR/out"
}
has "tiles of a batch in turns" "$(walk_rule f64-nn-64x64x64,batch=4000)" "holds *accept"
has "not of one product" "$(walk_rule f64-nn-64x64x64)" "REFUSES accept"

# ---- what is missing: exit 4, one sentence, and no database is made ----

# without [NAME=VALUE...]: tunes in an environment that cannot do it
without() {
    run "$@" tune "$problem" --device gtx --db "$TMPDIR/never.db"
}
without FAKE_NVRTC_VERSION=13.0
refused "NVRTC too new" 4 "sm_61 needs NVRTC 12.9 or older"
without GEMMTUNE_LIBNVRTC=/nowhere/libnvrtc.so
refused "no NVRTC" 4 "no CUDA compiler: libnvrtc is not installed"
export GEMMTUNE_LIBOPENCL=/nowhere/libOpenCL.so # CUDA is all there could be
without FAKE_CUDA_SCRIPT="cuInit:0=100"
refused "no device" 4 "the CUDA driver sees no device"
without FAKE_CUDA_SCRIPT="cuInit:0=34"
refused "stub library" 4 "toolkit's stub, not a driver"
without FAKE_CUDA_SCRIPT="cuInit:0=999"
refused "broken driver" 4 "cuInit: CUDA_ERROR_UNKNOWN"
without GEMMTUNE_LIBCUDA=/nowhere/libcuda.so
refused "no driver" 4 "the CUDA driver is not installed"
is "one line each" "$(wc -l <"$TMPDIR/err")" 1
unset GEMMTUNE_LIBOPENCL
is "none of them made a database" "$(ls "$TMPDIR"/never.db* 2>/dev/null)" ""

# ---- a whole run ----

tune "$problem" f64-nt-9x33x12 i32-tt-16x40x9,beta --db "$db" --family naive \
    --effort quick --budget 100s
is "three problems are tuned" $? 0
is "each has a verified winner" \
    "$(sql "$db" "SELECT count(*) FROM record WHERE rank = 0 AND verified = 1")" 3
is "every trial was correct" "$(sql "$db" "
    SELECT group_concat(DISTINCT outcome) || ' ' || (count(*) > 20) FROM trial")" "correct 1"
is "registers come from the compiler's log" \
    "$(sql "$db" "SELECT min(registers) BETWEEN 24 AND 55 FROM trial")" 1
run lookup "$problem" --device 0 --db "$db" --json
has "the winner is found again" "$(cat "$TMPDIR/out")" '"match": "exact"'
export FAKE_NVRTC_COUNT="$TMPDIR/compiles"
run run "$problem" --device 0 --db "$db"
is "and runs" "$code" 0
is "out of the image cache" "$(cat "$FAKE_NVRTC_COUNT" 2>/dev/null)" ""
unset FAKE_NVRTC_COUNT

# Several kernels of one module, with a workspace between them.
tune f32-nn-33x17x20,beta --db "$TMPDIR/split.db" --templates "$families" --family split --effort full
is "a family of several kernels is tuned" $? 0
is "what is right is correct, what is not is not" "$(sql "$TMPDIR/split.db" "
    SELECT group_concat(n || ' ' || outcome, ', ') FROM (
        SELECT count(*) n, outcome FROM trial GROUP BY outcome)")" \
    "6 correct, 3 wrong_result"

# Kernels that are told of matrices by maps.
mapped() {
    rm -f "$TMPDIR"/mapped.db*
    run "$@" tune f32-nn-33x20x40,beta i32-nn-9x12x17,lda=20 --db "$TMPDIR/mapped.db" --device 0 \
        --templates "$families" --family mapped --effort full
    sql "$TMPDIR/mapped.db" "SELECT group_concat(n || ' ' || outcome, ', ') FROM (
        SELECT count(*) n, outcome FROM trial GROUP BY outcome)"
}
is "what is right is correct, what is not is not" "$(mapped)" \
    "4 constraints, 12 correct, 4 wrong_result"
is "a map no driver takes is refused" \
    "$(rows "$TMPDIR/mapped.db" f32-nn-33x20x40,beta outcome error | grep -c \
        '^constraints|.*cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE')" 2
is "a driver without maps" "$(mapped FAKE_CUDA_SCRIPT="cuTensorMapEncodeTiled:0=801")" \
    "20 constraints"

# The set-up of one problem fails: its line says so, the others are verified.
run FAKE_CUDA_SCRIPT="cuMemAlloc:20=2" FAKE_CUDA_STATE="$TMPDIR/verify" verify --device 0 \
    --db "$db" --csv
is "one of three cannot be set up: exit 1" "$code" 1
is "the others are verified" "$(grep -c ',correct,' "$TMPDIR/out")" 2
has "and it is said why" "$(grep ',not verified,' "$TMPDIR/out")" "CUDA_ERROR_OUT_OF_MEMORY"

# ---- faults ----

few 4
# faulty NAME SCRIPT ARGUMENT...: tunes anew with the script, counted over all processes.
faulty() {
    name=$1 script=$2
    shift 2
    rm -f "$TMPDIR"/faulty.db* "$TMPDIR/state"
    run FAKE_CUDA_SCRIPT="$script" FAKE_CUDA_STATE="$TMPDIR/state" tune "$problem" --device 0 \
        --db "$TMPDIR/faulty.db" --templates "$own" --family few --effort full --jobs 0 "$@"
    is "$name: the run ends well" "$code" 0
}

# outcomes: of the trials in order, "correct crashed correct ..."
outcomes() {
    sql "$TMPDIR/faulty.db" "SELECT outcome FROM trial ORDER BY id" | tr '\n' ' '
}
good="correct correct correct"

# A trial launches candidates 14 times to check them, hundreds of times to be timed: the
# first launches of the run are of the first trial.
faulty "context lost" "cuLaunchKernel/gemm:2=700!"
is "context lost: one trial crashed, the next is correct" "$(outcomes)" "crashed $good "
has "context lost: the row says how" "$(rows "$TMPDIR/faulty.db" "$problem" error)" \
    "CUDA_ERROR_ILLEGAL_ADDRESS"
is "context lost: the row ends in its command" "$(rows "$TMPDIR/faulty.db" "$problem" outcome \
    command | grep -c '^crashed|gemmtune trial')" 1
faulty "fault found later" "fault/gemm@3"
is "fault found later: one trial crashed" "$(outcomes)" "crashed $good "
contexts() {
    wc -l <"$TMPDIR/contexts"
    rm -f "$TMPDIR/contexts"
}
export FAKE_CUDA_REPORT="$TMPDIR/contexts"
faulty "nothing is wrong" ""
usual=$(contexts)
faulty "a launch is refused" "cuLaunchKernel/gemm:1=701"
is "a launch is refused: one trial pays" "$(outcomes)" "launch $good "
has "a launch is refused: the row says how" "$(rows "$TMPDIR/faulty.db" "$problem" error)" \
    "cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
is "a launch is refused: no context is given up for it" "$(contexts)" "$usual"
unset FAKE_CUDA_REPORT
faulty "out of memory while loading" "cuModuleLoadData:2=2"
is "out of memory while loading: one trial" "$(outcomes)" "out_of_memory $good "
faulty "does not load" "cuModuleGetFunction:14=500"
is "does not load: one trial" "$(outcomes)" "compile $good "
faulty "wrong once" "corrupt/gemm@9"
is "wrong once: one trial" "$(outcomes)" "wrong_result $good "
faulty "hang" "hang/gemm@5" --timeout 10s
is "hang: one trial timed out, the next is correct" "$(outcomes)" "timeout $good "
export FAKE_NVRTC_FAIL="#define GT_TAG 4" GEMMTUNE_CACHE_DIR="" # no image of the runs before
faulty "does not compile" ""
unset FAKE_NVRTC_FAIL GEMMTUNE_CACHE_DIR
has "does not compile: the compiler's words" \
    "$(rows "$TMPDIR/faulty.db" "$problem" outcome error)" \
    'compile|family few: gemmtune.cu(1): error: the test wants no kernel with'

# A failure that no candidate caused fails the problem with one sentence.
# fails NAME SCRIPT PATTERN
fails() {
    rm -f "$TMPDIR"/faulty.db*
    run FAKE_CUDA_SCRIPT="$2" tune "$problem" --device 0 --db "$TMPDIR/faulty.db" \
        --templates "$own" --family few --effort full --quiet
    is "$1: exit 1" "$code" 1
    has "$1: says why" "$(cat "$TMPDIR/out" "$TMPDIR/err")" "$3"
    is "$1: no trial is charged" \
        "$(sql "$TMPDIR/faulty.db" "SELECT count(*) FROM trial WHERE state = 'done'")" 0
}
fails "no memory for the data" "cuMemAlloc:20=2" "CUDA_ERROR_OUT_OF_MEMORY"
fails "no context" "cuCtxCreate:1=2" "cuCtxCreate: CUDA_ERROR_OUT_OF_MEMORY"
fails "a device that cannot multiply" "corrupt/gt_reference@0" "the device computes"

# ---- the same seed, the same answer ----

# repeat NAME ARGUMENT...: a run into NAME.db, its table in NAME.json, its export in NAME.csv
repeat() {
    name=$1
    shift
    run tune "$problem" i32-nn-8x8x8 --device 0 --db "$TMPDIR/$name.db" --templates "$own" \
        --family few --effort full --quiet --json "$@"
    sed 's/, "seconds": .*}/}/' "$TMPDIR/out" >"$TMPDIR/$name.json" # less what a clock said
    "$GEMMTUNE" list --db "$TMPDIR/$name.db" --csv >"$TMPDIR/$name.csv"
}
few 12
repeat once
is "a full run ends well" "$code" 0
repeat again
is "the same seed gives the same table" "$(cat "$TMPDIR/again.json")" "$(cat "$TMPDIR/once.json")"
is "and the same list" "$(cat "$TMPDIR/again.csv")" "$(cat "$TMPDIR/once.csv")"

# ---- two devices compared, with neither present ----

run FAKE_CUDA_DEVICE=gtx1080 tune "$problem" f64-nt-9x33x12 --device 0 --db "$TMPDIR/1080.db" \
    --family naive --effort quick --budget 60s
is "a second device is tuned" "$code" 0
run GEMMTUNE_LIBCUDA=/nowhere GEMMTUNE_LIBNVRTC=/nowhere GEMMTUNE_LIBOPENCL=/nowhere \
    compare "GTX 1050" "GTX 1080" --db "$db" --db "$TMPDIR/1080.db" --csv
is "compare: exit 0" "$code" 0
is "compare has the problems both have" \
    "$(grep -c -e "$problem" -e f64-nt-9x33x12 "$TMPDIR/out")" 2

# ---- the second kernel of a point may begin before the first has ended, from sm_90 on ----

# early DEVICE POINT: whether launches of a trial did. On a busy machine a worker may be ended before
# it has written its report; then the trial is repeated.
early() {
    rm -f "$TMPDIR/early"
    for _ in 1 2 3 4 5; do
        run FAKE_CUDA_DEVICE="$1" FAKE_CUDA_REPORT="$TMPDIR/early" trial f32-nn-64x48x256 \
            --device 0 --family multistage --point "BM=32 BN=32 BK=16 TM=4 TN=4 STAGES=2 SLICES=1 \
$2 CLUSTER=0 STREAM=0 FOLD=1 VA=1 VB=1 ORDER=0 REPACK=0 MINB=1 GROUP=1"
        [ -s "$TMPDIR/early" ] && break
    done
    echo "exit $code, $(sed -n 's/.* early \([0-9]*\) .*/\1/p' "$TMPDIR/early" | grep -cv '^0$')"
}
is "two kernels of an H200 overlap" "$(early h200 SPLIT=2)" "exit 0, 1"
is "one kernel has none ahead of it" "$(early h200 SPLIT=1)" "exit 0, 0"
is "two kernels of a GTX 1080 do not" "$(early gtx1080 SPLIT=2)" "exit 0, 0"
exit "$bad"
