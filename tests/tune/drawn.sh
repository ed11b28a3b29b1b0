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
"$GEMMTUNE" tune --device 0 --db "$db" --volume 2e4 --random 3 --dry-run >"$TMPDIR/said" 2>&1
is "a dry run needs no database" $? 0
has "what a lookup expects is said" "$(cat "$TMPDIR/said")" "3 problems drawn; on these it expects to lose * to * %"
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

draw --volume 4 --batch 1000 --random 16 --dry-run --csv
is "batches of a small volume are drawn" \
    "$?, $(grep -c '^"f32-.*,batch=' "$TMPDIR/said" | sed 's/^[1-9].*/some/')" "0, some"
is "a volume bounds the products of a batch" "$(grep -c 'batch=\([5-9]\|[1-9][0-9]\)' "$TMPDIR/said")" 0

: >"$TMPDIR/misses"
draw --from-misses "$TMPDIR/misses" --random 3 --dry-run --csv
is "without misses drawn problems are left" "$?, $(grep -c '^"*f32-' "$TMPDIR/said")" "0, 3"

tune --db "$TMPDIR/misses/none.db" --random 1 --dry-run
is "a database that cannot be there is no missing one: exit 6" $? 6

tune --types f32
is "options about drawn problems need --random" $? 2
has "which is said" "$(cat "$TMPDIR/said")" "about problems that --random draws"
tune --random 2 --types f33
is "a type must exist" $? 2
has "which is said as well" "$(cat "$TMPDIR/said")" '"f33" is not a data type'
exit "$bad"
