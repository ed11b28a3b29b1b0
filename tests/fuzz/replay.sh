#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# replay.sh - the corpora, and what is shipped, through the harnesses without a fuzzer: inputs that
# one found interesting, or that we did. Any answer but a crash or a broken promise will do. Then
# inputs that are made of a corpus.
set -u

# told NAME PROGRAM ARGUMENT...
told() {
    name=$1
    shift
    if "$@"; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        bad=1
    fi
}

# replay NAME FILE...
replay() {
    name=$1
    shift
    told "$name" "$GT_BUILD/tests/fuzz/replay_$name" "$@"
}

# mutate NAME INPUTS FILE...
mutate() {
    name=$1 inputs=$2
    shift 2
    told "mutated $name" "$GT_BUILD/tests/fuzz/mutate_$name" -n "$inputs" "$@"
}

bad=0
replay cache tests/fuzz/corpus/cache/* tests/data/cache.json
replay elsewhere tests/fuzz/corpus/elsewhere/* tests/data/elsewhere/*
replay epilogue tests/fuzz/corpus/epilogue/*
mutate epilogue 20000 tests/fuzz/corpus/epilogue/*
replay family tests/fuzz/corpus/family/* templates/*/space.json tests/data/families/*/space.json
replay lock tests/fuzz/corpus/lock/*
replay logged tests/fuzz/corpus/logged/* tests/data/lists/*
replay problem tests/fuzz/corpus/problem/*
replay sweep tests/fuzz/corpus/sweep/* configs/*.json
exit $bad
