#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# against.sh - `tune --against` and `bench --store`: what is stored of our kernels beside the
# vendor's libraries, what is not measured again, and what list says. The libraries are fakes.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"
use_fakes "comparisons that are stored"
if [ ! -e "$fake/libcublas.so" ]; then
    echo "ok - comparisons that are stored # SKIP the fake cuBLAS is not built"
    exit 0
fi
export GEMMTUNE_LIBCUBLAS="$fake/libcublas.so" GEMMTUNE_LIBCUBLASLT="$fake/libcublas.so"
export FAKE_CUDA_DEVICE=gtx1050-2gb FAKE_NVRTC_VERSION=12.9 FAKE_CUDA_TIME=model
one=f32-nn-24x20x36 other=i32-nn-8x8x8
db=$TMPDIR/tuned.db

# against ARGUMENT...: leaves the exit code in $code, and what was said in the file err
against() {
    "$GEMMTUNE" tune --device 0 --db "$db" --family naive --effort quick "$@" \
        >"$TMPDIR/out" 2>"$TMPDIR/err"
    code=$?
}
said() {
    cat "$TMPDIR/err"
}
kept() { # the comparisons that are stored
    sql "$db" "SELECT s.problem, x.workspace, x.library, x.version, x.rounds, x.driver, x.provenance
        FROM rival AS x JOIN subject AS s ON s.id = x.subject ORDER BY 1, 2, 3, 4, x.id"
}
ratio() { # WORKSPACE LIBRARY: as it is said of the first problem
    sql "$db" "SELECT printf('%.3f ', ratio) || verdict FROM rival WHERE workspace = $1 AND library = '$2'"
}
of() { # WORKSPACE COLUMN: of the first problem beside cublas
    sql "$db" "SELECT $2 FROM rival WHERE workspace = $1 AND library = 'cublas'"
}
moments() {
    sql "$db" "SELECT id, measured_ms FROM rival ORDER BY id"
}

against "$one" "$other" --against cublas,cublaslt
is "a run with both libraries: exit 0" "$code" 0
is "each limit and library has a row; nobody multiplies i32" "$(kept)" "\
$one|0|cublas|130100|21|CUDA 13.0|local
$one|0|cublaslt|130100|21|CUDA 13.0|local
$one|33554432|cublas|130100|21|CUDA 13.0|local
$one|33554432|cublaslt|130100|21|CUDA 13.0|local"
has "and it is said" "$(said)" "1/2] $one, no workspace: cublas 13.1.0 $(ratio 0 cublas), cublaslt 13.1.0 $(ratio 0 cublaslt)"
is "a verdict is what the ratio and the floor say" "$(sql "$db" "SELECT count(*) FROM rival WHERE verdict =
    CASE WHEN ratio_high > 1.5 * ratio_low THEN 'noisy' WHEN ratio_low > 1 + floor THEN 'win'
    WHEN ratio_high < 1 - floor THEN 'loss' ELSE 'tie' END")" 4
has "with the workspace" "$(said)" "2/2] $one, 32 MiB workspace: cublas"
is "the ratio is the rival's time over ours" "$(sql "$db" "SELECT count(*) FROM rival WHERE
    abs(ratio - rival_ns / ours_ns) < 0.05 AND ratio_low <= ratio AND ratio <= ratio_high")" 4
is "the kernel is the record" "$(sql "$db" "SELECT count(*) FROM rival AS x JOIN record AS r
    ON r.subject = x.subject WHERE r.rank = 0")" 4

# ---- again ----

moments >"$TMPDIR/before"
against "$one" "$other" --against cublas,cublaslt
is "the same again: exit 0" "$code" 0
is "and nothing is measured" "$(moments)" "$(cat "$TMPDIR/before")"
against "$one" --against cublaslt,cublas --quiet
is "nor in the other order" "$(moments)|$(said)" "$(cat "$TMPDIR/before")|"
sql "$db" "DELETE FROM rival WHERE library = 'cublas' AND workspace = 0"
against "$one" --against cublas
is "what is missing is measured again, and no more" \
    "$(said | grep -c workspace:) $(kept | wc -l)" "1 4"
sql "$db" "UPDATE rival SET version = 130000, checksum = '0000000000000000'"
against "$one" --against cublas
is "another version, or a row that is damaged: measured" \
    "$(kept | grep -c '|cublas|130100|')" 2
sql "$db" "DELETE FROM rival WHERE version = 130000"

sql "$db" "DELETE FROM rival"
against "$one" --against cublas

# ---- list ----

"$GEMMTUNE" list --db "$db" --json >"$TMPDIR/list.json"
listed() {
    sql :memory: "SELECT $1 FROM json_each(readfile('$TMPDIR/list.json')) ORDER BY json_extract(value, '\$.problem')"
}
is "list has the verdict and the library" \
    "$(listed "json_extract(value, '\$.vendor'), json_extract(value, '\$.vendor_verdict'),
        abs(json_extract(value, '\$.vendor_ratio') - $(of 33554432 ratio)) < 0.0001,
        json_extract(value, '\$.vendor_without_verdict'),
        abs(json_extract(value, '\$.vendor_without_ratio') - $(of 0 ratio)) < 0.0001,
        json_extract(value, '\$.vendor_ratio_low') <= json_extract(value, '\$.vendor_ratio')")" \
    "cublas 13.1.0|$(of 33554432 verdict)|1|$(of 0 verdict)|1|1
