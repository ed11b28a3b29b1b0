# SPDX-License-Identifier: Apache-2.0
"""Where the library, the program and NVRTC are."""

import ctypes
import glob
import os
import sys
import threading

from . import _abi, errors

_HERE = os.path.dirname(os.path.abspath(__file__))
_TREE = os.path.dirname(os.path.dirname(_HERE))
_lock = threading.Lock()
_loaded = None


def _find(variable, inside, built):
    """The path in the variable, else the file of the wheel, else the one that make has built."""
    told = os.environ.get(variable)
    if told:
        return told
    packed = os.path.join(_HERE, inside)
    if os.path.exists(packed):
        return packed
    return os.path.join(_TREE, os.environ.get("GT_BUILD", "build"), built)


def library_path():
    """The path of libgemmtune.so: $GEMMTUNE_LIBRARY, the wheel's, or the build's."""
    return _find("GEMMTUNE_LIBRARY", "lib/libgemmtune.so", "libgemmtune.so")


def program_path():
    """The path of the program: $GEMMTUNE_PROGRAM, the wheel's, or the build's."""
    return _find("GEMMTUNE_PROGRAM", "bin/gemmtune", "gemmtune")


def library():
    """The loaded library. Raises errors.FileError when there is none."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                path = library_path()
                try:
                    _loaded = _abi.bind(path)
                except (OSError, AttributeError) as reason:
                    raise errors.FileError(
                        f"libgemmtune.so cannot be loaded ({reason}): install the wheel, run make, "
                        "or name one in GEMMTUNE_LIBRARY") from None
    return _loaded


_short = {}


def without_unlocking(name):
    """A function of the library that is called without giving up Python's lock: for calls shorter than
    that."""
    if name not in _short:
        known = getattr(library(), name)
        function = ctypes.PyDLL(library_path())[name]
        function.restype, function.argtypes = known.restype, known.argtypes
        _short[name] = function
    return _short[name]


def open_driver(variable, name, prototypes):
    """The library in the environment's variable, else of that name, with a result and arguments for
    each function of `prototypes`. None where there is none."""
    try:
        loaded = ctypes.CDLL(os.environ.get(variable) or name)
    except OSError:
        return None
    for function, (result, *arguments) in prototypes.items():
        known = getattr(loaded, function)
        known.restype, known.argtypes = result, arguments
    return loaded


# ---- NVRTC -------------------------------------------------------------------------------------

# Of PyPI's packages of CUDA 13 and CUDA 12, in the order in which the library prefers them.
_NVRTC = (
    ("libnvrtc.so.13", "nvidia/cu13/lib/libnvrtc.so.13"),
    ("libnvrtc.so.12", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
)


def _is_loaded(name):
    """Whether this process has the library already, as torch and CuPy bring it."""
    try:
        ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False
    return True


def nvrtc_paths():
    """The NVRTCs of PyPI's packages that are installed here, in the order of preference."""
    found = []
    for _, inside in _NVRTC:
        for folder in sys.path:
            path = os.path.join(folder or os.curdir, inside)
            if os.path.exists(path):
                found.append(os.path.abspath(path))
                break
    return found


def load_nvrtc():
    """Loads the NVRTCs of PyPI's packages, so that the library finds them by their names.

    NVRTC opens its builtins by a bare name, so these come first. Nothing is done where
    GEMMTUNE_LIBNVRTC names one, or where torch or CuPy have loaded one.
    """
    if os.environ.get("GEMMTUNE_LIBNVRTC") or any(_is_loaded(name) for name, _ in _NVRTC):
        return
    for path in nvrtc_paths():
        for beside in sorted(glob.glob(os.path.join(os.path.dirname(path), "libnvrtc-builtins.so.*"))):
            try:
                ctypes.CDLL(beside, mode=os.RTLD_NOW | os.RTLD_LOCAL)
            except OSError:
                pass
        try:
            ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError:
            pass


def program_environment():
    """The environment of the program: with the NVRTC of PyPI's packages, where none is named."""
    environment = dict(os.environ)
    if not environment.get("GEMMTUNE_LIBNVRTC"):
        paths = nvrtc_paths()
        if paths:
            environment["GEMMTUNE_LIBNVRTC"] = paths[0]
    return environment
