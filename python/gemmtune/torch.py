# SPDX-License-Identifier: Apache-2.0
"""gemmtune beneath PyTorch: eager products by tuned kernels, a product with a gradient, a layer.

    import gemmtune.torch
    gemmtune.torch.enable()          # mm, addmm, bmm, baddbmm, and so linear, on CUDA
"""

from __future__ import annotations

from typing import Any, Optional

import torch

from . import _calls, _devices, _kinds, _matmul, _program, _record, _rival, errors

__all__ = ["enable", "disable", "served", "matmul", "Linear"]

_OPERATORS = ("mm", "addmm", "bmm", "baddbmm")
_PLATFORM = "CUDA"  # the tests serve the CPU
_SERVE = ("faster", "tuned", "row_order", "none")
_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_state = {}     # what enable() has set; empty: disabled
_shortcuts = {}  # of products that have run
_products = {}  # what depends on shapes and modes: a prepared product, or None for torch's own


# ---- one product ----------------------------------------------------------------------------------

def _decide(a, b, c, epilogue, beta):
    """The prepared product that serves a call; None when torch's own kernel does. With row_order none of torch's
    may serve a product that gemmtune knows: the bits of its rows would be others."""
    in_order = _state["serve"] == "row_order"
    if in_order and a.dtype not in _FLOATS:
        return None
    named = {"bias": c} if epilogue else {}
    math = "tf32" if a.dtype is torch.float32 and torch.backends.cuda.matmul.allow_tf32 else None
    options = _matmul.Options(epilogue, math, None, None, beta, in_order)
    try:
        with torch.no_grad():
            product = _matmul.prepare(_kinds.kind_of(a, "a"), a, b, None, options, named)
    except errors.Error:
        if in_order:
            raise
        return None
    if _record.active:
        _record.note(product)
    if 0 in product.request.shapes.full:
        return None
    name = _matmul.name_of(product)
    if not in_order and (name not in _state["names"] or
                         not product.host and (product.copies_a or product.copies_b)):
        return None
    if _state["serve"] == "faster":
        try:
            if not _rival.is_faster(_calls.plan_of(product)):
                return None
        except errors.Error:
            return None
    _state["served"].add(name)
    return product


def _run(product, a, b, c=None, alpha=1, beta=0, **named):
    short = _shortcuts.get(product) if c is None and alpha == 1 and not named else None
    if short is not None:
        return short(a, b, None)
    with torch.no_grad():
        result = _matmul.call(product, _kinds.kind_of(a, "a"), a, b, None, c, alpha, beta, named, None)
    if not product.host:
        _shortcuts[product] = product.shortcut()
    return result


def _find(operator, a, b, c=None, epilogue=None, beta=False):
    in_order = _state["serve"] == "row_order"
    if not in_order and torch.are_deterministic_algorithms_enabled():
        return None
    key = (operator, epilogue, beta, a.shape, a.stride(), b.shape, b.stride(), a.dtype, b.dtype, a.device,
           None if c is None else (c.shape, c.stride(), c.dtype),
           torch.backends.cuda.matmul.allow_tf32)
    if key in _products and not _record.active:
        return _products[key]
    if a.is_cuda and torch.cuda.is_current_stream_capturing():
        if in_order:
            raise errors.InvalidArgument("a product of this shape is new, and a CUDA graph is being captured: "
                                         "multiply once before the capture")
        return _products.get(key)
    _products[key] = _decide(a, b, c, epilogue, beta)
    return _products[key]


def _mm(keys, a, b):
    product = _find("mm", a, b)
    if product is None:
        return _torch("mm", keys, a, b)
    return _run(product, a, b)


def _bmm(keys, a, b):
    product = _find("bmm", a, b)
    if product is None:
        return _torch("bmm", keys, a, b)
    return _run(product, a, b)


