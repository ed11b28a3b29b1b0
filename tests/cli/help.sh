#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Help, version, and what is said to a slip of the finger.
. "${GT_SRC:-.}/tests/cli/lib.sh"

expect "no arguments print help" 0 '^usage: gemmtune COMMAND'
expect "--help" 0 'Exit codes:' --help
expect "-h" 0 '^usage: ' -h
expect "--version" 0 '^gemmtune [0-9]*\.[0-9]*\.[0-9]*$' --version
expect "-V" 0 '^gemmtune ' -V
[ "$(sed -n 's/^\([a-z]*\) .*/\1/p' "$work/out" | tr '\n' ' ')" = \
    "gemmtune revision abi compiler libraries backends families " ]
verdict "and how it was built" $?
[ "$(sed -n 's/^families  *//p' "$work/out" | tr ' ' '\n' | sort)" = \
    "$(find "$GT_SRC/templates" -name space.json | sed 's/.*templates.\(.*\)\/.*/\1/' | sort)" ] &&
    grep -q '^backends   CUDA, OpenCL; ' "$work/out" &&
    grep -q '^libraries  SQLite 3\.[0-9.]*, cJSON 1\.[0-9.]*, zlib 1\.[0-9.]*$' "$work/out" &&
    grep -q "^abi  *libgemmtune.so.$(sed -n '1s/gemmtune \([0-9]*\.[0-9]*\).*/\1/p' "$work/out" |
        sed 's/^\([1-9][0-9]*\)\..*/\1/')$" "$work/out"
verdict "backends, families, libraries, the name of the shared library" $?
! grep -q -e "$GT_SRC" -e "$GT_BUILD" -e "$(date +%Y-%m-%d)" "$work/out"
verdict "no path and no day of the build" $?

try --help
commands=$(sed -n 's/^  \([a-z]*\)  *[A-Z].*\.$/\1/p' "$work/out")
bad=0
for c in devices record exec emit tune build list show lookup run trial space verify explain predict ladder bench figures evaluate \
    compare export import merge doctor cache; do
    echo "$commands" | grep -qx "$c" || bad=1
done
verdict "help lists every command" "$bad"
case $commands in *worker*) bad=1 ;; esac
verdict "help keeps the worker to itself" "$bad"

for c in $commands; do
    expect "$c --help" 0 "^usage: gemmtune $c " "$c" --help
    expect "$c: unknown option with a hint" 2 "did you mean '--help'" "$c" --hlp
    expect "$c: unknown option without one" 2 "unknown option '--xyzzy'" "$c" --xyzzy
done

expect "an option first means tune" 0 '^usage: gemmtune tune' --device 0 --help
expect "a misspelt option of tune" 2 "did you mean '--sizes'" --device 0 --sises x.json
expect "a misspelt command" 2 "did you mean 'list'" lst
expect "an unknown command" 2 "unknown command 'frobnicate'" frobnicate
expect "a value that is missing" 2 'needs a value' show f32-nn-1x1x1 --device
expect "a value too many" 2 'takes no value' list --json=yes
expect "an operand that is missing" 2 'usage: gemmtune show PROBLEM' show
expect "an operand too many" 2 'too many arguments' list this
expect "--json with --csv" 2 'exclude each other' list --json --csv
expect "a number that is none" 2 "not 'abc'" explain f32-nn-1x1x1 --peak-gflops abc
expect "help of a command" 0 '^usage: gemmtune list ' help list
expect "help --help" 0 '^usage: gemmtune COMMAND' help --help
expect "help -h" 0 '^usage: gemmtune COMMAND' help -h
expect "help of no option" 2 "unknown command '-x'" help -x
expect "help alone" 0 '^usage: gemmtune COMMAND' help
expect "help of none" 2 "did you mean 'list'" help lst
expect "a misspelt option of the program" 2 "did you mean '--version'" --verison
expect "the operand that is missing: the first" 2 'show: PROBLEM is missing; usage: ' show
expect "the second" 2 'compare: B is missing; usage: ' compare h200
expect "one of several" 2 'merge: FILE is missing; usage: ' merge
expect "a family may be left out: all are listed" 0 '^multistage  *BM x BN tiles' space
expect "the meaning of a parameter" 0 "^  *threads of a block along the lanes' direction" space naive
expect "as data" 0 '"name": "MAP", "values": .0, 1., "default": 1, "about": "0: the lanes' space naive --json
expect "as data too" 0 '^tile,f32 f64 .*,' space --csv
expect "an action may be left out" 0 '^images  *' cache
expect "--csv where there is no table" 2 'no table' space tile --why TILE_WIDTH=8 --csv
expect "an unknown cache action" 2 'neither stat nor clear' cache frob
expect "an unknown family" 2 "did you mean 'tile'" space tilee
finish
