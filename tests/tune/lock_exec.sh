#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lock_exec.sh - locks on CUDA: under `gemmtune exec --lock` what is pinned is served, and nothing else; images beside
# the lock need no compiler; another driver or NVRTC is refused. The driver, the compiler and cuBLAS are stand-ins.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

use_served_client "locks on CUDA"
pinned=f32-nn-48x32x64 # 32x48x64 by columns, the product of scenes

# lock ARGUMENT...: the exit code to $code, its words to the file said
lock() {
    "$GEMMTUNE" lock --quiet "$@" >said 2>&1
    code=$?
}
# play LOCK WORD...: the scene under `exec --lock`; its words to the file said, stderr of exec to err
play() {
    lock=$1
    shift
    rm -f log
    "$GEMMTUNE" exec --lock "$lock" -- "$client" "$@" >said 2>err
    code=$?
}
calls_of_cublas() {
    [ -e log ] || : >log
    wc -l <log
}

# ---- what is pinned is served ----

tune --effort quick --family naive f64-nn-8x8x8 # so that the database knows the device
lock $pinned --device 0 -o app.lock
is "a problem is pinned" "$code" 0
has "for pointers that are not aligned, too" "$(cat app.lock)" '"unaligned": {'
for _ in $(seq 100); do # the first process may have to load the compiler to learn which images are its own
    play app.lock gemm=1 sleep=100 gemm=1
    case $(cat err) in *"2 of 2"*) break ;; esac
done
play app.lock gemm=10
is "a program has right results" "$code $(cat said)" "0 "
has "and is served, without a time of the vendor" "$(cat err)" "gemmtune: 10 of 10 GEMM calls served"
is "cuBLAS has no call" "$(calls_of_cublas)" 0
play app.lock shape=8,8,8 gemm=2
has "another problem is passed on" "$(cat err)" "0 of 2 GEMM calls served, 0 s saved by the stored times; passed on: 2 not pinned by the lock"
is "cuBLAS has its calls" "$(calls_of_cublas)" 2
sed 's/"others": "refuse"/"others": "lookup"/' app.lock >others.lock
play others.lock shape=8,8,8 gemm=2
has "with others: lookup as well" "$(cat err)" "passed on: 2 not pinned by the lock"
rm -f log
GEMMTUNE_LOCK=app.lock "$GEMMTUNE" exec "$client" gemm=1 >said 2>err
has "the variable names a lock, too" "$(cat err)" "1 of 1 GEMM calls served"

# ---- only kernels that are faster ----

(
    export GEMMTUNE_DB="$TMPDIR/faster.db" GEMMTUNE_LIBCUBLAS="$fake/libcublas.so" GEMMTUNE_LIBCUBLASLT="$fake/libcublas.so"
    tune --effort quick --family naive $pinned --against cublas
    lock $pinned f64-nn-8x8x8 --device 0 -o faster.lock --faster
    echo "$code $(sql faster.db "SELECT count(*) FROM rival WHERE workspace = 33554432 AND verdict = 'win'")" >counts
)
wins=$(cut -d' ' -f2 counts)
has "--faster: kernels that won, and no others" "$(cat counts said)" \
    "0 *faster.lock: $wins problem* pinned on NVIDIA H200, $((2 - wins)) left out"

# ---- images beside the lock ----

lock $pinned --device 0 -o kept.lock --images
is "a lock with images" "$code" 0
images=$(ls kept.lock.d)
is "of both kernels" "$(echo "$images" | wc -l)" 2
is "each is named by its digest" "$(cd kept.lock.d && sha256sum -- * | sed 's/\(.*\)  .*/\1.image/')" "$images"
rm -r "$GEMMTUNE_CACHE_DIR"
GEMMTUNE_LIBNVRTC=/nowhere play kept.lock gemm=1
has "a program is served where there is no compiler" "$code $(cat err)" "0 gemmtune: 1 of 1 GEMM calls served"
GEMMTUNE_LIBNVRTC=/nowhere lock --check kept.lock
is "and --check needs none" "$code" 0
is "the image cache stays empty" "$(find "$GEMMTUNE_CACHE_DIR" -name "*.img" 2>/dev/null)" ""
GEMMTUNE_LIBNVRTC=/nowhere lock --check app.lock
is "without images --check needs one: exit 4" "$code" 4

# ---- what has changed ----

export FAKE_CUDA_VERSION=12080
play app.lock gemm=1
is "another driver: exit 7, and no program runs" "$code $(calls_of_cublas)" "7 0"
has "in a sentence" "$(cat err)" "gemmtune: app.lock: the driver has changed: it is *12.8* here, and *13.0* in the lock"
lock --check app.lock
is "--check: exit 7" "$code" 7
GEMMTUNE_LOCK=$TMPDIR/app.lock GEMMTUNE_EXEC=serve LD_PRELOAD=$GT_BUILD/libgemmtune-blas.so "$client" gemm=1 >said 2>err
has "by variables alone: all is passed on, and the reason said" "$? $(cat err)" "0 *0 of 1 *the driver has changed: *"
lock $pinned --device 0 -o any.lock --any-driver
unset FAKE_CUDA_VERSION
play any.lock gemm=1
is "--any-driver: no change" "$code" 0

rm -r "$GEMMTUNE_CACHE_DIR"
export FAKE_NVRTC_VERSION=12.9
lock --check app.lock
has "another NVRTC" "$code $(cat said)" '7 *the compiler has changed: it is "NVRTC 12.9*" here, and "NVRTC 13.0*" in the lock*, 1 change'
play app.lock gemm=1 sleep=300 gemm=1
has "is told at the end of a program" "$(cat err)" "0 of 2 *the compiler has changed: *"
lock --check kept.lock
is "with images it is no change" "$code" 0
unset FAKE_NVRTC_VERSION
rm -r "$GEMMTUNE_CACHE_DIR"

FAKE_CUDA_DEVICE=a100 play app.lock gemm=1
has "another device" "$code $(cat err)" "7 *the device is NVIDIA A100* (*), and the lock is for NVIDIA H200 (*)"
sed 's/"image": "..../"image": "0000/' app.lock >image.lock
lock --check image.lock
has "another image" "$code $(cat said)" "7 *the image has changed: the same source and compiler give *, and the lock has 0000*"

# ---- a machine without a GPU ----

export GEMMTUNE_LIBCUDA=/nowhere GEMMTUNE_LIBOPENCL=/nowhere
lock --check kept.lock
has "--check by what the database says of the device" "$code $(cat said)" "0 kept.lock: 1 problem pinned *, 0 changes"
lock --check app.lock
has "the compiler needs no device" "$code $(cat said)" "0 app.lock: 1 problem pinned *, 0 changes"
sed 's/"key": "[^"]*"/"key": "nvidia-h200-72ac4542"/' app.lock >real.lock
lock --check real.lock --device-file h200
has "--check by a description of the device" "$code $(cat said)" "0 real.lock: 1 problem pinned *, 0 changes"
play kept.lock gemm=1
is "exec --lock without a device: exit 4" "$code" 4
exit "$bad"
