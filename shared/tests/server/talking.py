"""What the tests of servers and clients talk with. Every message of a server is held against the oracle."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Unpack

import anyio
from mcp_server_core import Channel, Registry, Server
from mcp_server_core.client.client import Client
from mcp_server_core.protocol.messages import Json, RequestId
from mcp_server_core.protocol.revisions import META_VERSION, STATELESS, Revision
from mcp_server_core.testing import ClientOptions, wire

from ..protocol.oracle import check

META = "io.modelcontextprotocol/"
NEWEST: Revision = "2026-07-28"
HANDSHAKE: tuple[Revision, ...] = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
REVISIONS: tuple[Revision, ...] = (*HANDSHAKE, NEWEST)
SUBSCRIPTION = META + "subscriptionId"
PATIENCE = 5


class Checked:
    """A channel to a server that lets nothing pass which the schema of its revision forbids."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._asked: dict[RequestId, tuple[str, str]] = {}
        self._agreed: str | None = None
        self.received: list[Any] = []

    async def receive(self) -> Any:
        message = await self._channel.receive()
        self.received.append(message)
        for item in message if isinstance(message, list) else [message]:
            self._check(item)
        return message

    def _check(self, message: Json) -> None:
        if "method" in message:
            # What the server says by itself: a stateless peer hears only what belongs to a stream or a call.
            tagged = SUBSCRIPTION in message.get("params", {}).get("_meta", {})
            return check(message, NEWEST if tagged or self._agreed is None else self._agreed)
        method, revision = self._asked.pop(message.get("id", ""), ("", NEWEST))
        if method == "initialize" and "result" in message:
            self._agreed = revision = message["result"]["protocolVersion"]
        return check(message, revision, method or None)

    async def send(self, message: Json | list[Json], *, about: RequestId | None = None) -> None:
        for item in message if isinstance(message, list) else [message]:
            self._note(item)
        await self._channel.send(message, about=about)

    def _note(self, message: Json) -> None:
        if "id" not in message or not isinstance(message.get("method"), str):
            return
        meta = (message.get("params") or {}).get("_meta") or {}
        revision = NEWEST if META_VERSION in meta or self._agreed is None else self._agreed
        self._asked.setdefault(message["id"], (message["method"], revision))

    async def close(self) -> None:
        await self._channel.close()


