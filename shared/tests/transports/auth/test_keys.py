"""Keys of an issuer: found, fetched, kept, replaced, and missed."""

from typing import Any

import anyio
import pytest
from mcp_server_core.transports.auth.access import Refused, Unavailable
from mcp_server_core.transports.auth.issuer import MAX_DOCUMENT, discovery_urls
from mcp_server_core.transports.auth.jwt import JwtAuthorizer
from mcp_server_core.transports.auth.keyring import LIFETIME, PAUSE, RETRY

from .issuing import (
    JWKS,
    RESOURCE,
    AuthorizationServer,
    Signer,
    answer,
    authorization_server,
    bearer,
    key_set,
)

pytestmark = pytest.mark.anyio

OAUTH = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"


def token(server: AuthorizationServer, signer: Signer, **header: Any) -> bytes:
    return bearer(signer.sign(server.claims(exp=server.clock.time + 7200), **header))


async def test_keys_are_fetched_when_the_first_token_comes_and_then_kept() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        assert server.asked == []
        for _ in range(3):
            await authorizer.check(token(server, signer))
        assert server.asked == [JWKS]


async def test_a_new_key_is_found_when_a_token_names_it() -> None:
    old, new = Signer("old"), Signer("new")
    async with authorization_server(old) as server, server.authorizer() as authorizer:
        await authorizer.check(token(server, old))
        server.publish(old, new)
        server.clock.time += PAUSE
        assert await authorizer.check(token(server, new))


async def test_unknown_keys_do_not_make_the_server_ask_again_and_again() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        for number in range(20):
            with pytest.raises(Refused):
                await authorizer.check(token(server, signer, kid=f"unknown{number}"))
        assert server.asked == [JWKS]
        server.clock.time += PAUSE
        for number in range(20):
            with pytest.raises(Refused):
                await authorizer.check(token(server, signer, kid=f"unknown{number}"))
        assert server.asked == [JWKS, JWKS]


async def test_a_key_that_was_taken_out_is_noticed_even_for_a_token_that_was_good() -> None:
    old, new = Signer("old"), Signer("new")
    async with authorization_server(old) as server, server.authorizer() as authorizer:
        held = token(server, old)
        await authorizer.check(held)
        server.publish(new)
        server.clock.time += LIFETIME - 1
        assert await authorizer.check(held)
        server.clock.time += 1
        with pytest.raises(Refused, match="unknown key"):
            await authorizer.check(held)


async def test_old_keys_serve_on_while_the_issuer_does_not_answer() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        await authorizer.check(token(server, signer))
        server.answers[JWKS] = answer(b"", "500 Oops")
        server.clock.time += LIFETIME
        for _ in range(3):
            assert await authorizer.check(token(server, signer))
        assert server.asked == [JWKS, JWKS]


async def test_old_keys_serve_on_while_somebody_waits_for_new_ones() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        await authorizer.check(token(server, signer))
        server.clock.time += LIFETIME
        server.gate, server.was_asked = anyio.Event(), anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(authorizer.check, token(server, signer))
            await server.was_asked.wait()
            assert await authorizer.check(token(server, signer))
            server.gate.set()


async def test_many_requests_at_once_ask_one_question() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        server.gate = anyio.Event()
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(authorizer.check, token(server, signer))
            await server.was_asked.wait()
            await anyio.wait_all_tasks_blocked()
            server.gate.set()
        assert server.asked == [JWKS]


async def test_a_request_that_is_given_up_does_not_spoil_the_next_one() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        server.gate = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(authorizer.check, token(server, signer))
            await server.was_asked.wait()
            tasks.cancel_scope.cancel()
        server.gate.set()
        assert await authorizer.check(token(server, signer))


