# SPDX-License-Identifier: Apache-2.0
"""DLPack's structs: reading a capsule, and making one."""

import ctypes as c

from . import errors

CPU, CUDA = 1, 2
_FLOAT, _INT, _BFLOAT, _E4M3, _E5M2 = 2, 0, 4, 10, 12
_WORDS = {
    (_FLOAT, 32): "f32", (_FLOAT, 64): "f64", (_FLOAT, 16): "f16", (_BFLOAT, 16): "bf16",
    (_INT, 8): "i8", (_INT, 32): "i32", (_E4M3, 8): "e4m3", (_E5M2, 8): "e5m2",
}
_CODES = {word: code for code, word in _WORDS.items()}


class _Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32),
        ("ndim", c.c_int32), ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


class _Managed(c.Structure):
    pass


_DELETER = c.CFUNCTYPE(None, c.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("manager", c.c_void_p), ("deleter", _DELETER)]

_py = c.pythonapi
_py.PyCapsule_GetPointer.restype = c.c_void_p
_py.PyCapsule_GetPointer.argtypes = [c.py_object, c.c_char_p]
_DESTRUCTOR = c.CFUNCTYPE(None, c.c_void_p)
_py.PyCapsule_New.restype = c.py_object
_py.PyCapsule_New.argtypes = [c.c_void_p, c.c_char_p, _DESTRUCTOR]
# A destructor gets its capsule while it dies, so these take the bare address.
_is_valid = c.PYFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p)(("PyCapsule_IsValid", _py))
_pointer_of = c.PYFUNCTYPE(c.c_void_p, c.c_void_p, c.c_char_p)(("PyCapsule_GetPointer", _py))


def read(capsule):
    """(address, shape, strides in elements or None, word or None) of a capsule that stays its
    producer's: it is not consumed, and lives as long as the caller keeps it."""
    tensor = _Managed.from_address(_py.PyCapsule_GetPointer(capsule, b"dltensor")).tensor
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = tuple(tensor.strides[:tensor.ndim]) if tensor.strides else None
    word = _WORDS.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    return (tensor.data or 0) + tensor.byte_offset, shape, strides, word


_made = {}   # address of a managed tensor: what it must keep alive


@_DELETER
def _forget(managed):
    _made.pop(c.addressof(managed.contents), None)


@_DESTRUCTOR
def _drop(capsule):
    """Nobody consumed the capsule."""
    if _is_valid(capsule, b"dltensor"):
        _made.pop(_pointer_of(capsule, b"dltensor"), None)


def make(owner, address, shape, strides, word, index):
    """A capsule of CUDA memory, which keeps `owner` alive."""
    if word not in _CODES:
        raise errors.Unsupported(f"DLPack has no type for {word}")
    rank = len(shape)
    sizes, steps = (c.c_int64 * rank)(*shape), (c.c_int64 * rank)(*strides)
    managed = _Managed()
    managed.tensor = _Tensor(address, CUDA, index, rank, *_CODES[word], 1, sizes, steps, 0)
    managed.deleter = _forget
    _made[c.addressof(managed)] = managed, sizes, steps, owner
    return _py.PyCapsule_New(c.addressof(managed), b"dltensor", _drop)
