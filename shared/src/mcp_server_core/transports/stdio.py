"""The server's side of stdio: takes the real descriptors, so that nothing else can write to the wire."""

import os
from typing import NamedTuple


class Wire(NamedTuple):
    """The descriptors to talk to the client with."""

    read_fd: int
    write_fd: int


def take_stdio() -> Wire:
    """Take standard input and output away from everybody else.

    From now on descriptor 1 is standard error and descriptor 0 is empty: a `print`, a C library or a child
    process can neither corrupt the wire nor eat from it (S-2).
    """
    read_fd, write_fd = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0, inheritable=True)
    os.close(nothing)
    os.dup2(2, 1, inheritable=True)
    return Wire(read_fd, write_fd)


def fill_closed() -> None:
    """Open nothing in the place of standard descriptors that were closed, before something else takes their place."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
