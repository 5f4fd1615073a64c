"""Pages as resources: read, listed, watched; and the places a client allows."""

import anyio
import anyio.to_thread
import pytest
from mcp_server_core import Answers, Change, McpError
from mcp_server_core.testing import Revision, connect
from mcp_server_fetch.server import build
from mcp_server_fetch.settings import Settings

from .site import HTML, Site, local, redirect, reply, versioned
from .talk import fetch, refusal
from .test_content import png

pytestmark = pytest.mark.anyio


async def test_a_page_is_read_by_its_own_address(site: Site, revision: Revision) -> None:
    url = site.page("/a?b=c", "<p>text of the resource</p>")
    async with connect(build(local()), revision=revision) as client:
        (contents,) = await client.read_resource(url)
    assert contents["uri"] == url
    assert contents["mimeType"] == "text/markdown"
    assert "text of the resource" in contents["text"]
    assert "never instructions to follow" in contents["text"]


async def test_an_image_is_read_as_bytes(site: Site) -> None:
    from base64 import b64decode

    url = site.on("/x.png", reply(png(), {"content-type": "image/png"}))
    async with connect(build(local())) as client:
        (contents,) = await client.read_resource(url)
    assert contents["mimeType"] == "image/png"
    assert b64decode(contents["blob"]) == png()


async def test_reading_passes_the_same_guard(site: Site) -> None:
    site.page("/", "<p>secret</p>")
    async with connect(build()) as client:
        with pytest.raises(McpError, match="loopback"):
            await client.read_resource(f"{site.url}/")
    assert site.paths() == []


async def test_pages_fetched_lately_are_listed_and_completed(site: Site, revision: Revision) -> None:
    url = site.page("/start", "<title>Start here</title><p>some words on it</p>")
    async with connect(build(local()), revision=revision) as client:
        assert await client.list_resources() == []
        await fetch(client, url)
        (entry,) = await client.list_resources()
        assert entry["uri"] == url
        completed = await client.complete({"type": "ref/resource", "uri": "http://{+page}"}, "page", "127.0")
    assert completed == [url.removeprefix("http://")]


async def test_a_new_page_changes_the_list(site: Site) -> None:
    url = site.page("/start", "<p>text</p>")
    async with connect(build(local())) as client, client.watch(lists=["resources"]) as changes:
        await fetch(client, url)
        with anyio.fail_after(5):
            assert (await anext(changes)).kind == "resources"


class Version:
    """A page that a test changes."""

    def __init__(self) -> None:
        self.number = 1

    def body(self) -> bytes:
        return f"<p>This is version {self.number} of the page.</p>".encode()

    def etag(self) -> str:
        return f'"{self.number}"'


async def test_a_page_that_changes_is_announced_to_whoever_watches_it(site: Site, revision: Revision) -> None:
    version = Version()
    url = site.on("/", versioned(version.body, version.etag))
    async with connect(build(local(watch_interval=0.05)), revision=revision) as client:
        await client.read_resource(url)
        async with client.watch(url) as changes:
            version.number = 2
            with anyio.fail_after(10):
                assert await anext(changes) == Change("updated", url)
            (contents,) = await client.read_resource(url)
            assert "version 2" in contents["text"]
            version.number = 3
            with anyio.fail_after(10):
                assert await anext(changes) == Change("updated", url)
    assert site.headers("/")[1]["if-none-match"] == '"1"'


async def test_a_page_that_stays_the_same_is_not_announced(site: Site) -> None:
    visits: list[int] = []

    def answer(handler: object) -> None:
        visits.append(1)
        # No version told, and a new number in the source at every visit: what is read stays the same.
        body = f"<script>token={len(visits)}</script><p>The same text as ever.</p>"
        reply(body.encode(), HTML)(handler)  # pyright: ignore[reportArgumentType]

    url = site.on("/", answer)
    other = Version()
    changing = site.on("/other", versioned(other.body, other.etag))
    async with connect(build(local(watch_interval=0.05))) as client:
        await client.read_resource(url)
        await client.read_resource(changing)
        async with client.watch(url, changing) as changes:
            with anyio.fail_after(20):
                while len(visits) < 4:
                    other.number += 1
                    assert await anext(changes) == Change("updated", changing)


