"""The server's side of stdio: takes the real descriptors, so that nothing else can write to the wire."""

import os

from ..protocol.lines import DEFAULT_LIMIT
from .pipes import PipeChannel


def open_stdio(*, limit: int = DEFAULT_LIMIT) -> PipeChannel:
    """A channel over standard input and output.

    From now on descriptor 1 is standard error and descriptor 0 is empty: a `print`, a C library or a child
    process can neither corrupt the wire nor eat from it (S-2).
    """
    read_fd, write_fd = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0, inheritable=True)
    os.close(nothing)
    os.dup2(2, 1, inheritable=True)
    return PipeChannel(read_fd, write_fd, limit=limit)
