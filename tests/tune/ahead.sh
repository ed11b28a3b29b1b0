#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ahead.sh - compilers that have no more use for a problem build the next one's first candidate, while the
# trials of the first problem still run. Nothing is compiled twice.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

use_fakes "compilers that go ahead"
export FAKE_CUDA_DEVICE=h200 FAKE_CUDA_TIME=model FAKE_NVRTC_COUNT="$TMPDIR/count"
export GEMMTUNE_CACHE_DIR="$TMPDIR/images"
few 8
tune --db "$TMPDIR/ahead.db" --templates "$own" --family few --effort full \
    f32-nn-96x96x96 f64-nn-32x32x32
is "two problems are tuned" $? 0

# images TYPE: the built kernels of the family for the type
images() {
    grep -rlaE "define GT_TAG " "$GEMMTUNE_CACHE_DIR" | xargs grep -la "define GT_DTYPE_$1 "
}
is "each kernel of both has an image" "$(images F32 | wc -l) $(images F64 | wc -l)" "8 8"
ended=$(sql "$TMPDIR/ahead.db" "SELECT max(t.ended_ms) FROM trial t JOIN subject s ON s.id = t.subject
    WHERE s.problem LIKE 'f32%'")
# shellcheck disable=SC2046 # file names of hex digits
first=$(stat -c %.3Y $(images F64) | sort -n | head -n 1 | tr -d .)
is "the second problem's first kernel is built before the first one's last trial ends" \
    "$([ "$first" -lt "$ended" ] && echo before || echo "$first after $ended")" before
is "every image was compiled once" \
    "$(wc -c <"$FAKE_NVRTC_COUNT") compilations" "$(find "$GEMMTUNE_CACHE_DIR" -type f -size +1k | wc -l) compilations"
exit "$bad"
