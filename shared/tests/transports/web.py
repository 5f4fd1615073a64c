"""Web servers made by hand, on real sockets: they say exactly what a test wants a client to hear."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeAlias

import anyio
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.sse import encode_event

PATIENCE = 5
NEWEST = "2026-07-28"


class Heard(NamedTuple):
    """One HTTP request."""

    verb: str
    path: str
    headers: Mapping[str, str]
    body: Json
    at: float
    names: list[str]
    """The names of all headers, repeated ones repeatedly."""

    @property
    def method(self) -> str:
        """The method of the message in it, or the verb if there is none."""
        return self.body.get("method", self.verb)


class Exchange:
    """An HTTP request that waits for its response."""

    def __init__(self, heard: Heard, stream: ByteStream) -> None:
        self.heard = heard
        self._stream = stream

    async def reply(self, status: int = 200, body: bytes = b"", **headers: str) -> None:
        """Answer with a whole body."""
        await self._start(status, {"content_length": str(len(body)), **headers})
        await self._stream.send(body)

    async def json(self, value: Any, status: int = 200, **headers: str) -> None:
        """Answer with a JSON value."""
        await self.reply(status, json.dumps(value).encode(), content_type="application/json", **headers)

    async def result(self, result: Json, **headers: str) -> None:
        """Answer the request in the body, as JSON."""
        await self.json(self.response(result), 200, **headers)

    async def refuse(self, code: int, status: int = 400, data: Any = None) -> None:
        """Answer the request in the body with an error."""
        error = {"code": code, "message": "no", "data": data}
        await self.json({"jsonrpc": "2.0", "id": self.heard.body.get("id"), "error": error}, status)

    def response(self, result: Json) -> Json:
        """The response to the request in the body."""
        return {"jsonrpc": "2.0", "id": self.heard.body["id"], "result": result}

    async def stream(self, **headers: str) -> None:
        """Answer with an event stream, which ends when the handler does."""
        await self._start(200, {"content_type": "text/event-stream", **headers})

    async def event(
        self, value: Any = None, *, id: str | None = None, retry: int | None = None, event: str | None = None
    ) -> None:
        """One event: a message, a text, or nothing."""
        data = value if isinstance(value, str) else "" if value is None else json.dumps(value)
        await self._stream.send(encode_event(data.encode(), id=id, retry=retry, event=event))

    async def raw(self, data: bytes) -> None:
        """Bytes of the body."""
        await self._stream.send(data)

    async def until_gone(self) -> None:
        """Wait until the client closes the connection."""
        try:
            while True:
                await self._stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return

    async def _start(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        head = "\r\n".join([f"HTTP/1.1 {status} X", "connection: close", *lines, "", ""])
        await self._stream.send(head.encode("latin-1"))


Handler: TypeAlias = Callable[[Exchange], Awaitable[None]]


class Site:
    """A server, and what it heard."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.heard: list[Heard] = []
        self.url = ""

    def methods(self) -> list[str]:
        """What was asked, in order."""
        return [heard.method for heard in self.heard]

    def of(self, method: str) -> list[Heard]:
        """The requests with this method, or this verb."""
        return [heard for heard in self.heard if heard.method == method]

    async def answer(self, stream: ByteStream) -> None:
        """Serve one connection: one request."""
        async with stream:
            try:
                heard = await _hear(stream)
                self.heard.append(heard)
                await self._handler(Exchange(heard, stream))
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.IncompleteRead):
                return


async def _hear(stream: ByteStream) -> Heard:
    reader = BufferedByteReceiveStream(stream)
    head = (await reader.receive_until(b"\r\n\r\n", 65536)).decode("latin-1").split("\r\n")
    verb, path, _ = head[0].split(" ")
    fields = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in head[1:])]
    headers = dict(fields)
    body = await reader.receive_exactly(int(headers.get("content-length", "0")))
    return Heard(
        verb,
        path,
        headers,
        json.loads(body) if body else {},
        anyio.current_time(),
        [name for name, _ in fields],
    )


@asynccontextmanager
async def serve(handler: Handler) -> AsyncGenerator[Site]:
    """A site on a port of its own, for as long as the block runs; nothing in it may take long."""
    site = Site(handler)
    with anyio.fail_after(PATIENCE):
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            site.url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/mcp"
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listener.serve, site.answer)
                yield site
                tasks.cancel_scope.cancel()


def modern(**handlers: Handler) -> Handler:
    """A stateless server. The handlers are called by method, with `_` for `/`."""

    async def handle(exchange: Exchange) -> None:
        method = exchange.heard.method
        if method == "server/discover" and "server_discover" not in handlers:
            await exchange.result(
                {"resultType": "complete", "supportedVersions": [NEWEST], "capabilities": {"tools": {}}}
            )
        elif exchange.heard.verb != "POST":
            await exchange.reply(405)
        else:
            await handlers[method.replace("/", "_")](exchange)

    return handle


def classic(revision: str = "2025-11-25", session: str | None = "s-1", **handlers: Handler) -> Handler:
    """A server that wants a handshake and has no standing stream, unless there is a handler for it."""

    async def handle(exchange: Exchange) -> None:
        heard = exchange.heard
        name = heard.method.replace("/", "_")
        if name in handlers:
            await handlers[name](exchange)
        elif heard.method == "initialize":
            await exchange.result(
                {
                    "protocolVersion": revision,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "s", "version": "1"},
                },
                **({} if session is None else {"mcp_session_id": session}),
            )
        elif heard.method == "server/discover":
            await exchange.reply(400, b"Missing session", content_type="text/plain")
        elif heard.verb == "POST" and "id" not in heard.body:
            await exchange.reply(202)
        else:
            await exchange.reply({"GET": 405, "DELETE": 200}.get(heard.verb, 404))

    return handle


async def echo(exchange: Exchange) -> None:
    """Answer a request with its params."""
    await exchange.result({"resultType": "complete", "echo": exchange.heard.body.get("params", {})})
