#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# accept.sh - a sweep of ragged and prime problems, with and without padding and beta,
# leaves a verified winner for each. Every type and every layout has its turn; with
# GT_LONG=1 every type in every layout, with GT_LONG=2 for ten minutes: by hand.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

db=$TMPDIR/accept.db
case ${GT_LONG:-0} in
0) budget=10s nn=f16 nt=f64 tn=i8 tt=e4m3+e5m2=f16 ;;
1) budget=30s ;;
*) budget=600s ;;
esac

all="f32 f64 i32 f16 bf16=f32 i8 tf32 e4m3+e5m2=f16"
problems() {
    for dtype in ${nn:-$all}; do echo "$dtype-nn-61x67x71"; done
    for dtype in ${nt:-$all}; do echo "$dtype-nt-37x129x65,lda=80,ldb=96,ldc=144,beta"; done
    for dtype in ${tn:-$all}; do echo "$dtype-tn-131x31x97,beta"; done
    for dtype in ${tt:-$all}; do echo "$dtype-tt-5x113x257,lda=16,ldb=272,ldc=128"; done
}

# shellcheck disable=SC2046 # one word a problem
tune --db "$db" --seed 12 --budget "$budget" $(problems)
is "a sweep of ragged problems ends well" $? 0
# A trial that the end of the budget cut off is not stored.
is "no point is refused" "$(sql "$db" "
    SELECT s.problem, f.name, s.point, t.outcome, t.error FROM trial t
    JOIN subject s ON s.id = t.subject JOIN family f ON f.id = s.family
    WHERE t.state = 'done' AND t.outcome <> 'correct' LIMIT 5")" ""
for problem in $(problems); do
    is "$problem has a verified winner" "$(sql "$db" "
        SELECT count(*) FROM record r JOIN subject s ON s.id = r.subject
        WHERE s.problem = '$problem' AND r.rank = 0 AND r.verified AND r.median_ns > 0")" 1
done
exit "$bad"
