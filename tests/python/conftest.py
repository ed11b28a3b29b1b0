# SPDX-License-Identifier: Apache-2.0
"""Where the tests of the Python package run: on PoCL, and on the fake CUDA driver (tests/fake).

tests/python/check.sh starts them in `make check`. By hand, after `make check-python` has brought the
packages: PYTHONPATH=build/python-packages python3 -m pytest tests/python -k WORD

Read: GT_BUILD (build), GT_LONG (1: 10,000 random products), GT_SHARE (I/N: an Nth of them)
"""

import os
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(SRC, os.environ.get("GT_BUILD", "build"))
LONG = os.environ.get("GT_LONG") == "1"
# GT_SHARE=I/N: an Nth of the random products.
EXAMPLES = max(100, 10000 // int(os.environ.get("GT_SHARE", "").partition("/")[2] or 1))
sys.path.insert(0, os.path.join(SRC, "python"))
sys.path.insert(0, os.path.join(SRC, "tests", "python"))

_scratch = tempfile.TemporaryDirectory(prefix="gemmtune-python-")
# Kernels are compiled once for all runs of the tests.
os.environ["GEMMTUNE_CACHE_DIR"] = os.path.join(BUILD, "test-python")
os.environ.setdefault("POCL_CACHE_DIR", os.path.join(BUILD, "test-pocl"))
os.environ["GEMMTUNE_DB"] = os.path.join(_scratch.name, "none.db")
os.environ["GEMMTUNE_DEVICE"] = "opencl:0"
os.environ["GEMMTUNE_LIBRARY"] = os.path.join(BUILD, "libgemmtune.so")
os.environ["GEMMTUNE_PROGRAM"] = os.path.join(BUILD, "gemmtune")
os.environ["GEMMTUNE_DEVICES"] = os.path.join(SRC, "devices")
_fake = os.path.join(BUILD, "tests", "fake")
os.environ["GEMMTUNE_LIBCUDA"] = os.path.join(_fake, "libcuda.so")
os.environ["GEMMTUNE_LIBNVRTC"] = os.path.join(_fake, "libnvrtc.so")
os.environ["FAKE_CUDA_DEVICE"] = "h200,a100"

import pytest  # noqa: E402


def pytest_configure(config):
    from hypothesis import HealthCheck, settings
    settings.register_profile("gemmtune", deadline=None, database=None, derandomize=not LONG,
                              suppress_health_check=list(HealthCheck))
    settings.load_profile("gemmtune")


def pytest_runtest_logreport(report):
    """With GT_TAP, the lines that tests/run counts."""
    if not os.environ.get("GT_TAP"):
        return
    if report.skipped and report.when in ("setup", "call"):
        print(f"\nok - {report.nodeid} # SKIP {report.longrepr[2]}")
    elif report.when == "call" or report.failed:
        print(f"\n{'ok' if report.passed else 'not ok'} - {report.nodeid}")


@pytest.fixture(scope="session")
def opencl():
    """Skips a test where there is no OpenCL device."""
    from gemmtune import _devices
    if not _devices.list_of("opencl"):
        pytest.skip("no OpenCL device")


@pytest.fixture(scope="session")
def cuda(opencl):
    """Skips a test where there is no fake CUDA driver, which runs its kernels by PoCL."""
    from gemmtune import _devices
    if not os.path.exists(os.environ["GEMMTUNE_LIBCUDA"]) or not _devices.list_of("cuda"):
        pytest.skip("no fake CUDA driver")
