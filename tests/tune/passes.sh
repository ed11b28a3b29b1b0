#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# passes.sh - a family with points of several launches and a workspace between them, from the
# search to what serves a caller; and three ways in which such a point may be wrong.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

problem=f32-nn-64x64x64
db=$TMPDIR/passes.db

tune "$problem" --db "$db" --templates "$families" --effort full --family split
is "it is tuned" $? 0
is "exactly the bad points failed" \
    "$(rows "$db" "$problem" outcome point | grep -v '^correct' | sort | tr '\n' ';')" \
    "$(printf 'wrong_result|SPLIT=4 PACK=1 BAD=%s;' 1 2 3)"
is "the others are correct" "$(rows "$db" "$problem" outcome | grep -c '^correct')" 6

# why POINT: what was wrong with it
why() {
    rows "$db" "$problem" point error | grep "^$1|"
}
has "sums that nobody set to zero" "$(why "SPLIT=4 PACK=1 BAD=1")" "elements wrong"
has "a write past the end" "$(why "SPLIT=4 PACK=1 BAD=2")" "bytes written outside the workspace"
has "a slice forgotten" "$(why "SPLIT=4 PACK=1 BAD=3")" "elements wrong"

# Without a workspace the family computes everything sixteen times: such a point never wins, and
# five others are better.
record() {
    sql "$db" "SELECT s.point FROM record r JOIN subject s ON s.id = r.subject
               WHERE r.rank $1 AND r.verified = 1 ORDER BY r.rank"
}
is "the winner needs a workspace" "$(record "= 0" | grep -c -v "SPLIT=1 PACK=0")" 1
is "and the one that does not is kept" "$(record ">= 3" | tail -n 1)" "SPLIT=1 PACK=0 BAD=0"
records=$(record ">= 0" | wc -l)

asked() {
    "$GEMMTUNE" "$@" --device 0 --db "$db" --templates "$families" --json >"$TMPDIR/out"
}
field() {
    sql :memory: "SELECT json_extract(readfile('$TMPDIR/out'), '\$.$1')"
}
asked lookup "$problem"
is "lookup finds the winner" "$(field match) $(field family)" "exact split"
is "and says what it needs" "$(($(field workspace_bytes) > 0))" 1
asked run "$problem"
is "run: it is right" "$? $(field outcome)" "0 correct"
is "run says what it needs" "$(($(field workspace_bytes) > 0))" 1
"$GEMMTUNE" verify --all --device 0 --db "$db" --templates "$families" >"$TMPDIR/out" 2>&1
is "verify: all hold" "$? $(grep -c ' correct ' "$TMPDIR/out")" "0 $records"

# The same results of an older source are in the way of nobody, were they faster by far.
"$GEMMTUNE" export "$TMPDIR/new.json" --db "$db" >"$TMPDIR/out" 2>&1
sed -e 's/"family_hash": "[0-9a-f]*"/"family_hash": "'"$(printf '%064d' 0)"'"/' \
    -e 's/"median_ns": [0-9.]*, "low_ns": [0-9.]*/"median_ns": 1, "low_ns": 1/' \
    "$TMPDIR/new.json" >"$TMPDIR/old.json"
db=$TMPDIR/both.db
for file in old new; do
    "$GEMMTUNE" import "$TMPDIR/$file.json" --db "$db" >"$TMPDIR/out" 2>&1
    is "import: $file" $? 0
done
asked lookup "$problem"
is "lookup: the first rank of the present source" "$(field match) $(field why)" \
    "arch tuned elsewhere, not verified here, for exactly this problem, rank 0"
"$GEMMTUNE" verify --device 0 --db "$db" --templates "$families" >"$TMPDIR/out" 2>&1
is "verify: the winner of the present source" "$? $(sed -n 's/ (seed.*//p' "$TMPDIR/out")" \
    "0 1 correct, 0 wrong, 0 failed otherwise, 0 stale"
"$GEMMTUNE" verify --device 0 --db "$db" >"$TMPDIR/out" 2>&1
is "verify: without the folder there is no family" \
    "$? $(grep -c ' no family .*--templates names it' "$TMPDIR/out")" "1 1"
has "verify: which is not called stale" "$(cat "$TMPDIR/out")" "0 stale, 1 of no family (seed"
db=$TMPDIR/passes.db
"$GEMMTUNE" ladder "$problem" --device 0 --db "$db" --templates "$families" --budget 1s \
    >"$TMPDIR/out" 2>&1
is "ladder: exit 0" $? 0
rungs() {
    "$GEMMTUNE" ladder "$@" --device 0 --db "$db" --budget 2s --csv --quiet | cut -d , -f 2
}
has "ladder: a family without rungs of its own, once it was tried" \
    "$(rungs f32-nn-48x48x48 | tr '\n' ' ')" "block [a-z]* tuned"
exit "$bad"
