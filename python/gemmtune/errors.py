# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one class for each status of the library, all of them `gemmtune.errors.Error`.

The text of an exception is the library's line, which names the argument, value or limit.
`status` is the number of the status in gemmtune.h, and `argument` the number of the argument
that was refused (0: no single one).
"""

__all__ = [
    "Error", "InvalidArgument", "OutOfMemory", "FileError", "DatabaseError", "SchemaError",
    "NoDriver", "DeviceError", "NotFound", "Unsupported", "WorkspaceError", "ParseError",
    "BuildError", "Stopped", "LockError", "ProgramError",
]


class Error(Exception):
    """A call that could not do its job. `status`: gemmtune_status; `argument`: gemmtune_argument."""

    status = None

    def __init__(self, line, argument=0):
        super().__init__(line)
        self.argument = argument


class InvalidArgument(Error, ValueError):
    """GEMMTUNE_EINVAL: a shape, type, array or option that cannot be meant."""

    status = -1


class OutOfMemory(Error, MemoryError):
    """GEMMTUNE_ENOMEM: no host memory, or no device memory."""

    status = -2


class FileError(Error, OSError):
    """GEMMTUNE_EIO: a file cannot be opened, read or written."""

    status = -3


class DatabaseError(Error):
    """GEMMTUNE_EDB: the database is damaged, or is none of gemmtune's."""

    status = -4


class SchemaError(DatabaseError):
    """GEMMTUNE_ESCHEMA: the schema of the database is newer than this library."""

    status = -5


class NoDriver(Error):
    """GEMMTUNE_ENODRIVER: the driver of a device, or the device, is not there."""

    status = -6


class DeviceError(Error):
    """GEMMTUNE_EDEVICE: the driver reported an error."""

    status = -7


class NotFound(Error, LookupError):
    """GEMMTUNE_ENOTFOUND: no kernel is known for the problem on the device."""

    status = -8


class Unsupported(Error, NotImplementedError):
    """GEMMTUNE_EUNSUPPORTED: the problem is outside of what gemmtune does."""

    status = -9


class WorkspaceError(Error):
    """GEMMTUNE_EWORKSPACE: the workspace is missing or misaligned."""

    status = -10


class ParseError(Error, ValueError):
    """GEMMTUNE_EPARSE: a name or an epilogue is malformed."""

    status = -11


class BuildError(Error):
    """GEMMTUNE_EBUILD: the kernel does not build for the device."""

    status = -12


class Stopped(Error):
    """GEMMTUNE_ESTOPPED: stopped by the caller."""

    status = -13


class LockError(Error):
    """GEMMTUNE_ELOCKED: the kernel is not the one that the lock pins."""

    status = -14


class ProgramError(Error):
    """The program `gemmtune` failed. `code` is its exit code (docs/guide.md lists them)."""

    def __init__(self, line, code):
        super().__init__(line)
        self.code = code


BY_STATUS = {
    kind.status: kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Error) and kind.status is not None
}
