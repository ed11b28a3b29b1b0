#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# remainder.sh - f64 by residues on the software GPU: data with wide exponents, infinities and
# NaNs keep the bound of f64, and broken kernels do not. GT_LONG=1: on more devices.
. "$GT_SRC/tests/tune/lib.sh"

use_software_gpu
mma="ENGINE=0 CLUSTER=1 MODULI=15 BM=64 BN=64 BK=64 WM=32 WN=32 STAGES=3 GROUP=8"
wgmma="ENGINE=1 CLUSTER=2 MODULI=14 BM=128 BN=64 BK=128 WM=64 WN=64 STAGES=4 GROUP=8"

# hard DEVICE PROBLEM [FAMILY FOLDER]: the kinds of data that the kernel fails.
hard() {
    FAKE_CUDA_DEVICE=$1 "$GT_BUILD/tests/device/hard_data" "$2" "${3:-remainder}" "$point" \
        ${4:+"$4"} >"$TMPDIR/out" 2>&1
    is "$2 on $1 has results for all kinds of data" "$(grep -c ' wrong$' "$TMPDIR/out")" 12
    failed=$(sed -n 's/^FAILED \(.*\): .*/\1/p' "$TMPDIR/out" | tr '\n' ';')
}

# right DEVICE PROBLEM
right() {
    is_mine || return 0
    hard "$1" "$2"
    is "$2 on $1 keeps the bound" "$failed" ""
}
point=$wgmma
right h200 f64@residues-nt-129x66x200
point=$mma
right h200 f64@residues-nn-65x66x70
right t4 f64@residues-tt-66x65x130

# mutant FROM TO: a copy of the family with FROM replaced by TO in its sources.
mutant() {
    rm -rf "$TMPDIR/own/mutant"
    mkdir -p "$TMPDIR/own/mutant"
    for file in "$GT_SRC"/templates/remainder/*; do
        case $file in
        *.json) edit='s/"family": "remainder"/"family": "mutant"/' ;;
        *) edit="s/$1/$2/" ;;
        esac
        sed "$edit" "$file" >"$TMPDIR/own/mutant/${file##*/}"
    done
    diff -q -x space.json "$GT_SRC/templates/remainder" "$TMPDIR/own/mutant" >"$TMPDIR/out" &&
        is "mutant '$1'" unchanged changed
}

# Two blocks have four tiles each, so finishers work beside the products of the next tile.
if is_mine; then
    mutant '^enum {$' 'enum { FEW_BLOCKS = 1,'
    sed -i 's/UNITS/2/' "$TMPDIR/own/mutant/space.json"
    point=$wgmma
    hard h200 f64@residues-nn-200x210x70 mutant "$TMPDIR/own"
    is "blocks with many tiles keep the bound" "$failed" ""
    point=$mma
fi

# stored FROM TO: what a trial says (refused: wrong or crashed) of two blocks with an
# epilogue. Finishers, workers (the last tile) and the fall-back store its elements.
stored() {
    mutant "$1" "$2"
    sed -i 's/UNITS/2/' "$TMPDIR/own/mutant/space.json"
    FAKE_CUDA_DEVICE=h200 "$GEMMTUNE" trial 'f64@residues-nn-200x210x70,beta,epi=row_bias_residual' --device 0 \
        --untimed --timeout 500s --templates "$TMPDIR/own" --family mutant --point "$wgmma" 2>&1 |
        sed -n 's/^outcome  *\([a-z_]*\).*/\1/p' | sed 's/wrong_result\|crashed/refused/'
}
if is_mine; then
    is "elements with an epilogue are right, whoever stores them" \
        "$(stored '^enum {$' 'enum { FEW_BLOCKS = 1,')" correct
    is "finishers that store for another row are noticed" \
        "$(stored 'of), of GT_PLACE(gt_i' 'of), of GT_PLACE(gt_i + 1')" refused
    is "and workers" "$(stored 'finish(b, to, p, t GT_PLACE(gt_i' 'finish(b, to, p, t GT_PLACE(gt_i + 1')" refused
    is "tiles that are all given up are right" "$(stored 'return trusted;' 'return 0;')" correct
    is "and the fall-back is checked" \
        "$(stored 'return trusted;' 'return 0;/;s/beta GT_PLACE(row, col)/beta GT_PLACE(row + 1, col)')" refused
fi

# refused FROM TO: trials of the mutant find a wrong result.
refused() {
    is_mine || return 0
    mutant "$1" "$2"
    "$GEMMTUNE" trial f64@residues-nn-65x66x70 --device 0 --untimed --timeout 500s \
        --templates "$TMPDIR/own" --family mutant --point "$point" >"$TMPDIR/out" 2>&1
    has "a trial refuses '$2' for '$1'" "$(cat "$TMPDIR/out")" wrong_result
}
refused 'WORKERS), acc, d)' 'WORKERS), acc, b->tables->divisor[1])'
refused 'value\[i\] = gt_residue(r, raised\[i\])' 'value[i] = gt_residue(r, raised[i] ^ (l == 3))'

# Without the fall-back.
refused 'word = 1' 'word = 0'

# The sums that need no fall-back are right when it computes nothing.
if is_mine; then
    mutant 'MARK_AT(row0 \/ BM \* tiles_n + col0 \/ BN) == 0' \
        'MARK_AT(row0 \/ BM * tiles_n + col0 \/ BN) >= 0'
    hard h200 f64@residues-nn-65x66x70 mutant "$TMPDIR/own"
    is "the fall-back runs for hard data only" "$failed" \
        "wide exponents;greatest by tiny;infinities;infinities by infinities;NaN;"
fi
if [ -n "${GT_LONG:-}" ]; then
    right a100 f64@residues-nt-33x129x200
    right l40s f64@residues-tn-129x20x64
fi
exit "$bad"
