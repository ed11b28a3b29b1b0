# SPDX-License-Identifier: Apache-2.0
"""Products of arrays in the memory of a CUDA device."""

from . import _calls, _devices, _epilogue, _layout, _types, errors


class Product:
    """One kind of call on arrays of a device: the work that depends on shapes and types is done."""

    host = False

    def __init__(self, kind, a, b, out, options, named, planned=False):
        self.kind, self.index = kind, kind.device(a)
        words = _word(kind, a, "a"), _word(kind, b, "b")
        wanted = _types.wanted(options.dtype) if out is None else _word(kind, out, "out")
        word = _types.result(*words, wanted)
        if options.device is not None and _devices.word_of(options.device) != ("cuda", self.index):
            raise errors.InvalidArgument(
                f"device is {options.device!r}, and the arrays are on cuda:{self.index}")
        for name, array in ("b", b), ("out", out):
            if array is not None and kind.device(array) != self.index:
                raise errors.InvalidArgument(
                    f"a is on cuda:{self.index}, and {name} {_place(kind.device(array))}: "
                    "all arrays of a product must be on one device")
        shapes = _layout.shapes_of(kind.view(a), kind.view(b))
        view = _layout.packed(shapes.full)
        if out is not None:
            view = _layout.result_view(shapes, kind.view(out))
        self.request = request = _calls.Request(
            shapes, (*words, word), _types.math(options.math, words[0]), options.epilogue,
            options.reads_c, options.row_order)
        self.parsed = request.parsed
        if self.parsed:
            _epilogue.pick(self.parsed, named)
        self.words, self.accumulator = request.words, request.accumulator
        self.reads_c = request.reads_c or self.parsed is not None and self.parsed.reads_c
        self.shape = shapes.shape
        self.is_empty = 0 in shapes.full
        self.device = _devices.open_device(f"cuda:{self.index}")
        self._lay_out(request, view)
        self.run = _calls.DeviceProduct(self.device, self.request, self.products, planned)
        self.one = _calls.scalar(self.accumulator, 1)
        self.zero = _calls.scalar(self.accumulator, 0)
        # Nothing but three addresses differs between two such calls.
        self.is_short = not (self.parsed or self.copies_a or self.copies_b or self.copies_c or
                             self.reads_c or self.is_empty or kind.synchronous)

    def _lay_out(self, request, view):
        """Decides which operands are copied, so that the rest is one batch for the library."""
        shapes, plain = request.shapes, request.is_plain
        turned = _layout.last_two(view)
        # Rows of C are rows in memory where something is said of them.
        self.copies_c = turned is None or turned[0] and (request.row_order or not plain)
        self.copies_a = _layout.last_two(shapes.a) is None
        self.copies_b = _layout.last_two(shapes.b) is None

        def laid():
            a = _layout.packed(self.shape_a) if self.copies_a else shapes.a
            b = _layout.packed(self.shape_b) if self.copies_b else shapes.b
            to = _layout.packed(shapes.full) if self.copies_c else view
            return _layout.products_of(shapes._replace(a=a, b=b), to, fold=plain)

        self.shape_a, self.shape_b = shapes.a.shape, shapes.b.shape
        self.products = laid()
        if not plain and len(self.products.turns) > 1:
            # An epilogue counts the products of one batch.
            self.copies_a = self.copies_b = self.copies_c = True
            self.shape_a = shapes.batch + shapes.a.shape[-2:]
            self.shape_b = shapes.batch + shapes.b.shape[-2:]
            self.products = laid()

    def shortcut(self):
        """A function of (a, b, out) for the most usual call: alpha 1, nothing added, the current stream.
        It trusts its arrays. None where a call does more."""
        kind = self.kind
        if not (kind.current and self.is_short):
            return None
        run = self.run.shortcut()
        if run is None:
            return None
        pointer, stream, index = kind.pointer, kind.stream, self.index
        empty = kind.maker(self.shape, self.words[2], index)

        def call(a, b, out):
            if out is None:
                out = empty()
            run(pointer(a), pointer(b), pointer(out), stream(index))
            return out

        return call

    def problem_struct(self):
        """The problem that is computed, and that may be tuned."""
        return self.run.problem

    def __call__(self, a, b, out, c, alpha, beta, named, stream):
        kind = self.kind
        if stream is None:
            stream = kind.stream(self.index)
            if self.is_short and c is None and alpha == 1:
                # The short way of most calls.
                if out is None:
                    out = kind.empty(self.shape, self.words[2], self.index)
                self.device.driver.enter()
                kind.ready(a, stream)
                kind.ready(b, stream)
                self.run.run(kind.pointer(a), kind.pointer(b), kind.pointer(out), self.one[1],
                             self.zero[1], stream)
                return out
            return self._on(stream, a, b, out, c, alpha, beta, named)
        return self._elsewhere(stream, a, b, out, c, alpha, beta, named)

    def _elsewhere(self, stream, a, b, out, c, alpha, beta, named):
        """For a stream of the caller's. Arrays are made, copied and freed on the current one, so the
        two wait for each other; a product that needs copies runs on the current one altogether."""
        driver = self.device.driver
        driver.enter()
        current = self.kind.stream(self.index)
        if current == stream:
            return self._on(stream, a, b, out, c, alpha, beta, named)
        copies = self.copies_a or self.copies_b or self.copies_c or c is not None or named
        first, runs_on = (stream, current) if copies else (current, stream)
        driver.order(first, runs_on)
        result = self._on(runs_on, a, b, out, c, alpha, beta, named)
        driver.order(runs_on, first)
        return result

    def _on(self, stream, a, b, out, c, alpha, beta, named):
        kind = self.kind
        if self.reads_c and c is None and out is None:
            raise errors.InvalidArgument("beta or the epilogue reads c: give c or out")
        result = kind.empty(self.shape, self.words[2], self.index) if out is None else out
        self.device.driver.enter()
        if c is not None and c is not out:
            kind.copy(result, c)
        if self.is_empty:
            return self._given(result, self._second())
        if self.copies_a:
            a = kind.fit(a, self._without(self.shape_a, 0))
        if self.copies_b:
            b = kind.fit(b, self._without(self.shape_b, 1))
        to = result
        if self.copies_c:
            to = kind.empty(self.shape, self.words[2], self.index)
            if self.reads_c:
                kind.copy(to, result)
        operands, held, second = self._operands(named)
        for array in (a, b, *held, *((result,) if self.reads_c else ())):
            kind.ready(array, stream)
        alpha_cell, alpha_at = _calls.scalar(self.accumulator, alpha)
        beta_cell, beta_at = _calls.scalar(self.accumulator, beta)
        self.run.run(kind.pointer(a), kind.pointer(b), kind.pointer(to), alpha_at, beta_at, stream,
                     operands)
        del alpha_cell, beta_cell
        if to is not result:
            kind.copy(result, to)
        if kind.synchronous:
            self.device.driver.finish(stream)
        return self._given(result, second)

    def _second(self):
        """An array for the epilogue's second output; None where it has none."""
        if not self.parsed or not self.parsed.second:
            return None
        return self.kind.empty(self.shape, self.parsed.second_type or self.words[2], self.index)

    def _given(self, result, second):
        """What the caller gets."""
        if self.kind.synchronous:
            result, second = self.kind.finished(result), second and self.kind.finished(second)
        return result if second is None else (result, second)

    def _without(self, shape, which):
        """A shape without the index that a vector lacks."""
        vector = (self.request.shapes.row, self.request.shapes.column)[which]
        if not vector:
            return shape
        return shape[:-2] + (shape[-1],) if which == 0 else shape[:-1]

    def _operands(self, named):
        """(Operands, the arrays that they point into, the second output or None)."""
        if not self.parsed:
            return _calls.Operands(), (), None
        kind, (*batch, m, n) = self.kind, self.request.shapes.full
        held = []
        for operand in self.parsed.operands:
            given = named[operand.name]
            word = _epilogue.word_of(operand, self.accumulator, self.words[2])
            shape = _epilogue.shape_of(operand, tuple(batch), m, n)
            if isinstance(given, (int, float)):
                given = kind.number(given, word, self.index)
                held.append(kind.fit(given, shape) if shape else given)
                continue
            if kind.word(given) != word or kind.device(given) != self.index:
                raise errors.InvalidArgument(
                    f"the operand {operand.name} is of type {kind.word(given)} and "
                    f"{_place(kind.device(given))}: the epilogue wants {word} on cuda:{self.index}")
            held.append(self._fitted(given, operand, shape))
        second = self._second()
        pointers = tuple(kind.pointer(array) for array in held)
        return _calls.Operands(pointers, (0,) * len(pointers),
                               None if second is None else kind.pointer(second)), held, second

    def _fitted(self, given, operand, shape):
        view = self.kind.view(given)
        if view == _layout.packed(shape) or _size(view.shape) == 1 == _size(shape):
            return given
        if _layout.broadcast(view.shape, shape) != tuple(shape):
            raise errors.InvalidArgument(
                f"the operand {operand.name} is {view.shape}, which is not {shape}")
        return self.kind.fit(given, shape)


def _size(shape):
    size = 1
    for one in shape:
        size *= one
    return size


def _place(index):
    return "in host memory" if index is None else f"on cuda:{index}"


def _word(kind, array, what):
    word = kind.word(array)
    if word is None:
        raise errors.Unsupported(
            f"{what} has the type {getattr(array, 'dtype', '?')}: gemmtune has {_types.WORDS}")
    return word
