"""Hears of changes in database files, made by anybody. A connection that is open but in no transaction holds no lock,
and SQLite tells it by `data_version` whether others have committed. The file system says when to ask.
"""

# Paths that watchfiles wants as text.
# ruff: noqa: PTH120

import asyncio
import os
import sqlite3
from collections.abc import AsyncGenerator
from typing import NamedTuple

import aiosqlite
from mcp_server_core import ToolError
from mcp_server_core.places import Spot

from .database import Opener
from .guard import READING, Guard
from .problems import Problem

PATIENCE = 2.0  # seconds after which we ask anyway: some file systems tell nothing
_SETTLING = 0.03


class Version(NamedTuple):
    """What changes with a database: its file, its content, its schema."""

    file: tuple[int, ...]
    data: int
    schema: int


class Lookout:
    """Watches one database file."""

    def __init__(self, spot: Spot) -> None:
        self._spot = spot
        self._open: aiosqlite.Connection | None = None
        self._file: tuple[int, ...] = ()

    async def version(self) -> Version:
        """The database as it is now; a file that is missing or cannot be read is a version too."""
        file = await asyncio.to_thread(self._identity)
        if self._open is None or file != self._file:
            await self._reopen(file)
        if self._open is None:
            return Version(file, -1, -1)
        try:
            ((data,),) = await self._open.execute_fetchall("PRAGMA data_version")
            ((schema,),) = await self._open.execute_fetchall("PRAGMA schema_version")
        except sqlite3.Error:  # busy or damaged: looked at again next time
            await self.close()
            return Version(file, -1, -1)
        return Version(file, data, schema)

    async def _reopen(self, file: tuple[int, ...]) -> None:
        await self.close()
        self._file = file
        if file:
            self._open = await aiosqlite.Connection(self._connect, 64)

    def _connect(self) -> sqlite3.Connection:
        """A connection for looking; an empty one if the file cannot be opened, which whoever reads it will be told."""
        try:
            return Opener(lambda: self._spot).connect(Guard(READING))
        except (Problem, ToolError, sqlite3.Error):
            return sqlite3.connect(":memory:", check_same_thread=False)

    def _identity(self) -> tuple[int, ...]:
        try:
            found = self._spot.stat()
        except ToolError:  # missing, or no longer allowed
            return ()
        return found.st_dev, found.st_ino

    async def close(self) -> None:
        """Let go of the file."""
        connection, self._open = self._open, None
        if connection is not None:
            await connection.close()

    async def touched(self) -> AsyncGenerator[None]:
        """Yields when something happened to a database file or to its log, and now and then when nothing did."""
        from watchfiles import awatch

        real = await asyncio.to_thread(os.path.realpath, self._spot.path)
        files = {real, f"{real}-wal"}
        settling = int(_SETTLING * 1000)
        async for _ in awatch(
            os.path.dirname(real),
            watch_filter=lambda _, path: path in files,
            debounce=settling,
            step=settling,
            rust_timeout=int(PATIENCE * 1000),
            yield_on_timeout=True,
            recursive=False,
        ):
            yield
