#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# wheel.sh - the wheel is made, says which systems it is for, and works where nothing of the tree is:
# its library, its program, its devices. `pip install .` makes one as well.
set -u
cd "$GT_SRC" || exit 1
bad=0

# verdict NAME STATUS
verdict() {
    if [ "$2" -eq 0 ]; then
        echo "ok - $1"
    else
        echo "not ok - $1"
        bad=1
    fi
}

# pip WORD...: from PyPI, or nothing
pip() {
    PIP_ROOT_USER_ACTION=ignore python3 -m pip --disable-pip-version-check -q "$@"
}

if ! python3 -m pip --version >/dev/null 2>&1 || [ ! -e "$GT_BUILD/python-packages/numpy" ]; then
    echo "ok - wheel # SKIP no pip, or no NumPy in $GT_BUILD/python-packages: tools/fetch-python brings it"
    exit 0
fi
# Objects of another build, as of `make check`, are used again.
wheels=$TMPDIR/wheels
make -s wheel BUILD="${GT_BUILD#"$GT_SRC"/}" WHEELS="$wheels" ${CC:+CC="$CC"} >"$TMPDIR/make.log" 2>&1
verdict "make wheel" $?
wheel=$(ls "$wheels"/gemmtune-*-py3-none-manylinux_2_*.whl)
[ -n "$wheel" ] && [ "$(stat -c %s "$wheel")" -lt 8000000 ]
verdict "one wheel of less than 8 MB: ${wheel##*/}" $?
[ ! -x "$GT_BUILD/zig/ziglang/zig" ] || case $wheel in *manylinux_2_28_*) ;; *) false ;; esac
verdict "for glibc 2.28, where ziglang is" $?

site=$TMPDIR/site
pip install --no-deps --no-index --target "$site" "$wheel"
verdict "pip install" $?
unset GEMMTUNE GEMMTUNE_DEVICES
cd "$TMPDIR" || exit 1
export GEMMTUNE_CACHE_DIR="$GT_BUILD/test-python" PYTHONDONTWRITEBYTECODE=1
said=$(PYTHONPATH=$site:$GT_BUILD/python-packages python3 -c '
import numpy as np, gemmtune as gt
from gemmtune import _library
a = np.arange(12, dtype="f4").reshape(3, 4)
assert np.array_equal(gt.matmul(a, a.T), a @ a.T)
print(_library.library_path(), _library.program_path(), gt.devices()[0]["backend"])')
[ "$said" = "$site/gemmtune/lib/libgemmtune.so $site/gemmtune/bin/gemmtune opencl" ]
verdict "a product, by the wheel alone" $?
PYTHONPATH=$site "$site/bin/gemmtune" devices >"$TMPDIR/devices" && grep -q '^0  *opencl' "$TMPDIR/devices"
verdict "the command gemmtune" $?
PYTHONPATH=$site "$site/bin/gemmtune" import "$site/gemmtune/devices/h200/tuned.json" --db "$TMPDIR/h200.db" \
    >"$TMPDIR/import" 2>&1
verdict "what is known of devices" $?
# Nothing but glibc is needed from the system.
for file in "$site"/gemmtune/lib/*.so* "$site"/gemmtune/bin/gemmtune; do
    LD_LIBRARY_PATH='' ldd "$file" | awk '{ print $1 }'
done | grep -v -e '^linux-vdso' -e '^lib[cm]\.so\.6' -e '^libdl\.so\.2' -e '^libpthread\.so\.0' \
    -e 'ld-linux' -e '^libcjson\.so\.1' -e '^libgemmtune\.so' -e '^statically' | sort -u >"$TMPDIR/needs"
[ ! -s "$TMPDIR/needs" ]
verdict "no library of the system but glibc's: $(tr '\n' ' ' <"$TMPDIR/needs")" $?

cd "$GT_SRC" || exit 1
BUILD="${GT_BUILD#"$GT_SRC"/}" pip wheel --no-deps --no-index --no-build-isolation --wheel-dir "$TMPDIR/made" . >"$TMPDIR/pip.log" 2>&1 &&
    ls "$TMPDIR"/made/gemmtune-*.whl >/dev/null
verdict "pip makes a wheel of a clone" $?
[ "$bad" -eq 0 ] || tail -n 20 "$TMPDIR/make.log" "$TMPDIR/pip.log"
exit "$bad"
