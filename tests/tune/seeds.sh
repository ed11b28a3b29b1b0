#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# seeds.sh - points of other tuners are among the first trials: CLBlast's for a device that its database knows
# (a fake GTX 1080), and points of imported files. Our trials go out in the T4 format and come back as seeds.
. "$GT_SRC/tests/tune/lib.sh"
db=$TMPDIR/seeds.db
problem=f32-nn-96x64x32

# On CUDA: CLBlast's database.
fake=$GT_BUILD/tests/fake
GEMMTUNE_LIBCUDA="$fake/libcuda.so" GEMMTUNE_LIBNVRTC="$fake/libnvrtc.so" FAKE_NVRTC_VERSION=12.9 \
    FAKE_CUDA_TIME=model FAKE_CUDA_DEVICE=gtx1080 "$GEMMTUNE" tune --device 0 --db "$TMPDIR/known.db" \
    --family block --effort quick --trials-only f32-nn-64x64x64 >"$TMPDIR/said" 2>&1
has "a device of CLBlast's database is known by its name" "$(cat "$TMPDIR/said")" \
    "the first trials have points of CLBlast's xgemm, GeForce GTX 1080"

# On OpenCL: files.
tune --db "$db" --family tile --effort quick "$problem"
is "a problem is tuned" $? 0
trials=$(sql "$db" "SELECT count(*) FROM trial WHERE outcome = 'correct'")
"$GEMMTUNE" export --db "$db" --format t4 "$TMPDIR/t4.json" >"$TMPDIR/said" 2>&1
is "its trials are exported" $? 0
has "which it counts" "$(cat "$TMPDIR/said")" "$TMPDIR/t4.json: $(sql "$db" "SELECT count(*) FROM trial") trial"
is "as T4" "$(sql :memory: "SELECT json_extract(t, '\$.schema_version'), json_array_length(t, '\$.results'),
    json_extract(t, '\$.metadata.problem') FROM (SELECT readfile('$TMPDIR/t4.json') AS t)")" \
    "1.0.0|$(sql "$db" "SELECT count(*) FROM trial")|$problem"

new=$TMPDIR/new.db
"$GEMMTUNE" import "$TMPDIR/t4.json" --db "$new" --csv >"$TMPDIR/out" 2>"$TMPDIR/said"
is "they are imported" $? 0
has "as seeds" "$(cat "$TMPDIR/said")" "seeds are the $trials fastest of $trials result"
is "and not as records or trials" "$(sql "$new" "SELECT (SELECT count(*) FROM record) + (SELECT count(*) FROM trial)")" 0
"$GEMMTUNE" list --db "$new" >"$TMPDIR/said" 2>&1
has "so nothing is served" "$(cat "$TMPDIR/said")" "no winners"
cp "$new.seeds.json" "$TMPDIR/before"
"$GEMMTUNE" import "$TMPDIR/t4.json" --db "$new" >/dev/null 2>&1
is "twice is as once" "$(cat "$new.seeds.json")" "$(cat "$TMPDIR/before")"

"$GEMMTUNE" tune --device 0 --db "$new" --family tile --effort quick f32-nn-64x96x32 >"$TMPDIR/said" 2>&1
is "a search begins with them" $? 0
has "and says so" "$(cat "$TMPDIR/said")" "the first trials have points of T4, t4.json"
"$GEMMTUNE" show f32-nn-64x96x32 --db "$new" --csv >"$TMPDIR/shown" 2>&1
has "trials say it, too" "$(cat "$TMPDIR/shown")" "T4, t4.json"

echo '{"format": 1, "seeds": [1]}' >"$new.seeds.json"
"$GEMMTUNE" tune --device 0 --db "$new" --family tile --effort quick f32-nn-64x96x64 >"$TMPDIR/said" 2>&1
is "damaged seeds end a search" $? 3
has "with file and line" "$(cat "$TMPDIR/said")" "new.db.seeds.json:1: /seeds/0"
"$GEMMTUNE" show f32-nn-64x96x32 --db "$new" >"$TMPDIR/shown" 2>&1
is "but hide no trial" $? 0

# Files that do not say all.
kt=$GT_SRC/tests/data/elsewhere/kernel_tuner.json
"$GEMMTUNE" import "$kt" "$GT_SRC/tests/data/elsewhere/clblast_xgemm_direct_1_16.json" --db "$TMPDIR/kt.db" --csv \
    >"$TMPDIR/out" 2>"$TMPDIR/said"
is "Kernel Tuner and CLBlast's tuner" "$?, $(grep -c '^[^,]*,0,0,0,0,[12],0' "$TMPDIR/out")" "0, 2"
printf '{"results": [{"configuration": {"WGD": 8, "MDIMCD": 8, "NDIMCD": 8, "VWMD": 1, "VWND": 1, "PADA": 0, "PADB": 0},
    "invalidity": "correct", "times": {"runtimes": [1]}}]}' >"$TMPDIR/bare.json"
"$GEMMTUNE" import "$TMPDIR/bare.json" --db "$TMPDIR/kt.db" >"$TMPDIR/said" 2>&1
is "a file without a device is refused" "$?, $(grep -c 'names no device; say it with --measured-on' "$TMPDIR/said")" "3, 1"
"$GEMMTUNE" import "$TMPDIR/bare.json" --db "$TMPDIR/kt.db" --measured-on "a card" --problem f32-nn-8x8x8 >"$TMPDIR/said" 2>&1
is "unless the user says it" $? 0
"$GEMMTUNE" export --db "$db" "$TMPDIR/winners.json" >/dev/null
"$GEMMTUNE" import "$TMPDIR/winners.json" --db "$TMPDIR/kt.db" --measured-on "a card" >"$TMPDIR/said" 2>&1
is "which means nothing for our own results" "$?, $(grep -c 'not results of another tuner' "$TMPDIR/said")" "3, 1"
"$GEMMTUNE" export --db "$db" --format t4 --problem f32-nn-1x1x1 "$TMPDIR/none.json" >"$TMPDIR/said" 2>&1
is "a problem without trials" "$?, $(ls "$TMPDIR/none.json" 2>/dev/null)" "2, "
exit "$bad"