class Peer:
    """A client that does nothing by itself: a test says each message and hears each one."""

    def __init__(self, channel: Channel, revision: Revision, capabilities: Json, client: Json | None) -> None:
        self.channel = Checked(channel)
        self.revision: Revision = revision
        self.capabilities = capabilities
        self.client = {"name": "peer", "version": "1"} if client is None else client
        self.held: list[Json] = []
        """What arrived while the test waited for something else."""
        self._ids = count(100)

    @property
    def stateless(self) -> bool:
        return self.revision in STATELESS

    def envelope(self) -> Json:
        """What a stateless request carries in `_meta`."""
        return {
            META + "protocolVersion": self.revision,
            META + "clientCapabilities": self.capabilities,
            META + "clientInfo": self.client,
        }

    async def open(self) -> Json:
        """The handshake."""
        params = {
            "protocolVersion": self.revision,
            "capabilities": self.capabilities,
            "clientInfo": self.client,
        }
        result = await self.plain("initialize", params)
        await self.notify("notifications/initialized")
        return result

    async def plain(self, method: str, params: Json | None = None) -> Json:
        """A request without an envelope, and its result."""
        id = next(self._ids)
        message: Json = {"jsonrpc": "2.0", "id": id, "method": method}
        await self.channel.send(message if params is None else {**message, "params": params})
        return (await self.response(id))["result"]

    async def post(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        id: RequestId | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> RequestId:
        """Send a request and do not wait."""
        id = next(self._ids) if id is None else id
        whole = {**(self.envelope() if self.stateless else {}), **(meta or {})}
        sent = dict(params or {})
        if whole:
            sent["_meta"] = whole
        await self.channel.send({"jsonrpc": "2.0", "id": id, "method": method, "params": sent})
        return id

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        message: Json = {"jsonrpc": "2.0", "method": method}
        await self.channel.send(message if params is None else {**message, "params": dict(params)})

    async def cancel(self, id: RequestId) -> None:
        """Say that an answer is no longer wanted."""
        await self.notify("notifications/cancelled", {"requestId": id})

    async def reply(self, asked: Json, result: Json) -> None:
        """Answer a question of the server."""
        await self.channel.send({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    async def refuse(self, asked: Json, code: int, message: str) -> None:
        """Answer a question of the server with an error."""
        error = {"code": code, "message": message}
        await self.channel.send({"jsonrpc": "2.0", "id": asked["id"], "error": error})

    async def find(self, wanted: Callable[[Json], bool]) -> Json:
        """The first message that is wanted; others are held."""
        for message in self.held:
            if wanted(message):
                self.held.remove(message)
                return message
        with anyio.fail_after(PATIENCE):
            while True:
                message = await self.channel.receive()
                if wanted(message):
                    return message
                self.held.append(message)

    async def response(self, id: RequestId) -> Json:
        """The answer to a request."""
        return await self.find(
            lambda message: (
                "method" not in message and message.get("id") == id and type(message["id"]) is type(id)
            )
        )

    async def heard(self, method: str) -> Json:
        """The next notification or request of the server with this method."""
        return await self.find(lambda message: message.get("method") == method)

    async def result(
        self, method: str, params: Mapping[str, Any] | None = None, *, meta: Mapping[str, Any] | None = None
    ) -> Json:
        """The result of a request."""
        response = await self.response(await self.post(method, params, meta=meta))
        assert "result" in response, response
        return response["result"]

    async def error(
        self, method: str, params: Mapping[str, Any] | None = None, *, meta: Mapping[str, Any] | None = None
    ) -> Json:
        """The error a request is answered with."""
        response = await self.response(await self.post(method, params, meta=meta))
        assert "error" in response, response
        return response["error"]

    async def call(self, tool: str, arguments: Json | None = None, **more: Any) -> Json:
        """The result of a tool."""
        return await self.result("tools/call", {"name": tool, "arguments": arguments or {}, **more})

    async def post_call(self, tool: str, arguments: Json | None = None, **more: Any) -> RequestId:
        """Call a tool and do not wait."""
        return await self.post("tools/call", {"name": tool, "arguments": arguments or {}}, **more)

    async def watch(self, *uris: str) -> RequestId | None:
        """Subscribe to resources, whichever way this revision has; the id of the stream if there is one."""
        if not self.stateless:
            for uri in uris:
                await self.result("resources/subscribe", {"uri": uri})
            return None
        id = await self.post("subscriptions/listen", {"notifications": {"resourceSubscriptions": list(uris)}})
        await self.heard("notifications/subscriptions/acknowledged")
        return id

    async def settle(self) -> list[Json]:
        """A few whole round trips: whatever the server had to say by itself has been said, and is held."""
        for _ in range(3):
            await self.result("server/discover" if self.stateless else "ping")
        return self.held


@asynccontextmanager
async def talk(
    server: Server[Any], revision: Revision, capabilities: Json | None = None, *, client: Json | None = None
) -> AsyncGenerator[Peer]:
    """A raw peer of a server, past the handshake where there is one."""
    async with wire(server) as channel:
        peer = Peer(channel, revision, capabilities or {}, client)
        if not peer.stateless:
            await peer.open()
            await peer.settle()  # the server has seen `initialized`
        yield peer


@asynccontextmanager
async def connect(server: Server[Any], **options: Unpack[ClientOptions]) -> AsyncGenerator[Client]:
    """`mcp_server_core.testing.connect`, with the oracle in between and with bounded patience."""

    @asynccontextmanager
    async def opener() -> AsyncGenerator[Channel]:
        async with wire(server) as channel:
            yield Checked(channel)

    with anyio.fail_after(PATIENCE):
        async with Client(opener, **options) as client:
            yield client


def serving(*parts: Registry, **options: Any) -> Server[Any]:
    """A server made of these parts."""
    return Server("test-server", version="1", parts=parts, **options)


def text_of(result: Json) -> str:
    """The text half of a tool's result."""
    return "".join(block["text"] for block in result["content"] if block["type"] == "text")


def unstamped(result: Json) -> Json:
    """A result without what the stateless era adds to every result."""
    stamps = ("resultType", "ttlMs", "cacheScope", "_meta")
    return {key: value for key, value in result.items() if key not in stamps}
