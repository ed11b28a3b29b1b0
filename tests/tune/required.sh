#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# required.sh - a search without any time still tries the earlier winner when its sources have changed,
# however much else is known and however long it takes to compile.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

use_fakes "required" # where there are compile workers, on whatever machine
export FAKE_CUDA_DEVICE=gtx1050-2gb FAKE_NVRTC_VERSION=12.9

problem=f32-nn-40x40x40
db=$TMPDIR/required.db

# family NAME WASTE [LINE]: plain under another name, with three points; each thread idles for so many
# turns first
family() {
    mkdir -p "$TMPDIR/own/$1"
    sed -e "s/\"family\": \"plain\"/\"family\": \"$1\"/" -e "s/plain\.cl/$1.cl/g" \
        -e 's/"TAG": \[.*\]/"TAG": [1, 2, 3]/' \
        -e 's/"default": .*/& "starts": [{ "TAG": 1 }, { "TAG": 2 }, { "TAG": 3 }],/' \
        "$families/plain/space.json" >"$TMPDIR/own/$1/space.json"
    {
        echo "${3:-}"
        sed "s/gt_acc acc = 0;/gt_acc acc = 0; for (volatile int on = 0; on < $2; on++);/" \
            "$families/plain/plain.cl"
    } >"$TMPDIR/own/$1/$1.cl"
}

search() {
    tune "$problem" --db "$db" --templates "$TMPDIR/own" --family known,swift "$@"
}

# best: the family of the first rank, and which of its sources, counted from 0, it is of
best() {
    sql "$db" "SELECT f.name || ' ' || (SELECT count(*) FROM family o WHERE o.name = f.name AND o.id < f.id)
               FROM record r JOIN subject s ON s.id = r.subject JOIN family f ON f.id = s.family
               JOIN trial t ON t.subject = s.id WHERE r.rank = 0 ORDER BY t.ended_ms DESC LIMIT 1"
}

family known 500
family swift 0
search --effort full
is "the faster family wins" "$?,$(best)" "0,swift 0"

family swift 0 "#define NEWER"
export FAKE_NVRTC_SLOW="#define NEWER"
search --budget 1ms --jobs 1
is "and is tried again when there is no time" "$?,$(best)" "0,swift 1"
exit "$bad"
