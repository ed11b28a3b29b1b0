# SPDX-License-Identifier: Apache-2.0
"""Kinds of arrays: what gemmtune must know of an array library, one class for each.

A kind has

    key(x)            what a prepared call depends on, as a dict's key; cheap
    view(x)           the View, in elements
    word(x)           our word for the type, or None
    device(x)         the index of the CUDA device; None: the array is in host memory
    to_host(x)        a NumPy array of the same memory, where device(x) is None
    from_host(x)      an array of the kind with a NumPy array's memory

and for arrays on a CUDA device

    pointer(x)        the address of the first element
    stream(index)     the current stream, a CUstream as an integer
    ready(x, stream)  has the stream wait until x is written
    empty(shape, word, index)
    fit(x, shape)     x broadcast to a shape, without gaps
    copy(to, x)       to[...] = x
    number(value, word, index)   an array of one element

`current`: arrays are written on the current stream, where products run, so that nothing must wait.
`synchronous`: the result is complete when the call returns, since the library has no streams.
"""

import functools
import sys

from . import _cuda, _devices, _dlpack, _layout, _types, errors

# Our words for types, and what `__cuda_array_interface__` calls them.
_TYPESTR = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "i8": "|i1", "i32": "<i4"}
_WORD = {typestr[1:]: word for word, typestr in _TYPESTR.items()}


