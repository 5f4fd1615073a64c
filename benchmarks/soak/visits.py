"""What clients over HTTP do, well-behaved and not. Each visit ends with nothing of the client left."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ..messages import ENVELOPE, HANDSHAKE, STATELESS
from .clients import REVISIONS, Client, encoded, notification, request
from .errors import ExpiredError, LeftError, OddityError
from .forms import BOTH, PairClient, SessionClient, StatelessClient
from .web import Connection
from .works import Trade


@dataclass(slots=True)
class Visitor:
    """Somebody who visits one server again and again, under a name of their own."""

    name: str
    port: int
    trade: Trade
    chance: random.Random
    asked: int = 0
    turn: int = 0

    def leaving(self) -> int | None:
        """After how many requests this visit ends in the middle; mostly it does not."""
        return self.chance.randrange(1, 20) if self.chance.random() < 0.25 else None

    async def work(self, client: Client) -> None:
        """Work until it is done, or until the client is gone."""
        before = client.asked
        try:
            await self.trade.work(client, self.chance, f"{self.name}-{self.turn % 4}")
        except LeftError:
            self.turn += (
                1  # what it asked for last may still be done, and must not be in the way of the next visit
            )
            raise
        finally:
            self.asked += client.asked - before


Visit = Callable[[Visitor], Awaitable[None]]


async def session(visitor: Visitor) -> None:
    """A handshake client: works, and ends the session, or forgets to, or vanishes."""
    client = await _opened(visitor, visitor.leaving())
    standing = await client.standing() if visitor.chance.random() < 0.4 else None
    try:
        if standing is not None:
            await client.ask("resources/subscribe", {"uri": visitor.trade.watched})
        await visitor.work(client)
        if visitor.chance.random() < 0.6:
            await client.close()
    except (LeftError, ExpiredError):
        pass
    finally:
        client.hang_up()
        if standing is not None:
            standing.hang_up(hard=visitor.chance.random() < 0.5)


async def stateless(visitor: Visitor) -> None:
    """A client of the newest revision."""
    client = StatelessClient(visitor.port, visitor.chance, visitor.leaving())
    try:
        await client.ask("server/discover", {})
        await visitor.work(client)
    except LeftError:
        pass
    finally:
        client.hang_up()


async def pair(visitor: Visitor) -> None:
    """A client of the old pair; its session ends with its stream."""
    client = PairClient(visitor.port, visitor.leaving())
    await client.open()
    try:
        await visitor.work(client)
    except LeftError:
        pass
    finally:
        client.hang_up()


async def listen(visitor: Visitor) -> None:
    """A stream of changes that is read for a while, then not any more, then left."""
    client = StatelessClient(visitor.port, visitor.chance)
    connection = await client.connection()
    wanted = {"notifications": {"resourceSubscriptions": [visitor.trade.watched]}, "_meta": ENVELOPE}
    await connection.send(client.prepared(connection, request(1, "subscriptions/listen", wanted)))
    status, _ = await connection.begin()
    if status != 200:
        raise OddityError(f"listen: {status}")
    signs = visitor.chance.randrange(1, 4)
    async for line in connection.lines():
        signs -= line.startswith((b":", b"data:"))
        if signs <= 0:
            break
    if visitor.chance.random() < 0.5:
        await asyncio.sleep(visitor.chance.random() * 3)
    client.hang_up(hard=visitor.chance.random() < 0.5)


async def half_body(visitor: Visitor) -> None:
    """A request whose body never comes: the client leaves, or waits to be told to."""
    connection = await Connection.open(visitor.port)
    fields = {"Content-Type": "application/json", "Accept": BOTH}
    await connection.send(connection.head("POST", "/mcp", fields, 10_000) + b'{"jsonrpc":"2.0",')
    if visitor.chance.random() < 0.5:
        said = await connection.until_closed()
        if b" 408 " not in said.partition(b"\r\n")[0]:
            raise OddityError(f"half a body: {said[:100]!r}")
    connection.hang_up(hard=visitor.chance.random() < 0.5)


async def half_head(visitor: Visitor) -> None:
    """A request whose head never ends."""
    connection = await Connection.open(visitor.port)
    await connection.send(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ")
    if visitor.chance.random() < 0.5:
        await connection.until_closed()
    connection.hang_up(hard=visitor.chance.random() < 0.5)


async def idle(visitor: Visitor) -> None:
    """A connection that is kept after one request, until the server is tired of it."""
    connection = await Connection.open(visitor.port)
    reply = await connection.ask(connection.head("GET", "/health", {}))
    if reply.status != 200:
        raise OddityError(f"/health: {reply.status}")
    await connection.until_closed()
    connection.hang_up()


async def stall(visitor: Visitor) -> None:
    """Asks for much and reads none of it, until the server gives up on the client or the client leaves."""
    client = StatelessClient(visitor.port, visitor.chance)
    connection = await Connection.open(visitor.port, narrow=True)
    tool, arguments = visitor.trade.large
    call = {"name": tool, "arguments": arguments, "_meta": ENVELOPE}
    for number in range(visitor.chance.randrange(2, 20)):
        connection.push(client.prepared(connection, request(number, "tools/call", call)))
    await asyncio.sleep(visitor.chance.choice((0.1, 1, 6)))
    connection.hang_up(hard=visitor.chance.random() < 0.5)


async def stall_standing(visitor: Visitor) -> None:
    """A session with a standing stream that nobody reads, while its client works on."""
    client = await _opened(visitor, visitor.leaving())
    standing = await client.standing(narrow=True)
    try:
        await client.ask("resources/subscribe", {"uri": visitor.trade.watched})
        for _ in range(2):
            await visitor.work(client)
    except (LeftError, ExpiredError):
        pass
    finally:
        client.hang_up()
        standing.hang_up(hard=visitor.chance.random() < 0.5)


async def cancel(visitor: Visitor) -> None:
    """Asks for something slow in a session and takes it back; the session goes on."""
    client = await _opened(visitor)
    tool, arguments = visitor.trade.slow
    call = request(99, "tools/call", {"name": tool, "arguments": arguments})
    connection = await Connection.open(visitor.port)
    await connection.send(client.prepared(connection, call))
    await asyncio.sleep(visitor.chance.random() / 3)
    reply = await client.post(notification("notifications/cancelled", {"requestId": 99}))
    if reply.status != 202:
        raise OddityError(f"cancelled: {reply.status}")
    status, _ = await connection.begin()
    if status not in (200, 202):
        raise OddityError(f"a cancelled call: {status}")
    try:
        await client.ask("ping", {})
        await client.close()
    except ExpiredError:
        client.hang_up()
    connection.hang_up()


async def leave_slow(visitor: Visitor) -> None:
    """Asks for something slow and hangs up: the work has to end as well."""
    client = StatelessClient(visitor.port, visitor.chance)
    connection = await client.connection()
    tool, arguments = visitor.trade.slow
    call = {"name": tool, "arguments": arguments, "_meta": ENVELOPE}
    await connection.send(client.prepared(connection, request(1, "tools/call", call)))
    await asyncio.sleep(visitor.chance.random() / 2)
    client.hang_up(hard=visitor.chance.random() < 0.5)


async def come_back(visitor: Visitor) -> None:
    """Loses the connection in the middle of a call, and fetches the answer on another one."""
    client = await _opened(visitor, revision=HANDSHAKE)
    tool, arguments = visitor.trade.slow
    call = request(99, "tools/call", {"name": tool, "arguments": arguments})
    connection = await Connection.open(visitor.port)
    await connection.send(client.prepared(connection, call, "text/event-stream"))
    status, _ = await connection.begin()
    if status != 200:
        raise OddityError(f"a stream for a call: {status}")
    last = await _event_id(connection)
    connection.hang_up(hard=visitor.chance.random() < 0.5)
    resumed = await client.standing(last=last)
    status, _ = await resumed.begin()
    if status != 200:
        raise OddityError(f"coming back for {last}: {status}")
    async for line in resumed.lines():
        if line.startswith(b"data:") and b'"id":99' in line:
            break
    else:
        raise OddityError("the answer was not kept for a client that came back")
    resumed.hang_up()
    client.hang_up()  # and the session is forgotten


async def nonsense(visitor: Visitor) -> None:
    """What is no request is refused, and the next one is answered."""
    connection = await Connection.open(visitor.port)
    fields = {"Content-Type": "application/json", "Accept": BOTH}
    stateless = {**fields, "MCP-Protocol-Version": STATELESS, "Mcp-Method": "no/such/method"}
    odd = (
        (fields, b'{"jsonrpc":"2.0","id":1,', {400}),
        (fields, b"\xff\xfe\x00", {400}),
        (fields, b"[" * 20_000, {400}),
        ({**fields, "Content-Type": "text/plain"}, b"{}", {415}),
        ({**fields, "Mcp-Session-Id": "nobody"}, encoded(request(1, "ping", {})), {404}),
        (stateless, encoded(request(1, "no/such/method", {"_meta": ENVELOPE})), {404}),
        ({**fields, "Host": "evil.example"}, encoded(request(1, "ping", {})), {400, 403}),
    )
    given, body, expected = visitor.chance.choice(odd)
    reply = await connection.ask(connection.head("POST", "/mcp", given, len(body)) + body)
    if reply.status not in expected:
        raise OddityError(f"{body[:40]!r}: {reply.status}, not {expected}")
    connection.hang_up()
    if visitor.chance.random() < 0.3:
        noise = await Connection.open(visitor.port)
        await noise.send(b"\x16\x03\x01 no HTTP at all\r\n\r\n")
        await noise.until_closed()
        noise.hang_up()


# How often each is done, of all visits.
VISITS: dict[Visit, int] = {
    session: 24,
    stateless: 20,
    pair: 8,
    listen: 10,
    stall: 5,
    stall_standing: 4,
    cancel: 8,
    leave_slow: 6,
    come_back: 4,
    half_body: 3,
    half_head: 2,
    idle: 2,
    nonsense: 6,
}


async def _opened(
    visitor: Visitor, leaves_after: int | None = None, *, revision: str | None = None
) -> SessionClient:
    """A client with a session."""
    spoken = revision or visitor.chance.choice(REVISIONS)
    client = SessionClient(visitor.port, visitor.chance, spoken, leaves_after)
    await client.open()
    return client


async def _event_id(connection: Connection) -> str:
    async for line in connection.lines():
        if line.startswith(b"id:"):
            return line[3:].strip().decode()
    raise OddityError("a stream without an event id")
