"""What a tool returns, and what becomes of what it raises."""

import base64
import logging
from dataclasses import dataclass
from typing import Any, Literal

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp_server_core import Audio, Embedded, Encoded, Image, Link, Registry, Result, Text, ToolError
from mcp_server_core.errors import LocalProtocolError
from mcp_server_core.protocol.codec import decode
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision, at_least
from mcp_server_core.server.schemas import mentions_number
from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict

from .talking import META, NEWEST, connect, serving, talk, text_of, unstamped

pytestmark = pytest.mark.anyio


class Count(TypedDict):
    """How many."""

    total: int


@dataclass
class Size:
    """How large."""

    width: int


class Mark(BaseModel):
    """What stands there."""

    title: str


class Tree(TypedDict):
    """A tree."""

    name: str
    children: list["Tree"]


def giving(hint: Any, value: Any) -> Registry:
    """A tool that returns this value and says it is of this type."""
    part = Registry()

    async def give() -> Any:
        """Give it."""
        return value

    give.__annotations__["return"] = hint
    part.tool("Give", read_only=True, open_world=False)(give)
    return part


def raising(error: Exception) -> Registry:
    """A tool that fails."""
    part = Registry()

    @part.tool("Fail", read_only=True, open_world=False)
    async def fail() -> str:
        """Fail."""
        raise error

    return part


DATA = base64.b64encode(b"\xff\x00").decode()


@pytest.mark.parametrize(
    ("hint", "value", "content"),
    [
        (str, "text", [{"type": "text", "text": "text"}]),
        (str, "", [{"type": "text", "text": ""}]),
        (None, None, []),
        (Text, Text("a"), [{"type": "text", "text": "a"}]),
        (Image, Image(b"\xff\x00", "image/png"), [{"type": "image", "data": DATA, "mimeType": "image/png"}]),
        (
            Embedded,
            Embedded("note:///a", "text", "text/plain"),
            [
                {
                    "type": "resource",
                    "resource": {"uri": "note:///a", "mimeType": "text/plain", "text": "text"},
                }
            ],
        ),
        (
            Embedded,
            Embedded("note:///a", b"\xff\x00"),
            [{"type": "resource", "resource": {"uri": "note:///a", "blob": DATA}}],
        ),
        (list[Text], [], []),
        (
            list[str | Image],
            ["a", Image(b"\xff\x00", "image/png")],
            [{"type": "text", "text": "a"}, {"type": "image", "data": DATA, "mimeType": "image/png"}],
        ),
        (
            Image | None,
            Image(b"\xff\x00", "image/png"),
            [{"type": "image", "data": DATA, "mimeType": "image/png"}],
        ),
        (Text | None, None, []),
        (str | Image, "a", [{"type": "text", "text": "a"}]),
        (
            Result[None],
            Result(None, "a", blocks=(Text("b"),)),
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        ),
    ],
)
async def test_content_is_content_alone(
    hint: Any, value: Any, content: list[Json], revision: Revision
) -> None:
    async with connect(serving(giving(hint, value)), revision=revision) as client:
        (tool,) = await client.list_tools()
        assert "outputSchema" not in tool
        assert unstamped(await client.call_tool("give")) == {"content": content}


OBJECTS = [
    (Count, {"total": 1}, {"total": 1}),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (Size, Size(3), {"width": 3}),
    (Mark, Mark(title="x"), {"title": "x"}),
    (Result[Count], Result({"total": 1}), {"total": 1}),
    (Result[Count], Result(Encoded(b'{"total":1}')), {"total": 1}),
]
OTHERS = [
    (list[int], [1, 2], [1, 2]),
    (list[str], ["a"], ["a"]),
    (list[Size], [Size(1)], [{"width": 1}]),
    (int, 3, 3),
    (bool, True, True),
    (float, 0.5, 0.5),
    (Literal["yes", "no"], "yes", "yes"),
    (str | None, "text", "text"),
    (str | None, None, None),
    (int | str, "text", "text"),
    (Result[list[int]], Result([1]), [1]),
]


@pytest.mark.parametrize(("hint", "value", "data"), OBJECTS + OTHERS)
async def test_data_fits_the_schema_that_was_promised_and_the_text_says_the_same(
    hint: Any, value: Any, data: Any
) -> None:
    """T-9, T-10. A tool whose type is text or nothing may also be listed without a schema."""
    async with connect(serving(giving(hint, value)), revision=NEWEST) as client:
        (tool,) = await client.list_tools()
        result = await client.call_tool("give")
    if "outputSchema" in tool:
        assert result["structuredContent"] == data
        Draft202012Validator(tool["outputSchema"]).validate(result["structuredContent"])
        assert decode(text_of(result).encode()) == data or text_of(result) == data
    else:
        assert "structuredContent" not in result
        assert text_of(result) == (data or "")


