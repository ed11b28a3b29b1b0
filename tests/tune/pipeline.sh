#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# pipeline.sh - what surrounds the trials: images that are compiled once for all problems, an account
# of the time, compilers that talk.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

# ---- compilers that talk ----

"$GEMMTUNE" tune --device 0 --db "$TMPDIR/talk.db" --templates "$families" --family nocompile \
    --effort full f32-nn-8x8x8 >"$TMPDIR/table" 2>"$TMPDIR/said"
is "a run with a point that does not compile" $? 0
is "has it" "$(rows "$TMPDIR/talk.db" f32-nn-8x8x8 outcome | sort | tr '\n' ' ')" \
    "compile correct "
is "no line is a compiler's" "$(grep -c -v -e '^\[1/1\] ' -e ' points in ' "$TMPDIR/said")" 0

# ---- where the time went ----

# field NAME: of every problem of the last JSON, a line each
field() {
    sql :memory: "SELECT json_extract(value, '\$.$1') FROM json_each(readfile('$TMPDIR/out'))"
}

few 5
problems="f32-nn-16x16x16 f32-nn-17x19x23"
# shellcheck disable=SC2086 # a list
"$GEMMTUNE" tune --device 0 --db "$TMPDIR/use.db" --templates "$own" --family few \
    --effort full $problems --json >"$TMPDIR/out" 2>"$TMPDIR/said"
is "a run that is accounted for" $? 0
has "says how many points it tried" "$(tail -n 1 "$TMPDIR/said")" "10 points in "
is "the shares of a problem's time are shares" "$(sql :memory: "
    SELECT group_concat(busy > 0 AND busy + rest <= 1.0002 AND least >= 0) FROM (
        SELECT json_extract(value, '\$.device_busy') busy,
            json_extract(value, '\$.setting_up') + json_extract(value, '\$.loading') +
            json_extract(value, '\$.compile_wait') rest,
            min(json_extract(value, '\$.setting_up'), json_extract(value, '\$.loading'),
                json_extract(value, '\$.compile_wait')) least
        FROM json_each(readfile('$TMPDIR/out')))")" 1,1
is "points a second are points by seconds" "$(sql :memory: "
    SELECT group_concat(abs(json_extract(value, '\$.points_per_s') *
        json_extract(value, '\$.seconds') - 5) < 0.5)
    FROM json_each(readfile('$TMPDIR/out'))")" 1,1
# shellcheck disable=SC2086
"$GEMMTUNE" tune --device 0 --db "$TMPDIR/use.db" --templates "$own" --family few \
    --effort full $problems --json >"$TMPDIR/out" 2>"$TMPDIR/said"
is "a run with nothing to do says nothing of it" "$(grep -c ' points in ' "$TMPDIR/said")" 0
is "and tried no points" "$(field points_per_s | tr '\n' ' ')" "0 0 "

# ---- what is always tried ----

tune --db "$TMPDIR/short.db" --budget 1ms f32-nn-16x16x16
is "a search without time" $? 0
served=
for family in naive tile; do
    ! tune --dry-run --family "$family" f32-nn-16x16x16 || served="$served$family "
done
is "tried what the table compares with" "$(sql "$TMPDIR/short.db" "
    SELECT DISTINCT f.name FROM trial t JOIN subject s ON s.id = t.subject
    JOIN family f ON f.id = s.family WHERE f.name IN ('naive', 'tile') ORDER BY 1" | tr '\n' ' ')" \
    "$served"

# ---- an image is compiled once ----

use_fakes "images are compiled once"
export FAKE_CUDA_DEVICE=h200 FAKE_CUDA_TIME=model FAKE_NVRTC_COUNT="$TMPDIR/count"

# compiled DB PROBLEM...: compilations so far, after these have been tuned into DB
compiled() {
    into=$1
    shift
    tune "$@" --db "$into" --templates "$own" --family few --effort full --jobs 3 ||
        echo "exit $?"
    wc -c <"$TMPDIR/count"
}
# 5 points of the family, and the checker's kernels for a type
is "every point is compiled" "$(compiled "$TMPDIR/a.db" f32-nn-16x16x16)" $((5 + 1))
is "and not again for other problems, in this run" \
    "$(compiled "$TMPDIR/a.db" f32-nn-24x17x20 f32-nn-9x33x12,beta f32-nn-8x8x8,lda=12)" 6
is "nor in another, with another database" \
    "$(compiled "$TMPDIR/b.db" f32-nn-24x17x20 f32-nn-16x16x16)" 6
is "each was tried for each" \
    "$(sql "$TMPDIR/a.db" "SELECT count(*) FROM trial WHERE outcome = 'correct'")" $((4 * 5))
is "other types are compiled, and once, though two problems begin with them" \
    "$(compiled "$TMPDIR/c.db" f64-nn-16x16x16 f64-nn-17x17x17 i32-nn-16x16x16 i32-nn-17x17x17)" \
    $((3 * 6))

# ---- one stands by ----

# opened DEVICE SCRIPT: contexts in a run of two problems, which counts the first rule's calls
opened() {
    rm -f "$TMPDIR/state" "$TMPDIR/d.db"
    FAKE_CUDA_DEVICE=$1 FAKE_NVRTC_VERSION=12.9 FAKE_CUDA_STATE=$TMPDIR/state FAKE_CUDA_SCRIPT=$2 \
        tune --db "$TMPDIR/d.db" --templates "$own" --family few --effort full \
        f32-nn-16x16x16 f32-nn-17x19x23 || echo "exit $?"
    od -A n -t d8 -N 8 "$TMPDIR/state" | tr -d ' '
}
is "a fresh process a problem, and the first one" "$(opened h200 cuCtxCreate:99=2)" 3
is "as many where none stands by" "$(opened gtx1050-2gb cuCtxCreate:99=2)" 3
# error 46: another process has it; whoever stands by opens it when its turn has come
is "a device that one process alone may open" \
    "$(opened h200 'cuCtxCreate:2=46;cuCtxCreate:4=46')" 5
is "has its finals as well" "$(sql "$TMPDIR/d.db" "SELECT count(DISTINCT subject) > 1 FROM record")" 1
exit "$bad"
