# SPDX-License-Identifier: Apache-2.0
"""matmul, plan, problem and record: any arrays in, the caller's own kind of array out."""

from __future__ import annotations

import hashlib
import os
from typing import Any, NamedTuple, Optional

from . import _abi, _calls, _cuda, _device, _devices, _kinds, _numpy, _record, errors

_CACHE_MAX = 4096
_ready = {}
# Calls of the most usual form that were made before: a function of (a, b, out).
_short = {}


class Options(NamedTuple):
    """What a call says beside its arrays and numbers."""

    epilogue: Optional[str]
    math: Optional[str]
    dtype: Any
    device: Any
    reads_c: bool
    row_order: bool


def forget():
    """Drops what calls have prepared, so that the next ones look problems up again."""
    _ready.clear()
    _short.clear()


os.register_at_fork(after_in_child=forget)


def _in_host_memory(kind, array, what):
    """A NumPy array of an array's memory; None stays None."""
    if array is None or kind.name == "NumPy":
        return array
    if kind.device(array) is not None:
        raise errors.InvalidArgument(
            f"a is in host memory, and {what} on cuda:{kind.device(array)}: "
            "all arrays of a product must be in one place")
    return kind.to_host(array)


def _check_kind(kind, array, what):
    if array is not None and _kinds.kind_of(array, what) is not kind:
        other = _kinds.kind_of(array, what)
        raise errors.InvalidArgument(
            f"a is an array of {kind.name}, and {what} one of {other.name}: convert one of them")


@_cuda.restoring
def prepare(kind, a, b, out, options, named, planned=False):
    """The product for a call; `named` are the arrays of the epilogue."""
    if kind.name == "pyopencl":
        return kind.prepare(a, b, out, options, named)
    if kind.device(a) is None:
        a, b = _in_host_memory(kind, a, "a"), _in_host_memory(kind, b, "b")
        return _numpy.Product(a, b, _in_host_memory(kind, out, "out"), options, named)
    return _device.Product(kind, a, b, out, options, named, planned)


@_cuda.restoring
def call(product, kind, a, b, out, c, alpha, beta, named, stream):
    """Calls a product. Arrays in host memory of other libraries go through NumPy's."""
    if _devices.forked:
        _devices.refuse_fork()
    if not product.host:
        return product(a, b, out, c, alpha, beta, named, stream)
    if stream is not None:
        raise errors.InvalidArgument("stream is given, and the arrays are in host memory: they have none")
    if kind.name == "NumPy":
        return product(a, b, out, c, alpha, beta, named)
    if out is not None and kind.name == "JAX":
        raise errors.InvalidArgument("out is an array of JAX, which nobody may write to")
    plain = [_in_host_memory(kind, array, what)
             for array, what in ((a, "a"), (b, "b"), (out, "out"), (c, "c"))]
    operands = {
        name: value if isinstance(value, (int, float)) else _in_host_memory(kind, value, name)
        for name, value in named.items()}
    result = product(*plain, alpha, beta, operands)
    if isinstance(result, tuple):
        return (out if out is not None else kind.from_host(result[0])), kind.from_host(result[1])
    return out if out is not None else kind.from_host(result)


def _find(a, b, out, c, epilogue, math, dtype, device, row_order, beta, named):
    """(kind, product) of a call, prepared by an earlier one where there was one."""
    kind = _kinds._by_type.get(type(a)) or _kinds.kind_of(a, "a")
    if type(b) is not type(a):
        _check_kind(kind, b, "b")
    key_of = kind.key
    if named or epilogue is not None or dtype is not None or row_order:
        key = (kind.name, key_of(a), key_of(b), out is not None and key_of(out), beta != 0, math,
               device, epilogue, dtype, bool(row_order), tuple(named))
    else:
        key = (kind.name, key_of(a), key_of(b), out is not None and key_of(out), beta != 0, math,
               device)
    product = _ready.get(key)
    if product is None:
        if named and epilogue is None:
            raise errors.InvalidArgument(
                f"{next(iter(named))!r} is no argument of matmul: operands come with an epilogue")
        _check_kind(kind, out, "out")
        _check_kind(kind, c, "c")
        for name, value in named.items():
            if not isinstance(value, (int, float)):
                _check_kind(kind, value, name)
        options = Options(epilogue, math, dtype, device, beta != 0, bool(row_order))
        product = prepare(kind, a, b, out, options, named)
        if len(_ready) >= _CACHE_MAX:
            _ready.clear()
        _ready[key] = product
    return kind, product


