"""Schemas that an author writes by hand: of a tool's arguments, and of a form with choices that have titles."""

from typing import Any

import pytest
from mcp_server_core import Accepted, Answers, Context, Question, Registry, ToolError
from mcp_server_core.errors import LocalProtocolError
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision

from .talking import NEWEST, connect, serving, text_of

pytestmark = pytest.mark.anyio

ADDRESS: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"street": {"$anchor": "street", "type": "string"}},
    "properties": {"street": {"$ref": "#street"}, "city": {"type": "string", "title": "City"}},
    "allOf": [{"anyOf": [{"required": ["street"]}, {"required": ["city"]}]}],
    "if": {"required": ["street"]},
    "then": {"required": ["city"]},
    "else": {"additionalProperties": False},
}
FORM: Json = {
    "type": "object",
    "properties": {
        "colour": {
            "type": "string",
            "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}],
        },
        "size": {"type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium"]},
        "tags": {"type": "array", "maxItems": 1, "items": {"anyOf": [{"const": "x", "title": "X"}]}},
        "letters": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "height": {"type": "number", "default": 1.5},
        "name": {"type": "string", "minLength": 1, "maxLength": 5},
        "sure": {"type": "boolean"},
    },
    "required": ["sure"],
}
with_choices = pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])


def taking(schema: Json, seen: list[Json]) -> Registry:
    """A tool with a schema of its own, that keeps what it was given."""
    part = Registry()

    @part.tool("Take", read_only=True, open_world=False, input_schema=schema)
    async def take(given: dict[str, Any], ctx: Context[None]) -> str:
        """Take it."""
        seen.append(given)
        return "taken"

    return part


def asking(schema: Json, seen: list[Any]) -> Registry:
    """A tool that asks the user by this schema, and keeps what comes back."""
    part = Registry()

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(ctx: Context[None]) -> str:
        """Ask the user."""
        answers = await ctx.ask(choice=Question.schema("Please choose", schema))
        seen.append(answers["choice"])
        return type(answers["choice"]).__name__

    return part


def answering(content: Any, asked: list[Json] | None = None) -> Answers:
    """A user who always gives this answer."""

    async def elicit(params: Json) -> Json:
        if asked is not None:
            asked.append(params)
        return {"action": "accept", "content": content}

    return Answers(elicit=elicit)


# Arguments.


async def test_a_schema_written_by_hand_is_listed_as_it_is(revision: Revision) -> None:
    async with connect(serving(taking(ADDRESS, [])), revision=revision) as client:
        (tool,) = await client.list_tools()
    assert tool["inputSchema"] == ADDRESS


async def test_the_function_gets_all_arguments_in_one(revision: Revision) -> None:
    seen: list[Json] = []
    async with connect(serving(taking(ADDRESS, seen)), revision=revision) as client:
        await client.call_tool("take", {"city": "Ulm", "more": [1, None]})
        await client.call_tool("take")
    assert seen == [{"city": "Ulm", "more": [1, None]}, {}]


def test_a_schema_that_is_not_one_of_an_object_is_refused() -> None:
    with pytest.raises(LocalProtocolError, match="take"):
        taking({"type": "array"}, [])


async def test_a_function_with_two_arguments_and_a_schema_of_its_own_is_refused() -> None:
    part = Registry()

    @part.tool("Two", read_only=True, open_world=False, input_schema={"type": "object"})
    async def two(one: dict[str, Any], other: str) -> str:
        """Take two."""
        return other

    with pytest.raises(LocalProtocolError, match="two: with a schema of its own"):
        assert serving(part).catalogue.tools["two"].definition


# Forms.


@with_choices
async def test_a_form_written_by_hand_is_asked_as_it_is(revision: Revision) -> None:
    asked: list[Json] = []
    server = serving(asking(FORM, []))
    async with connect(server, revision=revision, answers=answering({"sure": True}, asked)) as client:
        await client.call_tool("ask")
    assert asked == [{"mode": "form", "message": "Please choose", "requestedSchema": FORM}]


async def test_2025_06_18_sees_titles_as_names_of_an_enumeration() -> None:
    asked: list[Json] = []
    form: Json = {"type": "object", "properties": {"colour": FORM["properties"]["colour"]}}
    server = serving(asking(form, []))
    async with connect(server, revision="2025-06-18", answers=answering({}, asked)) as client:
        await client.call_tool("ask")
    colour = {"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "Blue"]}
    assert asked[0]["requestedSchema"]["properties"] == {"colour": colour}


@with_choices
async def test_answers_that_fit_are_data_and_what_nobody_asked_for_is_left_out(revision: Revision) -> None:
    fitting: Json = {
        "colour": "b",
        "size": "m",
        "tags": ["x"],
        "letters": ["a", "b"],
        "age": 0,
        "height": 2,
        "name": "Ada",
        "sure": False,
    }
    seen: list[Any] = []
    server = serving(asking(FORM, seen))
    async with connect(server, revision=revision, answers=answering({**fitting, "more": 1})) as client:
        assert text_of(await client.call_tool("ask")) == "Accepted"
    assert seen == [Accepted(fitting)]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("colour", "Red"),
        ("size", "Small"),
        ("tags", ["y"]),
        ("tags", ["x", "x"]),
        ("tags", "x"),
        ("letters", [1]),
        ("letters", None),
        ("age", 1.5),
        ("age", True),
        ("age", "1"),
        ("age", -1),
        ("age", 151),
        ("height", False),
        ("height", "2"),
        ("name", ""),
        ("name", "Adaline"),
        ("name", 1),
        ("sure", 1),
        ("sure", "yes"),
    ],
)
async def test_an_answer_that_does_not_fit_is_named(field: str, value: Any) -> None:
    server = serving(asking(FORM, []))
    answers = answering({"sure": True, field: value})
    async with connect(server, revision=NEWEST, answers=answers) as client:
        result = await client.call_tool("ask")
    assert result["isError"]
    assert text_of(result) == f"The answer does not fit the form: {field}."


@pytest.mark.parametrize("content", [{}, {"content": {}}, {"content": []}, {"content": "yes"}])
def test_an_answer_without_what_is_required_does_not_fit(content: Json) -> None:
    form: Json = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
    with pytest.raises(ToolError, match="does not fit the form: sure"):
        Question.schema("Sure?", form).read({"action": "accept", **content})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "string"},
        {"type": "object", "properties": {"deep": {"type": "object", "properties": {}}}},
        {"type": "object", "properties": {"free": {"type": "array", "items": {"type": "string"}}}},
    ],
)
def test_a_form_that_is_not_flat_is_refused(schema: Json) -> None:
    with pytest.raises(LocalProtocolError, match="a form is"):
        Question.schema("Please", schema)
