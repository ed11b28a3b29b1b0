#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# refused.sh - what has a place in a problem's name but no kernel yet is refused in one sentence by
# every command that takes a problem; so is a product with nothing to time.
set -u
. "$GT_SRC/tests/cli/lib.sh"

# Commands that take a problem, each up to the problem's name.
while read -r command; do
    # shellcheck disable=SC2086 # words
    expect "$command: types" 3 'no kernel for types f16@f16 yet' $command f16@f16-nn-8x8x8
done <<'EOF'
lookup
explain
predict
run --device 0
trial --device 0 --family tile
verify --device 0
tune --device 0
show
emit --arch sm_90 -o /nowhere/folder
EOF

expect "a misspelt epilogue" 3 'column 6 of the epilogue: "gleu" is neither a shorthand' \
    lookup f32-nn-8x8x8,epi=bias_gleu

try bench --error --device 0 --quiet f16-nn-8x8x8
[ "$code" -eq 3 ] && [ "$(grep -c 'errors are measured of f32 and f64' "$work/err")" -eq 1 ]
verdict "bench --error: its sentence stands once" $?

expect "run: an empty product" 3 '"f32-nn-0x8x8" is an empty product: nothing to time' \
    run --device 0 f32-nn-0x8x8
expect "trial: an empty product behind another one" 3 '"f32-nn-0x8x8" is an empty product' \
    trial --device 0 --family tile f32-nn-8x8x8 f32-nn-0x8x8
expect "ladder: no problem" 2 'ladder: name problems, or a range with --volumes' ladder
expect "trial: neither a family nor a point" 2 'give --family NAME' trial --device 0 f32-nn-8x8x8
expect "tune: an empty product" 3 '"f32-nn-8x8x0" is an empty product: nothing to tune' \
    tune --device 0 f32-nn-8x8x0
finish