def matmul(a: Any, b: Any, out: Any = None, *, alpha: float = 1, beta: float = 0, c: Any = None,
           epilogue: Optional[str] = None, math: Optional[str] = None, dtype: Any = None,
           device: Any = None, row_order: bool = False, stream: Optional[int] = None,
           operands: Optional[dict] = None, **named: Any) -> Any:
    """alpha * a @ b + beta * c, or an epilogue of that, by the fastest known kernel.

    Arrays of NumPy, torch, CuPy, JAX and pyopencl, and objects with `__dlpack__` or
    `__cuda_array_interface__`; all of one kind and on one device. The result is of the same kind.
    On a GPU the product runs on the library's current stream (pyopencl: the arrays' queue), and the call
    does not wait for it; JAX's is waited for. Arrays in host memory are multiplied on `device`, and the
    call waits.

    Shapes: as numpy.matmul. a (..., m, k) and b (..., k, n) give (..., m, n), and the leading sizes
    are broadcast. A vector a is one row and a vector b one column, and the result lacks that index.
    Transposed and strided views are read where they lie, unless neither index has a stride of 1.

    a, b: f32, f64, f16, bf16, e4m3, e5m2, i8 or i32; one type for both, or e4m3 with e5m2.
    out: where the result goes, of its shape; it may not overlap a or b on a GPU. With beta, and
        without c, it is read as well.
    alpha, beta: numbers, which become the type of the sums: f64 beside f64, i32 beside i8 and i32,
        else f32.
    c: what beta multiplies, broadcast to the result's shape; it is read, and stays as it is.
    epilogue: a function of each element x of alpha * a @ b + beta * c, before it is stored:
        "bias_gelu", "d=silu(x)*up[i,j]" (docs/epilogue.md). Its operands are given by name, as
        bias=v, or in the dict `operands`. With an assignment to d2 the result is a pair (d, d2).
    math: "strict" (the default), "tf32", "split" or "bf16x3" of f32, "residues" of f64, "fast" or
        "promoted" of 8-bit floats.
    dtype: the result's type where it is not the usual one (bf16 of 8-bit floats, i32 of i8, else
        the inputs' own): f32 of 16- and 8-bit floats, f16 of 8-bit floats, f32, f16, bf16 or i8 of i8.
    device: for arrays in host memory, the index that `gemmtune devices` prints, "cuda:N" or
        "opencl:N"; None: $GEMMTUNE_DEVICE, or else the first one.
    row_order: whether a row of the result has the same bits for every m, in every batch and at every
        place, for a b of the same shape and strides (docs/row-order.md).
    stream: a CUstream as an integer, instead of the current one. The product waits for the current
        stream, and the current stream for the product.

    Errors: errors.InvalidArgument for shapes, mixed kinds and devices; errors.Unsupported for
    types; errors.NoDriver without a device; errors.NotFound where no kernel has the order of rows; the other
    ones of gemmtune.errors as the library says.
    """
    kind = _kinds._by_type.get(type(a))
    usual = (kind is not None and kind.current and c is None and epilogue is None and stream is None and
             alpha == 1 and beta == 0 and dtype is None and device is None and not row_order and not named and
             not operands and
             _kinds._by_type.get(type(b)) is kind and
             (out is None or _kinds._by_type.get(type(out)) is kind))
    if usual:
        key_of = kind.key
        key = key_of(a), key_of(b), None if out is None else key_of(out), math
        short = _short.get(key)
        if short is not None and not _record.active:
            return short(a, b, out)
    if operands:
        named = {**named, **operands}
    kind, product = _find(a, b, out, c, epilogue, math, dtype, device, row_order, beta, named)
    if _record.active:
        _record.note(product)
    result = call(product, kind, a, b, out, c, alpha, beta, named, stream)
    if usual and not product.host:
        short = product.shortcut()
        if short is not None:
            if len(_short) >= _CACHE_MAX:
                _short.clear()
            _short[key] = short
    return result