def _added(operator, keys, c, a, b, beta, alpha):
    if c.dim() == 1 and c.shape[0] == b.shape[-1] and alpha == 1 and beta == 1:
        product = _find(operator, a, b, c, epilogue="bias")
        if product is not None:
            return _run(product, a, b, bias=c)
    elif beta != 0 and c.dtype is a.dtype:
        product = _find(operator, a, b, c, beta=True)
        if product is not None:
            return _run(product, a, b, c, alpha, beta)
    elif beta == 0 and _state["serve"] == "row_order":
        product = _find(operator, a, b)
        if product is not None:
            return _run(product, a, b, alpha=alpha)
    return _torch(operator, keys, c, a, b, beta=beta, alpha=alpha)


def _addmm(keys, c, a, b, *, beta=1, alpha=1):
    return _added("addmm", keys, c, a, b, beta, alpha)


def _baddbmm(keys, c, a, b, *, beta=1, alpha=1):
    return _added("baddbmm", keys, c, a, b, beta, alpha)


def _torch(operator, keys, *arrays, **numbers):
    """torch's own kernel for CUDA. Where torch does not hand it out, the form with out= has it."""
    kernel = _state["own"].get(operator)
    if kernel is not None:
        return kernel.call_boxed(keys, *arrays, **numbers)
    a, b = arrays[-2:]
    out = torch.empty(*a.shape[:-1], b.shape[-1], dtype=a.dtype, device=a.device)
    return getattr(torch.ops.aten, operator).out(*arrays, **numbers, out=out)


# ---- all products of the process ------------------------------------------------------------------

def enable(serve: str = "faster", *, inductor: bool = False, database: Optional[str] = None) -> None:
    """Has eager mm, addmm, bmm and baddbmm (so linear and matmul) on CUDA use tuned kernels.

    serve: "faster" (where the database knows that our kernel was faster than the vendor's library, both
        timed in turns), "tuned" (wherever the problem was tuned on such a device), "row_order" (all products
        of f32, f64, f16 and bf16: a row has the same bits in every batch, docs/row-order.md), or "none"
        (nowhere: `gemmtune.record` writes down what torch multiplies).
    inductor: offer gemmtune's products to torch.compile's max-autotune too, which times them.
    database: a path; None: $GEMMTUNE_DB, or else the user's own. It is read once: call again after tuning.

    Everything else goes to torch's own kernels: other shapes, strides and types, and all products while
    torch.use_deterministic_algorithms is set. With "row_order" other types alone do. Autograd and
    torch.compile work as before; products that Inductor has compiled are Inductor's own.
    torch.backends.cuda.matmul.allow_tf32 decides between tf32 and f32. A first call of a shape that is
    served compiles its kernel, unless `gemmtune build` did.

    Shapes and units: torch's. Errors: errors.InvalidArgument for another word; errors.ProgramError where
    the database cannot be read. With "row_order" a product raises errors.NotFound where no kernel has the
    order of rows, errors.InvalidArgument where a graph is captured and its shape is new, and else as
    gemmtune.matmul.
    """
    if serve not in _SERVE:
        raise errors.InvalidArgument(f"serve {serve!r}: must be one of {', '.join(_SERVE)}")
    disable()
    names = {row["problem"] for row in _program.records(database)} if serve in ("faster", "tuned") else set()
    _matmul.reload(database, _devices.pins())
    get_kernel = getattr(torch.library, "get_kernel", None)
    _state.update(serve=serve, names=names, served=set(), own={
        name: get_kernel(f"aten::{name}", _PLATFORM) for name in _OPERATORS} if get_kernel else {})
    library = torch.library.Library("aten", "IMPL")
    _state["library"] = library
    for name, function in zip(_OPERATORS, (_mm, _addmm, _bmm, _baddbmm)):
        _override(library, name, function)
    if inductor:
        _offer(_external)


def _override(library, name, function):
    """Registers a kernel. Newer versions of torch have overrides of their own beneath some operators."""
    try:
        library.impl(name, function, _PLATFORM, with_keyset=True, allow_override=True)
    except TypeError:
        library.impl(name, function, _PLATFORM, with_keyset=True)


def disable() -> None:
    """Undoes enable. Shapes, units: none. Errors: none."""
    library = _state.pop("library", None)
    if library is not None:
        library._destroy()
    _withdraw(_external)
    _state.clear()
    _products.clear()
    _shortcuts.clear()


