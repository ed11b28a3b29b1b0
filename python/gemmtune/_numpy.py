# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays, and what becomes one without a copy: arrays of other libraries in host memory."""

import sys

from . import _calls, _devices, _epilogue, _layout, _types, errors

_NATIVE = "<" if sys.byteorder == "little" else ">"


def dtype_of(word):
    """NumPy's type for our word."""
    import numpy
    name = _types.ARRAY_NAMES[word]
    try:
        return numpy.dtype(name)
    except TypeError:
        try:
            import ml_dtypes
        except ImportError:
            raise errors.Unsupported(f"NumPy has {name} with the package ml_dtypes only: install it") from None
        return numpy.dtype(getattr(ml_dtypes, name))


def word_of(array, what):
    """Our word for an array's type."""
    word = _types.word_of(array.dtype)
    if word is None or array.dtype.byteorder not in ("=", "|", _NATIVE):
        raise errors.Unsupported(f"{what} has the type {array.dtype}: gemmtune has {_types.WORDS}")
    return word


def view_of(array):
    """The View of an array, or None when its elements do not lie at multiples of their size."""
    size = array.itemsize
    if any(stride % size for stride in array.strides):
        return None
    return _layout.View(array.shape, tuple(stride // size for stride in array.strides))


def _usable(array):
    """The array, or a copy where its strides or its address are no multiple of an element."""
    if array.flags.aligned and not any(stride % array.itemsize for stride in array.strides):
        return array
    return array.copy()


class Product:
    """One kind of call on NumPy arrays: the work that depends on shapes and types is done."""

    host = True

    def __init__(self, a, b, out, options, named):
        import numpy
        self.np = numpy
        words = word_of(a, "a"), word_of(b, "b")
        wanted = _types.wanted(options.dtype) if out is None else word_of(out, "out")
        word = _types.result(*words, wanted)
        shapes = _layout.shapes_of(view_of(_usable(a)), view_of(_usable(b)))
        view = _layout.packed(shapes.full)
        if out is not None:
            seen = view_of(out) if out.flags.aligned else None
            if seen is None:
                raise errors.InvalidArgument("out is not aligned to its elements")
            view = _layout.result_view(shapes, seen)
        request = _calls.Request(shapes, (*words, word), _types.math(options.math, words[0]),
                                 options.epilogue, options.reads_c, options.row_order)
        self.request, self.parsed = request, request.parsed
        if self.parsed:
            _epilogue.pick(self.parsed, named)
        self.reads_c = request.reads_c or self.parsed is not None and self.parsed.reads_c
        self.dtype = dtype_of(word)
        self.shapes, self.words = shapes, request.words
        self.accumulator = request.accumulator
        self.device = _devices.open_device(options.device)
        self.product = _calls.HostProduct(self.device, request, view)

    def problem_struct(self):
        """The problem that is computed, and that may be tuned."""
        return self.product.problem_struct()

    def __call__(self, a, b, out, c, alpha, beta, named):
        np, shapes = self.np, self.shapes
        if out is not None and not out.flags.writeable:
            raise errors.InvalidArgument("out is read-only")
        if self.reads_c and c is None and out is None:
            raise errors.InvalidArgument("beta or the epilogue reads c: give c or out")
        a, b = _usable(a), _usable(b)
        result = np.empty(shapes.shape, self.dtype) if out is None else out
        if c is not None and c is not out:
            try:
                result[...] = c
            except ValueError:
                raise errors.InvalidArgument(
                    f"c is {c.shape}, and the product {shapes.shape}") from None
        if shapes.row:
            a = a[np.newaxis, :]
        if shapes.column:
            b = b[:, np.newaxis]
        full = result.reshape(shapes.full) if out is None else self._full(result)
        alpha_cell, alpha_at = _calls.scalar(self.accumulator, alpha)
        beta_cell, beta_at = _calls.scalar(self.accumulator, beta)
        operands = [self._operand(operand, named[operand.name]) for operand in
                    (self.parsed.operands if self.parsed else ())]
        second = None
        if self.parsed is not None and self.parsed.second:
            second = np.empty(shapes.full, dtype_of(self.parsed.second_type or self.words[2]))
        self.product.run(a, b, full, alpha_at, beta_at, operands, second)
        del alpha_cell, beta_cell
        result = result[()] if result.ndim == 0 and out is None else result
        return result if second is None else (result, second.reshape(shapes.shape))

    def _full(self, result):
        """The result with the indices that a vector lacks, without a copy."""
        if self.shapes.row:
            result = self.np.expand_dims(result, len(self.shapes.batch))
        return self.np.expand_dims(result, -1) if self.shapes.column else result

    def _operand(self, operand, given):
        """An operand's values as the library reads them: of its type, and of its whole shape."""
        np = self.np
        word = _epilogue.word_of(operand, self.accumulator, self.words[2])
        *batch, m, n = self.shapes.full
        shape = _epilogue.shape_of(operand, tuple(batch), m, n)
        array = np.asarray(given)
        if isinstance(given, np.ndarray) and array.dtype != dtype_of(word):
            raise errors.InvalidArgument(
                f"the operand {operand.name} has the type {array.dtype}: the epilogue wants {word}")
        if not shape and array.size == 1:
            array = array.reshape(())
        try:
            return np.broadcast_to(array, shape).astype(dtype_of(word))
        except ValueError:
            raise errors.InvalidArgument(
                f"the operand {operand.name} is {array.shape}, which is not {shape}") from None


def like(product):
    """An array as the product's result is."""
    import numpy
    return numpy.empty(product.shapes.shape, product.dtype)
