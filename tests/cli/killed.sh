#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# killed.sh - import and merge that are killed at any moment leave what was there or everything; the
# same command then goes through, to what an undisturbed one leaves.
. "${GT_SRC:-.}/tests/cli/lib.sh"
export GEMMTUNE_DB="$work/none.db" # nothing but what is named

few=${GT_SAN:+3} # a sanitizer makes each life long, and looks at one life as well as at eight
kills=${GT_KILLS:-${few:-8}}
tuned=${GT_SRC:-.}/devices/h200/tuned.json

# The tuned results, and many more: each problem's winner under other names.
many() {
    awk '/^      {"family"/ { records++ } records == 1 { record = $0; exit } { print }' "$tuned"
    awk '/^      {"family"/ { print; exit }' "$tuned" | awk '{ sub(/,$/, "")
        for (i = 10000; i < 11500; i++) {
            line = $0
            sub(/"problem": "[^"]*"/, "\"problem\": \"f32-nn-" i "x16x16\"", line)
            print line (i < 11499 ? "," : "")
        } }'
    printf '    ]\n  }\n}\n'
}
many >"$work/many.json"

# records DB: how many, from a copy, since a killed writer's journal is the next one's to roll back
records() {
    rm -f "$work"/copy.db*
    for part in "" -journal; do
        [ ! -e "$1$part" ] || cp "$1$part" "$work/copy.db$part"
    done
    sqlite3 -batch "$work/copy.db" "SELECT count(*) FROM record WHERE
        (SELECT integrity_check = 'ok' FROM pragma_integrity_check)"
}

# text DB: all of it
text() {
    "$GEMMTUNE" export - --db "$1"
}

# disturb NAME FILE: takes FILE into databases that hold the tuned results, killed at moments that
# are spread over the time an undisturbed one needs.
disturb() {
    cp "$work/tuned.db" "$work/calm.db"
    began=$(date +%s%N)
    try "$1" "$2" --db "$work/calm.db"
    took=$((($(date +%s%N) - began) / 1000000))
    verdict "$1: undisturbed" "$code"
    text "$work/calm.db" >"$work/calm.json"
    before=$(records "$work/tuned.db") after=$(records "$work/calm.db")
    [ "$after" -ge $((before + 1500)) ]
    verdict "$1: takes as many" $?
    died=0 odd=0 undone=0
    for i in $(seq "$kills"); do
        rm -f "$work"/db.db*
        cp "$work/tuned.db" "$work/db.db"
        timeout --foreground -s KILL "$(awk "BEGIN { print $took * $i / $kills / 1000 }")" \
            "$GEMMTUNE" "$1" "$2" --db "$work/db.db" >/dev/null 2>&1
        if [ $? -eq 137 ]; then
            died=$((died + 1))
        else
            took=$((took * i / kills)) # the machine was busier before
        fi
        case $(records "$work/db.db") in "$before" | "$after") ;; *) odd=$((odd + 1)) ;; esac
        try "$1" "$2" --db "$work/db.db"
        text "$work/db.db" | cmp -s - "$work/calm.json" && [ "$code" -eq 0 ] ||
            undone=$((undone + 1))
    done
    [ "$died" -ge $((kills / 2)) ]
    verdict "$1: killed $died times of $kills" $?
    verdict "$1: all or nothing, and sound" "$odd"
    verdict "$1: the same command then goes through" "$undone"
}

try import "$tuned" --db "$work/tuned.db"
verdict "the tuned results" "$code"
disturb import "$work/many.json"
cp "$work/calm.db" "$work/other.db"
disturb merge "$work/other.db"
finish
