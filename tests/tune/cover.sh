#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cover.sh - `tune --cover` draws problems, tries kernels and learns, for as long as it may; the same command goes on.
# On the first OpenCL device. tests/unit/test_learn.c has what is learned.
. "$GT_SRC/tests/tune/lib.sh"
db=$TMPDIR/cover.db
cover() {
    tune --cover 4s --db "$db" --types f32 --volume 2e4 --batch 4 --family vector "$@"
}
trials() {
    sql "$db" "SELECT count(*) FROM trial WHERE outcome = 'correct'"
}
last() {
    sql :memory: "SELECT json_extract(json_extract(readfile('$TMPDIR/said'), '\$[#-1]'), '\$.$1')"
}

cover --json
is "a cover of seconds" $? 0
first=$(trials)
is "has tried kernels" "$((first > 0))" 1
is "of which its last line tells" "$(last trials)" "$first"
is "these problems differ" "$(last problems)" "$(sql "$db" "SELECT count(DISTINCT problem) FROM subject")"
is "few problems teach nothing" "$(last used), $([ -e "$db.shelves" ] && echo kept)" "no, "

problems=$(last problems)
cover --json
is "the same command goes on" $? 0
is "with other problems" "$(($(last problems) > problems))" 1
is "and counts those before" "$(last trials)" "$(trials)"

"$GEMMTUNE" tune --cover 2s --device 0 --db "$TMPDIR/none.db" --types f32 --volume 2e4 --family naive >"$TMPDIR/out" 2>"$TMPDIR/said"
is "kernels without forecasts" "$? $(grep -c "so nothing was learned" "$TMPDIR/said")" "0 1"

"$GEMMTUNE" tune --cover 10m --device 0 --db "$db" --types f32 --volume 2e4 --family naive >"$TMPDIR/out" 2>"$TMPDIR/said" &
until_sql "$db" "SELECT 1 FROM run WHERE ended_ms IS NULL LIMIT 1"
sleep 1
kill -INT $!
wait $!
is "a signal stops it" $? 75
has "and what was measured is kept" "$(cat "$TMPDIR/said")" "the same command goes on"

for option in "--sizes x" "--random 3" "--budget 3s" --trials-only "--effort full" --dry-run f32-nn-8x8x8; do
    # shellcheck disable=SC2086 # two words
    cover $option
    is "$option does not go with it" $? 2
    has "and it says why" "$(cat "$TMPDIR/said")" "--cover chooses problems"
done
exit $bad
