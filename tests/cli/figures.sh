#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# figures.sh - `gemmtune figures`: sums, lines and a picture of what `bench --json` wrote (tests/data/figures, from
# the fake driver), bad files, and whether README.md and docs/ have what `make figures` makes.
. "${GT_SRC:-.}/tests/cli/lib.sh"
GT_SRC=$(cd "$GT_SRC" && pwd)
case $GEMMTUNE in /*) ;; *) GEMMTUNE=$PWD/$GEMMTUNE ;; esac
data=$GT_SRC/tests/data/figures
cd "$work" || exit 1

# ---- sums ----

sed -e 's/"verdict": "loss"/"verdict": "tie"/;t' "$data/toy-products.json" |
    sed '/f32-nt-7x33x500/s/"tie"/"noisy"/; /f32-tn-64x64x64/s/"tie"/"loss"/' >products.json
cp "$data/toy-batches.json" batches.json
expect "sums of two files" 0 '^f32 batches  *2  *[0-9.]*  *2  *0  *0  ' figures products.json batches.json
grep -q 'GTX 1050, driver CUDA 13.0, NVRTC 12.9, gemmtune [0-9.]* beside cuBLAS 13.1.0, cublasLt 13.1.0\. ' out
verdict "the conditions: device, versions, libraries" $?
tr '\n' ' ' <out | grep -q 'Not among the problems: 1 too noisy for a verdict, 1 without a kernel of the others\. '
verdict "lines that are not counted are told" $?
[ "$(grep -c '^    gemmtune bench f' out)" -eq 2 ]
verdict "the command of each file" $?
# The same out of the files, without the program: lines with a verdict, and not a noisy one.
wanted=$(sed -n 's/.*"problem": "\(f32\)-[^,]*", .*"ratio": \([0-9.]*\), .*"verdict": "\(tie\|loss\|win\)".*/\1 \2/p' products.json |
    awk '{ n++; logs += log($2); if (!least || $2 < least) least = $2 } END { printf "%d %.3f %.3f", n, exp(logs / n), least }')
try figures products.json batches.json --csv
tr -d '\r' <out >sums.csv
found=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["group"] == "f32" { printf "%d %.3f %.3f", $at["problems"], $at["geomean"], $at["worst"] }' sums.csv)
[ "$found" = "$wanted" ]
verdict "problems, mean and worst of f32: $found" $?
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { if ($at["wins"] + $at["ties"] + $at["losses"] != $at["problems"]) bad = 1; ties += $at["ties"]; noisy += $at["noisy"] }
    END { exit bad || ties != 4 || noisy != 1 }' sums.csv
verdict "verdicts add up; a noisy line is none" $?
expect "by class of shape; batches apart" 0 '^batches  *3  ' figures --by class products.json batches.json
[ "$(grep -c '^small  *5 ' out)" -eq 1 ]
verdict "small ones" $?
expect "a table of Markdown" 0 '^| f64 | 2 | 0\.[0-9]* | 0 | 2 | 0 | 0\.[0-9]* | f64-[^ ]* |$' figures products.json --markdown
grep -q '^| --- | ---: | ' out
verdict "with its second line" $?
expect "every line, the least ratio first" 0 '^f32-tn-64x64x64  ' figures --lines products.json batches.json
[ "$(sed -n 2p out | cut -d' ' -f1)" = f32-tn-64x64x64 ] && grep -q '^i32-nn-8x8x8 .* -$' out
verdict "with the one that has no rival" $?

# ---- the picture ----

try figures products.json batches.json --svg p.svg
[ "$code" -eq 0 ] && [ "$(tail -n 1 p.svg)" = '</svg>' ]
verdict "a picture" $?
if command -v xmllint >/dev/null; then
    xmllint --noout p.svg
    verdict "well-formed" $?
elif command -v python3 >/dev/null; then
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' p.svg
    verdict "well-formed" $?
fi
grep -q '^<title>gemmtune beside cuBLAS 13.1.0, cublasLt 13.1.0 on NVIDIA GeForce GTX 1050</title>$' p.svg &&
    grep -q '^<desc>.* f32 batches: 2 problems, geometric mean [0-9.]*, 2 faster, 0 ties, 0 slower, ' p.svg
