#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# abi.sh - programs that were built with an earlier release of this minor version still work: no
# struct shrank, no member moved, no enumerator has another value, no function is gone.
# tests/data/abi.txt has what is promised.
set -u
. "$GT_SRC/tests/cli/lib.sh"

if [ -n "${GT_SAN:-}" ]; then
    echo "ok - the binary interface # SKIP the library is built with $GT_SAN"
    exit 0
fi
recorded=$GT_SRC/tests/data/abi.txt
code=0
: >"$work/out"
: >"$work/err"

# broken RECORDED NOW: prints the lines of RECORDED that NOW breaks. A struct may grow.
broken() {
    awk 'NR == FNR { at[$1 " " $2] = $0; size[$1 " " $2] = $3; next }
        !(($1 " " $2) in at) { print "gone: " $0; next }
        $1 == "struct" && size[$1 " " $2] + 0 >= $3 + 0 { next }
        at[$1 " " $2] != $0 { print "was " $0 ", is " at[$1 " " $2] }' "$2" "$1"
}

"$GT_SRC/tools/abi" "$GT_BUILD/libgemmtune.so" >"$work/now"
verdict "the interface can be listed" $?
[ "$(head -n 1 "$work/now")" = "$(head -n 1 "$recorded")" ]
verdict "tests/data/abi.txt is of this minor version (a new one is recorded by make abi)" $?
broken "$recorded" "$work/now" >"$work/broken"
cat "$work/broken"
[ ! -s "$work/broken" ]
verdict "nothing that was promised has changed" $?
broken "$work/now" "$recorded" >"$work/new"
cat "$work/new"
[ ! -s "$work/new" ]
verdict "everything new is recorded (make abi)" $?

# The comparison sees what it is for.
change() { # NAME, SED-EXPRESSION: how a later release would be wrong
    sed "$2" "$work/now" >"$work/changed"
    ! cmp -s "$work/now" "$work/changed" && [ -n "$(broken "$recorded" "$work/changed")" ]
    verdict "it sees $1" $?
}
change "a member that moved" 's/^member gemmtune_args.workspace [0-9]*/member gemmtune_args.workspace 8/'
change "a member that is gone" '/^member gemmtune_problem.m /d'
change "a struct that shrank" 's/^struct gemmtune_problem [0-9]*/struct gemmtune_problem 8/'
change "another value" 's/^value GEMMTUNE_I8 .*/value GEMMTUNE_I8 7/'
change "a function that is gone" '/^function gemmtune_launch/d'
sed 's/^struct gemmtune_args .*/struct gemmtune_args 4000/' "$work/now" >"$work/grown"
[ -z "$(broken "$recorded" "$work/grown")" ]
verdict "a struct may grow" $?

nm -D --defined-only "$GT_BUILD/libgemmtune.so" | awk '$2 == "T" && $3 !~ /^gemmtune_[a-z0-9_]*@@GEMMTUNE_/ { n++ } END { exit n > 0 }'
verdict "each function of the library has a version" $?
finish
