#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# cheats.sh - kernels that tell a check from a measurement, or are wrong where a check could forget to look: each is
# refused, and the same kernel without a cheat is accepted.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

# Of a problem as large as this there is one set of inputs, so each launch finds what the launch before has left.
# A ring of sets exceeds three times the last-level cache; a CPU's counts as 32 MiB at most.
cache=$("$GEMMTUNE" devices --json 2>"$TMPDIR/err" >"$TMPDIR/devices.json" &&
    sql :memory: "SELECT json_extract(readfile('$TMPDIR/devices.json'), '\$[0].l2_bytes')")
wide=$(awk -v cache="${cache:-0}" 'BEGIN { least = int(3 * cache / 4 / 23) + 1000; print (least > 1200000 && cache < 2 ^ 28 ? least : 1200000) }')
small=f32-nn-24x20x36 large=f32-nn-24x20x2000,lda=$wide brief=f32-nn-24x20x36,lda=$wide

# try_cheat NAME HOW WHAT: what its trial must say; on the problem $on. On busy cores a launch may take so long that it
# is a sample. Such a sample leaves cheats of the problem $brief no chance, so the trial is repeated.
try_cheat() {
    for _ in 1 2 3 4 5; do
        said=$("$GEMMTUNE" trial "$on" --device 0 --templates "$families" --family cheats \
            --point "HOW=$2" 2>&1)
        case $on$said in
        "$brief"*" of 1 launch"*) ;;
        *) break ;;
        esac
    done
    has "$1" "$said" "$3"
}

on=$small
try_cheat "without a cheat it is correct" 0 "outcome    correct"
wrong="outcome    wrong_result: f32-nn-"
try_cheat "asks for NaN ahead of A" 1 "$wrong"
try_cheat "knows the numbers of the check" 2 "${wrong}24x20x36 under the clock"
try_cheat "is right and wrong in turns on one C" 5 "$wrong"
try_cheat "has a small range" 6 "$wrong"70x104x40
try_cheat "leaves out 0 times infinity" 7 "$wrong"104x72x56
try_cheat "makes NaN 0" 8 "$wrong"104x72x56
try_cheat "keeps results for the addresses of A and B" 9 "$wrong"
try_cheat "changes A under the clock" 10 "$wrong"
on=$large
try_cheat "without a cheat it is correct here as well" 0 "outcome    correct"
# Where a sample comes to C several times, alpha changes its sign, and no result is there to be found.
case $said in
*" of 1 launch"*) try_cheat "finds its result in C" 3 "${wrong}24x20x2000,lda=$wide under the clock" ;;
*) echo "ok - finds its result in C # SKIP a sample has several launches" ;;
esac
on=$brief # with many launches in a sample, so that the workspace is what a launch has left
try_cheat "keeps in the workspace which C it has made" 4 "${wrong}24x20x36,lda=$wide under the clock"
try_cheat "leaves out alpha -1, which a lap of two has" 11 "${wrong}24x20x36,lda=$wide under the clock"
try_cheat "negates what it finds in C" 12 "${wrong}24x20x36,lda=$wide under the clock"
on=$brief,beta
try_cheat "without a cheat it is correct with beta" 0 "outcome    correct"
try_cheat "leaves out alpha -1 with beta" 11 "${wrong}24x20x36,lda=$wide,beta"
exit "$bad"
