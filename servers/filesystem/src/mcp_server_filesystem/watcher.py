"""Hears of changes in directories. Knows nothing of MCP."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream


class Watcher:
    """The directories in which something changed, one after the other."""

    def __init__(self, changes: MemoryObjectReceiveStream[Path]) -> None:
        self._changes = changes

    def __aiter__(self) -> MemoryObjectReceiveStream[Path]:
        return self._changes


@asynccontextmanager
async def open_watcher(directories: Sequence[Path]) -> AsyncGenerator[Watcher]:
    """Watch directories, not what is below them. When this is entered, no change is missed any more."""
    send, receive = anyio.create_memory_object_stream[Path](len(directories) + 1)
    async with send, receive, anyio.create_task_group() as tasks:
        present = [directory for directory in directories if directory.is_dir()]
        if present:
            tasks.start_soon(_watch, present, send)
            # The watch is set up in the first step of its task, which has run after two turns of any event loop.
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
        yield Watcher(receive)
        tasks.cancel_scope.cancel()


async def _watch(directories: Sequence[Path], send: MemoryObjectSendStream[Path]) -> None:
    from watchfiles import awatch

    async for changes in awatch(*directories, recursive=False, watch_filter=None, debounce=200, step=50):
        for changed in {Path(path).parent for _, path in changes} & set(directories):
            await send.send(changed)
