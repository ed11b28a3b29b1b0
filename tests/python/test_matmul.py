# SPDX-License-Identifier: Apache-2.0
"""matmul of NumPy arrays on PoCL, beside NumPy in float64."""

import gc
import threading
import weakref

import numpy as np
import pytest
from conftest import EXAMPLES, LONG
from hypothesis import given, settings
from hypothesis import strategies as st
from products import layout, make, operands

import gemmtune as gt
from gemmtune import _numpy, _types

pytestmark = pytest.mark.usefixtures("opencl")
TYPES = ["f32", "f64", "f16", "bf16", "e4m3", "e5m2", "i8", "i32"]
# Of one rounding of the result.
UNIT = {"f32": 2.0**-24, "f64": 2.0**-53, "f16": 2.0**-11, "bf16": 2.0**-8, "i32": 0, "i8": 0}


def dtype(word):
    try:
        return _numpy.dtype_of(word)
    except gt.errors.Unsupported:
        pytest.skip("no ml_dtypes")


def random(rng, shape, word):
    """Values of a type: of floats some that need rounding."""
    if word in ("i8", "i32"):
        return rng.integers(-100, 100, shape).astype(dtype(word))
    return rng.standard_normal(shape).astype(dtype(word))


def agrees(got, a, b, word, scale=1):
    """Whether a product is NumPy's, within the bound of a sum of k products and a rounding."""
    a, b = a.astype("f8"), b.astype("f8")
    want = np.matmul(a, b) * scale
    if word in ("i8", "i32"):
        assert np.array_equal(np.asarray(got).astype("i8"), want.astype("i8"))
        return
    k = a.shape[-1]
    sums = 2.0**-53 if word == "f64" else 2.0**-24
    bound = np.matmul(np.abs(a), np.abs(b)) * abs(scale) * (k + 8) * sums
    bound += np.abs(want) * UNIT[word] * 2 + (6e-8 if word == "f16" else 1e-38)
    off = np.abs(np.asarray(got).astype("f8") - want)
    assert np.all(off <= bound), (off - bound).max()


@pytest.mark.parametrize("word", ["f32", "f64", "f16", "bf16", "i8"])
def test_rows_in_order(word):
    rng = np.random.default_rng(2)
    a, b = random(rng, (67, 70), word), random(rng, (70, 65), word)
    c = gt.matmul(a, b, row_order=True)
    result = "i32" if word == "i8" else word
    agrees(c, a, b, result)
    for rows in (slice(0, 1), slice(31, 34), slice(66, 67)):
        assert np.array_equal(gt.matmul(a[rows], b, row_order=True), c[rows])
    batch = np.stack([a, a[::-1]])
    assert np.array_equal(gt.matmul(batch, b, row_order=True)[1], c[::-1])
    out = np.zeros((65, 67), c.dtype).T
    gt.matmul(a, b, out, row_order=True)
    assert np.array_equal(out, c)
    assert gt.problem(a, b, row_order=True).endswith("67x65x70,row_order")
    plan = gt.plan(a[:3], b, row_order=True)
    assert "adds in the order" in plan.why and plan.same_bits and np.array_equal(plan(a[:3], b), c[:3])


@pytest.mark.parametrize("word", TYPES)
def test_each_type(word):
    rng = np.random.default_rng(1)
    a, b = random(rng, (33, 40), word), random(rng, (40, 21), word)
    got = gt.matmul(a, b)
    result = {"e4m3": "bf16", "e5m2": "bf16", "i8": "i32"}.get(word, word)
    assert type(got) is np.ndarray and got.dtype == dtype(result) and got.shape == (33, 21)
    agrees(got, a, b, result)


@pytest.mark.parametrize("inputs, result", [
    ("f16", "f32"), ("bf16", "f32"), ("e4m3", "f16"), ("e5m2", "f32"), ("i8", "bf16"), ("i8", "i8")])
def test_other_results(inputs, result):
    rng = np.random.default_rng(2)
    a, b = random(rng, (9, 17), inputs), random(rng, (17, 10), inputs)
    if result == "i8":
        a, b = (np.sign(x).astype("i1") for x in (a, b))
    got = gt.matmul(a, b, dtype=result)
    assert got.dtype == dtype(result)
    if (inputs, result) == ("i8", "bf16"):
        agrees(got, a, b, "bf16")
    else:
        agrees(got, a, b, result)
    out = np.empty((9, 10), dtype(result))
    assert gt.matmul(a, b, out) is out and np.array_equal(out, got)


def test_two_types_of_8_bits():
    rng = np.random.default_rng(3)
    a, b = random(rng, (8, 16), "e4m3"), random(rng, (16, 8), "e5m2")
    agrees(gt.matmul(a, b), a, b, "bf16")


