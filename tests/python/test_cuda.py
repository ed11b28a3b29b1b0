# SPDX-License-Identifier: Apache-2.0
"""Arrays on CUDA devices, by both protocols, on the fake driver."""

import ctypes
import gc

import numpy as np
import pytest
from arrays import Interface, Tensor

import gemmtune as gt
from gemmtune import DeviceArray, _cuda, _devices, _dlpack

pytestmark = pytest.mark.usefixtures("cuda")


def random(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("f4")


def test_a_device_array_comes_back():
    a, b = random(40, 30), random(30, 50)
    got = gt.matmul(DeviceArray.of(a), DeviceArray.of(b))
    assert type(got) is DeviceArray and got.shape == (40, 50) and got.word == "f32"
    assert np.allclose(got.numpy(), a @ b, atol=1e-4)


def test_dlpack():
    a, b = random(40, 30), random(30, 50)
    x, y = Tensor(a), Tensor(b)
    got = gt.matmul(x, y)
    assert np.allclose(got.numpy(), a @ b, atol=1e-4)
    # A producer is asked once to order its work before ours, which is on the legacy stream: 1.
    assert [stream for stream in x.streams if stream != -1] == [1]
    assert got.__dlpack_device__() == (_dlpack.CUDA, 0)
    address, shape, strides, word = _dlpack.read(got.__dlpack__(stream=-1))
    assert (address, shape, strides, word) == (got.address, (40, 50), (50, 1), "f32")


def test_capsules_leave_nothing():
    before = len(_dlpack._made)
    x = Tensor(random(8, 8))
    gt.matmul(x, x)
    gc.collect()
    assert len(_dlpack._made) == before


def test_a_consumer_calls_the_deleter():
    made = DeviceArray.of(random(4, 4))
    capsule = made.__dlpack__()
    assert len(_dlpack._made) == 1
    pointer = _dlpack._py.PyCapsule_GetPointer(capsule, b"dltensor")
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    rename(capsule, b"used_dltensor")
    del capsule
    assert len(_dlpack._made) == 1
    managed = _dlpack._Managed.from_address(pointer)
    managed.deleter(managed)
    assert not _dlpack._made


def test_interface_and_its_strides():
    a, b = random(40, 30), random(30, 50)
    whole = Interface(a, strides=(30, 1), shape=(40, 20))
    turned = Interface(b, strides=(1, 50), shape=(50, 30))
    assert np.allclose(gt.matmul(Interface(a), Interface(b)).numpy(), a @ b, atol=1e-4)
    assert np.allclose(gt.matmul(turned, Interface(a.T.copy())).numpy(), b.T @ a.T, atol=1e-4)
    assert np.allclose(gt.matmul(whole, Interface(b[:20].copy())).numpy(), a[:, :20] @ b[:20], atol=1e-4)


def test_the_producers_stream_comes_first(monkeypatch):
    """A stream of version 3: ours waits for it, unless it is ours."""
    waits = []
    monkeypatch.setattr(_cuda.Driver, "order", lambda self, first, second: waits.append((first, second)))
    a = random(8, 8)
    gt.matmul(Interface(a, stream=1), Interface(a, stream=None))
    assert waits == []
    gt.matmul(Interface(a, stream=77), Interface(a, stream=2))
    assert waits == [(77, 0), (2, 0)]
    waits.clear()
    gt.matmul(DeviceArray.of(a), DeviceArray.of(a)).__dlpack__(stream=5)
    assert waits == [(0, 5)]


def test_a_stream_of_the_callers():
    driver = _devices.open_device("cuda:0").driver
    stream, flags = ctypes.c_void_p(), 1
    create = driver.cu.cuStreamCreate
    create.argtypes = [ctypes.c_void_p, ctypes.c_uint]
    driver.enter()
    assert create(ctypes.byref(stream), flags) == 0
    a, b = random(16, 24), random(24, 8)
    got = gt.matmul(DeviceArray.of(a), DeviceArray.of(b), stream=stream.value)
    assert np.allclose(got.numpy(), a @ b, atol=1e-4)


def test_out_alpha_beta():
    a, b, c = random(6, 7), random(7, 8), random(6, 8)
    out = DeviceArray.of(c)
    assert gt.matmul(DeviceArray.of(a), DeviceArray.of(b), out, alpha=2, beta=3) is out
    assert np.allclose(out.numpy(), 2 * (a @ b) + 3 * c, atol=1e-4)


def test_batches_broadcast():
    a, b = random(3, 1, 5, 6), random(2, 6, 4)
    got = gt.matmul(DeviceArray.of(a), DeviceArray.of(b))
    assert got.shape == (3, 2, 5, 4) and np.allclose(got.numpy(), a @ b, atol=1e-4)
    vector = gt.matmul(DeviceArray.of(a), DeviceArray.of(b[0, :, 0].copy()))
    assert vector.shape == (3, 1, 5) and np.allclose(vector.numpy(), a @ b[0, :, 0], atol=1e-4)


def test_epilogue():
    a, b, bias = random(6, 7), random(7, 8), random(8)
    got, second = gt.matmul(DeviceArray.of(a), DeviceArray.of(b), epilogue="s:f32;d2=x;d=relu(x+bias[j])*s",
                            bias=DeviceArray.of(bias), s=2.0)
    assert np.allclose(second.numpy(), a @ b, atol=1e-4)
    assert np.allclose(got.numpy(), 2 * np.maximum(a @ b + bias, 0), atol=1e-4)


def test_nothing_to_multiply():
    empty = gt.matmul(DeviceArray.of(random(0, 4)), DeviceArray.of(random(4, 5)))
    assert empty.shape == (0, 5) and empty.numpy().shape == (0, 5)
    zeros = gt.matmul(DeviceArray.of(np.ones((3, 0), "f4")), DeviceArray.of(np.ones((0, 5), "f4")))
    assert np.array_equal(zeros.numpy(), np.zeros((3, 5)))


def test_plan_allocates_nothing(monkeypatch):
    a, b = DeviceArray.of(random(40, 30)), DeviceArray.of(random(30, 50))
    out = DeviceArray.of(np.zeros((40, 50), "f4"))
    plan = gt.plan(a, b)
    assert plan.device == "cuda:0"

    def alloc(self, size):
        raise AssertionError("an allocation")

    monkeypatch.setattr(_cuda.Driver, "alloc", alloc)
    assert plan(a, b, out) is out
    assert np.allclose(out.numpy(), a.numpy() @ b.numpy(), atol=1e-4)


def test_arrays_are_not_kept():
    a = DeviceArray.of(random(40, 30))
    frees = []
    driver = _devices.open_device("cuda:0").driver
    free = driver.free
    driver.free = lambda memory: frees.append(memory) or free(memory)
    try:
        address = a.address
        result = gt.matmul(a, DeviceArray.of(random(30, 50)))
        del a
        gc.collect()
        assert address in frees and result.address not in frees
    finally:
        del driver.free


def test_dropped_plans_wait_for_the_next_one(monkeypatch):
    """A plan is destroyed when another one is made, after a wait, and not while Python drops it."""
    waits = []
    wait = _cuda.Driver.wait
    monkeypatch.setattr(_cuda.Driver, "wait", lambda self: waits.append(1) or wait(self))
    a, b = DeviceArray.of(random(20, 30)), DeviceArray.of(random(30, 20))
    plan = gt.plan(a, b)
    waits.clear()
    del plan
    gc.collect()
    assert _devices._dropped and not waits
    kept = gt.plan(b, a)
    assert kept and waits and not _devices._dropped


# ---- one sentence each --------------------------------------------------------------------------

def test_mixed_devices():
    a = random(4, 4)
    for b, words in [
        (DeviceArray.of(a, 1), "a is on cuda:0, and b on cuda:1"),
        (a, "a is an array of __cuda_array_interface__, and b one of NumPy"),
    ]:
        with pytest.raises(gt.errors.InvalidArgument, match=words):
            gt.matmul(DeviceArray.of(a), b)
    with pytest.raises(gt.errors.InvalidArgument, match="a is an array of NumPy"):
        gt.matmul(a, DeviceArray.of(a))
    with pytest.raises(gt.errors.InvalidArgument, match="device is 'opencl:0', and the arrays are on cuda:0"):
        gt.matmul(DeviceArray.of(a), DeviceArray.of(a), device="opencl:0")
    with pytest.raises(gt.errors.InvalidArgument, match="bias is of type f32 and on cuda:1"):
        gt.matmul(DeviceArray.of(a), DeviceArray.of(a), epilogue="bias", bias=DeviceArray.of(a[0], 1))


def test_what_protocols_do_not_have():
    a = Interface(random(4, 4), typestr="<c8")
    with pytest.raises(gt.errors.Unsupported, match="gemmtune has f32"):
        gt.matmul(a, a)
    a = Interface(random(4, 4), strides=(2, 2), shape=(2, 2))
    with pytest.raises(gt.errors.Unsupported, match="need a copy"):
        gt.matmul(a, a)
    a = Tensor(random(4, 4), where=8)
    with pytest.raises(gt.errors.Unsupported, match="DLPack's type 8"):
        gt.matmul(a, a)


def test_other_devices_of_one_process():
    a, b = random(5, 6), random(6, 7)
    for index in 1, 0, 1:
        got = gt.matmul(DeviceArray.of(a, index), DeviceArray.of(b, index))
        assert got.index == index and np.allclose(got.numpy(), a @ b, atol=1e-4)


def test_the_current_context_stays():
    """With several devices torch reads its own one out of the thread's current context."""
    a = random(5, 5)
    x, y = DeviceArray.of(a, 0), DeviceArray.of(a, 1)
    cu, current = _cuda.driver(), ctypes.c_void_p()
    contexts = [_devices.open_device(f"cuda:{index}").driver.context for index in (0, 1)]
    for mine in contexts:
        cu.cuCtxSetCurrent(mine)
        for work in (lambda: gt.matmul(x, x), lambda: gt.matmul(y, y).numpy(), lambda: gt.plan(y, y)(y, y),
                     lambda: gt.plan(x, x), lambda: DeviceArray.of(a, 1), lambda: gt.matmul(a, a, device="cuda:1")):
            work()
            cu.cuCtxGetCurrent(ctypes.byref(current))
            assert current.value == mine


def test_numpy_on_cuda():
    a, b = random(2, 5, 6), random(6, 7)
    assert np.allclose(gt.matmul(a, b, device="cuda:1"), a @ b, atol=1e-4)
    assert np.allclose(gt.matmul(a, b, device="cuda", epilogue="relu"), np.maximum(a @ b, 0), atol=1e-4)
