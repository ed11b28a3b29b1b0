#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: nvrtc
# restamp.sh - tools/restamp gives records the new hash of their family where a change of templates leaves its
# kernels as they are, and refuses a change of one instruction or of a launch. Four records of three families.
. "$GT_SRC/tests/tune/lib.sh"

export GEMMTUNE_CACHE_DIR="$TMPDIR/cache"
records=$TMPDIR/records.json new=$TMPDIR/templates
# The first records of these families; the last record of the list has no comma.
awk '
    /^      \{"family": / {
        if ($2 !~ /^"(naive|tile|tma)",$/ || seen[$2]++ > ($2 ~ /naive/)) next
        sub(/,$/, "")
        if (n++) print line ","
        line = $0
        next
    }
    line != "" { print line; line = "" }
    { print }' "$GT_SRC/devices/h200/tuned.json" >"$TMPDIR/first.json"

# mutant: the templates and the records as they are
mutant() {
    rm -rf "$new"
    cp -r "$GT_SRC/templates" "$new"
    cp "$TMPDIR/first.json" "$records"
}

# change FILE SCRIPT: changes a file of the mutant, which must not stay the same
change() {
    sed "$2" "$GT_SRC/templates/$1" >"$new/$1"
    if cmp -s "$GT_SRC/templates/$1" "$new/$1"; then
        is "there is something to change in $1" nothing something
    fi
}

# restamp [OPTION...]: the present templates are the old ones; $code, and $said
restamp() {
    said=$("$GT_SRC/tools/restamp" "$GT_SRC" --templates "$new" "$@" "$records" 2>&1)
    code=$?
}

# lines: of the records that a run has changed
lines() {
    diff "$TMPDIR/first.json" "$records" | grep -c '^>'
}

# compared FAMILY: the family's cells of the table: records, compared, kernels, same text, preprocessed,
# machine code, not proved, verdict
compared() {
    echo "$said" | awk -v family="$1" '$1 == family && NF > 8 { $1 = ""; print substr($0, 2) }'
}

# ---- what needs no compiler for the device ----
said=$("$GT_SRC/tools/restamp" --check 2>&1)
is "the records that are shipped belong to these templates" "exit $?, $(echo "$said" | grep -v 'are the tree.s$')" "exit 0, "

mutant
said=$("$GT_SRC/tools/restamp" --check "$records" 2>&1)
is "the hashes are the tree's" "exit $?, ${said##*: }" "exit 0, the hashes of 3 of 3 families are the tree's"

change common/dialect.h 's/Integer arithmetic of rules/Whole numbers of rules/'
restamp --write
has "a comment changes no hash" "exit $code, $(lines) lines, $said" "exit 0, 0 lines, *3 of 3 families are the tree's"

mutant
for file in "$new"/common/*.h "$new"/naive/* "$new"/tile/* "$new"/tma/*; do
    sed -i 's/GT_PASTE/GT_GLUE/g' "$file"
done
said=$("$GT_SRC/tools/restamp" --check --templates "$new" "$records" 2>&1)
has "a macro's name changes every hash" "exit $?, $said" "exit 1, *0 of 3 families are the tree's*tile: its 1 record has"
restamp
is "the preprocessor makes the same of it" "exit $code, $(lines) lines, $(compared tile)" \
    "exit 0, 0 lines, 1 1 1 0 1 0 0 same"
restamp --sample 3
has "a sample has each family" "exit $code, $(compared naive)" "exit 0, 2 1 1 0 1 0 0 same so far"
restamp --write
is "so each family gets its new hash" "exit $code, $(lines) lines" "exit 0, 3 lines"
has "and has it then" "$("$GT_SRC/tools/restamp" --check --templates "$new" "$records")" "3 of 3 families are the tree's"
cp -r "$new" "$TMPDIR/glue"
mutant
said=$("$GT_SRC/tools/restamp" "$GT_SRC" --templates "$TMPDIR/glue" "$TMPDIR/none.json" 2>&1)
has "no such file" "exit $?, $said" "exit 2, restamp: *none.json*"
sed -i '/"naive": {/s/"hash": "..../"hash": "0000/' "$records"
restamp
has "a hash that nobody has" "exit $code, $said" "exit 1, *naive: its 2 records have the hash 0000*, which is neither the old tree's"
mutant
restamp --write --sample 2
has "a sample stamps nothing" "exit $code, $said" "exit 2, *excludes --write"

mutant
change tile/tile.cl 's/PAST_EDGES/OUTSIDE/'
restamp --starts
is "starts in place of records" "exit $code, $(compared tile)" "exit 0, 5 5 5 0 5 0 0 same"

mutant
change tile/space.json 's/"smem": "SMEM"/"smem": "SMEM + 16"/'
restamp --write
has "a launch with more shared memory" "exit $code, $(lines) lines, $said" \
    "exit 1, 0 lines, *tile: the first kernel that is not proved the same: its launch was \"kernel gemm: *\" and is \"kernel gemm: "
change tile/space.json 's/"THREADS <= MAX_THREADS"/"THREADS <= 16"/'
restamp
has "a point that is gone" "exit $code, $said" "exit 1, *tile: the first kernel that is not proved the same: the new tree refuses it: "
rm -r "$new/tile"
restamp
has "a family that is gone" "exit $code, $said" "exit 1, *tile: it has 1 record, and the new tree has no such family"

# ---- what NVRTC decides ----
mutant
change tile/tile.cl 's/row < rows/row <= rows/'
change tma/tma.cu 's/for (int i = 0;/for (int i = 1 - 1;/'
restamp --write
has "one instruction differs" "exit $code, $(compared tile)" "exit 1, 1 1 1 0 0 0 1 not proved"
case $said in
*"no CUDA compiler"*)
    echo "ok - what NVRTC decides # SKIP no NVRTC: run tools/fetch-nvrtc"
    exit "$bad"
    ;;
esac
has "which one is said" "$said" "tile: the first kernel that is not proved the same: section .text.gemm differs*--show 'tile bf16-"
is "the same machine code of other text" "$(compared tma)" "1 1 1 0 0 1 0 same"
is "only its family is stamped" "$(lines)" 1
kernel=$(echo "$said" | sed -n "s/.*--show '\(.*\)'\$/\1/p")
cp "$TMPDIR/first.json" "$records"
restamp --show "$kernel" --into "$TMPDIR/both"
has "both texts are shown" "exit $code, $said" "exit 1, *-*row < rows*+*row <= rows"
is "and kept" "$(cd "$TMPDIR/both" && echo *)" "new.cu new.i new.launch old.cu old.i old.launch"
exit "$bad"
