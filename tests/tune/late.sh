#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# late.sh - work that does not end by itself: a source that takes a compiler for ever, and a kernel
# that hangs when the user wants an end. Work that was cut off is not stored.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

problem=f32-nn-16x16x16
dir=$TMPDIR/families
db=$TMPDIR/late.db

# ---- a macro that grows tenfold eight times ----

mkdir -p "$dir/bomb" "$dir/plain"
cp "$families/plain/plain.cl" "$dir/plain/"
sed 's/"TAG": \[.*\]/"TAG": [1, 2]/' "$families/plain/space.json" >"$dir/plain/space.json"
sed -e 's/"plain"/"bomb"/' -e 's/plain\.cl/bomb.cl/g' -e 's/"TAG": \[.*\]/"TAG": [1]/' \
    "$families/plain/space.json" >"$dir/bomb/space.json"
{
    echo '#define GROW0 acc = acc + (gt_acc)1;'
    for i in 1 2 3 4 5 6 7 8; do
        was=GROW$((i - 1))
        echo "#define GROW$i $was $was $was $was $was $was $was $was $was $was"
    done
    sed 's/^    gt_store_c/    GROW8\n&/' "$families/plain/plain.cl"
} >"$dir/bomb/bomb.cl"

tune "$problem" --db "$db" --templates "$dir" --family plain --family bomb --effort full \
    --timeout "$(patience 1)"
is "a run with such a source ends well" $? 0
has "the candidate's compilation has the time limit of --timeout" \
    "$(rows "$db" "$problem" family outcome error | grep bomb)" "bomb|timeout|still compiling after "
has "it has a winner" "$("$GEMMTUNE" list --db "$db" --templates "$dir" --csv)" ",plain,"

# ---- a kernel that hangs, and SIGTERM ----

"$GEMMTUNE" tune "$problem" --device 0 --quiet --db "$TMPDIR/hang.db" --templates "$families" \
    --family hang --effort full --timeout 1h >"$TMPDIR/said" 2>&1 &
pid=$!
hangs() {
    sql "$TMPDIR/hang.db" "SELECT t.state FROM trial t JOIN subject s ON s.id = t.subject
        WHERE s.point = 'BAD=1' AND ($1)" 2>/dev/null
}
while [ -z "$(hangs 1)" ] && kill -0 "$pid" 2>/dev/null; do
    sleep 0.1
done
for worker in $(children_of "$pid"); do
    kill -STOP "$worker"
done
kill -TERM "$pid"
wait "$pid"
is "SIGTERM ends it whatever its workers do" $? 75
is "what was cut off is not stored" "$(hangs 1)" ""

# ---- a kernel that hangs, and the end of a budget ----

tune "$problem" --db "$TMPDIR/budget.db" --templates "$families" --family hang --budget 8s \
    --timeout 1h
is "a budget ends it whatever its workers do" $? 0
is "what was cut off is not stored" "$(sql "$TMPDIR/budget.db" "SELECT t.state FROM trial t
    JOIN subject s ON s.id = t.subject WHERE s.point = 'BAD=1'")" ""
has "what was right by then is the result" \
    "$("$GEMMTUNE" list --db "$TMPDIR/budget.db" --templates "$families" --csv)" ",hang,BAD=0,"
exit "$bad"
