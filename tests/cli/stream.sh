#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# stream.sh - gemmtune stream: products of matrices in host memory and in .npy files, what it
# prints, what it says to bad input, and what it leaves when it is stopped or killed.
. "${GT_SRC:-.}/tests/cli/lib.sh"
case $GEMMTUNE in /*) ;; *) GEMMTUNE=$PWD/$GEMMTUNE ;; esac
cd "$work" || exit 1
# LeakSanitizer crashes when it looks for leaks while a driver's threads end. tests/device/test_host_faults.c
# counts the objects that a host product does not free.
export ASAN_OPTIONS=detect_leaks=0
export GEMMTUNE_DB="$work/none.db"

if ! "$GEMMTUNE" devices >listed 2>/dev/null; then
    echo "ok - stream # SKIP no device"
    exit 0
fi

# npy FILE DESCR ORDER SHAPE COUNT ELEMENT: COUNT times the bytes of ELEMENT, after the
# header that NumPy writes
npy() {
    {
        printf '\223NUMPY\001\000v\000%-117s\n' \
            "{'descr': '$2', 'fortran_order': $3, 'shape': $4, }"
        # shellcheck disable=SC2046,SC2059 # the format is repeated for each number
        printf "$6%.0s" $(seq "$5")
    } >"$1"
}

# is_full FILE COUNT HEX: after its header, FILE has COUNT elements of those four bytes
is_full() {
    [ "$(tail -c +129 "$1" | od -An -v -tx1 -w4 | sort -u)" = "$3" ] &&
        [ "$(wc -c <"$1")" -eq $((128 + 4 * $2)) ]
}

# field NAME: a value of the JSON in $work/out
field() {
    sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"}]*\).*/\1/p" out
}

stream() {
    name=$1 wanted=$2 pattern=$3
    shift 3
    expect "$name" "$wanted" "$pattern" stream --quiet --device 0 "$@"
}

# ---- results ----
stream "for people" 0 '^checked    correct; the largest error is 0\.[0-9]* of its bound$' \
    f32-nn-96x80x64 --cut 32x32x32 --timeline lanes.svg
grep -q '^tiles      9 of C, 32 x 32, slabs of 32; ' out; verdict "its tiles" $?
grep -q '^time       .*; forecast [^(]* ([0-9.]* [a-z]*s if all copies and products overlapped); ' out
verdict "its forecast" $?
grep -q '^copied     .* out; the link has .*/s in, .*/s out$' out; verdict "its copies" $?
grep -q '^products   .* % of the time; copies that no product hides .* %$' out
verdict "its shares" $?
grep -q '^this  *[0-9.]* [a-z]*s  [0-9.]* GFLOP/s$' out; verdict "its time" $?
grep -q '^</svg>$' lanes.svg; verdict "the timeline is whole" $?
# 9 tiles and 2 slabs: 18 products, 9 copies out, copies in, and the background
[ "$(grep -c '<rect' lanes.svg)" -ge 31 ]; verdict "the timeline has every operation" $?
grep -q 'f32-nn-96x80x64 on ' lanes.svg; verdict "the timeline has a title" $?

stream "for programs" 0 '^{.*}$' i32-nt-100x70x50,beta --cut 48x32x16 --json
[ "$(field checked)" = correct ] && [ "$(field error)" = null ]; verdict "JSON: correct" $?
[ "$(field tiles)" = 9 ] && [ "$(field tile_m)" = 48 ] && [ "$(field tile_k)" = 16 ]
verdict "JSON: tiles" $?
[ "$(field bytes_out)" = 28000 ]; verdict "JSON: C is copied out once" $?
awk -v x="$(field bytes_in)" 'BEGIN { exit !(x >= 28000 + 4 * (100 * 50 + 70 * 50)) }'
verdict "JSON: A, B and C are copied in" $?

stream "the five buffers" 0 '; 2 of A, 2 of B, 1 of C in ' \
    f32-nn-96x80x64 --order five --cut 32x32x32
stream "ordinary memory" 0 '^matrices   .* in pageable memory$' \
    f32-nn-96x80x64 --pageable --cut 32x32x32 --threads 2
