# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries in host memory, where these libraries are installed."""

import numpy as np
import pytest

import gemmtune as gt

pytestmark = pytest.mark.usefixtures("opencl")


class Packed:
    """`__dlpack__` of host memory alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def test_dlpack_of_the_host():
    a = np.arange(12, dtype="f4").reshape(3, 4)
    assert np.array_equal(gt.matmul(Packed(a), Packed(a.T)), a @ a.T)


def test_a_subclass_of_numpys():
    class Own(np.ndarray):
        pass

    a = np.arange(12, dtype="f4").reshape(3, 4).view(Own)
    assert np.array_equal(gt.matmul(a, a.T), np.asarray(a) @ np.asarray(a).T)


def test_jax():
    jax = pytest.importorskip("jax")
    a = jax.numpy.arange(24, dtype="float32").reshape(2, 3, 4)
    b = jax.numpy.ones((4, 5), "float32")
    got = gt.matmul(a, b)
    assert isinstance(got, jax.Array) and np.array_equal(got, np.asarray(a) @ np.asarray(b))
    half = gt.matmul(a.astype("bfloat16"), b.astype("bfloat16"), epilogue="bias", bias=b[0].astype("bfloat16"))
    assert half.dtype == "bfloat16" and np.array_equal(np.asarray(half, "f4"), np.asarray(a @ b + 1))
    plan = gt.plan(a[0], b)
    assert np.array_equal(plan(a[1], b), np.asarray(a[1]) @ np.asarray(b))
    with pytest.raises(gt.errors.InvalidArgument, match="nobody may write to"):
        gt.matmul(a, b, got)
    with pytest.raises(gt.errors.InvalidArgument, match="a is an array of JAX, and b one of NumPy"):
        gt.matmul(a, np.asarray(b))
    with pytest.raises(gt.errors.Unsupported, match="jax.jit or jax.vmap traces"):
        jax.jit(gt.matmul)(a, b)


def test_torch():
    torch = pytest.importorskip("torch")
    a, b = torch.randn(2, 3, 4), torch.randn(4, 5)
    got = gt.matmul(a, b)
    assert isinstance(got, torch.Tensor) and torch.allclose(got, a @ b, atol=1e-5)
    half = gt.matmul(a.bfloat16(), b.bfloat16())
    assert half.dtype is torch.bfloat16 and torch.allclose(half.float(), a @ b, atol=0.2)
    out = torch.empty(2, 3, 5)
    assert gt.matmul(a, b, out) is out and torch.allclose(out, a @ b, atol=1e-5)
    with pytest.raises(gt.errors.Unsupported, match="requires a gradient"):
        gt.matmul(a, b.requires_grad_())


def test_pyopencl():
    cl = pytest.importorskip("pyopencl")
    import pyopencl.array
    platform = next(p for p in cl.get_platforms() if p.get_devices())
    queue = cl.CommandQueue(cl.Context(platform.get_devices()[:1]))
    rng = np.random.default_rng(1)
    a, b, bias = (rng.standard_normal(shape).astype("f4") for shape in ((3, 20, 30), (3, 30, 10), (10,)))
    x, y, v = (pyopencl.array.to_device(queue, array) for array in (a, b, bias))
    got = gt.matmul(x, y)
    assert isinstance(got, pyopencl.array.Array) and np.allclose(got.get(), a @ b, atol=1e-4)
    assert np.allclose(gt.matmul(x[1], y[2]).get(), a[1] @ b[2], atol=1e-4)
    assert np.allclose(gt.matmul(x[1, 3:9], y[2].T[:4].T).get(), a[1, 3:9] @ b[2][:, :4], atol=1e-4)
    fused, second = gt.matmul(x, y, epilogue="d2=x;d=relu(x+bias[j])", bias=v)
    assert np.allclose(fused.get(), np.maximum(a @ b + bias, 0), atol=1e-4)
    assert np.allclose(second.get(), a @ b, atol=1e-4)
    out = pyopencl.array.zeros(queue, (20, 10), "f4")
    assert gt.matmul(x[0], y[0], out, alpha=2, beta=1) is out and np.allclose(out.get(), 2 * a[0] @ b[0], atol=1e-4)
    assert gt.matmul(x[:, :0], y).shape == (3, 0, 10) and gt.problem(x, y) == "f32-nn-20x10x30,batch=3"
    with pytest.raises(gt.errors.InvalidArgument, match="different queues"):
        gt.matmul(x, y.with_queue(cl.CommandQueue(queue.context)))
    with pytest.raises(gt.errors.Unsupported, match="need a copy"):
        gt.matmul(x[0, ::2, ::2], y[0, ::2])
    with pytest.raises(gt.errors.InvalidArgument, match="b one of NumPy"):
        gt.matmul(x, b)
    with pytest.raises(gt.errors.Unsupported, match="matmul plans each shape once"):
        gt.plan(x, y)
