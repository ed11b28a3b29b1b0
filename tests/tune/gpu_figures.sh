#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# gpu_figures.sh - tools/gpu-figures on the fake driver: files that `figures` reads, a table, and an end in time.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"
use_fakes "tools/gpu-figures"
if [ ! -e "$fake/libcublas.so" ]; then
    echo "ok - tools/gpu-figures # SKIP no fake of cuBLAS"
    exit 0
fi
case $GEMMTUNE in /*) ;; *) GEMMTUNE=$PWD/$GEMMTUNE ;; esac
export GEMMTUNE GEMMTUNE_LIBCUBLAS="$fake/libcublas.so" GEMMTUNE_LIBCUBLASLT="$fake/libcublas.so"
export FAKE_CUDA_DEVICE=gtx1050-2gb FAKE_NVRTC_VERSION=12.9 FAKE_CUDA_TIME=model
cd "$TMPDIR" || exit 1
mkdir configs
echo '{"format": 1, "sizes": ["f32-nn-24x20x36"]}' >configs/one.json
echo '{"format": 1, "sizes": ["f32-nn-8x8x8,batch=5"]}' >configs/two.json
echo '{"format": 1, "devices": [], "records": []}' >records.json
export RECORDS=records.json NAME=toy WARM=2 LISTS="a=one=10ms b=two=10ms" USED="a=one=10ms"

"$GT_SRC/tools/gpu-figures" out >said 2>&1
is "it ends well" $? 0
is "a file for each list" "$(cd out/figures && echo *)" "toy-a.json toy-b.json used-toy-a.json"
is "a table last" "$(sed -n 's/^\(f32\( batches\)*\)  *1  .*/\1/p' said | tr '\n' ' ')" "f32 f32 batches f32 "
is "with the commands" "$(grep -c '^    gemmtune bench --sizes configs/.*cublas,cublaslt' said)" 3
is "the kernels of each list are built ahead, once" "$(grep -c '"problems": 1, "built": [1-9].*"failed": 0' out/warm.txt)" 2
LIMIT=1 WARM=0 "$GT_SRC/tools/gpu-figures" short >said 2>&1
is "without time: exit 1" $? 1
has "and said so" "$(cat said)" "a: no time is left"
exit "$bad"
