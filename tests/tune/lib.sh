# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# lib.sh - read by the tests of this folder. Given by tests/run: GEMMTUNE GT_BUILD GT_SRC TMPDIR.
# shellcheck disable=SC2034 # some are for who reads this
set -u
families=$GT_SRC/tests/data/families
bad=0

# is NAME GOT WANT
is() {
    if [ "$2" = "$3" ]; then
        echo "ok - $1"
    else
        echo "not ok - $1"
        printf '%s\n' "got:" "$2" "want:" "$3"
        bad=1
    fi
}

# has NAME TEXT PATTERN: a shell pattern that the text must match somewhere.
has() {
    # shellcheck disable=SC2254 # it is a pattern
    case $2 in
    *$3*) echo "ok - $1" ;;
    *) is "$1" "$2" "*$3*" ;;
    esac
}

# sql DB QUERY
sql() {
    sqlite3 -batch -noheader "$1" "$2"
}

# rows DB PROBLEM FIELD...: what `show --json` says, a line a trial, fields separated by "|".
rows() {
    rows_db=$1 rows_problem=$2
    shift 2
    "$GEMMTUNE" show "$rows_problem" --db "$rows_db" --json >"$TMPDIR/rows.json"
    sql :memory: "SELECT $(printf "||'|'||ifnull(json_extract(value, '\$.%s'), '')" "$@" |
        cut -c8-) FROM json_each(readfile('$TMPDIR/rows.json'))"
}

# patience SECONDS: a limit in which a healthy trial ends: longer when other programs keep the cores busy
patience() {
    awk -v s="$1" -v cores="$(nproc)" '{ l = $1 / cores; print int(s * (l < 1 ? 1 : l > 10 ? 10 : l) + 1) "s" }' \
        /proc/loadavg
}

# children_of PID: the processes that it has started
children_of() {
    cat /proc/[0-9]*/stat 2>/dev/null | sed -n "s/^\([0-9]*\) .*) [A-Za-z] $1 .*/\1/p"
}

# gone PID...: whether all of them end. Only a failure takes the minute, on a busy machine too.
gone() {
    for _ in $(seq 600); do
        alive=no
        for pid; do
            case $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) in
            '' | Z*) ;; # dead, if its parent has not seen that yet
            *) alive=yes ;;
            esac
        done
        [ $alive = yes ] || return 0
        sleep 0.1
    done
    return 1
}

# until_sql DB QUERY: waits until the query's answer is not empty, or the process that was
# started last has ended
until_sql() {
    while [ -z "$(sql "$1" "$2" 2>/dev/null)" ] && kill -0 $! 2>/dev/null; do
        sleep 0.1
    done
}

# tune ARGUMENT...: quietly, on the first device. Its words go to $TMPDIR/said.
tune() {
    "$GEMMTUNE" tune --device 0 --quiet "$@" >"$TMPDIR/said" 2>&1
}

# few COUNT: the family `few` in the folder $own: `plain` with so many points
few() {
    own=$TMPDIR/own
    mkdir -p "$own/few"
    sed -e 's/"family": "plain"/"family": "few"/' -e 's/plain\.cl/few.cl/g' \
        -e "s/\"TAG\": \[.*\]/\"TAG\": [$(seq -s , "$1")]/" \
        "$families/plain/space.json" >"$own/few/space.json"
    cp "$families/plain/plain.cl" "$own/few/few.cl"
}

# use_fakes WHAT: the fake CUDA driver and compiler from here on; where they are not, WHAT is left out and the
# test ends.
use_fakes() {
    fake=$GT_BUILD/tests/fake
    if [ -n "${GT_SAN:-}" ] || [ ! -e "$fake/libcuda.so" ] || [ ! -e "$fake/libnvrtc.so" ]; then
        echo "ok - $1 # SKIP not built, or sanitizers in use"
        exit "$bad"
    fi
    export GEMMTUNE_LIBCUDA="$fake/libcuda.so" GEMMTUNE_LIBNVRTC="$fake/libnvrtc.so"
}

# use_client WHAT: $client, a program that was linked with cuBLAS; its calls go to $TMPDIR/log; and the folder
# $TMPDIR. Where the program is not, WHAT is left out and the test ends.
use_client() {
    client=$GT_BUILD/tests/shim/linked
    if [ -n "${GT_SAN:-}" ] || [ ! -e "$client" ]; then
        echo "ok - $1 # SKIP not built, or sanitizers in use"
        exit "$bad"
    fi
    cd "$TMPDIR" || exit 1
    export FAKE_BLAS_LOG="$TMPDIR/log"
}

# use_served_client WHAT: the same on the fake H200, where times come from a model, with a database and images of
# the test's own; in $ours the library that serves it, with its plans.
use_served_client() {
    use_fakes "$1"
    use_client "$1"
    ours=$GT_BUILD/tests/fake/gemmtune
    export FAKE_CUDA_DEVICE=h200 FAKE_CUDA_TIME=model
    export GEMMTUNE_CACHE_DIR="$TMPDIR/images" GEMMTUNE_DB="$TMPDIR/tuned.db"
}

share=${GT_SHARE:-1/1} items=0
every_item=$((${share#*/} < 16 ? ${share#*/} : 16)) share=${share%/*}

# is_mine: whether the next item of a test's list is to be tried: all are, but with GT_SHARE=I/N
# only every sixteenth one, or every Nth where N is less than 16.
is_mine() {
    items=$((items + 1))
    [ $((items % every_item)) -eq $((share % every_item)) ]
}

# use_software_gpu: the fake driver with the interpreter of PTX, and the NVRTC that
# FAKE_NVRTC_REAL names; else the toolkit's, or the one that tools/fetch-nvrtc has fetched. Where there is none, the test
# ends.
use_software_gpu() {
    use_fakes "the software GPU"
    for nvrtc in "${FAKE_NVRTC_REAL:-}" /usr/local/cuda/lib64/libnvrtc.so.13 \
        "$GT_SRC"/build/nvrtc13/nvidia/*/lib/libnvrtc.so.13; do
        [ -n "$nvrtc" ] && [ -f "$nvrtc" ] && break
        nvrtc=
    done
    if [ -z "$nvrtc" ]; then
        echo "ok - kernels of PTX # SKIP no NVRTC: run tools/fetch-nvrtc"
        exit "$bad"
    fi
    export FAKE_NVRTC_REAL="$nvrtc" GEMMTUNE_LIBNVRTC="$fake/libnvrtc_ptx.so" FAKE_CUDA_TIME=model
}
