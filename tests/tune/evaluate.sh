#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# evaluate.sh - tuned problems are hidden and looked up with the rest, on a device and from what is
# stored.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

db=$TMPDIR/evaluate.db

# field FILE PATH: of what `evaluate --json` printed.
field() {
    sql :memory: "SELECT json_extract(readfile('$1'), '\$.$2')"
}

# each FILE PATH COLUMNS: a line for each element.
each() {
    sql :memory: "SELECT $3 FROM json_each(readfile('$1'), '\$.$2')"
}

tune --db "$db" --effort quick --family naive,coalesced f32-nn-8x8x8 f32-nn-16x16x16 \
    f32-nt-24x24x24 f32-nn-40x8x20
is "four problems are tuned" $? 0

"$GEMMTUNE" evaluate --device 0 --db "$db" --holdout 0.5 --rule lookup,nearest,default --json \
    >"$TMPDIR/half" 2>"$TMPDIR/said"
is "half of them hidden, on the device" $? 0
is "two of four" "$(field "$TMPDIR/half" hidden) $(field "$TMPDIR/half" tuned)" "2 4"
is "three lines each" "$(field "$TMPDIR/half" 'lines[#-1].rule') $(
    each "$TMPDIR/half" lines 1 | wc -l | tr -d ' ')" "default 6"
is "all that was answered was measured" \
    "$(each "$TMPDIR/half" rules "json_extract(value, '\$.answered') = json_extract(value, '\$.known')" | sort -u)" 1
is "a loss is the ratio of the times" "$(each "$TMPDIR/half" lines "abs(
    json_extract(value, '\$.loss_percent') + 100 -
    100.0 * json_extract(value, '\$.ns') / json_extract(value, '\$.best_ns')) < 0.2" | sort -u)" 1
has "the answer says why" "$(field "$TMPDIR/half" 'lines[0].why')" "tuned on this device for f32-n"
hidden=$(each "$TMPDIR/half" lines "json_extract(value, '\$.problem')" | sort -u)
answers=$(each "$TMPDIR/half" lines "json_extract(value, '\$.why')")
for p in $hidden; do
    case $answers in *" $p "*) is "what is hidden does not answer" "$answers" "no $p" ;; esac
done

"$GEMMTUNE" evaluate --device 0 --db "$db" --holdout 0.5 --rule lookup --csv --seed 1 \
    >"$TMPDIR/csv" 2>"$TMPDIR/said"
is "CSV: a heading and two lines" "$(grep -c . "$TMPDIR/csv")" 3
is "the same seed hides the same" \
    "$(tail -n 2 "$TMPDIR/csv" | cut -d, -f1 | sort)" "$hidden"
has "the sums are for people" "$(cat "$TMPDIR/said")" "mean loss %"

"$GEMMTUNE" evaluate --stored --db "$db" --folds 4 --json >"$TMPDIR/all" 2>"$TMPDIR/said"
is "each hidden once, from what is stored" $? 0
is "four of four" "$(field "$TMPDIR/all" hidden)" 4
is "each of them" "$(each "$TMPDIR/all" lines "json_extract(value, '\$.problem')" | sort -u |
    wc -l | tr -d ' ')" 4
is "all rules" "$(each "$TMPDIR/all" rules "json_extract(value, '\$.rule')" | tr '\n' ' ')" \
    "lookup nearest volume single untuned default "
known=$(each "$TMPDIR/all" lines "json_extract(value, '\$.loss_percent') IS NOT NULL" | grep -c 1)
is "as many are known as the sums say" \
    "$(each "$TMPDIR/all" rules "sum(json_extract(value, '\$.known'))")" "$known"

"$GEMMTUNE" evaluate --device 0 --db "$db" --holdout 0.75 --budget 1ms --rule lookup \
    >/dev/null 2>"$TMPDIR/said"
is "no time for three: exit 1" $? 1
has "which is said" "$(cat "$TMPDIR/said")" "the time was up after [01] of 3 problems"

# Problems that are drawn: tuned, looked up and timed, without a trace in the database.
before=$(sql "$db" "SELECT count(*) FROM trial")
random() {
    "$GEMMTUNE" evaluate --device 0 --db "$db" --random 3 --seed 5 --types f32 --volume 20000 \
        --batch 8 --effort quick --quiet --json "$@"
}
random --keep "$TMPDIR/drawn.db" >"$TMPDIR/random" 2>"$TMPDIR/said"
is "three problems are drawn and tuned" $? 0
is "a line for each rule" "$(field "$TMPDIR/random" drawn) $(
    each "$TMPDIR/random" lines 1 | wc -l | tr -d ' ')" "3 6"
