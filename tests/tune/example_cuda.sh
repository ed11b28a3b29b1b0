#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# example_cuda.sh - the example programs on CUDA are built and right, on the software GPU: a
# product, and a batch with arrays of pointers.
. "$GT_SRC/tests/tune/lib.sh"
if [ ! -x "$GT_BUILD/examples/gemm_cuda" ]; then
    echo "ok - the CUDA examples # SKIP not built: no cuda.h"
    exit 0
fi
use_software_gpu
export GEMMTUNE_DB=/nonexistent LD_LIBRARY_PATH="$fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" FAKE_CUDA_DEVICE=h200
for name in gemm pointers; do
    "$GT_BUILD/examples/${name}_cuda" >"$TMPDIR/said" 2>&1
    is "$name: it runs" $? 0
    has "$name: and is right" "$(cat "$TMPDIR/said")" ": right"
done
exit "$bad"
