"""Cancelling: the handler notices, nothing is answered, and everything else goes on."""

import threading

import anyio
import pytest
from anyio import from_thread
from mcp_server_core import Context, Registry
from mcp_server_core.protocol.revisions import Revision

from .talking import NEWEST, PATIENCE, serving, talk, text_of

pytestmark = pytest.mark.anyio


class Desk:
    """A tool that waits until it is cancelled, and what became of it."""

    def __init__(self) -> None:
        self.part = Registry()
        self.started = anyio.Event()
        self.ended = anyio.Event()
        self.contexts: list[Context[None]] = []

        @self.part.tool("Wait", read_only=True, open_world=False)
        async def wait(ctx: Context[None]) -> str:
            """Wait."""
            self.contexts.append(ctx)
            self.started.set()
            try:
                await anyio.sleep_forever()
            finally:
                self.ended.set()
            return "never"

        @self.part.tool("Echo", read_only=True, open_world=False)
        async def echo(text: str) -> str:
            """Echo."""
            return text


async def test_a_cancelled_handler_stops_and_nothing_is_answered(revision: Revision) -> None:
    desk = Desk()
    async with talk(serving(desk.part), revision) as peer:
        id = await peer.post_call("wait")
        with anyio.fail_after(PATIENCE):
            await desk.started.wait()
            assert not desk.contexts[0].cancelled
            await peer.cancel(id)
            await desk.ended.wait()
        assert desk.contexts[0].cancelled
        assert await peer.settle() == []  # CN-2


async def test_other_calls_do_not_notice(revision: Revision) -> None:
    desk = Desk()
    async with talk(serving(desk.part), revision) as peer:
        id = await peer.post_call("wait")
        with anyio.fail_after(PATIENCE):
            await desk.started.wait()
        await peer.cancel(id)
        assert text_of(await peer.call("echo", {"text": "a"})) == "a"


@pytest.mark.parametrize("id", ["text", 0, 7])
async def test_the_id_may_be_text_or_a_number(revision: Revision, id: str | int) -> None:
    desk = Desk()
    async with talk(serving(desk.part), revision) as peer:
        await peer.post_call("wait", id=id)
        with anyio.fail_after(PATIENCE):
            await desk.started.wait()
            await peer.cancel(id)
            await desk.ended.wait()


async def test_one_and_the_text_one_are_two_ids() -> None:
    desk = Desk()
    async with talk(serving(desk.part), NEWEST) as peer:
        await peer.post_call("wait", id=1)
        with anyio.fail_after(PATIENCE):
            await desk.started.wait()
        await peer.cancel("1")
        await peer.settle()
        assert not desk.ended.is_set()


@pytest.mark.parametrize(
    "params", [None, {}, {"requestId": None}, {"requestId": []}, {"requestId": 99}, {"requestId": True}]
)
async def test_a_cancellation_of_nothing_is_ignored(
    revision: Revision, params: dict[str, object] | None
) -> None:
    desk = Desk()
    async with talk(serving(desk.part), revision) as peer:
        await peer.post_call("wait", id=1)
        await peer.notify("notifications/cancelled", params)
        assert await peer.settle() == []  # CN-4
        assert not desk.ended.is_set()


async def test_a_cancellation_of_what_was_answered_is_ignored(revision: Revision) -> None:
    desk = Desk()
    async with talk(serving(desk.part), revision) as peer:
        id = await peer.post_call("echo", {"text": "a"})
        await peer.response(id)
        await peer.cancel(id)
        assert await peer.settle() == []


async def test_a_call_cancelled_before_it_began_is_never_answered(revision: Revision) -> None:
    desk = Desk()
    async with talk(serving(desk.part), revision) as peer:
        for _ in range(5):
            id = await peer.post_call("wait")
            await peer.cancel(id)
        assert await peer.settle() == []


async def test_an_id_is_free_again_once_it_was_cancelled() -> None:
    desk = Desk()
    async with talk(serving(desk.part), NEWEST) as peer:
        await peer.post_call("wait", id=1)
        await peer.cancel(1)
        await peer.post_call("echo", {"text": "a"}, id=1)  # J-4
        assert text_of((await peer.response(1))["result"]) == "a"