@pytest.mark.parametrize(("hint", "value", "data"), OBJECTS)
async def test_an_object_is_structured_since_2025_06_18_and_text_before(
    hint: Any, value: Any, data: Any, revision: Revision
) -> None:
    async with connect(serving(giving(hint, value)), revision=revision) as client:
        (tool,) = await client.list_tools()
        result = await client.call_tool("give")
    assert decode(text_of(result).encode()) == data
    structured = at_least(revision, "2025-06-18")
    assert ("outputSchema" in tool) is structured
    assert result.get("structuredContent") == (data if structured else None)


async def test_data_that_is_json_already_goes_out_beside_a_text_of_its_own() -> None:
    written = Encoded(b'{"total":  1, ', b'"more": "\\u00e9"}')
    async with talk(serving(giving(Result[Count], Result(written, "one"))), NEWEST) as peer:
        result = await peer.call("give")
    assert unstamped(result) == {
        "content": [{"type": "text", "text": "one"}],
        "structuredContent": {"total": 1, "more": "\u00e9"},
    }


def test_data_that_is_json_already_is_on_one_line() -> None:
    with pytest.raises(LocalProtocolError):
        Encoded(b'{"total":', b"\n1}")


@pytest.mark.parametrize(("hint", "value", "data"), OTHERS[:6])
async def test_what_is_no_object_is_text_alone_before_2026_07_28(
    hint: Any, value: Any, data: Any, old: Revision
) -> None:
    async with connect(serving(giving(hint, value)), revision=old) as client:  # T-19
        (tool,) = await client.list_tools()
        assert "outputSchema" not in tool
        result = await client.call_tool("give")
    assert result == {"content": [{"type": "text", "text": text_of(result)}]}
    assert decode(text_of(result).encode()) == data


async def test_recursive_data_fits_its_schema() -> None:
    tree: Tree = {"name": "a", "children": [{"name": "b", "children": []}]}
    async with connect(serving(giving(Tree, tree)), revision=NEWEST) as client:
        (tool,) = await client.list_tools()
        result = await client.call_tool("give")
    Draft202012Validator(tool["outputSchema"]).validate(result["structuredContent"])
    assert result["structuredContent"] == tree


async def test_a_result_may_have_a_text_of_its_own(revision: Revision) -> None:
    value = Result[Count]({"total": 1}, "One.", blocks=(Text("More."),), meta={"com.example/x": 1})
    async with connect(serving(giving(Result[Count], value)), revision=revision) as client:
        result = await client.call_tool("give")
    assert result["content"] == [{"type": "text", "text": "One."}, {"type": "text", "text": "More."}]
    assert result["_meta"]["com.example/x"] == 1


@pytest.mark.parametrize(
    "value",
    [Audio(b"\xff", "audio/wav"), Link("note:///a", "a", title="A", description="The first", size=3)],
    ids=["audio", "link"],
)
async def test_new_kinds_of_content_become_old_ones_for_old_clients(value: Any, revision: Revision) -> None:
    """The oracle refuses a block that its revision does not know."""
    async with connect(serving(giving(type(value), value)), revision=revision) as client:
        (block,) = (await client.call_tool("give"))["content"]
    if isinstance(value, Link):
        expected = "resource_link" if at_least(revision, "2025-06-18") else "text"
        assert block["type"] == expected
        assert "note:///a" in str(block)
    else:
        assert block["type"] == ("resource" if revision == "2024-11-05" else "audio")


async def test_text_that_no_json_can_carry_is_cleaned_and_not_lost(revision: Revision) -> None:
    value = {"name": "a\udcffb"}  # as os.listdir gives it for a name that is no UTF-8
    async with connect(serving(giving(dict[str, str], value)), revision=revision) as client:
        assert decode(text_of(await client.call_tool("give")).encode()) == {"name": "a?b"}


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
async def test_a_number_that_json_does_not_have_still_fits_the_promised_schema(number: float) -> None:
    async with connect(serving(giving(dict[str, float], {"x": number})), revision=NEWEST) as client:
        (tool,) = await client.list_tools()
        result = await client.call_tool("give")
    if "isError" not in result:
        Draft202012Validator(tool["outputSchema"]).validate(result["structuredContent"])


NAN = float("nan")


