#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exec.sh - `gemmtune exec` serves a program's products where a kernel was measured faster, in every state of the
# program's library, and passes the others on. The driver, the compiler, cuBLAS and the vendor's times are stand-ins.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

use_served_client "programs with cuBLAS"
export FAKE_RIVAL=faster

# The products of scenes: f32 32x48x64 column-major, and what else is served here.
tune --effort quick --family naive f32-nn-48x32x64 f32-nn-48x32x64,beta f64-nn-48x32x64 bf16-nn-48x32x64 \
    f32-nn-48x32x64,batch=3 f32-nn-48x32x64,epi=bias_relu f32@split-nn-48x32x64 f64@residues-nn-48x32x64
is "problems are tuned" $? 0
"$GEMMTUNE" build --device 0 --quiet >said 2>&1
is "their kernels are built" $? 0

# play MODE WORD...: the scene; its words to $TMPDIR/said, the line at exit to $TMPDIR/err
play() {
    mode=$1
    shift
    rm -f log
    GEMMTUNE_EXEC=$mode LD_PRELOAD=$ours/libgemmtune-blas.so LD_AUDIT=$GT_BUILD/libgemmtune-audit.so \
        "$client" "$@" >said 2>err
    code=$?
}

# calls_of_cublas: of the last scene
calls_of_cublas() {
    [ -e log ] || : >log
    wc -l <log
}

# served NAME SERVED ALL REASON WORD...: so many of the scene's calls are served, the others for the reason; its results
# are right, and calls that were passed on, and they alone, reached cuBLAS
served() {
    name=$1 count=$2 all=$3 reason=$4
    shift 4
    play serve "$@"
    is "$name: right results" "$code $(cat said)" "0 "
    has "$name: $count of $all" "$(cat err)" "gemmtune: $count of $all GEMM calls served"
    [ -z "$reason" ] || has "$name: why" "$(cat err)" "$reason"
    is "$name: the others reach cuBLAS" "$(calls_of_cublas)" $((all - count))
}

# The first process may have to load the compiler to learn which images are its own.
for _ in $(seq 100); do
    play serve gemm=1 sleep=100 gemm=1
    case $(cat err) in *"2 of 2"*) break ;; esac
done
has "a later process finds the kernel" "$(cat err)" "2 of 2 GEMM calls served"

# ---- what is served ----

served "f32" 10 10 "" gemm=10
served "beta" 2 2 "" beta=1 old=3 gemm=2
served "f64" 1 1 "" type=f64 gemm=1
served "bf16 by cublasGemmEx" 1 1 "" type=bf16 gemm=1
served "four threads that share a handle" 401 401 "" gemm=1 share=4
served "the same, with a workspace of the program's" 401 401 "" workspace=33554432 gemm=1 share=4
served "a batch at strides" 2 2 "" batch=3 gemm=1 lt=1
served "cublasLt" 1 1 "" lt=1
served "cublasLt with the heuristic's algorithm" 1 1 "" algo=1 lt=1
served "cublasLt with bias and relu" 1 1 "" epilogue=6 lt=1
served "cublasLt, C is not D and not read" 1 1 "" apart lt=1
served "on a stream" 3 3 "" stream gemm=2 lt=1
served "NaN in a C that is not read" 2 2 "" old=nan gemm=1 lt=1
served "four threads" 401 401 "" gemm=1 threads=4
has "seconds are those of the stored times" "$(play serve gemm=10 && cat err)" "0.005 s saved"
play serve,quiet gemm=1
is "quiet" "$code $(cat err)" "0 "

# ---- what is passed on, and why ----

served "another shape" 0 1 "1 not tuned on this device" shape=8,8,8 gemm=1
served "scalars in device memory" 0 1 "1 scalars in device memory" device-scalars gemm=1
served "TF32 was not tuned" 0 1 "1 not tuned on this device" math=3 gemm=1
served "pedantic f32" 1 1 "" math=2 gemm=1
served "pedantic bf16" 0 1 "1 math mode" type=bf16 math=2 gemm=1
served "f32 by three bf16" 0 1 "1 emulation" math=4 gemm=1
served "f64 by fixed point" 0 1 "1 emulation" type=f64 math=8 gemm=1
served "a target of SMs" 0 2 "2 a target for the number of SMs" sms=20 gemm=1 lt=1
served "an odd address" 0 2 "2 pointers not aligned" odd gemm=1 lt=1
served "an algorithm of the program's" 0 1 "1 an algorithm of the program's choice" algo=2 lt=1
served "no handle" 0 1 "1 arguments that cuBLAS may refuse" no-handle lt=1
served "C is read and is not D" 0 1 "1 C is read and is not D" apart beta=1 lt=1
served "an epilogue without an equal" 0 1 "1 an epilogue" epilogue=130 lt=1
served "after a fork of a process with plans" 0 1 "1 process after a fork" gemm=1 fork gemm=1
export CUBLAS_EMULATE_SINGLE_PRECISION=1
served "the environment asks for emulation" 0 1 "1 emulation" gemm=1
unset CUBLAS_EMULATE_SINGLE_PRECISION
export NVIDIA_TF32_OVERRIDE=0
served "the environment overrides TF32" 1 2 "1 math mode" gemm=1 type=f64 gemm=1
unset NVIDIA_TF32_OVERRIDE
for verdict in tie slower; do
    FAKE_RIVAL=$verdict play serve gemm=1
    has "a kernel that is $verdict" "$(cat err)" "0 of 1 GEMM calls served, 0 s saved by the stored times; passed on: 1 not faster"
