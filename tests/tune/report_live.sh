#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# report_live.sh - tune --report: the page follows a run, and is a plain report at its end.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"
use_fakes "tune --report"
export FAKE_CUDA_DEVICE=h200 FAKE_CUDA_TIME=model GEMMTUNE_DB="$TMPDIR/db" GEMMTUNE_CACHE_DIR="$TMPDIR/images"
page=$TMPDIR/page.html

"$GEMMTUNE" tune f32-nn-16x16x16 f32-nn-48x48x48 --device 0 --effort normal --quiet --report "$page" >"$TMPDIR/out" 2>"$TMPDIR/said" &
run=$!
seen=no
while kill -0 "$run" 2>/dev/null; do
    if grep -q 'http-equiv="refresh"' "$page" 2>/dev/null && grep -q 'class="progress" role="status">\[[12]/2\] f32-nn-' "$page"; then
        seen=yes
    fi
    sleep 0.2
done
wait "$run"
is "tune --report: exit 0" $? 0
is "the page shows how far the run is" "$seen" yes
is "at the end nothing asks again" "$(grep -c 'http-equiv="refresh"' "$page")" 0
has "it has both problems" "$(cat "$page")" "f32-nn-16x16x16*f32-nn-48x48x48"
"$GEMMTUNE" tune f32-nn-16x16x16 --device 0 --report "$TMPDIR/none/page.html" >"$TMPDIR/out" 2>"$TMPDIR/said"
is "a page that cannot be written: nothing is tuned" $? 1
has "which is said" "$(cat "$TMPDIR/said")" "none/page.html"
"$GEMMTUNE" tune f32-nn-16x16x16 --device 0 --dry-run --report "$TMPDIR/dry.html" >"$TMPDIR/out" 2>&1
is "a dry run writes no page" "$([ -e "$TMPDIR/dry.html" ] && echo there)" ""
exit "$bad"
