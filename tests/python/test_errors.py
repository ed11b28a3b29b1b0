# SPDX-License-Identifier: Apache-2.0
"""What a caller gets wrong: an exception in one sentence."""

import os
import subprocess
import sys

import numpy as np
import pytest

import gemmtune as gt

pytestmark = pytest.mark.usefixtures("opencl")
A = np.ones((4, 4), "f4")


@pytest.mark.parametrize("kind, words, call", [
    ("InvalidArgument", "a is a list: gemmtune takes arrays", lambda: gt.matmul([[1]], A)),
    ("InvalidArgument", "b is a int: gemmtune takes arrays", lambda: gt.matmul(A, 3)),
    ("InvalidArgument", "has no index", lambda: gt.matmul(A, np.ones((), "f4"))),
    ("InvalidArgument", "rows of 4 elements", lambda: gt.matmul(A, A[:3])),
    ("InvalidArgument", "out is 3x4, and the product is 4x4", lambda: gt.matmul(A, A, np.ones((3, 4), "f4"))),
    ("InvalidArgument", "c is \\(3, 4\\)", lambda: gt.matmul(A, A, beta=1, c=np.ones((3, 4), "f4"))),
    ("InvalidArgument", "reads c: give c or out", lambda: gt.matmul(A, A, beta=1)),
    ("InvalidArgument", "reads c: give c or out", lambda: gt.matmul(A, A, epilogue="d=x+c")),
    ("InvalidArgument", "'bias' is no argument", lambda: gt.matmul(A, A, bias=A[0])),
    ("InvalidArgument", "needs the operand bias\\[j\\]", lambda: gt.matmul(A, A, epilogue="bias")),
    ("InvalidArgument", "no operand 'bais': its operands are bias",
     lambda: gt.matmul(A, A, epilogue="bias", bais=A[0])),
    ("InvalidArgument", "operand bias is \\(3,\\)", lambda: gt.matmul(A, A, epilogue="bias", bias=A[0, :3])),
    ("InvalidArgument", "operand bias has the type float64",
     lambda: gt.matmul(A, A, epilogue="bias", bias=A[0].astype("f8"))),
    ("InvalidArgument", "the epilogue", lambda: gt.matmul(A, A, epilogue="d=nonsense(x)")),
    ("InvalidArgument", "math 'exact': must be one of strict", lambda: gt.matmul(A, A, math="exact")),
    ("InvalidArgument", "device 'gpu': must be", lambda: gt.matmul(A, A, device="gpu")),
    ("InvalidArgument", "stream is given", lambda: gt.matmul(A, A, stream=7)),
    ("InvalidArgument", "must be a number", lambda: gt.matmul(A, A, alpha="2")),
    ("InvalidArgument", "it is an integer", lambda: gt.matmul(A.astype("i4"), A.astype("i4"), alpha=0.5)),
    ("NoDriver", "no device opencl:9", lambda: gt.matmul(A, A, device="opencl:9")),
    ("NoDriver", "no device opencl:", lambda: gt.plan(A, A, device=99)),
    ("Unsupported", "a has f32 and b has f64", lambda: gt.matmul(A, A.astype("f8"))),
    ("Unsupported", "a has the type int64", lambda: gt.matmul(A.astype("i8"), A)),
    ("Unsupported", "a has the type complex64", lambda: gt.matmul(A.astype("c8"), A)),
    ("Unsupported", "a has the type >f4", lambda: gt.matmul(A.astype(">f4"), A)),
    ("Unsupported", "the result may be f32", lambda: gt.matmul(A, A, dtype="f64")),
    ("Unsupported", "dtype 'float12'", lambda: gt.matmul(A, A, dtype="float12")),
    ("Unsupported", "the result may be f32", lambda: gt.matmul(A, A, np.ones((4, 4)))),
    ("ProgramError", "is not a data type", lambda: gt.trials("nonsense")),
    ("ProgramError", "does not exist", lambda: gt.lookup("f32-nn-4x4x4", device=99)),
])
def test_one_sentence(kind, words, call):
    with pytest.raises(getattr(gt.errors, kind), match=words) as raised:
        call()
    assert "\n" not in str(raised.value) and isinstance(raised.value, gt.errors.Error)


