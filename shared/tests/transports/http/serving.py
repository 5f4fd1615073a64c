"""A server on a real port and a client that says each byte: what the tests of the wire rules talk with.

What a server answers at 200 is held against the oracle.
"""

import json
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeAlias

import anyio
import httpx
from mcp_server_core import Server
from mcp_server_core.protocol.messages import Json, RequestId
from mcp_server_core.protocol.revisions import Revision
from mcp_server_core.protocol.sse import Event, Events
from mcp_server_core.transports.http.running import bind, serve_http
from mcp_server_core.transports.http.settings import HttpSettings

from ...protocol.oracle import check

Fields: TypeAlias = Mapping[str, str | None]
META = "io.modelcontextprotocol/"
NEWEST: Revision = "2026-07-28"
HANDSHAKE: tuple[Revision, ...] = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
PATIENCE = 5
BOTH = "application/json, text/event-stream"
PLAIN: Fields = {"accept": BOTH, "content-type": "application/json"}
_NO_TLS = ssl.SSLContext(
    ssl.PROTOCOL_TLS_CLIENT
)  # never used; httpx would load every authority for each client
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Reply:
    """A whole HTTP response."""

    def __init__(self, response: httpx.Response, body: bytes) -> None:
        self.status = response.status_code
        self.fields = response.headers
        self.body = body

    @property
    def kind(self) -> str:
        """The type of the body."""
        return self.fields.get("content-type", "")

    @property
    def json(self) -> Any:
        """The body, a JSON value."""
        assert self.kind == "application/json", (self.status, self.kind, self.body)
        return json.loads(self.body)

    @property
    def code(self) -> int:
        """The code of the error in the body."""
        return self.json["error"]["code"]

    @property
    def events(self) -> list[Event]:
        """The body, a stream of events that has ended."""
        assert self.kind == "text/event-stream", (self.status, self.kind, self.body)
        return Events().feed(self.body)

    @property
    def messages(self) -> list[Any]:
        """What the body says, whichever form it has; priming events say nothing."""
        if self.kind == "application/json":
            return [self.json]
        return [json.loads(event.data) for event in self.events if event.data]


class Stream:
    """A response that is still being written."""

    def __init__(self, response: httpx.Response) -> None:
        self._chunks = response.aiter_raw()
        self._events = Events()
        self._ready: list[Event] = []
        self.status = response.status_code
        self.fields = response.headers
        self.raw = b""

    async def more(self) -> bool:
        """Wait for more bytes; False at the end."""
        with anyio.fail_after(PATIENCE):
            chunk = await anext(self._chunks, None)
        if chunk is None:
            return False
        self.raw += chunk
        self._ready += self._events.feed(chunk)
        return True

    async def event(self) -> Event | None:
        """The next event; None when the stream has ended."""
        while not self._ready:
            if not await self.more():
                return None
        return self._ready.pop(0)

    async def message(self) -> Any:
        """The next message; priming events are passed over. None when the stream has ended."""
        while (event := await self.event()) is not None:
            if event.data:
                return json.loads(event.data)
        return None

    async def rest(self) -> list[Any]:
        """All messages up to the end."""
        messages: list[Any] = []
        while (message := await self.message()) is not None:
            messages.append(message)
        return messages