verdict "words for readers who do not see it" $?
[ "$(grep -c '^<g><title>f[^:]*: [0-9.]*, \(win\|tie\|loss\)</title>$' p.svg)" -eq 8 ] && ! grep -q noisy p.svg
verdict "a mark for each problem with a verdict, with its name and ratio" $?
# marks and their legend: wins are discs, ties squares, losses triangles
[ "$(grep -c '<circle' p.svg) $(grep -c 'points="-4,-4' p.svg) $(grep -c 'points="0,-5.5' p.svg)" = "4 5 2" ]
verdict "verdicts differ by the shape of their mark" $?
grep -q 'prefers-color-scheme:dark' p.svg && grep -q '^\.gt \[fill="#fff"\]{fill:#0d1117}' p.svg
verdict "colours for a dark page" $?
awk '/^<g><title>f32-tn-64x64x64: / { getline; match($0, /translate\([0-9.]+/); loss = substr($0, RSTART + 10, RLENGTH - 10) }
    /^<g><title>f32-nn-24x20x36: / { getline; match($0, /translate\([0-9.]+/); tie = substr($0, RSTART + 10, RLENGTH - 10) }
    />1</ && !one { match($0, /x="[0-9.]+/); one = substr($0, RSTART + 3, RLENGTH - 3) }
    END { exit !(loss > 0 && loss + 50 < tie && tie < one) }' p.svg
verdict "marks stand left of 1 by their ratio" $?

# ---- runs with --as-used ----

head='{"gemmtune": "0.3.0", "command": "gemmtune bench --as-used", "device": "d", "name": "N", "driver": "1", "compiler": "c", "workspace": 33554432, "lines": ['
used() { printf '{"problem": "%s", "baseline": %s, "baseline_is": "cuBLAS 13.10.0", "baseline_ns": 8, "none_ratio": %s, "same_ratio": %s, "any_ratio": %s, "call_ratio": %s, "same_ns": 4}' "$@"; }
{
    echo "$head"
    used f32-nn-8x8x8 '"cublas"' 0.5 2 2 2 && echo ,
    used f32-nn-9x8x8 '"cublas"' 2 0.5 8 null && echo ,
    used i32-nn-8x8x8 null null null null null
    echo ']}'
} >used.json
expect "as used: means of each way, the worst ones" 0 \
    '^f32  *2  *1\.000  *1\.000  *4\.000  *2\.000  *0\.500  *f32-nn-8x8x8  *0\.500  *f32-nn-9x8x8$' figures used.json --wide
grep -q 'beside cuBLAS 13.10.0\. Each side had a workspace of 32 MiB\.' out && grep -q '1 without a kernel of the others' out
verdict "as used: the conditions" $?
sed 's/"none_ratio": 2/"none_ratio": 0/' used.json >bad.json
expect "as used: a ratio of 0" 3 'bad.json:3: /lines/1: a ratio that is not above 0' figures bad.json
sed 's/"device": "[^"]*"/"device": "d"/; s/"name": "[^"]*"/"name": "N"/; s/"driver": "[^"]*"/"driver": "1"/; s/"compiler": "[^"]*"/"compiler": "c"/; s/"gemmtune": "[^"]*"/"gemmtune": "0.3.0"/' batches.json >plain.json
expect "as used: not together with other runs" 3 'plain.json:1: .*a run without --as-used, and used.json is with it' figures used.json plain.json

# ---- what is refused ----

expect "no file" 2 'figures: FILE is missing' figures
expect "a file that is not there" 3 'none.json: No such file' figures none.json
expect "another kind of file" 3 'demo.json:.*lines' figures "$GT_SRC/configs/demo.json"
expect "a problem twice" 3 'toy-products.json:.*/lines/0: f32-nn-24x20x36 is in products.json already' figures products.json "$data/toy-products.json"
sed 's/GTX 1050/GTX 1080/; s/"device": "[^"]*"/"device": "other"/' batches.json >other.json
expect "another device" 3 'other.json:1: .*device other; in products.json it is ' figures products.json other.json
sed 's/"gemmtune": "[^"]*"/"gemmtune": "9.9.9"/' batches.json >newer.json
expect "another version" 3 'newer.json:1: .*gemmtune 9.9.9; ' figures products.json newer.json
sed 's/"gemmtune"/"workspace": 33554432, "gemmtune"/' batches.json >limited.json
expect "another workspace" 3 'limited.json:1: .*another workspace' figures products.json limited.json
expect "a limited workspace" 0 'Each side had a workspace of 32 MiB\.' figures limited.json
sed 's/"gemmtune"/"workspace": 0, "gemmtune"/' batches.json >limited.json
expect "none" 0 'No side had a workspace\.' figures limited.json
sed 's/"gemmtune"/"workspace": null, "gemmtune"/' batches.json >limited.json
expect "one that grows" 0 'Each side had a workspace of twice the matrices, and at least 64 MiB\.' figures limited.json
sed 's/"verdict": "win"/"verdict": "victory"/' batches.json >bad.json
expect "a verdict that is none" 3 "bad.json:2: /lines/0/verdict: no verdict: 'victory'" figures bad.json
sed 's/"ratio": [0-9.]*/"ratio": null/' batches.json >bad.json
expect "a verdict without a ratio" 3 'bad.json:2: /lines/0: a verdict without times' figures bad.json
sed 's/"verdict": "[a-z]*"/"verdict": null/' batches.json >none.json
expect "nothing to draw" 1 'n.svg: no line has a verdict' figures none.json --svg n.svg
expect "a picture that cannot be" 1 'no/p.svg: No such file' figures products.json --svg no/p.svg
expect "--markdown with --csv" 2 'excludes' figures products.json --markdown --csv
expect "--by nothing" 2 "'size': neither type nor class" figures products.json --by size

# ---- pages ----

# pages ROOT: an empty tree with the pages' marks
pages() {
    mkdir -p "$1/docs"
    printf 'above\n<!-- figures: summary -->\nold\n<!-- end of figures -->\nbelow\n' >"$1/README.md"
    printf '<!-- figures: types -->\n<!-- end of figures -->\n<!-- figures: used -->\n<!-- end of figures -->\n<!-- figures: classes -->\n<!-- end of figures -->\n' >"$1/docs/performance.md"
}
export GEMMTUNE
mkdir results
cp products.json results/h200-a.json
cp batches.json results/h200-b.json
cp used.json results/used-h200-a.json
pages tree
FIGURES=$work/results "$GT_SRC/tools/figures" tree >out 2>err
code=$?
[ "$code" -eq 0 ] && grep -q '^| f32 | f64 | batches |$' tree/README.md && ! grep -q old tree/README.md &&
    [ "$(sed -n '1p;$p' tree/README.md | tr '\n' ' ')" = 'above below ' ] &&
    grep -q '^gemmtune is slower on 1 of the 8 problems\.$' tree/README.md
verdict "tools/figures fills the README" $?
grep -q '^| f64 batches | 1 | ' tree/docs/performance.md && grep -q '^| batches | 3 | ' tree/docs/performance.md &&
    grep -q '^| f32-nn-8x8x8,batch=5 | ' tree/docs/figures/README.md && grep -q '^</svg>$' tree/docs/pictures/h200.svg
verdict "and the page, the lines and the picture" $?
grep -q '^| f32 | 2 | 1\.000 | ' tree/docs/performance.md
verdict "and the table of runs with --as-used" $?
cp -r tree again
FIGURES=$work/results "$GT_SRC/tools/figures" again >out 2>err && diff -r tree again >out
verdict "and a second time the same" $?
mkdir none
FIGURES=$work/none "$GT_SRC/tools/figures" again >out 2>err && ! grep -q f32 again/README.md && grep -q below again/README.md
verdict "without results nothing stands there" $?

mkdir -p now/docs
cp "$GT_SRC/README.md" now
cp "$GT_SRC/docs/performance.md" now/docs
"$GT_SRC/tools/figures" now >out 2>err
code=$?
: >out
for page in README.md docs/performance.md docs/figures/README.md docs/pictures/h200.svg; do
    if [ -e "now/$page" ] || [ -e "$GT_SRC/$page" ]; then
        diff "$GT_SRC/$page" "now/$page" >>out 2>&1
    fi
done
[ "$code" -eq 0 ] && [ ! -s out ]
verdict "README.md and docs/ have what make figures makes (else run it)" $?
finish
