# SPDX-License-Identifier: Apache-2.0
"""The operands of an epilogue, by name and in the library's order (docs/epilogue.md)."""

import functools
import re
from typing import NamedTuple

from . import errors


class Operand(NamedTuple):
    name: str
    index: str   # "", "i", "j", "i,j", "z", "z,j"
    type: str    # our word; None: the type of C
    scale: bool  # of a shorthand: f32, and f64 beside sums of f64


class Epilogue(NamedTuple):
    operands: tuple
    second: bool       # it assigns d2
    second_type: str   # None: the type of C
    reads_c: bool


_STEPS = {
    "bias": (("bias", "j"),), "row_bias": (("bias", "i"),), "batch_bias": (("bias", "z,j"),),
    "relu": (), "gelu": (), "gelu_tanh": (), "silu": (),
    "swiglu": (("up", "i,j"),), "residual": (("res", "i,j"),),
    "dequantise": (("sa", "i"), ("sb", "j")),
    "scale_rows": (("sa", "i"),), "scale_cols": (("sb", "j"),), "scale_batch": (("sz", "z"),),
}
_SCALES = ("sa", "sb", "sz")
_DECLARATION = re.compile(r"([a-z][a-z0-9_]*)(?:\[([ijz,]*)\])?:([a-z0-9]+)$")
_INDEXED = re.compile(r"([a-z][a-z0-9_]*)\[([ijz,]+)\]")
_WORD = re.compile(r"[a-z][a-z0-9_]*")


def _steps_of(text):
    """The steps of a shorthand; None when the text is none. Of two names the longer one counts."""
    steps, rest = [], text
    while rest:
        fits = [name for name in _STEPS if rest == name or rest.startswith(name + "_")]
        if not fits:
            return None
        step = max(fits, key=len)
        steps.append(step)
        rest = rest[len(step) + 1:]
    return steps


@functools.lru_cache(maxsize=256)
def read(text):
    """The Epilogue of a text. Only names are read: the library says what is wrong with the rest."""
    declared, others = {}, {}
    second_type = None
    body = []
    for part in text.split(";"):
        match = _DECLARATION.match(part)
        if not match:
            body.append(part)
        elif match[1] == "d2":
            second_type = match[3]
        else:
            declared[match[1]] = Operand(match[1], match[2] or "", match[3], False)
    steps = _steps_of(body[0]) if len(body) == 1 else None
    if steps is not None:
        for step in steps:
            for name, index in _STEPS[step]:
                if name not in declared:
                    others.setdefault(name, Operand(name, index, None, name in _SCALES))
        return Epilogue((*declared.values(), *others.values()), False, None, False)
    for part in body:
        for name, index in _INDEXED.findall(part.partition("=")[2]):
            if name not in declared:
                others.setdefault(name, Operand(name, index, None, False))
    targets = [part.partition("=")[0] for part in body]
    reads_c = any("c" in _WORD.findall(part.partition("=")[2]) for part in body)
    second = any(re.match(r"d2\b", target) for target in targets)
    return Epilogue((*declared.values(), *others.values()), second, second_type, reads_c)


def pick(epilogue, given):
    """The caller's operands in the library's order."""
    names = [operand.name for operand in epilogue.operands]
    for name in given:
        if name not in names:
            takes = ", ".join(names) if names else "none"
            raise errors.InvalidArgument(
                f"the epilogue has no operand {name!r}: its operands are {takes}")
    for operand in epilogue.operands:
        if given.get(operand.name) is None:
            index = f"[{operand.index}]" if operand.index else ""
            raise errors.InvalidArgument(
                f"the epilogue needs the operand {operand.name}{index}: give {operand.name}=array")
    return [given[name] for name in names]


def shape_of(operand, batch, m, n):
    """The shape that an operand has for products of m x n with these leading sizes."""
    return {
        "": (), "i": batch + (m,), "j": (n,), "i,j": batch + (m, n), "z": batch,
        "z,j": batch + (n,),
    }[operand.index]


def word_of(operand, accumulator, result):
    """The type of an operand's values: as declared, of C, or for a scale f32 (f64 beside f64)."""
    if operand.type:
        return operand.type
    if operand.scale:
        return "f64" if accumulator == "f64" else "f32"
    return result
