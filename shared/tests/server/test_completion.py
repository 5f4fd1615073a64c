"""Completion of prompt arguments and of template variables."""

from collections.abc import Mapping

import pytest
from mcp_server_core import Context, Registry
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision

from .talking import NEWEST, connect, serving, talk

pytestmark = pytest.mark.anyio
PROMPT = {"type": "ref/prompt", "name": "review"}
TEMPLATE = {"type": "ref/resource", "uri": "note:///{folder}/{title}"}


def notes() -> Registry:
    part = Registry()

    @part.prompt("Review")
    async def review(title: str, tone: str = "kind") -> str:
        """Review."""
        return f"{title} {tone}"

    @part.resource("note:///{folder}/{title}", "Note")
    async def note(folder: str, title: str) -> str:
        return folder + title

    @part.complete(review, "title")
    def titles(typed: str) -> list[str]:
        return [title for title in ("apple", "apricot", "pear") if title.startswith(typed)]

    @part.complete(note, "folder")
    async def folders(typed: str, ctx: Context[None]) -> list[str]:
        return [f"{typed} for {ctx.client['name']}"]

    @part.complete(note, "title")
    async def inside(typed: str, chosen: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(f"{chosen.get('folder')}/{typed}{number}" for number in range(150))

    return part


async def test_a_prompt_argument_is_completed(revision: Revision) -> None:
    async with connect(serving(notes()), revision=revision) as client:
        assert await client.complete(PROMPT, "title", "ap") == ["apple", "apricot"]


async def test_a_template_variable_is_completed(revision: Revision) -> None:
    async with connect(serving(notes()), revision=revision) as client:
        assert await client.complete(TEMPLATE, "folder", "x") == ["x for mcp-server-core"]


async def test_a_uri_of_the_family_stands_for_its_template() -> None:
    async with connect(serving(notes()), revision=NEWEST) as client:
        reference = {"type": "ref/resource", "uri": "note:///a/b"}
        assert await client.complete(reference, "folder", "x") == ["x for mcp-server-core"]


async def test_values_already_chosen_are_known_to_the_completer(revision: Revision) -> None:
    async with connect(serving(notes()), revision=revision) as client:
        values = await client.complete(TEMPLATE, "title", "t", {"folder": "work"})
    assert values[0] == "work/t0"


async def test_at_most_a_hundred_values_come_and_the_rest_is_counted(revision: Revision) -> None:
    async with talk(serving(notes()), revision) as peer:
        params = {"ref": TEMPLATE, "argument": {"name": "title", "value": ""}}
        completion = (await peer.result("completion/complete", params))["completion"]
    assert len(completion["values"]) == 100  # C-4
    assert (completion["total"], completion["hasMore"]) == (150, True)


async def test_an_argument_without_a_completer_has_no_suggestions(revision: Revision) -> None:
    async with talk(serving(notes()), revision) as peer:
        params = {"ref": PROMPT, "argument": {"name": "tone", "value": ""}}
        result = await peer.result("completion/complete", params)
    assert result["completion"] == {"values": [], "total": 0, "hasMore": False}


@pytest.mark.parametrize(
    "params",
    [
        {"ref": {"type": "ref/prompt", "name": "nope"}, "argument": {"name": "title", "value": ""}},
        {"ref": {"type": "ref/resource", "uri": "nope:///a"}, "argument": {"name": "title", "value": ""}},
        {"ref": {"type": "ref/other", "name": "review"}, "argument": {"name": "title", "value": ""}},
        {"ref": {"type": "ref/prompt"}, "argument": {"name": "title", "value": ""}},
        {"ref": {"type": "ref/resource"}, "argument": {"name": "title", "value": ""}},
        {"ref": "review", "argument": {"name": "title", "value": ""}},
        {"ref": PROMPT, "argument": {"name": "title"}},
        {"ref": PROMPT, "argument": {"name": "title", "value": 3}},
        {"ref": PROMPT, "argument": {"name": "nope", "value": ""}},
        {"ref": TEMPLATE, "argument": {"name": "nope", "value": ""}},
        {"ref": PROMPT, "argument": "title"},
        {"ref": PROMPT},
        {"argument": {"name": "title", "value": ""}},
        {"ref": PROMPT, "argument": {"name": "title", "value": ""}, "context": []},
        {"ref": PROMPT, "argument": {"name": "title", "value": ""}, "context": {"arguments": []}},
        {},
    ],
)
async def test_what_cannot_be_completed_is_an_error_of_the_request(params: Json) -> None:
    async with talk(serving(notes()), NEWEST) as peer:
        assert (await peer.error("completion/complete", params))["code"] == -32602  # C-5


async def test_a_server_without_completers_does_not_know_the_method(revision: Revision) -> None:
    part = Registry()

    @part.prompt("Review")
    async def review(title: str) -> str:
        """Review."""
        return title

    async with talk(serving(part), revision) as peer:
        params = {"ref": PROMPT, "argument": {"name": "title", "value": ""}}
        assert (await peer.error("completion/complete", params))["code"] == -32601


async def test_a_completer_that_wants_to_ask_does_not_end_the_connection() -> None:
    part = notes()

    @part.prompt("Open")
    async def open_root(root: str) -> str:
        """Open a root."""
        return root

    @part.complete(open_root, "root")
    async def roots(typed: str, ctx: Context[None]) -> list[str]:
        return [root.uri for root in await ctx.roots()]

    async with talk(serving(part), NEWEST, {"roots": {}}) as peer:
        params = {
            "ref": {"type": "ref/prompt", "name": "open_root"},
            "argument": {"name": "root", "value": ""},
        }
        response = await peer.response(await peer.post("completion/complete", params))
        assert response.get("result", {}).get("completion", {}).get("values", []) == []
        assert await peer.settle() == []


async def test_what_fails_in_a_completer_is_hidden() -> None:
    part = Registry()

    @part.prompt("Review")
    async def review(title: str) -> str:
        """Review."""
        return title

    @part.complete(review, "title")
    async def titles(typed: str) -> list[str]:
        raise OSError("secret")

    async with talk(serving(part), NEWEST) as peer:
        params = {"ref": PROMPT, "argument": {"name": "title", "value": ""}}
        error = await peer.error("completion/complete", params)
    assert error == {"code": -32603, "message": "Internal error"}
