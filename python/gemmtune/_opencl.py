# SPDX-License-Identifier: Apache-2.0
"""OpenCL devices: a context and a queue of our own, buffers, and copies between them and the host."""

import ctypes as c

from . import _library, errors

_p, _u32, _u64 = c.c_void_p, c.c_uint32, c.c_uint64
_ALL_DEVICES = 0xFFFFFFFF
_NAME = 0x102B
_READ_WRITE = 1 << 0
_OUT_OF_MEMORY = (-4, -5, -6, -61)

_PROTOTYPES = {
    "clGetPlatformIDs": (c.c_int, _u32, _p, _p),
    "clGetDeviceIDs": (c.c_int, _p, _u64, _u32, _p, _p),
    "clGetDeviceInfo": (c.c_int, _p, _u32, c.c_size_t, _p, _p),
    "clCreateContext": (_p, _p, _u32, _p, _p, _p, _p),
    "clCreateCommandQueue": (_p, _p, _p, _u64, _p),
    "clCreateBuffer": (_p, _p, _u64, c.c_size_t, _p, _p),
    "clReleaseMemObject": (c.c_int, _p),
    "clEnqueueWriteBuffer": (c.c_int, _p, _p, _u32, c.c_size_t, c.c_size_t, _p, _u32, _p, _p),
    "clEnqueueReadBuffer": (c.c_int, _p, _p, _u32, c.c_size_t, c.c_size_t, _p, _u32, _p, _p),
    "clFinish": (c.c_int, _p),
}
_driver = None


def driver():
    """libOpenCL with prototypes, or None where there is none."""
    global _driver
    if _driver is None:
        _driver = _library.open_driver("GEMMTUNE_LIBOPENCL", "libOpenCL.so.1", _PROTOTYPES)
    return _driver


def _check(name, result):
    if result:
        kind = errors.OutOfMemory if result in _OUT_OF_MEMORY else errors.DeviceError
        raise kind(f"{name} failed with OpenCL error {result}")


def _handles(ask):
    """All handles that a function of (number, list, count) gives; none after an error."""
    count = _u32()
    if ask(0, None, c.byref(count)) or not count.value:
        return []
    handles = (_p * count.value)()
    return list(handles) if not ask(count.value, handles, None) else []


def _name_of(cl, device):
    text = c.create_string_buffer(256)
    cl.clGetDeviceInfo(device, _NAME, len(text), text, None)
    return text.value.decode(errors="replace")


def list_devices():
    """[(cl_device_id, name)] of all platforms, in the order of `gemmtune devices`."""
    cl = driver()
    if cl is None:
        return []
    return [
        (device, _name_of(cl, device))
        for platform in _handles(cl.clGetPlatformIDs)
        for device in _handles(
            lambda number, to, count: cl.clGetDeviceIDs(platform, _ALL_DEVICES, number, to, count))
    ]


class Driver:
    """What a device of OpenCL does for _devices.Device."""

    def __init__(self, device, context=None):
        """With a context of the caller's, buffers are made in it, and there is no queue of our own."""
        self.cl = driver()
        self.device, self.context, self.stream = device, context, None
        if context is not None:
            return
        error = c.c_int32()
        self.context = self.cl.clCreateContext(None, 1, (_p * 1)(device), None, None, c.byref(error))
        _check("clCreateContext", error.value)
        self.stream = self.cl.clCreateCommandQueue(self.context, device, 0, c.byref(error))
        _check("clCreateCommandQueue", error.value)

    def enter(self):
        """OpenCL has no current context."""

    def alloc(self, size):
        error = c.c_int32()
        memory = self.cl.clCreateBuffer(self.context, _READ_WRITE, size, None, c.byref(error))
        _check(f"clCreateBuffer of {size} bytes", error.value)
        return memory

    def free(self, memory):
        self.cl.clReleaseMemObject(memory)

    def wait(self):
        """Nothing: OpenCL keeps what commands use until they have ended."""

    def write(self, memory, address, size):
        _check("clEnqueueWriteBuffer", self.cl.clEnqueueWriteBuffer(
            self.stream, memory, 1, 0, size, address, 0, None, None))

    def read(self, address, memory, size):
        _check("clEnqueueReadBuffer", self.cl.clEnqueueReadBuffer(
            self.stream, memory, 1, 0, size, address, 0, None, None))
