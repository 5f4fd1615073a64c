"""From a signature to the definition a model reads."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

import pytest
from jsonschema import Draft202012Validator
from mcp_server_core import Arg, Context, Registry
from mcp_server_core.errors import LocalProtocolError
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision, at_least
from pydantic import BaseModel
from typing_extensions import TypedDict

from .talking import NEWEST, connect, serving, text_of

pytestmark = pytest.mark.anyio


class Point(TypedDict):
    """Where it is."""

    x: int
    y: NotRequired[int]


@dataclass
class Size:
    """How large it is."""

    width: int
    height: int = 1


class Mark(BaseModel):
    """What stands there."""

    title: str
    points: list[Point] = []


class Tree(TypedDict):
    """A tree."""

    name: str
    children: list["Tree"]


class Style(TypedDict):
    """A style that may build on another one."""

    colour: str
    parent: NotRequired["Style"]


class StyledTree(TypedDict):
    """A tree whose nodes have styles: two types that each contain themselves."""

    style: Style
    children: list["StyledTree"]


class Husband(TypedDict):
    """Half of a pair."""

    wife: NotRequired["Wife"]


class Wife(TypedDict):
    """The other half."""

    husband: NotRequired["Husband"]


async def input_schema(part: Registry) -> Json:
    async with connect(serving(part), revision=NEWEST) as client:
        (tool,) = await client.list_tools()
    return tool["inputSchema"]


async def schema_of(hint: Any) -> Json:
    part = Registry()

    async def take(value: Any) -> None:
        """Take it."""

    take.__annotations__["value"] = hint
    part.tool("Take", read_only=True, open_world=False)(take)
    return (await input_schema(part))["properties"]["value"]


async def test_a_tool_without_arguments_takes_none_at_all() -> None:
    part = Registry()

    @part.tool("Wait", read_only=True, open_world=False)
    async def wait(ctx: Context[None]) -> None:
        """Wait."""

    assert await input_schema(part) == {"type": "object", "additionalProperties": False}  # T-5


async def test_defaults_make_arguments_optional_and_are_shown() -> None:
    part = Registry()

    @part.tool("Read", read_only=True, open_world=False)
    async def read(path: str, limit: int = 10, deep: bool = False, tail: int | None = None) -> None:
        """Read it."""

    assert await input_schema(part) == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
            "deep": {"type": "boolean", "default": False},
            "tail": {"type": "integer"},
        },
        "required": ["path"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (Literal["asc", "desc"], {"enum": ["asc", "desc"], "type": "string"}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (
            list[list[int]],
            {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        ),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (
            Point,
            {
                "type": "object",
                "description": "Where it is.",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
                "required": ["x"],
                "additionalProperties": False,
            },
        ),
        (
            Size,
            {
                "type": "object",
                "description": "How large it is.",
                "properties": {"width": {"type": "integer"}, "height": {"type": "integer", "default": 1}},
                "required": ["width"],
                "additionalProperties": False,
            },
        ),
        (
            Mark,
            {
                "type": "object",
                "description": "What stands there.",
                "properties": {
                    "title": {"type": "string"},
                    "points": {
                        "type": "array",
                        "default": [],
                        "items": {
                            "type": "object",
                            "description": "Where it is.",
                            "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
                            "required": ["x"],
                        },
                    },
                },
                "required": ["title"],
            },
        ),
        (
            Annotated[int, Arg("Lines to read", ge=1, le=9, example=3)],
            {"type": "integer", "description": "Lines to read", "minimum": 1, "maximum": 9, "examples": [3]},
        ),
        (
            Annotated[str, Arg("A word", min_length=1, max_length=8, pattern="^[A-Z]+$")],
            {
                "type": "string",
                "description": "A word",
                "minLength": 1,
                "maxLength": 8,
                "pattern": "^[A-Z]+$",
            },
        ),
        (
            Annotated[list[str], Arg("Some words", min_length=1, max_length=3)],
            {
                "type": "array",
                "items": {"type": "string"},
                "description": "Some words",
                "minItems": 1,
                "maxItems": 3,
            },
        ),
    ],
)
async def test_an_annotation_becomes_a_terse_schema_without_generated_titles(hint: Any, schema: Json) -> None:
    assert await schema_of(hint) == schema


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Tree, {"name": "a", "children": [{"name": "b", "children": []}]}),
        (StyledTree, {"style": {"colour": "red", "parent": {"colour": "blue"}}, "children": []}),
        (Husband, {"wife": {"husband": {"wife": {}}}}),
        (list[Tree], [{"name": "a", "children": []}]),
    ],
)
async def test_a_recursive_type_has_a_schema_in_which_every_reference_resolves(hint: Any, value: Any) -> None:
    part = Registry()

    async def take(value: Any) -> str:
        """Take it."""
        return "taken"

    take.__annotations__["value"] = hint
    part.tool("Take", read_only=True, open_world=False)(take)
    schema = await input_schema(part)
    Draft202012Validator(schema).validate({"value": value})
    async with connect(serving(part)) as client:
        assert text_of(await client.call_tool("take", {"value": value})) == "taken"


async def test_a_member_called_title_is_not_taken_for_a_generated_title() -> None:
    part = Registry()

    @part.tool("Name", read_only=True, open_world=False)
    async def name(title: str, default: str = "x") -> None:
        """Name it."""

    assert set((await input_schema(part))["properties"]) == {"title", "default"}


async def test_a_definition_has_what_its_revision_knows(revision: Revision) -> None:
    part = Registry()

    @part.tool("Count words", read_only=True, open_world=False, meta={"com.example/x": 1})
    async def count_words(text: str) -> dict[str, int]:
        """Count the words.

        All of them.
        """
        return {}

    hints = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    expected: Json = {
        "name": "count_words",
        "description": "Count the words.\n\nAll of them.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
    }
    if revision == "2025-03-26":
        expected["annotations"] = {"title": "Count words", **hints}
    if at_least(revision, "2025-06-18"):
        expected["annotations"] = hints
        expected["title"] = "Count words"
        expected["outputSchema"] = {"type": "object", "additionalProperties": {"type": "integer"}}
        expected["_meta"] = {"com.example/x": 1}
    async with connect(serving(part), revision=revision) as client:
        assert await client.list_tools() == [expected]


async def test_the_hints_of_a_tool_that_changes_things_are_what_the_author_said() -> None:
    part = Registry()

    @part.tool("Delete", destructive=True, idempotent=False, open_world=True)
    async def delete() -> None:
        """Delete it."""

    async with connect(serving(part)) as client:
        (tool,) = await client.list_tools()
    assert tool["annotations"] == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }


def test_hints_cannot_be_left_out() -> None:
    part = Registry()
    with pytest.raises(TypeError):
        part.tool("Delete")  # pyright: ignore[reportCallIssue] - that it is one is the point


@pytest.mark.parametrize(
    "hints",
    [
        {"open_world": False},
        {"open_world": False, "destructive": True},
        {"read_only": False, "open_world": True},
    ],
)
def test_hints_are_never_guessed_at_run_time_either(hints: Json) -> None:
    """The overloads stop whoever runs a type checker; the promise is made to everybody."""
    part = Registry()
    with pytest.raises((TypeError, LocalProtocolError)):
        part.tool("Delete", **hints)


def test_a_read_only_tool_cannot_be_destructive() -> None:
    part = Registry()
    with pytest.raises((TypeError, LocalProtocolError)):
        part.tool("Look", read_only=True, destructive=True, idempotent=True, open_world=False)  # pyright: ignore[reportCallIssue] - that it is one is the point


def test_a_decorated_function_stays_what_it_was() -> None:
    part = Registry()

    @part.tool("Double", read_only=True, open_world=False)
    def double(number: int) -> str:
        """Double it."""
        return str(number * 2)

    assert double(2) == "4"


def test_a_tool_without_a_docstring_is_refused() -> None:
    part = Registry()
    with pytest.raises(LocalProtocolError, match="docstring"):

        @part.tool("Silent", read_only=True, open_world=False)
        async def silent() -> None: ...


@pytest.mark.parametrize("name", ["two words", "ä", "a" * 129, "a/b"])
def test_a_name_that_clients_may_refuse_is_refused(name: str) -> None:
    async def named() -> None:
        """Something."""

    with pytest.raises(LocalProtocolError, match="tool name"):
        Registry().tool("T", read_only=True, open_world=False, name=name)(named)


def test_two_tools_of_one_name_are_refused() -> None:
    one, two = Registry(), Registry()

    async def twice() -> None:
        """Something."""

    one.tool("One", read_only=True, open_world=False)(twice)
    two.tool("Two", read_only=True, open_world=False)(twice)
    with pytest.raises(LocalProtocolError, match="twice"):
        serving(one, two)


def test_two_resources_of_one_uri_are_refused() -> None:
    one, two = Registry(), Registry()

    async def note() -> str:
        return ""

    one.resource("note:///a", "One")(note)
    two.resource("note:///a", "Two")(note)
    with pytest.raises(LocalProtocolError, match="note:///a"):
        serving(one, two)


async def test_a_tool_that_is_not_listed_still_answers(revision: Revision) -> None:
    part = Registry()

    @part.tool("Read", read_only=True, open_world=False)
    async def read_text() -> str:
        """Read it."""
        return "text"

    part.tool("Read", read_only=True, open_world=False, name="read_file", listed=False)(read_text)
    async with connect(serving(part), revision=revision) as client:
        assert [tool["name"] for tool in await client.list_tools()] == ["read_text"]
        assert text_of(await client.call_tool("read_file")) == "text"


async def test_the_order_of_tools_is_the_order_of_registration(revision: Revision) -> None:
    part = Registry()
    names = ["b", "a", "c"]
    for name in names:

        async def tool() -> None:
            """Something."""

        part.tool(name, read_only=True, open_world=False, name=name)(tool)
    async with connect(serving(part), revision=revision) as client:
        assert [tool["name"] for tool in await client.list_tools()] == names
        assert [tool["name"] for tool in await client.list_tools()] == names  # T-3


async def test_a_wrapped_description_is_one_line_to_a_paragraph() -> None:
    part = Registry()

    @part.tool("Count", read_only=True, open_world=False)
    async def count() -> str:
        """Count the words,
        all of them.

        What counts:
        - letters
        - digits,
          in a row
        1. and so on
        """
        return ""

    async with connect(serving(part)) as client:
        (tool,) = await client.list_tools()
    assert tool["description"] == (
        "Count the words, all of them.\n\nWhat counts:\n- letters\n- digits,\n  in a row\n1. and so on"
    )
