#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# bench.sh - tuned kernels against vendors' libraries: tests/fake/libcublas.c computes wrongly, refuses,
# crashes or hangs on demand, on the fake CUDA driver; CLBlast and the CPU's BLAS run on PoCL.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

fake=$GT_BUILD/tests/fake
if [ -n "${GT_SAN:-}" ] || [ ! -e "$fake/libcublas.so" ] || [ ! -e "$fake/libcuda.so" ]; then
    echo "ok - bench # SKIP fakes not built, or sanitizers in use"
    exit 0
fi

# bench ARGUMENT...: leaves the exit code in $code and what was printed in the files out and err.
bench() {
    "$GEMMTUNE" bench --device 0 ${db:+--db "$db"} --rounds 6 "$@" >"$TMPDIR/out" 2>"$TMPDIR/err"
    code=$?
}

# lines FIELD...: of every line of the last --json, separated by "|"
lines() {
    sql :memory: "SELECT $(printf "||'|'||ifnull(json_extract(value, '\$.%s'), '')" "$@" |
        cut -c8-) FROM json_each(json_extract(readfile('$TMPDIR/out'), '\$.lines'))"
}

said() {
    cat "$TMPDIR/err"
}

# ---- CLBlast and the CPU's BLAS, on the first device there is without CUDA ----

db=
export GEMMTUNE_LIBCUDA=/nowhere
if ! ldconfig -p | grep -q libclblast.so.1; then
    echo "ok - CLBlast # SKIP not installed"
else
    export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable # to optimise CLBlast's kernels takes a minute
    bench f32-tn-33x17x20,beta --against clblast --json
    is "CLBlast: exit 0" "$code" 0
    is "CLBlast: verified and timed" "$(lines outcome baseline baseline_is)" \
        "correct|clblast|CLBlast"
    bench f32-nt-9x17x20,batch=5,sb=0,ldc=20 f64-nn-8x8x8,batch=3,sa=100 --against clblast --json
    is "CLBlast: batches with a shared B, padding and gaps" "$(lines outcome baseline)" \
        "correct|clblast
correct|clblast"
    unset POCL_EXTRA_BUILD_FLAGS
fi
bench f32-tt-33x17x20,lda=40 i32-nn-8x8x8 --against cpu --json
is "the CPU's BLAS, and nothing for i32" "$(lines outcome baseline)" "correct|cpu
correct|"
has "a line without a baseline is counted" "$(said)" "1 of 2 lines has no baseline"
bench f64-tn-9x17x20,batch=5,sa=0,sc=200 --against cpu --json
is "the CPU's BLAS: a loop over a batch" "$(lines outcome baseline)" "correct|cpu"
# One way of timing a CPU's BLAS: `bench` and `run` give a product of a microsecond the same time.
export GEMMTUNE_LIBCBLAS="$fake/libcblas.so"
bench f32-nn-8x8x8 --against cpu --json
"$GEMMTUNE" run f32-nn-8x8x8 --device 0 --json >"$TMPDIR/run" 2>/dev/null
is "the CPU's BLAS takes as long as by run" "$(sql :memory: "
    SELECT bench / run < 8 AND run / bench < 8 FROM (SELECT
        json_extract(readfile('$TMPDIR/out'), '\$.lines[0].baseline_ns') AS bench,
        json_extract(readfile('$TMPDIR/run'), '\$.cpu_blas_ns') AS run)")" 1
has "and the condition is stated" "$(lines baseline_is)" ", calls in a row, inputs not in a cache"
unset GEMMTUNE_LIBCBLAS
bench f32-nn-8x8x8 --against cublas
is "a library for other devices, asked for by name: exit 1" "$code" 1
has "and said so" "$(said)" "without cublas: it does not run on this device"
bench f32-nn-8x8x8 --overhead --csv
is "OpenCL: what a call costs" "$(cut -d, -f2,3 "$TMPDIR/out" | head -n 4 | tr '\n' ' ')" \
    "kernels,call 1,driver launch 1,gemmtune_execute 1,gemmtune_gemm "
