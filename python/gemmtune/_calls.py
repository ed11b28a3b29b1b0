# SPDX-License-Identifier: Apache-2.0
"""Products that are ready to be called: on matrices of a device, and on matrices of the host."""

import ctypes as c
import functools
import struct
import threading
from typing import NamedTuple

from . import _abi, _cuda, _devices, _epilogue, _layout, _library, _types, errors

_SCALARS = {"f32": c.c_float, "f64": c.c_double, "i32": c.c_int32}
WORKSPACE_MAX = 32 << 20
# Above so many bytes of A, B and C the products of a batch go to the device one by one.
_BATCH_BYTES_MAX = 256 << 20
_THREE = struct.Struct("PPP")


class Request(NamedTuple):
    """What is computed, without any memory."""

    shapes: _layout.Shapes
    words: tuple        # types of a, b, c
    math: int
    epilogue: str       # None: none
    reads_c: bool
    row_order: bool

    @property
    def accumulator(self):
        return _types.accumulator(self.words[0])

    @property
    def parsed(self):
        return _epilogue.read(self.epilogue) if self.epilogue else None

    @property
    def is_plain(self):
        """Whether the sums are stored as they are. C of another type than sums of i8 has "d=x"."""
        return self.epilogue is None and (self.words[0] != "i8" or self.words[2] == "i32")


@functools.lru_cache(maxsize=1024)
def scalar(word, value):
    """(a cell of ctypes, its address) with a number in the type of sums."""
    if word == "i32" and int(value) != value:
        raise errors.InvalidArgument(f"alpha or beta is {value}: beside sums of i32 it is an integer")
    try:
        cell = _SCALARS[word](int(value) if word == "i32" else value)
    except TypeError:
        raise errors.InvalidArgument(
            f"alpha or beta is a {type(value).__name__}: it must be a number") from None
    return cell, c.addressof(cell)


def problem_of(library, request, products):
    """The struct of the library for Products."""
    problem = _abi.Problem()
    _abi.check(library, library.gemmtune_problem_init_sized(
        c.byref(problem), c.sizeof(problem), _types.NUMBER[request.words[0]],
        products.m, products.n, products.k))
    problem.layout = _abi.COL_MAJOR if products.column_major else _abi.ROW_MAJOR
    problem.trans_a, problem.trans_b = (int(trans) for trans in products.trans)
    problem.type_b, problem.type_c = (_types.NUMBER[word] for word in request.words[1:])
    problem.math = request.math
    problem.reads_c = int(request.reads_c)
    problem.row_order = int(request.row_order)
    problem.lda, problem.ldb, problem.ldc = products.ld
    if products.batch != 1:
        problem.batch = products.batch
        problem.stride_a, problem.stride_b, problem.stride_c = products.strides
    if request.epilogue:
        problem.epilogue = request.epilogue.encode()
    return problem


def name_of(library, problem):
    """The canonical name of a problem."""
    text = c.create_string_buffer(1024)
    length = library.gemmtune_problem_format(c.byref(problem), text, len(text))
    if length < 0:
        raise _abi.error_of(library, length)
    return text.value.decode()


class Operands(NamedTuple):
    """The memory that an epilogue reads and writes beside the product, for one launch."""

    pointers: tuple = ()
    lds: tuple = ()
    second: int = None
    second_ld: int = 0


_NONE = Operands()


