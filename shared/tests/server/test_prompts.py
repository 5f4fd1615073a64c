"""Prompts: their arguments, and the messages they become."""

from typing import Annotated, Any, Literal

import pytest
from mcp_server_core import Arg, Audio, Context, Embedded, Image, Link, Message, Registry, Text, ToolError
from mcp_server_core.errors import LocalProtocolError
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision, at_least

from .talking import NEWEST, connect, serving, talk, unstamped

pytestmark = pytest.mark.anyio


def saying(value: Any) -> Registry:
    """A prompt that becomes this value."""
    part = Registry()

    @part.prompt("Say")
    async def say() -> Any:
        """Say it."""
        return value

    return part


def reviews() -> Registry:
    part = Registry()

    @part.prompt("Review a note")
    def review(
        title: Annotated[str, Arg("Title of the note", min_length=1)],
        depth: int = 1,
        tone: Literal["kind", "harsh"] | None = None,
    ) -> str:
        """Ask for a review."""
        if title == "gone":
            raise ToolError("There is no such note.")
        if title == "broken":
            raise OSError("secret")
        return f"{title} {depth} {tone}"

    return part


async def test_a_prompt_is_listed_with_what_its_revision_knows(revision: Revision) -> None:
    async with connect(serving(reviews()), revision=revision) as client:
        (prompt,) = await client.list_prompts()
    expected: Json = {
        "name": "review",
        "description": "Ask for a review.",
        "arguments": [
            {"name": "title", "description": "Title of the note", "required": True},
            {"name": "depth", "required": False},
            {"name": "tone", "required": False},
        ],
    }
    if at_least(revision, "2025-06-18"):
        expected["title"] = "Review a note"
    assert prompt == expected


async def test_arguments_that_are_text_become_what_the_function_wants(revision: Revision) -> None:
    async with connect(serving(reviews()), revision=revision) as client:
        result = await client.get_prompt("review", {"title": "a", "depth": "2", "tone": "kind"})
    assert unstamped(result) == {
        "description": "Ask for a review.",
        "messages": [{"role": "user", "content": {"type": "text", "text": "a 2 kind"}}],
    }


@pytest.mark.parametrize(
    "params",
    [
        {"name": "review"},
        {"name": "review", "arguments": {}},
        {"name": "review", "arguments": {"depth": "2"}},
        {"name": "review", "arguments": {"title": ""}},
        {"name": "review", "arguments": {"title": 5}},
        {"name": "review", "arguments": {"title": "a", "depth": "deep"}},
        {"name": "review", "arguments": {"title": "a", "tone": "rude"}},
        {"name": "review", "arguments": {"title": "a", "nope": "b"}},
        {"name": "review", "arguments": []},
        {"name": "nope"},
        {"name": 1},
        {},
    ],
)
async def test_arguments_that_do_not_fit_are_an_error_of_the_request(
    revision: Revision, params: Json
) -> None:
    async with talk(serving(reviews()), revision) as peer:
        assert (await peer.error("prompts/get", params))["code"] == -32602  # P-2


async def test_a_missing_argument_is_named() -> None:
    async with talk(serving(reviews()), NEWEST) as peer:
        error = await peer.error("prompts/get", {"name": "review"})
    assert "`title`" in error["message"]


async def test_what_a_prompt_says_about_itself_is_shown(revision: Revision) -> None:
    async with talk(serving(reviews()), revision) as peer:
        error = await peer.error("prompts/get", {"name": "review", "arguments": {"title": "gone"}})
    assert error == {"code": -32602, "message": "There is no such note."}


async def test_what_fails_in_a_prompt_is_hidden(revision: Revision) -> None:
    async with talk(serving(reviews()), revision) as peer:
        error = await peer.error("prompts/get", {"name": "review", "arguments": {"title": "broken"}})
    assert error == {"code": -32603, "message": "Internal error"}


TEXT = {"type": "text", "text": "a"}


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("a", [{"role": "user", "content": TEXT}]),
        (Text("a"), [{"role": "user", "content": TEXT}]),
        (Message("a", "assistant"), [{"role": "assistant", "content": TEXT}]),
        (
            ["a", Message("a", "assistant"), Text("a")],
            [
                {"role": "user", "content": TEXT},
                {"role": "assistant", "content": TEXT},
                {"role": "user", "content": TEXT},
            ],
        ),
        (
            Message(Image(b"a", "image/png")),
            [{"role": "user", "content": {"type": "image", "data": "YQ==", "mimeType": "image/png"}}],
        ),
        (
            Embedded("note:///a", "text", "text/plain"),
            [
                {
                    "role": "user",
                    "content": {
                        "type": "resource",
                        "resource": {"uri": "note:///a", "mimeType": "text/plain", "text": "text"},
                    },
                }
            ],
        ),
    ],
)
async def test_what_a_prompt_returns_becomes_messages(
    revision: Revision, value: Any, messages: list[Json]
) -> None:
    async with connect(serving(saying(value)), revision=revision) as client:
        assert (await client.get_prompt("say"))["messages"] == messages


@pytest.mark.parametrize("block", [Audio(b"a", "audio/wav"), Link("note:///a", "a")], ids=["audio", "link"])
async def test_new_kinds_of_content_become_old_ones_for_old_clients(revision: Revision, block: Any) -> None:
    async with connect(serving(saying(Message(block))), revision=revision) as client:
        assert len((await client.get_prompt("say"))["messages"]) == 1


async def test_a_prompt_may_ask_for_the_context(revision: Revision) -> None:
    part = Registry()

    @part.prompt("Greet")
    async def greet(ctx: Context[None]) -> str:
        """Greet the client."""
        return f"Hello {ctx.client['name']}"

    async with connect(serving(part), revision=revision) as client:
        (prompt,) = await client.list_prompts()
        assert "arguments" not in prompt
        result = await client.get_prompt("greet")
    assert result["messages"][0]["content"]["text"] == "Hello mcp-server-core"


def test_two_prompts_of_one_name_are_refused() -> None:
    with pytest.raises(LocalProtocolError, match="say"):
        serving(saying("a"), saying("b"))