"$GEMMTUNE" bench f32-nn-64x64x64 --device 0 --against cpu --rounds 64 --turn 1s --budget 60s \
    >"$TMPDIR/out" 2>"$TMPDIR/err" &
pid=$!
while ! grep -q opening "$TMPDIR/err" && kill -0 "$pid" 2>/dev/null; do
    sleep 0.1
done
kill -TERM "$pid"
wait "$pid"
is "stopped in its first line: exit 143, as a shell has it" $? 143
is "and one sentence" "$(said | grep -v '^opening\|no database at\|the CPU BLAS of this machine')" \
    "gemmtune: stopped after 0 of 1 line"
"$GEMMTUNE" bench f32-nn-64x64x64 --device 0 --overhead >"$TMPDIR/out" 2>"$TMPDIR/err" &
pid=$!
measurer() { # not the child that lists devices
    cat /proc/[0-9]*/stat 2>/dev/null | sed -n "s/^\([0-9]*\) (gemmtune-bench) [A-Za-z] $pid .*/\1/p"
}
while [ -z "$(measurer)" ] && kill -0 "$pid" 2>/dev/null; do
    sleep 0.05
done
kill -STOP "$(measurer)"
kill -TERM "$pid"
wait "$pid"
is "stopped while it measures calls: exit 143" $? 143
is "and one sentence as well" "$(said | grep -v 'no database at')" \
    "gemmtune: stopped after 0 of 1 problem"
GEMMTUNE_LIBCUDA="$fake/libcuda.so" FAKE_CUDA_DEVICE=gtx1050-2gb FAKE_CUDA_SCRIPT="stall/cuInit" \
    "$GEMMTUNE" bench f32-nn-64x64x64 --device 0 >"$TMPDIR/out" 2>"$TMPDIR/err" &
pid=$!
while [ -z "$(children_of "$pid")" ] && kill -0 "$pid" 2>/dev/null; do
    sleep 0.05
done
kill -TERM "$pid"
wait "$pid"
is "stopped while a driver hangs that lists its devices: exit 143" $? 143
is "and one sentence again" "$(said | grep -v 'no database at')" \
    "gemmtune: stopped while a device driver listed its devices"
bench f32-nn-8x8x8 --against self --workspace 4KiB
has "the workspace is said to people" "$(cat "$TMPDIR/out")" "workspace of each side: 4 KiB"
bench f32-nn-8x8x8 --workspace 1GB,
is "a size that is none: exit 2" "$code" 2
bench f32-nn-8x8x8 --db "$TMPDIR/none.db"
is "a database that is not there: exit 6" "$code" 6

# ---- cuBLAS ----

export GEMMTUNE_LIBCUDA="$fake/libcuda.so" GEMMTUNE_LIBNVRTC="$fake/libnvrtc.so"
export GEMMTUNE_LIBCUBLAS="$fake/libcublas.so" GEMMTUNE_LIBCUBLASLT="$fake/libcublas.so"
export FAKE_CUDA_DEVICE=gtx1050-2gb FAKE_NVRTC_VERSION=12.9 FAKE_CUDA_TIME=model
one=f32-nn-24x20x36 other=f32-nn-24x20x37
db=$TMPDIR/tuned.db
tune "$one" --db "$db" --family naive --effort quick --budget 60s

bench "$one" "$other" f64-tt-33x35x70,lda=40,beta i32-nn-8x8x8 --json
is "a whole run: exit 0" "$code" 0
is "the version and the command are in the file" "$(sql :memory: "
    SELECT json_extract(s, '\$.gemmtune') || ' ' || json_extract(s, '\$.command')
    FROM (SELECT readfile('$TMPDIR/out') AS s)")" "$("$GEMMTUNE" --version | sed -n '1s/.* //p') gemmtune bench --device 0 \
--db $db --rounds 6 $one $other f64-tt-33x35x70,lda=40,beta i32-nn-8x8x8 --json"
is "no candidate is wrong" "$(lines wrong | tr '\n' ' ')$(grep -c 'wrong candidate' "$TMPDIR/err")" \
    "0 0 0 0 0"
