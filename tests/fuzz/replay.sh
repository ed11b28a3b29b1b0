#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# replay.sh - the corpora, and what is shipped, through the harnesses without a fuzzer: inputs that
# one found interesting, or that we did. Any answer but a crash or a broken promise will do.
set -u

# replay NAME FILE...
replay() {
    name=$1
    shift
    if "$GT_BUILD/tests/fuzz/replay_$name" "$@"; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        bad=1
    fi
}

bad=0
replay cache tests/fuzz/corpus/cache/* tests/data/cache.json
replay epilogue tests/fuzz/corpus/epilogue/*
replay family tests/fuzz/corpus/family/* templates/*/space.json tests/data/families/*/space.json
replay problem tests/fuzz/corpus/problem/*
replay sweep tests/fuzz/corpus/sweep/* configs/*.json
exit $bad
