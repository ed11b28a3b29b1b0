#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""call_cost.py - microseconds that Python takes for a call, without a GPU and without the library's part.

The arrays have torch's interface and the memory of the fake driver; the library's functions are replaced by one
that returns at once, with the same number of arguments. Needs a C compiler, and what tests/python/check.sh does:

    PYTHONPATH=build/python-packages python3 tests/python/call_cost.py
"""

import ctypes
import functools
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import conftest  # noqa: E402,F401  the environment of the tests

import numpy as np  # noqa: E402

import gemmtune as gt  # noqa: E402
from gemmtune import DeviceArray, _kinds, _layout, _library, _matmul  # noqa: E402


class Tensor:
    """What gemmtune asks of a tensor of torch."""

    __slots__ = ("shape", "_stride", "dtype", "device", "requires_grad", "memory")

    def __init__(self, array):
        self.memory = DeviceArray.of(array)
        self.shape, self._stride = self.memory.shape, self.memory.strides
        self.dtype, self.device, self.requires_grad = "float32", ("cuda", 0), False

    def stride(self):
        return self._stride

    def data_ptr(self):
        return self.memory.address


class Kind(_kinds.Torch):
    """torch's kind without torch."""

    def __init__(self):
        self.pointer, self.stream = Tensor.data_ptr, functools.partial(int, 0)

    def stream(self, index):
        return 0

    def device(self, x):
        return 0

    def word(self, x):
        return "f32"

    def view(self, x):
        return _layout.View(x.shape, x.stride())

    def maker(self, shape, word, index):
        return functools.partial(DeviceArray, shape, word, index)


def per_call(work, calls=20000, rounds=9):
    """The least mean of the rounds, in microseconds."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - began) / calls)
    return best * 1e6


def nothing(folder, arguments):
    """A function of so many pointers that returns 0, called without giving up Python's lock."""
    source, path = os.path.join(folder, "nothing.c"), os.path.join(folder, "nothing.so")
    if not os.path.exists(path):
        with open(source, "w", encoding="ascii") as file:
            file.write("int nothing(void) { return 0; }\n")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-o", path, source], check=True)
    function = ctypes.PyDLL(path)["nothing"]
    function.restype, function.argtypes = ctypes.c_int, [ctypes.c_void_p] * arguments
    return function


def main():
    kind = Kind()
    kind.stream = lambda index: 0
    _kinds._by_type[Tensor] = kind
    a, b, out = (Tensor(np.ones((64, 64), "f4")) for _ in range(3))
    gt.matmul(a, b, out)
    with tempfile.TemporaryDirectory() as folder:
        eight, three = nothing(folder, 8), nothing(folder, 3)
        _library._short.update(gemmtune_gemm=eight, gemmtune_launch=three)
        _matmul.forget()
        gt.matmul(a, b, out)
        plan = gt.plan(a, b, out)
        for name, work in (
                ("eight arguments through ctypes", lambda: eight(1, 2, 3, 4, 5, 6, 7, 8)),
                ("three arguments through ctypes", lambda: three(1, b"bytes", 3)),
                ("matmul(a, b, out)", lambda: gt.matmul(a, b, out)),
                ("plan(a, b, out)", lambda: plan(a, b, out)),
                ("plan.unchecked(a, b, out)", lambda: plan.unchecked(a, b, out))):
            print(f"{per_call(work):6.2f} us  {name}")


if __name__ == "__main__":
    main()