is "every line is right; i32 has no rival" "$(lines problem class outcome)" \
    "$one|small|correct
$other|small|correct
f64-tt-33x35x70,lda=40,beta|small|correct
i32-nn-8x8x8|small|correct"
is "the faster of both libraries is the baseline" \
    "$(lines baseline verdict | grep -c -E '^cublas(lt)?\|(win|tie|loss)$')" 3
# Verdicts, as their ratios' intervals have them.
is "a verdict is what the ratio and the floor say" "$(sql :memory: "
    SELECT count(*) FROM json_each(json_extract(readfile('$TMPDIR/out'), '\$.lines'))
    WHERE json_extract(value, '\$.verdict') = CASE
        WHEN json_extract(value, '\$.ratio_high') > 1.5 * json_extract(value, '\$.ratio_low') THEN 'noisy'
        WHEN json_extract(value, '\$.ratio_low') > 1 + ifnull(json_extract(value, '\$.floor'), 0) THEN 'win'
        WHEN json_extract(value, '\$.ratio_high') < 1 - ifnull(json_extract(value, '\$.floor'), 0) THEN 'loss'
        ELSE 'tie' END AND json_extract(value, '\$.ratio') > 0")" 3
is "how the record was found" "$(lines kernel | sed 's/:.*//' | tr '\n' ' ')" \
    "exact default default default "
is "the least sum and the tally agree" "$(sql :memory: "
    SELECT json_extract(s, '\$.wins') + json_extract(s, '\$.ties') + json_extract(s, '\$.losses')
    FROM (SELECT json_extract(readfile('$TMPDIR/out'), '\$.sums[0]') AS s)")" 3
bench "$one" --csv
is "CSV has a heading and a line" "$(cut -d, -f1 "$TMPDIR/out" | tr '\n' ' ')" "problem $one "
cp "$TMPDIR/out" "$TMPDIR/first"
bench "$one" --csv
is "the same times give the same words" "$(cat "$TMPDIR/out")" "$(cat "$TMPDIR/first")"

export FAKE_CUDA_DEVICE=h200 # 8-bit floats came with sm_89
bench f16-nn-24x20x36 i8-nt-24x20x36 e4m3+e5m2=f16-nt-16x32x48 e4m3-nn-16x32x48 \
    e4m3@fast-nt-16x32x48 --json
is "types of 16 and 8 bits: each library has what it has" \
    "$(lines outcome baseline | sed 's/cublas$/either/; 1,2s/cublaslt$/either/')" \
    "correct|either
correct|either
correct|cublaslt
correct|
correct|cublaslt"
has "and the reason where it has nothing" "$(lines note)" "8-bit floats in layout nt only"
# Batches: gaps, a shared B, products side by side in the rows of C.
bench f32-tn-9x17x20,batch=5,sa=400,sb=0 f64-nt-8x12x16,lda=20,batch=3,ldc=40,sc=12 \
    f16-nn-16x16x16,batch=4 i8-nn-16x16x16,batch=4 --json
is "batches: both libraries are right" "$(lines outcome | sort -u)" correct
is "batches: and both take part" \
    "$(lines note | grep -c -E '^cublas [0-9.]+ us; cublaslt [0-9.]+ us$')" 4
bench f32-nn-24x20x36 f16-nn-16x16x16,batch=4 bf16-nn-8x8x8,groups=3 --against cublas-autotune --json
is "cuBLAS's own tuning: single products and batches, when it is named" \
    "$(lines outcome baseline baseline_is | sed 's/, pedantic\|, default//')" "correct|cublas-autotune|cuBLAS 13.1.0, tuned by itself
