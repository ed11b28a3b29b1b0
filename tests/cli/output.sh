#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Data goes to stdout and is checked to have arrived; the locale does not matter; no device is
# one sentence.
. "${GT_SRC:-.}/tests/cli/lib.sh"
export OCL_ICD_VENDORS="$work/nothing" # no OpenCL platform
export CUDA_VISIBLE_DEVICES=           # no CUDA device

if [ -c /dev/full ]; then
    for c in "--help" "list --help" "compare 260 1080" "space tile" "list --json"; do
        # shellcheck disable=SC2086
        "$GEMMTUNE" $c >/dev/full 2>"$work/err"
        code=$?
        : >"$work/out"
        [ "$code" -eq 1 ] && grep -q '^gemmtune: cannot write to standard output' "$work/err"
        verdict "full device: $c" $?
    done
else
    echo "ok - full device # SKIP no /dev/full"
fi
"$GEMMTUNE" --help >&- 2>"$work/err"
code=$?
[ "$code" -eq 1 ]
verdict "closed stdout" $?
"$GEMMTUNE" list 2>&- >"$work/out" </dev/null
code=$?
verdict "closed stderr" "$code"
# A text for an open file goes on in it: what is there stays, and the order of the texts too.
printf '{"format": 2, "devices": [], "records": []}\n' >"$work/none.json"
"$GEMMTUNE" import "$work/none.json" --db "$work/some.db" >"$work/out" 2>"$work/err"
verdict "a database for an export" $?
"$GEMMTUNE" export - --db "$work/some.db" >"$work/wanted" 2>"$work/err"
for to in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
    echo keepme >"$work/log.txt"
    {
        "$GEMMTUNE" export --db "$work/some.db" "$to" 2>"$work/err" && echo after
    } >>"$work/log.txt"
    { echo keepme; cat "$work/wanted"; echo after; } >"$work/whole"
    cmp -s "$work/whole" "$work/log.txt"
    verdict "export to $to adds to a file" $?
done
# The reader leaves at once; the writer must not die of a signal (141).
code=$({ "$GEMMTUNE" compare 260 1080 2>/dev/null; echo $? >&3; } 3>&1 >/dev/null | true; cat)
[ "${code:-1}" != 141 ]
verdict "a reader that leaves" $?

for c in "compare 260 1080" "compare 260 1080 --json" "compare 260 1080 --csv" \
    "explain f32-nn-4096x4096x4096 --peak-gflops 8873 --bandwidth-gbs 320" \
    "explain f32-nn-4096x4096x4096 --peak-gflops 8873.5 --bandwidth-gbs 320.25 --json"; do
    # shellcheck disable=SC2086
    LC_ALL=C try $c
    cp "$work/out" "$work/plain"
    # shellcheck disable=SC2086
    LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 try $c
    cmp -s "$work/plain" "$work/out" && [ "$code" -eq 0 ]
    verdict "German locale: $c" $?
done

expect "1080 at 4096: the published 15.5 ms" 0 '^roofline  *15\.5 ms, bound by compute' \
    explain f32-nn-4096x4096x4096 --peak-gflops 8873 --bandwidth-gbs 320
expect "the naive kernel's traffic" 0 '"naive_bytes": 549822922752,' \
    explain f32-nn-4096x4096x4096 --peak-gflops 8873 --bandwidth-gbs 320 --json
expect "bound by memory" 0 'bound by memory' \
    explain f32-nn-1x4096x4096 --peak-gflops 8873 --bandwidth-gbs 320
# Groups share the rows. Rows that are masked are no traffic; memory holds them.
expect "the naive traffic of groups" 0 '"naive_bytes": 47256174848,' \
    explain bf16-nt-4096x1408x2048,groups=64 --peak-gflops 8873 --bandwidth-gbs 320 --json
expect "the traffic of masked rows" 0 \
    '"naive_bytes": 83240, "perfect_bytes": 14120, "footprint_bytes": 17960,' \
    explain bf16-nt-8x16x32,batch=10,masked,rows=4 --peak-gflops 8873 --bandwidth-gbs 320 --json