@pytest.mark.parametrize(
    "reply",
    [
        answer(b"", "500 Oops"),
        answer(b"", "302 Found", "Location: /elsewhere"),
        answer(b"not json"),
        answer([]),
        answer({"keys": []}),
        answer({"keys": {}}),
        answer({"keys": [7, {}, {"kty": "oct", "k": "c2VjcmV0"}, {"kty": "RSA", "n": 7, "e": "AQAB"}]}),
        answer({"keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}, {"kty": ["RSA"]}]}),
        answer(b" " * MAX_DOCUMENT + b"{}"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",
        b"garbage\r\n\r\n",
        b"",
    ],
)
async def test_without_any_key_nobody_can_be_judged(reply: bytes) -> None:
    signer = Signer()
    async with authorization_server() as server, server.authorizer() as authorizer:
        server.answers = {JWKS: reply, "/elsewhere": key_set(signer)}
        with pytest.raises(Unavailable):
            await authorizer.check(token(server, signer))
        assert server.asked == [JWKS]


# On trio, httpx leaves generators behind when an answer is not read to its end, and says so in a warning.
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_answer_that_does_not_say_its_size_is_not_read_beyond_the_limit() -> None:
    signer = Signer()
    async with authorization_server() as server, server.authorizer() as authorizer:
        server.answers[JWKS] = (
            b"HTTP/1.1 200 OK\r\n\r\n" + b" " * MAX_DOCUMENT + key_set(signer).split(b"\r\n")[-1]
        )
        with pytest.raises(Unavailable):
            await authorizer.check(token(server, signer))


async def test_an_issuer_that_is_down_leaves_nobody_to_judge() -> None:
    signer = Signer()
    async with authorization_server(signer) as server:
        pass
    async with server.authorizer() as authorizer:
        with pytest.raises(Unavailable):
            await authorizer.check(token(server, signer))


async def test_an_issuer_that_is_slow_is_not_waited_for() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer(patience=0.1) as authorizer:
        server.gate = anyio.Event()
        with pytest.raises(Unavailable):
            await authorizer.check(token(server, signer))


async def test_an_issuer_that_comes_back_is_asked_after_a_moment() -> None:
    signer = Signer()
    async with authorization_server() as server, server.authorizer() as authorizer:
        for _ in range(5):
            with pytest.raises(Unavailable):
                await authorizer.check(token(server, signer))
        assert server.asked == [JWKS]
        server.publish(signer)
        server.clock.time += RETRY
        assert await authorizer.check(token(server, signer))


async def test_a_clock_that_is_set_back_does_not_keep_keys_for_longer() -> None:
    old, new = Signer("old"), Signer("new")
    async with authorization_server(old) as server, server.authorizer() as authorizer:
        held = token(server, old)
        await authorizer.check(held)
        server.publish(new)
        server.clock.time -= 10
        with pytest.raises(Refused, match="unknown key"):
            await authorizer.check(held)


async def test_the_right_key_is_found_among_many() -> None:
    signers = [Signer(f"key{number}") for number in range(200)]
    async with authorization_server(*signers) as server, server.authorizer() as authorizer:
        for signer in signers[::50]:
            assert await authorizer.check(token(server, signer))


async def test_a_token_without_a_key_id_is_good_when_only_one_key_can_be_meant() -> None:
    one, other = Signer(None), Signer("two", "EdDSA")
    async with authorization_server(one, other) as server, server.authorizer() as authorizer:
        assert await authorizer.check(token(server, one))


async def test_a_token_without_a_key_id_is_refused_when_several_keys_can_be_meant() -> None:
    one, two = Signer("one"), Signer("two")
    async with authorization_server(one, two) as server, server.authorizer() as authorizer:
        with pytest.raises(Refused, match="unknown key"):
            await authorizer.check(token(server, one, kid=None))


@pytest.mark.parametrize("spoiled", [{"use": "enc"}, {"d": "AQAB"}, {"alg": "RSA-OAEP"}, {"alg": 7}])
async def test_a_key_that_is_not_for_signing_verifies_nothing(spoiled: dict[str, Any]) -> None:
    signer, good = Signer(), Signer("good")
    async with authorization_server() as server, server.authorizer() as authorizer:
        server.publish_raw([{**signer.jwk, **spoiled}, good.jwk])
        with pytest.raises(Refused, match="unknown key"):
            await authorizer.check(token(server, signer))


async def test_a_short_rsa_key_verifies_nothing() -> None:
    short, good = Signer("short", "RS256", bits=1024), Signer("good")
    async with authorization_server(short, good) as server, server.authorizer() as authorizer:
        forged = good.sign(server.claims(), alg="RS256", kid="short")
        with pytest.raises(Refused, match="unknown key"):
            await authorizer.check(bearer(forged))


@pytest.mark.parametrize("place", [OAUTH, OPENID])
async def test_keys_are_discovered_through_either_metadata(place: str) -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer(jwks_url=None) as authorizer:
        server.answers[place] = answer({"issuer": server.url, "jwks_uri": server.url + JWKS})
        assert await authorizer.check(token(server, signer))


async def test_a_discovered_address_is_kept_until_it_fails() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer(jwks_url=None) as authorizer:
        server.answers[OAUTH] = answer({"issuer": server.url, "jwks_uri": server.url + JWKS})
        await authorizer.check(token(server, signer))
        server.clock.time += LIFETIME
        await authorizer.check(token(server, signer))
        del server.answers[JWKS]
        server.answers[OAUTH] = answer({"issuer": server.url, "jwks_uri": server.url + "/moved"})
        server.answers["/moved"] = key_set(signer)
        for _ in range(2):
            server.clock.time += LIFETIME
            await authorizer.check(token(server, signer))
        assert server.asked == [OAUTH, JWKS, JWKS, JWKS, OAUTH, "/moved"]


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"issuer": "SELF/"},
        {"issuer": None},
        {"jwks_uri": None},
        {"jwks_uri": "http://issuer.example/keys"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "https://["},
    ],
)
async def test_metadata_that_cannot_be_trusted_is_discarded(metadata: dict[str, Any]) -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer(jwks_url=None) as authorizer:
        changed = {name: text and text.replace("SELF", server.url) for name, text in metadata.items()}
        server.answers[OAUTH] = answer({"issuer": server.url, "jwks_uri": server.url + JWKS, **changed})
        with pytest.raises(Unavailable):
            await authorizer.check(token(server, signer))
        assert server.asked == [OAUTH, OPENID]