def served() -> list:
    """The names of the problems that enable has served so far. Shapes, units: none. Errors: none."""
    return sorted(_state.get("served", ()))


def _external(a, b, out):
    """A choice of Inductor's max-autotune for mm."""
    _matmul.matmul(a, b, out)


def _choices():
    try:
        from torch._inductor import config
    except ImportError:
        return None
    return getattr(config, "external_matmul", None)


def _offer(function):
    choices = _choices()
    if choices is not None and function not in choices:
        choices.append(function)


def _withdraw(function):
    choices = _choices()
    if choices is not None and function in choices:
        choices.remove(function)


# ---- with a gradient --------------------------------------------------------------------------------

def _summed(gradient, shape):
    """The sum over the sizes in which an operand of this shape was repeated."""
    while gradient.dim() > len(shape):
        gradient = gradient.sum(0)
    for i, size in enumerate(shape):
        if size == 1 and gradient.shape[i] != 1:
            gradient = gradient.sum(i, keepdim=True)
    return gradient


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, math):
        ctx.save_for_backward(a, b)
        ctx.math = math
        return _matmul.matmul(a, b, math=math)

    @staticmethod
    def backward(ctx, gradient):
        a, b = ctx.saved_tensors
        to_a = to_b = None
        with torch.no_grad():
            if ctx.needs_input_grad[0]:
                to_a = _summed(_matmul.matmul(gradient, b.transpose(-1, -2), math=ctx.math), a.shape)
            if ctx.needs_input_grad[1]:
                to_b = _summed(_matmul.matmul(a.transpose(-1, -2), gradient, math=ctx.math), b.shape)
        return to_a, to_b, None


def matmul(a: Any, b: Any, *, math: Optional[str] = None) -> Any:
    """a @ b with a gradient, all three products by gemmtune's kernels.

    Shapes: a (..., m, k) and b (..., k, n), broadcast as torch.matmul does; no vectors. math: as
    gemmtune.matmul's. Errors: as gemmtune.matmul's.
    """
    if a.dim() < 2 or b.dim() < 2:
        raise errors.InvalidArgument("a product with a gradient takes matrices: use unsqueeze for a vector")
    return _Product.apply(a, b, math)


_ACTIVATIONS = {
    "relu": torch.nn.functional.relu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": torch.nn.functional.silu,
}


class Linear(torch.nn.Linear):
    """torch.nn.Linear with an activation in the same kernel: "relu", "gelu", "gelu_tanh" or "silu".

    Where a gradient is wanted the activation runs after the product, by torch. Weights are torch.nn.Linear's
    own, so its state_dict loads.

    Shapes: (..., in_features) gives (..., out_features). Errors: errors.InvalidArgument for another
    activation; else as gemmtune.matmul's.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True,
                 activation: Optional[str] = None, math: Optional[str] = None, **options: Any):
        if activation is not None and activation not in _ACTIVATIONS:
            raise errors.InvalidArgument(
                f"activation {activation!r}: must be one of {', '.join(_ACTIVATIONS)}")
        super().__init__(in_features, out_features, bias, **options)
        self.activation, self.math = activation, math

    def forward(self, input: Any) -> Any:
        """The layer's result. Shapes and errors as the class says."""
        if torch.is_grad_enabled() and (input.requires_grad or self.weight.requires_grad):
            rows = input.reshape(-1, self.in_features)
            x = matmul(rows, self.weight.t(), math=self.math)
            x = x if self.bias is None else x + self.bias
            x = x if self.activation is None else _ACTIVATIONS[self.activation](x)
            return x.reshape(*input.shape[:-1], self.out_features)
        steps = [*(["bias"] if self.bias is not None else []), *([self.activation] if self.activation else [])]
        named = {"bias": self.bias.detach()} if self.bias is not None else {}
        rows = input.detach().reshape(-1, self.in_features)
        x = _matmul.matmul(rows, self.weight.detach().t(), epilogue="_".join(steps) or None, math=self.math,
                           **named)
        return x.reshape(*input.shape[:-1], self.out_features)
