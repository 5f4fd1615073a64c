"""Several rounds of `input_required`: what was answered stays answered, and nobody can forge it."""

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from time import time
from typing import Any

import anyio
import pytest
from mcp_server_core import Accepted, Context, Declined, Question, Registry, Server
from mcp_server_core.client.answers import Answers
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision
from mcp_server_core.protocol.sealing import LIFETIME, Sealer, bind
from mcp_server_core.transports.memory import pair
from typing_extensions import TypedDict

from .talking import META, NEWEST, Peer, connect, serving, talk, text_of

pytestmark = pytest.mark.anyio
ABLE: Json = {"elicitation": {}, "sampling": {}, "roots": {}}
SEALER = Sealer({"k": b"a key of thirty-two bytes or so."})


class Confirm(TypedDict):
    """A question of yes or no."""

    sure: bool


YES = {"action": "accept", "content": {"sure": True}}
NO = {"action": "accept", "content": {"sure": False}}


class Wizard:
    """A tool that asks one thing after the other, and what it did."""

    def __init__(self, questions: list[str]) -> None:
        self.questions = questions
        self.part = Registry()
        self.runs = 0
        self.acted: list[Any] = []

        @self.part.tool("Ask", destructive=True, idempotent=False, open_world=False)
        async def ask(ctx: Context[None], path: str = "") -> str:
            """Ask first, act last."""
            self.runs += 1
            answers = [await ctx.elicit(question, Confirm) for question in self.questions]
            self.acted.append(answers)
            return "acted"


def asked(result: Json) -> dict[str, str]:
    """The questions in a result, by key."""
    assert result["resultType"] == "input_required", result
    return {key: item["params"]["message"] for key, item in result["inputRequests"].items()}


def reply(result: Json, answer: Json = YES) -> Json:
    """What a client adds to its retry."""
    return {
        "requestState": result["requestState"],
        "inputResponses": dict.fromkeys(result["inputRequests"], answer),
    }


async def test_every_question_is_asked_once_in_every_revision() -> None:
    for revision in ("2025-06-18", "2025-11-25", NEWEST):
        wizard, heard = Wizard(["a?", "b?", "c?"]), list[str]()

        async def elicit(params: Json, heard: list[str] = heard) -> Json:
            heard.append(params["message"])
            return YES if params["message"] != "b?" else NO

        async with connect(serving(wizard.part), revision=revision, answers=Answers(elicit=elicit)) as client:
            assert text_of(await client.call_tool("ask")) == "acted"
        assert heard == ["a?", "b?", "c?"]
        assert wizard.acted == [
            [Accepted({"sure": True}), Accepted({"sure": False}), Accepted({"sure": True})]
        ]


