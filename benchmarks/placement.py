"""Which cores the client and a server run on. Left to the scheduler, this alone moves a call by a factor of four."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal, NamedTuple

from .child import Child

Name = Literal["one core", "two cores"]


class Placement(NamedTuple):
    """Cores of the client and of the server."""

    client: set[int]
    server: set[int]

    def apply(self, server: Child) -> None:
        os.sched_setaffinity(0, self.client)
        server.pin(self.server)


def placements() -> dict[Name, Placement]:
    """Sharing a core shows the server's own work; apart, each call pays for waking the other core as well."""
    first, *others = sorted(os.sched_getaffinity(0))
    shared = Placement({first}, {first})
    return {"one core": shared, "two cores": Placement({first}, set(others)) if others else shared}


@contextmanager
def restored() -> Generator[None]:
    """Give the benchmark its cores back at the end."""
    cores = os.sched_getaffinity(0)
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
