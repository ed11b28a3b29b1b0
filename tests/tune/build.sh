#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build.sh - gemmtune build on the fake driver: what it counts, what it leaves when it is stopped, when kernels
# do not build and when the cache is small. test_prebuilt.c shows that plans then compile nothing.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"
use_fakes "gemmtune build"
export FAKE_CUDA_DEVICE=h200 FAKE_CUDA_TIME=model GEMMTUNE_DB="$TMPDIR/db" GEMMTUNE_CACHE_DIR="$TMPDIR/images"
export FAKE_NVRTC_COUNT="$TMPDIR/compiled"

# some PATTERN: the shipped records of the problems that match, as a file
some() {
    awk -v want="\"problem\": \"($1)\"" '
        /^      \{"family"/ { if ($0 ~ want) { sub(/,$/, ""); printf "%s%s", between, $0; between = ",\n" } next }
        /^    \]/ { print "" }
        { print }' "$GT_SRC/devices/h200/tuned.json" >"$TMPDIR/some.json"
}
# built ARGUMENT...: exit code and numbers of a run
built() {
    "$GEMMTUNE" build --device 0 --json --quiet "$@" >"$TMPDIR/out" 2>"$TMPDIR/said"
    echo "$? $(field built) $(field found) $(field failed) $(field left_out) $(field open)"
}
field() {
    sql :memory: "SELECT json_extract(readfile('$TMPDIR/out'), '\$.$1')"
}
compiled() {
    wc -c <"$FAKE_NVRTC_COUNT" 2>/dev/null || echo 0
}
images() {
    "$GEMMTUNE" cache | sed -n 's/^images  *//p'
}

is "without results there is nothing to do" "$(built)" "0 0 0 0 0 0"

# ---- all results ----

some "f32-nn-1024x1024x1024|f16-nn-1024x1024x1024|f64-nn-256x256x256"
"$GEMMTUNE" import "$TMPDIR/some.json" --build --device 0 --jobs 2 >"$TMPDIR/out" 2>"$TMPDIR/said"
is "import --build: exit 0" $? 0
has "its table" "$(cat "$TMPDIR/out")" "records"
all=$(images)
has "its numbers" "$(cat "$TMPDIR/said")" \
    "problems on NVIDIA H200: $all kernels built, 0 there before, 0 failed, 0 left out, 0 open; "
is "each source was compiled once" "$(compiled)" "$all"
is "more than one for each problem" "$([ "$all" -gt "$(sql "$GEMMTUNE_DB" \
    'SELECT count(DISTINCT problem) FROM subject')" ] && echo yes)" yes
is "the same command builds nothing" "$(built) $(compiled)" "0 0 $all 0 0 0 $all"
is "without an image cache: exit 1" \
    "$(GEMMTUNE_CACHE_DIR='' "$GEMMTUNE" build --device 0 2>&1; echo $?)" \
    "gemmtune: no folder for the image cache can be opened: GEMMTUNE_CACHE_DIR names one
1"
is "without a compiler: exit 4" \
    "$(GEMMTUNE_LIBNVRTC=/nonexistent "$GEMMTUNE" build --device 0 >/dev/null 2>&1; echo $?)" 4

# ---- named problems, results or none ----

rm -rf "$GEMMTUNE_CACHE_DIR"
one=$(built f32-nn-1000x1000x1000)
has "a named problem alone" "$one" "0 [1-9]* 0 0 0 0"
is "which is fewer than all" "$([ "$(images)" -lt "$all" ] && echo yes)" yes

# ---- general kernels ----

# general ARGUMENT...: a few general kernels of f32
general() {
    "$GEMMTUNE" build --general --device 0 --types f32 --kernels 3 --draws 8 --quiet "$@" 2>&1
}
rm -rf "$GEMMTUNE_CACHE_DIR"
dry=$(general --dry-run --csv | tr -d '\r')
is "general kernels of the eight kinds, a dry run" \
    "$(echo "$dry" | awk -F, '$4 ~ /^[123]$/ { print $1, $2, $3, $6 }' | sort -u | tr '\n' ';')" \
    "f32 nn batch 0;f32 nn single 0;f32 nt batch 0;f32 nt single 0;f32 tn batch 0;f32 tn single 0;f32 tt batch 0;f32 tt single 0;"
