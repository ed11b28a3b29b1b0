#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gains.sh - what the problems of a sweep file would gain: `list --sizes`, and the words of `record` and of `tune` with a
# program at their end. The driver, the compiler and cuBLAS are stand-ins; the compared times are written by hand.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

use_served_client "what a recording would gain"
export GEMMTUNE_LIBOPENCL=/nowhere
export GEMMTUNE_LIBCUBLAS="$fake/libcublas.so" GEMMTUNE_LIBCUBLASLT="$fake/libcublas.so"
won=f32-nn-6x5x7 tied=f32-nn-48x32x64 alone=f64-nn-64x64x64 new=f32-nn-9x9x9

# listed FIELD...: of each line of `list --sizes app.json`, fields separated by "|"
listed() {
    "$GEMMTUNE" list --sizes app.json --json >list.json 2>said
    sql :memory: "SELECT $(printf "||'|'||ifnull(json_extract(value, '\$.%s'), '')" "$@" |
        cut -c8-) FROM json_each(readfile('list.json'))"
}

# ---- nothing is tuned ----

"$GEMMTUNE" record -o app.json "$client" shape=5,6,7 gemm=200 shape=32,48,64 gemm=10 type=f64 shape=64,64,64 gemm=4 \
    type=f32 shape=9,9,9 gemm=1 device-scalars gemm=1 2>said
is "without results record says what it says" "$? $(cat said)" \
    "0 gemmtune: $TMPDIR/app.json: 4 problems in 215 calls, 1 call of other kinds"
is "all are listed, with their calls" "$(listed problem device calls status)" "$won||200|not tuned
$tied||10|not tuned
$alone||4|not tuned
$new||1|not tuned"
has "and it is said" "$(cat said)" "0 of 4 problems tuned, 0 measured beside the vendor's library"

# ---- compared times ----

tune --effort quick --family naive $won $tied --against cublas
is "two are tuned and compared" $? 0
tune --effort quick --family naive $alone
is "one is tuned" $? 0
# timed PROBLEM VERDICT OURS RATIO: the comparisons of the problem in the file tuned.json from here on
timed() {
    sed -i -e "/\"problem\": \"$1\".*\"library\"/{s/\"verdict\": \"[a-z]*\"/\"verdict\": \"$2\"/
        s/\"ours_ns\": [^,]*,\(.*\)\"rival_ns\": [^,]*,/\"ours_ns\": $3,\1\"rival_ns\": $(echo "$3 $4" | awk '{ print $1 * $2 }'),/
        s/\"ratio\": [^,]*/\"ratio\": $4/; s/\"ratio_low\": [^,]*/\"ratio_low\": $4/; s/\"ratio_high\": [^,]*/\"ratio_high\": $4/}" \
        tuned.json
}
"$GEMMTUNE" export tuned.json >said 2>&1
timed $won win 2000 1.5
timed $tied tie 4000 1
sql tuned.db "DELETE FROM rival"
"$GEMMTUNE" import tuned.json >said 2>&1
is "times by hand" $? 0
is "each line has both times, the library's version, and the calls' gain" \
    "$(listed problem calls ours_ns vendor vendor_ns vendor_ratio saved_ns status)" \
    "$won|200|2000|cublas 13.1.0|3000|1.5|200000|win
