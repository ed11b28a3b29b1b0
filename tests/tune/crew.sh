#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# crew.sh - several equal devices at once: each problem is tuned once, by whoever is free, in one
# database; who dies is replaced, and who is stopped has saved.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

use_fakes "several devices"
export FAKE_CUDA_DEVICE=h200,h200,gtx1080 FAKE_NVRTC_VERSION=12.9 FAKE_CUDA_TIME=model
db=$TMPDIR/crew.db
six=$TMPDIR/six.json
echo '{"format": 1, "sizes": ["f32-nn-8x8x8", "f32-nn-16x16x16", "f32-nn-24x24x24",
    "f32-nn-33x17x20", "f64-nn-9x9x9", "i32-nn-7x7x7"]}' >"$six"

# crew ARGUMENT...: its exit code in $code, what it prints in out
# and said
crew() {
    "$GEMMTUNE" tune --db "$db" --effort quick "$@" >"$TMPDIR/out" 2>"$TMPDIR/said"
    code=$?
}

# ---- which devices ----

# refused NAME CODE PATTERN DEVICES
refused() {
    crew --device "$4" --family naive --sizes "$six"
    is "$1: exit $2" $code "$2"
    has "$1: says why" "$(cat "$TMPDIR/said")" "$3"
    is "$1: one line" "$(wc -l <"$TMPDIR/said")" 1
}
refused "two kinds" 2 "device 0, NVIDIA H200, and device 2, *1080, are not equal: tune each kind by a" 0,2
refused "one twice" 2 "device 1, NVIDIA H200, is named twice" 0,1,1
refused "one that there is not" 4 "device '9' does not exist" 0,9
refused "none between commas" 4 "device '' is not one of this machine's" 0,
is "no database was made" "$(ls "$TMPDIR"/crew.db* 2>/dev/null)" ""

# ---- a sweep ----

crew --device all --family naive --sizes "$six"
is "all equal devices: exit 0" $code 0
has "says which, and which not" "$(sed -n 1p "$TMPDIR/said")" \
    "on devices 0, 1, NVIDIA H200; not equal or not usable, and left out: 2"
is "each problem is tuned once" \
    "$(sql "$db" "SELECT count(*), count(DISTINCT problem) FROM tuning")" "6|6"
is "both devices took part" "$(sql "$db" "SELECT count(DISTINCT run) FROM trial")" 2
is "each problem by one of them" "$(sql "$db" "SELECT max(n) FROM (SELECT count(DISTINCT run) n
    FROM trial t JOIN subject s ON s.id = t.subject GROUP BY s.problem)")" 1
is "their runs ended well" "$(sql "$db" "SELECT group_concat(how) FROM run")" "done,done"
is "a line a problem, counted" "$(sed -n 's/^\[\([0-9]*\)\/6\].*/\1/p' "$TMPDIR/said" | tr '\n' ' ')" \
    "1 2 3 4 5 6 "
is "one table, in the order of the sweep" \
    "$(sed -n 's/^\(.32-nn\|f64-nn\)-\([0-9]*\)x.* tuned$/\2/p' "$TMPDIR/out" | tr '\n' ' ')" \
    "8 16 24 33 9 7 "

crew --device 1,0 --family naive --sizes "$six" f32-nn-5x5x5
is "once more, with one that is new: exit 0" $code 0
is "the others were tuned before" "$(grep -c 'tuned before$' "$TMPDIR/out")" 6
is "one device was enough" "$(sql "$db" "SELECT count(*) FROM run")" 3
crew --device 0,1 --family naive --sizes "$six"
is "nothing is left to do: exit 0, nobody is started" "$code $(sql "$db" "SELECT count(*) FROM run")" "0 3"
crew --device 0,1 --dry-run --again --family naive --sizes "$six"
has "a dry run divides the time" "$(tail -n 1 "$TMPDIR/said")" "6 problems on 2 devices, NVIDIA H200"
crew --device 0,1 --again --budget 4s --effort normal --quiet --json --family naive --sizes "$six"
is "a budget and no talk: exit 0" "$code,$(cat "$TMPDIR/said")" 0,
is "one document" "$(sql :memory: "SELECT count(*) FROM json_each(readfile('$TMPDIR/out'))")" 6
crew --device 0,1 --db "$TMPDIR/other.db" --templates "$families" --family plain f32-nn-4x4x4 f32-tt-4x4x4
is "a problem that cannot be tuned: exit 1" $code 1
has "says why" "$(cat "$TMPDIR/out")" "f32-tt-4x4x4"

# ---- who dies ----

# A family with a second point that does not come back: its problem takes as long as we want.
slow="--templates $families --family hang --timeout 60s"

# begin PROBLEM...: a crew of two at work on them, in the background
begin() {
    rm -f "$TMPDIR"/slow.db*
    # shellcheck disable=SC2086 # options
    "$GEMMTUNE" tune --device 0,1 --db "$TMPDIR/slow.db" $slow --jobs 1 --effort full "$@" \
        >"$TMPDIR/out" 2>"$TMPDIR/said" &
    tuner=$!
}