all_general=$(echo "$dry" | awk -F, 'NR > 1 { sum += $4 } END { print sum }')
is "their losses are in order: mean, 95th percentile, largest" \
    "$(echo "$dry" | awk -F, 'NR > 1 && !($7 >= 0 && $7 <= $9 && $8 <= $9)')" ""
is "a dry run leaves no image and no list" "$(find "$TMPDIR" -name '*.img' -o -name '*.general')" ""
is "the same choice again" "$(general --dry-run --csv | tr -d '\r')" "$dry"
has "they are built" "$(general)" "$all_general general kernels on NVIDIA H200: [1-9]* kernels built, 0 there before, 0 failed, 0 left out"
is "the list is kept" "$(find "$GEMMTUNE_CACHE_DIR" -name '*.general' | wc -l)" 1
has "again: nothing is built" "$(general)" "$all_general general kernels on NVIDIA H200: 0 kernels built, [1-9]* there before, 0 failed"
has "as JSON" "$(general --json)" '"general": '"$all_general"', "built": 0, "found": [1-9]'
"$GEMMTUNE" cache clear >/dev/null
is "clearing the cache takes the list away" "$(find "$GEMMTUNE_CACHE_DIR" -name '*.general')" ""
has "a wrong type is refused" "$("$GEMMTUNE" build --general --types f33 --device 0 2>&1; echo $?)" "build: *f33*2"
has "problems beside --general are refused" "$(general f32-nn-8x8x8; echo $?)" "build: --general builds for all problems*2"
has "--types without --general is refused" "$("$GEMMTUNE" build --types f32 --device 0 2>&1; echo $?)" "are about --general*2"

# ---- kernels that do not build ----

rm -rf "$GEMMTUNE_CACHE_DIR"
some=$(FAKE_NVRTC_FAIL="#define GT_TM 8" built)
has "kernels that fail: exit 1, and the numbers" "$some" "1 [1-9]* 0 [1-9]* 0 0"
has "the reason of the first" "$(field why)" "family *: *the test wants no kernel"
is "the kernels that plans take instead are built" "$([ "$(images)" = "$(field built)" ] && echo yes)" yes
failed=$(field failed)
again=$(FAKE_NVRTC_FAIL="#define GT_TM 8" built)
is "again: the same fail, nothing is built" "$again" "1 0 $(images) $failed 0 0"

# ---- a cache that is too small ----

rm -rf "$GEMMTUNE_CACHE_DIR"
some=$(GEMMTUNE_CACHE_MAX=1 built)
has "a small cache: exit 1, and the numbers" "$some" "1 [1-9]* 0 0 [1-9]* 0"
is "what is built stays" "$(images) $(field dropped)" "$(field built) 0"
is "within three quarters of the limit" "$([ "$(field bytes)" -le 786432 ] && echo yes)" yes
"$GEMMTUNE" cache clear >/dev/null
GEMMTUNE_CACHE_MAX=1 "$GEMMTUNE" build --device 0 >"$TMPDIR/out" 2>"$TMPDIR/said"
has "and people are told" "$(cat "$TMPDIR/said")" "left out, which three quarters of the image cache's limit of 1 MiB"

# ---- stopped ----

rm -rf "$GEMMTUNE_CACHE_DIR"
env --default-signal=INT FAKE_NVRTC_SLOW="GT_" "$GEMMTUNE" build --device 0 --jobs 1 --json \
    >"$TMPDIR/out" 2>"$TMPDIR/said" &
while [ "$(images)" = 0 ] && kill -0 $!; do
    sleep 0.05
done
kill -s INT $!
wait $!
is "stopped by Ctrl-C: exit 75" $? 75
open=$(field open) kept=$(field built)
is "what is built is counted, the rest is open" "$((open + kept)) $(images)" "$all $kept"
is "the same command goes on" "$(built)" "0 $open $kept 0 0 0"
exit "$bad"