correct|cublas-autotune|cuBLAS 13.1.0, tuned by itself
correct||"
# Groups and masks: cuBLAS gets the sizes on the host, in one call where rows are aligned.
bench bf16-nn-100x24x40,groups=7,beta f32-nn-20x24x16,batch=4,masked,sb=0 \
    bf16-tn-100x24x40,groups=7 --json --against cublas --spread zipf
is "rows: cuBLAS is right, in one call or in a call for each group" "$(lines outcome baseline_is |
    sed 's/cuBLAS 13.1.0, [a-z]*, //')" "correct|one call, sizes on the host
correct|one call, sizes on the host
correct|a call for each group, sizes on the host"
is "rows: nothing was left out" "$(lines note | grep -c "left out")" 0
# Epilogues: one that cublasLt has, others as a kernel after the product. A C of 16 bits holds
# the rounded sum in between.
bench f32-nn-24x20x36,epi=bias_relu f16-nt-33x24x16,epi=swiglu bf16-tn-17x19x33,epi=gelu \
    f16=f32-nn-16x16x16,beta,epi=residual 'f32-nn-8x8x8,epi=d=2*acc' --json
is "epilogues: ours is right" "$(lines outcome | sort -u)" correct
is "epilogues: an own one, kernels behind products, and none that reads the sum alone" \
    "$(lines note | sed 's/[ 0-9.]* us//g')" "cublaslt; cublas+kernel; cublaslt+kernel
cublas+kernel; cublaslt+kernel
cublas+kernel; cublaslt+kernel
cublas+kernel; cublaslt+kernel
none of the rivals has a kernel for it"
has "epilogues: the baseline is named as what it is" "$(lines baseline_is | sed -n 2p)" \
    ", then elementwise V="
bench e4m3=f32-nt-16x32x48,epi=bias_relu --json --against cublaslt
is "epilogues: a bias beside 8-bit floats is declared as f32" "$(lines outcome note | sed 's/[ 0-9.]* us//g')" "correct|cublaslt"
bench f32-nn-32x24x16,batch=3,epi=scale_batch_bias f32-nn-32x24x16,batch=3,beta,epi=residual \
    f16-nt-100x24x40,groups=7,epi=batch_bias_silu f32-nn-32x24x16,batch=3,masked,sb=0,epi=batch_bias --json
is "epilogues: of batches, groups and masks, behind the vendor's own" \
    "$(lines outcome note | sed 's/[ 0-9.]* us//g')" "correct|cublas+kernel; cublaslt+kernel
correct|cublas+kernel; cublaslt+kernel
correct|cublas+kernel
correct|cublas+kernel"
bench i8=bf16-nt-24x20x36,epi=dequantise_bias i8=f32-nt-24x20x36,beta,epi=silu i8=f16-nn-24x20x36 \
    i8=i8-nt-24x20x36,epi=dequantise i8=i8-tn-24x20x36,batch=3,sb=0,ldc=24,beta,epi=dequantise_bias --json
is "epilogues: integer sums that become other types" "$(lines outcome note | sed 's/[ 0-9.]* us//g' | sort -u)" \
    "correct|cublas+kernel; cublaslt+kernel"
FAKE_CUBLAS=wrong bench f32-nn-24x20x36,epi=silu --json --against cublas+kernel
has "epilogues: a wrong product is refused" "$(lines note)" "cublas+kernel: wrong_result, 6 wrong candidates: "
bench f32@split-nn-16x32x48 --json
has "the baseline of f32@split says its arithmetic" "$(lines baseline_is)" ", strict f32"
bench f32@split-nn-16x32x48
has "and people are told" "$(cat "$TMPDIR/out")" "f32@split: the baselines compute in strict f32"
export FAKE_CUDA_DEVICE=gtx1050-2gb