# until_running N: waits until so many trials run that hang, or the crew has ended
until_running() {
    while true; do
        [ "$(sql "$TMPDIR/slow.db" "SELECT count(*) FROM trial t JOIN subject s ON s.id = t.subject
            WHERE t.state = 'running' AND s.point = 'BAD=1'" 2>/dev/null)" != "$1" ] || return 0
        kill -0 $tuner 2>/dev/null || return 1
        sleep 0.1
    done
}

# cores PID...: the cores of each process, a line each
cores() {
    for pid; do
        sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$pid/status"
    done
}

begin f32-nn-8x8x8 f32-nn-16x16x16
until_running 2
is "two problems hang, one on each device" $? 0
members=$(children_of $tuner)
is "there is a process a device" "$(echo "$members" | wc -l)" 2
if [ "$(nproc)" -gt 1 ]; then
    # shellcheck disable=SC2086 # a list
    is "each has cores of its own" "$(cores $members | sort -u | wc -l)" 2
fi
kill -INT $tuner
wait $tuner
is "stopped: exit 75" $? 75
has "which is said" "$(cat "$TMPDIR/said")" "the same command goes on"
is "both have saved" "$(sql "$TMPDIR/slow.db" "SELECT group_concat(how) FROM run")" "stopped,stopped"
# shellcheck disable=SC2086 # a list
gone $members
is "and are gone" $? 0

begin f32-nn-8x8x8 f32-nn-16x16x16
until_running 2
members=$(children_of $tuner)
workers=$(for m in $members; do children_of "$m"; done)
kill -KILL $tuner
wait $tuner 2>/dev/null
# shellcheck disable=SC2086 # a list
gone $members $workers
is "members and workers end with their parent" $? 0
is "and have saved" "$(sql "$TMPDIR/slow.db" "SELECT group_concat(how) FROM run")" "stopped,stopped"

# Of a problem two may die.
begin f32-nn-16x16x16
until_running 1
first=$(children_of $tuner)
kill -KILL "$first"
second=$first
while kill -0 $tuner && [ "${second:-$first}" = "$first" ]; do
    sleep 0.1
    second=$(sql "$TMPDIR/slow.db" "SELECT r.pid FROM trial t JOIN run r ON r.id = t.run
        JOIN subject s ON s.id = t.subject WHERE t.state = 'running' AND s.point = 'BAD=1' ORDER BY r.id DESC LIMIT 1" 2>/dev/null)
done
kill -KILL "$second"
wait $tuner
is "two die of a problem: exit 1" $? 1
killed="its process was ended by signal 9 (Killed) while tuning f32-nn-16x16x16"
is "both are said" "$(sed -e '/^on dev/d' -e 's/^\[1.*: //' "$TMPDIR/said")" "device 0: $killed, which another one will tune
device 1: $killed
two processes ended while tuning it"
has "and in the table" "$(cat "$TMPDIR/out")" "two processes ended while tuning it"

slow="--templates $families --family hang --timeout 10s"
begin f32-nn-16x16x16 f32-nn-8x8x8 f32-nn-4x4x4
while kill -0 $tuner && [ "$(sql "$TMPDIR/slow.db" "SELECT count(*) FROM run" 2>/dev/null)" != 2 ]; do
    sleep 0.1
done
kill -KILL "$(children_of $tuner | head -n 1)"
wait $tuner
is "one dies, the other does its problem too: exit 0" $? 0
has "which is said" "$(cat "$TMPDIR/said")" ", which another one will tune"
is "three are tuned" "$(sql "$TMPDIR/slow.db" "SELECT count(*) FROM tuning")" 3

# A member that hangs after its last problem: Ctrl-C ends it, and the program with it.
begin f32-nn-16x16x16 f32-nn-8x8x8 f32-nn-4x4x4
idle=
while kill -0 $tuner && [ -z "$idle" ]; do
    sleep 0.1
    idle=$(sql "$TMPDIR/slow.db" "SELECT r.pid FROM run r WHERE (SELECT count(*) FROM tuning) = 2
        AND NOT EXISTS (SELECT 1 FROM trial t WHERE t.run = r.id AND t.state = 'running')
        AND EXISTS (SELECT 1 FROM trial t WHERE t.run != r.id AND t.state = 'running')" 2>/dev/null)
done
kill -STOP "$idle"
while kill -0 $tuner && [ "$(sql "$TMPDIR/slow.db" "SELECT count(*) FROM tuning" 2>/dev/null)" != 3 ]; do
    sleep 0.1
done
# shellcheck disable=SC2046 # a list
gone $(children_of $tuner | grep -vx "$idle") # the other member
kill -INT $tuner
wait $tuner
is "stopped while a member hangs: exit 75" $? 75
gone "$idle"
is "the member is gone" $? 0
exit "$bad"