stream "a limit of memory" 0 '^{.*"checked": "correct"' f32-nn-96x80x64 --memory 32KiB --json
awk -v x="$(field device_bytes)" 'BEGIN { exit !(x > 0 && x <= 32768) }'
verdict "a limit of memory is kept" $?
stream "against the device alone" 0 '^resident  *[0-9.]* .*; ours has [0-9.]* of its rate$' \
    f32-nn-96x80x64 --cut 32x32x32 --against resident,cublasxt --rounds 2
grep -q '^cublasXt   ' out; verdict "against cublasXt" $?

# ---- files ----
one='\000\000\200\077' two='\000\000\000\100' zero='\000\000\000\000'
npy a.npy '<f4' False '(64, 48)' 3072 "$one"
npy b.npy '<f4' False '(48, 40)' 1920 "$two"
stream "files" 0 '^checked    correct' f32-nn-64x40x48 --a a.npy --b b.npy --c c.npy
grep -q '^matrices   .* in mapped files$' out; verdict "files are mapped" $?
is_full c.npy 2560 ' 00 00 c0 42'; verdict "64 x 40 elements of 96" $?
[ "$(head -c 128 c.npy | tail -c +11 | sed 's/ *$//')" = \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (64, 40), }" ]
verdict "a header that NumPy reads" $?
stream "a C that is there" 0 '^checked    correct' \
    f32-nn-64x40x48,beta --a a.npy --b b.npy --c c.npy
is_full c.npy 2560 ' 00 00 40 43'; verdict "96 and 96" $?
stream "alpha and beta" 0 '^problem    f32-nn-64x40x48,beta$' \
    f32-nn-64x40x48 --a a.npy --b b.npy --c c.npy --alpha -2 --beta=0.5
is_full c.npy 2560 ' 00 00 c0 c2'; verdict "half of 192 less 192" $?
stream "a beta of 0 does not read C" 0 '^problem    f32-nn-64x40x48$' \
    f32-nn-64x40x48,beta --a a.npy --b b.npy --c new_c.npy --beta 0
is_full new_c.npy 2560 ' 00 00 c0 42'; verdict "96" $?
stream "factors of integers" 0 '"checked": "correct"' i32-nn-40x50x60 --alpha -3 --beta 7 --json
stream "a factor that is no integer" 2 "^*--alpha 0.5: it is of type i32" \
    i32-nn-8x8x8 --alpha 0.5
stream "a factor that f32 has not" 2 "^*--beta 1e+60: it is of type f32" f32-nn-8x8x8 --beta 1e60
stream "a factor that f32 makes 0" 2 "^*--alpha 1e-60: it is of type f32" f32-nn-8x8x8 --alpha 1e-60
stream "a factor as f32 rounds it" 0 '^factors    alpha 0.100000001, beta 0.5$' \
    f32-nn-8x8x8 --alpha 0.1 --beta 0.5
stream "and for programs" 0 '"alpha": 0.100000001, "beta": 0.5' \
    f32-nn-8x8x8 --alpha 0.1 --beta 0.5 --json
stream "an alpha of 0" 0 '^time       .*; forecast [0-9.]* [mun]s ' f32-nn-64x40x48 --alpha 0
! grep -q 'GFLOP' out; verdict "computes no products" $?
stream "an alpha of 0 and a beta" 0 '"checked": "correct"' f32-nn-64x40x48 --alpha 0 --beta 2 --json
awk -v x="$(field forecast_seconds)" 'BEGIN { exit !(x > 0 && x < 1) }'
verdict "an alpha of 0 and a beta: forecast" $?
stream "nothing to compute" 0 '^tiles      none: there is nothing to compute, C stays as it is$' \
    f32-nn-64x40x48 --alpha 0 --beta 1
! grep -q 'nan\|GFLOP\|^time' out; verdict "nothing to compute: no times" $?
stream "nothing to compute, for programs" 0 '"slab": null, "match": null, "kernel": null, ' \
    f32-nn-64x40x48 --alpha 0 --beta 1 --json
stream "a factor that is no number" 2 "--beta needs a number such as 2, -0.5 or 1e-3, not 'nan'" \
    f32-nn-8x8x8 --beta nan
