#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# predict and explain --point: what they say of devices that are not here, and what they refuse.
. "${GT_SRC:-.}/tests/cli/lib.sh"
export OCL_ICD_VENDORS="$work/nothing" # no OpenCL platform
export CUDA_VISIBLE_DEVICES=           # no CUDA device
devices=${GT_SRC:-.}/devices
card=$devices/gtx-1080/device.json
p=f32-nn-512x512x512

# ---- every description that is shipped ----
for f in "$devices"/*/device.json; do
    expect "predict for $(basename "$f")" 0 'predicted, not measured' predict --family tile "$p" --device-file "$f"
done

# ---- predict ----
expect "the predicted winner" 0 '^f32-nn-512x512x512 .* us .*TILE_WIDTH=' predict "$p" --family tile --device-file "$card"
expect "two problems" 0 '^f32-nn-4x4x4 ' predict "$p" f32-nn-4x4x4 --family tile,naive --device-file "$card"
expect "predict --json" 0 '"predicted_ns": [0-9.]*, "predicted_gflops"' predict "$p" --family tile --json --device-file "$card"
expect "predict --csv" 0 '^problem,predicted_ns,' predict "$p" --family tile --csv --device-file "$card"
try predict "$p" --family tile --top 5 --csv --device-file "$card"
[ "$code" -eq 0 ] && [ "$(wc -l <"$work/out")" -eq 6 ]
verdict "the first five" $?
cut -d, -f2 "$work/out" | sed 1d >"$work/times"
sort -g "$work/times" | cmp -s - "$work/times"
verdict "fastest first" $?
expect "predict without a problem" 2 'PROBLEM is missing' predict --device-file "$card"
expect "predict without a device" 4 'no device' predict "$p"
expect "predict: a bad problem" 3 'xyz' predict xyz --device-file "$card"
expect "predict: an unknown family" 2 "did you mean 'tile'" predict "$p" --family tilee --device-file "$card"
expect "predict: no family that serves" 1 'no point that can be predicted' predict "$p" --family dmma --device-file "$card"
expect "predict: two devices" 2 'exclude each other' predict "$p" --device 0 --device-file "$card"
expect "predict --check with a problem" 2 'takes no problems' predict "$p" --check
expect "predict --check --fit" 2 'exclude each other' predict --check --fit
expect "predict --fit --csv" 2 'exclude each other' predict --fit --csv
expect "predict --fit --learn" 2 "exclude each other" predict --fit --learn
expect "predict --learn --learn-more" 2 "exclude each other" predict --learn --learn-more
expect "predict --learn --csv" 2 "exclude each other" predict --learn --csv
try import "${GT_SRC:-.}/devices/h200/tuned.json" --db "$work/h200.db"
expect "predict --learn prints the file" 0 '^gemmtune trees 1$' \
    predict --learn --db "$work/h200.db"
# Records alone say nothing about a choice, so no problem is held out.
expect "predict --learn --json" 0 '^{"without": "trees", "trials": [1-9][0-9]*, "held_out_problems": 0, .*, "types": \[\]}$' \
    predict --learn --json --db "$work/h200.db"
expect "predict --learn-more without trials" 1 'no family has enough trials on .*: 200, or 3000 behind' predict --learn-more --db "$work/h200.db"
expect "predict --top 0" 2 'top' predict "$p" --top 0 --device-file "$card"

# ---- descriptions ----
expect "no such description" 3 'nothing.json' predict "$p" --device-file "$work/nothing.json"
echo '{"format": 1' >"$work/cut.json"
expect "a cut description" 3 'cut.json' predict "$p" --device-file "$work/cut.json"
sed 's/"units": 20/"units": 0/' "$card" >"$work/zero.json"
expect "no units" 3 'zero.json:5: /units' predict "$p" --device-file "$work/zero.json"
sed '/bus_bits/d' "$card" >"$work/narrow.json"
expect "no bus" 3 'bus_bits' explain "$p" --point naive --device-file "$work/narrow.json"
sed 's/"units"/"unist"/' "$card" >"$work/slip.json"
expect "a slip of the finger" 3 "unist" predict "$p" --device-file "$work/slip.json"

# ---- explain ----
expect "explain on a description" 0 'NVIDIA GeForce GTX 1080' explain "$p" --device-file "$card"
expect "explain --point" 0 '^predicted  *[0-9.]* us, [0-9.]* GFLOP/s, bound by' \
    explain "$p" --point "tile TILE_WIDTH=16" --device-file "$card"
expect "explain --point, a family alone" 0 '^tile TILE_WIDTH=16 PAD=0 DOUBLE=0$' \
    explain "$p" --point tile --device-file "$card"
expect "explain --point --json" 0 '"terms_ns": {"fma": [0-9.]*, "issue"' \
    explain "$p" --point "tile,TILE_WIDTH=16" --json --device-file "$card"
expect "explain --point without a device" 4 'no device' explain "$p" --point tile
expect "explain --point with figures alone" 2 'needs --device' \
    explain "$p" --point tile --peak-gflops 8873 --bandwidth-gbs 320
expect "explain --point: nothing" 2 'begins with the name of a family' explain "$p" --point "" --device-file "$card"
expect "explain --point: an unknown family" 2 "did you mean 'tile'" explain "$p" --point tilee --device-file "$card"
expect "explain --point: an unknown parameter" 2 'no parameter WIDTH' \
    explain "$p" --point "tile WIDTH=16" --device-file "$card"
expect "explain --point: a value of another domain" 2 'TILE_WIDTH=17' \
    explain "$p" --point "tile TILE_WIDTH=17" --device-file "$card"
expect "explain --point: nonsense" 2 '' explain "$p" --point "tile TILE_WIDTH=x" --device-file "$card"
expect "explain --point: a point that is refused" 2 'asynchronous' \
    explain "$p" --point "skinny STAGES=4 R=2" --device-file "$card"
expect "explain --point: another device's family" 1 'compute capability' \
    explain f64-nn-64x64x64 --point dmma --device-file "$card"

# ---- a family of the user's own says nothing of its shape ----
expect "no shape" 1 'no "shape"' explain "$p" --point plain \
    --templates "${GT_SRC:-.}/tests/data/families" --device-file "$card"

# ---- against what was measured ----
expect "predict --check without a database" 6 'none.db' predict --check --db "$work/none.db"
"$GEMMTUNE" import "${GT_SRC:-.}/devices/h200/tuned.json" --db "$work/h200.db" >/dev/null 2>&1
expect "predict --check without trials" 0 '0 trials' predict --check --db "$work/h200.db"
expect "predict --check --json" 0 '"used": 0, ' predict --check --json --db "$work/h200.db"
expect "predict --check on no such device" 1 'gtx' predict --check --device gtx --db "$work/h200.db"

expect "predict --fit with a problem" 2 'takes no problems' predict "$p" --fit
expect "predict --fit without trials" 1 'no trials' predict --fit --db "$work/h200.db"

# ---- beside what was published ----
expect "compare --device-file" 0 'predicted B .*best B$' compare 1050 1080 --device-file "$card"
expect "compare: another device's description" 2 'neither of the two' \
    compare 1050 1080 --device-file "$devices/h200/device.json" --db "$work/h200.db"
expect "compare: a bad description" 3 'cut.json' compare 1050 1080 --device-file "$work/cut.json" --db "$work/h200.db"
expect "compare: no description" 3 'nothing.json' compare 1050 1080 --device-file "$work/nothing.json" --db "$work/h200.db"
expect "compare: a prediction of a tuned kernel" 0 'predicted A' compare h200 1080 --db "$work/h200.db"
finish
