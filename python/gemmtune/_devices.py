# SPDX-License-Identifier: Apache-2.0
"""Devices: a context of the library for each one that is used, kept until the process ends."""

import ctypes as c
import functools
import os
import sys
import threading

from . import _abi, _cuda, _library, _opencl, errors

_BACKENDS = {"cuda": (_abi.CUDA, _cuda), "opencl": (_abi.OPENCL, _opencl)}
_lock = threading.RLock()
_listed = {}   # backend: [(handle, name)]
_drivers = {}  # (backend, index): Driver
_opened = {}   # (backend, index): Device
_named = {}    # what the caller said: Device
_database = None  # the path that later calls read; None: the library's own choice
_pins = None      # the lock of later calls; None: the library's own choice
forked = False


def _after_fork():
    """A child has no threads of the driver, and CUDA's context does not serve it."""
    global forked
    if _drivers or _listed.get("opencl"):
        forked = True


os.register_at_fork(after_in_child=_after_fork)


def list_of(backend):
    """[(handle, name)] of a backend's devices."""
    refuse_fork()
    with _lock:
        if backend not in _listed:
            _listed[backend] = _BACKENDS[backend][1].list_devices()
        return _listed[backend]


def refuse_fork():
    """Raises errors.DeviceError in a child of a process that has used a device."""
    if forked:
        raise errors.DeviceError(
            "this process was forked after gemmtune had opened a device, which a child cannot use: "
            "start processes with multiprocessing's 'spawn' or 'forkserver'")


# What frees things that work under way may still use: it runs at the next planning, which may wait, and
# not when Python happens to drop the last reference, which may be inside of a capture.
_dropped = []


def drop(driver, free):
    """Has `free` called once the driver's work has ended."""
    _dropped.append((driver, free))


def sweep():
    """Waits, and frees what was dropped."""
    while _dropped:
        driver, free = _dropped.pop()
        driver.enter()
        driver.wait()
        free()


def _close(driver, library, ctx, workspaces):
    for memory, _ in workspaces:
        driver.free(memory)
    library.gemmtune_close(ctx)


class Device:
    """One device. `name` is its driver's, `word` ours: "cuda:0", "opencl:1"."""

    def __init__(self, backend, index, database, driver=None, name=None):
        number, module = _BACKENDS[backend]
        sweep()
        self.backend, self.index, self.word = backend, index, f"{backend}:{index}"
        self.library = _library.library()
        if driver is None:
            handle, name = list_of(backend)[index]
            if (backend, index) not in _drivers:
                if backend == "cuda":
                    _library.load_nvrtc()
                _drivers[backend, index] = module.Driver(handle)
            driver = _drivers[backend, index]
        self.name, self.driver = name, driver
        self.driver.enter()
        target = _abi.Target()
        _abi.check(self.library, self.library.gemmtune_target_init_sized(
            c.byref(target), c.sizeof(target), number))
        target.context, target.device = self.driver.context, self.driver.device
        target.lock = os.fsencode(_pins) if _pins is not None else None
        opened = c.c_void_p()
        _abi.check(self.library, self.library.gemmtune_open(
            c.byref(opened), database.encode() if database else None, c.byref(target)))
        self.ctx = opened.value
        self.contexts = (c.c_void_p * 1)(self.ctx)
        self.lock = threading.Lock()
        self._workspaces = {}   # stream: (memory, bytes)

    def workspace(self, stream, size):
        """Device memory of `size` bytes or more that the calls of one stream share; 0 for none.

        The caller holds `lock` until the call that uses the memory is enqueued.
        """
        if size == 0:
            return None
        memory, has = self._workspaces.get(stream, (None, 0))
        if has < size:
            grown = self.driver.alloc(max(size, 1 << 20))
            if memory:
                drop(self.driver, functools.partial(self.driver.free, memory))
            memory = grown
            self._workspaces[stream] = memory, max(size, 1 << 20)
        return memory

    @staticmethod
    def is_over():
        """Whether nothing is freed any more: the interpreter ends and may have dropped this module's
        names, or this is a forked child."""
        return sys is None or sys.is_finalizing() or forked

    def __del__(self):
        if getattr(self, "ctx", None) and not self.is_over():
            drop(self.driver, functools.partial(
                _close, self.driver, self.library, self.ctx, list(self._workspaces.values())))

    def __repr__(self):
        return f"<gemmtune device {self.word}: {self.name}>"


def word_of(device):
    """("cuda", 0) of None, an index of `gemmtune devices`, or a word such as "opencl:0"."""
    if device is None:
        device = os.environ.get("GEMMTUNE_DEVICE") or 0
    if isinstance(device, str) and not device.isdigit():
        backend, _, index = device.partition(":")
        if backend not in _BACKENDS or not (index or "0").isdigit():
            raise errors.InvalidArgument(
                f"device {device!r}: must be an index, 'cuda:N' or 'opencl:N'")
        return backend, int(index or 0)
    index = int(device)
    cudas = len(list_of("cuda"))
    return ("cuda", index) if index < cudas else ("opencl", index - cudas)


def open_device(device=None):
    """The Device of an index of `gemmtune devices`, a word ("cuda:1"), or None for the first one.

    None stands for $GEMMTUNE_DEVICE where that is set.
    """
    known = _named.get(device)
    if known is not None and not forked:
        return known
    refuse_fork()
    if isinstance(device, Device):
        return device
    with _lock:
        backend, index = word_of(device)
        there = len(list_of(backend))
        if index < 0 or index >= there:
            raise errors.NoDriver(
                f"there is no device {backend}:{index}: "
                f"{len(list_of('cuda'))} CUDA and {len(list_of('opencl'))} OpenCL devices are here")
        place = backend, index
        if place not in _opened:
            _opened[place] = Device(backend, index, _database)
        if device is not None or "GEMMTUNE_DEVICE" not in os.environ:
            _named[device] = _opened[place]
        return _opened[place]


def of_context(context, device, name):
    """The Device of a cl_context and a cl_device_id of the caller's, which must live as long."""
    refuse_fork()
    place = "opencl", context, device
    with _lock:
        if place not in _opened:
            index = [handle for handle, _ in list_of("opencl")].index(device)
            _opened[place] = Device("opencl", index, _database, _opencl.Driver(device, context), name)
        return _opened[place]


def reload(database=None, lock=None):
    """Has later calls read a database and a lock anew; what exists keeps what it has."""
    global _database, _pins
    with _lock:
        _database, _pins = database, lock
        _opened.clear()
        _named.clear()


def database():
    """The path that reload was given, or None."""
    return _database


def pins():
    """The path of the lock that reload was given, or None."""
    return _pins
