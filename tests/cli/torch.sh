#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# torch.sh - tools/compare-torch without PyTorch: its list of problems, and one sentence.
# shellcheck source=tests/cli/lib.sh
. "$GT_SRC/tests/cli/lib.sh"
if ! command -v python3 >/dev/null; then
    echo "ok - compare-torch # SKIP no python3"
    exit 0
fi
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work"
echo 'raise ImportError' >"$work/torch.py"

# torch ARG...: like try, for the tool
torch() {
    python3 "$GT_SRC/tools/compare-torch" "$@" >"$work/out" 2>"$work/err"
    code=$?
}

torch --list
[ "$code" -eq 0 ] && [ "$(grep -c 'torch\.mm$' "$work/out")" -eq 10 ] &&
    [ "$(grep -c 'torch\.compile$' "$work/out")" -eq 10 ] &&
    [ "$(grep -c '_grouped_mm [uz]' "$work/out")" -eq 10 ]
verdict "three lists of ten lines" $?
torch
[ "$code" -eq 1 ] && [ ! -s "$work/out" ] &&
    grep -q '^compare-torch: PyTorch is not installed for .*python' "$work/err" &&
    [ "$(wc -l <"$work/err")" -eq 1 ]
verdict "without PyTorch: exit 1 and one sentence" $?
echo '{"sizes": ["f32-nn-8x8x8"]}' >"$work/sizes.json"
printf 'def __getattr__(name):\n    raise RuntimeError\n' >"$work/torch.py"
torch --list --sizes "$work/none.json"
[ "$code" -eq 1 ] && grep -q '^compare-torch: cannot read .*none.json' "$work/err" &&
    [ "$(wc -l <"$work/err")" -eq 1 ]
verdict "a list that is not there: exit 1 and one sentence" $?
torch --list --sizes "$work/sizes.json"
[ "$code" -eq 1 ] && grep -q '^compare-torch: f32-nn-8x8x8 is not a bf16 product' "$work/err"
verdict "another type: exit 1 and one sentence" $?
finish