def problem(a: Any, b: Any, out: Any = None, *, beta: float = 0, epilogue: Optional[str] = None,
            math: Optional[str] = None, dtype: Any = None, device: Any = None, row_order: bool = False,
            operands: Optional[dict] = None, **named: Any) -> str:
    """The name of the problem that matmul computes for these arguments, as "f32-nn-64x64x64".

    `tune`, `lookup`, `trials` and the program take the name. Nothing is computed. A batch that shares b
    may be one product of more rows.

    Arguments and shapes: as matmul's. Errors: as matmul's.
    """
    if operands:
        named = {**named, **operands}
    _, product = _find(a, b, out, None, epilogue, math, dtype, device, row_order, beta, named)
    return name_of(product)


def name_of(product):
    """The canonical name of a prepared product's problem."""
    return _calls.name_of(product.device.library, product.problem_struct())


class Plan:
    """A product that is planned once and called often: `gemmtune.plan` makes it.

    Call it as matmul, with arrays of the planned shapes, strides and types. On a GPU a call makes
    no allocation but the result's (none with out=), takes no lock unless the kernel has a workspace,
    and may be captured into a CUDA graph. The plan owns its workspace, so its calls must follow one
    another: on one stream, or ordered by events.

    `problem`: its name. `device`: the word for its device. `kernel`, `family`, `params`: what runs.
    `match`: "exact" (tuned for this problem on this device), "shape" (for another problem), "arch"
    (tuned elsewhere) or "default" (never measured). `came_from`: the tuned problem of the kernel.
    `why`: one line on the choice. `expected_loss`: how much longer the kernel may take than the best
    one, as a part of the best one's time; 0.05 is 5 %, None says that nothing is known.
    `tuned_seconds`: its median time when it was tuned; None: never. `workspace`: bytes of device
    memory. `digest`: 16 hexadecimal digits that change with the problem, the kernel, the device's
    name and the library's version. `pinned`: whether a lock has chosen the kernel. `image`: the SHA-256
    of its image, "" where the driver does not give it. `same_bits`: whether equal operands at equal
    places give the same bits in every run.
    """

    def __init__(self, kind, product, options, keys):
        self._kind, self._product, self._options, self._keys = kind, product, options, keys
        self._short = None if product.host or options.beta else product.shortcut()
        run = product.run if not product.host else _calls.plan_of(product)
        info = run.describe()
        library = product.device.library
        self.problem = name_of(product)
        self.device = product.device.word
        self.family, self.params = info.family.decode(), info.params.decode()
        self.kernel = f"{self.family} {self.params}".strip()
        self.match = _abi.MATCHES[info.match]
        self.came_from, self.why = info.from_.decode(), info.why.decode()
        # 2.75 is the library's word for "nothing is known".
        self.expected_loss = info.expected_loss if info.expected_loss < 2.75 else None
        self.tuned_seconds = info.tuned_median_ns * 1e-9 or None
        self.workspace = info.workspace_bytes
        self.pinned, self.same_bits = info.pinned == 1, info.same_bits == 1
        self.image = info.image.decode()
        text = "\n".join((self.problem, self.kernel, product.device.name,
                          str(library.gemmtune_version())))
        self.digest = hashlib.sha256(text.encode()).hexdigest()[:16]

    def __call__(self, a: Any, b: Any, out: Any = None, *, alpha: float = 1, beta: Optional[float] = None,
                 c: Any = None, stream: Optional[int] = None, **named: Any) -> Any:
        """Computes with these arrays. Arguments, result and errors as matmul's; beta is the plan's
        unless it is given. errors.InvalidArgument where an array is not as planned."""
        kind = self._kind
        key_a, key_b, key_out = self._keys
        if self._short is not None and c is None and not named and stream is None and alpha == 1 and \
                not beta and not _record.active and kind.key(a) == key_a and kind.key(b) == key_b and \
                (out is None or kind.key(out) == key_out):
            return self._short(a, b, out)
        if type(a) not in _kinds._by_type or kind.key(a) != key_a:
            raise self._differs("a", a)
        if kind.key(b) != key_b:
            raise self._differs("b", b)
        if out is not None and kind.key(out) != key_out or out is None and self._options.needs_out:
            raise self._differs("out", out)
        if beta is None:
            beta = self._options.beta
        elif beta != 0 and not self._options.beta:
            raise errors.InvalidArgument("beta is given, and the plan has none: give plan(..., beta=) one")
        if _record.active:
            _record.note(self._product)
        return call(self._product, kind, a, b, out, c, alpha, beta, named, stream)

    def unchecked(self, a: Any, b: Any, out: Any = None) -> Any:
        """As a call, for arrays that are known to be as planned: nothing is looked at but their addresses.
        Errors: as the library says; a result is undefined where an array is not as planned."""
        if self._short is not None:
            return self._short(a, b, out)
        return self(a, b, out)

    def _differs(self, what, array):
        shape = getattr(array, "shape", None)
        return errors.InvalidArgument(
            f"{what} is {'missing' if array is None else f'a {type(array).__name__} of {shape}'}: the plan "
            f"of {self.problem} was made for another kind, shape, type or stride")

    def __repr__(self):
        return f"<gemmtune plan {self.problem} on {self.device}: {self.kernel} ({self.match})>"

    def _repr_html_(self):
        from . import _rows
        loss = "unknown" if self.expected_loss is None else f"{100 * self.expected_loss:.3g} %"
        return _rows.table([{
            "problem": self.problem, "device": self.device, "kernel": self.kernel, "match": self.match,
            "expected loss": loss, "workspace": self.workspace, "why": self.why}])


