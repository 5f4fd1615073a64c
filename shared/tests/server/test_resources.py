"""Resources: fixed ones, families of them, and those a function names."""

import base64

import pytest
from mcp_server_core import (
    CacheHint,
    Contents,
    Context,
    InvalidParams,
    Link,
    Registry,
    ResourceNotFound,
    ToolError,
)
from mcp_server_core.client.answers import Answers
from mcp_server_core.errors import LocalProtocolError
from mcp_server_core.protocol.cursors import write_cursor
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision, at_least

from .talking import NEWEST, connect, serving, talk

pytestmark = pytest.mark.anyio


def notes() -> Registry:
    part = Registry()

    @part.resource("note:///index", "Index", mime_type="text/markdown")
    async def index() -> str:
        """All notes."""
        return "# Notes"

    @part.resource("note:///{title}", "Note", watch=True, cache=CacheHint(5000, public=True))
    async def note(title: str, ctx: Context[None]) -> str:
        if title == "gone":
            raise ResourceNotFound(f"note:///{title}")
        if title == "secret":
            raise ToolError("Notes of others stay closed.")
        if title == "broken":
            raise OSError("/home/me/secret")
        return f"text of {title}"

    @part.resource("blob:///{+path}", "Blob")
    def blob(path: str) -> bytes:
        return path.encode() + b"\xff"

    @part.resource("folder:///all", "Folder")
    async def folder() -> list[Contents]:
        return [
            Contents("a", uri="note:///a"),
            Contents(b"\xff", "image/png", "blob:///b"),
            Contents("c"),
        ]

    return part


async def test_a_fixed_resource_is_listed_with_what_its_revision_knows(revision: Revision) -> None:
    async with connect(serving(notes()), revision=revision) as client:
        listed = (await client.list_resources())[0]
    expected: Json = {
        "uri": "note:///index",
        "name": "index",
        "description": "All notes.",
        "mimeType": "text/markdown",
    }
    if at_least(revision, "2025-06-18"):
        expected["title"] = "Index"
    assert listed == expected


async def test_a_family_is_listed_as_a_template_and_not_as_a_resource(revision: Revision) -> None:
    async with connect(serving(notes()), revision=revision) as client:
        assert [item["uri"] for item in await client.list_resources()] == ["note:///index", "folder:///all"]
        templates = await client.list_resource_templates()
    assert [item["uriTemplate"] for item in templates] == ["note:///{title}", "blob:///{+path}"]


@pytest.mark.parametrize(
    ("uri", "contents"),
    [
        ("note:///index", {"uri": "note:///index", "mimeType": "text/markdown", "text": "# Notes"}),
        ("note:///a%20b", {"uri": "note:///a%20b", "mimeType": "text/plain", "text": "text of a b"}),
        (
            "blob:///a/b",
            {
                "uri": "blob:///a/b",
                "mimeType": "application/octet-stream",
                "blob": base64.b64encode(b"a/b\xff").decode(),
            },
        ),
    ],
)
async def test_text_is_text_and_bytes_are_a_blob(revision: Revision, uri: str, contents: Json) -> None:
    async with connect(serving(notes()), revision=revision) as client:
        assert await client.read_resource(uri) == [contents]


async def test_one_read_may_give_several_contents(revision: Revision) -> None:
    async with connect(serving(notes()), revision=revision) as client:
        assert await client.read_resource("folder:///all") == [
            {"uri": "note:///a", "mimeType": "text/plain", "text": "a"},
            {"uri": "blob:///b", "mimeType": "image/png", "blob": base64.b64encode(b"\xff").decode()},
            {"uri": "folder:///all", "mimeType": "text/plain", "text": "c"},
        ]


@pytest.mark.parametrize("uri", ["nope:///a", "note:///gone", "note:///a/b", "not a uri", ""])
async def test_a_resource_that_does_not_exist_has_the_code_of_its_era(revision: Revision, uri: str) -> None:
    async with talk(serving(notes()), revision) as peer:
        error = await peer.error("resources/read", {"uri": uri})
    assert error["code"] == (-32602 if revision == NEWEST else -32002)
    assert error["data"] == {"uri": uri}


