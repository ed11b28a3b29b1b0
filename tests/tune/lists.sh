#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lists.sh - `--sizes` reads logs and lists of other programs, and says what it leaves out. On the first OpenCL
# device.
. "$GT_SRC/tests/tune/lib.sh"
db=$TMPDIR/lists.db
log=$TMPDIR/app.log
cat >"$log" <<'EOF'
loading the model
rocblas-bench -f gemm -r f32_r --transposeA T --transposeB N -m 24 -n 16 -k 8 --lda 8 --ldb 8 --beta 0 --ldc 24
rocblas-bench -f gemm -r f32_r --transposeA T --transposeB N -m 24 -n 16 -k 8 --lda 8 --ldb 8 --beta 0 --ldc 24
rocblas-bench -f gemm -r f32_c -m 8 -n 8 -k 8
rocblas-bench -f gemm -r f32_r -m 8 -n
GemmTunableOp_float_NN,nn_8_8_8_ld_8_8_8
EOF
tune --db "$db" --family naive --effort quick --sizes "$log"
is "a log is tuned" $? 0
has "what is left out is said" "$(cat "$TMPDIR/said")" \
    "app.log: 2 problems on 3 lines; left out: 1 complex, 1 damaged (line 5: there is no K)"
is "row-major, with A and B exchanged, the frequent one once" \
    "$(sql "$db" "SELECT problem FROM subject GROUP BY problem ORDER BY problem")" \
    "f32-nn-8x8x8
f32-nt-16x24x8"

for file in "$GT_SRC"/tests/data/lists/*; do
    "$GEMMTUNE" tune --device 0 --db "$db" --sizes "$file" --dry-run >"$TMPDIR/said" 2>&1
    has "${file##*/} is read" "$(head -1 "$TMPDIR/said")" "${file##*/}: [2-9] problems on [2-9] lines"
done
"$GEMMTUNE" tune --device 0 --db "$db" --sizes "$GT_SRC/tests/data/lists/deepbench.h" --dry-run >"$TMPDIR/said" 2>&1
has "a list without types is taken as f32" "$(cat "$TMPDIR/said")" "as f32, since the list names no types"
exit "$bad"
