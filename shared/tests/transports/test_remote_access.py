"""Tokens: who is asked for them, when, and where they go."""

import logging

import pytest
from mcp_server_core import Client, ConnectionLost, McpError, http
from mcp_server_core.transports.remote.access import Challenge, Unauthorized, read_challenge

from .web import Exchange, Handler, Site, classic, echo, modern, serve

pytestmark = pytest.mark.anyio
METADATA = "https://a.example/.well-known/oauth-protected-resource"


class Tokens:
    """A provider that gives one token after another, the next at each challenge."""

    def __init__(self, *tokens: str | None) -> None:
        self._tokens = list(tokens)
        self.challenges: list[Challenge] = []

    async def __call__(self, challenge: Challenge | None) -> str | None:
        if challenge is not None:
            self.challenges.append(challenge)
            if len(self._tokens) > 1:
                del self._tokens[0]
        return self._tokens[0]


def guarded(inner: Handler, token: str, status: int = 401, demand: str = "Bearer") -> Handler:
    """A server that serves only requests with the token."""

    async def handle(exchange: Exchange) -> None:
        if exchange.heard.headers.get("authorization") == f"Bearer {token}":
            await inner(exchange)
        else:
            await exchange.reply(status, www_authenticate=demand)

    return handle


async def test_the_token_goes_with_every_request_in_its_header_alone() -> None:
    async with (
        serve(guarded(classic(ping=echo), "t-1")) as site,
        Client(http(site.url, token=Tokens("t-1"))) as client,
    ):
        await client.ping()
    assert {heard.verb for heard in site.heard} == {"POST", "GET", "DELETE"}
    assert {heard.headers["authorization"] for heard in site.heard} == {"Bearer t-1"}
    assert {heard.path for heard in site.heard} == {"/mcp"}


async def test_a_challenge_is_put_before_the_provider_and_the_request_is_sent_again() -> None:
    demand = f'Bearer resource_metadata="{METADATA}", scope="read write"'
    tokens = Tokens(None, "t-1")
    async with (
        serve(guarded(modern(tools_list=echo), "t-1", demand=demand)) as site,
        Client(http(site.url, token=tokens)) as client,
    ):
        await client.request("tools/list")
    assert tokens.challenges == [Challenge(401, "read write", METADATA, None)]
    assert site.methods() == ["server/discover", "server/discover", "tools/list"]


async def test_a_shortage_of_scope_is_put_before_the_provider_too() -> None:
    tokens = Tokens("weak", "strong")
    demand = 'Bearer error="insufficient_scope", scope="admin"'
    async with serve(guarded(modern(), "strong", 403, demand)) as site, Client(http(site.url, token=tokens)):
        pass
    assert tokens.challenges == [Challenge(403, "admin", None, "insufficient_scope")]


async def test_a_request_is_tried_three_times_in_all() -> None:
    async with serve(guarded(modern(), "never")) as site:
        with pytest.raises(Unauthorized):
            async with Client(http(site.url, token=Tokens("a", "b", "c", "d", "e"))):
                pass
    assert [heard.headers["authorization"] for heard in site.heard] == ["Bearer a", "Bearer b", "Bearer c"]


@pytest.mark.parametrize("tokens", [None, Tokens(None)], ids=["no provider", "no token"])
async def test_without_a_token_a_challenge_is_an_error_that_says_what_is_wanted(
    tokens: Tokens | None,
) -> None:
    async with serve(guarded(modern(), "x", demand='Bearer scope="read"')) as site:
        with pytest.raises(Unauthorized, match=r"401.*'read'") as caught:
            async with Client(http(site.url, token=tokens)):
                pass
    assert caught.value.challenge == Challenge(401, "read")
    assert isinstance(caught.value, ConnectionLost)
    assert site.methods() == ["server/discover"]


async def test_what_is_forbidden_altogether_is_not_a_question_of_tokens() -> None:
    tokens = Tokens("a", "b")
    async with serve(guarded(modern(), "x", 403, 'Bearer error="access_denied"')) as site:
        with pytest.raises(McpError) as caught:
            async with Client(http(site.url, token=tokens)):
                pass
    assert caught.value.code == 403
    assert tokens.challenges == []


