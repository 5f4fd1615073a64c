"""What all calls share: the watcher of the directories, and what the operator said about texts."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from .watcher import Watcher, open_watcher


class Workspace(NamedTuple):
    """The server's state."""

    watcher: Watcher
    fallback: str
    """The encoding of texts that are neither UTF-8 nor say what they are."""


@asynccontextmanager
async def open_workspace(directories: Sequence[Path], fallback: str) -> AsyncGenerator[Workspace]:
    """Watch the directories for as long as the server runs."""
    async with open_watcher(directories) as watcher:
        yield Workspace(watcher, fallback)
