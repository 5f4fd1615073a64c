"""The life of a server: its state, its background tasks, and what happens when they fail."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from mcp_server_core import Context, Registry, Server, ToolError
from mcp_server_core.errors import LocalProtocolError
from mcp_server_core.protocol.revisions import Revision
from mcp_server_core.transports.memory import pair

from .talking import NEWEST, PATIENCE, connect, serving, talk, text_of

pytestmark = pytest.mark.anyio


class Life:
    """A state that tells what happens to it."""

    def __init__(self, *, error: Exception | None = None, slow: bool = False) -> None:
        self.events: list[str] = []
        self.opened = anyio.Event()
        self.go_on = anyio.Event()
        self.closed = anyio.Event()
        self._error = error
        if not slow:
            self.go_on.set()
        self.part = Registry()

        @self.part.tool("Look", read_only=True, open_world=False)
        async def look(ctx: Context[str]) -> str:
            """Look at the state."""
            return ctx.state

        @self.part.resource("state:///a", "State", watch=True)
        async def state(ctx: Context[str]) -> str:
            return ctx.state

        @self.part.prompt("State")
        async def prompt(ctx: Context[str]) -> str:
            """The state."""
            return ctx.state

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[str]:
        self.events.append("opening")
        self.opened.set()
        await self.go_on.wait()
        if self._error is not None:
            raise self._error
        try:
            yield "the state"
        finally:
            self.events.append("closed")
            self.closed.set()


async def test_the_state_is_given_to_every_handler(revision: Revision) -> None:
    life = Life()
    async with connect(serving(life.part, state=life.open), revision=revision) as client:
        assert text_of(await client.call_tool("look")) == "the state"
        assert (await client.read_resource("state:///a"))[0]["text"] == "the state"
        prompt = await client.get_prompt("prompt")
        assert prompt["messages"][0]["content"]["text"] == "the state"
    assert life.events == ["opening", "closed"]


async def test_the_state_is_not_opened_before_the_first_answer_is_out() -> None:
    life = Life()
    async with talk(serving(life.part, state=life.open), NEWEST):
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
    assert life.events == []


async def test_the_state_is_opened_after_the_first_answer_without_being_asked_for(revision: Revision) -> None:
    life = Life()
    async with talk(serving(life.part, state=life.open), revision) as peer:
        await peer.settle()
        with anyio.fail_after(PATIENCE):
            await life.opened.wait()


async def test_lists_are_answered_while_the_state_is_still_opening(revision: Revision) -> None:
    life = Life(slow=True)
    async with talk(serving(life.part, state=life.open), revision) as peer:
        id = await peer.post_call("look")
        assert len((await peer.result("tools/list"))["tools"]) == 1
        life.go_on.set()
        assert text_of((await peer.response(id))["result"]) == "the state"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ToolError("the folder is gone"), "the folder is gone"),
        (OSError("/home/me/secret"), "could not start"),
    ],
)
async def test_a_state_that_cannot_be_opened_is_an_error_of_each_call_and_the_server_stays_up(
    revision: Revision, error: Exception, reason: str
) -> None:
    life = Life(error=error)
    async with talk(serving(life.part, state=life.open), revision) as peer:
        for _ in range(2):
            result = await peer.call("look")
            assert result["isError"] is True
            assert reason in text_of(result)
            assert "secret" not in text_of(result)
        assert len((await peer.result("tools/list"))["tools"]) == 1


async def test_a_state_that_cannot_be_opened_spoils_reads_and_prompts_with_the_reason(
    revision: Revision,
) -> None:
    life = Life(error=ToolError("the folder is gone"))
    async with talk(serving(life.part, state=life.open), revision) as peer:
        for method, params in (
            ("resources/read", {"uri": "state:///a"}),
            ("prompts/get", {"name": "prompt"}),
        ):
            assert "the folder is gone" in (await peer.error(method, params))["message"]


async def test_a_failure_to_open_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    life = Life(error=OSError("the disk is on fire"))
    async with talk(serving(life.part, state=life.open), NEWEST) as peer:
        await peer.call("look")
    assert "the disk is on fire" in caplog.text


async def test_a_failure_that_was_foreseen_is_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    life = Life(error=ToolError("the folder is gone"))
    async with talk(serving(life.part, state=life.open), NEWEST) as peer:
        await peer.call("look")
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.getMessage().endswith(" could not start: the folder is gone")
    assert record.exc_info is None


async def test_a_state_that_fails_while_it_closes_is_logged_and_nothing_worse(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @asynccontextmanager
    async def state() -> AsyncGenerator[str]:
        try:
            yield "the state"
        finally:
            raise OSError("could not flush")

    life = Life()
    async with connect(serving(life.part, state=state)) as client:
        await client.call_tool("look")
    assert "could not flush" in caplog.text


async def test_a_state_that_does_not_close_is_left_behind() -> None:
    @asynccontextmanager
    async def state() -> AsyncGenerator[str]:
        try:
            yield "the state"
        finally:
            await anyio.sleep_forever()

    life = Life()
    with anyio.fail_after(PATIENCE):
        async with talk(serving(life.part, state=state), NEWEST) as peer:
            await peer.call("look")


async def test_a_call_in_flight_ends_before_the_state_is_closed() -> None:
    events: list[str] = []
    part, started = Registry(), anyio.Event()

    @asynccontextmanager
    async def state() -> AsyncGenerator[str]:
        try:
            yield "the state"
        finally:
            events.append("closed")

    @part.tool("Wait", read_only=True, open_world=False)
    async def wait(ctx: Context[str]) -> str:
        """Wait."""
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            events.append("ended")
        return ""

    with anyio.fail_after(PATIENCE):
        async with talk(serving(part, state=state), NEWEST) as peer:
            await peer.post_call("wait")
            await started.wait()
    assert events == ["ended", "closed"]


async def test_a_state_has_time_to_close_when_serving_is_cancelled() -> None:
    """As a signal does it: what is acknowledged must reach the disk, and that takes an await or two."""
    events: list[str] = []

    @asynccontextmanager
    async def state() -> AsyncGenerator[str]:
        try:
            yield "the state"
        finally:
            await anyio.lowlevel.checkpoint()
            events.append("flushed")

    life = Life()
    server = serving(life.part, state=state)
    with anyio.fail_after(PATIENCE):
        async with talk(server, NEWEST) as peer:
            await peer.call("look")
    assert events == ["flushed"]


async def test_background_tasks_run_as_long_as_the_state_is_open() -> None:
    life, events = Life(), list[str]()
    ran = anyio.Event()

    async def background(server: Server[str], state: str) -> None:
        events.append(f"began with {state}")
        ran.set()
        try:
            await anyio.sleep_forever()
        finally:
            events.append("ended")
            life.events.append("background ended")

    server = serving(life.part, state=life.open, background=[background])
    async with talk(server, NEWEST) as peer:
        await peer.call("look")
        with anyio.fail_after(PATIENCE):
            await ran.wait()
    assert events == ["began with the state", "ended"]
    assert life.events == ["opening", "background ended", "closed"]


async def test_a_background_task_that_fails_is_logged_and_nothing_else_happens(
    caplog: pytest.LogCaptureFixture,
) -> None:
    life, others = Life(), anyio.Event()

    async def fails(server: Server[str], state: str) -> None:
        raise OSError("the watcher fell over")

    async def goes_on(server: Server[str], state: str) -> None:
        others.set()
        await anyio.sleep_forever()

    server = serving(life.part, state=life.open, background=[fails, goes_on])
    async with talk(server, NEWEST) as peer:
        await peer.call("look")
        with anyio.fail_after(PATIENCE):
            await others.wait()
        assert text_of(await peer.call("look")) == "the state"
    records = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(records) == 1
    assert "the watcher fell over" in caplog.text


async def test_a_background_task_may_tell_of_changes(revision: Revision) -> None:
    life, changed = Life(), anyio.Event()

    async def watch(server: Server[str], state: str) -> None:
        await changed.wait()
        await server.changed("state:///a")

    server = serving(life.part, state=life.open, background=[watch])
    async with connect(server, revision=revision) as client, client.watch("state:///a") as changes:
        changed.set()
        assert (await anext(changes)).uri == "state:///a"


async def test_many_connections_share_one_state() -> None:
    life = Life()
    server = serving(life.part, state=life.open)
    async with server.running():
        for _ in range(2):
            async with connect(server) as client:
                assert text_of(await client.call_tool("look")) == "the state"
        assert life.events == ["opening"]
    assert life.events == ["opening", "closed"]


async def test_a_second_peer_is_refused_unless_somebody_holds_the_state_open_for_both() -> None:
    """Else whoever came first would take the state along when leaving first."""
    life = Life()
    server = serving(life.part, state=life.open)
    ours, theirs = pair()
    async with talk(server, NEWEST) as peer:
        await peer.call("look")
        with pytest.raises(LocalProtocolError, match="running"):
            await server.serve(theirs)
        assert text_of(await peer.call("look")) == "the state"
    await ours.close()
    await theirs.close()


async def test_whoever_came_first_may_leave_first() -> None:
    life = Life()
    server = serving(life.part, state=life.open)
    came, leave, left = anyio.Event(), anyio.Event(), anyio.Event()

    async def first() -> None:
        async with connect(server) as client:
            await client.call_tool("look")
            came.set()
            await leave.wait()
        left.set()

    with anyio.fail_after(PATIENCE):
        async with server.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(first)
            await came.wait()
            async with connect(server) as second:
                leave.set()
                await left.wait()
                assert text_of(await second.call_tool("look")) == "the state"


async def test_a_server_cannot_run_twice_at_once() -> None:
    server = serving()
    async with server.running():
        with pytest.raises(LocalProtocolError):
            async with server.running():
                pass


async def test_a_server_can_run_again_after_it_ended() -> None:
    life = Life()
    server = serving(life.part, state=life.open)
    for _ in range(2):
        async with connect(server) as client:
            assert text_of(await client.call_tool("look")) == "the state"
    assert life.events == ["opening", "closed"] * 2
