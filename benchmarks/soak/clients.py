"""Clients of every kind, with one way to ask: sessions, stateless requests, the old pair over HTTP, and pipes."""

import asyncio
import json
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from ..messages import ENVELOPE, HANDSHAKE, STATELESS
from .errors import ExpiredError, LeftError, OddityError
from .web import PATIENCE, Connection, Reply

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", HANDSHAKE)
IDLE = 2.0
"""Seconds without a request after which nobody may complain that the session is gone."""
BOTH = "application/json, text/event-stream"
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
            raise OddityError(f"{tool}({_short(arguments)}): {_short(result['content'])}")
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
            raise OddityError(f"{method}: {_short(answer)}")
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


class WebClient(Client):
    """What the two forms of streamable HTTP share: a connection that is kept, and posts."""

    def __init__(self, port: int, chance: random.Random, leaves_after: int | None = None) -> None:
        super().__init__(leaves_after)
        self.port = port
        self._chance = chance
        self._connection: Connection | None = None
        self._used = monotonic()

    async def connection(self) -> Connection:
        """The one that is kept, or a new one where it was idle for long: the server may have hung up."""
        if self._connection is not None and monotonic() - self._used > IDLE:
            self._connection.hang_up()
            self._connection = None
        if self._connection is None:
            self._connection = await Connection.open(self.port)
        return self._connection

    async def exchange(self, message: Json) -> Json:
        reply = await self.post(message)
        if reply.status != 200:
            raise OddityError(f"{message['method']}: {reply.status} {_short(reply.body)}")
        return json.loads(reply.message)

    async def post(self, message: Json, accept: str = BOTH) -> Reply:
        """The reply to a message."""
        connection = await self.connection()
        reply = await connection.ask(self.prepared(connection, message, accept))
        self._used = monotonic()
        return reply

    def prepared(self, connection: Connection, message: Json, accept: str = BOTH) -> bytes:
        """A whole request."""
        body = encoded(message)
        fields = {"Content-Type": "application/json", "Accept": accept, **self.fields(message)}
        return connection.head("POST", "/mcp", fields, len(body)) + body

    def fields(self, message: Json) -> dict[str, str]:
        """The fields of a request that depend on the form."""
        raise NotImplementedError

    def drop(self, message: Json) -> None:
        if self._connection is not None:
            self._connection.push(self.prepared(self._connection, message))
            self.hang_up(hard=self._chance.random() < 0.5)

    def hang_up(self, *, hard: bool = False) -> None:
        if self._connection is not None:
            self._connection.hang_up(hard=hard)
            self._connection = None


class StatelessClient(WebClient):
    """Revision 2026-07-28: every request says everything."""

    def enveloped(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**params, "_meta": ENVELOPE}

    def fields(self, message: Json) -> dict[str, str]:
        named = message["params"].get("name") or message["params"].get("uri")
        fields = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": message["method"]}
        return {**fields, "Mcp-Name": named} if named else fields


class SessionClient(WebClient):
    """The handshake revisions."""

    def __init__(
        self, port: int, chance: random.Random, revision: str, leaves_after: int | None = None
    ) -> None:
        super().__init__(port, chance, leaves_after)
        self.revision = revision
        self.session = ""

    async def open(self) -> None:
        """Begin the session."""
        reply = await self.post(request(0, "initialize", initialize(self.revision)))
        if reply.status != 200 or b'"result"' not in reply.message:
            raise OddityError(f"initialize: {reply.status} {_short(reply.body)}")
        self.session = reply.fields["mcp-session-id"]
        began = self._used
        reply = await self.post(notification("notifications/initialized"))
        if reply.status == 404 and monotonic() - began > IDLE:
            raise ExpiredError
        if reply.status != 202:
            raise OddityError(f"initialized: {reply.status} {_short(reply.body)}")

    async def exchange(self, message: Json) -> Json:
        began = self._used
        reply = await self.post(message)
        if reply.status == 404 and monotonic() - began > IDLE:
            raise ExpiredError
        if reply.status != 200:
            raise OddityError(f"{message['method']}: {reply.status} {_short(reply.body)}")
        return json.loads(reply.message)

    async def close(self) -> None:
        """End the session as a client should; many do not."""
        connection = await self.connection()
        reply = await connection.ask(connection.head("DELETE", "/mcp", self.fields({}), 0))
        if reply.status not in (204, 404):
            raise OddityError(f"DELETE: {reply.status}")
        self.hang_up()

    async def standing(self, *, narrow: bool = False, last: str | None = None) -> Connection:
        """A connection on which the session's standing stream was asked for, or the rest of one that was lost."""
        connection = await Connection.open(self.port, narrow=narrow)
        fields = {"Accept": "text/event-stream", **self.fields({})}
        if last is not None:
            fields["Last-Event-ID"] = last
        await connection.send(connection.head("GET", "/mcp", fields))
        return connection

    def fields(self, message: Json) -> dict[str, str]:
        if not self.session:
            return {}
        fields = {"Mcp-Session-Id": self.session}
        return fields if self.revision < "2025-06-18" else {**fields, "MCP-Protocol-Version": self.revision}


class PairClient(Client):
    """The old HTTP+SSE pair of 2024-11-05."""

    def __init__(self, port: int, leaves_after: int | None = None) -> None:
        super().__init__(leaves_after)
        self.port = port
        self._address = ""
        self._poster: Connection | None = None
        self._used = monotonic()

    async def open(self) -> None:
        """Open the stream, learn the address to post to, and shake hands."""
        self._stream = await Connection.open(self.port)
        await self._stream.send(self._stream.head("GET", "/sse", {"Accept": "text/event-stream"}))
        status, _ = await self._stream.begin()
        if status != 200:
            raise OddityError(f"/sse: {status}")
        self._lines = self._stream.lines()
        address = urlsplit((await self._data()).decode())
        self._address = f"{address.path}?{address.query}"
        await self.exchange(request(0, "initialize", initialize("2024-11-05")))
        await self._post(notification("notifications/initialized"))

    async def exchange(self, message: Json) -> Json:
        await self._post(message)
        while True:
            answer = json.loads(await self._data())
            if answer.get("id") == message["id"]:
                return answer

    async def _post(self, message: Json) -> None:
        if self._poster is not None and monotonic() - self._used > IDLE:
            self._poster.hang_up()
            self._poster = None
        if self._poster is None:
            self._poster = await Connection.open(self.port)
        reply = await self._poster.ask(self._prepared(self._poster, message))
        self._used = monotonic()
        if reply.status != 202:
            raise OddityError(f"/messages: {reply.status} {_short(reply.body)}")

    def _prepared(self, connection: Connection, message: Json) -> bytes:
        body = encoded(message)
        fields = {"Content-Type": "application/json"}
        return connection.head("POST", self._address, fields, len(body)) + body

    async def _data(self) -> bytes:
        async for line in self._lines:
            if line.startswith(b"data:"):
                return line[5:].strip()
        raise OddityError("the stream ended")

    def drop(self, message: Json) -> None:
        if self._poster is not None:
            self._poster.push(self._prepared(self._poster, message))
        self.hang_up()

    def hang_up(self) -> None:
        self._stream.hang_up(hard=True)
        if self._poster is not None:
            self._poster.hang_up()
            self._poster = None


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
            raise OddityError(f"initialize: {_short(answer)}")
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


def _short(value: Any) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return text[:300]
