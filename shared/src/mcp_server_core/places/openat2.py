"""Two calls of the Linux kernel that Python does not offer: openat2 and renameat2.

ctypes is imported by the first call, not by importing this module. Nothing here knows about places.
"""

# ctypes has no types worth checking.
# pyright: reportAny=false, reportUnknownMemberType=false

import errno
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctypes import CDLL

_OPENAT2 = 437  # the same number on every architecture that Python runs on, alpha excepted
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_RENAME_NOREPLACE = 0x01
_AT_FDCWD = -100


@cache
def _libc() -> "CDLL":
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


@cache
def _open_how() -> Any:
    import ctypes

    class OpenHow(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    return OpenHow


def _openat2(dir_fd: int, path: str, flags: int, mode: int, resolve: int) -> int:
    import ctypes

    how = _open_how()(flags | os.O_CLOEXEC, mode if flags & os.O_CREAT else 0, resolve)
    name = os.fsencode(path)
    while True:
        fd: int = _libc().syscall(
            ctypes.c_long(_OPENAT2),
            ctypes.c_int(dir_fd),
            ctypes.c_char_p(name),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if fd >= 0:
            return fd
        code = ctypes.get_errno()
        if code != errno.EINTR:
            raise OSError(code, os.strerror(code))


def open_beneath(dir_fd: int, path: str, flags: int, mode: int = 0) -> int:
    """Open a path that may not leave the directory: a link out of it, or an absolute one, is EXDEV."""
    return _openat2(dir_fd, path, flags, mode, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)


def open_without_links(path: str, flags: int) -> int:
    """Open an absolute path in which no component is a link: ELOOP if one is."""
    return _openat2(_AT_FDCWD, path, flags, 0, _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS)


@cache
def available() -> bool:
    """Whether this kernel, and the container around it, let us call openat2. Asked once."""
    if sys.platform != "linux":
        return False
    try:
        os.close(_openat2(_AT_FDCWD, "/", os.O_PATH | os.O_DIRECTORY, 0, _RESOLVE_NO_MAGICLINKS))
    except (
        OSError,
        ImportError,
        AttributeError,
    ):  # ENOSYS, EPERM of a seccomp filter, a Python without ctypes
        return False
    return True


def rename_new(from_fd: int, from_name: str, to_fd: int, to_name: str) -> bool:
    """Rename unless the new name exists (FileExistsError); False where the system cannot do that in one step."""
    if sys.platform != "linux":
        return False
    try:
        import ctypes

        rename = _libc().renameat2
    except (ImportError, AttributeError):
        return False
    if rename(from_fd, os.fsencode(from_name), to_fd, os.fsencode(to_name), _RENAME_NOREPLACE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.EPERM):  # an old kernel, file system or sandbox: not here
        return False
    raise OSError(code, os.strerror(code))
