# SPDX-License-Identifier: Apache-2.0
"""The library's types and the names that array libraries have for them."""

from math import prod

from . import _abi, errors

# Names of NumPy, ml_dtypes, torch, CuPy and JAX.
_NAMES = {
    "float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16",
    "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "int8": "i8", "int32": "i32",
}
ARRAY_NAMES = {word: name for name, word in _NAMES.items()}
SIZE = dict(zip(_abi.TYPES, _abi.SIZES))
NUMBER = {word: number for number, word in enumerate(_abi.TYPES)}
_MATHS = {word: number for number, word in enumerate(_abi.MATHS)}

# What the library makes of two operands without further words, and what else C may be.
_RESULT = {"f32": "f32", "f64": "f64", "f16": "f16", "bf16": "bf16", "e4m3": "bf16",
           "e5m2": "bf16", "i8": "i32", "i32": "i32"}
_RESULTS = {
    "f32": ("f32",), "f64": ("f64",), "i32": ("i32",), "f16": ("f16", "f32"),
    "bf16": ("bf16", "f32"), "e4m3": ("bf16", "f16", "f32"), "e5m2": ("bf16", "f16", "f32"),
    "i8": ("i32", "f32", "f16", "bf16", "i8"),
}
_ACCUMULATOR = {"f64": "f64", "i8": "i32", "i32": "i32"}
# The inputs for which a kind of arithmetic has a meaning; for all others it is the strict one.
_MATHS_OF = {
    "f32": ("strict", "tf32", "split", "bf16x3"), "f64": ("strict", "residues"),
    "e4m3": ("strict", "fast", "promoted"), "e5m2": ("strict", "fast", "promoted"),
}
WORDS = "f32, f64, f16, bf16, e4m3, e5m2, i8 and i32"


def bytes_of(shape, word):
    """Bytes of an array without gaps."""
    return SIZE[word] * prod(shape)


def word_of(dtype):
    """Our word for a type of an array library, or for its name. None when there is none."""
    if isinstance(dtype, str) and dtype in SIZE:
        return dtype
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return _NAMES.get(name.rpartition(".")[2])


def accumulator(a):
    """The type of sums, alpha and beta."""
    return _ACCUMULATOR.get(a, "f32")


def result(a, b, wanted):
    """The type of C for inputs a and b: `wanted`, or else the usual one."""
    if a != b and {a, b} != {"e4m3", "e5m2"}:
        raise errors.Unsupported(
            f"a has {a} and b has {b}: both need one type, but for e4m3 with e5m2; convert one of them")
    if wanted is None:
        return _RESULT[a]
    if wanted not in _RESULTS[a]:
        raise errors.Unsupported(
            f"a result of {wanted} from inputs of {a}: the result may be {', '.join(_RESULTS[a])}")
    return wanted


def math(word, a):
    """The number of gemmtune_math for a word; of one without a meaning for a's type, STRICT."""
    if word is None:
        return 0
    if word not in _MATHS:
        raise errors.InvalidArgument(f"math {word!r}: must be one of {', '.join(_MATHS)}")
    return _MATHS[word] if word in _MATHS_OF.get(a, ("strict",)) else 0


def wanted(dtype):
    """Our word for the `dtype` of a call; None for None."""
    if dtype is None:
        return None
    word = word_of(dtype)
    if word is None:
        raise errors.Unsupported(f"dtype {dtype!r}: gemmtune has {WORDS}")
    return word
