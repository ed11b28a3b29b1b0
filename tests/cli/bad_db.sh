#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Databases that are wrong: exit 6 and one sentence, or rows skipped; the file never gets worse.
. "${GT_SRC:-.}/tests/cli/lib.sh"

# A database with nothing in it: importing no file is refused after the options were read, so an
# empty document is imported.
printf '{"format": 1, "devices": [], "records": []}\n' >"$work/none.json"
try import "$work/none.json" --db "$work/good.db"
verdict "make a database" "$code"

# refused NAME PATTERN FILE: every reader says exit 6, and the file stays as it was.
refused() {
    before=$(cksum <"$3" 2>&1)
    for c in "list" "show f32-nn-1x1x1" "export -" "compare 1050 1080"; do
        # shellcheck disable=SC2086
        expect "$1: $c" 6 "$2" $c --db "$3"
    done
    [ "$(cksum <"$3" 2>&1)" = "$before" ]
    verdict "$1: unchanged" $?
}

expect "missing database" 6 'missing.db' list --db "$work/missing.db"
expect "missing folder" 6 'no/where.db' list --db "$work/no/where.db"
expect "a folder" 6 "$work" list --db "$work"

printf 'SQLite format 3' >"$work/stub.db"
refused "truncated" 'stub.db' "$work/stub.db"
printf 'this is a text, and no database of any kind\n' >"$work/text.db"
refused "not a database" 'text.db' "$work/text.db"
head -c 6000 "$work/good.db" >"$work/cut.db"
refused "cut in a page" 'cut.db' "$work/cut.db"

# Byte 68 of the file holds the application's number, byte 60 the schema's: both big-endian.
patch_byte() {
    cp "$work/good.db" "$1"
    printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
patch_byte "$work/other.db" 68 '\0101'
refused "another program's" 'other.db' "$work/other.db"
patch_byte "$work/newer.db" 60 '\0177'
refused "newer schema" 'newer.db' "$work/newer.db"

mkdir "$work/ro" && cp "$work/good.db" "$work/ro/ro.db" && chmod 444 "$work/ro/ro.db" && chmod 555 "$work/ro"
try list --db "$work/ro/ro.db"
[ "$code" -eq 0 ] && grep -q 'no winners in .*ro\.db' "$work/err"
verdict "read-only: read" $?
if [ "$(id -u)" -ne 0 ]; then
    expect "read-only: written" 6 'ro.db' import "$work/none.json" --db "$work/ro/ro.db"
else
    echo "ok - read-only: written # SKIP root may write anything"
fi
chmod 755 "$work/ro"

try doctor --db "$work/text.db"
grep -q 'database *bad' "$work/out" && [ "$code" -eq 6 ]
verdict "doctor names a bad database" $?
try doctor --db "$work/good.db"
grep -q 'database *ok' "$work/out" && [ "$code" -eq 0 ]
verdict "doctor passes a good one" $?
cp "$work/good.db" "$work/bits.db"
try import "${GT_SRC:-.}/devices/h200/tuned.json" --db "$work/bits.db"
sqlite3 -batch "$work/bits.db" "UPDATE record SET rank = rank + 1 WHERE id = 1"
try doctor --db "$work/bits.db"
grep -q 'checksums *bad' "$work/out" && [ "$code" -eq 6 ]
verdict "doctor fails over a row that is skipped" $?
grep -q 'advice *note *"gemmtune merge .*bits.db --db NEW.db" takes' "$work/out"
verdict "and says what helps" $?
try merge "$work/bits.db" --db "$work/saved.db"
[ "$code" -eq 0 ] && "$GEMMTUNE" doctor --db "$work/saved.db" >"$work/out" && ! grep -q ' bad ' "$work/out"
verdict "which helps" $?

# ---- failures leave no database, and readers nothing beside one ----
printf '{' >"$work/half.json"
for c in "import $work/half.json" "import $work/nowhere.json" "merge $work/nowhere.db" "merge $work/half.json" \
    "merge $work/cut.db"; do
    # shellcheck disable=SC2086
    try $c --db "$work/fresh.db"
    [ "$code" -ne 0 ] && [ ! -e "$work/fresh.db" ] && [ ! -e "$work/fresh.db-journal" ]
    verdict "a failed $(basename "${c%% *}") of $(basename "${c#* }") leaves no database" $?
done
expect "a second file that is not there" 3 'nowhere.json' \
    import "$work/none.json" "${GT_SRC:-.}/devices/h200/tuned.json" "$work/nowhere.json" --db "$work/fresh.db"
[ "$(sqlite3 -batch "$work/fresh.db" 'SELECT count(*) > 0 FROM record')" = 1 ]
verdict "the first ones stay" $?
cp "$work/good.db" "$work/kept.db"
expect "a failed import into an empty database" 3 'half.json' import "$work/half.json" --db "$work/kept.db"
cmp -s "$work/good.db" "$work/kept.db"
verdict "which stays as it was" $?

for log in "" "$(head -c 4152 /dev/zero | tr '\0' 'x')"; do
    cp "$work/good.db" "$work/wal.db"
    printf '%s' "$log" >"$work/wal.db-wal"
    refused "a stray log of ${#log} bytes" 'wal.db-wal, a write-ahead log, which gemmtune never makes' \
        "$work/wal.db"
    expect "a stray log of ${#log} bytes: written" 6 'wal.db-wal' import "$work/none.json" --db "$work/wal.db"
    [ ! -e "$work/wal.db-shm" ] && [ "$(wc -c <"$work/wal.db-wal")" -eq ${#log} ]
    verdict "a stray log of ${#log} bytes: nothing is written beside the database" $?
done

# ---- a database that another process holds: one wait, of the length that is said ----
# The shell of SQLite holds its lock until its input ends.
mkfifo "$work/words"
sqlite3 -batch "$work/good.db" <"$work/words" >/dev/null 2>&1 &
exec 9>"$work/words"
printf 'BEGIN EXCLUSIVE;\n' >&9
for _ in $(seq 200); do
    sqlite3 -batch "$work/good.db" 'SELECT count(*) FROM record' >/dev/null 2>&1 || break
    sleep 0.05
done
began=$(date +%s%N)
expect "held by another process" 6 'another process has held it for 10 seconds' list --db "$work/good.db"
took=$((($(date +%s%N) - began) / 1000000))
[ "$took" -ge 10000 ] && [ "$took" -lt 19000 ]
verdict "is waited for once" $?
exec 9>&-
wait
expect "written in a folder that is not there" 6 'there is no folder' import "$work/none.json" \
    --db "$work/no/such/x.db"
[ ! -e "$work/no" ]
verdict "which is not made" $?
expect "merge from a text" 6 'text.db' merge "$work/text.db" --db "$work/good.db"

# Without --db a database that nobody has made yet is not an error.
XDG_DATA_HOME="$work/data" try list
grep -q 'no database at .* yet' "$work/err" && [ "$code" -eq 0 ]
verdict "no database yet" $?
[ ! -e "$work/data" ]
verdict "reading makes none" $?
GEMMTUNE_DB="$work/good.db" try list
verdict "GEMMTUNE_DB is read" "$code"
finish