@pytest.mark.parametrize("params", [{}, {"uri": 1}, {"uri": None}])
async def test_a_read_without_a_uri_is_refused(revision: Revision, params: Json) -> None:
    async with talk(serving(notes()), revision) as peer:
        assert (await peer.error("resources/read", params))["code"] == -32602


async def test_what_a_resource_says_about_itself_is_shown(revision: Revision) -> None:
    async with talk(serving(notes()), revision) as peer:
        error = await peer.error("resources/read", {"uri": "note:///secret"})
    assert error == {"code": -32602, "message": "Notes of others stay closed."}


async def test_what_fails_in_a_resource_is_hidden(revision: Revision) -> None:
    async with talk(serving(notes()), revision) as peer:
        error = await peer.error("resources/read", {"uri": "note:///broken"})
    assert error == {"code": -32603, "message": "Internal error"}


@pytest.mark.parametrize(
    ("uri", "hint"),
    [
        ("note:///index", {"ttlMs": 0, "cacheScope": "private"}),
        ("note:///a", {"ttlMs": 5000, "cacheScope": "public"}),
    ],
)
async def test_a_read_carries_its_own_cache_hint_in_the_stateless_era_alone(
    revision: Revision, uri: str, hint: Json
) -> None:
    async with talk(serving(notes()), revision) as peer:
        result = await peer.result("resources/read", {"uri": uri})
    found = {key: result[key] for key in ("ttlMs", "cacheScope") if key in result}
    assert found == (hint if revision == NEWEST else {})  # CA-1, CA-12


async def test_lists_and_discover_carry_the_cache_hint_of_the_server() -> None:
    server = serving(notes(), cache=CacheHint(9000, public=True))
    async with talk(server, NEWEST) as peer:
        for method in ("server/discover", "resources/list", "resources/templates/list"):
            result = await peer.result(method)
            assert (result["ttlMs"], result["cacheScope"]) == (9000, "public")


async def test_a_function_may_name_resources_that_exist_right_now(revision: Revision) -> None:
    part = notes()
    titles = ["a", "b"]

    @part.resources_list
    async def titled() -> list[Link]:
        return [Link(f"note:///{title}", title, mime_type="text/plain", size=3) for title in titles]

    @part.resources_list
    def blocking(ctx: Context[None]) -> list[Link]:
        return [Link("blob:///z", str(ctx.client["name"]))]

    async with connect(serving(part), revision=revision) as client:
        listed = (await client.list_resources())[2:]
        assert listed == [
            {"uri": "note:///a", "name": "a", "mimeType": "text/plain", "size": 3},
            {"uri": "note:///b", "name": "b", "mimeType": "text/plain", "size": 3},
            {"uri": "blob:///z", "name": "mcp-server-core"},
        ]
        titles.clear()
        assert len(await client.list_resources()) == 3


async def test_a_list_that_wants_to_ask_does_not_end_the_connection(revision: Revision) -> None:
    """MR-1: a list never answers with `input_required`; it may answer with less, or with an error."""
    part = notes()

    @part.resources_list
    async def rooted(ctx: Context[None]) -> list[Link]:
        return [Link(root.uri, "root") for root in await ctx.roots()]

    async with connect(serving(part), revision=revision, answers=Answers(roots=["file:///a"])) as client:
        listed = await client.list_resources()
        assert len(listed) == (2 if revision == NEWEST else 3)
        assert len(await client.list_resource_templates()) == 2


async def test_a_list_that_insists_on_asking_is_an_error_and_nothing_worse() -> None:
    part = notes()

    @part.resources_list
    async def sampled(ctx: Context[None]) -> list[Link]:
        return [Link("note:///a", (await ctx.sample("A name?", max_tokens=5)).text)]

    async with talk(serving(part), NEWEST, {"sampling": {}}) as peer:
        assert (await peer.error("resources/list"))["code"] == -32603
        assert await peer.settle() == []