|||||"
has "and people see the ratio" "$("$GEMMTUNE" list --db "$db")" "vs vendor"
"$GEMMTUNE" export --db "$db" "$TMPDIR/tuned.json" >"$TMPDIR/out"
has "export says what it took along" "$(cat "$TMPDIR/out")" "2 comparisons"
"$GEMMTUNE" import --db "$TMPDIR/into.db" "$TMPDIR/tuned.json" --json >"$TMPDIR/out"
is "import takes it" "$(sql :memory: "SELECT json_extract(readfile('$TMPDIR/out'), '\$[0].rivals')")" 2
"$GEMMTUNE" list --db "$TMPDIR/into.db" --json >"$TMPDIR/list.json"
is "and an imported one is listed" "$(listed "json_extract(value, '\$.vendor')" | head -n 1)" "cublas 13.1.0"
db2=$db db=$TMPDIR/into.db
against "$one" --against cublas
is "but it is no measurement of this machine" "$(kept | grep -c '|local')" 2
db=$db2

# A record of another kernel makes another row.
"$GEMMTUNE" tune --device 0 --db "$db" "$one" --family coalesced --again --effort quick --quiet \
    --against cublas >"$TMPDIR/out" 2>&1
is "another winner has rows of its own, if there is one" \
    "$(sql "$db" "SELECT count(*) FROM rival AS x JOIN record AS r ON r.subject = x.subject
        WHERE r.rank = 0 AND x.library = 'cublas'")" 2

# ---- bench --store ----

sql "$db" "DELETE FROM rival"
"$GEMMTUNE" bench --device 0 --db "$db" --rounds 6 "$one" f32-nn-9x9x9 --against cublas --workspace 1MiB \
    --store >"$TMPDIR/out" 2>"$TMPDIR/err"
is "bench --store: exit 0" $? 0
is "it stores each line, tuned or not, with its workspace" "$(kept | cut -d'|' -f1-5)" \
    "$one|1048576|cublas|130100|6
f32-nn-9x9x9|1048576|cublas|130100|6"
has "and says so" "$(said)" "2 comparisons stored"
"$GEMMTUNE" bench --device 0 --db "$db" --rounds 6 "$one" --against cublas --store --aa \
    >"$TMPDIR/out" 2>"$TMPDIR/err"
is "not with --aa: exit 2" $? 2
"$GEMMTUNE" bench --device 0 --db "$TMPDIR/empty.db" --rounds 6 "$one" --store >"$TMPDIR/out" 2>"$TMPDIR/err"
is "a database that is not there: exit 6" $? 6

# ---- failures ----

sql "$db" "DELETE FROM rival"
FAKE_CUBLAS=wrong against "$one" --against cublas,cublaslt
is "a wrong library has no row" "$code $(kept | cut -d'|' -f2,3 | tr '\n' ' ')" "0 0|cublaslt 33554432|cublaslt "
has "and it is said why" "$(said)" "cublas 13.1.0 wrong_result: "
FAKE_CUDA_SCRIPT="corrupt/gemm@0" against "$one" --against cublas
is "ours is wrong: exit 1, and no row" "$code $(kept | grep -c '|cublas|')" "1 0"
GEMMTUNE_LIBCUBLAS=/nowhere/libcublas.so against "$one" --against cublas
is "a library that is not there: exit 1" "$code" 1
has "and one sentence" "$(said)" "not compared with cublas: it is not installed"
against "$one" --against clblast
is "a library without a version: exit 2" "$code" 2
against "$one" --against nobody
is "no such library: exit 2" "$code" 2
against "$one" --against cublas --trials-only
is "without winners: exit 2" "$code" 2
NVIDIA_TF32_OVERRIDE=1 against "$one" --against cublas
is "other arithmetic by the environment: exit 2" "$code" 2

# Stopped, and on again.
sql "$db" "DELETE FROM rival"
"$GEMMTUNE" tune --device 0 --db "$db" --family naive --effort quick "$one" --against cublas \
    >"$TMPDIR/out" 2>"$TMPDIR/err" &
pid=$!
until_sql "$db" "SELECT 1 FROM rival LIMIT 1"
kill -TERM $pid
wait $pid
code=$?
if [ $code -eq 0 ]; then # it was through before the signal came
    echo "ok - stopped after the first comparison # SKIP it was faster"
else
    is "stopped after the first comparison: exit 75" "$code" 75
fi
against "$one" --against cublas
is "and the same command goes on" "$code $(kept | wc -l)" "0 2"
# A page of two devices, whatever their order. The other one has records alone.
"$GEMMTUNE" import "$GT_SRC/devices/h200/tuned.json" --db "$db" >/dev/null 2>&1
for devices in "GTX 1050,H200" "H200,GTX 1050"; do
    "$GEMMTUNE" report --db "$db" --device "$devices" -o "$TMPDIR/page.html" --quiet >"$TMPDIR/out" 2>"$TMPDIR/err"
    is "report --device '$devices'" "exit $?, $(grep -c '"v":\[\["cublas' "$TMPDIR/page.html")" "exit 0, $(sql "$db" "SELECT \
        count(DISTINCT s.problem) FROM rival AS x JOIN subject AS s ON s.id = x.subject JOIN record AS r ON r.subject = s.id")"
    is "every problem once" "$(grep -o '"d":"[^"]*","n":"[^"]*"' "$TMPDIR/page.html" | sort | uniq -d)" ""
done
exit "$bad"
