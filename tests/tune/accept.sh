#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# accept.sh - no correct point is refused, and ragged problems of every type and layout find a
# verified winner: the other half of what test_mutants.c proves.
#
# GT_LONG=1 tries every family by itself for a minute.
. "$GT_SRC/tests/tune/lib.sh"

: "${GT_LONG:=0}"
db=$TMPDIR/accept.db

# Ragged and prime, with and without padding and beta; 61 x 67 x 71 is no multiple of anything.
problems() {
    for dtype in f32 f64 i32; do
        echo "$dtype-nn-61x67x71 $dtype-nt-37x129x65,lda=68,ldb=72,ldc=132,beta"
        echo "$dtype-tn-131x31x97,beta $dtype-tt-5x113x257,lda=8,ldb=260,ldc=116"
    done
}

# tried FAMILY: distinct points of it that ended correct
tried() {
    sql "$db" "SELECT count(DISTINCT s.point) FROM trial t JOIN subject s ON s.id = t.subject
               JOIN family f ON f.id = s.family WHERE f.name = '$1' AND t.outcome = 'correct'"
}

if [ "$GT_LONG" -ne 0 ]; then
    for family in naive coalesced tile block column; do
        # shellcheck disable=SC2046 # one word a problem
        tune --db "$db" --seed 11 --budget 60s --family "$family" $(problems)
    done
fi
# shellcheck disable=SC2046
tune --db "$db" --seed 12 --budget 75s $(problems)
is "a sweep of ragged problems ends well" $? 0
is "no point is refused" "$(sql "$db" "
    SELECT s.problem, f.name, s.point, t.outcome, t.error FROM trial t
    JOIN subject s ON s.id = t.subject JOIN family f ON f.id = s.family
    WHERE t.state <> 'done' OR t.outcome <> 'correct' LIMIT 5")" ""
for problem in $(problems); do
    is "$problem has a verified winner" "$(sql "$db" "
        SELECT count(*) FROM record r JOIN subject s ON s.id = r.subject
        WHERE s.problem = '$problem' AND r.rank = 0 AND r.verified AND r.median_ns > 0")" 1
done
for family in naive coalesced tile block column; do
    count=$(tried "$family")
    echo "# $family: $count points"
    is "$family: enough points were tried" "$((count >= (GT_LONG ? 60 : 4)))" 1
done
exit "$bad"