class Measured(TypedDict):
    """Something with a number deep inside."""

    found: list[dict[str, float | None]]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (float, NAN),
        (list[float], [1.0, NAN]),
        (tuple[str, float], ("a", NAN)),
        (int | float, NAN),
        (Measured, {"found": [{"x": NAN}]}),
        (list[Measured], [{"found": [{"x": NAN}]}]),
    ],
    ids=str,
)
async def test_a_number_that_json_does_not_have_is_refused_wherever_it_hides(kind: Any, value: Any) -> None:
    async with connect(serving(giving(kind, value)), revision=NEWEST) as client:
        result = await client.call_tool("give")
    assert result["isError"] is True
    assert "NaN" in text_of(result)


@pytest.mark.parametrize(
    ("kind", "may"),
    [
        (Count, False),
        (dict[str, int], False),
        (list[Literal[1, 2]], False),
        (list[Count | None], False),
        (dict[str, Any], True),
        (list[Measured], True),
    ],
    ids=str,
)
def test_only_data_that_may_hold_a_fraction_is_searched_for_such_numbers(kind: Any, may: bool) -> None:
    assert mentions_number(TypeAdapter(kind).json_schema()) is may


async def test_a_result_over_the_budget_is_cut_and_says_so() -> None:
    server = serving(giving(str, "x" * 1000))
    server.max_result_chars = 100
    async with connect(server, revision=NEWEST) as client:
        text = text_of(await client.call_tool("give"))
    assert text.startswith("x" * 50)
    assert "truncated" in text
    assert "of 1000 characters" in text
    assert len(text) < 200


async def test_data_over_the_budget_is_an_error_that_says_so() -> None:
    server = serving(giving(list[int], list(range(1000))))
    server.max_result_chars = 100
    async with connect(server, revision=NEWEST) as client:
        result = await client.call_tool("give")
    assert result["isError"] is True
    assert "100" in text_of(result)


async def test_the_text_of_a_tool_error_is_shown(revision: Revision) -> None:
    async with connect(serving(raising(ToolError("Ask for less."))), revision=revision) as client:
        result = await client.call_tool("fail")
    assert unstamped(result) == {"content": [{"type": "text", "text": "Ask for less."}], "isError": True}


async def test_any_other_failure_is_hidden_from_the_model_and_logged(
    revision: Revision, caplog: pytest.LogCaptureFixture
) -> None:
    async with connect(serving(raising(OSError("/home/me/secret.txt"))), revision=revision) as client:
        result = await client.call_tool("fail")
    assert result["isError"] is True
    assert "secret" not in text_of(result)
    (record,) = [item for item in caplog.records if item.levelno >= logging.ERROR]
    assert record.exc_info is not None
    assert "secret" in str(record.exc_info[1])


async def test_a_tool_error_out_of_a_task_group_is_shown(revision: Revision) -> None:
    part = Registry()

    @part.tool("Fetch", read_only=True, open_world=True)
    async def fetch() -> str:
        """Fetch several things at once."""

        async def one() -> None:
            raise ToolError("The page does not exist.")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one)
        return ""

    async with connect(serving(part), revision=revision) as client:
        result = await client.call_tool("fetch")
    assert unstamped(result) == {
        "content": [{"type": "text", "text": "The page does not exist."}],
        "isError": True,
    }


async def test_the_group_of_two_failures_is_hidden() -> None:
    error = ExceptionGroup("both", [OSError("secret"), ValueError("secret")])
    async with connect(serving(raising(error)), revision=NEWEST) as client:
        result = await client.call_tool("fail")
    assert result["isError"] is True
    assert "secret" not in text_of(result)


async def test_a_result_that_does_not_fit_its_type_spoils_only_that_call() -> None:
    async with connect(serving(giving(Mark, object())), revision=NEWEST) as client:
        assert (await client.call_tool("give"))["isError"] is True
        assert len(await client.list_tools()) == 1


async def test_a_result_that_cannot_be_written_spoils_only_that_call(revision: Revision) -> None:
    value = Result(None, "fine", meta={"com.example/x": object()})
    async with talk(serving(giving(Result[None], value)), revision) as peer:
        response = await peer.response(await peer.post_call("give"))
        assert "error" in response or response["result"]["isError"] is True
        assert await peer.settle() == []


async def test_results_carry_the_stamps_of_their_era(revision: Revision) -> None:
    async with talk(serving(giving(str, "x")), revision) as peer:
        result = await peer.call("give")
    content = [{"type": "text", "text": "x"}]
    if revision == NEWEST:
        info = {"name": "test-server", "version": "1"}
        assert result == {"resultType": "complete", "content": content, "_meta": {META + "serverInfo": info}}
    else:
        assert result == {"content": content}  # CA-12