@pytest.mark.parametrize("issuer", ["https://a.example/tenant", "https://a.example/tenant/"])
def test_metadata_of_an_issuer_with_a_path_is_looked_for_in_three_places(issuer: str) -> None:
    assert discovery_urls(issuer) == (
        "https://a.example/.well-known/oauth-authorization-server/tenant",
        "https://a.example/.well-known/openid-configuration/tenant",
        "https://a.example/tenant/.well-known/openid-configuration",
    )


@pytest.mark.parametrize("issuer", ["https://a.example", "https://a.example/"])
def test_metadata_of_an_issuer_without_a_path_is_looked_for_in_two_places(issuer: str) -> None:
    assert discovery_urls(issuer) == (f"https://a.example{OAUTH}", f"https://a.example{OPENID}")


UNSAFE = [
    "http://a.example",
    "ftp://a.example",
    "a.example",
    "",
    "https://",
    "https://u:p@a.example",
    "https://a\n",
]


@pytest.mark.parametrize("issuer", [*UNSAFE, "https://a.example?x", "https://a.example#x"])
def test_an_issuer_is_reached_over_https(issuer: str) -> None:
    with pytest.raises(ValueError, match="is not an issuer"):
        JwtAuthorizer(issuer, resource=RESOURCE)


@pytest.mark.parametrize("url", UNSAFE)
def test_keys_are_fetched_over_https(url: str) -> None:
    with pytest.raises(ValueError, match="is not an address for keys"):
        JwtAuthorizer("https://a.example", resource=RESOURCE, jwks_url=url)
