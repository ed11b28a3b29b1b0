#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: slow
# install.sh - `make install` leaves a program, a library, device files, tuned records, docs
# and examples; `make uninstall` removes them all.
. "${GT_SRC:-.}/tests/cli/lib.sh"
root=$work/root

# make_quietly TARGET: of what is built already
make_quietly() {
    make -C "$GT_SRC" --no-print-directory -o all BUILD="$GT_BUILD" PREFIX=/opt/gt DESTDIR="$root" \
        "$1" >"$work/out" 2>"$work/err"
    code=$?
}

unset MAKEFLAGS MAKELEVEL
make_quietly install
verdict "make install" "$code"
GEMMTUNE=$root/opt/gt/bin/gemmtune
share=$root/opt/gt/share
try import "$share/gemmtune/devices/h200/tuned.json" --db "$work/tuned.db"
verdict "the installed program imports the installed records" "$code"
expect "and reads an installed device file" 0 "NVIDIA H200" predict f32-nn-64x64x64 \
    --device-file "$share/gemmtune/devices/h200/device.json" --json
# What is known of a device is found beside the program, however the program is started.
unset GEMMTUNE_DEVICES
best() {
    "$@" predict f32-nn-512x512x512 --device-file h200 --family block --csv 2>/dev/null | tail -n 1
}
known=$(GEMMTUNE_DEVICES="$GT_SRC/devices" best "$GEMMTUNE")
[ -n "$known" ] && [ "$known" != "$(GEMMTUNE_DEVICES="$work" best "$GEMMTUNE")" ]
verdict "what is known of a device changes a forecast" $?
[ "$(best "$GEMMTUNE")" = "$known" ]
verdict "the installed program finds it" $?
[ "$(PATH=$root/opt/gt/bin:$PATH best gemmtune)" = "$known" ]
verdict "and through PATH" $?
for file in share/doc/gemmtune/README.md share/doc/gemmtune/docs/ARCHITECTURE.md \
    share/doc/gemmtune/examples/gemm_opencl.c share/doc/gemmtune/examples/opencl_device.h \
    share/doc/gemmtune/examples/report.h share/man/man1/gemmtune.1 include/gemmtune.h \
    lib/pkgconfig/gemmtune.pc lib/libgemmtune.so lib/libgemmtune.a lib/libgemmtune-blas.so \
    lib/libgemmtune-audit.so lib/libgemmtune_jax.so lib/cmake/gemmtune/gemmtune-config.cmake \
    share/bash-completion/completions/gemmtune share/zsh/site-functions/_gemmtune \
    share/fish/vendor_completions.d/gemmtune.fish; do
    [ -s "$root/opt/gt/$file" ]
    verdict "$file" $?
done
# shellcheck disable=SC2016 # the program expands it
has_shims=$("$GEMMTUNE" exec sh -c 'echo "$LD_PRELOAD $LD_AUDIT"' 2>"$work/err")
[ "$has_shims" = "$root/opt/gt/lib/libgemmtune-blas.so $root/opt/gt/lib/libgemmtune-audit.so" ]
verdict "the installed program finds the libraries of exec" $?
make_quietly uninstall
verdict "make uninstall" "$code"
[ -z "$(find "$root" ! -type d)" ]
verdict "removes every file" $?
[ ! -e "$share/gemmtune" ] && [ ! -e "$share/doc/gemmtune" ]
verdict "and the folders of its own" $?
finish
