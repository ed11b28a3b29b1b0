# SPDX-License-Identifier: Apache-2.0
"""CUDA devices by the driver: primary contexts, memory, streams' events."""

import ctypes as c
import functools
import threading

from . import _library, errors

_p, _int = c.c_void_p, c.c_int
_PROTOTYPES = {
    "cuInit": (_int, c.c_uint),
    "cuDeviceGetCount": (_int, _p),
    "cuDeviceGet": (_int, _p, _int),
    "cuDeviceGetName": (_int, _p, _int, _int),
    "cuDevicePrimaryCtxRetain": (_int, _p, _int),
    "cuCtxGetCurrent": (_int, _p),
    "cuCtxSetCurrent": (_int, _p),
    "cuCtxSynchronize": (_int,),
    "cuMemAlloc_v2": (_int, _p, c.c_size_t),
    "cuMemFree_v2": (_int, _p),
    "cuMemcpyHtoD_v2": (_int, _p, _p, c.c_size_t),
    "cuMemcpyDtoH_v2": (_int, _p, _p, c.c_size_t),
    "cuMemcpyDtoDAsync_v2": (_int, _p, _p, c.c_size_t, _p),
    "cuPointerGetAttribute": (_int, _p, _int, _p),
    "cuStreamSynchronize": (_int, _p),
    "cuEventCreate": (_int, _p, c.c_uint),
    "cuEventRecord": (_int, _p, _p),
    "cuStreamWaitEvent": (_int, _p, _p, c.c_uint),
    "cuEventDestroy_v2": (_int, _p),
    "cuGetErrorName": (_int, _int, _p),
}
_NO_TIMING = 2
_DEVICE_ORDINAL = 9
_OUT_OF_MEMORY = 2
_driver = None
_seen = threading.local()


def driver():
    """libcuda with prototypes, or None where there is none."""
    global _driver
    if _driver is None:
        _driver = _library.open_driver("GEMMTUNE_LIBCUDA", "libcuda.so.1", _PROTOTYPES)
    return _driver


def _check(name, result):
    if result:
        text = c.c_char_p()
        driver().cuGetErrorName(result, c.byref(text))
        known = (text.value or b"unknown").decode()
        kind = errors.OutOfMemory if result == _OUT_OF_MEMORY else errors.DeviceError
        raise kind(f"{name} failed with {known} ({result})")


def list_devices():
    """[(CUdevice, name)]; none where the driver does not start."""
    cu = driver()
    count = _int()
    if cu is None or cu.cuInit(0) or cu.cuDeviceGetCount(c.byref(count)):
        return []
    listed = []
    for index in range(count.value):
        device, name = _int(), c.create_string_buffer(256)
        _check("cuDeviceGet", cu.cuDeviceGet(c.byref(device), index))
        cu.cuDeviceGetName(name, len(name), device)
        listed.append((device.value, name.value.decode(errors="replace")))
    return listed


def device_of(address):
    """The index of the device whose memory an address is in; 0 for no address, as of an empty array."""
    index = _int()
    if not address or driver().cuPointerGetAttribute(c.byref(index), _DEVICE_ORDINAL, address):
        return 0
    return index.value


def restore():
    """Makes the context current that was so before the first `enter` since the last `restore`."""
    if hasattr(_seen, "before"):
        _driver.cuCtxSetCurrent(_seen.before)
        del _seen.before


def restoring(function):
    """The function, with `restore` at its end."""
    @functools.wraps(function)
    def run(*arguments, **named):
        try:
            return function(*arguments, **named)
        finally:
            restore()

    return run


class Driver:
    """What a device of CUDA does for _devices.Device. Its context is the primary one, as torch's,
    CuPy's and JAX's are."""

    stream = 0  # the legacy default stream

    def __init__(self, device):
        self.cu = driver()
        self.device = None
        context = _p()
        _check("cuDevicePrimaryCtxRetain",
               self.cu.cuDevicePrimaryCtxRetain(c.byref(context), device))
        self.context = context.value
        self.alone = len(list_devices()) == 1
        self.enter()

    def enter(self):
        """Makes the context current in this thread. With one device the first time is enough; with
        several `restore` gives the thread its own one back, which says which device torch uses."""
        if self.alone and getattr(_seen, "entered", False):
            return
        current = _p()
        _check("cuCtxGetCurrent", self.cu.cuCtxGetCurrent(c.byref(current)))
        if current.value != self.context:
            if not self.alone and not hasattr(_seen, "before"):
                _seen.before = current.value
            _check("cuCtxSetCurrent", self.cu.cuCtxSetCurrent(self.context))
        _seen.entered = True

    def alloc(self, size):
        memory = _p()
        _check(f"cuMemAlloc of {size} bytes", self.cu.cuMemAlloc_v2(c.byref(memory), size))
        return memory.value

    def free(self, memory):
        self.cu.cuMemFree_v2(memory)

    def wait(self):
        """Until all work of the context has ended."""
        _check("cuCtxSynchronize", self.cu.cuCtxSynchronize())

    def write(self, memory, address, size):
        _check("cuMemcpyHtoD", self.cu.cuMemcpyHtoD_v2(memory, address, size))

    def read(self, address, memory, size):
        _check("cuMemcpyDtoH", self.cu.cuMemcpyDtoH_v2(address, memory, size))

    def copy(self, to, address, size):
        """Copies on the legacy default stream."""
        _check("cuMemcpyDtoDAsync", self.cu.cuMemcpyDtoDAsync_v2(to, address, size, 0))

    def finish(self, stream):
        _check("cuStreamSynchronize", self.cu.cuStreamSynchronize(stream))

    def order(self, first, second):
        """Has the stream `second` wait for what is in the stream `first` now."""
        event = _p()
        _check("cuEventCreate", self.cu.cuEventCreate(c.byref(event), _NO_TIMING))
        try:
            _check("cuEventRecord", self.cu.cuEventRecord(event, first))
            _check("cuStreamWaitEvent", self.cu.cuStreamWaitEvent(second, event, 0))
        finally:
            self.cu.cuEventDestroy_v2(event)
