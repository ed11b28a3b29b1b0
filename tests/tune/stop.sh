#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# stop.sh - what Ctrl-C and other signals leave of a command: exit 75 where the same command goes on,
# else the end that the signal has for any program, 128 and its number to a shell (stream: tests/cli/stream.sh).
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

one=f32-nn-16x16x16

# begin COMMAND ARGUMENT...: on device 0 in the background, as from a terminal: no signal is ignored
begin() {
    env --default-signal=INT,HUP "$GEMMTUNE" "$@" --device 0 >"$TMPDIR/out" 2>"$TMPDIR/said" &
}

# ---- at their work ----

# at_work DB COMMAND...: by SIGINT while a trial runs
at_work() {
    db=$1
    shift
    begin "$@" --effort full --quiet
    until_sql "$db" "SELECT 1 FROM trial WHERE state = 'running'"
    kill -s INT $!
    wait $!
    is "$1 at work: exit 75" $? 75
    is "$1 at work: no trial is left open" \
        "$(sql "$db" "SELECT count(*) FROM trial WHERE state = 'running'")" 0
    has "$1 at work: doctor finds none" "$("$GEMMTUNE" doctor --db "$db")" "unfinished *ok"
}
at_work "$TMPDIR/tune.db" tune --db "$TMPDIR/tune.db" --templates "$families" --family hang --timeout 1h $one
at_work "$TMPDIR/ladder.db" ladder --db "$TMPDIR/ladder.db" $one
at_work "$TMPDIR/evaluate.db" evaluate --keep "$TMPDIR/evaluate.db" $one

# ---- while a driver hangs that lists its devices ----

use_fakes "each command, and each signal"
export FAKE_CUDA_DEVICE=gtx1050-2gb FAKE_CUDA_SCRIPT="stall/cuInit" GEMMTUNE_DB="$TMPDIR/gt.db"

# stopped EXIT SIGNAL COMMAND ARGUMENT...: by the signal, once the process is there that lists devices
stopped() {
    exit=$1 by=$2
    shift 2
    begin "$@"
    while [ -z "$(children_of $!)" ] && kill -0 $!; do
        sleep 0.02
    done
    kill -s "$by" $!
    wait $! 2>/dev/null
    is "$* and SIG$by: exit $exit" $? "$exit"
}

for end in "INT 130" "TERM 143" "HUP 129" "USR1 138"; do
    stopped 75 "${end% *}" tune $one
    stopped "${end#* }" "${end% *}" bench $one
    stopped "${end#* }" "${end% *}" run $one
done
stopped 75 INT ladder $one
stopped 75 INT evaluate $one --keep "$TMPDIR/kept.db"
stopped 130 INT evaluate $one
stopped 130 INT evaluate
stopped 130 INT tune --dry-run $one
stopped 130 INT agree $one
stopped 130 INT trial $one --family naive
stopped 130 INT verify
stopped 130 INT lookup $one
stopped 130 INT explain $one
stopped 130 INT predict $one
stopped 130 INT space naive $one
exit "$bad"
