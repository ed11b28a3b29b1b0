#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# emit.sh - `gemmtune emit`: a folder of PTX is built with gcc and clang, and its own test runs on the GPU in
# software. The test must refuse folders with a fault. Bad input gets one sentence and its exit code.
. "$GT_SRC/tests/tune/lib.sh"
# The folder's own make is no part of the make that runs the tests.
unset MAKEFLAGS MFLAGS MAKELEVEL

# refused NAME CODE SENTENCE OPTION...
refused() {
    refused_name=$1 refused_code=$2 refused_line=$3
    shift 3
    "$GEMMTUNE" emit "$@" --quiet >"$TMPDIR/out" 2>"$TMPDIR/err"
    is "$refused_name" "exit $?: $(tail -n 1 "$TMPDIR/err")" "exit $refused_code: gemmtune: $refused_line"
}
export GEMMTUNE_DB="$TMPDIR/none.db"
refused "no problems" 2 "emit: name problems, or a file of them by --sizes" --arch sm_90 -o "$TMPDIR/x"
refused "no folder" 2 "emit: -o FOLDER is missing" --arch sm_90 f32-nn-8x8x8
refused "grouped rows" 3 "f32-nn-8x8x8,groups=2: rows in groups and masked rows have no place in a folder" \
    --arch sm_90 -o "$TMPDIR/x" f32-nn-8x8x8,groups=2
refused "an unknown architecture" 4 \
    "no device of sm_77 is in the database or in devices/: --device-file describes one" \
    --arch sm_77 -o "$TMPDIR/x" f32-nn-8x8x8
refused "an architecture twice" 2 "emit: sm_90 is named twice" --arch sm_90,sm_90 -o "$TMPDIR/x" f32-nn-8x8x8
refused "no folder above it" 1 "$TMPDIR/none/x: No such file or directory" --arch sm_90 -o "$TMPDIR/none/x" f32-nn-8x8x8
is "nothing was written" "$([ -e "$TMPDIR/x" ] && echo there)" ""

use_fakes "folders of kernels"
"$GEMMTUNE" import "$GT_SRC/devices/h200/tuned.json" --db "$TMPDIR/h200.db" >/dev/null 2>&1
said=$(FAKE_NVRTC_FAIL='GT_BM 16' "$GEMMTUNE" emit --arch sm_90 --db "$TMPDIR/h200.db" -o "$TMPDIR/second" --quiet --csv \
    bf16-nt-64x64x64 2>&1)
is "a kernel that does not build gives way" "exit $?, $(echo "$said" | grep -c 'BM=16')" "exit 0, 0"
has "and that is said" "$said" "does not build, trying the next: bf16-nt-64x64x64 on sm_90: "
GEMMTUNE_LIBNVRTC=/nowhere GEMMTUNE_CACHE_DIR="$TMPDIR/images" "$GEMMTUNE" emit --arch sm_90 -o "$TMPDIR/x" --quiet \
    f32-nn-8x8x8 >"$TMPDIR/ran" 2>&1
has "no compiler" "exit $?: $(tail -n 1 "$TMPDIR/ran")" "exit 4: gemmtune: f32-nn-8x8x8 on sm_90: no CUDA compiler: "

use_software_gpu
out=$TMPDIR/folder
"$GEMMTUNE" emit --arch sm_90 --arch sm_80 --db "$TMPDIR/h200.db" -o "$out" --csv --quiet f32-nn-64x64x64 \
    f32-nn-20x12x28,batch=3 f32-nn-16x8x12,batch=3,pointers f32-nn-31x33x60,lda=64 \
    bf16-nt-64x64x128,epi=swiglu "f32-nn-20x24x32,epi=d2=x;d=gelu(x)+c" "f32-nn-16x8x16,epi=d=x*(1/3)" \
    >"$TMPDIR/table.csv" 2>"$TMPDIR/err"
is "a folder of two architectures" "exit $?, $(grep -c -e ',tuned,' "$TMPDIR/table.csv") tuned" "exit 0, 0 tuned"
refused "a folder is not overwritten" 1 "$out is there already: --force replaces its files" \
    --arch sm_90 -o "$out" f32-nn-8x8x8
