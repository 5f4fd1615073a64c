"""For tests of servers: a client that is connected to a server in the same process."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Unpack

import anyio
from typing_extensions import TypedDict

from .channel import Channel
from .client.answers import Answers
from .client.client import Client, Logged
from .protocol.revisions import REVISIONS, LogLevel, Revision
from .server.app import Server
from .transports.memory import MemoryChannel, pair

__all__ = ["REVISIONS", "ClientOptions", "Revision", "connect", "wire"]


class ClientOptions(TypedDict, total=False):
    """What a test may say about the client."""

    revision: Revision | None
    answers: Answers | None
    on_log: Logged | None
    log_level: LogLevel | None
    timeout: float
    probe_timeout: float


@asynccontextmanager
async def wire(server: Server[Any]) -> AsyncGenerator[MemoryChannel]:
    """The bare channel to a server: a test says and hears exactly what goes over it."""
    ours, theirs = pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, theirs)
        try:
            yield ours
        finally:
            await ours.close()
            await theirs.close()
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def connect(server: Server[Any], **options: Unpack[ClientOptions]) -> AsyncGenerator[Client]:
    """A client of this server, at the newest revision unless told otherwise."""

    @asynccontextmanager
    async def opener() -> AsyncGenerator[Channel]:
        async with wire(server) as channel:
            yield channel

    async with Client(opener, **options) as client:
        yield client