export FAKE_CUBLAS=wrong
bench "$one" --json
is "a wrong baseline is left out: exit 0" "$code" 0
is "and the other one is taken" "$(lines baseline)" cublaslt
has "and said so" "$(lines note)" "cublas: wrong_result, 2 wrong candidates: $one alpha 1 beta 0: 480 elements wrong"
bench "$one" --against cublas
has "with none left there is no baseline" "$(cat "$TMPDIR/out")" "rival failed"
FAKE_CUBLAS=ltwrong bench "$one" --against cublaslt --json
is "a wrong candidate is left out" "$(lines baseline_is)" "cublasLt 13.1.0, candidate 2 of 2"
has "and said so" "$(lines note)" ": 1 wrong candidate left out: $one"
has "with the time of what a program gets" "$(lines note)" " (its default, which is wrong, "
# They are counted, on a line and on all lines.
FAKE_CUBLAS=ltallwrong@36 bench "$one" "$other" --json
has "all candidates are wrong" "$(lines note | head -n 1)" \
    "cublaslt: wrong_result, 2 wrong candidates: $one"
is "wrong candidates are counted" "$(lines wrong | tr '\n' ' ')$(sql :memory: "
    SELECT json_extract(s, '\$.wrong_candidates'), json_extract(s, '\$.wrong_lines')
    FROM (SELECT readfile('$TMPDIR/out') AS s)")" "2 0 2|1"
has "and the summary tells" "$(said)" "2 wrong candidates on 1 line: "
FAKE_CUBLAS=ltallwrong bench "$one" "$other"
has "people are told on how many lines" "$(said)" "4 wrong candidates on 2 lines: "
FAKE_CUBLAS=refuse bench "$one" --json
is "a library that does not do this" "$(lines baseline)" cublaslt

# A rival that ends the process, loses the context or writes where it must not costs its place.
FAKE_CUBLAS=crash@36 bench "$one" "$other" --json
is "a crash of a rival: exit 0" "$code" 0
is "a crash of a rival: the others go on" "$(lines outcome baseline | sed 's/lt$//')" \
    "correct|cublas
correct|cublas"
has "a crash of a rival: says how it ended" "$(lines note | head -n 1)" "cublas: crashed: *signal 6"
is "a crash of a rival: it is back in the next line" \
    "$(lines note | sed -n 2p | grep -c -E '^cublas [0-9.]+ us; cublaslt [0-9.]+ us$')" 1
FAKE_CUBLAS=hang@36 bench "$one" "$other" --json --timeout 15s
has "a rival that keeps everybody waiting is named" "$(said)" "$one: cublas is compiling or setting up; it has 15 s"
is "a hang of a rival costs its place" "$(lines outcome note | sed 's/; .*//' | head -n 1)" \
    "correct|cublas: timeout: not done after 15 s"
FAKE_CUBLAS=crash bench "$one" --against cublas
is "the only one crashes: exit 0" "$code" 0
has "the only one crashes: ours is printed" "$(cat "$TMPDIR/out")" "us *rival failed"
has "the only one crashes: and why" "$(said)" "$one: cublas: crashed: *signal 6"
FAKE_CUBLAS=crash bench "$one" "$other" f32-nn-8x8x8 f32-nn-8x8x9 --against cublas --json
is "a rival that always crashes: ours every time" "$(lines outcome | tr '\n' ' ')" \
    "correct correct correct correct "
has "a rival that always crashes: it is not asked any more" "$(lines note | tail -n 1)" \
    "takes no part any more"
FAKE_CUBLAS=fault@36 bench "$one" "$other" --json
is "a lost context is that rival's" "$(lines outcome baseline | sed 's/lt$//')" "correct|cublas
correct|cublas"
has "a lost context: said so" "$(lines note | head -n 1)" "cublas: *ILLEGAL_ADDRESS"
FAKE_CUBLAS=trample@36 bench "$one" "$other" --json
is "what a rival writes over is not our fault" "$code $(lines outcome | tr '\n' ' ')" \
    "0 correct correct "
