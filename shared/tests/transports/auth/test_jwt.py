"""Access tokens: which are let in, which are not, and what their bearers are told."""

import hmac
import json
from hashlib import sha256
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_core.transports.auth.access import Refused
from mcp_server_core.transports.auth.jwt import MAX_TOKEN, REMEMBERED, JwtAuthorizer

from .issuing import METADATA_URL, NOW, RESOURCE, Signer, authorization_server, bearer, compact

pytestmark = pytest.mark.anyio

MISSING = f'Bearer resource_metadata="{METADATA_URL}", scope="mcp:read"'
SIGNATURE = "The signature of the token is not valid"
MALFORMED = "The token is malformed"
UNACCEPTED = "The token is signed in a way that is not accepted"


def invalid(reason: str) -> str:
    return f'{MISSING}, error="invalid_token", error_description="{reason}"'


async def refusal(authorizer: JwtAuthorizer, authorization: bytes | None) -> tuple[int, str]:
    with pytest.raises(Refused) as caught:
        await authorizer.check(authorization)
    return caught.value.status, caught.value.challenge


@pytest.mark.parametrize(
    "algorithm", ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
)
async def test_a_good_token_names_its_subject(algorithm: str) -> None:
    signer = Signer(algorithm=algorithm)
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        token = signer.sign(server.claims())
        assert await authorizer.check(bearer(token)) == f"{server.url}|alice"


async def test_a_client_that_acts_for_itself_is_nobodys_subject() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        client = await authorizer.check(bearer(signer.sign(server.claims(sub=None, client_id="alice"))))
        assert client == f"{server.url}#client|alice"


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        b"",
        b"Bearer",
        b"Bearer ",
        b"Basic YWxpY2U6c2VjcmV0",
        b"Bearer a b",
        b"Bearer \xff\xfe",
        b"Bearer a,b",
    ],
)
async def test_a_request_without_a_bearer_token_is_told_where_to_get_one(authorization: bytes | None) -> None:
    async with authorization_server() as server, server.authorizer() as authorizer:
        assert await refusal(authorizer, authorization) == (401, MISSING)
        assert server.asked == []


@pytest.mark.parametrize("scheme", [b"bearer ", b"BEARER ", b"Bearer   "])
async def test_the_case_of_the_scheme_does_not_matter(scheme: bytes) -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        assert await authorizer.check(scheme + signer.sign(server.claims()).encode())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"iss": "https://evil.example"}, "The token is from another issuer"),
        ({"iss": None}, "The token is from another issuer"),
        ({"iss": ["x"]}, "The token is from another issuer"),
        ({"aud": "https://other.example/mcp"}, "The token is for another resource"),
        ({"aud": RESOURCE + "/deeper"}, "The token is for another resource"),
        ({"aud": RESOURCE + "#part"}, "The token is for another resource"),
        ({"aud": "https://mcp.example.com\t/mcp"}, "The token is for another resource"),
        ({"aud": "https://[/mcp"}, "The token is for another resource"),
        ({"aud": []}, "The token is for another resource"),
        ({"aud": [7, None]}, "The token is for another resource"),
        ({"aud": {"a": RESOURCE}}, "The token is for another resource"),
        ({"aud": None}, "The token is for another resource"),
        ({"exp": NOW - 1}, "The token has expired"),
        ({"exp": NOW}, "The token has expired"),
        ({"exp": None}, "The token has no exp"),
        ({"exp": "never"}, "The token needs exp to be a time"),
        ({"exp": True}, "The token needs exp to be a time"),
        ({"nbf": NOW + 31}, "The token is not valid yet"),
        ({"nbf": 10**400}, "The token is not valid yet"),
        ({"nbf": "later"}, "The token needs nbf to be a time"),
        ({"iat": NOW + 31}, "The token is not valid yet"),
        ({"sub": None}, "The token names nobody"),
        ({"sub": ""}, "The token names nobody"),
        ({"sub": 7, "client_id": "x"}, "The token names nobody"),
    ],
)
async def test_a_token_that_says_the_wrong_thing_is_refused(changes: dict[str, Any], reason: str) -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        token = signer.sign(server.claims(**changes))
        assert await refusal(authorizer, bearer(token)) == (401, invalid(reason))


@pytest.mark.parametrize("name", ["nbf", "iat"])
async def test_the_clock_of_the_issuer_may_be_a_little_ahead(name: str) -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        assert await authorizer.check(bearer(signer.sign(server.claims(**{name: NOW + 30}))))


@pytest.mark.parametrize(
    "audience",
    [
        RESOURCE,
        RESOURCE + "/",
        "HTTPS://MCP.Example.COM/mcp",
        "https://mcp.example.com:443/mcp",
        ["https://other.example", RESOURCE],
    ],
)
async def test_an_audience_may_be_spelled_in_several_ways(audience: Any) -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        assert await authorizer.check(bearer(signer.sign(server.claims(aud=audience))))


