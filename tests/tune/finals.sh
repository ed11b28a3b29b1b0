#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# finals.sh - a stored winner keeps its place until something that was tried later beats it in the
# same finals, whoever tried it and whenever the run was stopped.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

db=$TMPDIR/finals.db
problem=f32-nn-16x16x16

# moment: when the finals of the records were
moment() {
    sql "$db" "SELECT group_concat(DISTINCT measured_ms) FROM record"
}

# entered FAMILY...: whether the records have one of each
entered() {
    for family; do
        sql "$db" "SELECT count(*) > 0 FROM record r JOIN subject s ON s.id = r.subject
                   JOIN family f ON f.id = s.family WHERE f.name = '$family'"
    done | tr -d '\n'
}

tune --db "$db" --templates "$families" --effort full --family race "$problem"
is "a first family" "$?,$(entered race)" 0,1
first=$(moment)
is "the interval is wide enough for another process" \
    "$(sql "$db" "SELECT min(low_ns <= 0.99 * median_ns AND high_ns >= 1.01 * median_ns) FROM record")" 1
cp "$db" "$TMPDIR/first.db"
tune --db "$db" --templates "$families" --effort full --family race "$problem"
is "nothing new: nothing is measured" "$?,$(moment)" "0,$first"

tune --db "$db" --templates "$families" --effort full --family ragged "$problem"
is "another family meets the winner in new finals" "$?,$(entered race ragged)" 0,11

# As if the tuner had been killed between its last trial and its finals.
sql "$db" "ATTACH '$TMPDIR/first.db' AS first; DELETE FROM record;
           INSERT INTO record SELECT * FROM first.record"
is "the records are the first ones again" "$(moment),$(entered race ragged)" "$first,10"
tune --db "$db" --templates "$families" --effort full --family ragged "$problem"
is "nothing is left to try, but the finals are held" "$?,$(entered race ragged)" 0,11
second=$(moment)
is "later than the first" "$((second > first))" 1
tune --db "$db" --templates "$families" --effort full --family ragged,race "$problem"
is "and once only" "$?,$(moment)" "0,$second"
exit "$bad"
