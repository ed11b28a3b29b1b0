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
tune --db "$db" --templates "$families" --effort full --family race --again "$problem"
is "nothing new: nothing is measured" "$?,$(moment)" "0,$first"

tune --db "$db" --templates "$families" --effort full --family ragged "$problem"
is "another family meets the winner in new finals" "$?,$(entered race ragged)" 0,11

# As if the tuner had been killed between its last trial and its finals.
sql "$db" "ATTACH '$TMPDIR/first.db' AS first; DELETE FROM record; DELETE FROM tuning;
           INSERT INTO record SELECT * FROM first.record"
is "the records are the first ones again" "$(moment),$(entered race ragged)" "$first,10"
tune --db "$db" --templates "$families" --effort full --family ragged "$problem"
is "nothing is left to try, but the finals are held" "$?,$(entered race ragged)" 0,11
second=$(moment)
is "later than the first" "$((second > first))" 1
tune --db "$db" --templates "$families" --effort full --family ragged,race "$problem"
is "and once only" "$?,$(moment)" "0,$second"

# ---- two processes ----

# Another process stores its winner while this one measures finalists. By OpenCL, where no compilers
# are among the workers.
db=$TMPDIR/meanwhile.db
cp "$TMPDIR/first.db" "$db"
sql "$db" "DELETE FROM record; DELETE FROM tuning"
GEMMTUNE_LIBCUDA=/nowhere "$GEMMTUNE" tune --device 0 --db "$db" --templates "$families" --effort full \
    --family ragged "$problem" >"$TMPDIR/said" 2>&1 &
pid=$!
# Finals have a worker of their own, after the one that tries candidates.
while [ -z "$(sql "$db" "SELECT 1 FROM trial WHERE state = 'running'" 2>/dev/null)" ]; do
    kill -0 "$pid" || break
    sleep 0.01
done
trying=$(children_of "$pid") workers=
while [ -z "$workers" ] || [ "$workers" = "$trying" ]; do
    kill -0 "$pid" || break
    workers=$(children_of "$pid")
    sleep 0.01
done
# shellcheck disable=SC2086 # a list
kill -STOP $workers
sleep 0.5
is "all is tried, and nothing stored" \
    "$(sql "$db" "SELECT sum(state <> 'done'), (SELECT count(*) FROM record) FROM trial")" "0|0"
sql "$db" "ATTACH '$TMPDIR/first.db' AS first; INSERT INTO record SELECT * FROM first.record"
# shellcheck disable=SC2086 # a list
kill -CONT $workers
wait "$pid"
is "a winner that was stored meanwhile is measured too" "$?,$(entered race ragged)" 0,11
is "and all records are of the same finals" "$(sql "$db" "SELECT count(DISTINCT measured_ms) FROM record")" 1

# ---- with times that no busy machine changes ----

use_fakes "times of the fake driver"
export GEMMTUNE_LIBNVML="$fake/libcuda.so" FAKE_CUDA_DEVICE=h200 FAKE_CUDA_TIME=model

# Another process decides between trials that this one does not know and its finals.
other=$TMPDIR/other.db
tune --db "$other" --templates "$families" --effort full --family ragged --trials-only "$problem"
is "trials without finals" "$?,$(sql "$other" "SELECT count(*) FROM record")" 0,0
db=$other
tune --db "$db" --templates "$families" --effort full --family race "$problem"
is "a process that knows nothing of them decides" "$?,$(entered race ragged)" 0,10
tune --db "$db" --templates "$families" --effort full --family ragged "$problem"
said=$?,$(entered race ragged)
# The fake's times are made of the texts of kernels: who is much slower has no place in finals.
best() {
    sql "$db" "SELECT min(t.median_ns) FROM trial AS t JOIN subject AS s ON s.id = t.subject
        JOIN family AS f ON f.id = s.family WHERE f.name = '$1' AND t.outcome = 'correct'"
}
if awk -v a="$(best ragged)" -v b="$(best race)" 'BEGIN { exit !(a > 1.2 * b) }'; then
    echo "ok - they take part after all # SKIP they are much slower here"
else
    is "they take part after all" "$said" 0,11
fi

# ---- a clock that has given way ----

# stored DB SCRIPT: whether the interval reaches 4 % on both sides, and the clock
stored() {
    FAKE_CUDA_SCRIPT=$2 tune --db "$1" --templates "$families" --effort quick --family plain \
        "$problem" || echo "exit $?"
    sql "$1" "SELECT low_ns < 0.96 * median_ns, high_ns > 1.04 * median_ns, clock_mhz
              FROM record WHERE rank = 0"
}
is "at the highest clock the interval is narrow" "$(stored "$TMPDIR/high.db" "")" "0|0|1980"
is "at a lower one it is wide" "$(stored "$TMPDIR/low.db" "clock=0.9@1")" "1|1|1782"

# ---- a clock that gives way while candidates are tried, one after the other ----

# A launch takes more than a sample here. What NVML notes is too old to know of it.
export FAKE_CUDA_DEVICE=gtx1050-3gb FAKE_NVRTC_VERSION=12.9
long=f64-nn-128x128x128

# falling DB SCRIPT: the winner of all twenty
falling() {
    FAKE_CUDA_SCRIPT=$2 tune --db "$1" --templates "$families" --effort full --family plain \
        "$long" || echo "exit $?"
    sql "$1" "SELECT point FROM subject s JOIN record r ON r.subject = s.id WHERE rank = 0"
}
# before_best DB: how many samples were taken before the trial of the first point that is as fast as
# any, give or take 1 %
before_best() {
    sql "$1" "SELECT sum(json_array_length(samples)) FROM trial WHERE id <
                  (SELECT min(id) FROM trial
                   WHERE median_ns <= 1.01 * (SELECT min(median_ns) FROM trial))"
}
steady=$(falling "$TMPDIR/steady.db" "noted=1")
# A trial takes some measurements beside its samples: the clock falls before that point's turn.
winner=$(falling "$TMPDIR/falling.db" "clock=0.4@$(before_best "$TMPDIR/steady.db");noted=1")
is "who was tried at a lower clock wins all the same" "$(sql "$TMPDIR/steady.db" "
    WITH t AS (SELECT point, median_ns FROM trial t JOIN subject s ON s.id = t.subject)
    SELECT max(median_ns) <= 1.01 * (SELECT min(median_ns) FROM t)
    FROM t WHERE point IN ('$steady', '$winner')")" 1
# The trial in which the clock falls may have one in between.
is "it was tried at that clock, and others at the highest" "$(sql "$TMPDIR/falling.db" "
    SELECT max(clock_mhz) || ',' || min(clock_mhz) FROM trial
    UNION ALL SELECT t.clock_mhz FROM trial t JOIN subject s ON s.id = t.subject
    WHERE point = '$winner'" | tr '\n' ' ')" "1518,607 607 "
exit "$bad"
