"""Servers made of a script: they say exactly what a test wants a client to hear."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import anyio
from mcp_server_core import Channel, ConnectionLost
from mcp_server_core.protocol.messages import Json
from mcp_server_core.transports.memory import MemoryChannel, pair

PATIENCE = 5


class Wire:
    """The server's end of a connection, in the hands of a test."""

    def __init__(self, channel: MemoryChannel) -> None:
        self.channel = channel
        self.heard: list[Json] = []
        """Everything the client said, in order."""

    async def receive(self) -> Json:
        """The next message of the client."""
        message = await self.channel.receive()
        self.heard.append(message)
        return message

    async def expect(self, method: str) -> Json:
        """The next message, which must have this method."""
        message = await self.receive()
        assert message.get("method") == method, message
        return message

    async def reply(self, asked: Json, result: Json) -> None:
        """Answer a request."""
        await self.channel.send({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    async def refuse(self, asked: Json, code: int, message: str = "no", data: Any = None) -> None:
        """Answer a request with an error."""
        error: Json = {"code": code, "message": message}
        if data is not None:
            error["data"] = data
        await self.channel.send({"jsonrpc": "2.0", "id": asked["id"], "error": error})

    async def notify(self, method: str, params: Json | None = None) -> None:
        """Say something."""
        message: Json = {"jsonrpc": "2.0", "method": method}
        await self.channel.send(message if params is None else {**message, "params": params})

    async def initialize(self, revision: str = "2025-11-25", **more: Any) -> Json:
        """Take part in a handshake; what the client offered."""
        asked = await self.expect("initialize")
        result: Json = {
            "protocolVersion": revision,
            "capabilities": {},
            "serverInfo": {"name": "s", "version": "1"},
        }
        await self.reply(asked, {**result, **more})
        await self.expect("notifications/initialized")
        return asked["params"]

    async def discover(self, **more: Any) -> Json:
        """Answer the probe of the client; what the client said."""
        asked = await self.expect("server/discover")
        result: Json = {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {},
            "ttlMs": 0,
            "cacheScope": "private",
        }
        await self.reply(asked, {**result, **more})
        return asked["params"]

    async def until_gone(self) -> None:
        """Read until the client leaves."""
        try:
            while True:
                await self.receive()
        except ConnectionLost:
            return


Script: TypeAlias = Callable[[Wire], Awaitable[None]]


class Scripted:
    """What a client connects to: each connection plays the next script, and then is closed."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = list(scripts)
        self.opened = 0
        self.wires: list[Wire] = []

    @asynccontextmanager
    async def __call__(self) -> AsyncGenerator[Channel]:
        script = self._scripts[self.opened]
        self.opened += 1
        ours, theirs = pair()
        wire = Wire(theirs)
        self.wires.append(wire)

        async def play() -> None:
            try:
                await script(wire)
            except ConnectionLost:
                return
            finally:
                await theirs.close()

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(play)
                try:
                    yield ours
                finally:
                    await ours.close()
                    await theirs.close()
                    tasks.cancel_scope.cancel()