def _in_elements(strides, size):
    """Strides of bytes as strides of elements."""
    return tuple(stride // size for stride in strides)


class NumPy:
    name = "NumPy"
    current = synchronous = False

    @staticmethod
    def key(x):
        return x.shape, x.strides, x.dtype

    @staticmethod
    def device(x):
        return None

    @staticmethod
    def to_host(x):
        return x

    from_host = to_host


class Torch:
    name = "torch"
    current, synchronous = True, False

    def __init__(self):
        self.torch = torch = sys.modules["torch"]
        self.types = {word: getattr(torch, name) for word, name in _types.ARRAY_NAMES.items()
                      if hasattr(torch, name)}
        # Functions in C, where torch has them, in place of the slower ones below.
        self.pointer = torch.Tensor.data_ptr
        self.stream = getattr(torch._C, "_cuda_getCurrentRawStream", self.stream)

    def key(self, x):
        return (x.shape, x.stride(), x.dtype, x.device,
                x.requires_grad and self.torch.is_grad_enabled())

    @staticmethod
    def view(x):
        return _layout.View(tuple(x.shape), x.stride())

    @staticmethod
    def word(x):
        return _types.word_of(x.dtype)

    def device(self, x):
        if x.layout is not self.torch.strided:
            raise errors.Unsupported(f"a tensor of layout {x.layout}: gemmtune multiplies strided ones")
        if x.requires_grad and self.torch.is_grad_enabled():
            raise errors.Unsupported(
                "a tensor requires a gradient, which gt.matmul does not give: use "
                "gemmtune.torch.matmul, torch.no_grad() or detach()")
        if x.device.type == "cuda":
            return x.device.index
        if x.device.type == "cpu":
            return None
        raise errors.Unsupported(f"a tensor is on {x.device}: gemmtune takes those on cuda and cpu")

    def _bits(self, x):
        """The type of torch with which NumPy sees a tensor's bits; None when NumPy has its own."""
        torch = self.torch
        return {"bf16": torch.int16, "e4m3": torch.int8, "e5m2": torch.int8}.get(self.word(x))

    def to_host(self, x):
        from . import _numpy
        bits = self._bits(x)
        if bits is None:
            return x.detach().numpy()
        return x.detach().view(bits).numpy().view(_numpy.dtype_of(self.word(x)))

    def from_host(self, x):
        import numpy
        x = numpy.asarray(x)
        word = _types.word_of(x.dtype)
        if word in ("bf16", "e4m3", "e5m2"):
            return self.torch.from_numpy(x.view(f"i{x.itemsize}")).view(self.types[word])
        return self.torch.from_numpy(x)

    def stream(self, index):
        return self.torch.cuda.current_stream(index).cuda_stream

    def maker(self, shape, word, index):
        """empty, for one shape, without a call of Python's between."""
        return functools.partial(self.torch.empty, shape, dtype=self.types[word], device=index)

    @staticmethod
    def ready(x, stream):
        """Tensors are written on the current stream, where the product runs."""

    def empty(self, shape, word, index):
        return self.torch.empty(shape, dtype=self.types[word], device=index)

    @staticmethod
    def fit(x, shape):
        return x.expand(shape).contiguous()

    @staticmethod
    def copy(to, x):
        to.copy_(x)

    def number(self, value, word, index):
        return self.torch.full((), value, dtype=self.types[word], device=index)


class CuPy:
    name = "CuPy"
    current, synchronous = True, False

    def __init__(self):
        self.cupy = sys.modules["cupy"]

    @staticmethod
    def key(x):
        return x.shape, x.strides, x.dtype, x.data.device_id

    @staticmethod
    def view(x):
        return _layout.View(x.shape, _in_elements(x.strides, x.itemsize))

    @staticmethod
    def word(x):
        return _types.word_of(x.dtype)

    @staticmethod
    def device(x):
        return x.data.device_id

    @staticmethod
    def pointer(x):
        return x.data.ptr

    def stream(self, index):
        return self.cupy.cuda.get_current_stream(index).ptr

    @staticmethod
    def ready(x, stream):
        """Arrays are written on the current stream, where the product runs."""

    def empty(self, shape, word, index):
        from . import _numpy
        with self.cupy.cuda.Device(index):
            return self.cupy.empty(shape, _numpy.dtype_of(word))

    def maker(self, shape, word, index):
        return functools.partial(self.empty, shape, word, index)

    def fit(self, x, shape):
        return self.cupy.ascontiguousarray(self.cupy.broadcast_to(x, shape))

    @staticmethod
    def copy(to, x):
        to[...] = x

    def number(self, value, word, index):
        from . import _numpy
        with self.cupy.cuda.Device(index):
            return self.cupy.full((), value, _numpy.dtype_of(word))


class DeviceArray:
    """Memory of a CUDA device of our own: what a product of arrays without a library of theirs gives.

    It has `__dlpack__` and `__cuda_array_interface__`, so torch, CuPy and JAX take it without a copy,
    and `numpy()`.

    Shapes: as the product's. Units: `strides` in elements. Errors: errors.OutOfMemory.
    """

    @_cuda.restoring
    def __init__(self, shape, word, index, stream=0):
        self.shape, self.word, self.index, self.stream = tuple(shape), word, index, stream
        self.strides = _layout.packed_strides(self.shape)
        self.nbytes = _types.bytes_of(self.shape, word)
        self._device = _devices.open_device(f"cuda:{index}")
        self._device.driver.enter()
        self.address = self._device.driver.alloc(self.nbytes) if self.nbytes else 0

    def __del__(self):
        if getattr(self, "address", 0) and not self._device.is_over():
            self._device.driver.enter()
            self._device.driver.free(self.address)
            _cuda.restore()

    def __repr__(self):
        return f"<gemmtune.DeviceArray {self.word} {self.shape} on cuda:{self.index}>"

    @property
    def __cuda_array_interface__(self):
        typestr = _TYPESTR.get(self.word)
        if typestr is None:
            raise AttributeError(f"__cuda_array_interface__ has no type for {self.word}")
        return {"shape": self.shape, "typestr": typestr, "data": (self.address, False), "version": 3,
                "strides": None, "stream": self.stream or 1}

    def __dlpack_device__(self):
        return _dlpack.CUDA, self.index

    @_cuda.restoring
    def __dlpack__(self, *, stream=None, **others):
        if stream != -1:
            consumer = 1 if stream is None else stream
            if consumer != (self.stream or 1):
                self._device.driver.enter()
                self._device.driver.order(self.stream, consumer)
        return _dlpack.make(self, self.address, self.shape, self.strides, self.word, self.index)

    @classmethod
    @_cuda.restoring
    def of(cls, array, device=0):
        """A copy of a NumPy array on a CUDA device. Errors: errors.Unsupported for its type."""
        import numpy
        from . import _numpy
        array = numpy.ascontiguousarray(array)
        made = cls(array.shape, _numpy.word_of(array, "array"), device)
        if array.size:
            made._device.driver.enter()
            made._device.driver.write(made.address, array.__array_interface__["data"][0], array.nbytes)
        return made

    @_cuda.restoring
    def numpy(self):
        """A copy in host memory, as a NumPy array. Waits for the product. Errors: errors.DeviceError."""
        import numpy
        from . import _numpy
        array = numpy.empty(self.shape, _numpy.dtype_of(self.word))
        if array.size:
            self._device.driver.enter()
            self._device.driver.finish(self.stream)
            self._device.driver.read(array.__array_interface__["data"][0], self.address, self.nbytes)
        return array


class Interface:
    """Arrays with `__cuda_array_interface__` of a library that is not listed here, as Numba's."""

    name = "__cuda_array_interface__"
    current = synchronous = False

    @staticmethod
    def key(x):
        if type(x) is DeviceArray:
            return x.shape, x.word, x.index
        has = x.__cuda_array_interface__
        key = has["shape"], has.get("strides"), has["typestr"]
        return key if len(_devices.list_of("cuda")) == 1 else (*key, _cuda.device_of(has["data"][0]))

    @staticmethod
    def view(x):
        has = x.__cuda_array_interface__
        shape, strides = tuple(has["shape"]), has.get("strides")
        if strides is None:
            return _layout.packed(shape)
        size = int(has["typestr"][2:])
        return _layout.View(shape, _in_elements(strides, size))

    @staticmethod
    def word(x):
        has = x.__cuda_array_interface__
        if has.get("mask") is not None:
            raise errors.Unsupported("an array with a mask: gemmtune has no masked elements")
        return _WORD.get(has["typestr"][1:]) if has["typestr"][0] in "<|=" else None

    @staticmethod
    def device(x):
        if type(x) is DeviceArray:
            return x.index
        return _cuda.device_of(x.__cuda_array_interface__["data"][0])

    @staticmethod
    def pointer(x):
        return x.address if type(x) is DeviceArray else x.__cuda_array_interface__["data"][0]

    @staticmethod
    def stream(index):
        return 0

    @staticmethod
    def ready(x, stream):
        producer = x.stream if type(x) is DeviceArray else x.__cuda_array_interface__.get("stream")
        if producer and producer != (stream or 1):
            _devices.open_device(f"cuda:{Interface.device(x)}").driver.order(producer, stream)

    @staticmethod
    def empty(shape, word, index):
        return DeviceArray(shape, word, index)

    @classmethod
    def fit(cls, x, shape):
        if cls.view(x) == _layout.packed(shape):
            return x
        raise errors.Unsupported(
            "an array's strides need a copy, which gemmtune makes of arrays of NumPy, torch, CuPy and JAX "
            f"only: make it contiguous, of shape {tuple(shape)}")

    @classmethod
    def copy(cls, to, x):
        view = cls.view(x)
        if view != cls.view(to) or view != _layout.packed(view.shape) or cls.word(x) != cls.word(to):
            raise errors.Unsupported(
                "c needs a conversion or a broadcast, which gemmtune makes of arrays of NumPy, torch and "
                "CuPy only: give c as the result is, without gaps")
        size = _types.bytes_of(view.shape, cls.word(x))
        cls.ready(x, 0)
        _devices.open_device(f"cuda:{cls.device(x)}").driver.copy(cls.pointer(to), cls.pointer(x), size)

    @staticmethod
    def number(value, word, index):
        import numpy
        from . import _numpy
        return DeviceArray.of(numpy.asarray(value, _numpy.dtype_of(word)), index)


class DLPack(Interface):
    """Arrays with `__dlpack__` of a library that is not listed here."""

    name = "__dlpack__"

    @classmethod
    def key(cls, x):
        view = cls.view(x)
        return view, cls.word(x), x.__dlpack_device__()

    @staticmethod
    def _read(x, stream=None):
        where = int(x.__dlpack_device__()[0])
        capsule = x.__dlpack__(stream=stream) if where == _dlpack.CUDA else x.__dlpack__()
        return _dlpack.read(capsule)

    @classmethod
    def view(cls, x):
        _, shape, strides, _ = cls._read(x, -1)
        return _layout.View(shape, strides or _layout.packed_strides(shape))

    @classmethod
    def word(cls, x):
        return cls._read(x, -1)[3]

    @staticmethod
    def device(x):
        where, index = x.__dlpack_device__()
        if int(where) == _dlpack.CPU:
            return None
        if int(where) != _dlpack.CUDA:
            raise errors.Unsupported(f"an array on a device of DLPack's type {int(where)}: "
                                     "gemmtune takes those of CUDA and of the host")
        return int(index)

    @classmethod
    def pointer(cls, x):
        return cls._read(x, -1)[0]

    @classmethod
    def ready(cls, x, stream):
        # The producer has our stream wait. 0 is no stream of DLPack's: 1 is the legacy one.
        cls._read(x, stream or 1)

    @staticmethod
    def to_host(x):
        import numpy
        return numpy.from_dlpack(x)

    @staticmethod
    def from_host(x):
        return x


class JAX(DLPack):
    """JAX has no stream of the caller's: its arrays are waited for, and the result is complete."""

    name = "JAX"
    synchronous = True

    @staticmethod
    def key(x):
        return x.shape, x.dtype, tuple(x.devices())

    @staticmethod
    def view(x):
        return _layout.packed(x.shape)

    @staticmethod
    def word(x):
        return x.word if type(x) is DeviceArray else _types.word_of(x.dtype)

    @staticmethod
    def device(x):
        places = list(x.devices())
        if len(places) != 1:
            raise errors.Unsupported(f"an array lies on {len(places)} devices: gemmtune takes those on one")
        if places[0].platform == "cpu":
            return None
        if places[0].platform not in ("gpu", "cuda"):
            raise errors.Unsupported(f"an array is on {places[0]}: gemmtune takes those on GPUs and CPUs")
        return places[0].local_hardware_id

    @staticmethod
    def pointer(x):
        return x.address if type(x) is DeviceArray else x.unsafe_buffer_pointer()

    @staticmethod
    def ready(x, stream):
        if type(x) is not DeviceArray:
            x.block_until_ready()

    @staticmethod
    def fit(x, shape):
        return sys.modules["jax"].numpy.broadcast_to(x, shape)

    @classmethod
    def copy(cls, to, x):
        jax = sys.modules["jax"]
        x = jax.numpy.broadcast_to(x, to.shape).astype(_types.ARRAY_NAMES[to.word])
        x.block_until_ready()
        to._device.driver.copy(to.address, cls.pointer(x), to.nbytes)
        to._device.driver.finish(0)

    @staticmethod
    def to_host(x):
        import numpy
        return numpy.asarray(x)

    @staticmethod
    def from_host(x):
        return sys.modules["jax"].numpy.asarray(x)

    @staticmethod
    def finished(x):
        """A DeviceArray as one of JAX's."""
        jax = sys.modules["jax"]
        if not x.nbytes:  # there is no memory that JAX could take over
            return jax.numpy.zeros(x.shape, _types.ARRAY_NAMES[x.word])
        return jax.dlpack.from_dlpack(x)


def _find(kind_of_type):
    """The kind for a type, by the names of its bases; None when only the object can tell."""
    for base in kind_of_type.__mro__:
        top = base.__module__.partition(".")[0]
        if (top, base.__name__) == ("numpy", "ndarray"):
            return NumPy()
        if (top, base.__name__) == ("torch", "Tensor"):
            return Torch()
        if (top, base.__name__) == ("cupy", "ndarray"):
            return CuPy()
        if (top, base.__name__) == ("pyopencl", "Array"):
            from ._pyopencl import Kind
            return Kind()
        if top in ("jax", "jaxlib") and base.__name__ == "Tracer":
            raise errors.Unsupported("an array that jax.jit or jax.vmap traces: use gemmtune.jax.matmul there")
        if top in ("jax", "jaxlib") and base.__name__ == "ArrayImpl":
            return JAX()
    if hasattr(kind_of_type, "__cuda_array_interface__"):
        return Interface()
    if hasattr(kind_of_type, "__dlpack__"):
        return DLPack()
    return None


_by_type = {}
_singles = {}


def kind_of(x, what):
    """The kind of an array, or errors.InvalidArgument."""
    known = _by_type.get(type(x))
    if known is not None:
        return known
    found = _find(type(x))
    if found is None:
        raise errors.InvalidArgument(
            f"{what} is a {type(x).__name__}: gemmtune takes arrays of NumPy, torch, CuPy and JAX, and "
            "objects with __dlpack__ or __cuda_array_interface__")
    found = _singles.setdefault(type(found), found)
    _by_type[type(x)] = found
    return found
