# SPDX-License-Identifier: Apache-2.0
"""Arrays of pyopencl: products on their own queue, in their own context."""

from . import _calls, _devices, _epilogue, _layout, _numpy, _types, errors


class Kind:
    """As the kinds of _kinds.py; `prepare` makes its own products."""

    name = "pyopencl"
    current = synchronous = False

    @staticmethod
    def key(x):
        return x.shape, x.strides, x.dtype, x.offset, _queue(x).int_ptr

    @staticmethod
    def device(x):
        return None

    @staticmethod
    def word(x):
        return _types.word_of(x.dtype)

    @staticmethod
    def prepare(a, b, out, options, named):
        return Product(a, b, out, options, named)


def _queue(x):
    if x.queue is None:
        raise errors.InvalidArgument("an array of pyopencl has no queue: give it one by with_queue()")
    return x.queue


def _view(x):
    return _layout.View(x.shape, tuple(stride // x.dtype.itemsize for stride in x.strides))


def _begin(x):
    """(the buffer, the first element in it)"""
    return x.base_data.int_ptr, x.offset // x.dtype.itemsize


class Product:
    """One kind of call on arrays of one queue. It is planned once, and needs no copy: views that need
    one are refused."""

    host = False

    def __init__(self, a, b, out, options, named):
        queue = _queue(a)
        words = tuple(_numpy.word_of(x, name) for x, name in ((a, "a"), (b, "b")))
        wanted = _types.wanted(options.dtype) if out is None else _numpy.word_of(out, "out")
        word = _types.result(*words, wanted)
        for x, name in ((b, "b"), (out, "out")):
            if x is not None and _queue(x).int_ptr != queue.int_ptr:
                raise errors.InvalidArgument(f"a and {name} have different queues: give them one")
        shapes = _layout.shapes_of(_view(a), _view(b))
        view = _layout.packed(shapes.full) if out is None else _layout.result_view(shapes, _view(out))
        self.request = _calls.Request(shapes, (*words, word), _types.math(options.math, words[0]),
                                      options.epilogue, options.reads_c, options.row_order)
        self.parsed = self.request.parsed
        if self.parsed:
            _epilogue.pick(self.parsed, named)
        self.words, self.shape, self.dtype = self.request.words, shapes.shape, _numpy.dtype_of(word)
        products = _layout.products_of(shapes, view, fold=self.request.is_plain)
        plain = self.request.is_plain
        if products is None or not plain and len(products.turns) > 1 or \
                products.column_major and (options.row_order or not plain):
            raise errors.Unsupported("the strides of an array need a copy: make it contiguous by copy()")
        self.device = _devices.of_context(queue.context.int_ptr, queue.device.int_ptr, queue.device.name)
        self.is_empty = 0 in shapes.full
        self.run = None if self.is_empty else _calls.DeviceProduct(self.device, self.request, products, True)

    def problem_struct(self):
        """The problem that is computed, and that may be tuned."""
        if self.run is None:
            raise errors.InvalidArgument("a product without elements has no problem")
        return self.run.problem

    def shortcut(self):
        return None

    def __call__(self, a, b, out, c, alpha, beta, named, stream):
        import pyopencl
        import pyopencl.array
        queue = _queue(a)
        if stream is not None:
            raise errors.InvalidArgument("stream is given, and the arrays have a queue")
        if (self.request.reads_c or self.parsed and self.parsed.reads_c) and c is None and out is None:
            raise errors.InvalidArgument("beta or the epilogue reads c: give c or out")
        result = pyopencl.array.empty(queue, self.shape, self.dtype) if out is None else out
        if c is not None and c is not out:
            if c.shape != result.shape or c.dtype != result.dtype:
                raise errors.InvalidArgument(f"c is {c.shape} of {c.dtype}, and the product {result.shape}")
            result[...] = c
        if self.is_empty:
            return result
        operands, held = [], []
        for operand in self.parsed.operands if self.parsed else ():
            held.append(self._operand(operand, named[operand.name], queue))
            operands.append(held[-1].base_data.int_ptr)
        second = None
        if self.parsed and self.parsed.second:
            second = pyopencl.array.empty(queue, self.shape,
                                          _numpy.dtype_of(self.parsed.second_type or self.words[2]))
        ordered = not queue.properties & pyopencl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        if not ordered:
            queue.finish()
        accumulator = self.request.accumulator
        alpha_cell, alpha_at = _calls.scalar(accumulator, alpha)
        beta_cell, beta_at = _calls.scalar(accumulator, beta)
        (at_a, from_a), (at_b, from_b), (at_c, from_c) = _begin(a), _begin(b), _begin(result)
        self.run.launch(
            at_a, at_b, at_c, alpha_at, beta_at, queue.int_ptr,
            _calls.Operands(tuple(operands), (0,) * len(operands),
                            None if second is None else second.base_data.int_ptr),
            (from_a, from_b, from_c))
        del alpha_cell, beta_cell
        if not ordered or held:
            queue.finish()
        return result if second is None else (result, second)

    def _operand(self, operand, given, queue):
        """An operand's values on the device, of its type and whole shape, from their buffer's beginning."""
        import numpy
        import pyopencl.array
        word = _epilogue.word_of(operand, self.request.accumulator, self.words[2])
        *batch, m, n = self.request.shapes.full
        shape = _epilogue.shape_of(operand, tuple(batch), m, n)
        if isinstance(given, (int, float)):
            return pyopencl.array.to_device(queue, numpy.full(shape or (1,), given, _numpy.dtype_of(word)))
        if _types.word_of(given.dtype) != word or given.shape != shape or not given.flags.c_contiguous:
            raise errors.InvalidArgument(
                f"the operand {operand.name} is {given.shape} of {given.dtype}: the epilogue wants {shape} of "
                f"{word}, contiguous")
        return given if given.offset == 0 else given.copy()
