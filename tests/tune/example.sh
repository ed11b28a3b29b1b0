#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# example.sh - the example programs are built and right: the conversion of elements, a batch, groups and masks
# of rows, an epilogue, packed weights, equal bits, many shapes, and the program that the README shows, on the first OpenCL
# device, without a database and with one that was tuned.
. "$GT_SRC/tests/tune/lib.sh"
"$GT_BUILD/examples/convert" >"$TMPDIR/said" 2>&1
is "the conversion of elements runs and is right" $? 0
has "and says what it loses" "$(cat "$TMPDIR/said")" "e4m3  loses up to 0.0"
example=$GT_BUILD/examples/gemm_opencl
if [ ! -x "$example" ]; then
    echo "ok - the OpenCL example # SKIP not built: no CL/cl.h"
    exit 0
fi
GEMMTUNE_DB=$TMPDIR/example.db
export GEMMTUNE_DB
for name in batch groups masked epilogue pack row_order; do
    "$GT_BUILD/examples/${name}_opencl" >"$TMPDIR/said" 2>&1
    is "$name: it runs" $? 0
    has "$name: and is right" "$(cat "$TMPDIR/said")" ": right"
done
"$GT_BUILD/examples/many_shapes_opencl" 120 >"$TMPDIR/said" 2>&1
is "many shapes: it runs" $? 0
has "many shapes: they share a program" "$(cat "$TMPDIR/said")" "120 of 120 shapes, [1-9] loaded programs"
has "many shapes: a limit is kept" "$(cat "$TMPDIR/said")" "100 plans kept, 20 dropped"
has "many shapes: and all are right" "$(cat "$TMPDIR/said")" ": right"
"$example" >"$TMPDIR/said" 2>&1
is "without a database it runs" $? 0
has "a default point" "$(cat "$TMPDIR/said")" "match   default"
has "and is right" "$(cat "$TMPDIR/said")" ": right"
tune f32-nn-512x384x256 --family naive --effort quick
is "its problem is tuned" $? 0
"$example" >"$TMPDIR/said" 2>&1
is "with a database it runs" $? 0
has "what was tuned" "$(cat "$TMPDIR/said")" "match   exact"
promised=$(tr -d '\n*' <"$GT_SRC/examples/gemm_opencl.c" | tr -s ' ' | sed 's/.*plan below says "\([^"]*\)".*/\1/')
has "in the words that its comment promises" "$(cat "$TMPDIR/said")" "$promised"
has "and is right again" "$(cat "$TMPDIR/said")" ": right"
exit "$bad"
