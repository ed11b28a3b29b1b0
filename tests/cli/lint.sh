#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint.sh - tools/check-text and tools/check-arrows name a planted fault and exit 1, and say
# nothing of a small house without one. The Makefile names a test in a list that it does not know.
# shellcheck source=tests/cli/lib.sh
. "$GT_SRC/tests/cli/lib.sh"
house=$work/house
# The tools look at the files that git knows, and the names of bash.
for needed in git bash; do
    if ! command -v $needed >/dev/null; then
        echo "ok - planted faults # SKIP no $needed"
        exit 0
    fi
done

# build: a house without faults
build() {
    rm -rf "$house"
    mkdir -p "$house/tools" "$house/core" "$house/db" "$house/include" "$house/runtime" \
        "$house/tuner/base" "$house/templates/block"
    cp "$GT_SRC/tools/check-text" "$GT_SRC/tools/check-arrows" "$house/tools"
    echo '{}' >"$house/templates/block/space.json"
    cat >"$house/core/read.h" <<'END'
#ifndef GT_CORE_READ_H
#define GT_CORE_READ_H
typedef enum gemmtune_status { GEMMTUNE_OK } gt_status;
gt_status gt_read(int *out);
#endif
END
    cat >"$house/core/read.c" <<'END'
#include "core/read.h"
gt_status gt_read(int *out) {
    const gt_status ended = *out > 0 ? 1 : GEMMTUNE_OK;
    return ended != GEMMTUNE_OK ? ended : GEMMTUNE_OK;
}
END
    cat >"$house/tuner/base/use.c" <<'END'
#include "core/read.h"
static _Bool good(int x) {
    return gt_read(&x) == GEMMTUNE_OK && x > 0;
}
END
}

# check TOOL: runs it in the house
check() {
    git -C "$house" init -q && git -C "$house" add . &&
        "$house/tools/$1" >"$work/out" 2>"$work/err"
    code=$?
}

# finds NAME TOOL PATTERN FILE TEXT: with TEXT at the end of FILE, it names PATTERN and exits 1
finds() {
    build
    echo "$5" >>"$house/$4"
    check "$2"
    [ "$code" -eq 1 ] && [ "$(wc -l <"$work/out")" -eq 1 ] && grep -q "$3" "$work/out"
    verdict "$2 finds $1" $?
}

for tool in check-text check-arrows; do
    build
    check $tool
    [ "$code" -eq 0 ] && [ ! -s "$work/out" ]
    verdict "$tool has nothing against a good house" $?
done

status="compare a status with GEMMTUNE_OK"
wide=$(printf '/* %090d */' 0)
finds "a wide line" check-text "read.c:6:.*92 columns" core/read.c "$wide"
finds "a name behind a comment" check-text "one line$" core/read.h 'struct size
    *width; /* of it */'
finds "a string torn in two lines" check-text "read.c:6:.*one string" core/read.c \
    'static const char *text = "a problem "
                          "of its own";'
finds "a string torn on one line" check-text "read.c:6:.*one string" core/read.c \
    'static const char *text = "a problem " "of its own";'
# A thousand are more than the list allows.
finds "words that stand in for nouns" check-text '"whose": 1000 times, at most .*name the noun' \
    core/read.c "$(yes '/* one whose end is near */' | head -n 1000)"
finds "sentences that begin without a noun" check-text '"what": 1000 times' core/read.c \
    "$(yes '/* It ends. What begins it is a
 * pronoun. A question counts not: What is it? */' | head -n 2000)"
# A limit that rises needs a reason, in the tree and when it is committed.
limit() {
    sed -i "s/,whose:[0-9]*,/,whose:$1,/; s/^most=/$2&/" "$house/tools/check-text"
    [ -z "$3" ] || git -C "$house" -c user.name=a -c user.email=a@b commit -qam "$3"
    check check-text
}
build
check check-text
git -C "$house" -c user.name=a -c user.email=a@b commit -qm first
limit 5000 "" ""
[ "$code" -eq 1 ] && grep -q '"whose": the limit rose from [0-9]* to 5000' "$work/out"
verdict "check-text finds a limit that rose" $?
limit 5000 "" second
[ "$code" -eq 1 ] && grep -q '"whose": the limit rose' "$work/out"
verdict "check-text finds it when it is committed" $?
limit 5000 "# raised whose: a test\n" third
[ "$code" -eq 0 ]
verdict "check-text takes a reason" $?
finds "!status" check-text "$status" core/read.c 'int f(int status) { return !status; }'
finds "if (a->status)" check-text "$status" core/read.c 'int f(struct a *a) { if (a->status) return 1; }'
finds "a variable before ?" check-text "use.c:5: ended .*$status" tuner/base/use.c \
    'int f(gt_status ended) { return ended ? 1 : 2; }'
finds "a call of another file" check-text "use.c:6: gt_read .*$status" tuner/base/use.c \
    'int f(int x) { return x > 0 &&
    !gt_read(&x); }'
finds "a call of the same file" check-text "use.c:6: look .*$status" tuner/base/use.c \
    'static gt_status look(int x) { return x; }
int f(int x) { if (look(x)) return 1; }'
finds "an arrow to the right" check-arrows "read.c:6:.*may not know" core/read.c \
    '#include "tuner/base/use.c"'
finds "a function for nobody" check-arrows "read.c:6: gt_alone: no other file calls it" core/read.c \
    'int gt_alone(int x) { return x; }'
finds "SQL outside db/" check-arrows "use.c:5: only db/ speaks SQL" tuner/base/use.c \
    '#include <sqlite3.h>'

# marks NAME CODE PATTERN WORDS: make, with one test that says "check: WORDS", exits so
marks() {
    rm -rf "$house"
    mkdir -p "$house/include" "$house/tests/unit"
    cp "$GT_SRC/Makefile" "$house" && cp "$GT_SRC/include/gemmtune.h" "$house/include"
    echo "/* check: $4 */" >"$house/tests/unit/test_one.c"
    env -u MAKEFLAGS -u MAKELEVEL make -C "$house" help >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" -eq "$2" ] && cat "$work/out" "$work/err" | grep -q "$3"
    verdict "make with $1" $?
}
marks "a test in every list" 0 'make \[all\]' "long part slow threads nvrtc platform"
marks "a list of no name" 2 'has this name: lonk=tests/unit/test_one.c' "long part slow threads nvrtc platform lonk"
marks "a list without tests" 2 'no test has a line "check: platform"' "long part slow threads nvrtc"
finish