has "what a rival writes over: said so" "$(lines note | head -n 1)" "cublas: wrong_result, 2 wrong candidates: "
unset FAKE_CUBLAS

# A failure without any rival is ours.
FAKE_CUDA_SCRIPT="corrupt/gemm@0" bench "$one" --json
is "ours wrong: exit 5" "$code" 5
FAKE_CUDA_SCRIPT="hang/gemm@0" bench "$one" "$other" --json --timeout 10s --against cublas
is "ours hangs: its lines" "$(lines outcome | tr '\n' ' ')" "timeout timeout "
FAKE_CUDA_SCRIPT="corrupt/gemm@0" bench "$one" --json
is "ours wrong: not timed" "$(lines outcome ours_ns baseline)" "wrong_result||"

# A turn is as many samples as it is long: launch 20000 is beyond six rounds of one sample.
FAKE_CUDA_SCRIPT="hang@20000" bench "$one" --aa --json --timeout 15s
is "turns of a sample are over before" "$(lines outcome rounds)" "correct|6"
FAKE_CUDA_SCRIPT="hang@20000" bench "$one" --aa --json --timeout 15s --turn 20ms
is "turns of 20 ms are not" "$(lines outcome)" timeout
bench "$one" --json --turn 20ms
is "turns of 20 ms, undisturbed" "$(lines outcome rounds | sed 's/|.*|/|/')" "correct|6"

# A throttled clock: its rounds are dropped as long as there is hope, and the line says so.
GEMMTUNE_LIBNVML="$fake/libcuda.so" FAKE_CUDA_SCRIPT="clock=0.6@1" bench "$one" --json
is "throttled rounds are dropped" "$(lines dropped rounds clock_low_mhz)" "20|6|873"

# ---- what is missing ----

GEMMTUNE_LIBCUBLAS=$fake/libcuda.so bench "$one" --json
has "a library without its functions is a sentence" "$(said)" \
    "without cublas: it has no cublasCreate_v2"
is "and the other one is taken" "$(lines baseline)" cublaslt
GEMMTUNE_LIBCUBLAS=/nowhere/libcublas.so bench "$one" --against cublas --quiet
is "asked for by name and not there: exit 1" "$code" 1
has "and one sentence" "$(said)" "without cublas: it is not installed"
is "and nothing else" "$(wc -l <"$TMPDIR/err") $(wc -c <"$TMPDIR/out")" "1 0"
NVIDIA_TF32_OVERRIDE=1 bench "$one"
is "other arithmetic by the environment: exit 2" "$code" 2
bench "$one" --db "$GT_SRC/Makefile"
is "a database that is none: exit 6" "$code" 6

# ---- ours against ours; what a call costs ----

bench "$one" "$other" f32-nn-25x20x36 --aa --json
is "against itself: all are ties" "$(lines baseline verdict | sort | uniq -c | tr -s ' ')" " 3 self|tie"
is "the floor is told" \
    "$(sql :memory: "SELECT json_extract(readfile('$TMPDIR/out'), '\$.floors.f32') < 0.05")" 1
calls() {
    sql :memory: "SELECT json_extract(value, '\$.problem') || ' ' || json_extract(value, '\$.kernels') ||
        ' ' || group_concat(json_extract(value, '\$.call') ||
        iif(json_extract(value, '\$.low_ns') <= json_extract(value, '\$.ns') AND
            json_extract(value, '\$.ns') <= json_extract(value, '\$.high_ns'), '', '?'), ' ')
        FROM json_each(readfile('$TMPDIR/out')) GROUP BY 1 * json_extract(value, '\$.kernels'),
        json_extract(value, '\$.problem')"
}

# ---- times and errors ----

