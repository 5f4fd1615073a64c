"""How much memory stays with the process after a large answer."""

import sys
from contextlib import suppress

_M_MMAP_THRESHOLD = -3
_LARGE = 4 << 20


def return_large_pieces() -> None:
    """Let the C library give large pieces back to the system as soon as they are free.

    By default glibc keeps pieces as large as the largest it ever freed: one answer of 20 MB, and the process stays
    that much larger, in each of its threads.
    """
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):  # a C library without it
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)