class DeviceProduct:
    """A product of matrices in the memory of one device.

    Without operands it is one call of gemmtune_gemm a turn, which has a workspace for each stream.
    With operands it is a plan, whose workspace the calls of a stream share (_devices). With `planned`
    it is a plan with a workspace of its own, so that a call allocates nothing.
    """

    def __init__(self, device, request, products, planned=False):
        self.device, self.request, self.products = device, request, products
        self.library = device.library
        self.problem = problem_of(self.library, request, products)
        self.pointer = c.addressof(self.problem)
        self.sizes = tuple(_types.SIZE[word] for word in request.words)
        moved = any(any(turn) for turn in products.turns)
        parsed = request.parsed
        self.takes_operands = parsed is not None and bool(parsed.operands or parsed.second)
        self.plan, self.own, self.workspace = None, None, 0
        self.lock = device.lock
        if planned or self.takes_operands or moved and device.backend == "opencl":
            self.make_plan()
        if planned and self.workspace:
            self.own, self.lock = device.driver.alloc(self.workspace), threading.Lock()

    def make_plan(self):
        """Makes the plan; raises what the library says of the problem."""
        made = c.c_void_p()
        _devices.sweep()
        self.device.driver.enter()
        _abi.check(self.library, self.library.gemmtune_plan_create(
            c.byref(made), self.device.ctx, self.pointer, len(_abi.MATCHES) - 1, WORKSPACE_MAX))
        self.plan = made.value
        self.workspace = self.describe().workspace_bytes

    def describe(self):
        """gemmtune_plan_info of the plan."""
        info = _abi.PlanInfo()
        _abi.check(self.library, self.library.gemmtune_plan_describe_sized(
            self.plan, c.byref(info), c.sizeof(info)))
        return info

    def run(self, a, b, to, alpha, beta, stream, operands=_NONE):
        """Enqueues all turns. a, b, to: addresses, or buffers of OpenCL; alpha, beta: addresses."""
        if self.plan is not None:
            if self.takes_operands or len(self.products.turns) != 1 or self.workspace:
                self.launch(a, b, to, alpha, beta, stream, operands)
                return
            status = self.library.gemmtune_execute(self.plan, alpha, a, b, beta, to, None, stream)
            if status:
                raise _abi.error_of(self.library, status)
            return
        gemm, ctx, pointer = self.library.gemmtune_gemm, self.device.ctx, self.pointer
        if len(self.products.turns) == 1:
            status = gemm(ctx, pointer, alpha, a, b, beta, to, stream)
            if status:
                raise _abi.error_of(self.library, status)
            return
        size_a, size_b, size_c = self.sizes
        for at_a, at_b, at_c in self.products.turns:
            _abi.check(self.library, gemm(
                ctx, pointer, alpha, a + at_a * size_a, b + at_b * size_b, beta, to + at_c * size_c,
                stream))

    def launch(self, a, b, to, alpha, beta, stream, operands=_NONE, offsets=(0, 0, 0)):
        """`run` by the plan. offsets: of buffers of OpenCL, in elements, where matrices begin."""
        args = _abi.Args()
        _abi.check(self.library, self.library.gemmtune_args_init_sized(
            c.byref(args), c.sizeof(args)))
        args.alpha, args.beta = alpha, beta
        count = len(operands.pointers)
        if count:
            args.operands = count
            args.operand = (c.c_void_p * count)(*operands.pointers)
            args.operand_ld = (c.c_int64 * count)(*operands.lds)
        args.d2, args.d2_ld = operands.second, operands.second_ld
        with self.lock:
            args.workspace = self.own or self.device.workspace(stream, self.workspace)
            for turn in self.products.turns:
                if self.device.backend == "opencl":
                    args.a, args.b, args.c = a, b, to
                    args.a_offset, args.b_offset, args.c_offset = map(sum, zip(turn, offsets))
                else:
                    args.a, args.b, args.c = (
                        first + at * size for first, at, size in zip((a, b, to), turn, self.sizes))
                _abi.check(self.library, self.library.gemmtune_launch(
                    self.plan, c.byref(args), stream))

    def shortcut(self):
        """A function of (address of a, of b, of c, stream) that does what `run` does with alpha 1 and
        beta 0, without a check; or None where a call is more than one launch.

        It holds Python's lock, which a launch is too short to give up; a first call, which builds a
        kernel, is `run`'s. The arguments of a launch are bytes that no other thread can change.
        """
        if len(self.products.turns) != 1 or self.takes_operands or self.device.backend != "cuda":
            return None
        accumulator = self.request.accumulator
        one, zero = scalar(accumulator, 1), scalar(accumulator, 0)
        driver, library = self.device.driver, self.library
        if self.plan is None:
            gemm = _library.without_unlocking("gemmtune_gemm")
            first = c.c_void_p(self.device.ctx), c.c_void_p(self.pointer), c.c_void_p(one[1])
            beta = c.c_void_p(zero[1])

            def call(a, b, to, stream):
                return gemm(*first, a, b, beta, to, stream)
        else:
            launch = _library.without_unlocking("gemmtune_launch")
            args = _abi.Args()
            _abi.check(library, library.gemmtune_args_init_sized(c.byref(args), c.sizeof(args)))
            args.alpha, args.beta, args.workspace = one[1], zero[1], self.own
            text, at = bytes(args), _abi.Args.a.offset
            head, tail = text[:at], text[at + 24:]
            plan, pack = c.c_void_p(self.plan), _THREE.pack

            def call(a, b, to, stream):
                return launch(plan, head + pack(a, b, to) + tail, stream)

        def run(a, b, to, stream, owner=self, cells=(one, zero)):
            status = call(a, b, to, stream)
            if status:
                # A thread without the device's context, most of all: nothing was enqueued.
                driver.enter()
                status = call(a, b, to, stream)
                if status:
                    raise _abi.error_of(library, status)

        if driver.alone:
            return run

        def enter_and_run(a, b, to, stream):
            driver.enter()
            try:
                run(a, b, to, stream)
            finally:
                _cuda.restore()

        return enter_and_run

    def __del__(self):
        if getattr(self, "plan", None) and not self.device.is_over():
            _devices.drop(self.device.driver, functools.partial(_destroy, self.device, self.plan, self.own))


