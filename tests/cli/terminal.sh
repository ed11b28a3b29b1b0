#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a person sees on a terminal: nothing is wider than it, and the line that tells of progress is
# gone before anything else is printed. A pipe gets every text on one line, in the order in which it
# was printed.
. "${GT_SRC:-.}/tests/cli/lib.sh"
export OCL_ICD_VENDORS="$work/nothing" # no OpenCL platform
export CUDA_VISIBLE_DEVICES=           # no CUDA device
unset COLUMNS
try import "$GT_SRC/devices/h200/tuned.json" --db "$work/h200.db"
verdict "there is a database" "$code"

if command -v script >/dev/null; then
    on_terminal 80 "--help"
    fits "80 columns: --help" 80
    commands=$("$GEMMTUNE" --help | sed -n 's/^  \([a-z]*\)  *[A-Z].*\.$/\1/p')
    echo "$commands" | grep -q '^tune$' && [ "$(echo "$commands" | wc -l)" -ge 20 ]
    verdict "--help lists the commands" $?
    for c in $commands; do
        on_terminal 80 "$c --help"
        fits "80 columns: $c --help" 80
    done
    on_terminal 40 "list --device nowhere --db $work/h200.db"
    fits "40 columns: an error" 40
    export XDG_CACHE_HOME=/proc # a short path
    for c in "doctor --db /proc/none" space "space multistage" "space tile --why TILE_WIDTH=64" \
        "lookup f32-nn-1000x1000x999 -d h200 --db $work/h200.db" \
        "explain i8-nt-1000x1000x999 -d h200 --db $work/h200.db" \
        "predict f32-nn-1000x1000x999 --device-file h200 --family tma"; do
        on_terminal 80 "$c"
        fits "80 columns: $c" 80
    done

    # ---- progress ----
    on_terminal 80 "compare 1050 1080 --db $work/h200.db"
    fits "80 columns: compare and its progress" 80
    grep -q '^problem .* time A  *time B  *A/B  *best A  *best B$' "$work/out"
    verdict "compare: what one came for fits 80 columns" $?
    screen 80
    head -n 1 "$work/out" | grep -q '^A  NVIDIA GeForce GTX 1050'
    verdict "the first line after progress has nothing else in it" $?
    on_terminal 60 "evaluate --stored --holdout 0.01 --rule nearest --device h200 --db $work/h200.db"
    fits "60 columns: evaluate and its progress" 60
    screen 60
    grep -q 'looking up hidden problems: ' "$work/raw" && head -n 1 "$work/out" | grep -q '^problem '
    verdict "its table begins at the left edge" $?
else
    echo "ok - on a terminal # SKIP no script(1)"
fi

# ---- files and pipes ----
try evaluate --help
grep -q '^  [a-z_]*  *[a-z_]*  *.\{70,\}' "$work/out"
verdict "help for a pipe is not wrapped" $?
"$GEMMTUNE" evaluate --stored --holdout 0.02 --rule nearest --device h200 --csv --db "$work/h200.db" >"$work/out" 2>&1
code=$?
cp "$work/out" "$work/err"
awk -F, 'NR == 1 { want = NF } /^$/ || /^rule / { ended = 1 } !ended && NF < want { print; bad = 1 }
    END { exit bad || !ended }' "$work/out" >"$work/torn"
verdict "stdout and stderr in one pipe: no row is torn" $?
finish
