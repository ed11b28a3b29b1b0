#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: part
# check.sh - the tests of the Python package, with the packages of tools/fetch-python. GT_LONG makes
# more random products. GT_PYTHON_WITH: packages; the tests of the files that need one of them, and no others.
set -u
packages=$GT_BUILD/python-packages
if ! PYTHONPATH=$packages python3 -c 'import pytest, numpy, hypothesis' 2>/dev/null; then
    echo "ok - python # SKIP no pytest, numpy and hypothesis in $packages: tools/fetch-python brings them"
    exit 0
fi
cd "$GT_SRC" || exit 1
export PYTHONPATH="$packages" PYTHONDONTWRITEBYTECODE=1 GT_TAP=1
set -- tests/python
if [ -n "${GT_PYTHON_WITH:-}" ]; then
    # shellcheck disable=SC2046,SC2086 # lists
    set -- $(grep -lE "importorskip\\(\"($(echo $GT_PYTHON_WITH | tr ' ' '|'))\"" tests/python/test_*.py)
fi
exec python3 -m pytest -q -p no:cacheprovider --basetemp="$TMPDIR/pytest" "$@"
