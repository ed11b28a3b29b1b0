#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# suites.sh - tools/gpu-suites on a small suite of tests: failures, crashes and hangs that are there anyway, others that come
# with gemmtune, and some that do not come back. Its products go to the stand-in for cuBLAS.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"
packages=$GT_BUILD/python-packages blas=$GT_BUILD/tests/fake/blas13
if ! PYTHONPATH=$packages python3 -c 'import pytest' 2>/dev/null; then
    echo "ok - suites # SKIP no pytest in $packages: tools/fetch-python brings it"
    exit 0
fi
if [ -z "${GT_LONG:-}" ]; then
    echo "ok - suites # SKIP takes minutes: GT_LONG=1 runs it"
    exit 0
fi
use_fakes "suites"
if [ ! -e "$blas/libcublas.so.13" ]; then
    echo "ok - suites # SKIP not built"
    exit 0
fi
cd "$GT_SRC" || exit 1
export PYTHONPATH="$packages" PYTHONDONTWRITEBYTECODE=1 FAKE_BLAS=silent FAKE_CUDA_DEVICE=h200 FAKE_CUDA_TIME=model
suite=$TMPDIR/suite out=$TMPDIR/out
mkdir "$suite"
export MARK="$TMPDIR/mark" CUBLAS="$blas/libcublas.so.13"
cat >"$suite/test_products.py" <<'END'
import ctypes, os, signal, time
import pytest

with_us = "GEMMTUNE_EXEC" in os.environ
how = os.environ.get("GEMMTUNE_EXEC", "").split(":")[0]


@pytest.mark.parametrize("m", range(1, 13))
def test_product(m):
    blas, handle = ctypes.CDLL(os.environ["CUBLAS"]), ctypes.c_void_p()
    assert blas.cublasCreate_v2(ctypes.byref(handle)) == 0
    one, data = ctypes.c_float(1), (ctypes.c_float * 400)()
    assert blas.cublasSgemm_v2(handle, 0, 0, m, 7, 9, ctypes.byref(one), data, 20, data, 20,
                               ctypes.byref(one), data, 20) == 0


def test_skipped():
    pytest.skip("always")


def test_fails():
    assert 1 == 2


def test_crashes():
    os.kill(os.getpid(), signal.SIGSEGV)


def test_hangs():
    time.sleep(3000)


def test_fails_under_check():
    assert how != "check", "a sentence that says why"


def test_crashes_under_exec():
    if how == "serve":
        os.kill(os.getpid(), signal.SIGSEGV)


def test_skipped_with_us():
    if with_us:
        pytest.skip("not with us")


def test_fails_once():
    if how == "check" and not os.path.exists(os.environ["MARK"]):
        open(os.environ["MARK"], "w").close()
        assert False


def test_better_with_us():
    assert with_us
END
echo 'import nothing_of_that_name' >"$suite/test_import.py"

# suites STEPS [PATH...]: what it says to $TMPDIR/said
suites() {
    steps=$1
    shift
    JOBS=2 LIMIT=120 TEST_LIMIT=6 BUDGET=6s STEPS=$steps GEMMTUNE=$GEMMTUNE tools/gpu-suites "$out" "$suite" "$@" >"$TMPDIR/said" 2>&1
    code=$?
}

# row RUN: its line of the table, with single spaces and without the seconds
row() {
    awk -v run="$1" '$1 == run && $2 ~ /^[0-9]+$/ { $10 = ""; print }' "$TMPDIR/said" | tr -s ' ' | sed 's/ $//'
}

suites "plain record check exec again"
is "exit 1: tests did worse" "$code" 1
is "without gemmtune: failures, a crash and a hang" "$(row plain)" "plain 22 16 1 3 2 22 0 0"
is "while it records" "$(row record)" "record 22 16 2 2 2 22 1 0"
is "under exec --check, where one did not fail again" "$(row check)" "check 22 14 2 4 2 22 2 1 0 of 12 calls"
case $(row exec) in "exec 22 15 2 2 3 22 2 0 0 of "*) exec=right ;; *) exec=$(row exec) ;; esac
is "under exec" "$exec" right
is "the names of those that did worse" "$(grep '^[a-z]*: [a-z]*: ' "$TMPDIR/said" | sort)" \
    "check: failed: test_products.py::test_fails_under_check: AssertionError: a sentence that says why
check: skipped: test_products.py::test_skipped_with_us: Skipped: not with us
exec: crashed: test_products.py::test_crashes_under_exec: exit -11
exec: skipped: test_products.py::test_skipped_with_us: Skipped: not with us
record: skipped: test_products.py::test_skipped_with_us: Skipped: not with us"
is "products of all processes are recorded" "$(grep -c '"f32-nn-7x' "$out/recorded.json")" 12

suites "plain"
is "a second time no test is run" "$(cat "$out"/plain/*.jsonl | grep -c begun)" "21"

echo "gemmtune: 3 of 5 GEMM calls checked, 3 compared, 1 wrong (f32-nn-8x8x8); passed on: 2 capture" >>"$out/exec/part-1.log"
suites ""
has "a wrong product" "$(cat "$TMPDIR/said")" "exec: checked: wrong results: 3 of "*" calls, 3 compared, 1 wrong"

names() {
    sed -n 's/.*"begun": "\(.*\)".*/\1/p' "$out"/plain/*.jsonl | sort
}
out=$TMPDIR/all suites plain test_products.py
is "without a run beside it: exit 0" "$code" 0
out=$TMPDIR/all names >"$TMPDIR/all.txt"
for i in 1 2; do
    SHARE=$i/2 out=$TMPDIR/share$i suites plain test_products.py
    out=$TMPDIR/share$i names >"$TMPDIR/share$i.txt"
done
is "two shares are all tests" "$(sort "$TMPDIR"/share[12].txt)" "$(cat "$TMPDIR/all.txt")"
[ -s "$TMPDIR/share1.txt" ] && [ -s "$TMPDIR/share2.txt" ]
is "none of them is empty" $? 0

# ---- what cannot be run ----

out=$TMPDIR/none suites plain not_there.py
is "no tests: exit 1" "$code" 1
has "and a sentence" "$(cat "$TMPDIR/said")" "suites: no test was run; $TMPDIR/none/plain/part-1.log says why"
SHARE=2 out=$TMPDIR/none suites plain
has "a share that is none" "$(cat "$TMPDIR/said")" "a share is I/N"
echo 'raise ImportError' >"$TMPDIR/pytest.py"
PYTHONPATH=$TMPDIR suites plain
is "no pytest: exit 2 and one sentence" "$code $(cat "$TMPDIR/said")" \
    "2 gpu-suites: python3 has no pytest: name a folder that has it in PYTHONPATH"
exit "$bad"