async def test_pages_follow_each_other_without_a_gap(revision: Revision) -> None:
    part = notes()

    @part.resources_list
    async def many() -> list[Link]:
        return [Link(f"note:///{number}", str(number)) for number in range(5)]

    async with talk(serving(part, page_size=3), revision) as peer:
        first = await peer.result("resources/list")
        second = await peer.result("resources/list", {"cursor": first["nextCursor"]})
        third = await peer.result("resources/list", {"cursor": second["nextCursor"]})
        names = [item["name"] for page in (first, second, third) for item in page["resources"]]
    assert names == ["index", "folder", "0", "1", "2", "3", "4"]
    assert "nextCursor" not in third


async def test_a_list_that_fits_one_page_has_no_cursor(revision: Revision) -> None:
    async with talk(serving(notes(), page_size=2), revision) as peer:
        assert "nextCursor" not in await peer.result("resources/list")


async def test_every_list_is_paged(revision: Revision) -> None:
    part = Registry()

    async def something() -> str:
        """Something."""
        return ""

    async def one_of_many(x: str) -> str:
        return x

    for number in range(3):
        part.tool("T", read_only=True, open_world=False, name=f"t{number}")(something)
        part.prompt("P", name=f"p{number}")(something)
        part.resource(f"r:///{number}", "R", name=f"r{number}")(something)
        part.resource(f"t:///{number}/{{x}}", "T", name=f"t{number}")(one_of_many)
    async with connect(serving(part, page_size=1), revision=revision) as client:
        lists = [
            await client.list_tools(),
            await client.list_prompts(),
            await client.list_resources(),
            await client.list_resource_templates(),
        ]
    assert [[item["name"][-1] for item in items] for items in lists] == [["0", "1", "2"]] * 4


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "é",
        "!!!!",
        "bnVsbA",
        write_cursor("tools/list", 1),
        write_cursor("resources/list", 0),
        write_cursor("resources/list", -1),
        write_cursor("resources/list", 1_000_000),
        write_cursor("resources/list", 1.5),
        write_cursor("resources/list", True),
        write_cursor("resources/list", "1"),
        write_cursor("resources/list", None),
        write_cursor("resources/list", 1) + "x" * 9,
        7,
        None,
    ],
)
async def test_a_cursor_that_was_never_given_out_is_refused(cursor: object) -> None:
    async with talk(serving(notes(), page_size=1), NEWEST) as peer:
        assert (await peer.error("resources/list", {"cursor": cursor}))["code"] == -32602  # PG-4


async def test_a_cursor_does_not_show_what_is_in_it() -> None:
    async with talk(serving(notes(), page_size=1), NEWEST) as peer:
        cursor = (await peer.result("resources/list"))["nextCursor"]
    assert cursor.isascii()
    assert "resources" not in cursor


async def test_a_server_without_resources_does_not_know_their_methods(revision: Revision) -> None:
    async with talk(serving(), revision) as peer:
        for method in (
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "prompts/list",
            "tools/list",
        ):
            assert (await peer.error(method, {"uri": "a:///b"}))["code"] == -32601  # L-37


@pytest.mark.parametrize("uri", ["no uri", "", "/path"])
def test_what_is_no_uri_is_refused_when_it_is_registered(uri: str) -> None:
    with pytest.raises(LocalProtocolError):
        Registry().resource(uri, "R")(lambda: "")


def test_a_template_whose_variables_the_function_does_not_take_is_refused() -> None:
    part = Registry()

    async def note(name: str) -> str:
        return name

    def offer() -> None:
        part.resource("note:///{title}", "Note")(note)
        serving(part)

    with pytest.raises(LocalProtocolError):
        offer()


async def test_a_resource_may_refuse_its_variables(revision: Revision) -> None:
    part = Registry()

    @part.resource("page:///{number}", "Page")
    async def page(number: str) -> str:
        if not number.isdigit():
            raise InvalidParams("A page has a number.")
        return number

    async with talk(serving(part), revision) as peer:
        error = await peer.error("resources/read", {"uri": "page:///x"})
    assert error == {"code": -32602, "message": "A page has a number."}
