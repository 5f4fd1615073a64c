"""The server cannot be turned against the network it runs in."""

from collections.abc import Sequence

import anyio
import httpx
import pytest
from mcp_server_core.testing import connect
from mcp_server_fetch.client import open_client
from mcp_server_fetch.problems import Refused
from mcp_server_fetch.server import build
from mcp_server_fetch.settings import Settings

from .site import Site, local, redirect, reply, serving
from .talk import fetch, refusal

pytestmark = pytest.mark.anyio


class Names:
    """A resolver that says what a test wants, one answer after the other; the last one stays."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(given) for name, given in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        given = self._answers.get(host.removesuffix("."))
        if given is None:
            raise OSError("unknown")
        return given.pop(0) if len(given) > 1 else given[0]


SPELLINGS = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "user:pass@127.0.0.1",
    "example.org@127.0.0.1",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[fe80::1%25lo]",
    "[::]",
    "0.0.0.0",
    "0",
    "10.1.2.3",
    "192.168.0.1",
    "172.20.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "[fd00:ec2::254]",
    "100.100.100.200",
    "224.0.0.1",
    "255.255.255.255",
    "[ff02::1]",
    "[fc00::1]",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("robots", [False, True])
async def test_no_spelling_of_a_private_address_is_fetched(site: Site, spelling: str, robots: bool) -> None:
    site.page("/", "<p>secret</p>")
    async with connect(build(Settings(ignore_robots_txt=not robots))) as client:
        said = await refusal(client, f"http://{spelling}:{site.port}/")
    assert "secret" not in said
    assert "pass" not in said
    assert site.paths() == []


@pytest.mark.parametrize(
    "answers",
    [
        ["127.0.0.1"],
        ["10.0.0.5"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["1.1.1.1", "127.0.0.1"],
        ["169.254.169.254"],
        ["fe80::1%eth0"],
    ],
    ids=str,
)
async def test_a_name_with_one_private_address_is_not_fetched(site: Site, answers: list[str]) -> None:
    names = Names(inner_example=[answers])
    async with connect(build(Settings(resolver=names))) as client:
        said = await refusal(client, f"http://inner.example:{site.port}/")
    assert "not fetched from" in said or "does not fetch from" in said
    assert site.paths() == []


async def test_the_address_that_was_checked_is_the_one_connected_to() -> None:
    # The name moves to another address after each question; only the first one is allowed.
    names = Names(moving_example=[["127.0.0.2"], ["127.0.0.3"], ["127.0.0.1"]])
    with serving("127.0.0.2") as good, serving("127.0.0.3", good.port) as evil:
        good.page("/", "<p>harmless text</p>")
        evil.page("/", "<p>secret</p>")
        settings = Settings(resolver=names, allow_hosts=("127.0.0.2/32",), ignore_robots_txt=True)
        async with connect(build(settings)) as client:
            assert "harmless" in await fetch(client, f"http://moving.example:{good.port}/")
        assert names.asked == ["moving.example"]
        assert evil.paths() == []


async def test_each_new_connection_is_checked_anew() -> None:
    names = Names(moving_example=[["127.0.0.2"], ["127.0.0.3"]])
    with serving("127.0.0.2") as good, serving("127.0.0.3", good.port) as evil:
        good.on("/", reply(b"one", {"connection": "close", "content-type": "text/plain"}))
        settings = Settings(resolver=names, allow_hosts=("127.0.0.2/32",), ignore_robots_txt=True)
        async with connect(build(settings)) as client:
            await fetch(client, f"http://moving.example:{good.port}/")
            assert "loopback" in await refusal(client, f"http://moving.example:{good.port}/")
        assert evil.paths() == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_a_private_address_is_not_followed(status: int) -> None:
    with serving("127.0.0.2") as outer, serving("127.0.0.3") as inner:
        inner.page("/secret", "secret")
        url = outer.on("/go", redirect(f"{inner.url}/secret", status))
        async with connect(build(Settings(allow_hosts=("127.0.0.2",)))) as client:
            assert "loopback" in await refusal(client, url)
        assert inner.paths() == []


@pytest.mark.parametrize(
    "target",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://x/",
        "javascript:1",
        "data:text/plain,x",
        "unix:/run/x",
    ],
)
async def test_a_redirect_to_another_scheme_is_not_followed(site: Site, target: str) -> None:
    url = site.on("/go", redirect(target))
    async with connect(build(local())) as client:
        assert "http and https" in await refusal(client, url)


async def test_robots_txt_is_not_a_way_in() -> None:
    with serving("127.0.0.2") as outer, serving("127.0.0.3") as inner:
        inner.on("/robots.txt", reply(b"User-agent: *\nAllow: /"))
        outer.on("/robots.txt", redirect(f"{inner.url}/robots.txt"))
        url = outer.page("/", "<p>text</p>")
        async with connect(build(Settings(allow_hosts=("127.0.0.2",)))) as client:
            assert "robots.txt leads to an address" in await refusal(client, url)
        assert inner.paths() == []


async def test_metadata_services_stay_closed_when_private_addresses_are_open() -> None:
    async with connect(build(Settings(allow_private_ips=True, ignore_robots_txt=True))) as client:
        assert "cloud metadata" in await refusal(client, "http://169.254.169.254/latest/meta-data/")
        assert "cloud metadata" in await refusal(client, "http://[::ffff:a9fe:a9fe]/")


async def test_an_allowed_host_opens_itself_and_nothing_else(site: Site) -> None:
    url = site.page("/", "<p>our own wiki</p>")
    names = Names(wiki_corp=[["127.0.0.1"]], other_corp=[["127.0.0.1"]])
    settings = Settings(resolver=names, allow_hosts=(f"wiki.corp:{site.port}",))
    async with connect(build(settings)) as client:
        assert "our own wiki" in await fetch(client, f"http://wiki.corp:{site.port}/")
        assert "loopback" in await refusal(client, f"http://other.corp:{site.port}/")
        assert "loopback" in await refusal(client, url)


async def test_user_and_password_in_a_url_are_neither_sent_nor_shown(site: Site) -> None:
    site.page("/", "<p>text</p>")
    async with connect(build(local())) as client:
        said = await fetch(client, f"http://me:hunter2@127.0.0.1:{site.port}/")
        missing = await refusal(client, f"http://me:hunter2@127.0.0.1:{site.port}/missing")
    assert "hunter2" not in said + missing
    assert all("authorization" not in headers for _, headers in site.web.heard)


async def test_nothing_learned_from_one_host_is_told_to_another(site: Site) -> None:
    with serving("127.0.0.2") as other:
        other.page("/end", "<p>end</p>")

        def answer(handler: object) -> None:
            reply(b"", {"location": f"{other.url}/end", "set-cookie": "id=1; Path=/"}, 302)(handler)  # pyright: ignore[reportArgumentType]

        url = site.on("/start", answer)
        async with connect(build(local())) as client:
            await fetch(client, url)
            await fetch(client, url)
        told = [headers for _, headers in [*site.web.heard, *other.web.heard]]
        assert all("cookie" not in headers and "referer" not in headers for headers in told)


async def test_the_client_itself_cannot_be_used_to_go_around_the_guard(site: Site) -> None:
    # Not through the tools: whoever gets hold of the HTTP client meets the same guard.
    async with open_client(Settings()) as client:
        with pytest.raises(Refused):
            await client.get(f"{site.url}/")
        with pytest.raises(Refused):
            await client.send(httpx.Request("POST", f"{site.url}/"))
    assert site.paths() == []


async def test_an_unknown_host_is_said_to_be_unknown() -> None:
    async with connect(build(Settings(resolver=Names()))) as client:
        assert "no host called nowhere.example" in await refusal(client, "http://nowhere.example/")


async def test_a_second_address_is_tried_when_the_first_does_not_answer() -> None:
    with serving("127.0.0.2") as good:
        good.page("/", "<p>the second one</p>")
        names = Names(two_example=[["127.0.0.9", "127.0.0.2"]])
        settings = Settings(resolver=names, allow_private_ips=True, ignore_robots_txt=True)
        async with connect(build(settings)) as client:
            with anyio.fail_after(10):
                assert "the second one" in await fetch(client, f"http://two.example:{good.port}/")
