#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh - the Debian packages of `make deb`: every file is in one of them, they agree with the header, and
# the program of their files finds its data and libraries. In a system that will be thrown away
# (tools/bare says so in GT_BARE) they are installed: a C program is compiled, linked both ways and run, the
# commands work, and after a purge no file is left.
. "${GT_SRC:-.}/tests/cli/lib.sh"
debs=$GT_BUILD/debs
PATH=$PATH:/usr/sbin:/sbin
if [ ! -d "$debs" ]; then
    echo "ok - Debian packages # SKIP make deb makes them on Debian and Ubuntu"
    exit 0
fi

# run COMMAND...: as try
run() {
    "$@" >"$work/out" 2>"$work/err"
    code=$?
}

# ---- what is in them -----------------------------------------------------------------------

version=$("$GEMMTUNE" --version | sed -n '1s/gemmtune //p')
abi=$("$GEMMTUNE" --version | sed -n 's/^abi  *libgemmtune.so.//p')
triplet=$(cc -print-multiarch)
packages="gemmtune gemmtune-data libgemmtune$abi libgemmtune-dev"
: >"$work/out"
: >"$work/err"
code=0
for package in $packages; do
    file=$(ls "$debs/${package}_${version}_"*.deb)
    [ -f "$file" ] && [ "$(dpkg-deb -f "$file" Package Version | tr '\n' ' ')" = "Package: $package Version: $version " ]
    verdict "$package has the header's version" $?
    dpkg-deb -c "$file" | awk '!/^d/ { print $6 }' >>"$work/files"
    dpkg-deb -x "$file" "$work/root"
done
[ "$(find "$debs" -name '*.deb' | wc -l)" -eq 4 ]
verdict "and there are no others" $?
[ -z "$(sort "$work/files" | uniq -d)" ]
verdict "no file is in two packages" $?
for file in usr/bin/gemmtune usr/include/gemmtune.h "usr/lib/$triplet/libgemmtune.so.$abi" \
    "usr/lib/$triplet/libgemmtune.so" "usr/lib/$triplet/pkgconfig/gemmtune.pc" usr/share/man/man1/gemmtune.1.gz \
    "usr/lib/$triplet/cmake/gemmtune/gemmtune-config.cmake" usr/share/bash-completion/completions/gemmtune \
    usr/share/gemmtune/devices/h200/device.json usr/share/doc/gemmtune/docs/guide.md; do
    [ -s "$work/root/$file" ]
    verdict "$file" $?
done
dpkg-deb -f "$debs"/gemmtune_*.deb Depends >"$work/out"
grep -q "libgemmtune$abi (= $version), libc6 (>= .*libsqlite3-0 (>= " "$work/out"
verdict "the libraries that a program needs are found, not written down" $?
if command -v lintian >/dev/null; then
    run lintian --allow-root --fail-on error,warning "$debs"/*.deb
    verdict "lintian has nothing to say" "$code"
else
    echo "ok - lintian # SKIP not installed"
fi

# works NAME: $GEMMTUNE finds what is known of a device and the libraries of exec, without a variable
works() {
    known=$("$GEMMTUNE" predict f32-nn-512x512x512 --device-file h200 --family block --csv 2>"$work/err" | tail -n 1)
    [ "$known" = "$(GEMMTUNE_DEVICES=$GT_SRC/devices "$GEMMTUNE" predict f32-nn-512x512x512 --device-file h200 \
        --family block --csv 2>>"$work/err" | tail -n 1)" ]
    verdict "$1: what is known of a device" $?
    # shellcheck disable=SC2016 # the program expands it
    run "$GEMMTUNE" exec sh -c 'echo "$LD_PRELOAD"'
    [ "$(cat "$work/out")" = "$2/usr/lib/$triplet/gemmtune/libgemmtune-blas.so" ]
    verdict "$1: the libraries of exec" $?
}
unset GEMMTUNE_DEVICES
GEMMTUNE=$work/root/usr/bin/gemmtune
works "unpacked" "$work/root"

# ---- installed -----------------------------------------------------------------------------

if [ -z "${GT_BARE:-}" ]; then
    echo "ok - installed # SKIP this system stays: tools/bare makes one to be thrown away"
    finish
fi

# all_files: every file, but for dpkg's own books, logs, caches and this test
all_files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /root -o -path /var/lib/dpkg \
        -o -path /var/log -o -path /var/cache -o -path /run \) -prune -o -print | sort
}
all_files >"$work/before"
run dpkg -i "$debs"/*.deb
verdict "they are installed, and nothing that they need is missing" "$code"
run ldconfig -p
grep -q "libgemmtune.so.$abi .*=> /lib/$triplet/libgemmtune.so.$abi$" "$work/out"
verdict "the loader knows the library" $?
GEMMTUNE=/usr/bin/gemmtune
run gemmtune --version
[ "$(head -n 1 "$work/out")" = "gemmtune $version" ]
verdict "the program runs" $?
works "installed" ""
cp /usr/share/doc/libgemmtune-dev/examples/convert.c "$work"
# shellcheck disable=SC2046 # flags
run cc -o "$work/convert" "$work/convert.c" $(pkg-config --cflags --libs gemmtune) -lm
verdict "a program is compiled with the package's flags" "$code"
run "$work/convert"
[ "$code" -eq 0 ] && grep -q 'e4m3  loses up to' "$work/out"
verdict "and is right" $?
# shellcheck disable=SC2046 # flags
run cc -o "$work/static" "$work/convert.c" -Wl,-Bstatic -lgemmtune -Wl,-Bdynamic \
    $(pkg-config --static --libs gemmtune | sed 's/-lgemmtune//') -lm
verdict "another one with the archive" "$code"
run "$work/static"
[ "$code" -eq 0 ] && grep -q 'e4m3  loses up to' "$work/out"
verdict "and is right as well" $?
if command -v cmake >/dev/null; then
    run cmake -S /usr/share/doc/libgemmtune-dev/examples -B "$work/cmake"
    verdict "CMake finds the library without being told where" "$code"
fi
# shellcheck disable=SC2086 # a list
run dpkg --purge $packages
verdict "they are purged" "$code"
all_files >"$work/after"
diff "$work/before" "$work/after" >"$work/out" 2>&1
verdict "no file is left" $?
run "$work/convert"
[ "$code" -ne 0 ]
verdict "the first program's library is gone" $?
finish
