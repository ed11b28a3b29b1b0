#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# misses.sh - a program writes down what it got by forecast, `tune --from-misses` tunes it, and the program
# then gets what was tuned and writes nothing more. On the first OpenCL device.
. "$GT_SRC/tests/tune/lib.sh"
example=$GT_BUILD/examples/gemm_opencl
if [ ! -x "$example" ]; then
    echo "ok - misses # SKIP not built: no CL/cl.h"
    exit 0
fi
GEMMTUNE_DB=$TMPDIR/misses.db GEMMTUNE_MISSES=$TMPDIR/misses
export GEMMTUNE_DB GEMMTUNE_MISSES
"$example" >"$TMPDIR/said" 2>&1
is "an untuned problem runs" $? 0
has "its miss is written down" "$(cat "$GEMMTUNE_MISSES")" " f32-nn-512x384x256"
is "in one line" "$(wc -l <"$GEMMTUNE_MISSES")" 1
loss=$("$GEMMTUNE" lookup f32-nn-512x384x256 --device 0 --json | sed 's/.*"expected_loss_percent": *//; s/,.*//')
is "with the loss that the lookup expects, in parts of a thousand" "$(awk -v loss="$loss" \
    '{ print ($1 > 10 * loss - 1 && $1 < 10 * loss + 1) }' "$GEMMTUNE_MISSES")" 1

echo "900 another-device f32-nn-64x64x64" >>"$GEMMTUNE_MISSES"
"$GEMMTUNE" tune --device 0 --from-misses "$GEMMTUNE_MISSES" --family naive --effort quick \
    >"$TMPDIR/said" 2>&1
is "the miss is tuned" $? 0
has "and counted" "$(cat "$TMPDIR/said")" "1 line of this device, 1 problem; 1 of others"
has "lookup expects no loss then" \
    "$("$GEMMTUNE" lookup f32-nn-512x384x256 --device 0)" "loss     0 % expected"

: >"$GEMMTUNE_MISSES"
"$example" >"$TMPDIR/said" 2>&1
has "the program gets what was tuned" "$(cat "$TMPDIR/said")" "match   exact"
is "and writes no miss" "$(cat "$GEMMTUNE_MISSES")" ""
tune --from-misses "$GEMMTUNE_MISSES"
is "a file without misses is bad input" $? 3
has "and said to be" "$(cat "$TMPDIR/said")" "no misses of"
echo nonsense >"$GEMMTUNE_MISSES"
tune --from-misses "$GEMMTUNE_MISSES"
is "so is one with another text" $? 3
has "of which each line is named" "$(cat "$TMPDIR/said")" "misses:1: is not LOSS DEVICE PROBLEM"
mkfifo "$TMPDIR/fifo"
tune --from-misses "$TMPDIR/fifo"
is "a pipe is refused, not waited for" $? 3
has "and said to be one" "$(cat "$TMPDIR/said")" "fifo: is a pipe: give a file"
exit "$bad"