expect "no problem, but files" 0 '^problem    f32-nn-64x40x48$' \
    stream --quiet --device 0 --a a.npy --b b.npy
stream "no problem and one file" 2 'stream: name a problem, or give both --a and --b' --a a.npy
stream "files without a product" 3 \
    'a.npy is f32, 64 x 48, and a.npy is f32, 64 x 48: they have no product' --a a.npy --b a.npy
# ---- results that are not finite ----
{
    head -c $((128 + 4 * 48)) a.npy
    printf '\000\000\300\177\000\000\200\177' # NaN and infinity, in the second row
    tail -c +$((128 + 4 * 48 + 8 + 1)) a.npy
} >nan_a.npy
stream "NaN and infinity in A" 0 '^checked    correct' \
    f32-nn-64x40x48 --a nan_a.npy --b b.npy --c nan_c.npy
[ "$(tail -c +$((129 + 4 * 40)) nan_c.npy | head -c 160 | od -An -v -tf4 -w4 | tr -d ' -' | sort -u)" = nan ]
verdict "make a row of C that is NaN" $?
[ "$(tail -c +$((129 + 4 * 80)) nan_c.npy | od -An -v -tx1 -w4 | sort -u)" = ' 00 00 c0 42' ]
verdict "and nothing else" $?
stream "a product that overflows f16" 0 '^checked    correct' \
    f16-nn-8x8x8 --alpha 1e5 --beta 70000

chmod 600 c.npy
ln -s c.npy c_link.npy
stream "a C behind a link" 0 '^checked    correct' f32-nn-64x40x48 --a a.npy --b b.npy --c c_link.npy
[ -L c_link.npy ] && is_full c.npy 2560 ' 00 00 c0 42' && [ "$(stat -c %a c.npy)" = 600 ]
verdict "is written, and keeps its permissions" $?
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w c.npy
    stream "read-only" 3 'c.npy: Permission denied' f32-nn-64x40x48 --c c.npy
    chmod u+w c.npy
fi

stream "two files" 0 '^matrices   .*; A and C in mapped files, B in pinned memory$' \
    f32-nn-64x40x48 --a a.npy --c random.npy
stream "one file" 0 '^matrices   .*; B in mapped files, A and C in pageable memory$' \
    f32-nn-64x40x48 --b b.npy --pageable

# ---- bad files ----
cp c.npy kept.npy
npy fortran.npy '<f4' True '(64, 48)' 3072 "$one"
npy double.npy '<f8' False '(64, 48)' 6144 "$zero"
npy big.npy '>f4' False '(64, 48)' 3072 "$one"
npy short.npy '<f4' False '(64, 48)' 3071 "$one"
npy cube.npy '<f4' False '(64, 48, 1)' 3072 "$one"
npy square.npy '<f4' False '(64, 64)' 4096 "$one"
printf '1,2,3\n' >text.npy
: >empty.npy
bad_a() { # NAME PATTERN FILE
    stream "$1" 3 "$2" f32-nn-64x40x48 --a "$3" --b b.npy --c new.npy
}
bad_a "Fortran order" 'fortran.npy is in Fortran order: ' fortran.npy
bad_a "another type" "double.npy holds '<f8', the problem wants '<f4'" double.npy
bad_a "another byte order" "big.npy holds '>f4', the problem wants '<f4'" big.npy
bad_a "too short" 'short.npy is too short: 12284 bytes of elements where 12288 belong' short.npy
bad_a "three dimensions" 'cube.npy holds an array of shape (64, 48, 1), not a matrix' cube.npy
bad_a "another shape" 'square.npy is 64 x 64, the problem wants 64 x 48' square.npy
bad_a "not a .npy file" 'text.npy is not a .npy file' text.npy
bad_a "an empty file" 'empty.npy is not a .npy file' empty.npy
bad_a "no file" 'none.npy: No such file or directory' none.npy
bad_a "a folder" '/ is not an ordinary file' /
stream "no folder for C" 3 'no/c.npy: No such file or directory' f32-nn-64x40x48 --c no/c.npy
stream "an old C that is not there" 3 'none.npy: No such file' f32-nn-8x8x8,beta --c none.npy
stream "a C of another shape" 3 'a.npy is 64 x 48, the problem wants 64 x 40' \
    f32-nn-64x40x48 --c a.npy
