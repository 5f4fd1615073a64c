"""One connection of a client, held open in one task: opened, served and closed there."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

import anyio
import anyio.abc

from ..channel import Channel
from .peer import Peer

Opener: TypeAlias = Callable[[], AbstractAsyncContextManager[Channel]]
"""How to reach a server; called again when it has to be started anew."""


class Link:
    """Holds a channel and the client's end of it until it is told to leave."""

    def __init__(self) -> None:
        self._leave = anyio.Event()
        self._left = anyio.Event()
        self.peer: Peer | None = None

    async def hold(
        self, opener: Opener, make_peer: Callable[[Channel], Peer], *, task_status: anyio.abc.TaskStatus[None]
    ) -> None:
        """Open the connection, say so, and keep it until `leave`."""
        try:
            async with opener() as channel, anyio.create_task_group() as tasks:
                self.peer = make_peer(channel)
                tasks.start_soon(self.peer.run)
                task_status.started()
                await self._leave.wait()
                tasks.cancel_scope.cancel()
        finally:
            self._left.set()

    async def leave(self) -> None:
        """Close the connection; returns when nothing of it is left."""
        self._leave.set()
        with anyio.CancelScope(shield=True):
            await self._left.wait()
