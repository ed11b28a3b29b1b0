#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# journal.sh - a process that died while it wrote, and a limit to the size of files: the database is
# repaired or left as it was, and one sentence says so.
. "${GT_SRC:-.}/tests/cli/lib.sh"

tuned=${GT_SRC:-.}/devices/h200/tuned.json
try import "$tuned" --db "$work/tuned.db"
verdict "tuned results" "$code"
"$GEMMTUNE" list --db "$work/tuned.db" >"$work/list.calm"

# die DB: a writer that is killed once it has written pages of its transaction
die() {
    sqlite3 -batch "$1" "PRAGMA cache_size = 1; BEGIN; UPDATE record SET rank = rank + 1;
        UPDATE subject SET point = point || ' ';" ".system kill -KILL \$PPID" >/dev/null 2>&1
    [ -s "$1-journal" ]
}

cp "$work/tuned.db" "$work/died.db"
die "$work/died.db"
verdict "a journal is left" $?
try list --db "$work/died.db"
verdict "list goes on" "$code"
grep -q 'a process died while writing it; repaired' "$work/err"
verdict "and says so" $?
cmp -s "$work/out" "$work/list.calm"
verdict "with what was there before" $?
try list --db "$work/died.db"
[ "$code" -eq 0 ] && ! grep -q repaired "$work/err"
verdict "once" $?

if [ "$(id -u)" -ne 0 ]; then
    cp "$work/tuned.db" "$work/kept.db" && die "$work/kept.db" && chmod 444 "$work/kept.db"
    expect "one that may not be written" 6 'a process died while writing it; the next' list --db "$work/kept.db"
else
    echo "ok - one that may not be written # SKIP root may write anything"
fi

# A limit of 40 KiB, in the units of ulimit -f.
(
    ulimit -f 80
    exec "$GEMMTUNE" import "$tuned" --db "$work/small.db"
) >"$work/out" 2>"$work/err"
verdict "a limit is an error" $(($? != 6))
grep -q 'small.db: .*ulimit -f' "$work/err"
verdict "that is said" $?
[ ! -e "$work/small.db-journal" ]
verdict "no journal is left" $?
finish
