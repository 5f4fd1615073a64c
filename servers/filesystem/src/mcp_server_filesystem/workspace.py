"""What all calls share: threads with deadlines, the watcher, and what the operator said about texts."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NamedTuple

from .deadlines import SECONDS, Deadlines
from .memory import return_large_pieces
from .watcher import Watcher


class Workspace(NamedTuple):
    """The server's state."""

    deadlines: Deadlines
    watcher: Watcher
    fallback: str
    """The encoding of texts that are neither UTF-8 nor say what they are."""


@asynccontextmanager
async def open_workspace(fallback: str, seconds: float = SECONDS) -> AsyncGenerator[Workspace]:
    """Nothing runs until somebody asks for it."""
    return_large_pieces()
    yield Workspace(Deadlines(seconds), Watcher(), fallback)
