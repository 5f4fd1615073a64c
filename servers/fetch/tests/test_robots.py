"""robots.txt by RFC 9309."""

import pytest
from mcp_server_core import McpError
from mcp_server_core.testing import connect
from mcp_server_fetch.server import build

from .site import Site, free_port, local, raw, redirect, reply
from .talk import fetch, refusal

pytestmark = pytest.mark.anyio
RULES = b"# secret comment\nUser-agent: *\nDisallow: /private\nAllow: /private/open\n\nUser-agent: mcp-server-fetch\nDisallow: /ours\n"


def rules(site: Site, text: bytes) -> None:
    site.on("/robots.txt", reply(text))


async def test_what_is_disallowed_is_not_fetched_and_the_message_says_what_to_do(site: Site) -> None:
    rules(site, b"# secret comment\nUser-agent: *\nDisallow: /private\n")
    url = site.page("/private/x", "<p>text</p>")
    async with connect(build(local())) as client:
        said = await refusal(client, url)
    assert "does not let robots fetch" in said
    assert "prompt `fetch`" in said
    assert "--ignore-robots-txt" in said
    assert "secret comment" not in said
    assert "Disallow" not in said
    assert site.paths() == ["/robots.txt"]


async def test_rules_for_our_name_win_over_those_for_everyone(site: Site) -> None:
    rules(site, RULES)
    site.page("/ours", "<p>text</p>")
    site.page("/private", "<p>the text of the page</p>")
    async with connect(build(local())) as client:
        assert "does not let robots" in await refusal(client, f"{site.url}/ours")
        assert "the text of the page" in await fetch(client, f"{site.url}/private")


async def test_the_longest_rule_wins(site: Site) -> None:
    rules(site, b"User-agent: *\nDisallow: /private\nAllow: /private/open\n")
    site.page("/private/open/x", "<p>open to all</p>")
    async with connect(build(local())) as client:
        assert "open to all" in await fetch(client, f"{site.url}/private/open/x")
        assert "does not let robots" in await refusal(client, f"{site.url}/private/closed")


async def test_robots_txt_is_asked_for_once(site: Site) -> None:
    rules(site, RULES)
    for path in ("/a", "/b", "/c"):
        site.page(path, "<p>text</p>")
    async with connect(build(local())) as client:
        for path in ("/a", "/b", "/c"):
            await fetch(client, site.url + path)
        result = await client.call_tool("fetch_many", {"urls": [f"{site.url}/a", f"{site.url}/b"]})
        assert not result.get("isError")
    assert site.paths().count("/robots.txt") == 1


async def test_pages_asked_for_at_once_share_one_question(site: Site) -> None:
    for number in range(10):
        site.page(f"/{number}", "<p>text</p>")
    async with connect(build(local())) as client:
        await client.call_tool("fetch_many", {"urls": [f"{site.url}/{number}" for number in range(10)]})
    assert site.paths().count("/robots.txt") == 1


@pytest.mark.parametrize("status", [401, 403, 404, 429])
async def test_a_robots_txt_that_is_not_there_forbids_nothing(site: Site, status: int) -> None:
    site.on("/robots.txt", reply(b"User-agent: *\nDisallow: /", status=status))
    url = site.page("/", "<p>free to read</p>")
    async with connect(build(local())) as client:
        assert "free to read" in await fetch(client, url)


@pytest.mark.parametrize("status", [500, 503])
async def test_a_robots_txt_that_fails_forbids_everything(site: Site, status: int) -> None:
    site.on("/robots.txt", reply(b"", status=status))
    url = site.page("/", "<p>text</p>")
    async with connect(build(local())) as client:
        assert f"robots.txt answers {status}" in await refusal(client, url)
    assert "/" not in site.paths()


async def test_a_robots_txt_that_cannot_be_reached_forbids_everything() -> None:
    # What is wrong with the host is said, not what it means for robots: only the first can be mended.
    origin = f"http://127.0.0.1:{free_port()}"
    async with connect(build(local())) as client:
        assert (await refusal(client, f"{origin}/")).startswith(f"{origin} could not be reached: ")