class _PlanOptions(NamedTuple):
    beta: float
    needs_out: bool


@_cuda.restoring
def plan(a: Any, b: Any, out: Any = None, *, beta: float = 0, epilogue: Optional[str] = None,
         math: Optional[str] = None, dtype: Any = None, device: Any = None, row_order: bool = False,
         operands: Optional[dict] = None, **named: Any) -> Plan:
    """Looks the product of these arrays up once, builds its kernel, and returns a Plan.

    The arrays stand for all of their shapes, strides, types and devices; what they hold is not read.
    An `out` is needed where the result has strides of its own; calls may then give one like it.
    Operands of an epilogue are given here and with each call.

    Arguments and shapes: as matmul's. Errors: as matmul's; errors.BuildError where no kernel builds.
    """
    if operands:
        named = {**named, **operands}
    kind = _kinds.kind_of(a, "a")
    for array, what in ((b, "b"), (out, "out")):
        _check_kind(kind, array, what)
    if kind.name == "pyopencl":
        raise errors.Unsupported("a plan of arrays of pyopencl: matmul plans each shape once")
    options = Options(epilogue, math, dtype, device, beta != 0, bool(row_order))
    product = prepare(kind, a, b, out, options, named, planned=True)
    if not product.host and product.is_empty:
        raise errors.InvalidArgument("a product without elements has no plan")
    result = out
    if out is None and not product.host:
        result = kind.empty(product.shape, product.words[2], product.index)
    elif out is None:
        result = _numpy.like(product)
        result = result if kind.name == "NumPy" else kind.from_host(result)
    return Plan(kind, product, _PlanOptions(beta, out is not None and product.host),
                (kind.key(a), kind.key(b), kind.key(result)))


def reload(database: Optional[str] = None, lock: Optional[str] = None) -> None:
    """Has later calls read the database anew: they use what was tuned since, or another database.

    database: a path; None: $GEMMTUNE_DB, or else the user's own.
    lock: the path of a file of `gemmtune lock`; None: $GEMMTUNE_LOCK, or else none. Later calls run the
    kernels that it pins. Others raise errors.NotFound, and errors.LockError where something has changed.

    `gemmtune.tune` calls this. Plans that exist stay as they are. Shapes, units: none. Errors: none here;
    the next product raises errors.FileError or errors.DatabaseError where it cannot be read.
    """
    _devices.reload(database, lock)
    forget()
