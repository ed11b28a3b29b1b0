#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# evaluate's answers to bad input, without a device.
. "${GT_SRC:-.}/tests/cli/lib.sh"
export OCL_ICD_VENDORS="$work/nothing" # no OpenCL platform
export CUDA_VISIBLE_DEVICES=           # no CUDA device

printf '{"format": 1, "devices": [], "records": []}\n' >"$work/none.json"
try import "$work/none.json" --db "$work/empty.db"
try import "$GT_SRC/devices/h200/tuned.json" --db "$work/h200.db"
sed '/^      {"family": /d' "$GT_SRC/devices/h200/tuned.json" >"$work/none_here.json"
echo junk >"$work/junk.db"

expect "an unknown rule" 2 "no rule 'lokup'; did you mean 'lookup'" evaluate --rule lokup
expect "an unknown rule without a hint" 2 "no rule 'xyzzy'" evaluate --rule lookup,xyzzy
expect "all of them hidden" 2 'a part below 1' evaluate --holdout 1
expect "a part that is none" 2 "not '0'" evaluate --holdout 0
expect "one fold" 2 "not '1'" evaluate --folds 1
expect "a part and folds" 2 'exclude each other' evaluate --holdout 0.5 --folds 4
expect "drawn and hidden" 2 'random exclude' evaluate --random 4 --folds 4
expect "types of problems that are not drawn" 2 'that --random draws' evaluate --types f32
expect "batches of problems that are not drawn" 2 'that --random draws' evaluate --batch 4
expect "no problem to draw" 2 "not '0'" evaluate --random 0
expect "named and hidden" 2 'named, .* exclude' evaluate f32-nn-1x1x1 --folds 4
expect "named and stored" 2 'named, .* exclude' evaluate f32-nn-1x1x1 --stored
expect "named and drawn" 2 'random excludes --sizes' evaluate f32-nn-1x1x1 --random 2
expect "types of problems that are named" 2 'that --random draws' evaluate f32-nn-1x1x1 --types f32
expect "an effort without a problem" 2 'named or drawn' evaluate --effort quick
expect "a name that is none" 3 'f32-nn-1x1' evaluate f32-nn-1x1
expect "a list that is not there" 3 'nowhere' evaluate --sizes "$work/nowhere/x.json"
expect "a file that is no database" 6 'junk.db' evaluate --stored --db "$work/junk.db"
expect "a database that is not there" 6 'nowhere' evaluate --stored --db "$work/nowhere/x.db"
expect "no device in the database" 2 'has no device' evaluate --stored --db "$work/empty.db"
expect "a device that it does not know" 2 "no device 'Voodoo'" \
    evaluate --stored --device Voodoo --db "$work/h200.db"
try evaluate --stored --db "$work/h200.db" --rule lookup --folds 8 --csv
[ "$code" -eq 0 ] && grep -q '^[a-z0-9]*-[nt][nt]-[0-9x,a-z=]*,[^,]*,lookup,' "$work/out"
verdict "records that were imported are hidden too" $?
try import "$work/none_here.json" --db "$work/few.db"
try evaluate --stored --db "$work/few.db"
[ "$code" -eq 1 ] && grep -q '^gemmtune: evaluate .* here is none' "$work/err"
verdict "no records" $?
if "$GEMMTUNE" devices >/dev/null 2>&1; then
    echo "ok - no device # SKIP there is one that cannot be hidden"
else
    try evaluate --db "$work/h200.db"
    [ "$code" -eq 4 ] && [ "$(grep -c 'no device' "$work/err")" -eq 1 ]
    verdict "no device" $?
fi
finish
