#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/run reports tests that pass, fail, crash, hang and work for ever. It runs as many at
# once as it is told, and no process of a test stays behind.
# shellcheck disable=SC2016 # the programs below are texts
. "${GT_SRC:-.}/tests/cli/lib.sh"
mkdir "$work/tests"

# program NAME TEXT: a test
program() {
    echo "$2" >"$work/tests/$1.sh"
}
program passes 'echo "ok - one"; echo "ok - two # SKIP no reason"'
program silent ':'
program fails 'echo "ok - one"; echo "not ok - two"; exit 1'
program leaves 'echo "ok - one"; exit 3'
program crashes 'kill -SEGV $$'
program hangs 'echo "ok - one"; sleep 60'
program loud 'seq 2000; exit 1'
program loud2 'seq 2001 4000; exit 1'
# each is over only when it has seen the other
program meets 'touch "$GT_BUILD/a"; until [ -e "$GT_BUILD/b" ]; do sleep 0.1; done'
program meets2 'touch "$GT_BUILD/b"; until [ -e "$GT_BUILD/a" ]; do sleep 0.1; done'
# ... and these only when it is not there
program alone 'mkdir "$GT_BUILD/here" && sleep 0.3 && rmdir "$GT_BUILD/here"'
program alone2 'mkdir "$GT_BUILD/here" && sleep 0.3 && rmdir "$GT_BUILD/here"'
# one works for ever; one has a core for a fifth of the time, and needs a second of it
program works 'while :; do :; done'
program shares 'taskset -c "$CORE" sh -c "ulimit -t 1; while :; do :; done"; echo "ok - one"'
# two leave a process, in a session of its own: one ends, one waits until the run is
# stopped
program litters 'setsid sh -c "echo \$\$ >$GT_BUILD/left; exec sleep 60" & sleep 0.3; echo "ok - one"'
program waits 'setsid sh -c "echo \$\$ >$GT_BUILD/left; exec sleep 60"'
# the process of tests/run that is above the guard of this one is killed
program orphan 'kill -KILL "$(sed "s/.*) . //; s/ .*//" /proc/$PPID/stat)"'

# run JOBS NAME...: as try; each may take $limit seconds
limit=60
run() {
    jobs=$1
    shift
    for name; do
        shift
        set -- "$@" "$work/tests/$name.sh"
    done
    GT_BUILD=$work GT_TEST_JOBS=$jobs GT_TEST_TIMEOUT=$limit "$GT_SRC/tests/run" "$@" \
        >"$work/out" 2>"$work/err"
    code=$?
}

# ends NAME CODE LINE: so ended the last run
ends() {
    [ "$code" -eq "$2" ] && [ "$(tail -n 1 "$work/out")" = "$3" ]
    verdict "$1" $?
}

# line NAME LINE: the last run has it, but for the seconds
line() {
    sed 's/  [0-9]* s, cores [0-9]* s$//' "$work/out" | tr -s ' ' | grep -qxF "$2"
    verdict "$1" $?
}

# alive PID: whether it is, and no zombie
alive() {
    case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in '' | Z*) return 1 ;; esac
}

# is_gone: whether the process that a test left behind ends. Only a failure takes the minute.
is_gone() {
    for _ in $(seq 600); do
        alive "$(cat "$work/left")" || return 0
        sleep 0.1
    done
    return 1
}

# stops NAME SIGNAL COMMAND...: a run of `waits` as part of a command that then gets the
# signal
stops() {
    name=$1 signal=$2
    shift 2
    rm -f "$work/left"
    GT_BUILD=$work "$@" "$work/tests/waits.sh" >/dev/null 2>&1 &
    until [ -s "$work/left" ]; do sleep 0.1; done
    kill -s "$signal" $!
    wait $! 2>/dev/null
    is_gone
    verdict "$name" $?
}

run 3
ends "no test at all" 0 "0 passed, 0 failed"
run 3 passes silent
ends "what passes" 0 "2 passed, 0 failed, 1 skipped"
line "counts what it prints" "ok passes 1 passed, 0 failed, 1 skipped"
line "or its exit status" "ok silent 1 passed, 0 failed"
limit=2
run 5 fails passes leaves crashes hangs works
limit=60
ends "what fails" 1 "4 passed, 5 failed, 1 skipped"
line "one that fails" "FAILED fails 1 passed, 1 failed"
line "and says why" " | not ok - two"
line "one that says nothing of it" "FAILED leaves 1 passed, 1 failed, exit status 3"
line "one that crashes" "FAILED crashes 0 passed, 1 failed, exit status 139"
line "one that hangs" "FAILED hangs 1 passed, 1 failed, stopped after 2 s"
line "one that works for ever" "FAILED works 0 passed, 1 failed, stopped after 2 s"
line "and what passes beside them" "ok passes 1 passed, 0 failed, 1 skipped"
run 2 loud loud2
[ "$(sed -n 's/^    | //p' "$work/out" | sort -n | cksum)" = "$(seq 4000 | cksum)" ] &&
    [ "$(sed -n 's/^    | //p' "$work/out" | awk '$1 != last + 1 { n++ } { last = $1 } END { print n + 0 }')" -le 2 ]
verdict "logs are whole, one behind the other" $?
run 2 meets meets2
ends "two at once" 0 "2 passed, 0 failed"
run 1 alone alone2
ends "one after another" 0 "2 passed, 0 failed"
run 1 orphan passes
ends "who runs a test is killed" 1 "0 passed, 2 failed"
line "and neither is forgotten" "FAILED 2 of 2 programs were not run to their end"

# Four others work on the same core for ever: the clock passes the limit, the work does not.
CORE=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
export CORE
others=
for _ in 1 2 3 4; do
    taskset -c "$CORE" sh -c 'while :; do :; done' &
    others="$others $!"
done
limit=3
run 1 shares
limit=60
# shellcheck disable=SC2086 # a list
kill $others
ends "one that works for a second beside busy others" 0 "1 passed, 0 failed"

run 1 litters
ends "one that leaves a process behind" 0 "1 passed, 0 failed"
is_gone
verdict "which is ended" $?
stops "a run that is terminated takes its tests along" TERM "$GT_SRC/tests/run"
stops "and one that is interrupted" HUP "$GT_SRC/tests/run"
stops "and one whose caller is killed" KILL sh -c '"$0" "$1"; exit' "$GT_SRC/tests/run"

# ---- make ----

# expect_make NAME CODE PATTERN ARG...: as expect, of make without work
expect_make() {
    name=$1 wanted=$2 pattern=$3
    shift 3
    make -C "$GT_SRC" --no-print-directory -n BUILD="$GT_BUILD" "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" -eq "$wanted" ] && cat "$work/out" "$work/err" | grep -q -e "$pattern"
    verdict "$name" $?
}
expect_make "T of no test is a mistake" 2 "no test of this kind has a name of T='nothing'" check-cli T=nothing
expect_make "also where all kinds are run" 2 "T='nothing'" check-all T=nothing
expect_make "T of one test" 0 ' tests/run  *tests/cli/help.sh *$' check-cli T=help
make -C "$GT_SRC" --no-print-directory help >"$work/out" 2>"$work/err"
code=$?
grep -q '^  make check-ptx ' "$work/out" && grep -q "make check-cli T='help tables'" "$work/out" &&
    ! grep -q '^#\|SPDX\|VERSION' "$work/out"
verdict "make help is the head of the Makefile" $?
finish
