# SPDX-License-Identifier: Apache-2.0
"""The fastest matrix multiplication that a GPU or CPU can do, found by trying."""

from . import errors
from ._matmul import Plan, matmul, plan, problem, reload
from ._program import compare, devices, explain, lookup, records, trials, tune
from ._rows import Facts, Rows
from ._kinds import DeviceArray
from ._record import Recorder, record

__all__ = [
    "matmul", "plan", "problem", "tune", "records", "trials", "lookup", "explain", "compare", "devices",
    "record", "reload", "Plan", "Recorder", "Rows", "Facts", "DeviceArray", "errors",
]