class Web:
    """A client of one server, over as many connections as it needs."""

    def __init__(self, client: httpx.AsyncClient, port: int, path: str) -> None:
        self._client = client
        self.port = port
        self.path = path

    def build(self, verb: str, fields: Fields, content: bytes, path: str | None) -> httpx.Request:
        url = f"http://127.0.0.1:{self.port}{path or self.path}"
        given = [(name, value) for name, value in fields.items() if value is not None]
        return httpx.Request(verb, url, headers=given, content=content)

    async def send(
        self, verb: str, fields: Fields, content: bytes = b"", *, path: str | None = None
    ) -> Reply:
        """One request, and its whole response."""
        return await self.exchange(self.build(verb, fields, content, path))

    async def exchange(self, request: httpx.Request) -> Reply:
        """Send a request that a test has built itself."""
        with anyio.fail_after(PATIENCE):
            response = await self._client.send(request)
        return Reply(response, response.content)

    async def raw(self, data: bytes) -> bytes:
        """Bytes on a connection of their own, and every byte that comes back until the server closes it."""
        received = b""
        with anyio.fail_after(PATIENCE):
            async with await anyio.connect_tcp("127.0.0.1", self.port) as connection:
                await connection.send(data)
                async for chunk in connection:
                    received += chunk
        return received

    @asynccontextmanager
    async def stream(
        self, verb: str, fields: Fields, content: bytes = b"", *, path: str | None = None
    ) -> AsyncGenerator[Stream]:
        """One request, and its response as it comes. Leaving the block hangs up."""
        with anyio.fail_after(PATIENCE):
            response = await self._client.send(self.build(verb, fields, content, path), stream=True)
        try:
            yield Stream(response)
        finally:
            await response.aclose()

    async def post(self, value: Any, fields: Fields | None = None) -> Reply:
        """Post a JSON value with the fields of a plain client, and these."""
        return await self.send("POST", {**PLAIN, **(fields or {})}, json.dumps(value).encode())

    # The stateless form.

    async def ask(
        self, method: str, params: Json | None = None, *, fields: Fields | None = None, **envelope: Any
    ) -> Reply:
        """An enveloped request in order, except for what the test changes; every 200 is checked."""
        message, mirrored = enveloped(method, params, **envelope)
        reply = await self.post(message, {**mirrored, **(fields or {})})
        if reply.status == 200:
            for said in reply.messages:
                check(said, NEWEST, None if "method" in said else method)
        return reply

    async def call(self, tool: str, arguments: Json | None = None, **more: Any) -> Reply:
        """Call a tool statelessly."""
        return await self.ask("tools/call", {"name": tool, "arguments": arguments or {}}, **more)

    @asynccontextmanager
    async def asking(
        self, method: str, params: Json | None = None, *, fields: Fields | None = None, **envelope: Any
    ) -> AsyncGenerator[Stream]:
        """An enveloped request whose answer is read as it comes."""
        message, mirrored = enveloped(method, params, **envelope)
        sent = {**PLAIN, **mirrored, **(fields or {})}
        async with self.stream("POST", sent, json.dumps(message).encode()) as stream:
            yield stream

    # The session form.

    async def open(self, revision: Revision, capabilities: Json | None = None) -> "Peer":
        """A session past its handshake."""
        peer = Peer(self, revision)
        reply = await self.post(initialize(revision, capabilities))
        assert reply.status == 200, reply.body
        check(reply.json, revision, "initialize")
        peer.id = reply.fields["mcp-session-id"]
        assert (await peer.post(notice("notifications/initialized"))).status == 202
        return peer


