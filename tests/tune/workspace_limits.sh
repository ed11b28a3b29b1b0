#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# workspace_limits.sh - when all the best need more than 32 MiB of workspace, the best candidate within
# 32 MiB and the best one without any are measured and stored as well. test_library_tuned checks the
# kernel that a caller with less workspace gets.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

problem=f32-nn-64x64x64
db=$TMPDIR/workspace_limits.db

tune "$problem" --db "$db" --templates "$families" --effort full --family hungry
is "it is tuned" $? 0
is "every point is correct" "$(rows "$db" "$problem" outcome | sort | uniq -c | xargs)" "7 correct"

# record CONDITION: the points of these records, by rank
record() {
    sql "$db" "SELECT s.point FROM record r JOIN subject s ON s.id = r.subject
               WHERE r.verified = 1 AND $1 ORDER BY r.rank"
}
is "much workspace wins" "$(record "r.rank < 3" | grep -c "WANT=66560")" 3
is "the best within 32 MiB and the best without any are kept" \
    "$(record "s.point NOT LIKE 'WANT=66560 %'" | sort)" "WANT=0 ROWS=8
WANT=4 ROWS=8"

# asked OPTION...: how lookup finds its answer, and what that needs
asked() {
    "$GEMMTUNE" lookup "$problem" --device 0 --db "$db" --templates "$families" --json "$@" \
        >"$TMPDIR/out"
    sql :memory: "SELECT json_extract(readfile('$TMPDIR/out'), '\$.match') || ' ' ||
                  json_extract(readfile('$TMPDIR/out'), '\$.workspace_bytes')"
}
is "lookup, which gives any, finds the winner" "$(asked)" "exact 68157440"
is "lookup within 32 MiB" "$(asked --workspace 32MiB)" "exact 4096"
# The kernel without any is so slow that the forecast of another family may answer in its place.
is "lookup without any" "$(asked --workspace 0 | sed 's/^default/exact/')" "exact 0"
"$GEMMTUNE" list --db "$db" --templates "$families" --json >"$TMPDIR/list"
is "list has the times of all three" "$(sql :memory: "
    SELECT json_extract(value, '\$.workspace_bytes'),
        json_extract(value, '\$.within_ns') >= json_extract(value, '\$.median_ns'),
        json_extract(value, '\$.without_ns') >= json_extract(value, '\$.median_ns')
    FROM json_each(readfile('$TMPDIR/list'))")" "68157440|1|1"

# A search within a workspace tries no others, and is no search without a limit.
problem=f32-nn-48x64x64
within() { # OPTION...: tunes, and leaves the words of the table's status in $status
    "$GEMMTUNE" tune "$problem" --device 0 --db "$db" --templates "$families" --effort full --family hungry \
        --json "$@" >"$TMPDIR/out" 2>"$TMPDIR/said"
    code=$?
    status=$(sql :memory: "SELECT json_extract(readfile('$TMPDIR/out'), '\$[0].status')")
}
dry() {
    "$GEMMTUNE" tune "$problem" --device 0 --db "$TMPDIR/none.db" --templates "$families" --effort full \
        --family hungry --dry-run --json "$@" >"$TMPDIR/out" 2>"$TMPDIR/said"
    sql :memory: "SELECT json_extract(readfile('$TMPDIR/out'), '\$[0].points')"
}
is "a dry run counts what would be tried" "$(dry --workspace 0) $(dry --workspace 4KiB) $(dry)" "1 2 7"
within --workspace 4KiB
is "within 4 KiB: tuned" "$code $status" "0 tuned"
is "nothing that needs more was tried" "$(rows "$db" "$problem" point | sort)" "WANT=0 ROWS=8
WANT=4 ROWS=8"
is "a plan within it has its record, and one with any as well" "$(asked --workspace 4KiB | cut -d' ' -f1) \
$(asked | cut -d' ' -f1)" "exact exact"
within --workspace 4KiB
is "the same again was tuned before" "$code $status" "0 tuned before"
within
is "but without a limit it was not" "$code $status" "0 tuned"
is "and all points are tried" "$(rows "$db" "$problem" outcome | sort | uniq -c | xargs)" "7 correct"
within --workspace 4KiB --again
is "a kernel that needs more stays the winner" "$code $(asked) $(asked --workspace 4KiB | cut -d' ' -f1)" \
    "0 exact 68157440 exact"
"$GEMMTUNE" tune f32-nn-8x8x8 --device 0 --db "$db" --family hungry --workspace 1.5MB >"$TMPDIR/out" 2>&1
is "a size that is none: exit 2" $? 2
exit "$bad"