expect "the pointers of a batch" 0 \
    '"naive_bytes": 166640, "perfect_bytes": 18160, "footprint_bytes": 18160,' \
    explain bf16-nt-8x16x32,batch=10,pointers --peak-gflops 8873 --bandwidth-gbs 320 --json

expect "published figures without a database" 0 '^f32-nn-4096x4096x4096 *published *tile .* 147 ms ' \
    compare 1050 1080
expect "published: each kernel's best rate" 0 '^best published rate, f32, tile: A 90.5, B 935 GFLOP/s' \
    compare 1050 1080
printf '{"format": 1, "devices": [], "records": []}\n' >"$work/none.json"
try import "$work/none.json" --db "$work/x.db"
expect "a device that nobody knows" 2 "no device 'Voodoo'" compare 1080 Voodoo --db "$work/x.db"

# ---- the winner of a problem is one that can be served ----

# hash_of FAMILY [OPTION]...: the hash of a family's present source
hash_of() {
    "$GEMMTUNE" space "$@" --json | sed -n 's/.*"hash": "\([0-9a-f]*\)".*/\1/p'
}

# tuned DB FILE FAMILY HASH POINT NS: a result of the family's source of that hash
tuned() {
    db=$1
    shift
    sed -e 's/"format": 3/"format": 2/' -e 's/"families": {/"records": [/' -e '/"records": \[/q' \
        "$GT_SRC/devices/h200/tuned.json" >"$work/$1.json"
    device=$(sed -n 's/.*{"key": "\([^"]*\)".*/\1/p' "$work/$1.json")
    cat >>"$work/$1.json" <<END
    {"device": "$device", "problem": "f32-nn-512x512x512", "family": "$2", "family_hash": "$3", "point": "$4", "rank": 0, "tied": false, "median_ns": $5, "low_ns": $5, "high_ns": $5, "samples": 6, "naive_ns": 0, "measured_ms": 1795291169840}
  ]
}
END
    try import "$work/$1.json" --db "$work/$db.db"
    [ "$code" -eq 0 ]
    verdict "import $1 into $db" $?
}
present=$(hash_of tile)
older=$(echo older | sha256sum | cut -d' ' -f1)

tuned two older tile "$older" "TILE_WIDTH=16 PAD=0 DOUBLE=0" 50000
expect "list: a stale winner where there is no other" 0 '^f32-nn-512x512x512 .* TILE_WIDTH=16 .* stale *$' \
    list --db "$work/two.db"
tuned two newer tile "$present" "TILE_WIDTH=32 PAD=0 DOUBLE=0" 60000
expect "list: else the best that is not" 0 '^f32-nn-512x512x512 .* TILE_WIDTH=32 .* imported *$' \
    list --db "$work/two.db"
[ "$(grep -c '^f32-nn-512x512x512 ' "$work/out")" -eq 1 ]
verdict "list: one line a problem" $?
expect "compare: the best that is not" 0 '^f32-nn-512x512x512,tuned,tile,TILE_WIDTH=32 ' \
    compare H200 260 --csv --db "$work/two.db"
tuned one older tile "$older" "TILE_WIDTH=16 PAD=0 DOUBLE=0" 50000
tuned other newer tile "$present" "TILE_WIDTH=32 PAD=0 DOUBLE=0" 60000
expect "compare: out of two databases too" 0 '^f32-nn-512x512x512,tuned,tile,TILE_WIDTH=32 ' \
    compare H200 260 --csv --db "$work/one.db" --db "$work/other.db"
tuned other own plain "$(hash_of plain --templates "$GT_SRC/tests/data/families")" TAG=1 40000
expect "compare: a family of one's own" 0 '^f32-nn-512x512x512,tuned,plain,TAG=1,' \
    compare H200 260 --csv --db "$work/other.db" --templates "$GT_SRC/tests/data/families"
expect "compare: which is stale without its folder" 0 '^f32-nn-512x512x512,tuned,tile,' \
    compare H200 260 --csv --db "$work/other.db"

