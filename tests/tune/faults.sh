#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# faults.sh - kernels that hang, crash, compute wrongly, write where they must not or do not
# compile, among kernels that are right: each costs its own trial and never wins.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

problem=f32-nn-64x64x64 # whole tiles only: what is wrong at edges is right here
db=$TMPDIR/faults.db
limit=$(patience 9)

# OUTCOME EXIT FAMILY POINT: what must become of it, and the exit code of trying it again
faults="timeout 1 hang BAD=1
crashed 1 crash BAD=1
wrong_result 5 oob WHERE=1
wrong_result 5 oob WHERE=2
wrong_result 5 oob WHERE=3
crashed 1 oob WHERE=4
wrong_result 5 ragged BAD=1
compile 1 nocompile BAD=1
wrong_result 5 reads BAD=1
wrong_result 5 inputs BAD=1
wrong_result 5 race BAD=1"

tune "$problem" --db "$db" --templates "$families" --effort full --timeout "$limit" \
    --seed 3 --family plain,hang,crash,oob,ragged \
    --family nocompile --family reads --family inputs --family race
is "a run full of faults ends well" $? 0

rows "$db" "$problem" outcome family point >"$TMPDIR/trials"
is "exactly the bad points failed, each in its way" \
    "$(grep -v '^correct|' "$TMPDIR/trials" | sort)" \
    "$(echo "$faults" | awk '{ print $1 "|" $3 "|" $4 }' | sort)"
is "the good points of the same families are correct" \
    "$(grep '^correct|' "$TMPDIR/trials" | grep -vc '|plain|')" 8
is "all of a family without faults is correct" "$(grep -c '^correct|plain|' "$TMPDIR/trials")" 20
is "winners are correct points" "$(sql "$db" "
    SELECT count(*) > 0 AND count(*) = sum(t.outcome = 'correct')
    FROM record r JOIN trial t ON r.subject = t.subject")" 1
is "every trial is done, at its first attempt" \
    "$(sql "$db" "SELECT count(*) FROM trial WHERE state <> 'done' OR attempts <> 1")" 0

# The command that a failed trial's line ends in: alone it finds the folder of the family.
again() {
    command=$(rows "$db" "$problem" family point command | sed -n "s/^$1|$2|gemmtune //p")
    (cd / && eval "\"\$GEMMTUNE\" $command") >"$TMPDIR/said" 2>&1
}
has "a command has all that its trial was given" \
    "$(rows "$db" "$problem" command | sed -n '/hang.*BAD=1/p')" \
    "--templates '$(realpath "$families")' --timeout '$limit' --seed 3"
while read -r outcome code family point; do
    again "$family" "$point"
    is "$family $point exits $code again" $? "$code"
    has "$family $point is $outcome again" "$(cat "$TMPDIR/said")" "outcome    $outcome"
done <<EOF
$faults
EOF

tune f64-nn-64x64x64 --db "$db" --templates "$families" --effort full --family nocompile
is "no point compiles: exit 1" $? 1
has "and a sentence that says so" "$(cat "$TMPDIR/said")" "no candidate was correct"
is "and no winner" \
    "$(sql "$db" "SELECT count(*) FROM record r JOIN subject s ON s.id = r.subject
                  WHERE s.problem LIKE 'f64%'")" 0

# The candidate after one that wrote to its inputs is judged by good data.
tune f32-nn-16x16x16 --db "$db" --templates "$families" --effort full --family inputs \
    --family race
is "nothing spoils the trials after it" \
    "$(rows "$db" f32-nn-16x16x16 outcome family point | sort | tr '\n' ' ')" \
    "correct|inputs|BAD=0 correct|race|BAD=0 wrong_result|inputs|BAD=1 wrong_result|race|BAD=1 "
# ---- checked, not timed ----

try_untimed() {
    "$GEMMTUNE" trial "$problem" --device 0 --templates "$families" --family "$1" --point "$2" \
        --untimed --json >"$TMPDIR/untimed.json" 2>/dev/null
    echo "$? $(sql :memory: "SELECT json_extract(j, '\$.outcome'), json_extract(j, '\$.median_ns') IS NULL
        FROM (SELECT readfile('$TMPDIR/untimed.json') AS j)")"
}
is "a right kernel is correct without a time" "$(try_untimed ragged BAD=0)" "0 correct|1"
is "a wrong one is found out" "$(try_untimed ragged BAD=1)" "5 wrong_result|1"

"$GEMMTUNE" trial "$problem" --device 0 --templates "$families" --family ragged --point BAD=0 --point BAD=1 \
    --point BAD=0 --untimed --json >"$TMPDIR/three.json" 2>/dev/null
is "several points, one wrong: its exit code" $? 5
is "and an array of all" "$(sql :memory: "SELECT group_concat(json_extract(value, '\$.outcome'))
    FROM json_each(readfile('$TMPDIR/three.json'))")" "correct,wrong_result,correct"
"$GEMMTUNE" trial "$problem" --device 0 --templates "$families" --family ragged --point BAD=0 --point BAD= \
    >"$TMPDIR/out" 2>/dev/null
is "a point that is none: nothing is tried" "$?$(cat "$TMPDIR/out")" 2
exit "$bad"
