#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# says.sh - what tuning says when there is nothing, or not everything, to be done.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

db=$TMPDIR/says.db

# ---- --dry-run ----

"$GEMMTUNE" tune --device 0 --dry-run --csv --templates "$families" --family hang \
    f32-nn-8x8x8 f32-tt-8x8x8 f32-nn-16x16x16 >"$TMPDIR/dry" 2>"$TMPDIR/said"
is "one problem that cannot be tuned: exit 1, as tuning would" $? 1
is "the others are counted" \
    "$(sed -n 's/^\(f32-nn-[^,]*,[0-9]*\),.*/\1/p' "$TMPDIR/dry" | tr '\n' ' ')" \
    "f32-nn-8x8x8,2 f32-nn-16x16x16,2 "
has "it has a sentence of its own" "$(grep f32-tt "$TMPDIR/dry")" \
    "no family that was asked for has a kernel for it on this device"
tune --dry-run --templates "$families" --family hang f32-nn-8x8x8
is "all can be tuned: exit 0" $? 0

seq 1 2000 | sed 's/.*/"f32-nn-&x64x1000"/' | paste -sd, | sed 's/.*/{"format": 1, "sizes": [&]}/' \
    >"$TMPDIR/many.json"
timeout 60 "$GEMMTUNE" tune --device 0 --dry-run --csv --sizes "$TMPDIR/many.json" \
    >"$TMPDIR/dry" 2>"$TMPDIR/said"
is "two thousand problems are looked at within a minute" $? 0
is "they have more points than were counted" "$(grep -c ',1000,.*,true' "$TMPDIR/dry")" 2000
awk -F , 'NR > 1 && !($3 >= 3 && $3 < 100) {bad = 1} END {exit bad}' "$TMPDIR/dry"
is "and as many trials as their time allows" $? 0

# ---- how long it will take ----

"$GEMMTUNE" tune --device 0 --db "$TMPDIR/time.db" --templates "$families" --family plain \
    --budget 1ms f32-nn-8x8x8 >"$TMPDIR/out" 2>"$TMPDIR/said"
is "tuned within a budget that is too small" $? 0
has "which is said ahead, with the time that it takes" "$(head -n 1 "$TMPDIR/said")" \
    "1 problem to tune, about * s: their first trials and finals need more than 0.001 s"

# ---- on a terminal ----

if command -v script >/dev/null; then
    unset COLUMNS
    script -qec "stty cols 80; $GEMMTUNE tune --device 0 --db $TMPDIR/wide.db --templates $families \
        --family plain --budget 1ms f32-nn-8x8x8,lda=1000,ldb=1000,ldc=1000,beta" \
        "$TMPDIR/typescript" </dev/null >"$TMPDIR/raw" 2>&1
    is "progress was shown on a terminal of 80 columns" \
        "$(grep -c 'ldc=10\.\.\.  [0-9/]* trials*, ' "$TMPDIR/raw")" 1
    is "no line of it was longer" \
        "$(tr '\r' '\n' <"$TMPDIR/raw" | sed 's/\x1b\[[0-9;]*[A-Za-z]//g' | awk 'length($0) > 80')" ""
    awk -v columns=80 -f "$GT_SRC/tests/screen.awk" "$TMPDIR/raw" >"$TMPDIR/screen"
    is "and no copy is left" "$(grep -c 'trials*, [0-9.]*/s' "$TMPDIR/screen")" 0
    is "the table begins at the left edge" "$(grep -c '^problem .* family ' "$TMPDIR/screen")" 1
else
    echo "ok - on a terminal # SKIP no script(1)"
fi

# ---- names ----

tune --db "$db" --templates "$families" --family naive,hangs f32-nn-8x8x8
is "a family that there is not: exit 2" $? 2
has "and a hint" "$(cat "$TMPDIR/said")" "no family 'hangs'; did you mean 'hang'?"

# ---- trial ----

trial() {
    "$GEMMTUNE" trial f32-nn-32x32x32 --device 0 --family tile --untimed "$@" >"$TMPDIR/said" 2>&1
}
trial --point "TILE_WIDTH=8"
is "a point with names left out" $? 0
has "they take the default" "$(cat "$TMPDIR/said")" 'tile "TILE_WIDTH=8 PAD=0 DOUBLE=0"'
trial --point "TILE_WIDTH=8" --point "TILE_WIDTH=4" --csv
is "as a table: a heading and a line each" \
    "$(sed -n 's/^\(problem\|f32-nn-32x32x32\),[^,]*,\([^,]*\),\([^,]*\),\([^,]*\),.*/\2 \3 \4/p' "$TMPDIR/said")" \
    "family point outcome
tile TILE_WIDTH=8 PAD=0 DOUBLE=0 correct
tile TILE_WIDTH=4 PAD=0 DOUBLE=0 correct"
trial --point "WIDTH=8"
is "a name that the family has not: exit 2" $? 2
trial --point "TILE_WIDTH=7"
is "a point that rules refuse: exit 1" $? 1
is "it has no registers, and was not compiled before" \
    "$(grep -c '^registers' "$TMPDIR/said") $(sed -n 's/^compiled  *//p' "$TMPDIR/said")" "0 no"

# ---- another process is at it ----

mkdir -p "$TMPDIR/own/hang"
sed 's/"BAD": \[0, 1\]/"BAD": [1]/; s/"BAD": 0/"BAD": 1/' "$families/hang/space.json" \
    >"$TMPDIR/own/hang/space.json"
cp "$families/hang/hang.cl" "$TMPDIR/own/hang/"
"$GEMMTUNE" tune --device 0 --db "$db" --templates "$TMPDIR/own" --family hang --timeout 60s \
    f32-nn-8x8x8 >/dev/null 2>&1 &
other=$!
until_sql "$db" "SELECT 1 FROM trial"
tune --db "$db" --templates "$TMPDIR/own" --family hang f32-nn-8x8x8
is "every point is another process's: exit 1" $? 1
has "which is said" "$(cat "$TMPDIR/said")" \
    "nothing to choose from yet: another process is trying 1 of its points"
kill -KILL $other
wait $other 2>/dev/null
exit "$bad"
