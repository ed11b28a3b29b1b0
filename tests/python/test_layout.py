# SPDX-License-Identifier: Apache-2.0
"""Shapes and strides to products, without a device."""

import numpy as np
import pytest
from conftest import EXAMPLES, LONG
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from products import broadcast_pair, compute, layout, make, operands

from gemmtune import _layout, errors


def view_of(array):
    return _layout.View(array.shape, tuple(step // array.itemsize for step in array.strides))


@settings(max_examples=EXAMPLES if LONG else 300)
@given(operands(), st.data())
def test_products_are_numpys(shapes, data):
    """Any views of any shapes: the products that the library is asked for are matmul's."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    a, b = (make(rng.integers(-9, 9, shape).astype("f8"), data.draw(layout(len(shape))), np.nan)
            for shape in shapes)
    want = np.matmul(a, b)
    found = _layout.shapes_of(view_of(a), view_of(b))
    assert found.shape == want.shape
    c = make(np.zeros(found.full), data.draw(layout(len(found.full))), 99.0)
    seen = c
    if found.column:
        seen = seen[..., 0]
    if found.row:
        seen = np.moveaxis(seen, len(found.batch), 0)[0, ...]
    view = _layout.result_view(found, view_of(seen))
    products = _layout.products_of(found, view, fold=data.draw(st.booleans()),
                                   batch=data.draw(st.booleans()))
    copies = [_layout.last_two(x) is None for x in (found.a, found.b, view)]
    assert (products is None) == any(copies)
    assume(products is not None)
    if 0 in found.full:
        return
    compute(products, a, b, c)
    assert np.array_equal(seen, want)
    # The gaps of c are as they were.
    memory = c
    while memory.base is not None:
        memory = memory.base
    assert np.count_nonzero(memory == 99.0) >= memory.size - c.size


@given(broadcast_pair())
def test_broadcast_is_numpys(pair):
    assert _layout.broadcast(*pair) == np.broadcast_shapes(*pair)


def test_products_that_share_b_are_one():
    found = _layout.shapes_of(_layout.packed((5, 3, 4)), _layout.packed((4, 6)))
    products = _layout.products_of(found, _layout.packed(found.full))
    assert (products.m, products.batch, products.turns) == (15, 1, ((0, 0, 0),))
    apart = _layout.products_of(found, _layout.packed(found.full), fold=False)
    assert (apart.m, apart.batch, apart.strides) == (3, 5, (12, 0, 18))


def test_two_broadcasts_are_a_batch_and_turns():
    found = _layout.shapes_of(_layout.packed((7, 1, 3, 4)), _layout.packed((2, 4, 6)))
    products = _layout.products_of(found, _layout.packed(found.full))
    assert products.batch == 7 and len(products.turns) == 2


@pytest.mark.parametrize("a, b, words", [
    ((3, 4), (5, 6), "rows of 4 elements"),
    ((), (3, 4), "a has no index"),
    ((3, 4), (), "b has no index"),
    ((2, 3, 4), (3, 4, 5), "cannot be broadcast"),
])
def test_shapes_that_do_not_fit(a, b, words):
    with pytest.raises(errors.InvalidArgument, match=words):
        _layout.shapes_of(_layout.packed(a), _layout.packed(b))
