# SPDX-License-Identifier: Apache-2.0
"""gemmtune inside of what JAX compiles: a product for jax.jit, jax.vmap and jax.grad, by an FFI call in C."""

from __future__ import annotations

import ctypes as c
import functools
import os
from typing import Any, Optional

import jax
import numpy

from . import _devices, _epilogue, _layout, _library, _numpy, _types, errors

__all__ = ["matmul"]

_NAMES = {"CUDA": "gemmtune_jax_cuda", "cpu": "gemmtune_jax_host"}


@functools.lru_cache(maxsize=None)
def _register(platform):
    """Registers the handlers, and gives them the devices of a platform: once in a process."""
    library = _library.library()   # the handlers need its names
    path = os.path.join(os.path.dirname(_library.library_path()), "libgemmtune_jax.so")
    try:
        calls = c.CDLL(path)
    except OSError as reason:
        raise errors.FileError(f"libgemmtune_jax.so cannot be loaded ({reason}): it lies beside "
                               f"{library._name} in a wheel and after make") from None
    give = calls.gemmtune_jax_device
    give.restype, give.argtypes = None, [c.c_int, c.c_void_p]
    if platform == "cpu":
        devices = {-1: _devices.open_device()}
    else:
        devices = {index: _devices.open_device(f"cuda:{index}") for index in
                   {device.local_hardware_id for device in jax.local_devices(backend=platform)}}
    for ordinal, device in devices.items():
        give(ordinal, device.ctx)
    for name, symbol in _NAMES.items():
        handler = c.cast(getattr(calls, symbol), c.c_void_p).value
        jax.ffi.register_ffi_target("gemmtune_matmul", _capsule(handler), platform=name)
    return calls, devices


def _capsule(address):
    """A function as register_ffi_target takes it."""
    new = c.pythonapi.PyCapsule_New
    new.restype, new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
    return new(address, None, None)


def _call(shape, word, math, epilogue, method):
    """The FFI call for a result. `math` and `epilogue` are attributes of the compiled program."""
    result = jax.ShapeDtypeStruct(shape, _numpy.dtype_of(word))
    call = jax.ffi.ffi_call("gemmtune_matmul", result, vmap_method=method)
    return functools.partial(call, math=numpy.int64(math), epilogue=epilogue)


def _types_of(a, b, dtype):
    words = tuple(_types.word_of(x.dtype) for x in (a, b))
    for x, word, name in zip((a, b), words, "ab"):
        if word is None:
            raise errors.Unsupported(f"{name} has the type {x.dtype}: gemmtune has {_types.WORDS}")
    return (*words, _types.result(*words, _types.wanted(dtype)))


def _matrices(a, b):
    return _layout.shapes_of(_layout.packed(a.shape), _layout.packed(b.shape))


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _product(a, b, math, word):
    shapes = _matrices(a, b)
    return _call(shapes.full, word, math, "", "expand_dims")(
        a.reshape(shapes.a.shape), b.reshape(shapes.b.shape))


def _forward(a, b, math, word):
    return _product(a, b, math, word), (a, b)


def _summed(gradient, shape):
    """The sum over the sizes in which an operand of this shape was repeated."""
    extra = gradient.ndim - len(shape)
    gradient = gradient.sum(axis=tuple(range(extra)))
    repeated = tuple(i for i, size in enumerate(shape) if size == 1 and gradient.shape[i] != 1)
    return gradient.sum(axis=repeated, keepdims=True)


def _backward(math, word, saved, gradient):
    a, b = saved
    gradient = gradient.astype(a.dtype)
    own = _types.word_of(a.dtype)
    to_a = _product(gradient, jax.numpy.swapaxes(b, -1, -2), math, own)
    to_b = _product(jax.numpy.swapaxes(a, -1, -2), gradient, math, own)
    return _summed(to_a, a.shape), _summed(to_b, b.shape)


_product.defvjp(_forward, _backward)


def matmul(a: Any, b: Any, *, epilogue: Optional[str] = None, math: Optional[str] = None, dtype: Any = None,
           operands: Optional[dict] = None, **named: Any) -> Any:
    """As gemmtune.matmul, for arrays that jax.jit, jax.vmap or jax.grad trace, and for others.

    The product is one call in the compiled program, on the program's own stream and with its memory. On a
    CPU it is by gemmtune_host_gemm, and has no epilogue. Under jax.vmap a product with operands of an
    epilogue runs once for each element. A gradient is there without an epilogue.

    Shapes: as numpy.matmul. a, b, epilogue, math, dtype and operands: as gemmtune.matmul's.
    Errors: as gemmtune.matmul's while the function is traced; when the program runs, JAX raises its own
    exception with the library's line.
    """
    named = {**named, **(operands or {})}
    words = _types_of(a, b, dtype)
    _register(_platform(a))
    shapes = _matrices(a, b)
    number = _types.math(math, words[0])
    plain = epilogue is None and not (words[0] == "i8" and words[2] != "i32")
    if named and epilogue is None:
        raise errors.InvalidArgument(f"{next(iter(named))!r} is no argument of matmul without an epilogue")
    two = a.reshape(shapes.a.shape), b.reshape(shapes.b.shape)
    if plain:
        result = _product(*two, number, words[2])
    else:
        result = _with_epilogue(two, shapes, words, number, epilogue or "", named)
    return result.reshape(shapes.shape)


def _with_epilogue(two, shapes, words, math, epilogue, named):
    parsed = _epilogue.read(epilogue) if epilogue else None
    if parsed is not None and (parsed.second or parsed.reads_c):
        raise errors.Unsupported("an epilogue with d2 or c: gemmtune.jax has one result and no c")
    batch, (m, n) = shapes.batch, shapes.full[-2:]
    given = []
    for operand, value in zip(parsed.operands if parsed else (), _epilogue.pick(parsed, named) if parsed else ()):
        word = _epilogue.word_of(operand, _types.accumulator(words[0]), words[2])
        shape = _epilogue.shape_of(operand, batch, m, n)
        given.append(jax.numpy.broadcast_to(jax.numpy.asarray(value, _numpy.dtype_of(word)), shape))
    # An epilogue counts the products of one batch, which a single stride must describe.
    if len([size for size in batch if size != 1]) > 1:
        two = tuple(jax.numpy.broadcast_to(x, batch + x.shape[-2:]) if len(x.shape) > 2 else x for x in two)
    return _call(shapes.full, words[2], math, epilogue, "sequential")(*two, *given)


def _platform(a):
    """The platform on which a program with this array will run, as far as it can be known."""
    try:
        return next(iter(a.devices())).platform
    except Exception:  # a traced array lies nowhere yet
        return jax.default_backend()
