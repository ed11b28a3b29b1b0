#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# program.sh - `gemmtune tune -- PROGRAM` records a program and tunes what it asked for; what is said, kept and returned
# when the program or the tuning ends early. The driver, the compiler and cuBLAS are stand-ins.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

use_served_client "programs that are recorded and tuned"
export GEMMTUNE_LIBCUBLAS="$fake/libcublas.so" GEMMTUNE_LIBCUBLASLT="$fake/libcublas.so" GEMMTUNE_LIBOPENCL=/nowhere

# both ARGUMENT...: tunes; the exit code to $code, stderr to the file said
both() {
    rm -f log
    "$GEMMTUNE" tune --device 0 --effort quick --family naive "$@" >table 2>said
    code=$?
}
tuned() { # the problems that have a winner
    sql tuned.db "SELECT DISTINCT problem FROM record JOIN subject ON subject.id = record.subject ORDER BY 1" 2>/dev/null
}
counted() { # FILE: "problem count" of each line
    sql :memory: "SELECT json_extract(value, '\$.problem') || ' ' || json_extract(value, '\$.count')
        FROM json_each(readfile('$1'), '\$.sizes')"
}

# ---- both ----

both -o app.json -- "$client" gemm=3 shape=5,6,7 gemm=1
is "a program is recorded and tuned: exit 0" "$code" 0
is "the program ran once, with its own cuBLAS" "$(grep -c cublasSgemm_v2 log)" 4
is "what it asked for is tuned" "$(tuned)" "f32-nn-48x32x64
f32-nn-6x5x7"
is "the recording stays" "$(counted app.json)" "f32-nn-48x32x64 3
f32-nn-6x5x7 1"
is "nothing lies beside it" "$(ls app.json*)" app.json
has "where it is is said" "$(cat said)" "gemmtune: $TMPDIR/app.json: 2 problems in 4 calls"
both -o app.json --budget 20s -q --json -- "$client" gemm=1
is "again, quietly: exit 0, and no word" "$code $(cat said)" "0 "
is "it adds to the recording" "$(counted app.json | head -n 1)" "f32-nn-48x32x64 4"
is "and prints what was tuned before" "$(sql :memory: "SELECT count(*) FROM json_each(readfile('table'))")" 2
both -o app.json --against cublas -q -- "$client" gemm=1
is "its own measurements of cuBLAS are not recorded" "$code $(counted app.json | head -n 1)" "0 f32-nn-48x32x64 5"
is "but stored" "$(sql tuned.db "SELECT count(*) > 0 FROM rival")" 1
"$GEMMTUNE" --device 0 --effort quick --family naive -q -- "$client" gemm=1 >table 2>said
is "without the word tune: exit 0, and recorded.json" "$? $(counted recorded.json)" "0 f32-nn-48x32x64 1"
both -q -- sh -c "$client gemm=1 -- --sizes; : \"\$LD_PRELOAD\"" two --sizes --device 7
is "options after -- are the program's" "$code" 0

# ---- the program fails ----

rm -f recorded.json
both -- sh -c "$client shape=9,9,9 gemm=2; exit 3"
is "a program that fails: its exit code" "$code" 3
is "what it asked for is not tuned" "$(tuned | grep -c 9x9x9)" 0
is "but recorded" "$(counted recorded.json)" "f32-nn-9x9x9 2"
has "and how to tune it is said" "$(cat said)" \
    "the program's exit code is 3: nothing is tuned; \"gemmtune tune --sizes $TMPDIR/recorded.json\" tunes"
rm -f recorded.json
both -- sh -c "kill -9 \$\$"
is "a signal ends it: 128 and the signal" "$code" 137
both -- /nowhere/program
is "no such program: 127" "$code" 127
is "no file" "$(ls recorded.json 2>/dev/null)" ""

# ---- nothing recorded ----

both -- true
is "a program without products: exit 3" "$code" 3
is "one sentence" "$(cat said)" "gemmtune: nothing to tune: the program called no product of cuBLAS that could be recorded"
both -- "$client" device-scalars gemm=2
is "calls of other kinds alone: exit 3" "$code" 3
has "the file says which" "$(cat said)" "of kinds that are not tuned; $TMPDIR/recorded.json says which"

# ---- what is refused runs nothing ----

refused() { # NAME CODE PATTERN ARGUMENT...
    name=$1 want=$2 pattern=$3
    shift 3
    rm -f ran
    both "$@" -- touch ran
    is "$name: exit $want" "$code" "$want"
    has "$name: why" "$(cat said)" "$pattern"
    is "$name: one line, and nothing is run" "$(wc -l <said) $(ls ran 2>/dev/null)" "1 "
}
refused "with --sizes" 2 "--sizes excludes a program after --" --sizes recorded.json
refused "with --from-misses" 2 "--from-misses excludes" --from-misses misses
refused "with --random" 2 "--random excludes" --random 3
refused "with --shard" 2 "--shard excludes" --shard 1/2
refused "with a problem" 2 "excludes problems named before it" f32-nn-8x8x8
refused "no such device" 4 "device '9' does not exist" --device 9
refused "no such effort" 2 "there is no effort 'quik'" --effort quik
refused "no such family" 2 "did you mean 'naive'?" --family naiv
refused "no such library" 2 "nobody" --against nobody
refused "a database that cannot be" 6 "there is no folder" --db no/such.db
refused "a file that cannot be" 1 "No such file or directory" -o no/such.json
both -o app.json f32-nn-8x8x8
is "--output without a program: exit 2" "$code" 2
both --
is "no program after --: exit 2" "$code $(cat said)" "2 gemmtune: tune: PROGRAM is missing after --"

# ---- a dry run ----

both -n -o app.json -- touch ran
is "a dry run is about what was recorded, and runs nothing" "$code $(grep -c f32 table) $(ls ran 2>/dev/null)" "0 2 "
both -n -o new.json -- touch ran
is "nothing was recorded: exit 3" "$code $(ls ran 2>/dev/null)" "3 "
has "and how to do that" "$(cat said)" "\"gemmtune record -o $TMPDIR/new.json -- PROGRAM\""

# ---- stopped ----

"$GEMMTUNE" tune --device 0 --effort full --family tile -o long.json -- "$client" shape=301,302,303 gemm=1 shape=305,306,307 gemm=1 \
    >table 2>said &
pid=$!
until_sql tuned.db "SELECT 1 FROM trial JOIN subject ON subject.id = trial.subject WHERE problem LIKE 'f32-nn-30%' LIMIT 1"
kill -TERM $pid
wait $pid
code=$?
is "stopped while tuning: exit 75" "$code" 75
is "the recording is there" "$(counted long.json | wc -l)" 2
has "and how to go on is said" "$(cat said)" "\"gemmtune tune --sizes $TMPDIR/long.json\" with the same options goes on without"
"$GEMMTUNE" tune --device 0 -o slow.json -- sh -c "$client gemm=1; echo \$\$ >shell; exec sleep 600" >table 2>said &
pid=$!
until [ -s shell ] || ! kill -0 $pid; do sleep 0.1; done
kill -TERM $pid
wait $pid
is "stopped while the program runs: the program is, and nothing is tuned" "$? $(grep -c 'nothing is tuned' said)" "143 1"
is "what it asked for is recorded" "$(counted slow.json)" "f32-nn-48x32x64 1"
gone "$(cat shell)"
is "and the program is gone" $? 0

# ---- signals that gemmtune ignores are not ignored by programs ----

is "a program that writes into a closed pipe ends by that" \
    "$("$GEMMTUNE" record -q -o none.json sh -c 'kill -PIPE $$; echo alive')" ""
exit "$bad"
