#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# full.sh - a disk that is full costs one sentence and nothing that was measured; with room again the
# same command goes on. The disk is a small one in memory, mounted where nobody else sees it.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

disk=$TMPDIR/disk
if [ -z "${GT_MOUNTED:-}" ]; then
    mkdir -p "$disk"
    if ! unshare -rm mount -t tmpfs none "$disk" 2>/dev/null; then
        echo "ok - a full disk # SKIP no file system of our own may be mounted"
        exit 0
    fi
    GT_MOUNTED=yes exec unshare -rm sh "$GT_SRC/tests/tune/full.sh"
fi
mount -t tmpfs -o size=256k none "$disk" || exit 1
db=$disk/full.db

# fill KB: leaves so much room
fill() {
    cat /dev/zero >"$disk/filler" 2>/dev/null
    truncate -s "-${1}k" "$disk/filler"
}

# sound NAME TRIALS: the database holds what it did; one trial may run and one wait for it
sound() {
    cp "$db" "$TMPDIR/copy.db" # checked where there is room
    is "$1: the database is sound" "$(sql "$TMPDIR/copy.db" "PRAGMA integrity_check")" ok
    is "$1: no trial is lost" "$(sql "$TMPDIR/copy.db" "
        SELECT count(*) >= $2 AND sum(state = 'running') <= 2 FROM trial")" 1
    "$GEMMTUNE" doctor --db "$TMPDIR/copy.db" >"$TMPDIR/doctor" 2>&1
    has "$1: doctor agrees" "$(cat "$TMPDIR/doctor")" "database *ok"
}

many="f32-nn-17x19x23 f32-nn-24x24x24 f32-nn-32x32x32"
# of 20 trials a problem
search() {
    tune --db "$db" --templates "$families" --family plain --effort full "$@"
}
# shellcheck disable=SC2086 # a list
search f32-nn-16x16x16
is "a run with room" $? 0
# shellcheck disable=SC2086
for room in 4 8 16; do
    fill $room
    search $many
    is "with ${room} KiB left: exit 6" $? 6
    is "with ${room} KiB left: one sentence" "$(cat "$TMPDIR/said")" \
        "gemmtune: $db: database or disk is full"
    rm "$disk/filler"
    sound "with ${room} KiB left" 20
done
fill 4
"$GEMMTUNE" import "$GT_SRC/devices/h200/tuned.json" --db "$db" >/dev/null 2>"$TMPDIR/said"
is "import: exit 6" $? 6
is "import: one sentence" "$(cat "$TMPDIR/said")" "gemmtune: $db: database or disk is full"
rm "$disk/filler"
sound "import" 20
# shellcheck disable=SC2086
search $many
is "with room again the same command goes on" $? 0
is "to the end" "$(sql "$db" "
    SELECT count(*), sum(state = 'done'), sum(outcome = 'correct') FROM trial")" "80|80|80"
exit "$bad"
