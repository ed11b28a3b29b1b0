# SPDX-License-Identifier: Apache-2.0
"""The fastest matrix multiplication that a GPU or CPU can do, found by trying.

gemmtune multiplies the arrays that you have: NumPy's, torch's, CuPy's, JAX's, pyopencl's, and what has `__dlpack__` or
`__cuda_array_interface__`. The database says which kernel is the fastest, and `tune` finds better kernels.

    pip install gemmtune[numpy]            # with a GPU of NVIDIA: gemmtune[cuda13], or gemmtune[cuda12]

    import numpy as np, gemmtune as gt
    a, b = np.random.rand(512, 256).astype("f4"), np.random.rand(256, 384).astype("f4")
    c = gt.matmul(a, b)                              # works at once, by a kernel that nobody tuned
    gt.tune(gt.problem(a, b), budget="20s")          # tries kernels, checks them, keeps the best
    c = gt.matmul(a, b)                              # the best one
    gt.matmul(a, b, epilogue="bias_relu", bias=np.ones(384, "f4"))
    gt.trials(gt.problem(a, b)).to_pandas()          # every kernel that was tried

The wheel needs Linux with glibc 2.28 or newer and Python 3.9 or newer. It holds the library, the program
`gemmtune` (a command after the installation) and what is known of devices. It needs no compiler and no other
package; NumPy's arrays need NumPy, and bf16 and 8-bit floats among them ml_dtypes.

| device | what it needs |
| --- | --- |
| NVIDIA GPU | its driver, and NVRTC. NVRTC is found where torch or CuPy brought it, in the extras `cuda13` and `cuda12`, in a CUDA toolkit, or where `GEMMTUNE_LIBNVRTC` says |
| another GPU | its OpenCL driver. Arrays are NumPy's, in host memory, or pyopencl's |
| CPU | PoCL (`apt-get install pocl-opencl-icd`). Arrays are NumPy's |

A process that forks after it has used a device gets an exception in the child: use 'spawn' or 'forkserver'.
Threads may call everything here at once.
"""

from . import errors
from ._kinds import DeviceArray
from ._matmul import Plan, matmul, plan, problem, reload
from ._program import compare, devices, explain, lookup, records, trials, tune
from ._record import Recorder, record
from ._rows import Facts, Rows

__all__ = [
    "matmul", "plan", "problem", "tune", "records", "trials", "lookup", "explain", "compare", "devices",
    "record", "reload", "Plan", "Recorder", "Rows", "Facts", "DeviceArray", "errors",
]
