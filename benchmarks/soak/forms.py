"""Clients of every form of HTTP: stateless requests, sessions, and the old pair of a stream and an address."""

import json
import random
from abc import abstractmethod
from collections.abc import Mapping
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from ..messages import ENVELOPE, STATELESS
from .clients import Client, Json, encoded, initialize, notification, request, short
from .errors import ExpiredError, OddityError
from .web import Connection, Reply

IDLE = 2.0
"""Seconds without a request after which nobody may complain that the session is gone."""
BOTH = "application/json, text/event-stream"


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
            raise OddityError(f"{message['method']}: {reply.status} {short(reply.body)}")
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

    @abstractmethod
    def fields(self, message: Json) -> dict[str, str]:
        """The fields of a request that depend on the form."""

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
            raise OddityError(f"initialize: {reply.status} {short(reply.body)}")
        self.session = reply.fields["mcp-session-id"]
        began = self._used
        reply = await self.post(notification("notifications/initialized"))
        if reply.status == 404 and monotonic() - began > IDLE:
            raise ExpiredError
        if reply.status != 202:
            raise OddityError(f"initialized: {reply.status} {short(reply.body)}")

    async def exchange(self, message: Json) -> Json:
        began = self._used
        reply = await self.post(message)
        if reply.status == 404 and monotonic() - began > IDLE:
            raise ExpiredError
        if reply.status != 200:
            raise OddityError(f"{message['method']}: {reply.status} {short(reply.body)}")
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
            raise OddityError(f"/messages: {reply.status} {short(reply.body)}")

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