class Peer:
    """One session, as its client holds it."""

    def __init__(self, web: Web, revision: Revision) -> None:
        self.web = web
        self.revision: Revision = revision
        self.id = ""

    @property
    def fields(self) -> Fields:
        """What the client sends along with every HTTP request (H-20, H-28)."""
        version = self.revision if self.revision >= "2025-06-18" else None
        return {**PLAIN, "mcp-session-id": self.id, "mcp-protocol-version": version}

    async def post(self, value: Any, fields: Fields | None = None) -> Reply:
        """Post a message."""
        return await self.web.post(value, {**self.fields, **(fields or {})})

    async def ask(
        self, method: str, params: Json | None = None, *, id: RequestId = 1, fields: Fields | None = None
    ) -> Reply:
        """A request and its whole answer, checked."""
        reply = await self.post(request(method, params, id), fields)
        if reply.status == 200:
            for said in reply.messages:
                check(said, self.revision, None if "method" in said else method)
        return reply

    async def call(self, tool: str, arguments: Json | None = None, **more: Any) -> Reply:
        """Call a tool."""
        meta = more.pop("meta", None)
        params: Json = {"name": tool, "arguments": arguments or {}}
        return await self.ask("tools/call", params if meta is None else {**params, "_meta": meta}, **more)

    @asynccontextmanager
    async def calling(
        self,
        tool: str,
        arguments: Json | None = None,
        *,
        id: RequestId = 1,
        fields: Fields | None = None,
        **more: Any,
    ) -> AsyncGenerator[Stream]:
        """Call a tool and read its answer as it comes."""
        params: Json = {"name": tool, "arguments": arguments or {}, **more}
        content = json.dumps(request("tools/call", params, id)).encode()
        async with self.web.stream("POST", {**self.fields, **(fields or {})}, content) as stream:
            yield stream

    @asynccontextmanager
    async def standing(self, last_seen: str | None = None) -> AsyncGenerator[Stream]:
        """The standing stream, or the rest of another one."""
        fields = {**self.fields, "accept": "text/event-stream", "last-event-id": last_seen}
        async with self.web.stream("GET", fields) as stream:
            assert stream.status == 200, stream.status
            yield stream

    async def get(self, fields: Fields | None = None) -> Reply:
        """A GET that is to be refused, or whose stream ends by itself."""
        return await self.web.send("GET", {**self.fields, **(fields or {})})

    async def settle(self) -> None:
        """Whole round trips: what was posted before has been seen by the server."""
        for number in range(3):
            assert (await self.ask("ping", id=f"settle-{number}")).status == 200


@asynccontextmanager
async def serving(server: Server[Any], **limits: Any) -> AsyncGenerator[Web]:
    """Serve on a free port, and a client for it."""
    settings = HttpSettings(port=0, **limits)
    listening = bind(settings)
    port: int = listening.getsockname()[1]
    ready = anyio.Event()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(server.running())
        tasks = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        client = httpx.AsyncClient(
            timeout=PATIENCE, limits=httpx.Limits(max_connections=None), verify=_NO_TLS, trust_env=False
        )
        await stack.enter_async_context(client)

        async def serve() -> None:
            await serve_http(server, settings, [listening], ready=ready.set)

        tasks.start_soon(serve)
        with anyio.fail_after(PATIENCE):
            await ready.wait()
        yield Web(client, port, settings.path)


def envelope(capabilities: Json | None = None, **more: Any) -> Json:
    """What a stateless request carries in `_meta`."""
    return {
        META + "protocolVersion": NEWEST,
        META + "clientCapabilities": capabilities or {},
        **{(key if key == "progressToken" else META + key): value for key, value in more.items()},
    }


def enveloped(
    method: str,
    params: Json | None = None,
    *,
    id: RequestId = 1,
    capabilities: Json | None = None,
    **meta: Any,
) -> tuple[Json, Fields]:
    """A stateless request, and the fields that mirror it."""
    inner: Json = {**(params or {}), "_meta": envelope(capabilities, **meta)}
    fields: dict[str, str | None] = {"mcp-protocol-version": NEWEST, "mcp-method": method}
    if method in _NAMED:
        fields["mcp-name"] = inner.get(_NAMED[method])
    return request(method, inner, id), fields


def request(method: str, params: Json | None = None, id: RequestId = 1) -> Json:
    """A request."""
    message: Json = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else {**message, "params": params}


def notice(method: str, params: Json | None = None) -> Json:
    """A notification."""
    message: Json = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def initialize(revision: str, capabilities: Json | None = None, id: RequestId = 0) -> Json:
    """The first request of a handshake client."""
    params = {
        "protocolVersion": revision,
        "capabilities": capabilities or {},
        "clientInfo": {"name": "peer", "version": "1"},
    }
    return request("initialize", params, id)


def text_of(result: Json) -> str:
    """The text of a tool's result."""
    return "".join(block["text"] for block in result["content"])