$tied|10|4000|cublas 13.1.0|4000|1|0|tie
$alone|4|$(sql tuned.db "SELECT printf('%.6g', min(median_ns)) FROM record JOIN subject ON subject.id = record.subject
    WHERE problem = '$alone'")|||||not measured
$new|1||||||not tuned"
is "weights are the file's" "$(listed weight)" "$(sql :memory: "SELECT json_extract(value, '\$.weight')
    FROM json_each(readfile('app.json'), '\$.sizes')")"
sums="NVIDIA H200: 3 of 4 problems tuned, 2 measured beside the vendor's library \
($(listed weight status | awk -F'|' '{ all += $1 } $2 ~ /win|tie/ { some += $1 } END { printf "%.0f", 100 * some / all }') % of the weight), \
1 faster; with that library their calls take 640 us, under exec 200 us less"
listed problem >/dev/null
is "the sums" "$(cat said)" "gemmtune: $sums"
"$GEMMTUNE" list --sizes app.json --csv >list.csv 2>said
is "as CSV" "$(sed -n '2p' list.csv | tr -d '\r' | cut -d, -f1,3,8-)" "$won,200,3000,1.5,200000,win"
has "people read units" "$("$GEMMTUNE" list --sizes app.json 2>said)" "$won *naive * 2 us *cublas 13.1.0 *3 us *1.500 *200 us *win"
cp tuned.db slower.db
sql slower.db "DELETE FROM rival"
"$GEMMTUNE" import --db other.db tuned.json >said 2>&1
is "imported, and not measured here: nothing is saved" "$(GEMMTUNE_DB=other.db listed problem vendor_ns vendor_ratio saved_ns status)" \
    "$won|3000|1.5|0|imported
$tied|4000|1|0|imported
$alone||||imported
$new||||not tuned"
has "and it is said" "$(cat said)" "0 of 4 problems tuned and 3 imported, 0 measured"
timed $won loss 4000 0.5
"$GEMMTUNE" import --db slower.db tuned.json >said 2>&1
has "a loss saves nothing, since exec leaves it to the vendor" \
    "$(GEMMTUNE_DB=slower.db listed calls vendor_ns saved_ns status)" "200|2000|0|loss"
has "and it is said so" "$(cat said)" "0 faster; with that library their calls take 440 us, under exec no less"

# ---- lists that were not recorded, other devices, bad input ----

printf '{"format": 1, "sizes": ["%s", {"dtype": "f32", "m": 9, "n": 9, "k": 9}]}' $won >plain.json
is "a list without counts: one call each" "$("$GEMMTUNE" list --sizes plain.json --csv 2>said | tr -d '\r' | cut -d, -f1,3,10)" \
    "problem,calls,saved_ns
$won,1,1000
$new,1,"
is "a device by a part of its name" "$("$GEMMTUNE" list --sizes app.json --device h200 --csv 2>said | wc -l)" 5
"$GEMMTUNE" list --sizes app.json --device none 2>said
is "a device that is not there: exit 2" "$?" 2
"$GEMMTUNE" list --sizes nowhere.json 2>said
is "a file that is not there: exit 3" "$?" 3

# ---- record and tune say it at their end ----

"$GEMMTUNE" record -o app.json "$client" shape=5,6,7 gemm=200 2>said
is "record: exit 0" $? 0
has "record has the heaviest problem" "$(sed -n 3p said)" "$won *400 *3 us *400 us *win"
has "and the sums" "$(tail -n 1 said)" "take 1.24 ms, under exec 400 us less"
"$GEMMTUNE" record -q -o app.json "$client" shape=5,6,7 gemm=1 2>said
is "quietly: nothing" "$(cat said)" ""
"$GEMMTUNE" record -o app.json true 2>said
is "nothing was recorded: one line" "$(cat said)" "gemmtune: $TMPDIR/app.json: no call of cuBLAS was recorded"
echo "no database" >wrong.db
"$GEMMTUNE" record --db wrong.db -o app.json sh -c "$client gemm=1; exit 7" 2>said
is "a database that is none: the program's exit code" $? 7
has "and a line about it" "$(cat said)" "wrong.db"
"$GEMMTUNE" tune --device 0 --effort quick --family naive -o app.json -- "$client" shape=5,6,7 gemm=1 >table 2>said
is "tune with a program: exit 0" $? 0
has "tune says the sums at its end" "$(tail -n 2 said)" "NVIDIA H200: 4 of 4 problems tuned, 2 measured*\"gemmtune list --sizes $TMPDIR/app.json\" says it of each"
exit "$bad"
