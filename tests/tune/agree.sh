#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# agree.sh - several runs of tuning and their winners measured together: what is printed hangs together.
# No time is asserted.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

few 5

# agree ARGUMENT...: leaves the exit code in $code and what was printed in the files out and err.
agree() {
    "$GEMMTUNE" agree --device 0 --templates "$families" --templates "$own" --effort quick "$@" \
        >"$TMPDIR/out" 2>"$TMPDIR/err"
    code=$?
}

# of QUERY: about the rows of the last --json
of() {
    sql :memory: "WITH r AS (SELECT value AS v FROM json_each(readfile('$TMPDIR/out')))
                  SELECT $1 FROM r"
}

problem=f32-nn-16x16x16
agree "$problem" --runs 3 --family race,few --each --json
is "exit 0" "$code" 0
is "a row a run" "$(of "count(*), count(DISTINCT json_extract(v, '\$.run'))")" "3|3"
is "each found one" "$(of "sum(json_extract(v, '\$.median_ns') > 0)")" 3
is "which was measured again" "$(of "sum(json_extract(v, '\$.again_samples') > 0)")" 3
is "found again: just when the second time lies in the stored interval" "$(of "sum(
    json_extract(v, '\$.found_again') =
    (json_extract(v, '\$.again_median_ns') BETWEEN json_extract(v, '\$.low_ns')
                                               AND json_extract(v, '\$.high_ns')))")" 3
is "the best of the winners costs nothing" \
    "$(of "min(json_extract(v, '\$.regret_percent')) = 0")" 1
is "same point, same second measurement" "$(of "count(DISTINCT json_extract(v, '\$.point')) =
    count(DISTINCT json_extract(v, '\$.point') || json_extract(v, '\$.again_median_ns'))")" 1
is "a line a run is said" "$(grep -c "$problem, run [123] of 3: " "$TMPDIR/err")" 3
is "nothing is left behind" "$(find "$TMPDIR" -name 'gemmtune-agree-*' | wc -l)" 0

agree "$problem" f32-nn-8x8x8 --runs 2 --family few --quiet --json
is "two problems: exit 0" "$code" 0
is "a row a problem" "$(of "group_concat(json_extract(v, '\$.problem'))")" "$problem,f32-nn-8x8x8"
is "counts that fit" "$(of "sum(json_extract(v, '\$.runs') = 2
    AND json_extract(v, '\$.winners') BETWEEN 1 AND 2
    AND json_extract(v, '\$.same') BETWEEN 1 AND json_extract(v, '\$.same_or_tied')
    AND json_extract(v, '\$.same_or_tied') <= 2
    AND json_extract(v, '\$.found_again') BETWEEN 0 AND 2
    AND json_extract(v, '\$.median_regret_percent') BETWEEN 0
        AND json_extract(v, '\$.most_regret_percent')
    AND json_extract(v, '\$.device_busy_percent') BETWEEN 0 AND 100
    AND json_extract(v, '\$.points_per_s') > 0)")" 2
is "quiet" "$(wc -c <"$TMPDIR/err")" 0

# ---- against the best known ----

tune --db "$TMPDIR/known.db" --templates "$families" --templates "$own" --family few --effort full "$problem"
agree "$problem" --runs 2 --family race --strategy random --db "$TMPDIR/known.db" --each --json
is "with a winner that is stored: exit 0" "$code" 0
is "both are compared with it" "$(of "sum(json_extract(v, '\$.over_known_percent') IS NOT NULL)")" 2
agree f32-nn-8x8x8 --runs 2 --family few --db "$TMPDIR/known.db"
is "one that is not stored: exit 1" "$code" 1
has "which is said" "$(cat "$TMPDIR/err")" "known.db: has no winner of f32-nn-8x8x8 on this device"
is "before anything is tuned" "$(wc -l <"$TMPDIR/err")" 1
agree "$problem" --runs 2 --strategy best
is "no such strategy: exit 2" "$code" 2

agree f32-tt-8x8x8 --runs 2 --family hang
is "no kernel at all: exit 1" "$code" 1
has "which is said" "$(cat "$TMPDIR/err")" "f32-tt-8x8x8: no run found a kernel"

# ---- stopped ----

# in the last run, which then is none
: >"$TMPDIR/err" # what was said before is not what is waited for
"$GEMMTUNE" agree --device 0 --templates "$families" --templates "$own" --effort full --family few,race --runs 2 \
    --json "$problem" >"$TMPDIR/out" 2>"$TMPDIR/err" &
until grep -q "run 1 of 2" "$TMPDIR/err" || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
kill -s INT $!
wait $!
is "stopped: exit 130, as a shell has it" $? 130
has "which is said" "$(cat "$TMPDIR/err")" "stopped; agree keeps nothing"
is "and nothing is counted" "$(of "count(*)")" 0
agree "$problem" --runs 1
is "one run cannot agree: exit 2" "$code" 2

# ---- how the time was spent ----

tune --db "$TMPDIR/spent.db" --templates "$families" --templates "$own" --family few --effort quick --json "$problem"
cp "$TMPDIR/said" "$TMPDIR/out"
is "checking and measuring are parts of the whole" "$(of "json_extract(v, '\$.checking') > 0
    AND json_extract(v, '\$.measuring') > 0
    AND json_extract(v, '\$.checking') + json_extract(v, '\$.measuring') <= 1")" 1
exit "$bad"