async def test_a_round_asks_only_what_is_not_answered_yet() -> None:
    wizard = Wizard(["a?", "b?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        assert list(asked(first).values()) == ["a?"]
        second = await peer.call("ask", **reply(first))
        assert list(asked(second).values()) == ["b?"]
        assert text_of(await peer.call("ask", **reply(second, NO))) == "acted"
    assert wizard.acted == [[Accepted({"sure": True}), Accepted({"sure": False})]]
    assert wizard.runs == 3


async def test_no_cache_hint_is_on_a_question() -> None:
    part = Registry()

    @part.resource("note:///a", "Note")
    async def note(ctx: Context[None]) -> str:
        return type(await ctx.elicit("Sure?", Confirm)).__name__

    async with talk(serving(part), NEWEST, ABLE) as peer:
        first = await peer.result("resources/read", {"uri": "note:///a"})
        assert "ttlMs" not in first  # CA-2
        last = await peer.result("resources/read", {"uri": "note:///a", **reply(first)})
    assert last["resultType"] == "complete"
    assert "ttlMs" in last  # MR-17


async def test_a_retry_with_nothing_answered_is_asked_again() -> None:
    wizard = Wizard(["a?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        again = await peer.call("ask", requestState=first["requestState"])  # MR-11
        assert asked(again) == asked(first)
        assert text_of(await peer.call("ask", **reply(again))) == "acted"


async def test_a_partial_answer_is_kept_and_the_rest_is_asked_again() -> None:
    part = Registry()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(ctx: Context[None]) -> str:
        """Ask two things at once."""
        found = await ctx.ask(a=Question.form("a?", Confirm), b=Question.form("b?", Confirm))
        return f"{found['a']} {found['b']}"

    async with talk(serving(part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        second = await peer.call("ask", requestState=first["requestState"], inputResponses={"a": NO})
        assert asked(second) == {"b": "b?"}
        last = await peer.call("ask", **reply(second))
    assert text_of(last) == f"{Accepted({'sure': False})} {Accepted({'sure': True})}"


async def test_keys_that_were_never_asked_are_ignored() -> None:
    wizard = Wizard(["a?", "b?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        retry = reply(first)
        retry["inputResponses"]["elicit-2"] = NO
        retry["inputResponses"]["nonsense"] = NO
        second = await peer.call("ask", **retry)
        assert list(asked(second).values()) == ["b?"], "b was not asked yet, so it cannot be answered"


async def test_an_answer_given_once_is_not_changed_by_a_later_retry() -> None:
    wizard = Wizard(["a?", "b?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        (key,) = first["inputRequests"]
        second = await peer.call("ask", **reply(first, NO))
        retry = reply(second)
        retry["inputResponses"][key] = YES
        await peer.call("ask", **retry)
    assert wizard.acted == [[Accepted({"sure": False}), Accepted({"sure": True})]]


async def test_a_question_that_changed_is_asked_again() -> None:
    wizard = Wizard(["Delete 1 row?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        wizard.questions[0] = "Delete 1000 rows?"
        second = await peer.call("ask", **reply(first))
        assert wizard.acted == []
        assert list(asked(second).values()) == ["Delete 1000 rows?"]
        assert text_of(await peer.call("ask", **reply(second))) == "acted"


async def test_an_answer_of_an_earlier_round_does_not_fit_a_question_that_changed() -> None:
    wizard = Wizard(["Delete 1 row?", "b?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        second = await peer.call("ask", **reply(first))
        wizard.questions[0] = "Delete 1000 rows?"
        third = await peer.call("ask", **reply(second))
    assert wizard.acted == []
    assert list(asked(third).values()) == ["Delete 1000 rows?"]


async def test_a_retry_without_the_state_starts_over_or_uses_the_answers_it_brings() -> None:
    wizard = Wizard(["a?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        (key,) = first["inputRequests"]
        result = await peer.call("ask", inputResponses={key: YES})
    assert result["resultType"] in ("complete", "input_required")


@pytest.mark.parametrize(
    "responses", [[], "x", 1, {"elicit-1": "x"}, {"elicit-1": None}, {"elicit-1": []}, None]
)
@pytest.mark.parametrize("with_state", [True, False])
async def test_malformed_answers_are_an_error_of_the_request(responses: Any, with_state: bool) -> None:
    wizard = Wizard(["a?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        params: Json = {"name": "ask", "arguments": {}, "inputResponses": responses}
        if with_state:
            params["requestState"] = first["requestState"]
        assert (await peer.error("tools/call", params))["code"] == -32602  # MR-11
    assert wizard.acted == []


def tampered(state: str) -> list[str]:
    name, body, mac = state.split(".")
    changed = base64.urlsafe_b64encode(base64.urlsafe_b64decode(body).replace(b"until", b"untiL")).decode()
    return [
        "",
        "x",
        "..",
        state + "x",
        state[:-1] + ("A" if state[-1] != "A" else "B"),
        f"{name}.{changed}.{mac}",
        f"other.{body}.{mac}",
        f"{name}.{body}.",
        f"{name}..{mac}",
        "é" * 20,
        "\udcff".encode("utf-8", "surrogatepass").decode("latin-1"),
    ]


async def refused(peer: Peer, **params: Any) -> Json:
    error = await peer.error("tools/call", {"name": "ask", "arguments": {}, **params})
    assert error["code"] == -32602
    return error


async def test_a_state_that_was_changed_is_refused_before_anything_runs() -> None:
    wizard = Wizard(["a?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        runs = wizard.runs
        messages = {
            (await refused(peer, **{**reply(first), "requestState": state}))["message"]
            for state in tampered(first["requestState"])
        }
    assert wizard.runs == runs
    assert len(messages) == 1, "one fixed message, whatever is wrong (MR-13)"


@pytest.mark.parametrize("state", [1, [], {}, True])
async def test_a_state_that_is_no_text_is_refused(state: Any) -> None:
    async with talk(serving(Wizard(["a?"]).part), NEWEST, ABLE) as peer:
        await refused(peer, requestState=state)


async def test_a_state_that_expired_is_refused_and_one_that_did_not_is_taken() -> None:
    wizard = Wizard(["a?"])
    params: Json = {"name": "ask", "arguments": {}}
    binding = bind("tools/call", params, "")
    old, fresh = (
        SEALER.seal({"answers": {}, "asked": {}}, binding=binding, now=time() - age)
        for age in (LIFETIME + 1, 0)
    )
    async with talk(serving(wizard.part, sealer=SEALER), NEWEST, ABLE) as peer:
        await refused(peer, requestState=old)  # MR-9
        assert list(asked(await peer.call("ask", requestState=fresh)).values()) == ["a?"]


async def test_a_state_belongs_to_one_request() -> None:
    wizard = Wizard(["a?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask", {"path": "a"})
        params = {"name": "ask", "arguments": {"path": "b"}, **reply(first)}
        assert (await peer.error("tools/call", params))["code"] == -32602
    assert wizard.acted == []


async def test_a_state_belongs_to_one_server_unless_they_share_a_key() -> None:
    async with talk(serving(Wizard(["a?"]).part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
    async with talk(serving(Wizard(["a?"]).part), NEWEST, ABLE) as peer:
        await refused(peer, **reply(first))
    async with talk(serving(Wizard(["a?"]).part, sealer=SEALER), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
    async with talk(serving(Wizard(["a?"]).part, sealer=SEALER), NEWEST, ABLE) as peer:
        assert text_of(await peer.call("ask", **reply(first))) == "acted"  # L-29


@asynccontextmanager
async def known_as(server: Server[Any], principal: str) -> AsyncGenerator[Peer]:
    """A peer whom the transport knows by name."""
    ours, theirs = pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(server.serve, theirs, principal=principal))
        yield Peer(ours, NEWEST, ABLE, None)
        await ours.close()
        await theirs.close()
        tasks.cancel_scope.cancel()


async def test_a_state_belongs_to_one_principal() -> None:
    server = serving(Wizard(["a?"]).part)
    async with server.running(), known_as(server, "ada") as ada, known_as(server, "eve") as eve:
        first = await ada.call("ask")
        await refused(eve, **reply(first))  # MR-9
        assert text_of(await ada.call("ask", **reply(first))) == "acted"


async def test_a_retry_with_another_envelope_is_the_same_request() -> None:
    wizard = Wizard(["a?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        params = {"name": "ask", "arguments": {}, **reply(first)}
        result = await peer.result(
            "tools/call", params, meta={"progressToken": 7, META + "logLevel": "debug"}
        )
    assert text_of(result) == "acted"


async def test_the_capabilities_of_the_retry_decide_and_not_those_of_the_first_call() -> None:
    wizard = Wizard(["a?", "b?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        peer.capabilities = {}
        error = await peer.error("tools/call", {"name": "ask", "arguments": {}, **reply(first)})
    assert error["code"] == -32021  # MR-4


async def test_a_user_who_declines_is_asked_no_more() -> None:
    part = Registry()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(ctx: Context[None]) -> str:
        """Ask until somebody says no."""
        if isinstance(await ctx.elicit("a?", Confirm), Declined):
            return "declined"
        await ctx.elicit("b?", Confirm)
        return "asked"

    async with talk(serving(part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        assert text_of(await peer.call("ask", **reply(first, {"action": "decline"}))) == "declined"


async def test_a_key_of_the_authors_own_is_the_key_on_the_wire() -> None:
    part = Registry()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(ctx: Context[None]) -> str:
        """Ask."""
        await ctx.elicit("a?", Confirm, key="mine")
        return "asked"

    async with talk(serving(part), NEWEST, ABLE) as peer:
        assert asked(await peer.call("ask")) == {"mine": "a?"}


async def test_the_same_key_for_two_questions_at_different_times_is_no_trap() -> None:
    """Two places in a handler that chose the same key: both answered, or a failure; never asked for ever."""
    part, seen = Registry(), list[Any]()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(ctx: Context[None]) -> str:
        """Ask."""
        one = await ctx.elicit("a?", Confirm, key="k")
        two = await ctx.elicit("b?", Confirm, key="k")
        seen.append((one, two))
        return "asked"

    rounds = 0
    async with talk(serving(part), NEWEST, ABLE) as peer:
        result = await peer.call("ask")
        while result["resultType"] == "input_required" and rounds < 5:
            rounds += 1
            answer = YES if "a?" in asked(result).values() else NO
            result = await peer.call("ask", **reply(result, answer))
    assert result["resultType"] == "complete", "the handler is asked the same two questions for ever"
    if "isError" not in result:
        assert seen == [(Accepted({"sure": True}), Accepted({"sure": False}))]


async def test_a_loop_that_asks_under_one_name_is_no_trap_either() -> None:
    part, seen = Registry(), list[Any]()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(ctx: Context[None]) -> str:
        """Ask about each file."""
        for name in ("a", "b", "c"):
            found = await ctx.ask(sure=Question.form(f"Delete {name}?", Confirm))
            seen.append((name, found["sure"]))
        return "asked"

    rounds = 0
    async with talk(serving(part), NEWEST, ABLE) as peer:
        result = await peer.call("ask")
        while result["resultType"] == "input_required" and rounds < 6:
            rounds += 1
            result = await peer.call("ask", **reply(result))
    assert result["resultType"] == "complete", "the handler is asked the same questions for ever"


async def test_a_question_with_text_that_no_json_can_carry_is_asked_and_answered_once() -> None:
    wizard = Wizard(["Delete a\udcffb?"])
    async with talk(serving(wizard.part), NEWEST, ABLE) as peer:
        first = await peer.call("ask")
        assert text_of(await peer.call("ask", **reply(first))) == "acted"


async def test_a_handshake_client_may_send_members_of_the_stateless_era_without_effect(
    old: Revision,
) -> None:
    part = Registry()

    @part.tool("Look", read_only=True, open_world=False)
    async def look() -> str:
        """Look."""
        return "seen"

    async with talk(serving(part), old) as peer:
        assert text_of(await peer.call("look", requestState="x", inputResponses=5)) == "seen"