async def test_an_audience_of_its_own_replaces_the_address() -> None:
    signer = Signer()
    async with (
        authorization_server(signer) as server,
        server.authorizer(audience="api://notes") as authorizer,
    ):
        assert await authorizer.check(bearer(signer.sign(server.claims(aud="api://notes"))))
        assert await refusal(authorizer, bearer(signer.sign(server.claims()))) == (
            401,
            invalid("The token is for another resource"),
        )


@pytest.mark.parametrize("algorithm", ["none", "None", "HS256", "HS512", "ES256K", "", "RS1"])
async def test_an_algorithm_that_is_not_ours_is_refused(algorithm: str) -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        head = {"alg": algorithm, "kid": "one"}
        for signature in (b"", b"signature"):
            token = compact(head, server.claims(), lambda _, signature=signature: signature)
            assert (await refusal(authorizer, bearer(token)))[0] == 401


async def test_a_public_key_is_no_secret_to_sign_with() -> None:
    signer = Signer(algorithm="RS256")
    pem = signer.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        head = {"alg": "HS256", "kid": "one"}
        token = compact(head, server.claims(), lambda data: hmac.digest(pem, data, sha256))
        assert await refusal(authorizer, bearer(token)) == (401, invalid(UNACCEPTED))


async def test_a_key_verifies_only_the_algorithm_it_is_published_for() -> None:
    signer = Signer(algorithm="PS256")
    async with authorization_server() as server, server.authorizer() as authorizer:
        server.publish_raw([{**signer.jwk, "alg": "RS256"}])
        assert await refusal(authorizer, bearer(signer.sign(server.claims()))) == (
            401,
            invalid("The token is signed with an unknown key"),
        )


async def test_the_operator_can_accept_fewer_algorithms() -> None:
    signer = Signer(algorithm="RS256")
    async with authorization_server(signer) as server, server.authorizer(algorithms=["ES256"]) as authorizer:
        assert await refusal(authorizer, bearer(signer.sign(server.claims()))) == (401, invalid(UNACCEPTED))


async def test_a_signature_of_somebody_else_is_refused() -> None:
    async with authorization_server(Signer("one")) as server, server.authorizer() as authorizer:
        forged = Signer("two").sign(server.claims(), kid="one")
        assert await refusal(authorizer, bearer(forged)) == (401, invalid(SIGNATURE))


async def test_a_changed_payload_is_refused() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        head, _, signature = signer.sign(server.claims()).split(".")
        _, payload, _ = signer.sign(server.claims(sub="bob")).split(".")
        assert await refusal(authorizer, bearer(f"{head}.{payload}.{signature}")) == (401, invalid(SIGNATURE))


@pytest.mark.parametrize("kept", [1, 10, 40, 100, -40, -10, -1])
async def test_a_truncated_token_is_refused(kept: int) -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        status, _ = await refusal(authorizer, bearer(signer.sign(server.claims())[:kept]))
        assert status == 401


@pytest.mark.parametrize("size", [MAX_TOKEN + 1, 1_000_000])
async def test_a_token_that_is_too_long_is_not_looked_at(size: int) -> None:
    async with authorization_server() as server, server.authorizer() as authorizer:
        assert await refusal(authorizer, bearer("a" * size)) == (401, invalid("The token is too long"))
        assert server.asked == []


@pytest.mark.parametrize(
    "header", [{"crit": ["exp"]}, {"crit": []}, {"kid": 7}, {"kid": ["one"]}, {"alg": 7}, {"alg": ["ES256"]}]
)
async def test_a_header_that_is_out_of_order_is_malformed(header: dict[str, Any]) -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        token = signer.sign(server.claims(), **header)
        assert await refusal(authorizer, bearer(token)) == (401, invalid(MALFORMED))


@pytest.mark.parametrize("claims", [[], "text", 7, None, [[[]]]])
async def test_claims_that_are_no_object_are_malformed(claims: Any) -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        assert await refusal(authorizer, bearer(signer.sign(claims))) == (401, invalid(MALFORMED))


async def test_claims_that_are_nested_without_end_are_malformed() -> None:
    signer = Signer()
    deep: Any = json.loads("[" * 500 + "]" * 500)
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        token = signer.sign(server.claims(more=deep))
        assert await refusal(authorizer, bearer(token)) == (401, invalid(MALFORMED))


@pytest.mark.parametrize(
    "granted",
    [
        {"scope": "mcp:read"},
        {"scope": "openid mcp"},
        {"scope": "mcp:*"},
        {"scope": None, "scp": ["mcp:read", 7]},
        {"scope": None, "scp": "other mcp:read"},
        {"scope": ["mcp"]},
    ],
)
async def test_a_scope_or_a_broader_one_is_enough(granted: dict[str, Any]) -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        assert await authorizer.check(bearer(signer.sign(server.claims(**granted))))


