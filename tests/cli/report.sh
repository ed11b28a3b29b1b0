#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# report.sh - `gemmtune report`: the page of an empty database, of shipped records, with runs of bench, two devices and
# a picture; hostile texts; bad input. Where a Chromium is, it loads the page, sorts, filters and opens a row.
. "${GT_SRC:-.}/tests/cli/lib.sh"
GT_SRC=$(cd "$GT_SRC" && pwd)
case $GEMMTUNE in /*) ;; *) GEMMTUNE=$PWD/$GEMMTUNE ;; esac
figures=$GT_SRC/tests/data/figures
cd "$work" || exit 1
export GEMMTUNE_DB="$work/none.db"

# same DB: the page p.html beside `list` of the database
same() {
    if ! command -v python3 >/dev/null; then
        echo "# no python3: the page's parts are not looked at"
        return 0
    fi
    "$GEMMTUNE" list --json --db "$1" >list.json 2>/dev/null
    python3 "$GT_SRC/tests/cli/report_page.py" p.html list.json ${2:+"$2"} >out
}

# ---- the command line ----

expect "a page must be named" 2 'report: -o FILE names the page' report
expect "it can be written, or nothing is done" 1 '/none/p.html: ' report -o "$work/none/p.html"
expect "a database that is not there" 6 'none.db: No such' report -o p.html --db "$work/none.db"
expect "three devices" 2 'two with a comma between' report -o p.html --device a,b,c
expect "a run of bench that is none" 3 'README.md' report -o p.html --bench "$GT_SRC/README.md"
try import "$GT_SRC/devices/h200/tuned.json" --db h200.db
expect "a device that is not there" 2 "no device 'nosuch'" report -o p.html --device nosuch --db h200.db
expect "a described device beside none" 2 '--device A,B names them' report -o p.html --device-file h200 --db h200.db
expect "a picture that is not there" 3 'none.svg' report -o p.html --picture none.svg --db h200.db
[ ! -e p.html ]
verdict "no page is left behind" $?

# ---- pages ----

try report -o p.html
[ "$code" -eq 0 ] && grep -q 'The database has no results yet' p.html
verdict "a database with nothing" $?
try report -o p.html --db h200.db --bench "$figures/toy-products.json"
[ "$code" -eq 0 ] && same h200.db
verdict "shipped records: the numbers of list" $?
[ "$(wc -c <p.html)" -lt 3000000 ]
verdict "it is smaller than 3 MB" $?
grep -q 'f32 beside cuBLAS 13.1.0, cublasLt 13.1.0: [0-9.]* times as fast' p.html && grep -q '<th scope="col" title="win, tie, loss, noisy or failed">' p.html
verdict "with the runs of bench" $?
! grep -q 'https\{0,1\}://' p.html || [ "$(grep -o 'https\{0,1\}://[^"<]*' p.html | sort -u | grep -cv w3.org)" -eq 0 ]
verdict "nothing from a network" $?
"$GEMMTUNE" report -o - --db h200.db --bench "$figures/toy-products.json" >out.html 2>/dev/null && [ ! -e ./- ] &&
    sed 's/ -o [^ ]* / -o X /' p.html >one && sed 's/ -o [^ ]* / -o X /' out.html >two && cmp -s one two
verdict "a page to standard output" $?
printf '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(3)</script></svg>' >picture.svg
try report -o p.html --db h200.db --device 'GTX 1050,GTX 1080' --picture picture.svg
[ "$code" -eq 0 ] && grep -q 'GTX 1080' p.html && grep -q '<table id="versus">' p.html && grep -q 'published' p.html
verdict "two devices that are published" $?
grep -q 'src="data:image/svg+xml;base64,PHN2' p.html && ! grep -q 'alert(3)' p.html
verdict "a picture is an image" $?

# ---- hostile texts ----

bad='</script><script>alert(1)</script><img src=x onerror=alert(2)>'
key=script-script-alert-1-script-img-src-x-onerror-alert-2-33c563e3
sed "s|\"name\": \"NVIDIA H200\"|\"name\": \"$bad\"|; s/nvidia-h200-72ac4542/$key/" "$GT_SRC/devices/h200/tuned.json" >"x<img onerror=1>.json"
try import "x<img onerror=1>.json" --db bad.db
[ "$code" -eq 0 ]
verdict "a device with a hostile name is taken" $?
try report -o p.html --db bad.db
[ "$code" -eq 0 ] && same bad.db && ! grep -q '<script>alert' p.html && ! grep -q '<img' p.html
verdict "its name and the file's stay texts" $?

# ---- in a browser ----

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || browser=
if [ -z "$browser" ]; then
    echo "ok - in a browser # SKIP no chromium"
    finish
fi

# look PAGE: dom.html and log.txt of PAGE in the browser. A browser that a signal ends (small address spaces and
# kernels without what it wants do that to it) says nothing about the page: its checks are skipped, and its last
# words are shown.
look() {
    mkdir -p profile
    HOME=$work timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$work/profile" --virtual-time-budget=5000 --enable-logging=stderr --dump-dom "file://$work/$1" \
        >dom.html 2>log.txt
    code=$?
    if [ "$code" -gt 128 ]; then
        tail -n 3 log.txt | sed 's/^/# /'
        echo "ok - $1 in a browser # SKIP $browser ended with $code"
        finish
    fi
}

try report -o p.html --db h200.db --bench "$figures/toy-products.json"
# The page forbids other scripts, so the copy that is driven has another policy.
sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//; s|</body>||; s|</html>||' p.html >driven.html
cat >>driven.html <<'END'
<script>
const said = [];
const table = document.getElementById("problems"), shown = () => [...table.tBodies[0].rows].filter(r => !r.hidden && r.className !== "detail");
said.push("rows " + shown().length);
const heads = [...table.tHead.rows[0].cells], column = heads.findIndex(h => h.textContent === "median");
heads[column].querySelector("button").click();
const times = shown().map(r => Number(r.cells[column].dataset.v));
said.push("sorted " + times.every((t, i) => i === 0 || times[i - 1] <= t));
const input = document.querySelector("input[type=search]");
input.value = "bf16-nt 4096";
input.dispatchEvent(new Event("input"));
said.push("filtered " + (shown().length > 0 && shown().every(r => /bf16-nt/.test(r.textContent) && /4096/.test(r.textContent))));
shown()[0].querySelector("button").click();
const detail = document.querySelector("tr.detail");
said.push("opened " + /Finals/.test(detail.textContent) + " " + /gemmtune show bf16-nt/.test(detail.textContent));
document.title = said.join("; ");
</script></body></html>
END
look driven.html
sed -n 's/.*<title>\(rows[^<]*\)<.*/\1/p' dom.html >out
grep -q '^rows [1-9][0-9]*; sorted true; filtered true; opened true true$' out
verdict "sorts, filters and opens a row" $?
look p.html
grep 'CONSOLE' log.txt >out
[ "$code" -eq 0 ] && ! [ -s out ] && grep -q 'aria-expanded' dom.html
verdict "under its own policy its script runs, and the console stays empty" $?
finish
