#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cmake.sh - find_package(gemmtune) finds what `make install` has put into a folder that was moved
# afterwards: the shared library and the archive, for the project of examples/. Versions of another
# ABI and parts that are missing are refused, with a sentence.
. "${GT_SRC:-.}/tests/cli/lib.sh"
if ! command -v cmake >/dev/null; then
    echo "ok - find_package # SKIP cmake is not installed"
    exit 0
fi
case ${GT_SAN:-} in ?*)
    echo "ok - find_package # SKIP the library is built with $GT_SAN"
    exit 0
    ;;
esac
unset MAKEFLAGS MAKELEVEL

# run COMMAND...: as try
run() {
    "$@" >"$work/out" 2>"$work/err"
    code=$?
}

# configure FOLDER OPTION...: a build of the project of $work/project
configure() {
    folder=$1
    shift
    run cmake -S "$work/project" -B "$work/$folder" -DCMAKE_PREFIX_PATH="$work/moved" \
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="-Werror" "$@"
}

# refuses NAME PATTERN FIND: find_package(gemmtune FIND) fails and says why
refuses() {
    cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.17)
project(refused C)
find_package(gemmtune $3)
if(gemmtune_FOUND)
    message(FATAL_ERROR "found")
endif()
END
    rm -rf "$work/refused"
    configure refused
    [ "$code" -eq 0 ] && tr -s ' \n' '  ' <"$work/err" | grep -q -e "$2"
    verdict "$1" $?
}

# where Debian has libraries: one folder deeper than elsewhere
lib=lib/$(cc -print-multiarch 2>/dev/null)
run make -C "$GT_SRC" --no-print-directory -o all BUILD="$GT_BUILD" PREFIX=/opt/gt LIBDIR="/opt/gt/$lib" \
    DESTDIR="$work/root" install
verdict "make install" "$code"
mv "$work/root/opt/gt" "$work/moved"
examples=$work/moved/share/doc/gemmtune/examples
cp -r "$examples" "$work/project"
for kind in OFF ON; do
    configure "static-$kind" -DSTATIC=$kind
    verdict "STATIC=$kind: the package is found" "$code"
    run cmake --build "$work/static-$kind" --target convert
    verdict "STATIC=$kind: an example is built" "$code"
    run "$work/static-$kind/convert"
    [ "$code" -eq 0 ] && grep -q 'e4m3  loses up to' "$work/out"
    verdict "STATIC=$kind: and is right" $?
    readelf -d "$work/static-$kind/convert" | grep 'NEEDED.*libgemmtune' >"$work/needed"
    [ $kind = ON ] && wanted=0 || wanted=1
    [ "$(grep -c "libgemmtune.so.[0-9.]*" "$work/needed")" -eq "$wanted" ]
    verdict "STATIC=$kind: it needs the shared library $wanted times" $?
done
grep -q "gemmtune_EXECUTABLE:FILEPATH=$work/moved/bin/gemmtune$" "$work/static-OFF/CMakeCache.txt"
verdict "the program is found" $?

version=$("$GEMMTUNE" --version | sed -n '1s/gemmtune //p')
next=$(echo "$version" | awk -F. '{ print $1 "." $2 + 1 }')
refuses "a newer ABI" "compatible with requested version \"$next\"" "$next"
refuses "an older ABI" 'compatible with requested version "0.0.9"' 0.0.9
refuses "a range without this version" 'compatible with requested version range' "0.0.1...<$version"
refuses "a component that there is not" 'component gpu is neither shared nor static' 'COMPONENTS gpu'
sed -i '/^if(gemmtune_FOUND)$/s/.*/if(NOT gemmtune_FOUND)/' "$work/project/CMakeLists.txt"
for wish in "$version EXACT" "0.0.1...$version"; do
    sed -i "s/^find_package.*/find_package(gemmtune $wish)/" "$work/project/CMakeLists.txt"
    rm -rf "$work/refused"
    configure refused
    verdict "find_package(gemmtune $wish)" "$code"
done
rm "$work/moved/$lib/libgemmtune.a"
refuses "an archive that is missing" "component static lacks $work/moved/$lib/libgemmtune.a" 'COMPONENTS static'
finish