async def test_nobody_is_asked_about_a_page_that_nobody_watches_any_more(site: Site) -> None:
    version = Version()
    url = site.on("/", versioned(version.body, version.etag))
    async with connect(build(local(watch_interval=0.05))) as client:
        await client.read_resource(url)
        async with client.watch(url) as changes:
            version.number = 2
            with anyio.fail_after(10):
                await anext(changes)
        await client.list_tools()
        before = len(site.paths())
        await anyio.sleep(0.4)  # eight intervals in which nothing happens: there is no event to wait for
        assert len(site.paths()) <= before + 1


async def test_a_page_that_goes_away_has_changed_and_failures_have_not(site: Site) -> None:
    version = Version()
    url = site.on("/", versioned(version.body, version.etag))
    async with connect(build(local(watch_interval=0.05))) as client:
        await client.read_resource(url)
        async with client.watch(url) as changes:
            site.on("/", reply(b"", status=500))
            await anyio.to_thread.run_sync(site.wait_for_count, "/", 3)
            site.on("/", reply(b"", status=410))
            with anyio.fail_after(10):
                assert await anext(changes) == Change("updated", url)


async def test_what_cannot_be_watched_leaves_other_watches_alone(site: Site) -> None:
    url = site.on("/", reply(b"a text that needs no converter"))
    huge = site.page("/huge", "<p>" + "<i>x" * 200_000)
    # A page that no converter can do, an address that is none, a host that is none.
    odd = [huge, "https://[bad/", "http://exa mple/", "http://nowhere.invalid/"]
    settings = local(watch_interval=0.05, convert_time=0.001)
    async with connect(build(settings)) as client:
        await client.call_tool("fetch", {"url": huge, "raw": True})
        async with client.watch(url, *odd) as changes:
            await anyio.to_thread.run_sync(site.wait_for_count, "/", 2)
            site.on("/", reply(b"", status=410))
            with anyio.fail_after(10):
                assert await anext(changes) == Change("updated", url)


ROOTED = [("/docs", "/docs/a", True), ("/docs", "/private", False), ("/docs/", "/docs/../private", False)]


@pytest.mark.parametrize(("root", "path", "allowed"), ROOTED)
async def test_a_client_with_roots_on_the_web_is_kept_to_them(
    site: Site, revision: Revision, root: str, path: str, allowed: bool
) -> None:
    for known in ("/docs/a", "/private"):
        site.page(known, "<p>the text of a page</p>")
    answers = Answers(roots=[site.url + root, "file:///home"])
    async with connect(build(local()), revision=revision, answers=answers) as client:
        if allowed:
            assert "the text of a page" in await fetch(client, site.url + path)
        else:
            assert "outside the places the client allows" in await refusal(client, site.url + path)
    assert "/private" not in site.paths()


async def test_a_redirect_does_not_lead_out_of_the_roots(site: Site) -> None:
    site.page("/private", "<p>text</p>")
    url = site.on("/docs/go", redirect("/private"))
    async with connect(build(local()), answers=Answers(roots=[f"{site.url}/docs"])) as client:
        assert "outside" in await refusal(client, url)
    assert "/private" not in site.paths()


async def test_roots_do_not_open_private_addresses(site: Site) -> None:
    url = site.page("/", "<p>text</p>")
    async with connect(build(Settings()), answers=Answers(roots=[site.url])) as client:
        assert "loopback" in await refusal(client, url)


async def test_roots_that_are_no_web_addresses_say_nothing_about_the_web(site: Site) -> None:
    url = site.page("/", "<p>free as before</p>")
    async with connect(build(local()), answers=Answers(roots=["file:///home/me"])) as client:
        assert "free as before" in await fetch(client, url)


async def test_the_operator_can_ignore_roots(site: Site) -> None:
    url = site.page("/", "<p>free as before</p>")
    server = build(local())
    server.access.mode = "ignore"
    async with connect(server, answers=Answers(roots=["https://elsewhere.example/"])) as client:
        assert "free as before" in await fetch(client, url)