async def test_a_robots_txt_elsewhere_that_cannot_be_reached_forbids_everything(site: Site) -> None:
    site.page("/", "<p>text</p>")
    site.on("/robots.txt", redirect(f"http://127.0.0.1:{free_port()}/robots.txt"))
    async with connect(build(local())) as client:
        assert "robots.txt cannot be reached" in await refusal(client, f"{site.url}/")
    assert "/" not in site.paths()


async def test_a_robots_txt_may_be_elsewhere(site: Site) -> None:
    for number in range(4):
        site.on("/robots.txt" if number == 0 else f"/r{number}", redirect(f"/r{number + 1}"))
    site.on("/r4", reply(b"User-agent: *\nDisallow: /no"))
    async with connect(build(local())) as client:
        assert "does not let robots" in await refusal(client, f"{site.url}/no")


async def test_only_the_beginning_of_a_huge_robots_txt_counts(site: Site) -> None:
    filler = b"# filler\n" * 70_000
    rules(site, b"User-agent: *\nDisallow: /early\n" + filler + b"Disallow: /late\n")
    site.page("/late", "<p>late but free</p>")
    async with connect(build(local())) as client:
        assert "does not let robots" in await refusal(client, f"{site.url}/early")
        assert "late but free" in await fetch(client, f"{site.url}/late")


async def test_an_endless_robots_txt_is_read_to_its_limit(site: Site) -> None:
    def endless() -> object:
        yield b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /no\n"
        while True:
            yield b"# on and on\n" * 1000

    site.on("/robots.txt", raw(endless))  # pyright: ignore[reportArgumentType] - a generator
    site.page("/yes", "<p>yes indeed</p>")
    async with connect(build(local())) as client:
        assert "yes indeed" in await fetch(client, f"{site.url}/yes")


async def test_rubbish_in_robots_txt_forbids_nothing(site: Site) -> None:
    rules(site, bytes(range(256)) * 50)
    url = site.page("/", "<p>still readable</p>")
    async with connect(build(local())) as client:
        assert "still readable" in await fetch(client, url)


async def test_each_hop_asks_the_robots_txt_of_its_own_host(site: Site) -> None:
    rules(site, b"User-agent: *\nDisallow: /closed")
    url = site.on("/open", redirect("/closed"))
    site.page("/closed", "<p>text</p>")
    async with connect(build(local())) as client:
        assert "/closed" in await refusal(client, url)
    assert "/closed" not in site.paths()


async def test_a_person_who_asks_by_prompt_is_no_robot(site: Site) -> None:
    rules(site, b"User-agent: *\nDisallow: /")
    url = site.page("/", "<p>for people</p>")
    async with connect(build(local())) as client:
        prompt = await client.get_prompt("fetch", {"url": url})
        assert "for people" in prompt["messages"][0]["content"]["text"]
        # What a person fetched is not handed to the robot by way of the cache.
        assert "does not let robots" in await refusal(client, url, start_index=1)
    assert "user-specified" in site.headers("/")[0]["user-agent"]


async def test_a_prompt_for_a_page_that_fails_says_why(site: Site) -> None:
    async with connect(build(local())) as client:
        with pytest.raises(McpError, match="answered 404"):
            await client.get_prompt("fetch", {"url": f"{site.url}/nothing"})


async def test_the_operator_can_ignore_robots_txt(site: Site) -> None:
    rules(site, b"User-agent: *\nDisallow: /")
    url = site.page("/", "<p>taken anyhow</p>")
    async with connect(build(local()._replace(ignore_robots_txt=True, user_agent="Visitor/2"))) as client:
        assert "taken anyhow" in await fetch(client, url)
    assert site.paths() == ["/"]
    assert site.headers("/")[0]["user-agent"] == "Visitor/2"


async def test_rules_are_matched_by_the_name_in_a_custom_user_agent(site: Site) -> None:
    rules(site, b"User-agent: visitor\nDisallow: /\n\nUser-agent: *\nAllow: /")
    url = site.page("/", "<p>text</p>")
    async with connect(build(local()._replace(user_agent="Visitor/2 (+https://example.org)"))) as client:
        assert "does not let robots" in await refusal(client, url)
