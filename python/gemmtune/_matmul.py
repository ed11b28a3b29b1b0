# SPDX-License-Identifier: Apache-2.0
"""matmul: any arrays in, the caller's own kind of array out."""

from typing import NamedTuple

from . import _numpy, _types, errors

_CACHE_MAX = 4096
_ready = {}


class Options(NamedTuple):
    """What a call says beside its arrays and numbers."""

    epilogue: str
    math: str
    dtype: object
    device: object
    reads_c: bool


def _key(array):
    return array.shape, array.strides, array.dtype


def matmul(a, b, out=None, *, alpha=1, beta=0, c=None, epilogue=None, math=None, dtype=None,
           device=None, stream=None, operands=None, **named):
    import numpy
    if operands:
        named = {**named, **operands}
    for name, array in ("a", a), ("b", b), ("out", out), ("c", c):
        if array is not None and not isinstance(array, numpy.ndarray):
            raise errors.InvalidArgument(f"{name} is a {type(array).__name__}, and no array")
    if named and epilogue is None:
        raise errors.InvalidArgument(f"{next(iter(named))!r} is no argument of matmul without an epilogue")
    key = (_key(a), _key(b), out is not None and _key(out), epilogue, math, dtype, device, beta != 0,
           tuple(named))
    product = _ready.get(key)
    if product is None:
        if len(_ready) >= _CACHE_MAX:
            _ready.clear()
        options = Options(epilogue, math, dtype, device, beta != 0)
        product = _ready[key] = _numpy.Product(a, b, out, options, named)
    return product(a, b, out, c, alpha, beta, named)