done
FAKE_RIVAL_VERSION=130000 play serve gemm=1
has "another version was measured" "$(cat err)" "1 not measured against this version"
for _ in $(seq 100); do # the first look may wait for the kernel of odd addresses
    GEMMTUNE_EXEC=serve LD_PRELOAD=$ours/libgemmtune-blas.so "${client}12" gemm=1 sleep=100 2>err
    case $(cat err) in *"not built"*) ;; *) break ;; esac
done
has "the program has another release" "$(cat err)" "1 not measured against this version"
GEMMTUNE_EXEC=serve LD_PRELOAD=$GT_BUILD/libgemmtune-blas.so "$client" gemm=1 2>err
has "a library without the vendor's times serves nothing" "$(cat err)" "0 of 1 GEMM calls served"

# ---- captures, contexts, handles ----

served "a capture of a known product" 3 3 "" stream gemm=1 capture gemm=2 replay=3
served "a capture of a new one" 0 2 "2 first met in a capture" stream capture gemm=2 replay=2
served "a capture with a workspace of the program's" 3 3 "" stream workspace=1048576 gemm=1 capture gemm=2 replay=2
served "another context" 2 2 "" gemm=1 context gemm=1
served "a stream of another context" 1 2 "1 stream of another context" stream gemm=1 context gemm=1
served "a handle that dies" 2 2 "" gemm=1 handle gemm=1
served "a stream that is set again" 2 2 "" stream workspace=1048576 gemm=1 stream gemm=1

# ---- math that is asked for ----

play serve,split,residues gemm=1 type=f64 gemm=1
has "split and residues are named" "$(cat err)" "2 of 2 GEMM calls served, 0.001 s saved by the stored times, f32 as f32@split, f64 as f64@residues"
play serve,split math=2 gemm=1
is "pedantic stays strict" "$(cat err)" "gemmtune: 1 of 1 GEMM calls served, 0.0005 s saved by the stored times"

# ---- check ----

play check gemm=2 beta=1 gemm=1 type=f64 beta=0 gemm=1 type=bf16 gemm=1 epilogue=6 type=f32 lt=1 batch=3 epilogue=1 gemm=1
is "check: the program's results are cuBLAS's" "$code $(cat said)" "0 "
has "check: all are compared and agree" "$(cat err)" "7 of 7 GEMM calls checked, 7 compared, 0 wrong"
is "check: cuBLAS computes all" "$(wc -l <log)" 7
FAKE_CUDA_SCRIPT=corrupt@1 play check gemm=1
is "a wrong result of ours: the program has cuBLAS's" "$code $(cat said)" "0 "
has "a wrong result of ours is named" "$(cat err)" "gemmtune: wrong: f32-nn-48x32x64: row 0, column 0"
has "and counted" "$(cat err)" "1 compared, 1 wrong (f32-nn-48x32x64)"
play check stream gemm=1 capture gemm=1 replay=1
has "captured calls are not checked" "$(cat err)" "1 of 2 GEMM calls checked"

# ---- as without us ----

# unharmed NAME PATTERN WORD...: the scene is right, all calls reach cuBLAS, one line says why
unharmed() {
    name=$1 pattern=$2
    shift 2
    play serve "$@"
    is "$name: right results" "$code $(cat said)" "0 "
    has "$name: one line" "$(cat err)" "$pattern"
    is "$name: no more lines" "$(wc -l <err)" 1
}
export GEMMTUNE_DB=/nowhere/x.db
unharmed "no database" "no tuned results: /nowhere/x.db" gemm=2
echo "no database at all" >wrong.db
export GEMMTUNE_DB="$TMPDIR/wrong.db"
unharmed "a file that is no database" "wrong.db" gemm=2
export GEMMTUNE_DB="$TMPDIR/tuned.db"
images=$GEMMTUNE_CACHE_DIR
export GEMMTUNE_CACHE_DIR="$TMPDIR/none" FAKE_NVRTC_SLOW="kernel"
unharmed "a compiler that takes long" "2 kernel not built yet" gemm=2
unset FAKE_NVRTC_SLOW
export GEMMTUNE_CACHE_DIR="$TMPDIR/wrong.db/none"
unharmed "no image cache" "0 of 2 GEMM calls served" gemm=2
export GEMMTUNE_CACHE_DIR="$images"
FAKE_CUDA_SCRIPT=cuLaunchKernel:1=2 play serve gemm=3
is "a launch that fails: right results" "$code $(cat said)" "0 "
has "a launch that fails: passed on from then on" "$(cat err)" "0 of 3 GEMM calls served"
FAKE_CUDA_SCRIPT=cuMemAlloc:4=2 play serve gemm=2
is "no memory for a workspace: right results" "$code $(cat said)" "0 "
"$GEMMTUNE" exec --db "$TMPDIR/tuned.db" -q "$client" gemm=1 2>err
is "the command: exit code and stderr" "$? $(cat err)" "0 "
GEMMTUNE_LIBCUBLAS=$GT_BUILD/tests/fake/libcublas.so GEMMTUNE_EXEC=record:$TMPDIR/own.json \
    LD_PRELOAD=$GT_BUILD/libgemmtune-blas.so LD_AUDIT=$GT_BUILD/libgemmtune-audit.so \
    "$GEMMTUNE" bench --device 0 --budget 1s --against cublas f32-nn-48x32x64 >said 2>&1
is "gemmtune's own calls of cuBLAS are not ours" "$? $(find . -name 'own.json*')" "0 "
"$GEMMTUNE" exec --math residue true 2>err
is "the command: a word of --math that is none" $? 2
exit "$bad"
