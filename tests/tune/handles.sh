#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# handles.sh - `gemmtune exec` with kernels of two passes, which need a workspace: who owns it, and who may use it when.
# libgemmtune, the driver and cuBLAS are stand-ins. A launch ends the program when another one writes into its workspace.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

use_fakes "workspaces of handles"
client=$GT_BUILD/tests/shim/linked ours=$GT_BUILD/tests/fake/plans
if [ ! -e "$client" ] || [ ! -e "$ours/libgemmtune-blas.so" ]; then
    echo "ok - workspaces of handles # SKIP not built"
    exit 0
fi
cd "$TMPDIR" || exit 1
export FAKE_CUDA_DEVICE=h200 FAKE_CUDA_TIME=model
given=workspace=33554432

# played WORD...: the scene; its exit code, its words and the counts at exit
played() {
    GEMMTUNE_EXEC=serve LD_PRELOAD=$ours/libgemmtune-blas.so "$client" "$@" >said 2>err
    echo "$? $(cat said)$(sed 's/gemmtune: \(.*\) GEMM calls served, [^;]* times/\1/' err)"
}

# ---- a workspace of the program's ----

is "it is used" "$(played $given guard gemm=1 intact)" \
    "1 bytes written into a workspace that was taken back: status 0, 24576 instead of 01 of 1"
is "cublasSetStream takes it back" "$(played stream $given gemm=1 guard stream gemm=1 intact)" "0 2 of 2"
is "with the same stream too" "$(played stream $given gemm=1 guard same-stream gemm=1 intact)" "0 2 of 2"
is "cublasDestroy takes it back" "$(played $given gemm=1 guard handle gemm=1 intact)" "0 2 of 2"
is "a workspace of cublasLt's is the call's" "$(played $given lt=2)" "0 2 of 2"
is "one that is too small" "$(played workspace=1024 guard gemm=2 intact)" "0 2 of 2"

# ---- one handle, several threads ----

is "threads with a handle each" "$(played gemm=1 threads=8)" "0 801 of 801"
is "threads that share a handle take turns" "$(played gemm=1 share=8)" "0 801 of 801"
is "the same with a workspace of the program's" "$(played $given gemm=1 share=8)" "0 801 of 801"
# The plan without a workspace was made before, while one thread used the handle: none waits for it now.
export FAKE_PLAN_MS=300
is "threads that share a handle have the plan without a workspace at once" "$(played $given gemm=1 share=8)" "0 801 of 801"
is "a capture has it too" "$(played stream gemm=1 capture gemm=2 replay=1)" "0 3 of 3"
unset FAKE_PLAN_MS

# ---- one address, another context ----

is "a context at the address of an earlier one: its products are decided anew" \
    "$(played context gemm=1 renew handle gemm=3)" "0 3 of 4; passed on: 1 stream of another context"
exit "$bad"
