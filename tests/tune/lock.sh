#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lock.sh - `gemmtune lock` pins kernels, a program runs them or is refused with what has changed, and --check tells it
# line by line. On the first OpenCL device.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

example=$GT_BUILD/examples/gemm_opencl
if [ ! -x "$example" ]; then
    echo "ok - locks # SKIP not built: no CL/cl.h"
    exit 0
fi
cd "$TMPDIR" || exit 1
export GEMMTUNE_DB="$TMPDIR/tuned.db" GEMMTUNE_CACHE_DIR="$TMPDIR/images"
problem=f32-nn-512x384x256

# lock ARGUMENT...: the exit code to $code, its words to the file said
lock() {
    "$GEMMTUNE" lock --quiet "$@" >said 2>&1
    code=$?
}
# play LOCK: the example under a lock
play() {
    GEMMTUNE_LOCK=$1 "$example" >said 2>&1
    code=$?
}
# changed FROM TO: model.lock with another text, as changed.lock, and its images
changed() {
    sed "s|$1|$2|" model.lock >changed.lock
    rm -rf changed.lock.d
    [ ! -d model.lock.d ] || cp -r model.lock.d changed.lock.d
}

# ---- a lock, and the program under it ----

tune $problem --family naive --effort quick
is "a problem is tuned" $? 0
lock $problem --device 0 -o model.lock
is "it is pinned" "$code" 0
has "and said" "$(cat said)" "model.lock: 1 problem pinned on *, 0 left out"
has "with its family" "$(cat model.lock)" '"kernel": {"family": "naive"'
play model.lock
is "a program runs" "$code" 0
has "with the pinned kernel" "$(cat said)" "pinned by model.lock"
has "and is right" "$(cat said)" ": right"
lock --check model.lock
is "nothing has changed" "$code $(cat said)" "0 model.lock: 1 problem pinned by gemmtune $("$GEMMTUNE" --version |
    cut -d' ' -f2), 0 changes"

"$GEMMTUNE" verify --lock model.lock --device 0 --quiet >said 2>&1
has "verify --lock runs it against the reference" "$? $(cat said)" "0 *$problem *naive *correct *1 correct, 0 wrong, 0 failed otherwise, 0 stale"
sed 's/"key": "[^"]*"/"key": "other-0123"/' model.lock >changed.lock
"$GEMMTUNE" verify --lock changed.lock --device 0 --quiet >said 2>&1
has "verify --lock of another device: exit 7" "$? $(cat said)" "7 gemmtune: the device is *"

# ---- what has changed is said, by the library and by --check ----

refused() { # NAME SENTENCE: of changed.lock
    play changed.lock
    is "$1: the program is refused" "$code" 1
    has "$1: in a sentence" "$(cat said)" "$2"
    lock --check changed.lock
    is "$1: --check: exit 7" "$code" 7
    has "$1: --check says the same" "$(cat said)" "$2"
}
changed '"driver": "[^"]*"' '"driver": "0.1"'
refused driver "the driver has changed: it is * here, and 0.1 in the lock"
changed '"key": "[^"]*"' '"key": "other-0123"'
refused device "the device is * (*), and the lock is for * (other-0123)"
changed '"naive": "[0-9a-f]*"' "\"naive\": \"$(printf 0 | sha256sum | cut -c-64)\""
refused template "the template naive has changed: it is * here, and 5feceb66ffc8... in the lock"
changed '"source": "[0-9a-f]*"' "\"source\": \"$(printf 0 | sha256sum | cut -c-64)\""
refused source "the source has changed: it is * now, and 5feceb66ffc8... in the lock"
changed '"compiler": "[^"]*"' '"compiler": "PoCL 0.1"'
refused compiler 'the compiler has changed: it is "*" here, and "PoCL 0.1" in the lock'
changed '"workspace": 0' '"workspace": 8'
refused workspace "*: the workspace has changed: it is 0 bytes here, and 8 in the lock"

# ---- problems that are not pinned ----

changed "$problem" f32-nn-512x384x257
play changed.lock
is "a problem that is not pinned: refused" "$code" 1
has "in a sentence" "$(cat said)" "changed.lock: $problem is not pinned"
changed '"others": "refuse"' '"others": "lookup"'
sed -i "s|$problem|f32-nn-512x384x257|" changed.lock
play changed.lock
has "with others: lookup it is looked up" "$code $(cat said)" "0 *match   exact*: right"

# ---- images ----

lock $problem --device 0 -o model.lock --images
is "a lock with images" "$code" 0
image=$(sed -n 's/.*"image": "\([0-9a-f]*\)".*/\1/p' model.lock)
is "each is named by its digest" "$(cd model.lock.d && sha256sum -- *)" "$image  $image.image"
lock --check model.lock
is "which is checked" "$code" 0
GEMMTUNE_CACHE_DIR='' POCL_CACHE_DIR="$TMPDIR/pocl" play model.lock
has "a program runs without an image cache" "$code $(cat said)" "0 *pinned by model.lock*: right"
changed '"compiler": "[^"]*"' '"compiler": "PoCL 0.1"'
play changed.lock
is "another compiler is no change, where none is asked" "$code" 0
changed none none
printf x >>"changed.lock.d/$image.image"
refused image "changed.lock.d/$image.image has changed: its bytes have the digest "
rm -r changed.lock.d
refused "no image" "the pinned image cannot be opened: changed.lock.d/$image.image: "

# ---- bad files and words ----

printf '{"format": 2}' >bad.lock
play bad.lock
has "a bad file: the program is refused" "$code $(cat said)" "1 *bad.lock:1: *"
lock --check bad.lock
has "--check: exit 3" "$code $(cat said)" "3 gemmtune: bad.lock:1: *"
play nowhere.lock
has "no file" "$code $(cat said)" "1 *nowhere.lock: No such file*"
lock $problem --device 0
is "no -o: exit 2" "$code" 2
lock --check model.lock $problem
is "--check with a problem: exit 2" "$code" 2
lock $problem --device 0 -o model.lock --others maybe
has "--others maybe: exit 2" "$code $(cat said)" "2 *maybe is neither refuse nor lookup"
before=$(cat model.lock)
lock $problem --device 0 -o - --images
is "images beside no file: exit 2" "$code" 2
lock $problem --device 0 -o plain.lock
"$GEMMTUNE" lock $problem --device 0 -o - >out.lock 2>/dev/null
is "a lock to standard output" "$? $(cmp out.lock plain.lock 2>&1)$(ls -- -* 2>/dev/null)" "0 "
lock nonsense --device 0 -o model.lock
is "a bad problem: exit 3, and the lock stays" "$code $(cat model.lock)" "3 $before"
GEMMTUNE_CACHE_DIR='' lock $problem --device 0 -o model.lock
has "no image cache: exit 1" "$code $(cat said)" "1 gemmtune: no folder for the image cache can be opened"
lock $problem --device 0 -o "$TMPDIR/none/model.lock"
is "no folder: exit 1" "$code" 1
exit "$bad"
