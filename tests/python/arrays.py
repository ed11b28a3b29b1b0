# SPDX-License-Identifier: Apache-2.0
"""Arrays of libraries that are not here: the least that a producer of each protocol has."""

from gemmtune import _dlpack, _types
from gemmtune._kinds import DeviceArray


class Interface:
    """`__cuda_array_interface__` alone, over memory of the fake driver. Strides in elements."""

    def __init__(self, array, stream=None, strides=None, shape=None, typestr=None):
        self.memory = DeviceArray.of(array)
        has = dict(self.memory.__cuda_array_interface__, stream=stream)
        size = _types.SIZE[self.memory.word]
        if strides is not None:
            has["strides"] = tuple(step * size for step in strides)
        if shape is not None:
            has["shape"] = shape
        if typestr is not None:
            has["typestr"] = typestr
        self.__cuda_array_interface__ = has

    def numpy(self):
        return self.memory.numpy()


# The protocol is looked up in the class, too.
Interface.__cuda_array_interface__ = None


class Tensor:
    """`__dlpack__` alone; writes down the streams that consumers gave."""

    def __init__(self, array, index=0, where=_dlpack.CUDA):
        self.memory, self.where, self.streams = DeviceArray.of(array, index), where, []

    def __dlpack_device__(self):
        return self.where, self.memory.index

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        memory = self.memory
        return _dlpack.make(memory, memory.address, memory.shape, memory.strides, memory.word, memory.index)
