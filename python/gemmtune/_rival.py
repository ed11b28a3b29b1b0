# SPDX-License-Identifier: Apache-2.0
"""What the database knows of a kernel beside the vendor's library, both timed in turns."""

import ctypes as c


class RivalInfo(c.Structure):
    """gemmtune_rival_info."""

    _fields_ = [
        ("struct_size", c.c_uint32), ("known", c.c_int32), ("library", c.c_char * 32),
        ("version", c.c_int32), ("verdict", c.c_int32),
        ("ours_ns", c.c_double), ("rival_ns", c.c_double),
        ("ratio", c.c_double), ("ratio_low", c.c_double), ("ratio_high", c.c_double),
        ("workspace", c.c_size_t), ("verified", c.c_int32), ("rounds", c.c_int32),
    ]


def is_faster(run):
    """Whether a planned DeviceProduct was faster than the vendor's library: True, False (slower, or
    not proven faster), or None where nothing is known, or this library does not tell."""
    ask = getattr(run.library, "gemmtune_plan_rival_sized", None)
    if ask is None:
        return None
    ask.restype = c.c_int
    ask.argtypes = [c.c_void_p, c.c_int32, c.c_void_p, c.c_size_t]
    info = RivalInfo()
    info.struct_size = c.sizeof(info)
    if ask(run.plan, 0, c.byref(info), c.sizeof(info)) or not info.known:
        return None
    return info.verdict > 0
