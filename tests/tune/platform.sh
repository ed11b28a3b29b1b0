#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# platform.sh - products of three types are tuned on an OpenCL device, verified again, and served.
# check: platform
. "$GT_SRC/tests/tune/lib.sh"

export GEMMTUNE_LIBCUDA=/nowhere
"$GEMMTUNE" devices --json 2>/dev/null | grep -q '"backend": "opencl"' || {
    echo "ok - an OpenCL platform # SKIP no OpenCL device"
    exit 0
}
db=$TMPDIR/platform.db
problems="f32-nn-65x47x33 f64-nt-40x50x60 f16-tn-33x34x35,beta"
# shellcheck disable=SC2086 # words
tune --db "$db" --family vector,naive --effort quick --budget 5s $problems
is "three types are tuned" $? 0
is "each has a winner" "$("$GEMMTUNE" list --db "$db" --json | grep -c '"problem"')" 3
is "no trial was wrong" "$(sql "$db" "SELECT count(*) FROM trial WHERE outcome = 'wrong_result'")" 0
"$GEMMTUNE" verify --device 0 --db "$db" >"$TMPDIR/said" 2>&1
is "winners are right on new data" $? 0
has "all of them" "$(cat "$TMPDIR/said")" " correct, 0 wrong"
"$GEMMTUNE" run f32-nn-65x47x33 --device 0 --db "$db" >"$TMPDIR/said" 2>&1
is "the library serves one" $? 0
exit "$bad"
