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
is "lookup without any" "$(asked --workspace 0)" "exact 0"
"$GEMMTUNE" list --db "$db" --templates "$families" --json >"$TMPDIR/list"
is "list has the times of all three" "$(sql :memory: "
    SELECT json_extract(value, '\$.workspace_bytes'),
        json_extract(value, '\$.within_ns') >= json_extract(value, '\$.median_ns'),
        json_extract(value, '\$.without_ns') >= json_extract(value, '\$.median_ns')
    FROM json_each(readfile('$TMPDIR/list'))")" "68157440|1|1"
exit "$bad"
