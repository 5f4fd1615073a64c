"""Many calls at once: they interleave, nobody waits for somebody else, and everything is bounded."""

import gc
import threading
import weakref
from contextlib import suppress

import anyio
import anyio.lowlevel
import pytest
from mcp_server_core import Context, Registry
from mcp_server_core.protocol.messages import RequestId
from mcp_server_core.protocol.revisions import Revision
from mcp_server_core.server.connection import MAX_BACKLOG, MAX_IN_FLIGHT
from mcp_server_core.server.threads import MAX_THREADS, Threads

from .talking import NEWEST, PATIENCE, Peer, serving, talk, text_of

pytestmark = pytest.mark.anyio


class Gate:
    """Tools that wait for each other, and a count of those that wait."""

    def __init__(self) -> None:
        self.part = Registry()
        self.opened = anyio.Event()
        self.waiting = 0
        self.most = 0

        @self.part.tool("Wait", read_only=True, open_world=False)
        async def wait() -> str:
            """Wait until the gate opens."""
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            try:
                await self.opened.wait()
            finally:
                self.waiting -= 1
            return "waited"

        @self.part.tool("Open", read_only=True, open_world=False)
        async def open_gate() -> str:
            """Open the gate."""
            self.opened.set()
            return "opened"

        @self.part.tool("Echo", read_only=True, open_world=False)
        async def echo(text: str) -> str:
            """Echo."""
            return text

        @self.part.tool("Ask", read_only=True, open_world=False)
        async def ask(ctx: Context[None]) -> str:
            """Ask the client's model, once the gate is open."""
            await self.opened.wait()
            return (await ctx.sample("?", max_tokens=1)).text


async def post_calls(peer: Peer, tool: str, number: int) -> list[RequestId]:
    return [await peer.post_call(tool) for _ in range(number)]


async def test_a_later_call_can_end_an_earlier_one(revision: Revision) -> None:
    async with talk(serving(Gate().part), revision) as peer:
        waiting = await peer.post_call("wait")
        assert text_of(await peer.call("open_gate")) == "opened"
        assert text_of((await peer.response(waiting))["result"]) == "waited"


async def test_a_slow_call_does_not_delay_a_fast_one(revision: Revision) -> None:
    async with talk(serving(Gate().part), revision) as peer:
        await peer.post_call("wait")
        assert text_of(await peer.call("echo", {"text": "fast"})) == "fast"


async def test_more_pipelined_calls_than_may_run_at_once_are_all_answered(revision: Revision) -> None:
    async with talk(serving(Gate().part), revision) as peer:
        number = MAX_IN_FLIGHT * 2 + 7
        answered: list[str] = []

        async def read() -> None:
            while len(answered) < number:
                message = await peer.channel.receive()
                answered.append(message["result"]["content"][0]["text"])

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                for count in range(number):
                    await peer.post_call("echo", {"text": str(count)})
    assert sorted(answered, key=int) == [str(count) for count in range(number)]


async def test_the_number_of_handlers_at_once_is_bounded() -> None:
    gate = Gate()
    async with talk(serving(gate.part), NEWEST) as peer, anyio.create_task_group() as tasks:
        tasks.start_soon(post_calls, peer, "wait", MAX_IN_FLIGHT + 64)
        with anyio.fail_after(PATIENCE):
            while gate.waiting < MAX_IN_FLIGHT:
                await anyio.lowlevel.checkpoint()
            for _ in range(500):
                await anyio.lowlevel.checkpoint()
        assert gate.most <= MAX_IN_FLIGHT
        tasks.cancel_scope.cancel()


async def test_a_cancellation_is_heard_while_as_much_runs_as_may() -> None:
    """Else a client whose calls all hang can never get rid of them, and the connection is dead."""
    gate = Gate()
    async with talk(serving(gate.part), NEWEST) as peer:
        with anyio.fail_after(PATIENCE):
            ids = await post_calls(peer, "wait", MAX_IN_FLIGHT)
            while gate.waiting < MAX_IN_FLIGHT:
                await anyio.lowlevel.checkpoint()
            for id in ids:
                await peer.cancel(id)
            assert text_of(await peer.call("echo", {"text": "alive"})) == "alive"


async def test_calls_that_were_cancelled_while_they_waited_for_their_turn_take_no_room() -> None:
    gate = Gate()
    async with talk(serving(gate.part), NEWEST) as peer:
        with anyio.fail_after(PATIENCE):
            ids = await post_calls(peer, "wait", MAX_IN_FLIGHT)
            while gate.waiting < MAX_IN_FLIGHT:
                await anyio.lowlevel.checkpoint()
            for _ in range(MAX_BACKLOG + 64):
                await peer.cancel(await peer.post_call("wait"))
            await peer.cancel(ids[0])
            assert text_of(await peer.call("echo", {"text": "alive"})) == "alive"


async def test_calls_wait_for_their_turn_in_order() -> None:
    gate = Gate()
    async with talk(serving(gate.part), NEWEST) as peer:
        with anyio.fail_after(PATIENCE):
            await post_calls(peer, "wait", MAX_IN_FLIGHT)
            while gate.waiting < MAX_IN_FLIGHT:
                await anyio.lowlevel.checkpoint()
            later = [await peer.post_call("echo", {"text": str(number)}) for number in range(8)]
            gate.opened.set()
            for number, id in enumerate(later):
                assert text_of((await peer.response(id))["result"]) == str(number)


