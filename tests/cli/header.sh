#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# header.sh - the public header compiles alone, as C11 and as C++11 under strict warnings, and a
# program made of its inline functions links with the shared library and works.
set -u
. "$GT_SRC/tests/cli/lib.sh"

cat >"$work/use.c" <<'EOF'
#include "gemmtune.h"
#include <stdio.h>
int main(void) {
    gemmtune_problem p;
    gemmtune_args args;
    char name[600];
    gemmtune_args_init(&args);
    if (gemmtune_problem_init(&p, GEMMTUNE_F32, 3, 5, 7) != GEMMTUNE_OK ||
        p.struct_size != sizeof p || p.stride_a != GEMMTUNE_PACKED ||
        args.struct_size != sizeof args || args.workspace != NULL)
        return 1;
    p.layout = GEMMTUNE_ROW_MAJOR;
    p.batch = 4;
    p.stride_b = 0;
    if (gemmtune_problem_format(&p, name, sizeof name) < 0)
        return 2;
    (void)printf("%s\n", name);
    if (gemmtune_problem_parse(&p, "f32-nt-4096x4096x1024") != GEMMTUNE_OK ||
        gemmtune_plan_describe(NULL, NULL) != GEMMTUNE_EINVAL ||
        gemmtune_launch(NULL, &args, NULL) != GEMMTUNE_EINVAL)
        return 3;
    return p.n == 4096 && gemmtune_version() / 100 == GEMMTUNE_VERSION_MINOR ? 0 : 4;
}
EOF
cp "$work/use.c" "$work/use.cc"

# language NAME COMPILER STANDARD SOURCE
language() {
    if ! command -v "$2" >/dev/null; then
        echo "ok - the header as $1 # SKIP no $2"
        return
    fi
    "$2" -std="$3" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
        -I "$GT_SRC/include" "$work/$4" -o "$work/use" -L "$GT_BUILD" -lgemmtune \
        -Wl,-rpath,"$GT_BUILD" >"$work/out" 2>"$work/err"
    code=$?
    verdict "the header compiles as $1" "$code"
    "$work/use" >"$work/out" 2>"$work/err"
    code=$?
    [ "$(cat "$work/out")" = "f32-nn-3x5x7,batch=4,sb=0" ] && [ "$code" -eq 0 ]
    verdict "its inline functions work in $1" $?
}

case ${GT_SAN:-} in
'')
    language C11 cc c11 use.c
    language C++11 g++ c++11 use.cc
    ;;
*) echo "ok - the header # SKIP the library is built with $GT_SAN" ;;
esac
finish