async def test_a_handler_that_swallows_its_cancellation_is_not_answered_either(revision: Revision) -> None:
    part, started, ended = Registry(), anyio.Event(), anyio.Event()

    @part.tool("Stay", read_only=True, open_world=False)
    async def stay() -> str:
        """Stay."""
        started.set()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            ended.set()
        return "stayed"

    async with talk(serving(part), revision) as peer:
        id = await peer.post_call("stay")
        with anyio.fail_after(PATIENCE):
            await started.wait()
            await peer.cancel(id)
            await ended.wait()
        assert await peer.settle() == []


async def test_a_blocking_handler_is_abandoned_and_can_notice(revision: Revision) -> None:
    part = Registry()
    started, go_on, seen = threading.Event(), threading.Event(), list[bool]()

    @part.tool("Block", read_only=True, open_world=False)
    def block(ctx: Context[None]) -> str:
        """Block."""
        started.set()
        go_on.wait(PATIENCE)
        seen.append(ctx.cancelled)
        return "blocked"

    async with talk(serving(part), revision) as peer:
        id = await peer.post_call("block")
        while not started.is_set():
            await peer.settle()
        await peer.cancel(id)
        assert await peer.settle() == []
        go_on.set()
        while not seen:
            await peer.settle()
        assert seen == [True]
        assert await peer.settle() == []


async def test_cancelling_a_call_that_waits_for_the_user_takes_the_question_back() -> None:
    part = Registry()

    @part.tool("Summarise", read_only=True, open_world=False)
    async def summarise(ctx: Context[None]) -> str:
        """Summarise."""
        return (await ctx.sample("Say something", max_tokens=5)).text

    async with talk(serving(part), "2025-11-25", {"sampling": {}}) as peer:
        id = await peer.post_call("summarise")
        asked = await peer.heard("sampling/createMessage")
        await peer.cancel(id)
        notice = await peer.heard("notifications/cancelled")
        assert notice["params"]["requestId"] == asked["id"]
        await peer.reply(
            asked, {"role": "assistant", "model": "m", "content": {"type": "text", "text": "late"}}
        )
        assert await peer.settle() == []


async def test_a_handler_whose_own_work_was_cancelled_is_still_answered() -> None:
    """Only the client cancels a request. What a handler cancels inside itself is the handler's own affair."""
    part = Registry()

    @part.tool("Hurry", read_only=True, open_world=False)
    async def hurry() -> str:
        """Hurry."""
        with anyio.move_on_after(0):
            await anyio.sleep_forever()
        return "hurried"

    @part.tool("Raise", read_only=True, open_world=False)
    async def give_up() -> str:
        """Give up."""
        with anyio.fail_after(0):
            await anyio.sleep_forever()
        return "never"

    async with talk(serving(part), NEWEST) as peer:
        assert text_of(await peer.call("hurry")) == "hurried"
        assert (await peer.call("give_up"))["isError"] is True


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_handler_that_awaits_a_cancelled_task_is_still_answered() -> None:
    import asyncio

    part = Registry()

    @part.tool("Await", read_only=True, open_world=False)
    async def wait() -> str:
        """Await."""
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        await task
        return "never"

    async with talk(serving(part), NEWEST) as peer:
        response = await peer.response(await peer.post_call("wait"))
    assert "error" in response or response["result"]["isError"] is True


async def test_closing_the_connection_cancels_what_is_in_flight(revision: Revision) -> None:
    part, started, ended = Registry(), anyio.Event(), anyio.Event()

    @part.tool("Wait", read_only=True, open_world=False)
    async def wait() -> str:
        """Wait."""
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        return "never"

    with anyio.fail_after(PATIENCE):
        async with talk(serving(part), revision) as peer:
            await peer.post_call("wait")
            await started.wait()
        assert ended.is_set()


async def test_a_blocking_handler_may_call_back_into_the_loop(revision: Revision) -> None:
    part = Registry()

    @part.tool("Report", read_only=True, open_world=False)
    def report(ctx: Context[None]) -> str:
        """Report."""
        from_thread.run(ctx.progress, 1, 2)
        return "reported"

    async with talk(serving(part), revision) as peer:
        await peer.response(await peer.post_call("report", meta={"progressToken": 1}))
        assert [message["method"] for message in peer.held] == ["notifications/progress"]
