#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# drawn.sh - `tune --random` draws problems, and begins with those on which a lookup expects to lose most.
# On the first OpenCL device.
. "$GT_SRC/tests/tune/lib.sh"
db=$TMPDIR/drawn.db
# drawn FIRST LAST: these problems of a dry run, a line each
drawn() {
    grep '^"*f32-' "$TMPDIR/said" | sed -n "$1,$2s/,.*//p"
}
draw() {
    tune --db "$db" --types f32 --volume 2e4 --family naive --effort quick "$@"
}
draw --random 3
is "three drawn problems are tuned" $? 0
is "they are in the database" "$(sql "$db" "SELECT count(*) FROM tuning")" 3

# The same seed draws the same three, and one more. A lookup expects to lose nothing on those three.
draw --random 4 --dry-run --csv
is "a dry run of four" $? 0
first=$(drawn 1 1)
has "draws f32 problems" "$first" "f32-"
is "the one that is not tuned comes first" "$(sql "$db" "SELECT count(*) FROM subject WHERE problem = '$first'")" 0
is "and the others follow" "$(drawn 2 4 | sort)" \
    "$(sql "$db" "SELECT DISTINCT problem FROM subject" | sort)"

draw --random 4 --batch 8 f32-nn-8x8x8 --dry-run --csv
is "a named problem comes before drawn ones" "$(drawn 1 1)" f32-nn-8x8x8
is "which are added" "$(grep -c '^"*f32-' "$TMPDIR/said")" 5
has "and may be batches" "$(cat "$TMPDIR/said")" ",batch="

tune --types f32
is "options about drawn problems need --random" $? 2
has "which is said" "$(cat "$TMPDIR/said")" "about problems that --random draws"
tune --random 2 --types f33
is "a type must exist" $? 2
has "which is said as well" "$(cat "$TMPDIR/said")" '"f33" is not a data type'
exit "$bad"