def test_what_cannot_be_written():
    out = np.ones((4, 4), "f4")
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        gt.matmul(A, A, out)
    gt.matmul(A, A, np.ones((4, 4), "f4"))
    with pytest.raises(ValueError, match="out is read-only"):
        gt.matmul(A, A, out)


def test_the_argument_of_the_library():
    with pytest.raises(gt.errors.InvalidArgument) as raised:
        gt.matmul(A, A, epilogue="d=")
    assert raised.value.argument == 23 and raised.value.status == -1


def run(text, **environment):
    """(exit code, last line of what it says) of another Python."""
    done = subprocess.run([sys.executable, "-c", text], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path),
                                                             **environment},
                          capture_output=True, text=True, timeout=300)
    return done.returncode, (done.stdout + done.stderr).strip().split("\n")[-1]


FORK = """
import os, numpy as np, gemmtune as gt
a = np.ones((4, 4), 'f4')
if %s: gt.matmul(a, a)
pid = os.fork()
if pid == 0:
    try:
        print(gt.matmul(a, a)[0, 0], flush=True)
    except gt.errors.DeviceError as reason:
        print(reason, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
"""


def test_fork():
    assert run(FORK % "False") == (0, "4.0")
    code, line = run(FORK % "True")
    assert code == 0 and "this process was forked" in line


def test_no_driver_at_all(tmp_path):
    nothing = str(tmp_path / "nothing.so")
    code, line = run("import numpy as np, gemmtune as gt; a = np.ones((4, 4)); gt.matmul(a, a)",
                     GEMMTUNE_LIBCUDA=nothing, GEMMTUNE_LIBOPENCL=nothing, GEMMTUNE_DEVICE="")
    assert code == 1 and line.startswith("gemmtune.errors.NoDriver: there is no device opencl:0: 0 CUDA and 0 OpenCL")


def test_no_library(tmp_path):
    code, line = run("import numpy as np, gemmtune as gt; a = np.ones((4, 4)); gt.matmul(a, a)",
                     GEMMTUNE_LIBRARY=str(tmp_path / "none.so"))
    assert code == 1 and line.startswith("gemmtune.errors.FileError: libgemmtune.so cannot be loaded")


def test_no_program(tmp_path):
    code, line = run("import gemmtune as gt; gt.devices()", GEMMTUNE_PROGRAM=str(tmp_path / "none"))
    assert code == 1 and line.startswith("gemmtune.errors.FileError: the program cannot be started")


def test_a_database_that_is_none(tmp_path):
    path = tmp_path / "text.db"
    path.write_text("this is no database, " * 100)
    gt.reload(str(path))
    try:
        with pytest.raises(gt.errors.DatabaseError, match="text.db"):
            gt.matmul(A, A)
    finally:
        gt.reload()
    assert gt.matmul(A, A)[0, 0] == 4


def test_import_needs_nothing():
    """Neither NumPy nor a driver is needed to import the package."""
    code, line = run("import sys; sys.modules['numpy'] = None; import gemmtune; print(len(gemmtune.__all__))")
    assert (code, line) == (0, str(len(gt.__all__)))


def test_nvrtc_of_pypi(tmp_path, monkeypatch):
    """Found in the folders of packages, CUDA 13's first, and named to the program."""
    from gemmtune import _library
    for inside in ("nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "nvidia/cu13/lib/libnvrtc.so.13"):
        path = tmp_path / inside
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path)])
    found = _library.nvrtc_paths()
    assert [os.path.basename(path) for path in found] == ["libnvrtc.so.13", "libnvrtc.so.12"]
    monkeypatch.delenv("GEMMTUNE_LIBNVRTC")
    assert _library.program_environment()["GEMMTUNE_LIBNVRTC"] == found[0]
    _library.load_nvrtc()   # files that are none are passed over
    monkeypatch.setenv("GEMMTUNE_LIBNVRTC", "/some/libnvrtc.so")
    assert _library.program_environment()["GEMMTUNE_LIBNVRTC"] == "/some/libnvrtc.so"