ways() { # of every way and kind of data of the last --json: way, data, and EXPRESSION
    sql :memory: "SELECT json_extract(value, '\$.way') || '|' || json_extract(value, '\$.data')
        || '|' || ($1) FROM json_each(readfile('$TMPDIR/out'))"
}
sizes="CASE WHEN json_extract(value, '\$.error_max') BETWEEN 0.5 AND 200 AND
    json_extract(value, '\$.error_mean') BETWEEN 0.01 AND 50 AND json_extract(value, '\$.ns') > 0
    THEN 'rounding' ELSE ifnull(json_extract(value, '\$.error_max') > 1e5, 'none') END"
bench "$one" --error --json
is "errors: exit 0" "$code" 0
is "errors: each way on each kind of data" "$(ways "$sizes")" "gemmtune|uniform|rounding
gemmtune|one sign|rounding
gemmtune|wide exponents|rounding
cuBLAS 13.1.0, strict f32|uniform|rounding
cuBLAS 13.1.0, strict f32|one sign|rounding
cuBLAS 13.1.0, strict f32|wide exponents|rounding
cuBLAS 13.1.0, tf32|uniform|rounding
cuBLAS 13.1.0, tf32|one sign|rounding
cuBLAS 13.1.0, tf32|wide exponents|rounding
cuBLAS 13.1.0, bf16x9|uniform|rounding
cuBLAS 13.1.0, bf16x9|one sign|rounding
cuBLAS 13.1.0, bf16x9|wide exponents|rounding"
FAKE_CUBLAS=wrong bench f64@residues-nn-24x20x36 --error --json
is "errors: a wrong product has a large one; a library without fixed point says so" \
    "$(ways "$sizes" | grep uniform)" "gemmtune|uniform|rounding
gemmtune, strict|uniform|rounding
cuBLAS 13.1.0, strict f64|uniform|1
cuBLAS 13.1.0, fixed point|uniform|none"
bench f16-nn-8x8x8 "$one" --error --csv
is "errors: f16 is refused, the others go on" "$code $(wc -l <"$TMPDIR/out")" "3 13"
has "errors: and why" "$(said)" "f16-nn-8x8x8: errors are measured of f32 and f64 matrices only"

bench "$one" i32-nn-8x8x8 --overhead --json
is "call costs of two problems: exit 0" "$code" 0
is "call costs: every call with its interval; cuBLAS has none for i32" "$(calls)" \
    "$one 1 driver launch gemmtune_execute gemmtune_gemm cublas cublaslt
i32-nn-8x8x8 1 driver launch gemmtune_execute gemmtune_gemm"
bench "$one" "$one,epi=relu" --as-used --workspace 0 --json
is "as used: plans without, with the same and with any workspace, and the one-call form" \
    "$code $(sql :memory: "SELECT group_concat(min(json_extract(value, '\$.none_ratio') > 0,
        json_extract(value, '\$.same_ratio') > 0, json_extract(value, '\$.any_ratio') > 0,
        json_extract(value, '\$.first_plan_ms') > 0, json_extract(value, '\$.workspace') = 0) || ' ' ||
        (ifnull(json_extract(value, '\$.call_ratio'), 0) > 0) || ' ' ||
        (ifnull(json_extract(value, '\$.first_call_ms'), 0) > 0), ', ')
        FROM json_each(readfile('$TMPDIR/out'), '\$.lines')")" "0 1 1 1, 1 0 0"
bench "$one" --as-used --overhead
is "as used: not with what the calls cost: exit 2" "$code" 2
bench f32-nn-24x20x36,groups=3 --overhead --csv
is "call costs: groups are refused" "$code" 3
GEMMTUNE_LIBCUBLAS=/nowhere/libcublas.so bench "$one" --overhead --csv
has "call costs: what is not installed is a sentence" "$(cat "$TMPDIR/out")" "cublas,*not installed"
exit "$bad"