ln -s square.npy link.npy
cp square.npy square.old
stream "C is A" 3 'C overlaps an input: square.npy and square.npy are the same file' \
    f32-nn-64x64x64 --a square.npy --c square.npy
stream "C is B by another name" 3 'C overlaps an input: square.npy and link.npy are the same' \
    f32-nn-64x64x64 --b link.npy --c square.npy
cmp -s square.npy square.old; verdict "and is as it was" $?
stream "A may be B" 0 '^checked    correct' f32-nn-64x64x64 --a square.npy --b link.npy
stream "no such type in files" 3 'a .npy file cannot hold bf16' bf16-nn-64x40x48 --a a.npy
stream "rows with gaps" 2 'a.npy: rows of a .npy file have no gaps' \
    f32-nn-64x40x48,lda=50 --a a.npy
stream "a file of results and rounds" 2 '^*--c keeps the first product' \
    f32-nn-64x40x48 --c c.npy --rounds 2
stream "too little memory for files" 3 'of 100 bytes, 12 are kept for workspace: .* need 5120' \
    f32-nn-64x40x48 --memory 100 --a a.npy --b b.npy --c new.npy
stream "and for a C that is there" 3 'need 5120 bytes' f32-nn-64x40x48 --memory 100 --c c.npy
[ ! -e new.npy ]; verdict "no failure leaves a new file" $?
cmp -s c.npy kept.npy; verdict "no failure touches an old one" $?

# ---- other bad input ----
stream "too little memory" 2 'need 5120 bytes of device memory, and there are 88' \
    f32-nn-64x40x48 --memory 100
stream "tiles that do not fit" 2 '32 x 32 x 32, need 20480 bytes of device memory' \
    f32-nn-64x40x48 --memory 16KiB --cut 32x32x32
stream "no size" 2 "needs a size such as 8GiB, 500MB or 4096, not 'much'" f32-nn-8x8x8 --memory much
stream "more than the host's memory" 1 'the matrices take 8598528.5 GB of host memory, and ' \
    f32-nn-2147483647x1000000x1000
stream "no cut" 2 '--cut 3x4: give it as 8192x8192x4096' f32-nn-8x8x8 --cut 3x4
stream "a cut of nothing" 2 '--cut 0x4x4' f32-nn-8x8x8 --cut 0x4x4
stream "no order" 2 '--order six: choose one of planned and five' f32-nn-8x8x8 --order six
stream "no contestant" 2 '--against cublas: choose one of resident and cublasxt' \
    f32-nn-8x8x8 --against cublas
stream "a device twice" 2 'is named twice' f32-nn-8x8x8 --device 0
stream "an empty product" 3 'is an empty product' f32-nn-8x0x8
stream "a batch" 3 'is a single product, not a batch' f32-nn-8x8x8,batch=3
expect "no device of that number" 2 "device '77' does not exist" stream f32-nn-8x8x8 --device 77

# ---- a timeline that cannot be written: said before the product begins ----
mkdir folder
stream "no folder for the timeline" 1 'no/lanes.svg: No such file or directory$' \
    f32-nn-64x40x48 --a a.npy --b b.npy --c unmade.npy --timeline no/lanes.svg
stream "a folder as the timeline" 1 'folder: Is a directory$' \
    f32-nn-64x40x48 --a a.npy --b b.npy --c unmade.npy --timeline folder
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w lanes.svg
    stream "a read-only timeline" 1 'lanes.svg: Permission denied$' \
        f32-nn-64x40x48 --a a.npy --b b.npy --c unmade.npy --timeline lanes.svg
fi
[ ! -e unmade.npy ]; verdict "no product was begun" $?
stream "a product that fails" 3 'need 5120 bytes' \
    f32-nn-64x40x48 --memory 100 --a a.npy --b b.npy --timeline fresh.svg
[ ! -e fresh.svg ]; verdict "and leaves no timeline" $?
ln -s later.svg link.svg
stream "a timeline behind a link" 0 '^checked    correct' f32-nn-8x8x8 --timeline link.svg
grep -q '^</svg>$' later.svg; verdict "is written" $?

