"""What clients of every kind share: one way to ask, and to be gone before the answer. And the one on pipes."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from ..messages import ENVELOPE, HANDSHAKE
from .errors import LeftError, OddityError
from .web import PATIENCE

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", HANDSHAKE)
Json = dict[str, Any]


def request(number: int, method: str, params: Mapping[str, Any]) -> Json:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}


def notification(method: str, params: Mapping[str, Any] | None = None) -> Json:
    return {"jsonrpc": "2.0", "method": method, "params": dict(params or {})}


def initialize(revision: str) -> Json:
    client = {"name": "soak", "version": "1"}
    return {"protocolVersion": revision, "capabilities": {}, "clientInfo": client}


def encoded(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


class Client(ABC):
    """Asks one thing after another. With `leaves_after`, it is gone before the answer to that many requests."""

    def __init__(self, leaves_after: int | None = None) -> None:
        self._number = 0
        self._left = leaves_after
        self.asked = 0

    async def call(self, tool: str, arguments: Mapping[str, Any], *, refusals: bool = False) -> Json:
        """The result of a tool; one that says `isError` is an oddity unless refusals are expected."""
        result = await self.ask("tools/call", {"name": tool, "arguments": dict(arguments)})
        if result.get("isError") and not refusals:
            raise OddityError(f"{tool}({short(arguments)}): {short(result['content'])}")
        return result

    async def ask(self, method: str, params: Mapping[str, Any]) -> Json:
        """The result of a request; an error is an oddity."""
        self._number += 1
        message = request(self._number, method, self.enveloped(params))
        leaving = self._left is not None and self._number >= self._left
        if leaving:
            self.drop(message)
            raise LeftError
        answer = await self.exchange(message)
        if answer.get("id") != self._number or "result" not in answer:
            raise OddityError(f"{method}: {short(answer)}")
        self.asked += 1
        return answer["result"]

    def enveloped(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a request carries besides."""
        return params

    @abstractmethod
    async def exchange(self, message: Json) -> Json:
        """Send a request and return its answer."""

    @abstractmethod
    def drop(self, message: Json) -> None:
        """Send a request without waiting for anything that comes of it."""


def short(value: Any) -> str:
    """The beginning of something, for a complaint."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return text[:300]


class PipeClient(Client):
    """A server of its own on two pipes; revisions may be mixed, because each request says its own."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        transport: asyncio.ReadTransport,
    ) -> None:
        super().__init__()
        self.process = process
        self.stateless = False
        assert process.stdin is not None
        self._stdin = process.stdin
        self._stdout = reader
        self._transport = transport

    async def open(self, revision: str) -> None:
        """Shake hands."""
        answer = await self.exchange(request(0, "initialize", initialize(revision)))
        if answer.get("result", {}).get("protocolVersion") != revision:
            raise OddityError(f"initialize: {short(answer)}")
        await self.tell(notification("notifications/initialized"))

    def enveloped(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**params, "_meta": ENVELOPE} if self.stateless else params

    async def exchange(self, message: Json) -> Json:
        await self.tell(message)
        return await self.answer(message["id"])

    async def tell(self, message: Any) -> None:
        """Send a message, or bytes that only look like one."""
        self._stdin.write((message if isinstance(message, bytes) else encoded(message)) + b"\n")
        async with asyncio.timeout(PATIENCE):
            await self._stdin.drain()

    async def answer(self, number: Any) -> Json:
        """The answer to one request; whatever comes before it is read over."""
        while True:
            message = await self.next()
            if message.get("id") == number and "method" not in message:
                return message

    async def next(self) -> Json:
        """The next line."""
        async with asyncio.timeout(PATIENCE):
            line = await self._stdout.readline()
        if not line:
            raise OddityError("the server ended")
        return json.loads(line)

    def drop(self, message: Json) -> None:
        self._stdin.write(encoded(message) + b"\n")

    @property
    def deaf(self) -> bool:
        """Whether nothing is read of what the server writes."""
        return not self._transport.is_reading()

    @deaf.setter
    def deaf(self, deaf: bool) -> None:
        (self._transport.pause_reading if deaf else self._transport.resume_reading)()

    def hang_up(self) -> None:
        """End of file: what a host does first."""
        self._stdin.close()

    def close(self) -> None:
        """Close both ends, as when the host dies."""
        self._stdin.close()
        self._transport.close()