mkdir -p "$TMPDIR/theirs" && touch "$TMPDIR/theirs/file"
refused "nor is somebody else's" 1 "$TMPDIR/theirs is there, and gemmtune emit did not make it" \
    --arch sm_90 --force -o "$TMPDIR/theirs" f32-nn-8x8x8

# build COMPILER: the folder's own test
build() {
    make -s -C "$out" clean && make -s -C "$out" CC="$1" CFLAGS="-O2 -Wall -Wextra -Werror" gemmkit_test 2>&1
}
export GEMMKIT_LIBCUDA="$GEMMTUNE_LIBCUDA"
if command -v clang >/dev/null; then
    is "clang builds it without a warning" "$(build clang)" ""
fi
is "gcc builds it without a warning" "$(build gcc)" ""
FAKE_CUDA_DEVICE=h200 "$out/gemmkit_test" --quick >"$TMPDIR/ran" 2>&1
is "all kernels are right" "exit $?: $(sed 's/[0-9]* general/N general/' "$TMPDIR/ran")" \
    "exit 0: NVIDIA H200, sm_90: 7 kernels of problems (0 left out) and N general ones (0 run none of the shapes), 0 wrong"
# The A10 has less shared memory and fewer multiprocessors than the A100 that stands for sm_80.
FAKE_CUDA_DEVICE=a10 "$out/gemmkit_test" --quick --exact >"$TMPDIR/ran" 2>&1
has "images of sm_80 on sm_86" "exit $?: $(cat "$TMPDIR/ran")" "exit 0: NVIDIA A10, sm_80: "
FAKE_CUDA_DEVICE=gtx1080 "$out/gemmkit_test" >"$TMPDIR/ran" 2>&1
has "a device that the folder is not for" "exit $?: $(cat "$TMPDIR/ran")" \
    "exit 4: gemmkit_test: the device is sm_61, and there are kernels for sm_90, sm_80"

gcc -std=c11 -Wall -Wextra -Werror -I"$out" "$GT_SRC/tests/tune/emit_calls.c" "$out/gemmkit_reference.c" \
    "$out/gemmkit_expected.c" "$out/libgemmkit.a" -ldl -lm -pthread -o "$TMPDIR/calls"
is "answers of calls" "$(FAKE_CUDA_DEVICE=h200 "$TMPDIR/calls")" "listed: f32-nn-64x64x64
other arithmetic: f32-nn-64x64x64
other size: general
empty: general
types: -9 there is no kernel for these types, layout, epilogue, kind of batch and size on sm_90
lda: -1 lda is 3, must be 0 or from 64 to 2147483647
epilogue: -9 there is no kernel for the epilogue d=log(x)
size: -9 there is no kernel for these types, layout, epilogue, kind of batch and size on sm_90
NULL: -1 a, b or c is NULL"

# faulty NAME SCRIPT FILE WANT: the folder's test, after the script of sed has changed a file
faulty() {
    cp "$out/$3" "$TMPDIR/kept" && sed -i "$2" "$out/$3"
    cmp -s "$TMPDIR/kept" "$out/$3" && is "$1" "the fault is not there" "a changed file"
    make -s -C "$out" CFLAGS=-O1 gemmkit_test >/dev/null 2>&1
    FAKE_CUDA_DEVICE=h200 "$out/gemmkit_test" --quick --exact >"$TMPDIR/ran" 2>&1
    has "$1" "exit $?: $(cat "$TMPDIR/ran")" "exit 1: $4"
    cp "$TMPDIR/kept" "$out/$3"
}
faulty "alpha and beta exchanged" 's/{0, 1, 2, 3,\(.*\), 4, \([^}]*\)}, &/{0, 1, 2, 4,\1, 3, \2}, \&/' \
    gemmkit_kernels.c "WRONG "