async def test_a_provider_that_fails_spoils_its_request_alone() -> None:
    fails = False

    async def moody(challenge: Challenge | None) -> str:
        if fails:
            raise RuntimeError("no key store")
        return "t"

    async with (
        serve(guarded(modern(tools_list=echo), "t")) as site,
        Client(http(site.url, token=moody)) as client,
    ):
        fails = True
        with pytest.raises(ConnectionLost):
            await client.request("tools/list")
        fails = False
        await client.request("tools/list")


async def test_a_token_that_cannot_stand_in_a_header_is_never_sent_nor_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serve(modern()) as site:
        with pytest.raises(ConnectionLost) as caught:
            async with Client(http(site.url, token=Tokens("secret\r\nx: y"))):
                pass
    assert site.heard == []
    assert "secret" not in caplog.text + str(caught.value)


async def test_a_token_is_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with (
            serve(guarded(classic(ping=echo), "very-secret")) as site,
            Client(http(site.url, token=Tokens("very-secret"))) as client,
        ):
            await client.ping()
    ours = "".join(
        record.getMessage() for record in caplog.records if record.name.startswith("mcp_server_core")
    )
    assert "very-secret" not in ours


# Other places.


def moved(target: str, status: int) -> Handler:
    """A server that sends everybody away."""

    async def handle(exchange: Exchange) -> None:
        await exchange.reply(status, location=target)

    return handle


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_nothing_is_sent_to_another_origin(status: int) -> None:
    async with serve(modern()) as other, serve(moved(other.url, status)) as site:
        with pytest.raises((ConnectionLost, McpError)):
            async with Client(http(site.url, token=Tokens("t"), headers={"X-Key": "k"})):
                pass
    assert other.heard == []


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_within_the_origin_is_followed_as_it_is(status: int) -> None:
    async def moving(exchange: Exchange) -> None:
        if exchange.heard.path == "/mcp":
            await exchange.reply(status, location="/mcp/")
        else:
            await modern()(exchange)

    async with serve(moving) as site, Client(http(site.url, token=Tokens("t"))):
        pass
    assert [(heard.verb, heard.path, heard.method) for heard in site.heard] == [
        ("POST", "/mcp", "server/discover"),
        ("POST", "/mcp/", "server/discover"),
    ]
    assert site.heard[0].body == site.heard[1].body


@pytest.mark.parametrize("status", [301, 302, 303])
async def test_a_redirect_that_may_change_the_request_is_not_followed(status: int) -> None:
    async with serve(moved("/elsewhere", status)) as site:
        with pytest.raises(McpError) as caught:
            async with Client(http(site.url)):
                pass
    assert caught.value.code == status
    assert {heard.path for heard in site.heard} == {"/mcp"}


async def test_redirects_in_a_circle_end() -> None:
    async with serve(moved("/mcp", 307)) as site:
        with pytest.raises(ConnectionLost, match="too often"):
            async with Client(http(site.url)):
                pass


async def test_headers_of_the_users_go_with_every_request() -> None:
    async with serve(classic(ping=echo)) as site, Client(http(site.url, headers={"X-Key": "k"})) as client:
        await client.ping()
    assert keys(site) == {"k"}


async def test_headers_of_the_users_give_way_to_those_of_the_protocol() -> None:
    given = {"ACCEPT": "text/html", "authorization": "Basic x"}
    async with serve(modern()) as site, Client(http(site.url, token=Tokens("t"), headers=given)):
        pass
    (heard,) = site.heard
    assert heard.names.count("accept") == heard.names.count("authorization") == 1
    assert heard.headers["accept"] == "application/json, text/event-stream"
    assert heard.headers["authorization"] == "Bearer t"


def keys(site: Site) -> set[str | None]:
    """What the header of the user's said."""
    return {heard.headers.get("x-key") for heard in site.heard}


CHALLENGES = {
    "": Challenge(401),
    "Basic realm=x": Challenge(401),
    "Bearer": Challenge(401),
    'bearer scope="a b"': Challenge(401, "a b"),
    "Bearer error=invalid_token": Challenge(401, error="invalid_token"),
    'Basic realm="Bearer", Bearer scope="a"': Challenge(401, "a"),
    'Bearer realm="say \\"hi\\", scope=no", scope="yes"': Challenge(401, "yes"),
    f'Bearer resource_metadata="{METADATA}"': Challenge(401, None, METADATA),
}


@pytest.mark.parametrize(("header", "challenge"), CHALLENGES.items())
def test_a_challenge_is_read(header: str, challenge: Challenge) -> None:
    assert read_challenge(401, header) == challenge