def _destroy(device, plan, workspace):
    if workspace:
        device.driver.free(workspace)
    device.library.gemmtune_plan_destroy(plan)


def plan_of(product):
    """A DeviceProduct with a plan, to describe what a product runs."""
    if not product.host:
        return DeviceProduct(product.device, product.request, product.products, planned=True)
    host = product.product
    if host.whole is not None:
        request, products = host.whole.request, host.whole.products
    else:
        request, products = product.request, host.products
    return DeviceProduct(product.device, request, products._replace(turns=((0, 0, 0),)), planned=True)


# ---- matrices of the host ----------------------------------------------------------------------

def _stored(view):
    """(shape in memory, whether it is transposed) of an array that is copied whole, packed."""
    shape, strides = view
    turned = shape[:-2] + (shape[-1], shape[-2])
    if strides != _layout.packed_strides(shape) and \
            strides[:-2] + (strides[-1], strides[-2]) == _layout.packed_strides(turned):
        return turned, True
    return shape, False


def _view_of(shape, transposed):
    view = _layout.packed(shape)
    if not transposed:
        return view
    return _layout.View(shape[:-2] + (shape[-1], shape[-2]),
                        view.strides[:-2] + (view.strides[-1], view.strides[-2]))


class HostProduct:
    """A product of NumPy arrays: by gemmtune_host_gemm, or copied whole (batches, epilogues)."""

    def __init__(self, device, request, to):
        import numpy
        self.np, self.device, self.request = numpy, device, request
        self.library = device.library
        self.copied = False   # a and b are copied first, and the result afterwards
        self.whole = None     # a DeviceProduct of packed copies
        self.products = None
        # gemmtune_host_gemm cuts k where memory asks for it, so it has no row_order.
        if not request.is_plain or request.row_order or not self._one_by_one(to, batch=True):
            self._copy_whole(to)

    def _one_by_one(self, to, batch):
        """Prepares calls of gemmtune_host_gemm; False when the products make a batch."""
        shapes = self.request.shapes
        products = _layout.products_of(shapes, to, batch=batch)
        self.copied = products is None
        if self.copied:
            packed = shapes._replace(a=_layout.packed(shapes.a.shape),
                                     b=_layout.packed(shapes.b.shape))
            products = _layout.products_of(packed, _layout.packed(shapes.full), batch=batch)
        if products.batch != 1:
            return False
        self.products = products
        self.problem = problem_of(self.library, self.request, products)
        return True

    def _copy_whole(self, to):
        shapes, words = self.request.shapes, self.request.words
        size = sum(_types.bytes_of(view.shape, word)
                   for view, word in zip((shapes.a, shapes.b, to), words))
        if self.request.is_plain and not self.request.row_order and size > _BATCH_BYTES_MAX:
            self._one_by_one(to, batch=False)
            return
        self.stored = _stored(shapes.a), _stored(shapes.b)
        a, b = (_view_of(*stored) for stored in self.stored)
        if not self.request.is_plain and len(shapes.batch) > 1:
            # An epilogue counts the products of one batch.
            a, b = self._merge(a, 0), self._merge(b, 1)
        merged = shapes._replace(a=a, b=b)
        products = _layout.products_of(merged, _layout.packed(shapes.full),
                                       fold=self.request.is_plain)
        self.whole = DeviceProduct(self.device, self.request, products)

    def _merge(self, view, which):
        """A view whose batch is one group beside the result's: of an operand that all products
        share, or else of a copy for each product."""
        batch = self.request.shapes.batch
        steps = _layout.batch_strides(view, batch)
        if not any(steps) or len(_layout.collapse(batch, steps)) <= 1 and 0 not in steps:
            return view
        full = batch + view.shape[-2:]
        self.stored = tuple((full, False) if i == which else stored
                            for i, stored in enumerate(self.stored))
        return _layout.packed(full)

    def problem_struct(self):
        """The problem that is computed, and that may be tuned."""
        return self.whole.problem if self.whole else self.problem

    def run(self, a, b, out, alpha, beta, operands=(), second=None):
        """Computes into out, an array with all indices. Returns when it is done."""
        shapes = self.request.shapes
        if 0 in shapes.full:
            return
        if self.whole is not None:
            self._run_whole(a, b, out, alpha, beta, operands, second)
            return
        np = self.np
        to = out
        if self.copied:
            a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
            to = np.array(out, order="C", copy=True) if self.request.reads_c else \
                np.empty(out.shape, out.dtype)
        elif np.may_share_memory(out, a) or np.may_share_memory(out, b):
            to = np.empty_like(out)
            if to.strides != out.strides:
                a, b = a.copy(order="K"), b.copy(order="K")
                to = out
            elif self.request.reads_c:
                to[...] = out
        self._multiply(address_of(a), address_of(b), address_of(to), alpha, beta)
        if to is not out:
            out[...] = to

    def _multiply(self, a, b, to, alpha, beta):
        args = _abi.Args()
        _abi.check(self.library, self.library.gemmtune_args_init_sized(
            c.byref(args), c.sizeof(args)))
        args.alpha, args.beta = alpha, beta
        sizes = [_types.SIZE[word] for word in self.request.words]
        self.device.driver.enter()
        for turn in self.products.turns:
            # An offset of the library's is never negative, as the stride of a leading index may be.
            args.a, args.b, args.c = (first + at * size for first, at, size in zip((a, b, to), turn, sizes))
            _abi.check(self.library, self.library.gemmtune_host_gemm(
                self.device.contexts, 1, c.byref(self.problem), c.byref(args), None, None))

    def _as_stored(self, array, which):
        """The array as it is copied to the device: packed, and only turned where that suffices."""
        shape, transposed = self.stored[which]
        if transposed:
            array = array.swapaxes(-1, -2)
        if array.shape != shape:
            array = self.np.broadcast_to(array, shape)
        return self.np.ascontiguousarray(array)

    def _run_whole(self, a, b, out, alpha, beta, operands, second):
        np, driver, held = self.np, self.device.driver, []

        def put(array, copy=True):
            if array.size == 0:
                return None
            held.append(driver.alloc(array.nbytes))
            if copy:
                driver.write(held[-1], address_of(array), array.nbytes)
            return held[-1]

        driver.enter()
        try:
            parsed = self.request.parsed
            reads_c = self.request.reads_c or parsed is not None and parsed.reads_c
            to = np.ascontiguousarray(out) if reads_c else np.empty(out.shape, out.dtype)
            at_a, at_b = put(self._as_stored(a, 0)), put(self._as_stored(b, 1))
            at_c = put(to, copy=reads_c)
            pointers = tuple(put(np.ascontiguousarray(operand)) for operand in operands)
            at_second = put(second, copy=False) if second is not None else None
            self.whole.run(at_a, at_b, at_c, alpha, beta, driver.stream,
                           Operands(pointers, (0,) * len(pointers), at_second))
            direct = out.flags.c_contiguous
            driver.read(address_of(out if direct else to), at_c, to.nbytes)
            if not direct:
                out[...] = to
            if second is not None:
                driver.read(address_of(second), at_second, second.nbytes)
        finally:
            for memory in held:
                driver.free(memory)


def address_of(array):
    """The address of a NumPy array's first element."""
    return array.__array_interface__["data"][0]