async def test_a_ping_is_answered_while_as_much_runs_as_may() -> None:
    gate = Gate()
    async with talk(serving(gate.part), "2025-11-25") as peer:
        with anyio.fail_after(PATIENCE):
            await post_calls(peer, "wait", MAX_IN_FLIGHT)
            while gate.waiting < MAX_IN_FLIGHT:
                await anyio.lowlevel.checkpoint()
            assert await peer.result("ping") == {}  # PI-1


async def test_a_question_is_answered_while_as_much_runs_as_may(old: Revision) -> None:
    gate = Gate()
    async with talk(serving(gate.part), old, {"sampling": {}}) as peer:
        with anyio.fail_after(PATIENCE):
            asking = await peer.post_call("ask")
            await hang(peer, gate)
            gate.opened.set()
            asked = await peer.heard("sampling/createMessage")
            content = {"type": "text", "text": "yes"}
            await peer.reply(asked, {"role": "assistant", "model": "m", "content": content})
            assert text_of((await peer.response(asking))["result"]) == "yes"


async def hang(peer: Peer, gate: Gate) -> None:
    """Fill every place with a call that waits."""
    for _ in range(MAX_IN_FLIGHT - 1):
        await peer.post_call("wait")
    while gate.waiting < MAX_IN_FLIGHT - 1:
        await anyio.lowlevel.checkpoint()


async def test_the_number_of_handlers_is_bounded_while_a_question_is_open() -> None:
    gate = Gate()
    part = Registry()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask_now(ctx: Context[None]) -> str:
        """Ask."""
        return (await ctx.sample("?", max_tokens=1)).text

    async with talk(serving(gate.part, part), "2025-11-25", {"sampling": {}}) as peer:
        with anyio.fail_after(PATIENCE):
            await peer.post_call("ask_now")
            await peer.heard("sampling/createMessage")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(post_calls, peer, "wait", MAX_IN_FLIGHT * 4)
                while gate.waiting < MAX_IN_FLIGHT - 1:
                    await anyio.lowlevel.checkpoint()
                for _ in range(3000):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
    assert gate.most <= MAX_IN_FLIGHT * 2


class Blocking:
    """Blocking tools that wait for the test, and a count of those that run."""

    def __init__(self) -> None:
        self.part = Registry()
        self.go_on = threading.Event()
        self.lock = threading.Lock()
        self.running = 0
        self.most = 0
        self.done = 0

        @self.part.tool("Block", read_only=True, open_world=False)
        def block() -> str:
            """Block."""
            with self.lock:
                self.running += 1
                self.most = max(self.most, self.running)
            self.go_on.wait(PATIENCE)
            with self.lock:
                self.running -= 1
                self.done += 1
            return threading.current_thread().name

        @self.part.tool("Echo", read_only=True, open_world=False)
        async def echo() -> str:
            """Echo."""
            return threading.current_thread().name

    async def filled(self, peer: Peer) -> None:
        """Every thread is busy."""
        while self.running < MAX_THREADS:
            await peer.settle()


async def test_blocking_tools_run_beside_the_loop(revision: Revision) -> None:
    blocking = Blocking()
    async with talk(serving(blocking.part), revision) as peer:
        id = await peer.post_call("block")
        loop = text_of(await peer.call("echo"))
        blocking.go_on.set()
        assert text_of((await peer.response(id))["result"]) != loop


async def test_no_more_threads_run_than_there_are_places() -> None:
    blocking = Blocking()
    async with talk(serving(blocking.part), NEWEST) as peer:
        ids = await post_calls(peer, "block", MAX_THREADS + 5)
        await blocking.filled(peer)
        await peer.settle()
        blocking.go_on.set()
        for id in ids:
            await peer.response(id)
    assert blocking.most == MAX_THREADS


async def test_no_more_threads_run_when_their_callers_gave_up() -> None:
    blocking = Blocking()
    async with talk(serving(blocking.part), NEWEST) as peer:
        ids = await post_calls(peer, "block", MAX_THREADS)
        await blocking.filled(peer)
        for id in ids:
            await peer.cancel(id)
        later = await post_calls(peer, "block", MAX_THREADS)
        await peer.settle()
        blocking.go_on.set()
        for id in later:
            await peer.response(id)
    assert blocking.most <= MAX_THREADS


async def test_a_thread_that_was_given_up_on_gives_its_place_back() -> None:
    blocking = Blocking()
    async with talk(serving(blocking.part), NEWEST) as peer:
        for _ in range(3):
            ids = await post_calls(peer, "block", MAX_THREADS)
            await blocking.filled(peer)
            for id in ids:
                await peer.cancel(id)
            blocking.go_on.set()
            while blocking.running:
                await peer.settle()
            blocking.go_on.clear()
        blocking.go_on.set()
        assert text_of(await peer.call("block"))


@pytest.mark.parametrize("steps", range(8))
async def test_a_call_cancelled_on_its_way_into_a_thread_gives_its_place_back(steps: int) -> None:
    """Whatever step of the way the cancellation meets."""
    blocking = Blocking()
    blocking.go_on.set()
    server = serving(blocking.part)
    with anyio.fail_after(PATIENCE):
        for _ in range(MAX_THREADS * 2):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(server.threads.run, lambda: None)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
        async with talk(server, NEWEST) as peer:
            assert text_of(await peer.call("block"))


async def test_a_thread_that_failed_holds_on_to_nothing() -> None:
    held: list[weakref.ref[threading.Event]] = []

    def fail() -> None:
        something = threading.Event()
        held.append(weakref.ref(something))
        raise ValueError("in the middle of it")

    threads = Threads()
    gc.disable()
    try:
        with suppress(ValueError):
            await threads.run(fail)
        assert held[0]() is None
    finally:
        gc.enable()
