# SPDX-License-Identifier: Apache-2.0
"""gemmtune.h for ctypes. tests/python/test_abi.py compares it with the header by a compiler."""

import ctypes as c

from . import errors

F32, F64, F16, BF16, E4M3, E5M2, I8, I32 = range(8)
TYPES = ("f32", "f64", "f16", "bf16", "e4m3", "e5m2", "i8", "i32")
SIZES = (4, 8, 2, 2, 1, 1, 1, 4)
MATHS = ("strict", "tf32", "fast", "split", "residues", "promoted", "bf16x3")
MATCHES = ("exact", "shape", "arch", "default")
CUDA, OPENCL = 0, 1
COL_MAJOR, ROW_MAJOR = 0, 1
EINVAL, ENODRIVER, EUNSUPPORTED = -1, -6, -9
PACKED = -(2**63)
ARG_NONE = 0


class Problem(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32), ("layout", c.c_int),
        ("trans_a", c.c_int), ("trans_b", c.c_int),
        ("type_a", c.c_int), ("type_b", c.c_int), ("type_c", c.c_int), ("type_acc", c.c_int),
        ("math", c.c_int), ("batch_kind", c.c_int),
        ("reads_c", c.c_int32), ("packed_b", c.c_int32), ("row_order", c.c_int32),
        ("pointer_align", c.c_uint32),
        ("m", c.c_int64), ("n", c.c_int64), ("k", c.c_int64),
        ("lda", c.c_int64), ("ldb", c.c_int64), ("ldc", c.c_int64),
        ("batch", c.c_int64),
        ("stride_a", c.c_int64), ("stride_b", c.c_int64), ("stride_c", c.c_int64),
        ("expected_rows", c.c_int64),
        ("epilogue", c.c_char_p),
    ]


class Target(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32), ("backend", c.c_int),
        ("context", c.c_void_p), ("device", c.c_void_p),
        ("flags", c.c_uint32), ("reserved", c.c_int32),
        ("lock", c.c_char_p),
    ]


class PlanInfo(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32), ("match", c.c_int),
        ("family", c.c_char_p), ("params", c.c_char_p),
        ("tuned_median_ns", c.c_double),
        ("workspace_bytes", c.c_size_t), ("workspace_align", c.c_size_t),
        ("from_", c.c_char_p), ("why", c.c_char_p),
        ("expected_loss", c.c_double),
        ("better", c.c_int), ("reserved", c.c_int32),
        ("image", c.c_char_p), ("pinned", c.c_int32), ("same_bits", c.c_int32),
    ]


class Args(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32), ("operands", c.c_int32),
        ("alpha", c.c_void_p), ("beta", c.c_void_p),
        ("a", c.c_void_p), ("b", c.c_void_p), ("c", c.c_void_p), ("rows", c.c_void_p),
        ("operand", c.POINTER(c.c_void_p)), ("operand_ld", c.POINTER(c.c_int64)),
        ("d2", c.c_void_p), ("workspace", c.c_void_p), ("d2_ld", c.c_int64),
        ("wait_list", c.c_void_p), ("event", c.c_void_p),
        ("wait_count", c.c_uint32), ("reserved", c.c_int32),
        ("a_offset", c.c_int64), ("b_offset", c.c_int64), ("c_offset", c.c_int64),
        ("d2_offset", c.c_int64), ("rows_offset", c.c_int64), ("workspace_offset", c.c_int64),
        ("operand_offset", c.POINTER(c.c_int64)),
    ]


# The structs above by their names in the header; names of members that Python reserves end in "_".
STRUCTS = {
    "gemmtune_problem": Problem,
    "gemmtune_target": Target,
    "gemmtune_plan_info": PlanInfo,
    "gemmtune_args": Args,
}

_p = c.c_void_p
_i64 = c.c_int64
_PROTOTYPES = {
    "gemmtune_strerror": (c.c_char_p, c.c_int),
    "gemmtune_errmsg": (c.c_char_p,),
    "gemmtune_errarg": (c.c_int,),
    "gemmtune_problem_init_sized": (c.c_int, _p, c.c_size_t, c.c_int, _i64, _i64, _i64),
    "gemmtune_problem_format": (c.c_int, _p, c.c_char_p, c.c_size_t),
    "gemmtune_problem_parse_sized": (c.c_int, _p, c.c_size_t, c.c_char_p),
    "gemmtune_target_init_sized": (c.c_int, _p, c.c_size_t, c.c_int),
    "gemmtune_open": (c.c_int, _p, c.c_char_p, _p),
    "gemmtune_close": (None, _p),
    "gemmtune_plan_create": (c.c_int, _p, _p, _p, c.c_int, c.c_size_t),
    "gemmtune_plan_destroy": (None, _p),
    "gemmtune_plan_describe_sized": (c.c_int, _p, _p, c.c_size_t),
    "gemmtune_args_init_sized": (c.c_int, _p, c.c_size_t),
    "gemmtune_launch": (c.c_int, _p, _p, _p),
    "gemmtune_execute": (c.c_int, _p, _p, _p, _p, _p, _p, _p, _p),
    "gemmtune_gemm": (c.c_int, _p, _p, _p, _p, _p, _p, _p, _p),
    "gemmtune_workspace_make": (c.c_int, _p, _p),
    "gemmtune_host_gemm": (c.c_int, _p, c.c_int32, _p, _p, _p, _p),
    "gemmtune_version": (c.c_int,),
}


def bind(path):
    """The library at `path`, with prototypes. Raises OSError when it cannot be loaded."""
    library = c.CDLL(path)
    for name, (result, *arguments) in _PROTOTYPES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def error_of(library, status):
    """The exception for this thread's last failed call."""
    line = library.gemmtune_errmsg() or library.gemmtune_strerror(status)
    kind = errors.BY_STATUS.get(status, errors.Error)
    return kind(line.decode(errors="replace"), library.gemmtune_errarg())


def check(library, status):
    """Raises the exception of a status that is not 0."""
    if status:
        raise error_of(library, status)
