#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# build_tuned.sh - tune --build: after a search the kernels of its problems are in the image cache, and no others.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"
use_fakes "tune --build"
export FAKE_CUDA_DEVICE=h200 FAKE_CUDA_TIME=model GEMMTUNE_DB="$TMPDIR/db" GEMMTUNE_CACHE_DIR="$TMPDIR/images"

"$GEMMTUNE" tune f32-nn-16x16x16 --device 0 --effort quick --family naive --build >"$TMPDIR/out" 2>"$TMPDIR/said"
is "tune --build: exit 0" $? 0
has "its numbers" "$(cat "$TMPDIR/said")" "1 problem on NVIDIA H200: *, 0 failed, 0 left out, 0 open"
has "then everything is there" "$("$GEMMTUNE" build --device 0 2>&1)" ": 0 kernels built, [1-9]* there before, 0 failed"
"$GEMMTUNE" cache clear >"$TMPDIR/out"
"$GEMMTUNE" tune f64-tt-16x16x16 --device 0 --effort quick --family naive --build --quiet >"$TMPDIR/out" 2>&1
has "not what another search stored" "$("$GEMMTUNE" build --device 0 2>&1)" "2 problems on NVIDIA H200: [1-9]*0 failed"
"$GEMMTUNE" cache clear >"$TMPDIR/out"
"$GEMMTUNE" tune f32-nn-16x16x16 --device 0 --effort quick --family naive --build --dry-run >"$TMPDIR/out" 2>&1
is "a dry run builds nothing" "$? $("$GEMMTUNE" cache | sed -n 's/^images  *//p')" "0 0"
exit "$bad"