@pytest.mark.parametrize("math", ["split", "bf16x3", "tf32", "strict", "fast"])
def test_math(math):
    rng = np.random.default_rng(4)
    a, b = random(rng, (20, 30), "f32"), random(rng, (30, 20), "f32")
    off = np.abs(gt.matmul(a, b, math=math) - a.astype("f8") @ b).max()
    assert off < {"tf32": 3e-2, "bf16x3": 1e-3}.get(math, 1e-5)


@settings(max_examples=EXAMPLES if LONG else 60)
@given(operands(), st.data())
def test_random_products(shapes, data):
    """Any shapes and views, memory full of NaN around them, an out of any strides, alpha and beta."""
    word = data.draw(st.sampled_from(TYPES if LONG else ["f32"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    fill = 77 if word in ("i8", "i32") else np.nan
    a, b = (make(random(rng, shape, word), data.draw(layout(len(shape))), fill) for shape in shapes)
    result = {"e4m3": "bf16", "e5m2": "bf16", "i8": "i32"}.get(word, word)
    if not data.draw(st.booleans()):
        agrees(gt.matmul(a, b), a, b, result)
        return
    shape = np.matmul(np.zeros(a.shape), np.zeros(b.shape)).shape
    out = make(np.full(shape, fill).astype(dtype(result)), data.draw(layout(len(shape))), fill)
    alpha = data.draw(st.sampled_from([1, -2]))
    assert gt.matmul(a, b, out, alpha=alpha) is out
    agrees(out, a, b, result, alpha)


@pytest.mark.parametrize("shape", [(3, 0, 5), (0, 4, 5), (3, 4, 0), (0, 0, 0)])
def test_nothing_to_multiply(shape):
    m, k, n = shape
    got = gt.matmul(np.ones((m, k), "f4"), np.ones((k, n), "f4"))
    assert got.shape == (m, n) and not got.any()
    batch = gt.matmul(np.ones((2, m, k), "f4"), np.ones((2, k, n), "f4"))
    assert batch.shape == (2, m, n) and not batch.any()


def test_alpha_beta_and_c():
    rng = np.random.default_rng(5)
    a, b, c = random(rng, (4, 6), "f32"), random(rng, (6, 5), "f32"), random(rng, (4, 5), "f32")
    want = 2 * a @ b - 3 * c
    kept = c.copy()
    assert np.allclose(gt.matmul(a, b, alpha=2, beta=-3, c=c), want, atol=1e-5)
    assert np.array_equal(c, kept)
    assert np.allclose(gt.matmul(a, b, beta=1, c=c[0]), a @ b + c[0], atol=1e-5)
    assert gt.matmul(a, b, c, alpha=2, beta=-3) is c and np.allclose(c, want, atol=1e-5)


def test_nan_in_an_out_that_is_not_read():
    a, b = np.ones((3, 3), "f4"), np.ones((3, 3), "f4")
    assert np.array_equal(gt.matmul(a, b, np.full((3, 3), np.nan, "f4")), a @ b)


def test_out_is_an_operand():
    rng = np.random.default_rng(6)
    a, b = random(rng, (7, 7), "f32"), random(rng, (7, 7), "f32")
    want = a @ b
    assert np.allclose(gt.matmul(a, b, a), want, atol=1e-5)
    b = b.T
    want = b @ b
    assert np.allclose(gt.matmul(b, b, b), want, atol=1e-5)


def test_large_products_are_tiled():
    """More than the short way of gemmtune_host_gemm takes, by views of larger matrices."""
    rng = np.random.default_rng(7)
    a, b = random(rng, (700, 900), "f32")[:, :800], random(rng, (600, 800), "f32").T
    agrees(gt.matmul(a, b), a, b, "f32")


# ---- epilogues ------------------------------------------------------------------------------

def test_operands_by_name():
    rng = np.random.default_rng(8)
    a, b = random(rng, (2, 6, 8), "f32"), random(rng, (2, 8, 5), "f32")
    x = a @ b
    bias, up = random(rng, (5,), "f32"), random(rng, (2, 6, 5), "f32")
    got = gt.matmul(a, b, epilogue="bias_relu_swiglu", bias=bias, up=up)
    relu = np.maximum(x + bias, 0)
    assert np.allclose(got, relu / (1 + np.exp(-relu)) * up, atol=1e-4)


def test_indices_of_operands():
    rng = np.random.default_rng(9)
    a, b = random(rng, (3, 2, 4, 6), "f32"), random(rng, (2, 6, 5), "f32")
    x = a @ b
    r, z, zj, s = (random(rng, shape, "f32") for shape in ((3, 2, 4), (3, 2), (3, 2, 5), ()))
    got = gt.matmul(a, b, epilogue="s:f32;d=x*r[i]+w[z]*v[z,j]+s", r=r, w=z, v=zj, s=float(s))
    assert np.allclose(got, x * r[..., None] + (z[..., None] * zj)[..., None, :] + s, atol=1e-4)


def test_second_output_and_c():
    rng = np.random.default_rng(10)
    a, b, c = random(rng, (4, 6), "f32"), random(rng, (6, 5), "f32"), random(rng, (4, 5), "f32")
    d, second = gt.matmul(a, b, c=c, epilogue="d2[i,j]:f16;d2=x;d=x-c")
    assert second.dtype == np.float16 and np.allclose(second, a @ b, atol=1e-2)
    assert np.allclose(d, a @ b - c, atol=1e-5)


def test_scales_of_integers():
    rng = np.random.default_rng(11)
    a, b = random(rng, (6, 8), "i8"), random(rng, (8, 5), "i8")
    sa, sb = rng.random(6, "f4"), rng.random(5, "f4")
    got = gt.matmul(a, b, dtype="f32", epilogue="dequantise", operands={"sa": sa, "sb": sb})
    assert np.allclose(got, (a.astype("i4") @ b.astype("i4")) * sa[:, None] * sb, rtol=1e-5)


# ---- threads, memory -----------------------------------------------------------------------

def test_threads():
    rng = np.random.default_rng(12)
    a, b = random(rng, (50, 40), "f32"), random(rng, (40, 30), "f32")
    batch, bias = np.stack([a] * 3), random(rng, (30,), "f32")
    wrong = []

    def work():
        for _ in range(10):
            if not np.allclose(gt.matmul(a, b), a @ b, atol=1e-4):
                wrong.append("plain")
            if not np.allclose(gt.matmul(batch, b, epilogue="bias", bias=bias), batch @ b + bias, atol=1e-4):
                wrong.append("epilogue")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_arrays_are_not_kept():
    class Owned(np.ndarray):
        pass

    a = np.ones((8, 8), "f4").view(Owned)
    seen = weakref.ref(a)
    result = gt.matmul(a, a)
    del a
    gc.collect()
    assert seen() is None and result.shape == (8, 8)


# ---- plans ----------------------------------------------------------------------------------

def test_plan():
    rng = np.random.default_rng(13)
    a, b = random(rng, (33, 40), "f32"), random(rng, (40, 21), "f32")
    plan = gt.plan(a, b)
    assert plan.problem == gt.problem(a, b) == "f32-nn-33x21x40"
    assert plan.match == "default" and plan.kernel.startswith(plan.family) and len(plan.digest) == 16
    assert plan.workspace >= 0 and plan.tuned_seconds is None and plan.device == "opencl:0"
    assert "f32-nn-33x21x40" in plan._repr_html_() and "f32-nn-33x21x40" in repr(plan)
    agrees(plan(a, b), a, b, "f32")
    with pytest.raises(gt.errors.InvalidArgument, match="plan of f32-nn-33x21x40 was made for another"):
        plan(a[:5], b)
    with pytest.raises(gt.errors.InvalidArgument, match="b is a ndarray of"):
        plan(a, b.astype("f8"))
    assert gt.plan(a, b).digest == plan.digest != gt.plan(a, b, epilogue="relu").digest


def test_names_of_problems():
    a = np.ones((4, 30, 40), "f2")
    assert gt.problem(a, a.swapaxes(1, 2)) == "f16-nt-30x30x40,batch=4"
    assert gt.problem(a[0].T, a[0], dtype="f32", epilogue="relu") == "f16=f32-tn-40x40x30,epi=relu"
    assert gt.problem(a, np.ones((40, 7), "f2")) == "f16-nn-120x7x40"


def test_record(tmp_path):
    a = np.ones((4, 4), "f4")
    with gt.record() as sizes:
        gt.matmul(a, a)
        gt.matmul(a, a)
        gt.matmul(a, a, epilogue="relu")
        gt.matmul(a[:0], a)
    gt.matmul(a, a[:, :2])
    assert sizes.problems == {"f32-nn-4x4x4": 2, "f32-nn-4x4x4,epi=relu": 1}
    assert list(sizes)[0] == "f32-nn-4x4x4" and len(sizes) == 2
    sizes.save(tmp_path / "sizes.json")
    assert sizes.sweep()["sizes"][1] == {
        "dtype": "f32", "layout": "nn", "m": 4, "n": 4, "k": 4, "epi": "relu", "weight": 1}


def test_the_types_are_the_librarys():
    assert set(_types.SIZE) == set(TYPES)
