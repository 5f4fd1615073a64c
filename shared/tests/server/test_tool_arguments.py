"""Arguments: lenient in, precise out. What does not fit is a result the model can read and act on."""

import json
import re
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from mcp_server_core import Arg, Context, Registry
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision
from pydantic import BaseModel
from typing_extensions import TypedDict

from .talking import NEWEST, connect, serving, talk, text_of

pytestmark = pytest.mark.anyio


class Edit(TypedDict):
    """One replacement."""

    old: str
    new: str


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


def taking(hint: Any, seen: list[Any]) -> Registry:
    """A tool with one argument of this type, which keeps what it gets."""
    part = Registry()

    async def take(value: Any) -> str:
        """Take it."""
        seen.append(value)
        return "taken"

    take.__annotations__["value"] = hint
    part.tool("Take", read_only=True, open_world=False)(take)
    return part


async def refused(hint: Any, value: Any) -> str:
    """The sentence that refuses a value."""
    seen: list[Any] = []
    async with connect(serving(taking(hint, seen)), revision=NEWEST) as client:
        result = await client.call_tool("take", {"value": value})
    assert result.get("isError") is True, f"{value!r} was taken as {seen!r}"
    assert seen == []
    return text_of(result)


@pytest.mark.parametrize(
    ("hint", "given", "taken"),
    [
        (int, 3, 3),
        (int, "3", 3),
        (int, "-3", -3),
        (int, 3.0, 3),
        (float, "0.5", 0.5),
        (float, 2, 2.0),
        (bool, True, True),
        (bool, "true", True),
        (bool, "false", False),
        (bool, "True", True),
        (int | None, None, None),
        (int | None, "3", 3),
        (int | str, "3", "3"),
        (list[int], ["1", 2], [1, 2]),
        (Literal["a", "b"], "b", "b"),
        (Edit, {"old": "a", "new": "b"}, {"old": "a", "new": "b"}),
        (Size, {"width": "3"}, Size(3)),
        (Mark, {"title": "x"}, Mark(title="x")),
        (list[Edit], [{"old": "a", "new": "b"}], [{"old": "a", "new": "b"}]),
        (Annotated[int, Arg("n", ge=1)], "1", 1),
        (date, "2026-07-28", date(2026, 7, 28)),
        (int, 2**70, 2**70),
        (str, "\u0000é🦊", "\u0000é🦊"),
    ],
)
async def test_a_value_that_can_only_mean_one_thing_is_taken(hint: Any, given: Any, taken: Any) -> None:
    seen: list[Any] = []
    async with connect(serving(taking(hint, seen)), revision=NEWEST) as client:
        result = await client.call_tool("take", {"value": given})
    assert text_of(result) == "taken"
    assert seen == [taken]
    assert type(seen[0]) is type(taken)


@pytest.mark.parametrize(
    ("hint", "given"),
    [
        (int, "three"),
        (int, 1.5),
        (int, True),
        (int, None),
        (int, ""),
        (int, "1.5"),
        (float, False),
        (float, "much"),
        (bool, "maybe"),
        (bool, 2),
        (bool, "yes please"),
        (str, 3),
        (str, None),
        (str, ["a"]),
        (list[str], "a"),
        (list[str], {"a": 1}),
        (list[int], [1, "x"]),
        (dict[str, int], []),
        (Literal["a", "b"], "A"),
        (Edit, "a"),
        (Edit, {"old": "a"}),
        (Size, {"width": "wide"}),
        (Annotated[int, Arg("n", ge=1, le=9)], 10),
        (Annotated[str, Arg("s", min_length=2)], "a"),
        (Annotated[list[int], Arg("l", min_length=1)], []),
        (date, "yesterday"),
        (int | list[str], {}),
        (Tree, {"name": 1, "children": []}),
    ],
)
async def test_anything_else_is_refused_by_the_name_of_the_argument(hint: Any, given: Any) -> None:
    sentence = await refused(hint, given)
    assert re.search(r"`value[`.]", sentence)
    assert " must be " in sentence
    assert "for example " in sentence


@pytest.mark.parametrize(
    "hint",
    [
        int,
        float,
        bool,
        list[str],
        dict[str, int],
        Literal["ASC", "DESC"],
        Edit,
        Size,
        Mark,
        list[Edit],
        Tree,
        int | list[str],
        Annotated[int, Arg("n", ge=50)],
        Annotated[int, Arg("n", le=0)],
        Annotated[int, Arg("n", ge=-9, le=-3)],
        Annotated[float, Arg("n", le=0.5)],
        Annotated[float, Arg("n", ge=0.25, le=0.5)],
        Annotated[str, Arg("s", min_length=9)],
        Annotated[str, Arg("s", max_length=2)],
        Annotated[str, Arg("s", pattern="^[A-Z]{3}$", example="ABC")],
        Annotated[list[int], Arg("l", min_length=2)],
        Annotated[int, Arg("n", example=7)],
        list[Annotated[int, Arg("n", ge=50)]],
    ],
)
async def test_the_example_in_a_refusal_fits(hint: Any) -> None:
    seen: list[Any] = []
    async with connect(serving(taking(hint, seen)), revision=NEWEST) as client:
        (tool,) = await client.list_tools()
        wrong = 5 if hint in (Edit, Size, Mark, Tree, dict[str, int]) else {"no": "such"}
        sentence = text_of(await client.call_tool("take", {"value": wrong}))
        found = re.search(r"for example (.+?); got ", sentence)
        assert found, sentence
        example = json.loads(found[1])
        Draft202012Validator(tool["inputSchema"]).validate({"value": example})
        assert text_of(await client.call_tool("take", {"value": example})) == "taken"