faulty "one block too few" 's/^        {{\([0-9]*\)\([0-9]\), 1, 1}/        {{\1\2 - 1, 1, 1}/' gemmkit_kernels.c "WRONG "
faulty "operands of an epilogue that are A" 's/value->ptr = args->operand\[i\];/value->ptr = args->a;/' gemmkit_call.c "WRONG "
faulty "d2 is C" 's/value->ptr = args->d2;/value->ptr = args->c;/' gemmkit_call.c "WRONG "
faulty "narrow pointers with the wide kernel" 's/worst = NARROW;/worst = ALIGNED;/' gemmkit_call.c "*FAILED "
faulty "images that are shifted" 's/^\(gk_image_bytes:\)/\1 .byte 0/' gemmkit_images.S \
    "FAILED *: the image of a kernel is damaged"

# A program that knows the folder alone; a device of another generation; records.
"$GEMMTUNE" emit --arch sm_90 --db "$TMPDIR/h200.db" -o "$out" --force --json --quiet f32-nn-512x384x256 \
    bf16-nt-4096x4096x4096 --arch compute_80 >"$TMPDIR/table.json" 2>"$TMPDIR/err"
is "what was tuned is said" "$(sql :memory: "SELECT json_extract(value, '\$.chosen') FROM \
    json_each(readfile('$TMPDIR/table.json')) WHERE json_extract(value, '\$.arch') = 'sm_90' AND json_extract(value, '\$.kernel') = 'bf16-nt-4096x4096x4096'")" tuned
make -s -C "$out" libgemmkit.a &&
    gcc -std=c11 -I"$out" "$GT_SRC/examples/emitted/product.c" "$out/libgemmkit.a" -ldl -pthread -o "$TMPDIR/product"
if command -v cmake >/dev/null; then
    cmake -S "$out" -B "$TMPDIR/cmake" >"$TMPDIR/ran" 2>&1 && make -s -C "$TMPDIR/cmake" gemmkit >>"$TMPDIR/ran" 2>&1
    is "CMake builds the library" "exit $?$(grep -i warning "$TMPDIR/ran")" "exit 0"
fi
FAKE_CUDA_DEVICE=h200 "$TMPDIR/product" >"$TMPDIR/ran" 2>&1
has "the example" "exit $?: $(cat "$TMPDIR/ran")" "exit 0: the problem's own kernel: *512x384x256: right"
# A device that is newer than all of the folder's cubins.
FAKE_CUDA_DEVICE=rtx5090 "$TMPDIR/product" >"$TMPDIR/new" 2>&1
has "PTX for a later device" "exit $?: $(cat "$TMPDIR/new")" "exit 0: *512x384x256: right"
refused "PTX of instructions that nobody else has" 4 "PTX for sm_90 runs on sm_90 alone, as its images do" \
    --arch compute_90 -o "$TMPDIR/x" f32-nn-8x8x8

# A device's name comes from anybody's database.
# shellcheck disable=SC1003 # a backslash
sed 's|"name": "NVIDIA H200"|"name": "H200\\", 1, 0}}; int evil; /* ??/ \\\\"|' "$GT_SRC/devices/h200/tuned.json" >"$TMPDIR/evil.json"
key=$("$GEMMTUNE" import "$TMPDIR/evil.json" --db "$TMPDIR/evil.db" 2>&1 | sed 's/.*should be "\(.*\)"$/\1/')
sed -i "s/nvidia-h200-72ac4542/$key/" "$TMPDIR/evil.json"
"$GEMMTUNE" import "$TMPDIR/evil.json" --db "$TMPDIR/evil.db" >/dev/null 2>&1
"$GEMMTUNE" emit --arch sm_90 --db "$TMPDIR/evil.db" -o "$TMPDIR/evil" --quiet f32-nn-64x64x64 >"$TMPDIR/ran" 2>&1
is "a hostile name of a device" "exit $?, $(grep -c 'int evil' "$TMPDIR/evil/gemmkit_kernels.c")" "exit 0, 1"
make -s -C "$TMPDIR/evil" CFLAGS="-O1 -Wall -Wextra -Werror" libgemmkit.a >"$TMPDIR/ran" 2>&1
is "stays a string" "exit $?$(nm "$TMPDIR/evil/gemmkit_kernels.o" | grep evil)" "exit 0"
exit "$bad"
