#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# again.sh - what is tuned is not tuned again: not by the same command, not after a stop, not by less
# effort; but by more effort, with other families, or when --again says so.
. "${GT_SRC:-.}/tests/tune/lib.sh"

problem=f32-nn-24x20x16 other=f32-nn-20x24x16 db=$TMPDIR/again.db

# again NAME STATUS TRIALS OPTION...: tunes the problem; its status, and whether trials were new: 0
# yes, 1 no, - either, since a search that came to its end in time knows all of its points
again() {
    name=$1 want=$2 new=$3
    shift 3
    before=$(sql "$db" "SELECT count(*) FROM trial" 2>/dev/null || echo 0)
    "$GEMMTUNE" tune --device 0 --quiet --db "$db" --csv "$@" >"$TMPDIR/out" 2>"$TMPDIR/said"
    is "$name: exit 0" $? 0
    has "$name: $want" "$(tail -n 1 "$TMPDIR/out")" ",$want"
    [ "$(sql "$db" "SELECT count(*) FROM trial")" -gt "$before" ]
    got=$?
    [ "$new" = - ] || is "$name: new trials" $got "$new"
}

again "first" tuned 0 --family naive --effort quick "$problem"
again "second" "tuned before" 1 --family naive --effort quick "$problem"
has "second: what it finds" "$(tail -n 1 "$TMPDIR/out")" "naive,"
again "more effort" tuned 0 --family naive --budget 10s "$problem"
again "less effort" "tuned before" 1 --family naive --effort quick "$problem"
again "the same budget" "tuned before" 1 --family naive --budget 10s "$problem"
again "another family" tuned 0 --family naive,tile --effort quick "$problem"
again "insists" tuned - --family naive,tile --effort quick --again "$problem"
is "one tuning a question" "$(sql "$db" "SELECT count(*) FROM tuning")" 2

"$GEMMTUNE" tune --device 0 --dry-run --db "$db" --csv --family naive --effort quick "$problem" "$other" \
    >"$TMPDIR/out" 2>&1
has "a dry run says tuned" "$(grep "^$problem," "$TMPDIR/out")" ",0,0,"
has "a dry run says tuned" "$(grep "^$problem," "$TMPDIR/out")" ",tuned"
is "a dry run: the other is not" "$(grep -c ",tuned" "$TMPDIR/out")" 1
"$GEMMTUNE" tune --device 0 --dry-run --db "$TMPDIR/none.db" --family naive "$problem" >/dev/null 2>&1
is "a dry run needs no database" $? 0
[ ! -e "$TMPDIR/none.db" ]
is "a dry run makes none" $? 0

# A record that is gone or spoilt was not tuned.
sql "$db" "UPDATE record SET median_ns = median_ns + 1"
again "spoilt records" tuned - --family naive,tile --effort quick "$problem"

# One from the end of time, as a machine with a wrong clock writes it, keeps nobody from storing.
sql "$db" "UPDATE record SET measured_ms = 9007199254740991"
again "an absurd moment" tuned - --family naive,tile --effort quick --again "$problem"
[ "$(sql "$db" "SELECT max(measured_ms) FROM record")" -lt 9007199254740991 ]
is "an absurd moment: replaced" $? 0

# Trials alone are stored, and choose no winner. A search that follows need not repeat them.
third=f32-nn-20x20x16
again "trials only" tried 0 --family naive --effort quick --trials-only "$third"
is "trials only: no record" "$(sql "$db" "SELECT count(*) FROM record JOIN subject ON subject.id = subject
    WHERE problem = '$third'")" 0
again "decided later" tuned - --family naive --effort quick "$third"
again "trials of what was tuned" "tuned before" 1 --family naive --effort quick --trials-only "$third"
is "its question is kept" "$(sql "$db" "SELECT count(*) FROM tuning WHERE problem = '$third'")" 1
exit "$bad"