@pytest.mark.parametrize(
    ("hint", "given", "expectation"),
    [
        (int, "x", "a whole number"),
        (bool, "x", "true or false"),
        (Literal["ASC", "DESC"], "up", '"ASC", "DESC"'),
        (Annotated[int, Arg("n", ge=1, le=9)], 0, "at least 1 and at most 9"),
        (list[str], 1, "a list whose items are each a string"),
        (Edit, 1, "an object with `old`, `new`"),
    ],
)
async def test_a_refusal_says_what_was_expected(hint: Any, given: Any, expectation: str) -> None:
    assert expectation in await refused(hint, given)


async def test_a_refusal_shows_what_it_got() -> None:
    assert 'got "abc"' in await refused(int, "abc")


async def test_a_refusal_does_not_repeat_a_huge_value() -> None:
    assert len(await refused(int, "x" * 100_000)) < 400


async def test_a_refusal_of_a_choice_spells_it_as_it_must_be_sent() -> None:
    sentence = await refused(Literal["ASC", "DESC"], "up")
    assert "asc" not in sentence
    assert "desc" not in sentence


async def test_a_refusal_of_a_pattern_does_not_change_the_pattern() -> None:
    assert "[a-z]" not in await refused(Annotated[str, Arg("s", pattern="^[A-Z]+$")], "abc")


async def test_a_refusal_inside_a_list_says_what_that_very_place_expects() -> None:
    sentence = await refused(list[Edit], [{"old": "a", "new": 5}])
    assert "`value.0.new` must be a string" in sentence


async def test_a_member_that_is_missing_inside_a_list_is_named_with_what_it_expects() -> None:
    sentence = await refused(list[Edit], [{"old": "a"}])
    assert "`value.0.new` must be a string" in sentence
    assert "missing" in sentence


async def test_a_member_that_does_not_exist_is_named_with_those_that_do() -> None:
    sentence = await refused(list[Edit], [{"old": "a", "new": "b", "by": "me"}])
    assert sentence == "Argument `value.0` has no field `by`; it takes: old, new."


async def test_a_refusal_of_a_union_names_the_argument_and_not_its_branches() -> None:
    sentence = await refused(int | list[str], {})
    assert "`value`" in sentence
    assert "value.int" not in sentence


async def test_a_missing_argument_is_named() -> None:
    async with connect(serving(taking(int, [])), revision=NEWEST) as client:
        result = await client.call_tool("take", {})
    assert result["isError"] is True
    assert text_of(result) == "Argument `value` must be a whole number, for example 10; it is missing."


async def test_an_argument_that_does_not_exist_is_named_with_those_that_do() -> None:
    async with connect(serving(taking(int, [])), revision=NEWEST) as client:
        result = await client.call_tool("take", {"value": 1, "valeu": 2})
    assert result["isError"] is True
    assert text_of(result) == "There is no argument `valeu`; this tool takes: value."


async def test_the_context_is_no_argument_a_client_can_give() -> None:
    part = Registry()

    @part.tool("Look", read_only=True, open_world=False)
    async def look(ctx: Context[None]) -> str:
        """Look."""
        return "seen"

    async with connect(serving(part), revision=NEWEST) as client:
        result = await client.call_tool("look", {"ctx": 1})
    assert result["isError"] is True
    assert "`ctx`" in text_of(result)


async def test_every_problem_is_told_at_once() -> None:
    part = Registry()

    @part.tool("Add", read_only=True, open_world=False)
    async def add(a: int, b: int) -> str:
        """Add."""
        return str(a + b)

    async with connect(serving(part), revision=NEWEST) as client:
        sentence = text_of(await client.call_tool("add", {"a": "x", "c": 1}))
    assert all(name in sentence for name in ("`a`", "`b`", "`c`"))


async def test_refused_arguments_are_a_result_and_no_error_in_every_revision(revision: Revision) -> None:
    async with connect(serving(taking(int, [])), revision=revision) as client:  # T-13
        assert (await client.call_tool("take", {"value": "x"}))["isError"] is True


async def test_left_out_optional_arguments_have_their_defaults() -> None:
    part = Registry()
    seen: list[Any] = []

    @part.tool("Read", read_only=True, open_world=False)
    async def read(
        path: str, limit: int = 10, tail: int | None = None, names: tuple[str, ...] = ("a",)
    ) -> str:
        """Read."""
        seen.append((path, limit, tail, names))
        return ""

    async with connect(serving(part), revision=NEWEST) as client:
        await client.call_tool("read", {"path": "p"})
        await client.call_tool("read", {"path": "p", "tail": None, "limit": 1, "names": ["b"]})
    assert seen == [("p", 10, None, ("a",)), ("p", 1, None, ("b",))]


async def test_null_arguments_are_no_arguments(revision: Revision) -> None:
    part = Registry()

    @part.tool("Look", read_only=True, open_world=False)
    async def look() -> str:
        """Look."""
        return "seen"

    async with talk(serving(part), revision) as peer:
        assert text_of(await peer.result("tools/call", {"name": "look", "arguments": None})) == "seen"
        assert text_of(await peer.result("tools/call", {"name": "look"})) == "seen"


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 1},
        {"name": None},
        {"name": "take", "arguments": []},
        {"name": "take", "arguments": "x"},
        {"name": "nope"},
    ],
)
async def test_a_malformed_call_is_an_error_of_the_request(revision: Revision, params: Json) -> None:
    async with talk(serving(taking(int, [])), revision) as peer:
        assert (await peer.error("tools/call", params))["code"] == -32602  # T-11
