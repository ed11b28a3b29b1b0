#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: part
# kill.sh - nothing is lost: tuning runs that are killed at random moments, stopped, robbed
# of their workers, or run side by side end with what an undisturbed run has, and measure
# nothing twice. GT_KILLS: how many are killed (5; 40 with GT_LONG=1, which does nothing else);
# GT_SEED: of the moments (1; 2 with GT_LONG=1).
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

long=${GT_LONG:-}
kills=${GT_KILLS:-${long:+40}} kills=${kills:-5}
random=${GT_SEED:-${long:+2}} random=${random:-1}
problems="f32-nn-16x16x16 f32-nn-17x19x23"

# args DB: a run of 40 trials
args() {
    echo "tune --device 0 --db $1 --templates $families --family plain --effort full $problems"
}

# outcomes DB: what must not depend on how often the run was disturbed
outcomes() {
    sql "$1" "SELECT s.problem, f.name, s.point, t.state, t.outcome, t.attempts
              FROM trial t JOIN subject s ON s.id = t.subject JOIN family f ON f.id = s.family
              ORDER BY 1, 2, 3; SELECT s.problem, count(*) FROM record r
              JOIN subject s ON s.id = r.subject WHERE r.rank = 0 GROUP BY 1 ORDER BY 1;
              PRAGMA integrity_check"
}

# measured DB: the trials that are done, with what nobody can measure twice
measured() {
    sql "$1" "SELECT id, ended_ms, samples FROM trial WHERE state = 'done'" 2>/dev/null
}

# whole DB: a run that nobody disturbs, however long it takes beside busy neighbours
whole() {
    # shellcheck disable=SC2046 # options
    "$GEMMTUNE" $(args "$1") >"$TMPDIR/said" 2>&1
}

# life DB SECONDS: one life of a tuner that is killed after so long; its exit code, 137 when
# it was, and timeout's 124 when it was over by itself at that very moment
life() {
    # shellcheck disable=SC2046 # options
    timeout --foreground -s KILL "$2" "$GEMMTUNE" $(args "$1") >"$TMPDIR/said" 2>&1
}

whole "$TMPDIR/calm.db"
is "an undisturbed run" $? 0
outcomes "$TMPDIR/calm.db" >"$TMPDIR/calm"
is "has 40 correct trials and two winners" \
    "$(grep -c '|done|correct|1$' "$TMPDIR/calm"),$(grep -c '3|1$\|6|1$' "$TMPDIR/calm")" 40,2

# ---- kill -9 ----

died=0 n=0
while [ "$died" -lt "$kills" ]; do
    n=$((n + 1)) db=$TMPDIR/killed-$n.db code=137
    : >"$TMPDIR/seen"
    while [ $code -eq 137 ] || [ $code -eq 124 ]; do
        random=$(((random * 1103515245 + 12345) % 2147483648))
        if [ "$died" -ge "$kills" ]; then
            whole "$db"
        else
            life "$db" "$(awk "BEGIN { print 0.05 + $random / 2147483648 * 1.1 }")"
        fi
        code=$?
        died=$((died + (code == 137)))
        measured "$db" >>"$TMPDIR/seen"
    done
    is "killed run $n ends well ($died kills so far)" $code 0
    is "and has the rows of an undisturbed run" "$(outcomes "$db")" "$(cat "$TMPDIR/calm")"
    measured "$db" | sort >"$TMPDIR/final"
    is "and measured nothing twice" "$(sort -u "$TMPDIR/seen" | comm -3 - "$TMPDIR/final")" ""
done

before=$(measured "$db")
whole "$db"
is "once more, nothing is left to do" "$?,$(measured "$db")" "0,$before"

[ -z "$long" ] || exit "$bad"

# ---- stopped, and no parent ----

db=$TMPDIR/stopped.db
# The signal goes to the program and its workers, as a terminal, timeout(1) and batch systems
# send it, timeout(1) to the program first. Unlike the others, SIGHUP may be ignored from the start.
for signal in INT TERM USR1 HUP; do
    # shellcheck disable=SC2046 # options
    setsid env --default-signal=HUP "$GEMMTUNE" $(args "$db") >"$TMPDIR/said" 2>&1 &
    until_sql "$db" "SELECT 1 FROM trial t JOIN run r ON r.id = t.run
                     WHERE t.state = 'done' AND r.ended_ms IS NULL LIMIT 1"
    kill -s $signal $!
    kill -s $signal -- -$!
    wait $!
    is "stopped by SIG$signal" $? 75
    has "which says that it can go on" "$(cat "$TMPDIR/said")" "the same command goes on"
    is "with no trial left open" \
        "$(sql "$db" "SELECT count(*) FROM trial WHERE state <> 'done'")" 0
done

# shellcheck disable=SC2046
"$GEMMTUNE" $(args "$db") >"$TMPDIR/said" 2>&1 &
tuner=$!
until_sql "$db" "SELECT 1 FROM trial WHERE state = 'running'"
workers=$(children_of $tuner)
kill -KILL $tuner
wait $tuner 2>/dev/null
# shellcheck disable=SC2086 # a list
gone ${workers:-$$}
is "workers end with their parent" $? 0
whole "$db"
is "and the same command goes on" $? 0
is "to the rows of an undisturbed run" "$(outcomes "$db")" "$(cat "$TMPDIR/calm")"

# ---- no worker ----

db=$TMPDIR/orphan.db
"$GEMMTUNE" tune --device 0 --db "$db" --templates "$families" --family hang --effort full \
    --timeout 60s f32-nn-16x16x16 >"$TMPDIR/said" 2>&1 &
until_sql "$db" "SELECT 1 FROM trial t JOIN subject s ON s.id = t.subject
                 WHERE t.state = 'running' AND s.point = 'BAD=1' AND
                 EXISTS (SELECT 1 FROM trial WHERE state = 'done')"
sleep 1 # it compiles, and hangs
# The worker is killed, and the fresh one that the job is handed to.
first=$(children_of $!)
# shellcheck disable=SC2086 # one, unless compilers run as well
kill -KILL $first
until second=$(children_of $!) && [ -n "$second" ] && [ "$second" != "$first" ]; do
    sleep 0.1
done
# shellcheck disable=SC2086
kill -KILL $second
wait $!
is "a run goes on without its worker" $? 0
is "the trial it was at is not stored" "$(sql "$db" "SELECT s.point, t.state FROM trial t
    JOIN subject s ON s.id = t.subject ORDER BY 1" | tr '\n' ' ')" "BAD=0|done "
has "which is said" "$(cat "$TMPDIR/said")" "\"BAD=1\" is left to another run: the worker was ended by signal 9"
is "and the problem is not done with" "$(sql "$db" "SELECT count(*) FROM tuning")" 0

# ---- side by side ----

db=$TMPDIR/two.db
# shellcheck disable=SC2046
"$GEMMTUNE" $(args "$db") >"$TMPDIR/said" 2>"$TMPDIR/one" &
# shellcheck disable=SC2046
"$GEMMTUNE" $(args "$db") >"$TMPDIR/said" 2>"$TMPDIR/two"
code=$?
wait $!
is "two tuners on one database end well" "$code,$?" 0,0
is "with the rows of one" "$(outcomes "$db")" "$(cat "$TMPDIR/calm")"
is "each trial made by one of them" "$(cat "$TMPDIR/one" "$TMPDIR/two" |
    sed -n 's/.*(\([0-9]*\) new).*/\1/p' | awk '{ n += $1 } END { print n }')" 40
exit "$bad"
