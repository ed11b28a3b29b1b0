# SPDX-License-Identifier: Apache-2.0
# lib.sh - read by the tests beside it: run a command, look at what it said, print "ok - name".
# Given by tests/run: GEMMTUNE, GT_SRC, HOME and TMPDIR in an empty scratch folder.
# shellcheck shell=sh
set -u
GEMMTUNE=${GEMMTUNE:-build/gemmtune}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# verdict NAME STATUS: STATUS 0 is a pass; otherwise what the last command said follows.
verdict() {
    if [ "$2" -eq 0 ]; then
        echo "ok - $1"
        return
    fi
    echo "not ok - $1"
    failures=$((failures + 1))
    echo "# exit $code"
    sed 's/^/# out: /' "$work/out" | head -20
    sed 's/^/# err: /' "$work/err" | head -20
}

# try ARG...: runs gemmtune; its exit status is in $code, its words in $work/out and $work/err.
try() {
    "$GEMMTUNE" "$@" >"$work/out" 2>"$work/err"
    code=$?
}

# expect NAME CODE PATTERN ARG...: that exit status, and PATTERN (a basic regular expression) in
# what was printed on stdout for 0, else in one line on stderr that begins "gemmtune: ".
expect() {
    name=$1 wanted=$2 pattern=$3
    shift 3
    try "$@"
    bad=0
    [ "$code" -eq "$wanted" ] || bad=1
    if [ "$wanted" -eq 0 ]; then
        grep -q -e "$pattern" "$work/out" || bad=1
    else
        grep -q -e "^gemmtune: .*$pattern" "$work/err" || bad=1
        [ "$(grep -c . "$work/err")" -eq 1 ] || bad=1
    fi
    verdict "$name" "$bad"
}

# on_terminal COLUMNS COMMAND: as try, on a terminal so wide, for both outputs. $work/raw has all bytes
# that came.
on_terminal() {
    : >"$work/err"
    script -qec "stty cols $1; $GEMMTUNE $2" "$work/typescript" </dev/null >"$work/raw" 2>&1
    code=$?
    tr -d '\r' <"$work/raw" >"$work/out"
}

# screen COLUMNS: $work/out is what the terminal of on_terminal shows in the end.
screen() {
    awk -v columns="$1" -f "${GT_SRC:-.}/tests/screen.awk" "$work/raw" >"$work/out"
}

# fits NAME COLUMNS: no line was too long for a terminal so wide, and there is more than one. Lines that
# are rewritten count as they are drawn; orders to the terminal have no width.
fits() {
    tr '\r' '\n' <"$work/raw" | sed 's/\x1b\[[0-9;]*[A-Za-z]//g' |
        awk -v most="$2" 'length($0) > most { print; bad = 1 } END { exit bad || NR < 3 }' >"$work/widths"
    bad=$?
    sed 's/^/# too wide: /' "$work/widths" | head -5
    verdict "$1" "$bad"
}

# finish: the script's exit status.
finish() {
    exit $((failures > 0))
}
