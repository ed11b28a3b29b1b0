# SPDX-License-Identifier: Apache-2.0
"""From shapes and strides to products of the library: numpy.matmul's rules, without any array."""

import itertools
from typing import NamedTuple

from . import errors

LD_MAX = 2**31 - 1


class View(NamedTuple):
    """An array's shape, and its strides in elements."""

    shape: tuple
    strides: tuple


class Products(NamedTuple):
    """One batch of the library, and where its first matrices lie, once for each turn of a loop."""

    m: int
    n: int
    k: int
    batch: int
    trans: tuple     # of a, b: stored transposed
    ld: tuple        # of a, b, c
    strides: tuple   # of a, b, c from product to product
    column_major: bool
    turns: tuple     # ((offset of a, of b, of c), ...) in elements


def packed_strides(shape):
    """Strides of an array without gaps, the last index fastest."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def packed(shape):
    """The view of an array without gaps."""
    return View(tuple(shape), packed_strides(shape))


def matrix_of(rows, cols, row_stride, col_stride):
    """(stored transposed, leading dimension) of a matrix in memory; None if it needs a copy."""
    if rows == 0 or cols == 0:
        return False, max(cols, 1)
    if (col_stride == 1 or cols == 1) and (rows == 1 or cols <= row_stride <= LD_MAX):
        return False, row_stride if rows > 1 else cols
    if (row_stride == 1 or rows == 1) and (cols == 1 or rows <= col_stride <= LD_MAX):
        return True, col_stride if cols > 1 else rows
    return None


def last_two(view):
    """matrix_of for the last two indices."""
    return matrix_of(*view.shape[-2:], *view.strides[-2:])


def broadcast(x, y):
    """The shape of two shapes, as NumPy has it; None if they do not fit."""
    shape = []
    for p, q in itertools.zip_longest(reversed(x), reversed(y), fillvalue=1):
        if p != q and 1 not in (p, q):
            return None
        shape.append(q if p == 1 else p)
    return tuple(reversed(shape))


def batch_strides(view, batch):
    """The strides of a view's leading indices in a batch of this shape; 0 where it repeats."""
    shape, strides = view.shape[:-2], view.strides[:-2]
    missing = len(batch) - len(shape)
    return (0,) * missing + tuple(
        0 if size == 1 else stride for size, stride in zip(shape, strides))


class Shapes(NamedTuple):
    """What a product of two arrays is: each operand with two indices or more, and the result."""

    a: View
    b: View
    batch: tuple
    full: tuple      # batch + (m, n)
    shape: tuple     # of the result, without the indices that a vector lacks
    row: bool        # a is a vector, so the result lacks m
    column: bool     # b is a vector, so the result lacks n


def _shown(shape):
    return "x".join(map(str, shape)) or "()"


def shapes_of(a, b):
    """numpy.matmul's rules for two views."""
    if not a.shape or not b.shape:
        raise errors.InvalidArgument(
            f"{'a' if not a.shape else 'b'} has no index: matmul multiplies vectors and matrices")
    row, column = len(a.shape) == 1, len(b.shape) == 1
    if row:
        a = View((1,) + a.shape, (a.shape[0],) + a.strides)
    if column:
        b = View(b.shape + (1,), b.strides + (1,))
    if a.shape[-1] != b.shape[-2]:
        raise errors.InvalidArgument(
            f"a of {_shown(a.shape)} has rows of {a.shape[-1]} elements, and b of {_shown(b.shape)} "
            f"columns of {b.shape[-2]}: they must be equal")
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    if batch is None:
        raise errors.InvalidArgument(
            f"the leading sizes {_shown(a.shape[:-2])} of a and {_shown(b.shape[:-2])} of b "
            "cannot be broadcast")
    m, n = a.shape[-2], b.shape[-1]
    shape = batch + (() if row else (m,)) + (() if column else (n,))
    return Shapes(a, b, batch, batch + (m, n), shape, row, column)


def result_view(shapes, view):
    """The view of a result (an `out` without the indices that a vector lacks) with all of them."""
    if view.shape != shapes.shape:
        raise errors.InvalidArgument(
            f"out is {_shown(view.shape)}, and the product is {_shown(shapes.shape)}")
    strides = list(view.strides)
    if shapes.row:
        strides.insert(len(shapes.batch), max(shapes.full[-1], 1))
    if shapes.column:
        strides.append(1)
    return View(shapes.full, tuple(strides))


def collapse(batch, *strides):
    """Indices of a batch merged where all operands step alike: [(count, (stride, ...)), ...]."""
    groups = []
    for size, *steps in zip(batch, *strides):
        if size == 1:
            continue
        groups.append((size, tuple(steps)))
    merged = []
    for size, steps in reversed(groups):
        if merged:
            count, inner = merged[-1]
            if all(step == one * count for step, one in zip(steps, inner)):
                merged[-1] = count * size, inner
                continue
        merged.append((size, steps))
    return merged[::-1]


def _fold(m, batch, trans, ld, steps, k, n):
    """(m, ld) of one product of all rows, where all products share B and rows follow on; or None."""
    (ta, _), (lda, _, ldc), (sa, sb, sc) = trans, ld, steps
    if sb != 0 or ta:
        return None
    if m == 1:
        return (batch, (sa, ld[1], sc)) if k <= sa <= LD_MAX and n <= sc <= LD_MAX else None
    if sa != m * lda or sc != m * ldc or m * batch > LD_MAX:
        return None
    return m * batch, ld


def products_of(shapes, c, fold=True, batch=True):
    """The Products for a result with the view c; None where an operand needs a copy.

    Without `fold` products stay apart, as an epilogue counts them. Without `batch` each one has
    a turn of its own.
    """
    m, n = shapes.full[-2:]
    k = shapes.a.shape[-1]
    forms = last_two(shapes.a), last_two(shapes.b), last_two(c)
    if None in forms:
        return None
    (ta, lda), (tb, ldb), (tc, ldc) = forms
    groups = collapse(shapes.batch, batch_strides(shapes.a, shapes.batch),
                      batch_strides(shapes.b, shapes.batch), batch_strides(c, shapes.batch))
    able = [g for g in groups if batch and min(g[1]) >= 0 and g[1][2] > 0]
    chosen = max(able, default=(1, (0, 0, 0)), key=lambda group: group[0])
    loops = list(groups)
    if able:
        loops.remove(chosen)
    count, steps = chosen
    ld = lda, ldb, ldc
    if fold and count > 1 and not tc and m > 0 and n > 0 and k > 0:
        folded = _fold(m, count, (ta, tb), ld, steps, k, n)
        if folded is not None:
            (m, ld), count, steps = folded, 1, (0, 0, 0)
    turns = tuple(
        tuple(sum(i * step[x] for i, (_, step) in zip(index, loops)) for x in range(3))
        for index in itertools.product(*(range(size) for size, _ in loops)))
    if 0 in shapes.full[:-2]:
        turns = ()
    trans = (not ta, not tb) if tc else (ta, tb)
    return Products(m, n, k, count, trans, ld, steps, tc, turns)
