"""Tells whoever watches a database that something changed in it, whoever changed it. What nobody watches is not
looked at, and nothing of it is loaded.
"""

# A glance at a file by the path the operator gave; nothing is opened by it.
# ruff: noqa: PTH116

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
from mcp_server_core import Server

from .workshop import Workshop

if TYPE_CHECKING:
    from .changes import Lookout, Version

_SCHEME = "sqlite://"
_CLOSING_SECONDS = 0.5


async def announce(server: Server[Workshop], workshop: Workshop) -> None:
    """Keep one watch for each database that is subscribed to."""
    watches: dict[str, Watch] = {}
    tasks: set[asyncio.Task[None]] = set()
    try:
        async for uris in server.watching():
            for watch in watches.values():
                watch.uris.clear()
            for uri in uris:
                if uri.startswith(_SCHEME):
                    name = database_of(uri)
                    if name not in watches:
                        watches[name] = Watch(server, workshop, name)
                        tasks.add(watches[name].task)
                        watches[name].task.add_done_callback(tasks.discard)
                    watches[name].uris.add(uri)
            for name in [name for name, watch in watches.items() if not watch.uris]:
                watches.pop(name).task.cancel()
    finally:
        for task in tasks:
            task.cancel()
        with anyio.CancelScope(shield=True):  # until the connections are closed
            await asyncio.wait({*tasks, asyncio.create_task(asyncio.sleep(0))}, timeout=_CLOSING_SECONDS)


def database_of(uri: str) -> str:
    """The database that a resource belongs to."""
    from urllib.parse import unquote

    return unquote(uri.removeprefix(_SCHEME).partition("/")[0])


class Watch:
    """The watch over one database, for as long as one of its resources is subscribed to."""

    def __init__(self, server: Server[Workshop], workshop: Workshop, name: str) -> None:
        self.uris: set[str] = set()
        self._server = server
        self._workshop = workshop
        self._name = name
        self._path = workshop.databases.path(name)
        # Taken before the subscriber can have its answer: what changes from now on will be noticed.
        self._before = _glance(self._path)
        self._stirred = asyncio.Event()
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        from .changes import Lookout

        spot = await asyncio.to_thread(self._workshop.databases.seen, self._name)
        if spot is None:
            return
        lookout = Lookout(spot)
        listener: Callable[[], None] = self._stirred.set
        self._workshop.listeners.add(listener)
        listening = asyncio.create_task(self._listen(lookout))
        try:
            version = await lookout.version()
            if _glance(self._path) != self._before:
                version = await lookout.version()  # once more: one change is told once
                await self._tell(schema=True)
            await self._follow(lookout, version)
        finally:
            self._workshop.listeners.discard(listener)
            listening.cancel()
            await asyncio.shield(lookout.close())

    async def _listen(self, lookout: "Lookout") -> None:
        with suppress(FileNotFoundError):  # no directory yet: patience alone has to do
            async for _ in lookout.touched():
                self._stirred.set()

    async def _follow(self, lookout: "Lookout", version: "Version") -> None:
        from .changes import PATIENCE

        while True:
            # Not wait_for: before Python 3.12 it forgets that it was cancelled if a change comes at that moment.
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._stirred.wait()
            self._stirred.clear()
            now = await lookout.version()
            if now != version:
                await self._tell(schema=(now.file, now.schema) != (version.file, version.schema))
            version = now

    async def _tell(self, *, schema: bool) -> None:
        """All of its resources may look different now: SQLite does not say which table was changed."""
        for uri in sorted(self.uris):
            await self._server.changed(uri)
        if schema:
            await self._server.resources_changed()


def _glance(path: str | None) -> tuple[int, ...]:
    """What tells two states of a file apart without opening it."""
    facts: list[int] = []
    for name in _files(path):
        with suppress(OSError):
            found = os.stat(name)
            facts += [found.st_ino, found.st_size, found.st_mtime_ns]
    return tuple(facts)


def _files(path: str | None) -> Iterable[str]:
    return (path, f"{path}-wal") if path else ()
