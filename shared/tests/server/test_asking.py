"""Questions to the client: one handler text, two ways over the wire."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired

import anyio
import pytest
from anyio import from_thread
from mcp_server_core import (
    Accepted,
    Arg,
    Cancelled,
    Context,
    Declined,
    Question,
    Registry,
    ToolError,
)
from mcp_server_core.client.answers import Answers
from mcp_server_core.errors import LocalProtocolError
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision
from pydantic import BaseModel
from typing_extensions import TypedDict

from .talking import HANDSHAKE, NEWEST, PATIENCE, connect, serving, talk, text_of

pytestmark = pytest.mark.anyio
FORMS: tuple[Revision, ...] = ("2025-06-18", "2025-11-25", NEWEST)
URLS: tuple[Revision, ...] = ("2025-11-25", NEWEST)
with_forms = pytest.mark.parametrize("revision", FORMS)
with_urls = pytest.mark.parametrize("revision", URLS)


class Confirm(TypedDict):
    """A question of yes or no."""

    sure: Annotated[bool, Arg("Really?")]


class Colour(Enum):
    """A colour."""

    RED = "red"
    BLUE = "blue"


class Typed(TypedDict):
    """A form with a field of every kind."""

    name: Annotated[str, Arg("Your name", min_length=1, max_length=40)]
    age: Annotated[int, Arg("Your age", ge=0, le=150)]
    height: float
    agreed: bool
    size: Literal["s", "m"]
    colour: Colour
    born: date
    nick: NotRequired[str]


@dataclass
class Defaults:
    """A form with something filled in already."""

    name: str = "nobody"
    count: int = 3
    sure: bool = True


class Model(BaseModel):
    """A form as a model."""

    name: str


class Several(TypedDict):
    """A form in which several things can be chosen."""

    tags: list[Literal["a", "b"]]


def eliciting(form: Any, seen: list[Any]) -> Registry:
    """A tool that asks the user to fill in this form, and keeps what comes back."""
    part = Registry()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(ctx: Context[None]) -> str:
        """Ask the user."""
        answer = await ctx.elicit("Please fill in", form)
        seen.append(answer)
        return type(answer).__name__

    return part


def answering(result: Json, asked: list[Json] | None = None) -> Answers:
    """A user who always gives this answer."""

    async def elicit(params: Json) -> Json:
        if asked is not None:
            asked.append(params)
        return result

    return Answers(elicit=elicit)


FILLED = {
    "name": "Ada",
    "age": 36,
    "height": 1.6,
    "agreed": True,
    "size": "m",
    "colour": "red",
    "born": "1815-12-10",
}


@with_forms
@pytest.mark.parametrize(
    ("form", "content", "data"),
    [
        (Confirm, {"sure": True}, {"sure": True}),
        (Typed, FILLED, {**FILLED, "colour": Colour.RED, "born": date(1815, 12, 10)}),
        (
            Typed,
            {**FILLED, "nick": "A"},
            {**FILLED, "nick": "A", "colour": Colour.RED, "born": date(1815, 12, 10)},
        ),
        (Defaults, {"name": "Ada", "count": 1, "sure": False}, Defaults("Ada", 1, False)),
        (Model, {"name": "Ada"}, Model(name="Ada")),
    ],
)
async def test_an_accepted_form_is_data_of_its_type(
    revision: Revision, form: Any, content: Json, data: Any
) -> None:
    seen: list[Any] = []
    answers = answering({"action": "accept", "content": content})
    async with connect(serving(eliciting(form, seen)), revision=revision, answers=answers) as client:
        assert text_of(await client.call_tool("ask")) == "Accepted"
    assert seen == [Accepted(data)]


@with_forms
async def test_the_user_is_asked_exactly_once(revision: Revision) -> None:
    asked: list[Json] = []
    answers = answering({"action": "accept", "content": {"sure": True}}, asked)
    async with connect(serving(eliciting(Confirm, [])), revision=revision, answers=answers) as client:
        await client.call_tool("ask")
    expected: Json = {
        "message": "Please fill in",
        "requestedSchema": {
            "type": "object",
            "properties": {"sure": {"type": "boolean", "description": "Really?"}},
            "required": ["sure"],
        },
    }
    if revision != "2025-06-18":
        expected["mode"] = "form"
    assert asked == [expected]


async def test_2025_06_18_knows_no_defaults_but_those_of_booleans() -> None:
    asked: list[Json] = []
    answers = answering({"action": "accept", "content": {}}, asked)
    async with connect(serving(eliciting(Defaults, [])), revision="2025-06-18", answers=answers) as client:
        await client.call_tool("ask")
    fields = asked[0]["requestedSchema"]["properties"]
    assert fields == {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "sure": {"type": "boolean", "default": True},
    }


@with_forms
async def test_fields_the_user_left_alone_have_their_defaults(revision: Revision) -> None:
    seen: list[Any] = []
    answers = answering({"action": "accept", "content": {"name": "Ada"}})
    async with connect(serving(eliciting(Defaults, seen)), revision=revision, answers=answers) as client:
        await client.call_tool("ask")
    assert seen == [Accepted(Defaults("Ada", 3, True))]


@with_forms
@pytest.mark.parametrize(
    ("action", "answer"),
    [
        ("decline", Declined()),
        ("reject", Declined()),
        ("cancel", Cancelled()),
        ("something new", Cancelled()),
    ],
)
async def test_what_the_user_did_instead_is_told_apart(revision: Revision, action: str, answer: Any) -> None:
    seen: list[Any] = []
    server = serving(eliciting(Confirm, seen))
    async with connect(server, revision=revision, answers=answering({"action": action})) as client:
        await client.call_tool("ask")
    assert seen == [answer]
    assert type(seen[0]) is type(answer)


@with_forms
@pytest.mark.parametrize(
    "content", [{}, {"sure": "perhaps"}, {"sure": None}, None, {"sur": True}, {"sure": []}]
)
async def test_an_answer_that_does_not_fit_the_form_is_an_error_the_model_can_read(
    revision: Revision, content: Any
) -> None:
    seen: list[Any] = []
    server = serving(eliciting(Confirm, seen))
    capabilities: Json = {"elicitation": {}}
    async with talk(server, revision, capabilities) as peer:  # EL-6
        answer = {"action": "accept", "content": content}
        if revision == NEWEST:
            first = await peer.call("ask")
            (key,) = first["inputRequests"]
            result = await peer.call("ask", requestState=first["requestState"], inputResponses={key: answer})
        else:
            id = await peer.post_call("ask")
            await peer.reply(await peer.heard("elicitation/create"), answer)
            result = (await peer.response(id))["result"]
    assert result["isError"] is True
    assert "form" in text_of(result)
    assert seen == []


@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_a_handshake_client_that_cannot_be_asked_gets_a_tool_error(revision: Revision) -> None:
    async with connect(serving(eliciting(Confirm, [])), revision=revision) as client:
        result = await client.call_tool("ask")
    assert result["isError"] is True  # D-11
    assert "elicitation" in text_of(result)


async def test_a_stateless_client_that_cannot_be_asked_is_told_what_is_required() -> None:
    async with talk(serving(eliciting(Confirm, [])), NEWEST) as peer:
        error = await peer.error("tools/call", {"name": "ask"})
    assert error["code"] == -32021  # L-31
    assert error["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
async def test_a_revision_without_elicitation_is_never_asked(revision: Revision) -> None:
    async with talk(serving(eliciting(Confirm, [])), revision, {"elicitation": {}}) as peer:
        assert (await peer.call("ask"))["isError"] is True


@pytest.mark.parametrize("revision", URLS)
@pytest.mark.parametrize("modes", [{"url": {}}])
async def test_a_client_that_only_opens_pages_is_not_given_a_form(revision: Revision, modes: Json) -> None:
    async with talk(serving(eliciting(Confirm, [])), revision, {"elicitation": modes}) as peer:
        response = await peer.response(await peer.post_call("ask"))
    assert "error" in response or response["result"]["isError"] is True  # EL-2


@with_urls
async def test_several_choices_are_asked_for_where_they_exist(revision: Revision) -> None:
    seen: list[Any] = []
    answers = answering({"action": "accept", "content": {"tags": ["a", "b"]}})
    async with connect(serving(eliciting(Several, seen)), revision=revision, answers=answers) as client:
        await client.call_tool("ask")
    assert seen == [Accepted({"tags": ["a", "b"]})]


async def test_several_choices_cannot_be_asked_for_in_2025_06_18() -> None:
    answers = answering({"action": "cancel"})
    async with connect(serving(eliciting(Several, [])), revision="2025-06-18", answers=answers) as client:
        assert (await client.call_tool("ask"))["isError"] is True


class Nested(TypedDict):
    """Not flat."""

    inner: Confirm


class FreeList(TypedDict):
    """No schema of a form has a list of free text."""

    words: list[str]


class Mapping(TypedDict):
    """Not flat either."""

    words: dict[str, str]


@pytest.mark.parametrize("form", [Nested, FreeList, Mapping])
def test_a_form_that_no_client_could_show_is_refused(form: Any) -> None:
    with pytest.raises(LocalProtocolError):
        Question.form("Please", form)


def opening(seen: list[Any]) -> Registry:
    part = Registry()

    @part.tool("Pay", read_only=True, open_world=True)
    async def pay(ctx: Context[None]) -> str:
        """Pay."""
        seen.append(await ctx.elicit_url("Please pay", "https://example.com/pay"))
        return "paid"

    return part


@with_urls
async def test_a_page_to_open_is_asked_for_in_the_words_of_its_revision(revision: Revision) -> None:
    seen: list[Any] = []
    asked: list[Json] = []

    async def open_url(params: Json) -> Json:
        asked.append(params)
        return {"action": "accept"}

    answers = Answers(open_url=open_url)
    async with connect(serving(opening(seen)), revision=revision, answers=answers) as client:
        await client.call_tool("pay")
    assert seen == [Accepted(None)]
    (params,) = asked
    assert params["url"] == "https://example.com/pay"
    assert ("elicitationId" in params) is (revision == "2025-11-25")


@with_urls
async def test_a_client_that_only_has_forms_is_not_sent_to_a_page(revision: Revision) -> None:
    seen: list[Any] = []
    async with talk(serving(opening(seen)), revision, {"elicitation": {}}) as peer:
        response = await peer.response(await peer.post_call("pay"))
    assert seen == []
    if revision == NEWEST:
        assert response["error"]["data"] == {"requiredCapabilities": {"elicitation": {"url": {}}}}
    else:
        assert response["result"]["isError"] is True


async def test_a_page_cannot_be_asked_for_in_2025_06_18_whatever_the_client_declares() -> None:
    capabilities = {"elicitation": {"form": {}, "url": {}}}
    async with talk(serving(opening([])), "2025-06-18", capabilities) as peer:
        result = await peer.call("pay")
    assert result["isError"] is True
    assert "Internal error" not in text_of(result)


def sampling(question: Callable[[Context[None]], Awaitable[Any]], seen: list[Any]) -> Registry:
    part = Registry()

    @part.tool("Sample", read_only=True, open_world=False)
    async def sample(ctx: Context[None]) -> str:
        """Ask the model."""
        seen.append(await question(ctx))
        return "sampled"

    return part


def writing(result: Json, asked: list[Json]) -> Answers:
    async def sample(params: Json) -> Json:
        asked.append(params)
        return result

    return Answers(sample=sample)


async def test_the_clients_model_writes_something(revision: Revision) -> None:
    seen: list[Any] = []
    asked: list[Json] = []
    written = {
        "role": "assistant",
        "model": "m",
        "stopReason": "endTurn",
        "content": {"type": "text", "text": "hi"},
    }

    async def question(ctx: Context[None]) -> Any:
        return await ctx.sample("Say hi", max_tokens=5, system_prompt="Be kind", temperature=0.5)

    server = serving(sampling(question, seen))
    async with connect(server, revision=revision, answers=writing(written, asked)) as client:
        await client.call_tool("sample")
    assert (seen[0].text, seen[0].model, seen[0].stop_reason) == ("hi", "m", "endTurn")
    assert seen[0].content == [{"type": "text", "text": "hi"}]
    assert asked == [
        {
            "messages": [{"role": "user", "content": {"type": "text", "text": "Say hi"}}],
            "maxTokens": 5,
            "systemPrompt": "Be kind",
            "temperature": 0.5,
        }
    ]


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "a"}],
        [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        {"type": "audio", "data": "YQ==", "mimeType": "audio/wav"},
    ],
)
async def test_messages_are_in_the_shape_the_revision_knows(revision: Revision, content: Any) -> None:
    """The oracle judges each question that goes out."""
    asked: list[Json] = []
    written = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}}

    async def question(ctx: Context[None]) -> Any:
        return await ctx.sample([{"role": "user", "content": content}], max_tokens=5)

    server = serving(sampling(question, []))
    async with connect(server, revision=revision, answers=writing(written, asked)) as client:
        assert text_of(await client.call_tool("sample")) == "sampled"
    if isinstance(content, list):
        said = str(asked)
        assert all(block["text"] in said for block in content), "nothing is lost on the way"


async def test_a_client_without_sampling_is_told_in_the_words_of_its_era(revision: Revision) -> None:
    async def question(ctx: Context[None]) -> Any:
        return await ctx.sample("Say hi", max_tokens=5)

    async with talk(serving(sampling(question, [])), revision) as peer:
        response = await peer.response(await peer.post_call("sample"))
    if revision == NEWEST:
        assert response["error"]["code"] == -32021
        assert response["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}
    else:
        assert response["result"]["isError"] is True
        assert "sampling" in text_of(response["result"])


@pytest.mark.parametrize("revision", URLS)
async def test_tools_are_given_to_the_model_only_where_the_client_allows_it(revision: Revision) -> None:
    async def question(ctx: Context[None]) -> Any:
        tools = [{"name": "t", "inputSchema": {"type": "object"}}]
        return await ctx.ask(s=Question.sample("Say hi", max_tokens=5, tools=tools))

    async with talk(serving(sampling(question, [])), revision, {"sampling": {}}) as peer:
        response = await peer.response(await peer.post_call("sample"))  # SA-2
    if revision == NEWEST:
        assert response["error"]["data"] == {"requiredCapabilities": {"sampling": {"tools": {}}}}
    else:
        assert response["result"]["isError"] is True


@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_a_user_who_refuses_is_a_tool_error_the_model_can_read(revision: Revision) -> None:
    async def question(ctx: Context[None]) -> Any:
        return await ctx.sample("Say hi", max_tokens=5)

    async with talk(serving(sampling(question, [])), revision, {"sampling": {}}) as peer:
        id = await peer.post_call("sample")
        await peer.refuse(await peer.heard("sampling/createMessage"), -1, "User rejected sampling request")
        result = (await peer.response(id))["result"]
    assert result["isError"] is True
    assert "User rejected sampling request" in text_of(result)


@pytest.mark.parametrize("result", [{}, {"content": None}, {"content": "text"}, {"content": [1, None]}])
async def test_an_odd_answer_of_the_model_is_read_as_far_as_it_goes(result: Json) -> None:
    seen: list[Any] = []

    async def question(ctx: Context[None]) -> Any:
        return await ctx.sample("Say hi", max_tokens=5)

    async with talk(serving(sampling(question, seen)), "2025-11-25", {"sampling": {}}) as peer:
        id = await peer.post_call("sample")
        await peer.reply(await peer.heard("sampling/createMessage"), result)
        await peer.response(id)
    assert seen[0].text == ""


def asking_twice(seen: list[Any]) -> Registry:
    part = Registry()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(ctx: Context[None]) -> str:
        """Ask for two things at once."""
        answers = await ctx.ask(
            sure=Question.form("Sure?", Confirm), idea=Question.sample("An idea?", max_tokens=5)
        )
        seen.append((answers["sure"], answers["idea"].text))
        return "asked"

    return part


@with_forms
async def test_several_questions_go_out_at_once(revision: Revision) -> None:
    seen: list[Any] = []
    both = [anyio.Event(), anyio.Event()]

    async def elicit(params: Json) -> Json:
        both[0].set()
        if revision != NEWEST:  # a handshake client has both questions before it answers the first
            await both[1].wait()
        return {"action": "accept", "content": {"sure": True}}

    async def sample(params: Json) -> Json:
        both[1].set()
        await both[0].wait()
        return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}}

    answers = Answers(elicit=elicit, sample=sample)
    async with connect(serving(asking_twice(seen)), revision=revision, answers=answers) as client:
        assert text_of(await client.call_tool("ask")) == "asked"
    assert seen == [(Accepted({"sure": True}), "hi")]


async def test_several_questions_are_one_round_for_a_stateless_client() -> None:
    async with talk(serving(asking_twice([])), NEWEST, {"elicitation": {}, "sampling": {}}) as peer:
        result = await peer.call("ask")
    assert {key: item["method"] for key, item in result["inputRequests"].items()} == {
        "sure": "elicitation/create",
        "idea": "sampling/createMessage",
    }


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_one_refused_question_of_several_is_a_tool_error(revision: Revision) -> None:
    async with talk(serving(asking_twice([])), revision, {"elicitation": {}, "sampling": {}}) as peer:
        id = await peer.post_call("ask")
        await peer.refuse(await peer.heard("sampling/createMessage"), -1, "no")
        await peer.reply(await peer.heard("elicitation/create"), {"action": "cancel"})
        assert (await peer.response(id))["result"]["isError"] is True
        assert await peer.settle() == []


async def test_nothing_is_asked_when_one_of_several_cannot_be() -> None:
    async with talk(serving(asking_twice([])), "2025-11-25", {"elicitation": {}}) as peer:
        assert (await peer.call("ask"))["isError"] is True
        assert await peer.settle() == []


def grouped(seen: list[Any]) -> Registry:
    """A tool that asks inside a task group of its own."""
    part = Registry()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(ctx: Context[None]) -> str:
        """Ask."""
        stopped = anyio.Event()

        async def beside() -> None:
            await stopped.wait()

        async def question() -> None:
            seen.append(await ctx.elicit("Sure?", Confirm))
            stopped.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(beside)
            tasks.start_soon(question)
        return "asked"

    return part


@with_forms
async def test_a_handler_may_ask_inside_a_task_group_of_its_own(revision: Revision) -> None:
    seen: list[Any] = []
    answers = answering({"action": "accept", "content": {"sure": True}})
    async with connect(serving(grouped(seen)), revision=revision, answers=answers) as client:
        assert text_of(await client.call_tool("ask")) == "asked"
    assert seen == [Accepted({"sure": True})]


async def test_what_a_client_lacks_is_told_alike_inside_a_task_group(revision: Revision) -> None:
    async with talk(serving(grouped([])), revision) as peer:
        response = await peer.response(await peer.post_call("ask"))
    if revision == NEWEST:
        assert response["error"]["code"] == -32021
    else:
        assert response["result"]["isError"] is True
        assert "elicitation" in text_of(response["result"])


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_a_refusal_is_told_alike_inside_a_task_group(revision: Revision) -> None:
    async with talk(serving(grouped([])), revision, {"elicitation": {}}) as peer:
        id = await peer.post_call("ask")
        await peer.refuse(await peer.heard("elicitation/create"), -32603, "no window to ask in")
        result = (await peer.response(id))["result"]
    assert result["isError"] is True
    assert "no window to ask in" in text_of(result)


@with_forms
async def test_two_questions_inside_a_task_group_are_both_asked_once(revision: Revision) -> None:
    seen: dict[str, Any] = {}
    asked: list[str] = []
    part = Registry()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(ctx: Context[None]) -> str:
        """Ask."""

        async def question(name: str) -> None:
            seen[name] = await ctx.elicit(name, Confirm, key=name)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(question, "a")
            tasks.start_soon(question, "b")
        return "asked"

    async def elicit(params: Json) -> Json:
        asked.append(params["message"])
        return {"action": "accept", "content": {"sure": params["message"] == "a"}}

    async with connect(serving(part), revision=revision, answers=Answers(elicit=elicit)) as client:
        assert text_of(await client.call_tool("ask")) == "asked"
    assert sorted(asked) == ["a", "b"]
    assert seen == {"a": Accepted({"sure": True}), "b": Accepted({"sure": False})}


@with_forms
async def test_a_blocking_handler_asks_through_the_loop(revision: Revision) -> None:
    part = Registry()

    @part.tool("Ask", read_only=True, open_world=False)
    def ask(ctx: Context[None]) -> str:
        """Ask."""
        answer = from_thread.run(ctx.elicit, "Sure?", Confirm)
        return type(answer).__name__

    answers = answering({"action": "accept", "content": {"sure": True}})
    async with connect(serving(part), revision=revision, answers=answers) as client:
        assert text_of(await client.call_tool("ask")) == "Accepted"


@with_forms
async def test_an_except_exception_in_a_handler_does_not_swallow_the_question(revision: Revision) -> None:
    part = Registry()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(ctx: Context[None]) -> str:
        """Ask."""
        try:
            return type(await ctx.elicit("Sure?", Confirm)).__name__
        except Exception as error:
            raise ToolError("swallowed") from error

    answers = answering({"action": "accept", "content": {"sure": True}})
    async with connect(serving(part), revision=revision, answers=answers) as client:
        assert text_of(await client.call_tool("ask")) == "Accepted"


@with_forms
async def test_prompts_and_resources_may_ask_too(revision: Revision) -> None:
    part = Registry()

    @part.prompt("Ask")
    async def ask(ctx: Context[None]) -> str:
        """Ask."""
        return type(await ctx.elicit("Sure?", Confirm)).__name__

    @part.resource("note:///a", "Note")
    async def note(ctx: Context[None]) -> str:
        return type(await ctx.elicit("Sure?", Confirm)).__name__

    answers = answering({"action": "decline"})
    async with connect(serving(part), revision=revision, answers=answers) as client:
        assert (await client.read_resource("note:///a"))[0]["text"] == "Declined"
        assert (await client.get_prompt("ask"))["messages"][0]["content"]["text"] == "Declined"


async def test_a_question_to_a_client_that_goes_away_ends_with_it() -> None:
    ended = anyio.Event()
    part = Registry()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(ctx: Context[None]) -> str:
        """Ask."""
        try:
            return type(await ctx.elicit("Sure?", Confirm)).__name__
        finally:
            ended.set()

    with anyio.fail_after(PATIENCE):
        async with talk(serving(part), "2025-11-25", {"elicitation": {}}) as peer:
            await peer.post_call("ask")
            await peer.heard("elicitation/create")
        assert ended.is_set()
