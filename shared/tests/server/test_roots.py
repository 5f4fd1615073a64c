"""Roots: asked once, kept, asked again when they changed, and not waited for too long."""

from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from mcp_server_core import Context, Registry, Server
from mcp_server_core.client.answers import Answers
from mcp_server_core.places import Grant
from mcp_server_core.protocol.revisions import Revision

from .talking import NEWEST, Peer, connect, serving, talk, text_of

pytestmark = pytest.mark.anyio


def looking() -> Registry:
    part = Registry()

    @part.tool("Look", read_only=True, open_world=False)
    async def look(ctx: Context[None]) -> str:
        """Where does the client work?"""
        return " ".join(root.uri for root in await ctx.roots()) or "nowhere"

    return part


async def test_the_roots_of_a_client_are_known(revision: Revision) -> None:
    answers = Answers(roots=["file:///a", "file:///b"])
    async with connect(serving(looking()), revision=revision, answers=answers) as client:
        assert text_of(await client.call_tool("look")) == "file:///a file:///b"


async def test_a_client_without_roots_is_not_asked(revision: Revision) -> None:
    async with talk(serving(looking()), revision) as peer:
        assert text_of(await peer.call("look")) == "nowhere"
        assert await peer.settle() == []


async def test_a_handshake_client_is_asked_once(old: Revision) -> None:
    async with talk(serving(looking()), old, {"roots": {}}) as peer:
        id = await peer.post_call("look")
        await peer.reply(await peer.heard("roots/list"), {"roots": [{"uri": "file:///a", "name": "A"}]})
        assert text_of((await peer.response(id))["result"]) == "file:///a"
        assert text_of(await peer.call("look")) == "file:///a"
        assert await peer.settle() == []  # RO-6


async def test_several_calls_at_once_ask_once_too(old: Revision) -> None:
    async with talk(serving(looking()), old, {"roots": {}}) as peer:
        ids = [await peer.post_call("look") for _ in range(4)]
        await peer.reply(await peer.heard("roots/list"), {"roots": [{"uri": "file:///a"}]})
        await peer.settle()
        extra = [message for message in peer.held if message.get("method") == "roots/list"]
        assert extra == []
        for id in ids:
            assert text_of((await peer.response(id))["result"]) == "file:///a"


async def test_a_handshake_client_is_asked_again_when_its_roots_changed(old: Revision) -> None:
    answers = Answers(roots=["file:///a"])
    async with connect(serving(looking()), revision=old, answers=answers) as client:
        assert text_of(await client.call_tool("look")) == "file:///a"
        await client.set_roots(["file:///b"])
        assert text_of(await client.call_tool("look")) == "file:///b"


async def test_roots_that_change_while_they_are_asked_for_are_asked_for_again(old: Revision) -> None:
    async with talk(serving(looking()), old, {"roots": {"listChanged": True}}) as peer:
        id = await peer.post_call("look")
        asked = await peer.heard("roots/list")
        await peer.notify("notifications/roots/list_changed")
        await peer.reply(asked, {"roots": [{"uri": "file:///old"}]})
        await peer.reply(await peer.heard("roots/list"), {"roots": [{"uri": "file:///new"}]})
        assert text_of((await peer.response(id))["result"]) == "file:///new"


async def test_a_client_that_refuses_has_no_roots_and_is_not_asked_again(old: Revision) -> None:
    async with talk(serving(looking()), old, {"roots": {}}) as peer:
        id = await peer.post_call("look")
        await peer.refuse(await peer.heard("roots/list"), -32601, "Method not found")
        assert text_of((await peer.response(id))["result"]) == "nowhere"
        assert text_of(await peer.call("look")) == "nowhere"
        assert await peer.settle() == []


@pytest.mark.parametrize(
    "result", [{}, {"roots": None}, {"roots": [1, {}, {"uri": 5}]}, {"roots": {}}, {"roots": [{"uri": None}]}]
)
async def test_odd_roots_are_no_roots(result: dict[str, Any]) -> None:
    async with talk(serving(looking()), "2025-11-25", {"roots": {}}) as peer:
        id = await peer.post_call("look")
        await peer.reply(await peer.heard("roots/list"), result)
        assert text_of((await peer.response(id))["result"]) == "nowhere"


async def test_a_caller_who_gives_up_does_not_spoil_it_for_the_next() -> None:
    async with talk(serving(looking()), "2025-11-25", {"roots": {}}) as peer:
        first = await peer.post_call("look")
        asked = await peer.heard("roots/list")
        await peer.cancel(first)
        second = await peer.post_call("look")
        await peer.settle()
        for question in [asked, *(held for held in peer.held if held.get("method") == "roots/list")]:
            await peer.reply(question, {"roots": [{"uri": "file:///a"}]})
        assert text_of((await peer.response(second))["result"]) == "file:///a"


