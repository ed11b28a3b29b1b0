#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Replays of a small cache: the same numbers every time, every form of output, and bad files.
. "${GT_SRC:-.}/tests/cli/lib.sh"

cache=${GT_SRC:-.}/tests/data/cache.json

expect "all strategies" 0 '^genetic ' replay "$cache" --seeds 5
grep -q 'toy on a made-up card: 46 points, 2 of them within 95 % of the best' "$work/err"
verdict "says what it replays" $?

try replay "$cache" --strategy full,random,model --seeds 20 --csv
cp "$work/out" "$work/first"
[ "$(wc -l <"$work/out")" -eq 4 ]
verdict "a CSV line a strategy" $?
try replay "$cache" --strategy full,random,model --seeds 20 --csv
# all but the processor time of a pick
[ "$(cut -d, -f1-15,17- "$work/out")" = "$(cut -d, -f1-15,17- "$work/first")" ]
verdict "the same seeds, the same numbers" $?

# evaluations STRATEGY [WHICH]: its median, or that, to 95 % of the best, from the JSON of the last command.
evaluations() {
    tr '{' '\n' <"$work/out" | sed -n "s/.*\"strategy\": *\"$1\".*\"to95_${2:-median}\": *\([0-9]*\).*/\1/p"
}
try replay "$cache" --strategy model,random,full --seeds 50 --json
model=$(evaluations model p90) random=$(evaluations random p90) full=$(evaluations full)
[ "$full" -eq 29 ]
verdict "full finds point 29 at evaluation 29 ($full)" $?
[ "$model" -lt "$random" ]
verdict "the model is sooner ($model) than chance ($random)" $?
try replay "$cache" --strategy model,random,full --seeds 50 --json --ahead 16
[ "$(evaluations full)" -eq 29 ]
verdict "ahead changes nothing of full" $?

expect "too short a budget says never" 0 '^full .*never / never' replay "$cache" \
    --strategy full --seeds 2 --budget 5
expect "seeded from another cache" 0 '^random  *1 / 1  *1 / 1' replay "$cache" \
    --strategy random --seeds 3 --from "$cache"
expect "the curve" 0 '^ *20 ' replay "$cache" --strategy full,random --seeds 3 --curve
try replay "$cache" --strategy full --seeds 3 --curve --csv
[ "$(wc -l <"$work/out")" -eq 47 ]
verdict "the curve as CSV has every evaluation" $?

try replay "$cache" --strategy model,random --seeds 3 --svg "$work/c.svg"
# a curve and a line of the legend for each
[ "$code" -eq 0 ] && [ "$(grep -c 'stroke-width="2' "$work/c.svg")" -eq 4 ] &&
    tail -1 "$work/c.svg" | grep -q '^</svg>$'
verdict "a picture" $?
try replay "$cache" --strategy full --seeds 1 --svg "$work/nowhere/c.svg"
[ "$code" -eq 1 ] && grep -q '^gemmtune: .*nowhere/c.svg: No such file' "$work/err" &&
    [ ! -s "$work/out" ]
verdict "a picture that cannot be is refused before anything is replayed" $?

gzip -c "$cache" >"$work/c.json.gz"
expect "compressed" 0 '^full ' replay "$work/c.json.gz" --strategy full --seeds 1
head -c 300 "$work/c.json.gz" >"$work/cut.json.gz"
expect "cut short" 3 'cut.json.gz: its gzip data is cut short' replay "$work/cut.json.gz"
cp "$cache" "$work/plain.json.gz"
expect "not gzip" 3 'not a gzip file' replay "$work/plain.json.gz"
expect "no such file" 3 'No such file' replay "$work/none.json"
expect "a folder" 3 "$work" replay "$work"
echo '{"device_name": 1}' >"$work/bad.json"
expect "wrong types" 3 'bad.json:1: /device_name: must be a string' replay "$work/bad.json"
printf '{"device_name": "A\\n\\u001b[31mB", "kernel_name": "k", "tune_params_keys": ["A"],
"tune_params": {"A": [1, 2]}, "cache": {"1": {"A": 1, "time": 1, "power": Infinity},
"2": {"A": 2, "time": NaN}}}' >"$work/odd.json"
expect "NaN and Infinity" 0 '^full ' replay "$work/odd.json" --strategy full --seeds 1
printf 'k on A  [31mB: 2 points' >"$work/want"
head -c "$(wc -c <"$work/want")" "$work/err" | cmp -s - "$work/want"
verdict "no control character of a file reaches the terminal" $?
mkfifo "$work/fifo.json"
expect "a pipe" 3 'fifo.json: is a pipe: give a file' replay "$work/fifo.json"
expect "a device" 3 '/dev/zero: not a regular file' replay /dev/zero
echo 'm,n,k' >"$work/shapes.csv"
expect "another kind of file" 3 'shapes.csv: a table of shapes, not a cache of Kernel Tuner' \
    replay "$work/shapes.csv"
expect "the other cache is bad" 3 'bad.json:1' replay "$cache" --from "$work/bad.json"
expect "an unknown strategy" 2 "no strategy 'x': model, random, full, ils" replay "$cache" \
    --strategy x
expect "tune has no methods to compare with" 2 "no strategy 'ils': model, random or full\$" tune \
    --device 0 f32-nn-1x1x1 --strategy ils
expect "no seeds" 2 'seeds' replay "$cache" --seeds 0
expect "a cache or a database" 2 'exclude\|--from' replay --db "$work/t.db" f32-nn-8x8x8 \
    --from "$cache"
expect "no such database" 6 't.db' replay --db "$work/t.db" f32-nn-8x8x8
finish