# ---- C appears whole or not at all ----
# Nothing but C, and no part of it.
gone() {
    [ ! -e big_c.npy ] && [ ! -e big_c.npy.gemmtune-part ]
}

# start ARG...: a product that takes long, to big_c.npy, under way: the first element of C shows
# that the first tile is complete; thousands are left. Its number is in $running.
start() {
    "$GEMMTUNE" stream f32-nn-3000x3000x64 --device 0 --quiet --cut 48x48x64 --c big_c.npy "$@" \
        >out 2>err &
    running=$!
    for _ in $(seq 600); do
        [ ! -s big_c.npy.gemmtune-part ] ||
            [ "$(od -An -tx1 -j128 -N4 big_c.npy.gemmtune-part)" = ' 00 00 00 00' ] || break
        sleep 0.05
    done
}

# ended NAME CODE: the product that was started ends so, with one sentence
ended() {
    wait "$running"
    code=$?
    [ "$code" -eq "$2" ] && [ "$(wc -l <err)" -eq 1 ]; verdict "$1: exit status" $?
}

for each in INT:130 TERM:143 HUP:129; do
    name=${each%:*}
    start
    kill -"$name" "$running"
    ended "SIG$name" "${each#*:}"
    grep -q '^gemmtune: stopped.*; [1-9][0-9]* of 3969 tiles of C are complete; no C was written$' err
    verdict "SIG$name: how many tiles were complete" $?
    gone; verdict "SIG$name: nothing is left" $?
done

npy big_c.npy '<f4' False '(3000, 3000)' 1 "$one"
truncate -s $((128 + 4 * 3000 * 3000)) big_c.npy
cp big_c.npy before.npy
start
kill -TERM "$running"
ended "a C that is there" 143
grep -q '; big_c.npy is as it was$' err && cmp -s big_c.npy before.npy
verdict "a C that is there: is as it was" $?
rm big_c.npy before.npy

start
stream "two products into one file" 3 'big_c.npy: another process is writing it' \
    f32-nn-3000x3000x64 --c big_c.npy
kill -KILL "$running"
wait "$running" 2>/dev/null
[ ! -e big_c.npy ] && [ -e big_c.npy.gemmtune-part ]; verdict "SIGKILL leaves a part that is called so" $?
try stream --quiet --device 0 f32-nn-64x40x48 --a a.npy --b b.npy --c big_c.npy
[ "$code" -eq 0 ] && [ "$(wc -l <err)" -eq 1 ] &&
    grep -q 'big_c.npy.gemmtune-part was left by a process that was killed: removed$' err
verdict "the next one says so" $?
is_full big_c.npy 2560 ' 00 00 c0 42' && [ ! -e big_c.npy.gemmtune-part ]
verdict "and takes its place" $?
rm big_c.npy

npy whole_a.npy '<f4' False '(3000, 64)' 192000 "$one"
for name in big_a.npy big_c.npy.gemmtune-part; do
    cp whole_a.npy big_a.npy
    start --a big_a.npy
    truncate -s 4096 "$name"
    ended "cut while it is mapped, $name" 3
    grep -q "^gemmtune: ${name%.gemmtune-part} was cut short while it was in use$" err
    verdict "cut while it is mapped, $name: said" $?
    gone; verdict "cut while it is mapped, $name: nothing is left" $?
done

# ---- two devices ----
if [ -z "${POCL_DEVICES:-}" ] && grep -q PoCL listed && ! grep -q cuda listed; then
    export POCL_DEVICES="basic basic"
    expect "two devices" 0 '"devices": 2, .*"checked": "correct"' \
        stream f32-nn-96x80x64 --cut 32x32x32 --device all --json --timeline two.svg
    [ "$(field tiles)" = 9 ]; verdict "two devices: tiles" $?
    grep -q '1: ' two.svg; verdict "two devices: lanes of both" $?
    expect "two devices by number" 0 '"devices": 2, ' \
        stream f32-nn-96x80x64 --cut 32x32x32 --devices 0,1 --json
else
    echo "ok - two devices # SKIP there are others than those of PoCL"
fi
finish
