#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tables fit the terminal; --wide, files and pipes have all of them.
. "${GT_SRC:-.}/tests/cli/lib.sh"
export OCL_ICD_VENDORS="$work/nothing" # no OpenCL platform
export CUDA_VISIBLE_DEVICES=           # no CUDA device
card=${GT_SRC:-.}/devices/gtx-1080/device.json
try import "$GT_SRC/devices/h200/tuned.json" --db "$work/h200.db"
key=$(sed -n 's/.*{"key": "\([^"]*\)".*/\1/p' "$GT_SRC/devices/h200/tuned.json")

if command -v script >/dev/null; then
    for width in 80 100 132; do
        for c in "list --db $work/h200.db" "show f32-nn-4096x4096x4096 --db $work/h200.db" \
            "predict f32-nn-512x512x512 f64-nn-100x100x100 --top 3 --family tile,block --device-file $card" \
            "evaluate --help" "predict --help"; do
            on_terminal "$width" "$c"
            fits "$width columns: ${c%% *}" "$width"
        done
    done
    on_terminal 80 "list --db $work/h200.db"
    [ "$(grep -c "$key" "$work/out")" -eq 1 ] && grep -q '^device ' "$work/out"
    verdict "a device's key stands once above the table" $?
    grep -q '^left out: .*low, high' "$work/out" && grep -q '^--wide shows everything$' "$work/out"
    verdict "what was left out is said" $?
    on_terminal 80 "list --wide --db $work/h200.db"
    cp "$work/out" "$work/wide"
    try list --db "$work/h200.db"
    cmp -s "$work/wide" "$work/out"
    verdict "--wide is what a pipe gets" $?
else
    echo "ok - on a terminal # SKIP no script(1)"
fi
COLUMNS=40 try list --db "$work/h200.db"
grep -q "^problem *device .* status\$" "$work/out" && [ "$(grep -c "$key" "$work/out")" -gt 50 ]
verdict "a pipe has no width" $?

# ---- tables without rows ----
printf '{"format": 1, "devices": [], "records": []}\n' >"$work/none.json"
try import "$work/none.json" --db "$work/none.db"
try list --db "$work/none.db"
[ "$code" -eq 0 ] && [ ! -s "$work/out" ] && grep -q "no winners in $work/none.db" "$work/err"
verdict "an empty database says which one it is" $?
expect "a problem that nobody tried" 1 'f32-nn-1x1x1 has not been tried' show f32-nn-1x1x1 --db "$work/h200.db"

# ---- devices that are not here ----
for c in lookup "predict --family block" explain; do
    # shellcheck disable=SC2086 # words
    expect "${c%% *}: a device of the database" 0 'NVIDIA H200' $c f32-nn-512x512x512 -d h200 --db "$work/h200.db"
done
finish
