# SPDX-License-Identifier: Apache-2.0
"""Products and linear algebra of PyTorch on CUDA (without it on the CPU), on the samples that PyTorch itself tests its
operations with, against the same call on the CPU in double precision. tools/gpu-suites runs it
without and with gemmtune; it needs torch, pytest, numpy, expecttest and hypothesis.

Operations with one right answer, up to rounding, are compared; of the others (eigenvectors,
singular vectors, factors) it is asked that they return."""
import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PRODUCTS = {"mm", "bmm", "addmm", "addbmm", "baddbmm", "matmul", "__rmatmul__", "addmv", "mv",
            "addr", "einsum", "tensordot", "inner", "outer", "chain_matmul", "cov", "corrcoef",
            "cdist", "linalg.multi_dot", "linalg.matrix_power", "linalg.vecdot",
            "nn.functional.linear", "nn.functional.bilinear", "nn.functional.conv2d",
            "nn.functional.scaled_dot_product_attention"}
UNIQUE = {"linalg.solve", "linalg.solve_triangular", "linalg.inv", "linalg.det", "linalg.slogdet",
          "linalg.cholesky", "linalg.svdvals", "linalg.eigvalsh", "linalg.matrix_norm",
          "linalg.tensorsolve", "linalg.tensorinv", "cholesky_solve", "cholesky_inverse",
          "lu_solve", "triangular_solve", "linalg.lu_solve", "inverse", "logdet"}
TYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
# A relative and an absolute error, for values near 1.
NEAR = {torch.float64: (1e-6, 1e-6), torch.float32: (3e-3, 3e-3), torch.bfloat16: (0.1, 1.0),
        torch.float16: (0.03, 0.1)}


def chosen():
    for op in op_db:
        if op.name in PRODUCTS or op.name in UNIQUE or op.name.startswith("linalg."):
            for dtype in TYPES:
                if dtype in op.supported_dtypes(DEVICE):
                    yield pytest.param(op, dtype, id=f"{op.full_name}-{dtype}".replace("torch.", ""))


def mapped(value, change):
    """A value, or a list, tuple or dict of values, with its tensors changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(x, change) for x in value)
    if isinstance(value, dict):
        return {key: mapped(x, change) for key, x in value.items()}
    return value


def on_cpu(tensor):
    tensor = tensor.detach().cpu()
    return tensor.double() if tensor.is_floating_point() else tensor


def first(result):
    """The tensors of a result, in order."""
    if isinstance(result, torch.Tensor):
        return [result]
    return [x for x in result if isinstance(x, torch.Tensor)]


@pytest.mark.parametrize("op, dtype", list(chosen()))
def test_samples(op, dtype):
    compared = op.name in PRODUCTS or op.name in UNIQUE
    rtol, atol = NEAR[dtype]
    count = 0
    for sample in op.sample_inputs(DEVICE, dtype, requires_grad=False):
        out = [on_cpu(x) for x in first(op.op(sample.input, *sample.args, **sample.kwargs))]
        count += 1
        if not compared:
            continue
        want = first(op.op(*mapped((sample.input, *sample.args), on_cpu),
                           **mapped(sample.kwargs, on_cpu)))
        for a, b in zip(out, want):
            if b.is_floating_point():
                torch.testing.assert_close(a, b.double(), rtol=rtol, atol=atol,
                                           equal_nan=True)
    assert count > 0


SIZES = [(1, 64, 64), (7, 1000, 333), (64, 64, 4096), (129, 257, 511), (512, 512, 512),
         (1000, 31, 2000), (2048, 256, 64)]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("batch", [(), (3,), (40,)], ids=str)
def test_products_and_gradients(size, batch, dtype):
    """Larger products, transposed operands and, by gradients, the transposed products."""
    m, n, k = size
    torch.manual_seed(m + n + k)
    a = torch.randn(*batch, m, k, device=DEVICE, dtype=dtype, requires_grad=True)
    b = torch.randn(*batch, n, k, device=DEVICE, dtype=dtype, requires_grad=True)
    g = torch.randn(*batch, m, n, device=DEVICE, dtype=dtype)
    c = a @ b.mT
    c.backward(g)
    x, y, z = on_cpu(a), on_cpu(b), on_cpu(g)
    unit = {torch.float64: 2**-52, torch.float32: 2**-23, torch.bfloat16: 2**-8,
            torch.float16: 2**-11}[dtype]
    for got, want, depth in ((c, x @ y.mT, k), (a.grad, z @ y, n), (b.grad, z.mT @ x, m)):
        limit = 8 * unit * want.abs().max().item() + 40 * 2**-23 * depth**0.5
        assert (on_cpu(got) - want).abs().max().item() <= limit
