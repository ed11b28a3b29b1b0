#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# shard.sh - tune --shard I/N: N machines that know nothing of each other tune each problem once.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

printf '%s\n' '{"format": 1, "sizes": [' \
    '{"dtype": ["f32", "f64"], "m": [8, 16, 512], "n": 8, "k": [4, 4000], "weight": 2},' \
    '"i32-nn-5x5x5", "i32-nn-3x3x3"]}' >"$TMPDIR/sweep.json"

# names ARGUMENT...: the problems that would be tuned, in order; what is said goes to said
names() {
    "$GEMMTUNE" tune --device 0 --dry-run --csv --family naive --sizes "$TMPDIR/sweep.json" "$@" \
        2>"$TMPDIR/said" | sed -n 's/^\([fi][0-9]*-nn-[^,]*\),.*/\1/p'
}

# ---- what is refused ----

for wrong in 0/2 3/2 1 1/0 -1/2 1/2/3 a/b 1/10001 ''; do
    tune --shard "$wrong" f32-nn-8x8x8
    is "--shard '$wrong': exit 2" $? 2
    has "--shard '$wrong': one sentence" "$(cat "$TMPDIR/said")" \
        "--shard needs I/N, as in 2/8, with I from 1 to N and N up to 10000, not '$wrong'"
done

# ---- the division ----

names | sort >"$TMPDIR/all"
for n in 1 3 20; do
    for i in $(seq $n); do
        names --shard "$i/$n"
    done | sort >"$TMPDIR/parts"
    is "$n shards have every problem once" "$(cat "$TMPDIR/parts")" "$(cat "$TMPDIR/all")"
done
names --shard 2/3 >"$TMPDIR/second"
has "how much it is, is said" "$(sed -n 1p "$TMPDIR/said")" \
    "shard 2/3: $(wc -l <"$TMPDIR/second" | tr -d ' ') of 14 problems, 3?.? % of the expected time"
sed -e '2s/.*/"i32-nn-3x3x3", "i32-nn-5x5x5",/' \
    -e '3s/.*/{"k": [4000, 4], "n": 8, "m": [512, 16, 8], "dtype": ["f64", "f32"], "weight": 2}]}/' \
    "$TMPDIR/sweep.json" >"$TMPDIR/turned.json"
is "another order of the sweep, the same division" \
    "$(names --shard 2/3 --sizes "$TMPDIR/turned.json" | sort)" "$(sort "$TMPDIR/second")"
names --shard 1/2 --budget 10s >"$TMPDIR/half"
has "under a budget the weight counts" "$(sed -n 1p "$TMPDIR/said")" "50.0 % of the weight"

# ---- a run ----

tune --shard 2/2 --db "$TMPDIR/two.db" --family naive --effort quick f32-nn-8x8x8 f32-nn-512x512x512 \
    f32-nn-16x16x16
is "a shard is tuned" $? 0
is "its problems alone" "$(sql "$TMPDIR/two.db" "SELECT group_concat(problem) FROM
    (SELECT problem FROM tuning ORDER BY 1)")" "f32-nn-16x16x16,f32-nn-8x8x8"
tune --shard 3/3 --db "$TMPDIR/none.db" --family naive f32-nn-8x8x8
is "a shard without a problem: exit 0" $? 0

# ---- two devices of one machine share the work; crew.sh has the rest ----

export POCL_DEVICES="basic basic"
"$GEMMTUNE" tune --device all --shard 1/1 --db "$TMPDIR/all.db" --family naive --effort quick \
    f32-nn-8x8x8 f32-nn-16x16x16 f32-nn-24x24x24 >"$TMPDIR/out" 2>"$TMPDIR/said"
code=$?
if grep -q '^on devices 0, 1, ' "$TMPDIR/said"; then
    is "two OpenCL devices: exit 0" $code 0
    is "both took part" "$(sql "$TMPDIR/all.db" "SELECT count(DISTINCT run) FROM trial")" 2
    is "a row a problem" "$(grep -c ' tuned$' "$TMPDIR/out")" 3
else
    echo "ok - two OpenCL devices # SKIP no two of PoCL's"
fi
exit "$bad"