expect "doctor: a row of a family that is not here" 0 'note *1 row of families that are not here' \
    doctor --db "$work/other.db"
expect "doctor: and none with its folder" 0 'stale rows *ok' doctor --db "$work/other.db" \
    --templates "$GT_SRC/tests/data/families"
! grep -q 'not here' "$work/out"
verdict "which is then said" $?

# one sentence, whatever else there is to say
no_device() {
    name=$1
    shift
    try "$@"
    [ "$code" -eq 4 ] && [ "$(grep -c 'no device' "$work/err")" -eq 1 ]
    verdict "$name" $?
}
if "$GEMMTUNE" devices >/dev/null 2>&1; then
    echo "ok - no device # SKIP there is one that cannot be hidden"
else
    no_device "no device: devices" devices
    no_device "no device: devices --json" devices --json
    [ "$(cat "$work/out")" = "[]" ]
    verdict "no device: an empty array" $?
    no_device "no device: lookup" lookup f32-nn-1x1x1
    no_device "no device: explain" explain f32-nn-1x1x1
    no_device "no device: tune" tune --device 0 f32-nn-1x1x1 --db "$work/t.db"
    expect "no device: space counts for a nominal one" 0 'Points on a nominal device' space tile
fi

try lookup --device nobody f32-nn-8x8x8
[ "$code" -eq 4 ] && [ "$(grep -c 'no database at' "$work/err")" -eq 1 ]
verdict "lookup: one sentence about a database that is not there" $?

GEMMTUNE_CACHE_DIR="$work/cache" GEMMTUNE_CACHE_MAX=7 expect "the cache's limit" 0 \
    '^limit   7 MiB' cache stat
GEMMTUNE_CACHE_DIR="$work/cache" GEMMTUNE_CACHE_MAX=0 expect "no limit" 0 \
    '"limit_bytes": null' cache stat --json

expect "a bad problem name: show" 3 'problem "f32"' show f32
expect "a bad problem name: lookup" 3 '"f99" is not a data type' lookup f99-nn-1x1x1
expect "a bad problem name: explain" 3 'm "-1"' explain f32-nn--1x1x1
expect "a bad problem name: space" 3 'layout "xx"' space tile f32-xx-1x1x1
expect "templates that are not there" 3 'nowhere' space tile --templates "$work/nowhere"
expect "an import that is not there" 3 'nowhere' import "$work/nowhere" --db "$work/t.db"
printf '{' >"$work/bad.json"
expect "an import that is not JSON" 3 'bad.json:1' import "$work/bad.json" --db "$work/t.db"
expect "an export says what it wrote" 0 'one.json: 1 result of 1 device$' \
    export "$work/one.json" --db "$work/one.db"
[ "$(grep -c '"problem"' "$work/one.json")" -eq 1 ]
verdict "and that is what is there" $?
try export - --db "$work/one.db"
cmp -s "$work/out" "$work/one.json"
verdict "standard output gets nothing but the text" $?
expect "an export with nowhere to go" 1 'where.json' export "$work/no/where.json" --db "$work/one.db"
expect "a point that is none" 2 'is not NAME=integer' space tile --why TILE
expect "a parameter that is none" 2 'has no parameter BM' space tile --why BM=8
expect "--why outside the domain" 0 'REFUSES domain  TILE_WIDTH=64' space tile --why TILE_WIDTH=64
expect "--why names the rule and its numbers" 0 'THREADS=4096' space tile --why TILE_WIDTH=64
expect "--why has a problem's numbers with a problem" 0 'TILES = .* = 12' \
    space tma f32-nn-400x300x100 --why BM=128
expect "--why asks for the demands that no rule states" 0 'REFUSES fit .*the rows of A are not aligned' \
    space block f32-nn-100x100x101 --why VA=4
try space tma --why BM=128
[ "$code" -eq 0 ] && grep -q '^CAPACITY = ' "$work/out" && ! grep -q '^TILES = ' "$work/out"
verdict "--why has none without one" $?
finish
