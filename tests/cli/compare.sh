#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare.sh - two devices that are not here, with nothing tuned: published figures beside
# predictions of the same kernels, and beside the best of gemmtune. The program needs no source
# tree for it.
. "${GT_SRC:-.}/tests/cli/lib.sh"
case $GEMMTUNE in /*) ;; *) GEMMTUNE=$PWD/$GEMMTUNE ;; esac
cd "$work" || exit 1
"$GEMMTUNE" import "$GT_SRC/devices/h200/tuned.json" --db x.db >/dev/null 2>&1
export GEMMTUNE_DB="$work/none.db"

expect "the two cards of the founding texts" 0 '^A  NVIDIA GeForce GTX 1050, .* gtx-1050-2gb$' \
    compare "GTX 1050" "GTX 1080" --svg cards.svg
grep -q '^B  NVIDIA GeForce GTX 1080, .* gtx-1080$' out; verdict "both are described" $?
grep -q 'predicted A .* best A .* best B$' out; verdict "with predictions" $?
grep -q '^f32-nn mnk=1e10 .* tile  *221 ms ' out; verdict "and published figures" $?
! grep -q 'slowdown' out; verdict "a column without a cell is not shown" $?

grep -q '^</svg>$' cards.svg; verdict "the picture is whole" $?
grep -q 'NVIDIA GeForce GTX 1050 beside NVIDIA GeForce GTX 1080' cards.svg; verdict "it has a title" $?
[ "$(grep -c '<circle' cards.svg)" -ge 8 ]; verdict "it has marks" $?
grep -q 'time on GTX 1050 over time on GTX 1080' cards.svg; verdict "and a panel of ratios" $?
grep -q '<title>predicted of the best kernels: 4[.0-9]* in the mean of ' cards.svg; verdict "which says what was predicted" $?
! grep -q 'tuned on both' cards.svg; verdict "and that nothing was tuned" $?

# CSV by column name: field NAME of the row of 4096^3 with kernel KERNEL
try compare "GTX 1050" "GTX 1080" --csv
tr -d '\r' <out >rows.csv
field() {
    awk -F, -v name="$1" -v kernel="$2" '
        { gsub(/"[^"]*"/, "quoted") }
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
        $1 == "f32-nn-4096x4096x4096" && index($0, kernel) { print $at; exit }' rows.csv
}
awk -F, '{ gsub(/"[^"]*"/, "quoted") }
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["a_ns"] == "" && $at["b_ns"] == "" && $at["a_gflops"] == "" { print; bad = 1 }
    END { exit bad }' rows.csv
verdict "every row has a figure" $?
is_near() { # NAME WANTED GOT: within a factor of 1.6
    awk -v x="$2" -v y="$3" 'BEGIN { exit !(y > x / 1.6 && y < x * 1.6) }'
    verdict "$1: $3 ns" $?
}
is_near "a warp down a column is predicted as that" 2.9e9 "$(field b_predicted_ns 'naive by columns')"
is_near "a warp along a row as that" 392e6 "$(field b_predicted_ns 'naive by rows')"
is_near "tiles as tiles" 147e6 "$(field b_predicted_ns ',tile')"
is_near "the best comes near the vendor's" 20e6 "$(field b_best_ns cuBLAS)"
[ -z "$(field b_predicted_ns cuBLAS)" ]; verdict "nothing is predicted of the vendor's kernel" $?

# ---- devices by the names of their files ----
expect "a card that nobody published" 0 '^A  NVIDIA GeForce RTX 4090, .* rtx-4090$' compare 4090 GTX-1080
expect "a device file by name" 0 '^A  NVIDIA GeForce GTX 1050 (3 GB), described by a device file$' \
    compare 1050 1080 --device-file gtx-1050-3gb
expect "one card twice" 2 "'1080' and 'GTX-1080' are one device" compare 1080 GTX-1080 --db x.db
expect "a name of several cards" 2 'fits several .* as rtx-' compare RTX 1080 --db x.db
expect "--device-file of another" 2 'neither of the two' compare 1050 1080 --device-file h200 --db x.db
expect "--device-file of none" 3 "no file 'gtx-1090'.* gtx-1080, " \
    compare 1050 1080 --device-file gtx-1090
expect "predict by name" 0 'GTX 1080' predict f32-nn-64x64x64 --family tile --device-file gtx-1080
expect "explain by name" 0 'tile TILE_WIDTH=32' \
    explain f32-nn-4096x4096x4096 --point "tile TILE_WIDTH=32" --device-file GTX-1080
expect "explain says the workspace" 0 '^workspace  *520 MiB$' \
    explain f64@residues-nn-4096x4096x4096 --point remainder --device-file h200
expect "a name that no device has: all that there are" 2 \
    "no device 'gtx-1090'; there are nvidia-h200-.*, gtx-1050-2gb, .*, NVIDIA GeForce GTX 260$" \
    compare gtx-1090 1080 --db x.db
grep -q 'there are nvidia-h200-[0-9a-f]*, .*, h200, ' err
verdict "also one whose name is a part of another's" $?
expect "rates that have no time" 0 '^f64-nn  *published  column .* 65 ' compare 260 1080
expect "nothing tuned or published: the model's answer for usual problems" 0 \
    '^f32-nn-4096x4096x4096  *predicted  [a-z][a-z, ]*[0-9.]* ms  *[0-9.]* ms  *[0-9.]*  *[0-9.]* ms  *[0-9.]* ms$' \
    compare rtx-2080-ti rtx-4090
grep -q '^geometric mean of predicted A/B, the fastest kernels of gemmtune: ' out
verdict "whose mean is said to be of other kernels than published ones" $?
! grep -q 'published kernels' out
verdict "which there are none of" $?
printf '{"format": 1, "sizes": ["f64-nn-300x200x100"]}\n' >sizes.json
expect "or for those of a file" 0 '^f64-nn-300x200x100,predicted,[a-z]*,,,,[a-z]*,' \
    compare 2080 4090 --sizes sizes.json --csv
[ "$(wc -l <out)" -eq 2 ]
verdict "and no other" $?
tr -d '\r' <out | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { ratio = $at["a_predicted_ns"] / $at["b_predicted_ns"] / $at["predicted_ratio"] }
    END { exit !(ratio > 0.99 && ratio < 1.01) }'
verdict "the ratio is of the two times beside it" $?
# each geometric mean is of the rows of one kind
try compare 1050 1080 --sizes sizes.json --json --db x.db
mean() { # SOURCE
    tr -d '\r' <rows.csv | awk -F, -v source="$1" '
        { gsub(/"[^"]*"/, "quoted") }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["source"] == source && $at["predicted_ratio"] > 0 { sum += log($at["predicted_ratio"]); n++ }
        END { printf "%.2f", exp(sum / n) }'
}
cp out all.json
try compare 1050 1080 --sizes sizes.json --csv --db x.db
tr -d '\r' <out >rows.csv
grep -q "\"predicted_geomean\": $(mean published), \"best_geomean\": $(mean predicted)," all.json
verdict "means of published and of predicted rows: $(mean published), $(mean predicted)" $?
expect "a picture that cannot be written" 1 'no/where.svg' \
    compare 260 1080 --svg no/where.svg --quiet --db x.db
expect "it is refused before a database is read" 1 'no/where.svg: No such file' \
    compare 260 1080 --svg no/where.svg --quiet --db no.db
expect "nothing to draw" 1 'no figure to draw' compare h100 4090 --svg none.svg --quiet --db x.db
finish
