"""What hosts do with a server on two pipes: one keeps it for long, others start one, use it and leave in any way."""

import asyncio
import os
import random
import signal
from collections.abc import Sequence

from ..child import environment
from ..messages import ENVELOPE
from .clients import REVISIONS, PipeClient, notification, request
from .errors import OddityError
from .visits import Visitor

GONE_WITHIN = 15.0
"""Seconds after which a server that was left has to be gone. It promises two; a busy machine is slow."""
LINE = 2**26


async def start(command: Sequence[str], complaints: int) -> PipeClient:
    """A server with its pipes; what it complains about goes to a file."""
    ours, theirs = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=theirs,
            stderr=complaints,
            env=environment(),
            process_group=0,
        )
    finally:
        os.close(theirs)
    # A pipe of our own, because asyncio's subprocess does not let us stop reading.
    reader = asyncio.StreamReader(limit=LINE)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours, "rb", 0)
    )
    return PipeClient(process, reader, transport)


class Keeper:
    """A host that keeps one server for the whole run, and does to it what can be done on one pair of pipes."""

    def __init__(self, client: PipeClient, visitor: Visitor) -> None:
        self.client = client
        self._visitor = visitor
        self._chance = visitor.chance
        self._next = 1_000_000

    async def visit(self) -> None:
        """One of them."""
        acts = (
            self._work,
            self._work,
            self._burst,
            self._cancel,
            self._nonsense,
            self._listen,
            self._subscribe,
        )
        await self._chance.choice(acts)()

    async def _work(self) -> None:
        self.client.stateless = self._chance.random() < 0.5
        await self._visitor.work(self.client)
        self.client.stateless = False

    async def _burst(self) -> None:
        """Many calls at once and a pause before anything is read, so that the pipe fills up."""
        tool, arguments = self._visitor.trade.large
        numbers = [self._number() for _ in range(self._chance.randrange(2, 30))]
        call = {"name": tool, "arguments": arguments}
        self.client.deaf = True
        telling = asyncio.gather(
            *(self.client.tell(request(number, "tools/call", call)) for number in numbers)
        )
        await asyncio.sleep(self._chance.choice((0, 0.5, 2)))
        self.client.deaf = False
        await self._answered(set(numbers))
        await telling

    async def _cancel(self) -> None:
        """Something slow that is taken back: it is not answered, or was already."""
        tool, arguments = self._visitor.trade.slow
        number, ping = self._number(), self._number()
        await self.client.tell(request(number, "tools/call", {"name": tool, "arguments": arguments}))
        await asyncio.sleep(self._chance.random() / 3)
        await self.client.tell(notification("notifications/cancelled", {"requestId": number}))
        await self.client.tell(request(ping, "ping", {}))
        await self._answered({ping})

    async def _nonsense(self) -> None:
        """Lines that are no messages, and methods that are none; the next request is answered."""
        for line in (b"{", b"\xff\xfe", b"[" * 20_000, b'{"id":{}}', b"null"):
            await self.client.tell(line)
        number, ping = self._number(), self._number()
        await self.client.tell(request(number, "no/such/method", {}))
        await self.client.tell(request(ping, "ping", {}))
        await self._answered({number, ping})

    async def _listen(self) -> None:
        """A listen stream, and its end."""
        number, ping = self._number(), self._number()
        wanted = {
            "notifications": {"resourceSubscriptions": [self._visitor.trade.watched]},
            "_meta": ENVELOPE,
        }
        await self.client.tell(request(number, "subscriptions/listen", wanted))
        await asyncio.sleep(self._chance.random())
        cancelled = {"requestId": number, "_meta": ENVELOPE}
        await self.client.tell(notification("notifications/cancelled", cancelled))
        await self.client.tell(request(ping, "ping", {}))
        await self._answered({ping})

    async def _subscribe(self) -> None:
        """A subscription of the older kind, work that may change what is watched, and its end."""
        uri = {"uri": self._visitor.trade.watched}
        await self.client.ask("resources/subscribe", uri)
        await self._work()
        await self.client.ask("resources/unsubscribe", uri)

    async def _answered(self, numbers: set[int]) -> None:
        while numbers:
            message = await self.client.next()
            if "method" not in message:
                numbers.discard(message.get("id"))  # pyright: ignore[reportArgumentType] - None is in no set

    def _number(self) -> int:
        self._next += 1
        return self._next


async def come_and_go(visitor: Visitor, command: Sequence[str], complaints: int) -> None:
    """A server that is started, used and left: by end of file, by a signal, in the middle of a call, by force."""
    chance = visitor.chance
    client = await start(command, complaints)
    try:
        client.stateless = chance.random() < 0.4
        if not client.stateless:
            await client.open(chance.choice(REVISIONS))
        await client.ask("tools/list", {})
        if chance.random() < 0.6:
            await visitor.work(client)
        if chance.random() < 0.4:
            tool, arguments = visitor.trade.slow
            client.drop(
                request(77, "tools/call", dict(client.enveloped({"name": tool, "arguments": arguments})))
            )
            await asyncio.sleep(chance.random() / 3)
        await _leave(client, chance)
    finally:
        client.close()
        if client.process.returncode is None:
            client.process.kill()
            await client.process.wait()


async def _leave(client: PipeClient, chance: random.Random) -> None:
    way = chance.choice(("eof", "eof", "eof", "term", "int", "deaf", "kill"))
    expected: set[int] = {0}
    match way:
        case "eof":
            client.hang_up()
        case "term":
            client.process.send_signal(signal.SIGTERM)
        case "int":
            client.process.send_signal(signal.SIGINT)
        case "deaf":  # the host has died: nobody writes and nobody reads
            client.hang_up()
            client.close()
        case _:
            client.process.kill()
            expected = {-signal.SIGKILL}
    try:
        async with asyncio.timeout(GONE_WITHIN):
            code = await client.process.wait()
    except TimeoutError:
        raise OddityError(f"still there {GONE_WITHIN:.0f} s after its client left ({way})") from None
    if code not in expected:
        raise OddityError(f"ended with {code} after its client left ({way})")