@pytest.mark.parametrize(
    "granted",
    [
        "",
        "mcp:write",
        "mcp:rea",
        "mcp:reader",
        "mc",
        "*",
        ":*",
        ":",
        "MCP:READ",
        "mcp:read:own",
        "mcpx:*",
        None,
        7,
    ],
)
async def test_a_token_without_the_scope_is_told_which_it_needs(granted: Any) -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        token = signer.sign(server.claims(scope=granted))
        lacking = f'{MISSING}, error="insufficient_scope", error_description="The token lacks a scope"'
        assert await refusal(authorizer, bearer(token)) == (403, lacking)


async def test_a_challenge_names_every_scope_at_once_but_never_offline_access() -> None:
    signer = Signer()
    scopes = ["mcp:read", "offline_access", "mcp:write", "mcp:read"]
    async with authorization_server(signer) as server, server.authorizer(scopes=scopes) as authorizer:
        status, challenge = await refusal(authorizer, bearer(signer.sign(server.claims(scope="mcp:read"))))
        assert (status, 'scope="mcp:read mcp:write"' in challenge) == (403, True)
        assert await authorizer.check(bearer(signer.sign(server.claims())))
        assert not any(b"offline_access" in body for body in authorizer.documents().values())


async def test_a_server_that_needs_no_scope_names_none() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer(scopes=[]) as authorizer:
        assert await authorizer.check(bearer(signer.sign(server.claims(scope=None))))
        assert await refusal(authorizer, None) == (401, f'Bearer resource_metadata="{METADATA_URL}"')


async def test_nothing_of_a_refused_token_is_repeated() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        changes = {"sub": "secret-name", "aud": "https://secret-name.example"}
        token = signer.sign(server.claims(**changes), kid="secret-name")
        with pytest.raises(Refused) as caught:
            await authorizer.check(bearer(token))
        told = f"{caught.value.challenge} {caught.value!r} {caught.value.__context__!r}"
        assert "secret-name" not in told
        assert not any(part in told for part in token.split("."))


async def test_a_token_that_was_good_is_refused_once_it_has_expired() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        token = bearer(signer.sign(server.claims(exp=NOW + 60)))
        assert await authorizer.check(token) == await authorizer.check(token)
        server.clock.time = NOW + 60
        assert await refusal(authorizer, token) == (401, invalid("The token has expired"))


async def test_no_more_than_so_many_good_tokens_are_remembered() -> None:
    signer = Signer()
    async with authorization_server(signer) as server, server.authorizer() as authorizer:
        for number in range(REMEMBERED + 10):
            await authorizer.check(bearer(signer.sign(server.claims(sub=f"user{number}"))))
        assert len(authorizer._verified) == REMEMBERED


@pytest.mark.parametrize("algorithms", [[], ["none"], ["HS256"], ["ES256", "HS256"]])
def test_symmetric_algorithms_cannot_be_asked_for(algorithms: list[str]) -> None:
    with pytest.raises(ValueError, match="tokens can be signed with"):
        JwtAuthorizer("https://issuer.example", resource=RESOURCE, algorithms=algorithms)


@pytest.mark.parametrize("scope", ["two words", 'quo"te', "back\\slash", "", "é", "line\n"])
def test_a_scope_that_cannot_be_written_is_an_error_at_once(scope: str) -> None:
    with pytest.raises(ValueError, match="is not a scope"):
        JwtAuthorizer("https://issuer.example", resource=RESOURCE, scopes=[scope])


SEGMENTS = st.text("abcdefgABCDEFG0123456789-_=", max_size=80)
TOKENS = st.builds(lambda *parts: b"Bearer " + ".".join(parts).encode(), SEGMENTS, SEGMENTS, SEGMENTS)
HEADS = st.dictionaries(
    st.sampled_from(["alg", "kid", "crit", "b64", "typ", "jwk", "x5c"]),
    st.sampled_from(["ES256", "RS256", "EdDSA", "none", "one"]) | st.none() | st.integers() | st.booleans(),
)


def unsigned(head: dict[str, Any], claims: dict[str, str], signature: bytes) -> bytes:
    return bearer(compact(head, claims, lambda _: signature))


SIGNED = st.builds(
    unsigned,
    HEADS | st.just({"alg": "ES256", "kid": "one"}) | st.just({"alg": "RS256", "kid": "rsa"}),
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3),
    st.binary(max_size=80),
)


@given(header=st.binary(max_size=200) | st.binary(max_size=60).map(b"Bearer ".__add__) | TOKENS | SIGNED)
async def test_whatever_a_client_sends_is_refused_in_order(header: bytes, anyio_backend: str) -> None:
    async with (
        authorization_server(Signer(), Signer("rsa", "RS256")) as server,
        server.authorizer() as authorizer,
    ):
        status, challenge = await refusal(authorizer, header)
        assert status == 401
        assert challenge.startswith(MISSING)
