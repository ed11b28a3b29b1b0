# SPDX-License-Identifier: Apache-2.0
"""Random views, and what the library would compute for Products, in plain NumPy."""

import numpy as np
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

SIZES = st.sampled_from([0, 1, 1, 2, 3, 4, 5, 7, 16, 17])
LEADING = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=3)


@st.composite
def broadcast_pair(draw):
    """Two tuples of leading sizes that broadcast."""
    full = draw(LEADING)

    def part():
        kept = full[draw(st.integers(0, len(full))):]
        return tuple(1 if draw(st.booleans()) else size for size in kept)

    return part(), part()


@st.composite
def operands(draw):
    """(shape of a, shape of b) as matmul takes them, vectors too."""
    m, n, k = draw(SIZES), draw(SIZES), draw(SIZES)
    lead_a, lead_b = draw(broadcast_pair())
    a = (k,) if draw(st.integers(0, 7)) == 0 else lead_a + (m, k)
    b = (k,) if draw(st.integers(0, 7)) == 0 else lead_b + (k, n)
    return a, b


@st.composite
def layout(draw, rank):
    """How an array of this rank lies in memory: order of indices, gaps, steps, turned indices."""
    order = list(range(rank))
    if draw(st.booleans()):
        order = draw(st.permutations(order))
    elif rank > 1 and draw(st.booleans()):
        order[-1], order[-2] = order[-2], order[-1]
    gaps = [draw(st.sampled_from([0, 0, 0, 1, 3])) for _ in range(rank)]
    steps = [draw(st.sampled_from([1, 1, 1, 1, 1, 2, -1])) for _ in range(rank)]
    return order, gaps, steps


def make(values, how, fill):
    """A view of memory full of `fill` with the values in it."""
    order, gaps, steps = how
    outer = [values.shape[i] * abs(steps[i]) + gaps[i] for i in order]
    memory = np.full(outer, fill, values.dtype)
    view = memory.transpose([order.index(i) for i in range(values.ndim)])
    index = tuple(slice(None, size * abs(step), abs(step)) for size, step in zip(values.shape, steps))
    view = view[(*index, ...)][(*(slice(None, None, -1 if step < 0 else 1) for step in steps), ...)]
    view[...] = values
    return view


def compute(products, a, b, c):
    """Carries Products out on three arrays, by their addresses and strides alone."""
    def matrices(array, at, rows, cols, trans, ld, stride):
        base = array.__array_interface__["data"][0] - _memory(array).__array_interface__["data"][0]
        flat = _memory(array)
        size = array.itemsize
        assert max(1, rows if trans else cols) <= ld < 2**31 and stride >= 0
        shape = (products.batch, rows, cols)
        steps = (stride, 1, ld) if trans else (stride, ld, 1)
        first = flat[base // size + at:]
        return as_strided(first, shape, tuple(step * size for step in steps))

    m, n, k = products.m, products.n, products.k
    assert products.batch == 1 or products.strides[2] > 0
    ta, tb = products.trans
    if products.column_major:
        ta, tb = not ta, not tb
    for at_a, at_b, at_c in products.turns:
        x = matrices(a, at_a, m, k, ta, products.ld[0], products.strides[0])
        y = matrices(b, at_b, k, n, tb, products.ld[1], products.strides[1])
        z = matrices(c, at_c, m, n, products.column_major, products.ld[2], products.strides[2])
        z[...] = np.matmul(x, y)


def _memory(array):
    """The flat memory that an array is a view of."""
    while array.base is not None:
        array = array.base
    return array.reshape(-1)