def test_a_client_that_never_answers_has_no_roots_after_a_few_seconds_and_is_not_asked_again() -> None:
    """The clock is trio's own and jumps as soon as everybody waits: nobody here waits for real."""
    spent: list[float] = []
    questions: list[str] = []

    async def never_answers(peer: Peer) -> None:
        began = trio.current_time()
        assert text_of(await peer.call("look")) == "nowhere"
        spent.append(trio.current_time() - began)
        questions.extend(str(message.get("method")) for message in peer.held)
        peer.held.clear()
        assert text_of(await peer.call("look")) == "nowhere"
        spent.append(trio.current_time() - began - spent[0])
        assert peer.held == []

    async def main() -> None:
        async with talk(serving(looking()), "2025-11-25", {"roots": {}}) as peer:
            await never_answers(peer)

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert 0 < spent[0] < 5
    assert spent[1] < 0.1
    assert questions == ["roots/list"], "an old client dies of a cancellation it does not know"


def test_other_calls_go_on_while_nobody_answers() -> None:
    async def main() -> None:
        async with talk(serving(looking()), "2025-11-25", {"roots": {}}) as peer:
            await peer.post_call("look")
            await peer.heard("roots/list")
            began = trio.current_time()
            assert await peer.result("ping") == {}
            assert trio.current_time() - began < 0.1

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


async def test_a_stateless_client_is_asked_by_a_result() -> None:
    async with talk(serving(looking()), NEWEST, {"roots": {}}) as peer:
        first = await peer.call("look")
        assert first["resultType"] == "input_required"
        assert list(first["inputRequests"].values()) == [{"method": "roots/list"}]
        (key,) = first["inputRequests"]
        answer = {key: {"roots": [{"uri": "file:///a"}]}}
        result = await peer.call("look", requestState=first["requestState"], inputResponses=answer)
    assert text_of(result) == "file:///a"


async def test_a_stateless_client_is_asked_at_every_call() -> None:
    answers = Answers(roots=["file:///a"])
    async with connect(serving(looking()), revision=NEWEST, answers=answers) as client:
        await client.call_tool("look")
        await client.set_roots(["file:///b"])
        assert text_of(await client.call_tool("look")) == "file:///b"  # L-27


async def test_a_handler_that_wants_its_roots_twice_is_given_them_twice(revision: Revision) -> None:
    part = Registry()
    asked = 0

    @part.tool("Look", read_only=True, open_world=False)
    async def look(ctx: Context[None]) -> str:
        """Look twice."""
        return str(await ctx.roots() == await ctx.roots())

    async with talk(serving(part), revision, {"roots": {}}) as peer:
        answer = {"roots": [{"uri": "file:///a"}]}
        if revision != NEWEST:
            id = await peer.post_call("look")
            await peer.reply(await peer.heard("roots/list"), answer)
            assert text_of((await peer.response(id))["result"]) == "True"
            return
        result = await peer.call("look")
        while result["resultType"] == "input_required":
            asked += 1
            responses = dict.fromkeys(result["inputRequests"], answer)
            result = await peer.call("look", requestState=result["requestState"], inputResponses=responses)
    assert text_of(result) == "True"
    assert asked == 1, "the same question is one question"


async def test_two_clients_have_two_sets_of_roots(old: Revision) -> None:
    server = serving(looking())
    async with (
        server.running(),
        connect(server, revision=old, answers=Answers(roots=["file:///a"])) as one,
        connect(server, revision=old, answers=Answers(roots=["file:///b"])) as two,
    ):
        found = [text_of(await client.call_tool("look")) for client in (one, two)]
    assert found == ["file:///a", "file:///b"]


async def test_both_eras_on_one_connection_have_their_own_roots() -> None:
    async with talk(serving(looking()), "2025-11-25", {"roots": {}}) as peer:
        id = await peer.post_call("look")
        await peer.reply(await peer.heard("roots/list"), {"roots": [{"uri": "file:///a"}]})
        assert text_of((await peer.response(id))["result"]) == "file:///a"
        peer.revision, peer.capabilities = NEWEST, {}
        assert text_of(await peer.call("look")) == "nowhere"


async def test_grants_left_for_later_are_worked_out_once_when_places_are_asked_for(tmp_path: Path) -> None:
    part, asked = Registry(), list[str]()

    def grants() -> list[Grant]:
        asked.append("now")
        return [Grant(str(tmp_path))]

    @part.tool("Places", read_only=True, open_world=False)
    async def places(ctx: Context[None]) -> str:
        """Which directories are allowed?"""
        return " ".join((await ctx.places()).directories())

    server = Server("lazy", version="1.0", parts=[part], grants=grants)
    assert asked == []
    for roots in ([], ["file:///elsewhere"]):
        async with connect(server, answers=Answers(roots=roots)) as client:
            assert text_of(await client.call_tool("places")) == str(tmp_path)
    assert asked == ["now"]
