#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# uncounted.sh - families with too many points, and with points that take too long to count: one
# line says so, and the other families are tuned as if they were not there.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

db=$TMPDIR/uncounted.db
dir=$TMPDIR/families
seq 0 63 | tr '\n' ',' | sed 's/,$//' >"$TMPDIR/values"
values=$(cat "$TMPDIR/values")

# family NAME PARAMETERS REQUIRE: the family "plain" under another name, each parameter 0 to 63
family() {
    mkdir -p "$dir/$1"
    cp "$families/plain/plain.cl" "$dir/$1/"
    # shellcheck disable=SC2086,SC2059 # names are words, values a part of the format
    domains=$(printf ", \"%s\": [$values]" $2 | cut -c3-)
    # shellcheck disable=SC2086 # names are words
    presets=$(printf ', "%s": 0' $2 | cut -c3-)
    sed -e "s/\"family\": \"plain\"/\"family\": \"$1\"/" \
        -e "s/\"params\": .*/\"params\": { $domains },/" \
        -e "s/\"default\": .*/\"default\": { $presets }, \"require\": [$3],/" \
        "$families/plain/space.json" >"$dir/$1/space.json"
}
family vast "A B C D" ""
family endless "A B C D E F G H" '["A + B + C + D + E + F + G + H == 0 || H > 63", "rarely"]'

try() {
    "$GEMMTUNE" tune --device 0 --templates "$dir" --family naive,vast,endless "$@" \
        >"$TMPDIR/out" 2>"$TMPDIR/said"
}

try f32-nn-64x64x64 f32-nn-48x48x48 --effort quick --db "$db"
is "the other families are tuned" $? 0
is "each problem has a winner of theirs" "$("$GEMMTUNE" list --db "$db" --csv | grep -c ',naive,')" 2
is "one line says what is not tried" "$(grep -c 'not tried' "$TMPDIR/said")" 1
has "too many points" "$(cat "$TMPDIR/said")" "family vast has more than 4194304 legal points"
has "too long to count" "$(cat "$TMPDIR/said")" "family endless: its points are not counted"

try f32-nn-64x64x64 --dry-run --effort quick
is "a dry run counts the others" $? 0

"$GEMMTUNE" tune f32-nn-64x64x64 --device 0 --templates "$dir" --family vast \
    --effort quick --db "$db" >"$TMPDIR/out" 2>"$TMPDIR/said"
has "a problem with no other family says why" "$(cat "$TMPDIR/said" "$TMPDIR/out")" "legal points"

"$GEMMTUNE" predict f32-nn-64x64x64 --templates "$dir" --device-file gtx-1080 >"$TMPDIR/out" 2>&1
is "predictions go on as well" $? 0
exit "$bad"