is "lookups with neighbours and without" \
    "$(each "$TMPDIR/random" rules "json_extract(value, '\$.rule')" | tr '\n' ' ')" "lookup untuned "
is "all were timed" "$(each "$TMPDIR/random" rules "json_extract(value, '\$.known')" | sort -u)" 3
each "$TMPDIR/random" lines "json_extract(value, '\$.problem') || ' ' || json_extract(value, '\$.family') || ' ' ||
    json_extract(value, '\$.point')" | sort -u >"$TMPDIR/answers"
sql "$TMPDIR/drawn.db" "SELECT problem || ' ' || name || ' ' || point FROM trial JOIN subject ON subject.id = subject
    JOIN family ON family.id = family WHERE state = 'done'" | sort -u >"$TMPDIR/trials"
is "all answers are trials" "$(comm -23 "$TMPDIR/answers" "$TMPDIR/trials")" ""
is "there are three to six answers" "$(grep -c . "$TMPDIR/answers" | grep -c '^[3-6]$')" 1
is "the worst is not below the 95th percentile" "$(each "$TMPDIR/random" rules "
    json_extract(value, '\$.worst_loss_percent') >= json_extract(value, '\$.loss_percent_95')" |
    sort -u)" 1
is "the database is as before" "$(sql "$db" "SELECT count(*) FROM trial")" "$before"
is "half of them or so are batches" "$(sql "$TMPDIR/drawn.db" "
    SELECT count(DISTINCT problem) BETWEEN 1 AND 2 FROM subject WHERE problem LIKE '%,batch=%'")" 1
is "their trials were kept" "$(sql "$TMPDIR/drawn.db" "SELECT count(DISTINCT problem) FROM subject")" 3
random --budget 1ms --seed 5 >"$TMPDIR/again" 2>"$TMPDIR/said"
is "no time for three drawn problems: exit 1" $? 1
has "which is said as well" "$(cat "$TMPDIR/said")" "the time was up after [01] of 3 problems"

# A database that is named must exist. Where the default one is missing, nothing was tuned.
"$GEMMTUNE" evaluate --device 0 --db "$TMPDIR/none.db" f32-nn-8x8x8 >/dev/null 2>"$TMPDIR/said"
is "no database of that name: exit 6" $? 6
GEMMTUNE_DB=$TMPDIR/none.db "$GEMMTUNE" evaluate --device 0 f32-nn-8x8x8 --effort quick --quiet \
    --json >"$TMPDIR/untuned" 2>"$TMPDIR/said"
is "no database at all" "$? $(field "$TMPDIR/untuned" known)" "0 0"

# Problems that are named: the records of such a problem do not answer for it.
printf '{"format": 1, "sizes": ["f32-nn-16x16x16"]}\n' >"$TMPDIR/sizes.json"
"$GEMMTUNE" evaluate --device 0 --db "$db" --sizes "$TMPDIR/sizes.json" f32-nn-12x20x28 \
    --effort quick --quiet --json >"$TMPDIR/named" 2>"$TMPDIR/said"
is "two problems are named and tuned" $? 0
is "those of the file come first" "$(field "$TMPDIR/named" named) $(
    each "$TMPDIR/named" lines "json_extract(value, '\$.problem') || ' ' ||
        json_extract(value, '\$.rule')" | tr '\n' ' ')" "2 f32-nn-16x16x16 lookup \
f32-nn-16x16x16 untuned f32-nn-12x20x28 lookup f32-nn-12x20x28 untuned "
is "both were timed" "$(each "$TMPDIR/named" rules "json_extract(value, '\$.known')" | sort -u)" 2
is "a tuned problem's own records are hidden" "$(each "$TMPDIR/named" lines "
    json_extract(value, '\$.problem') = 'f32-nn-16x16x16' AND
    json_extract(value, '\$.why') LIKE '%f32-nn-16x16x16%'" | sort -u)" 0
is "the database is still as before" "$(sql "$db" "SELECT count(*) FROM trial")" "$before"
exit "$bad"
