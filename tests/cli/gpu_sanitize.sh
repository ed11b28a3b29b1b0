#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: slow
# tools/gpu-sanitize with stand-ins for compute-sanitizer and gemmtune: what it runs, in which order, and what it
# makes of what they say.
. "${GT_SRC:-.}/tests/cli/lib.sh"

cat >"$work/gemmtune" <<'END'
#!/bin/sh
echo "The point is legal" # all that is asked of it
END
# A line a run to $RUNS; counts errors for the families of $SEES, and refuses the families of $LACKS. $MEETING: the
# outcome of the family of that name.
cat >"$work/sanitizer" <<'END'
#!/bin/sh
[ "$1" = --help ] && echo "  --kernel-name-exclude arg" && exit
tool=$2
outcome() {
    case $family:" $LACKS " in
    *" $family "*) echo "outcome    constraints: too old" ;;
    meeting:*) echo "outcome    ${MEETING:-correct}" ;;
    *) echo "outcome    correct" ;;
    esac
}
for arg; do
    [ "$was" = trial ] && problem=$arg
    [ "$was" = --family ] && family=$arg
    [ "$was" = --point ] && points="$points <$arg>" && echo "$problem \"$arg\"" && outcome
    [ "$was" = --kernel-name-exclude ] && without=$arg
    was=$arg
done
[ -n "$points" ] || outcome
echo "$tool $family $problem without $without:$points" >>"$RUNS"
case " $SEES " in *" $family "*) n=3 ;; *) n=0 ;; esac
echo "========= ERROR SUMMARY: $n errors"
END
chmod +x "$work/gemmtune" "$work/sanitizer"
export RUNS="$work/runs" SEES LACKS MEETING

# sanitize SEES [TIME [FAMILIES]]
sanitize() {
    SEES=$1
    rm -f "$RUNS"
    FAMILIES=${3:-skinny tile naive} TOOLS="memcheck synccheck" JOBS=1 TIME=${2:-300} SANITIZER=$work/sanitizer \
        GEMMTUNE=$work/gemmtune "$GT_SRC/tools/gpu-sanitize" "$work/report" >"$work/out" 2>"$work/err"
    code=$?
}

missing=
for space in "$GT_SRC"/templates/*/space.json; do
    family=$(basename "$(dirname "$space")")
    ! grep -q '"cuda":.*\.c[ul]"' "$space" ||
        grep -q "^$family [a-z]" "$GT_SRC/tools/gpu-sanitize" || missing="$missing $family"
done
[ -z "$missing" ]
verdict "every family for CUDA is on the list$missing" $?

# row FAMILY TOOL: its counts
row() {
    awk -v f="$1" -v t="$2" '$1 == f && $2 == t { print $3, $4, $5, $6, $7 }' "$work/out"
}

sanitize "oob race"
[ "$code" -eq 0 ] && [ "$(row naive memcheck) $(row naive synccheck)" = "5 0 0 0 0 5 0 0 0 0" ]
verdict "nothing found: exit 0, and every default is counted" $?
starts=$(tr '\n' ' ' <"$GT_SRC/templates/tile/space.json" | sed 's/.*"starts": *\[\([^]]*\)\].*/\1/' | tr -cd '}' | wc -c)
[ "$(row tile memcheck)" = "$((5 + starts)) 0 0 0 0" ]
verdict "and every start" $?
[ "$(grep -c '' "$RUNS")" = "$(grep -c 'without kns=gt_:' "$RUNS")" ]
verdict "the kernels that check are left out" $?
head -n 2 "$RUNS" | grep -q '^memcheck oob' && ! sed -n '5,20p' "$RUNS" | grep -q '<' && grep -q '> <' "$RUNS"
verdict "those that try the tools first, then the defaults, then some starts at once" $?

sanitize "oob race" 300 multistage
[ "$(grep -c 'multistage f32-tn-35x67x51,batch=3 without kns=gt_:$' "$RUNS")" = 2 ] &&
    [ "$(grep -c 'multistage f32-tn-67x35x51,epi=bias_gelu without kns=gt_:$' "$RUNS")" = 2 ]
verdict "a default runs with a batch and with an epilogue, in the first type" $?
sanitize "oob race" 300 wgmma
grep -q 'PERSIST=1.*SWAP=1.* RS=0' "$RUNS" &&
    ! grep 'PERSIST=1' "$RUNS" | grep -q -v -E '^[a-z]+ wgmma [^ ]*-(3088x2064x272|72x17040x272|264x520x136,batch=70(,epi=[a-z_]*)?) ' &&
    grep -q 'wgmma [a-z0-9=]*-nn-264x520x136,batch=70 .*CN=2.*PERSIST=1' "$RUNS" &&
    grep -q 'wgmma [a-z0-9=]*-nn-264x520x136,batch=70,epi=bias_gelu .*PERSIST=1' "$RUNS"
verdict "blocks of wgmma that stay have more than a tile each" $?
tar -tf "$work/report/logs.tar" | grep -q 'results\.txt'
verdict "the results are among the logs" $?

sanitize "oob race tile"
[ "$code" -eq 1 ] && [ "$(row tile synccheck)" = "0 $((5 + starts)) 0 0 0" ] && [ "$(row naive memcheck)" = "5 0 0 0 0" ]
verdict "errors are told, of whom they are: exit 1" $?
sanitize "oob"
[ "$code" -eq 1 ] && grep -q '^BLIND racecheck race' "$work/out"
verdict "a tool that does not see what is broken: exit 1" $?
sanitize "oob race handover meeting"
[ "$code" -eq 0 ] && grep -q '^alarm racecheck handover' "$work/out" && grep -q '^alarm synccheck meeting' "$work/out"
verdict "what is said of correct kernels is an alarm: exit 0" $?
MEETING=crashed sanitize "oob race meeting"
[ "$code" -eq 0 ] && grep -q '^alarm synccheck meeting' "$work/out"
verdict "also where the tool ends such a kernel" $?
MEETING=wrong_result sanitize "oob race meeting"
[ "$code" -eq 1 ]
verdict "but not where its result is wrong: exit 1" $?
LACKS=handover sanitize "oob race"
[ "$code" -eq 0 ] && grep -q '^unserved racecheck handover' "$work/report/results.txt"
verdict "a device that cannot run the kernel without hazards: exit 0" $?
sanitize "oob race" 0
[ ! -e "$RUNS" ] && [ "$(row tile memcheck)" = "0 0 0 0 $((5 + starts))" ] &&
    [ "$(grep -c '^unreached' "$work/report/results.txt")" = "$(grep -c '' "$work/report/results.txt")" ]
verdict "no time: nothing is run, and said so" $?
GEMMTUNE=$work/gemmtune SANITIZER=$work/nothing "$GT_SRC/tools/gpu-sanitize" "$work/report" >"$work/out" 2>"$work/err"
code=$?
[ "$code" -eq 4 ] && grep -q 'there is no compute-sanitizer' "$work/err"
verdict "without the tool: exit 4" $?

finish
