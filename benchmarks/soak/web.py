"""Raw HTTP for a client that may be rude: connections, replies and events, read as they come."""

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator, Mapping
from typing import NamedTuple, Self

from .errors import OddityError

HOST = "127.0.0.1"
PATIENCE = 60.0
"""Seconds after which a client takes a server for dead; a busy machine is slow, too."""
NARROW = 4096
_AT_ONCE = struct.pack("ii", 1, 0)


class Reply(NamedTuple):
    """A whole reply."""

    status: int
    fields: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> bytes:
        """The JSON-RPC answer in it: the body, or the data of the last event that has an id."""
        if not self.fields.get("content-type", "").startswith("text/event-stream"):
            return self.body
        answers = [
            line[5:].strip()
            for line in self.body.splitlines()
            if line.startswith(b"data:") and (b'"result"' in line or b'"error"' in line)
        ]
        return answers[-1] if answers else b""


class Connection:
    """One connection to a server."""

    def __init__(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._port = port
        self._reader = reader
        self._writer = writer
        self._chunked = False

    @classmethod
    async def open(cls, port: int, *, narrow: bool = False) -> Self:
        """`narrow` keeps the system from taking much for a client that does not read."""
        bound = socket.socket()
        if narrow:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, NARROW)
        bound.setblocking(False)
        await asyncio.get_running_loop().sock_connect(bound, (HOST, port))
        reader, writer = await asyncio.open_connection(sock=bound, limit=NARROW if narrow else 2**20)
        return cls(port, reader, writer)

    def head(self, verb: str, path: str, fields: Mapping[str, str], length: int | None = None) -> bytes:
        """The head of a request, as bytes."""
        lines = [f"{verb} {path} HTTP/1.1", f"Host: {HOST}:{self._port}"]
        lines += [f"{name}: {value}" for name, value in fields.items()]
        if length is not None:
            lines.append(f"Content-Length: {length}")
        return "\r\n".join([*lines, "", ""]).encode()

    async def send(self, data: bytes) -> None:
        """Send, and wait until the system has taken it."""
        self._writer.write(data)
        await self._writer.drain()

    def push(self, data: bytes) -> None:
        """Send without waiting, for a client that does not care."""
        self._writer.write(data)

    async def begin(self) -> tuple[int, dict[str, str]]:
        """The status and the fields of a reply; its body can be read next."""
        async with asyncio.timeout(PATIENCE):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status, *lines = head.rstrip().split("\r\n")
        pairs = (line.partition(":") for line in lines)
        fields = {name.lower(): value.strip() for name, _, value in pairs}
        self._chunked = fields.get("transfer-encoding", "") == "chunked"
        return int(status.split()[1]), fields

    async def ask(self, request: bytes) -> Reply:
        """Send one request and read the whole reply."""
        await self.send(request)
        status, fields = await self.begin()
        if not self._chunked:
            length = int(fields.get("content-length", "0"))
            async with asyncio.timeout(PATIENCE):
                return Reply(status, fields, await self._reader.readexactly(length))
        return Reply(status, fields, b"".join([chunk async for chunk in self.chunks()]))

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The chunks of a streamed body until its end."""
        while True:
            async with asyncio.timeout(PATIENCE):
                size = int(await self._reader.readuntil(b"\r\n"), 16)
                chunk = (await self._reader.readexactly(size + 2))[:-2]
            if not size:
                return
            yield chunk

    async def lines(self) -> AsyncGenerator[bytes]:
        """The lines of a stream of events: fields, comments and the empty lines between events."""
        rest = b""
        async for chunk in self.chunks():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line.rstrip(b"\r")

    async def until_closed(self) -> bytes:
        """Everything up to the moment the server hangs up."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._reader.read()
        except ConnectionError:
            return b""
        except TimeoutError:
            raise OddityError("the server never hung up") from None

    def hang_up(self, *, hard: bool = False) -> None:
        """Close the connection; hard: as a process that was killed, with everything unread thrown away."""
        if hard:
            bound = self._writer.get_extra_info("socket")
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            self._writer.transport.abort()
        else:
            self._writer.close()
