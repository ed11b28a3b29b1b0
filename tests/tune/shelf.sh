#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shelf.sh - a device's results and lessons are given away: `export --shelf` writes a folder, `import` takes it after a
# check of a sample, and takes nothing that is damaged, of another release, or wrong.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

use_fakes "shelves of a device"
export FAKE_CUDA_DEVICE=gtx1080 FAKE_NVRTC_VERSION=12.9 FAKE_CUDA_TIME=model
db=$TMPDIR/own.db there=$TMPDIR/there.db out=$TMPDIR/given
import() {
    "$GEMMTUNE" import --db "$there" "$@" >"$TMPDIR/said" 2>&1
}
taken() {
    [ -e "$there" ] && sql "$there" "SELECT count(*) FROM record"
}
tune --db "$db" --family naive --effort quick f32-nn-8x8x8 f32-nn-9x8x7
is "two problems are tuned" $? 0

"$GEMMTUNE" export --shelf --db "$db" "$out" >"$TMPDIR/said" 2>&1
is "a shelf without lessons" "$?, $(ls "$out")" "0, tuned.json"
has "which it says" "$(cat "$TMPDIR/said")" "nothing was learned of the device yet"

# Lessons, as `tune --cover` keeps them: the files are an H200's.
key=$(sql "$db" "SELECT key FROM device") own=$db.shelves/$key
hash_of() {
    sha256sum "$1" | cut -d' ' -f1
}
mkdir -p "$own"
cp "$GT_SRC/devices/h200/costs.json" "$GT_SRC/devices/h200/trees.bin" "$own"
card() {
    printf '{"format": 1, "device_key": "%s", "model": %s, "trials": %s, "costs_sha256": "%s", "trees_sha256": "%s"}' \
        "$key" "$1" "$2" "$(hash_of "$own/costs.json")" "$(hash_of "$own/trees.bin")" >"$own/shelf.json"
}
card 2 500
"$GEMMTUNE" export --shelf --db "$db" --device gtx "$out" >"$TMPDIR/said" 2>&1
is "with lessons" "$?, $(cd "$out" && echo *)" "0, costs.json shelf.json trees.bin tuned.json"
is "which are the same trees" "$(hash_of "$out/trees.bin")" "$(hash_of "$own/trees.bin")"

"$GEMMTUNE" compare "GTX 1080" h200 --db "$out" --csv --quiet >"$TMPDIR/said" 2>&1
is "compare reads it" "$?, $(grep -c '^"*f32-nn-[89]x8x[78]"*,tuned,naive,' "$TMPDIR/said")" "0, 2"

import --verify 2 --device 0 "$out"
is "a stranger takes it" $? 0
has "after a check of a sample" "$(cat "$TMPDIR/said")" "2 correct, 0 wrong"
has "with its lessons" "$(cat "$TMPDIR/said")" "what was learned of the device serves lookups now"
is "which are beside the database" "$(hash_of "$there.shelves/$key/trees.bin")" "$(hash_of "$own/trees.bin")"
import "$out"
is "taken again, it changes nothing" "$?, $(grep -c learned "$TMPDIR/said")" "0, 0"

# A kernel that computes nonsense here.
rm -rf "$there"*
FAKE_CUDA_SCRIPT="corrupt/gemm!@0" import --verify 1 --device 0 "$out"
is "a wrong kernel" $? 5
is "nothing is taken" "$(taken)" ""

# Damage, and another release.
printf x >>"$out/trees.bin"
import "$out"
is "damaged trees" $? 3
has "which it names" "$(cat "$TMPDIR/said")" "trees.bin is not the file that shelf.json names"
is "they are not taken" "$([ -e "$there.shelves/$key/trees.bin" ] && echo taken)" ""
cp "$own/trees.bin" "$out"
sed 's/"model": 2/"model": 99/' "$own/shelf.json" >"$out/shelf.json"
import "$out"
is "lessons about another release" $? 3
has "which it says" "$(cat "$TMPDIR/said")" "it was learned about version 99 of the model"
import "$TMPDIR/nothing"
is "a folder that is not there" $? 3
exit $bad
