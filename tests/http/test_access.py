"""Tokens: who has none gets nowhere, who has one is told apart from others, and nobody else ever sees it."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from .process import HttpServer, Response, http, initialize, open_session, ping, tool_call, with_capabilities

ALICE, ALICE_AGAIN, BOB = "alice-secret-0123456789", "alice-spare-0123456789", "bob-secret-0123456789abc"
PUBLIC = "http://mcp.test:9000/mcp"
Field = tuple[str, str]


def bearer(token: str) -> Field:
    return ("Authorization", f"Bearer {token}")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server that knows two people."""
    path = tmp_path_factory.mktemp("tokens") / "tokens"
    path.write_text(f"# who may come in\nalice:{ALICE}\nalice:{ALICE_AGAIN}\n\nbob:{BOB}\n")
    path.chmod(0o600)
    env = {"MCP_TOKEN": "unused-secret-0123456789"}
    with HttpServer("--token-file", str(path), "--log-level", "debug", env=env) as process:
        yield process


# Static tokens.


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong-secret-0123456789",
        f"Bearer {ALICE}x",
        f"Bearer {ALICE[:-1]}",
        f"Bearer  {ALICE} {BOB}",
        f"Bearer {ALICE}, Bearer {BOB}",
        f"Basic {ALICE}",
        ALICE,
        f"Bearer alice:{ALICE}",
        "Bearer " + "x" * 20_000,
        "Bearer \xff\xfe",
    ],
)
def test_without_a_good_token_the_answer_is_401_with_a_challenge(
    guarded: HttpServer, value: str | None
) -> None:
    message, fields = tool_call("echo", text="hello")
    answer = guarded.ask(message, [*fields, *([] if value is None else [("Authorization", value)])])
    assert (answer.status, answer.body) == (401, b"")
    assert answer.fields["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("token", [ALICE, ALICE_AGAIN, BOB])
def test_each_token_of_the_file_lets_in(guarded: HttpServer, token: str) -> None:
    assert guarded.call("echo", bearer(token), text="hello") == "hello"


@pytest.mark.parametrize(
    ("verb", "path"),
    [("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/sse"), ("POST", "/messages")],
)
def test_every_way_in_asks_for_the_token(guarded: HttpServer, verb: str, path: str) -> None:
    assert guarded.ask(None, [("Accept", "text/event-stream")], verb=verb, path=path).status == 401


def test_a_body_without_a_token_is_not_even_read(guarded: HttpServer) -> None:
    with guarded.connect() as wire:
        wire.send(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9000000\r\n\r\n")
        answer = wire.read()
        assert (answer.status, wire.read_rest()) == (401, b"")


def test_a_token_in_the_query_means_nothing(guarded: HttpServer) -> None:
    #
    message, fields = tool_call("echo", text="hello")
    for name in ("access_token", "token"):
        assert guarded.ask(message, fields, path=f"/mcp?{name}={ALICE}").status == 401


def test_the_second_of_two_tokens_does_not_count(guarded: HttpServer) -> None:
    message, fields = tool_call("echo", text="hello")
    assert guarded.ask(message, [*fields, bearer("wrong-secret-0123456789"), bearer(ALICE)]).status == 401


def test_health_needs_no_token(guarded: HttpServer) -> None:
    assert guarded.ask(None, verb="GET", path="/health").status == 200


# What one person has, another one cannot use.


def test_a_session_of_somebody_else_is_not_there(guarded: HttpServer) -> None:
    # D-8, SEC-9
    session = open_session(guarded, bearer(ALICE))
    assert guarded.ask(ping(), [*session, bearer(BOB)]).status == 404
    assert guarded.ask(ping(), session).status == 401
    assert guarded.ask(ping(), [*session, bearer(ALICE)]).json()["result"] == {}


@pytest.mark.parametrize("verb", ["GET", "DELETE"])
def test_the_streams_of_somebody_else_cannot_be_read_or_ended(guarded: HttpServer, verb: str) -> None:
    session = open_session(guarded, bearer(ALICE))
    stolen = [*session, bearer(BOB), ("Accept", "text/event-stream"), ("Last-Event-ID", "0-0")]
    assert guarded.ask(None, stolen, verb=verb).status == 404
    assert guarded.ask(ping(), [*session, bearer(ALICE)]).status == 200


def test_another_token_of_the_same_person_goes_on_with_the_session(guarded: HttpServer) -> None:
    session = open_session(guarded, bearer(ALICE))
    assert guarded.ask(ping(), [*session, bearer(ALICE_AGAIN)]).status == 200


def test_the_old_stream_of_somebody_else_cannot_be_posted_to(guarded: HttpServer) -> None:
    with guarded.connect() as wire:
        wire.send(http(None, [bearer(ALICE), ("Accept", "text/event-stream")], verb="GET", path="/sse"))
        address = wire.read_until(b"\n\n").rpartition(b"data: ")[2].strip().decode()
        if not address:
            address = wire.read_until(b"\n\n").rpartition(b"data: ")[2].strip().decode()
        assert guarded.ask(initialize(), [bearer(BOB)], path=address).status == 404
        assert guarded.ask(initialize(), [bearer(ALICE)], path=address).status == 202
        assert wire.read_event()["result"]["serverInfo"]["name"] == "host"


def question(server: HttpServer, *fields: Field) -> dict[str, Any]:
    """Let a tool ask; what the client gets to answer."""
    message, mirrors = tool_call("ask")
    answer = server.ask(with_capabilities(message, elicitation={}), [*mirrors, *fields])
    assert answer.json()["result"]["resultType"] == "input_required", answer
    return answer.json()["result"]


def answer_to(server: HttpServer, asked: dict[str, Any], *fields: Field) -> Response:
    message, mirrors = tool_call("ask")
    message = with_capabilities(message, elicitation={})
    answers = {key: {"action": "accept", "content": {"yes": True}} for key in asked["inputRequests"]}
    given = {"inputResponses": answers, "requestState": asked["requestState"]}
    return server.ask({**message, "params": {**message["params"], **given}}, [*mirrors, *fields])


def test_the_request_state_of_somebody_else_is_refused(guarded: HttpServer) -> None:
    asked = question(guarded, bearer(ALICE))
    assert answer_to(guarded, asked, bearer(BOB)).json()["error"]["code"] == -32602
    assert "yes, says" in answer_to(guarded, asked, bearer(ALICE)).body.decode()


# Nobody else sees the token.


def test_a_handler_sees_no_token(guarded: HttpServer) -> None:
    seen = guarded.call("look_around", bearer(ALICE))
    assert ALICE not in seen
    assert "unused-secret" not in seen


def test_the_token_of_the_environment_is_gone_before_handlers_run() -> None:
    with HttpServer(env={"MCP_TOKEN": ALICE}) as process:
        seen = process.call("look_around", bearer(ALICE))
        assert (ALICE in seen, "MCP_TOKEN" in json.loads(seen)["environment"]) == (False, False)


def test_standard_error_never_holds_a_token(guarded: HttpServer) -> None:
    guarded.call("echo", bearer(BOB), text="hello")
    guarded.ask(*tool_call("echo", bearer("wrong-secret-0123456789"), text="hello"))
    guarded.ask(None, [bearer(ALICE)], verb="GET", path=f"/mcp?token={ALICE}")
    guarded.ask(*tool_call("break_down", bearer(BOB)))
    said = guarded.hear("a secret at")
    assert [word for word in (ALICE, ALICE_AGAIN, BOB, "wrong-secret", "unused-secret") if word in said] == []


@pytest.mark.parametrize(
    "text", ["short", "", "alice:short", f"alice:{ALICE}\nbob:{ALICE}", "a b:0123456789abcdef0"]
)
def test_a_file_with_bad_tokens_is_refused_without_showing_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(AssertionError) as refused:
        HttpServer("--token-file", str(path))
    said = str(refused.value)
    assert str(path) in said
    assert "Traceback" not in said
    assert [word for word in (ALICE, "0123456789abcdef0") if word in said] == []


# OAuth.


class Issuer:
    """An authorization server, as far as a resource server sees one: its keys."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        public = json.loads(ECAlgorithm.to_jwk(self.key.public_key()))
        document = json.dumps({"keys": [{**public, "kid": "one", "alg": "ES256", "use": "sig"}]}).encode()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if self.path == "/keys" else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(document)))
                self.end_headers()
                self.wfile.write(document)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    def token(self, **claims: Any) -> str:
        """A token that is good, but for what the claims change; None takes a claim away."""
        now = int(time.time())
        good = {
            "iss": self.url,
            "aud": PUBLIC,
            "sub": "alice",
            "exp": now + 300,
            "iat": now,
            "scope": "mcp:use",
        }
        kept = {name: value for name, value in {**good, **claims}.items() if value is not None}
        return jwt.encode(kept, self.key, "ES256", headers={"kid": "one"})

    def close(self) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    yield made
    made.close()


@pytest.fixture(scope="module")
def resource(issuer: Issuer) -> Iterator[HttpServer]:
    """A server that lets in who has a token of the issuer."""
    keys = ("--oauth-issuer", issuer.url, "--oauth-jwks", f"{issuer.url}/keys")
    scope = ("--oauth-scope", "mcp:use", "--public-url", PUBLIC)
    with HttpServer(*keys, *scope, "--port", str(free_port())) as process:
        yield process


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_good_token_of_the_issuer_lets_in(resource: HttpServer, issuer: Issuer) -> None:
    assert resource.call("echo", bearer(issuer.token()), text="hello") == "hello"


def test_without_a_token_the_challenge_leads_to_the_metadata(resource: HttpServer) -> None:
    #
    challenge = resource.ask(*tool_call("echo", text="hello")).fields["www-authenticate"]
    assert 'resource_metadata="http://mcp.test:9000/.well-known/oauth-protected-resource/mcp"' in challenge
    assert 'scope="mcp:use"' in challenge


@pytest.mark.parametrize(
    "path", ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]
)
def test_the_metadata_is_there_for_everybody(resource: HttpServer, issuer: Issuer, path: str) -> None:
    #
    answer = resource.ask(
        None, [("Origin", "https://any.example.com")], verb="GET", path=path, host="mcp.test:9000"
    )
    assert (answer.status, answer.fields["access-control-allow-origin"]) == (200, "*")
    assert answer.json()["resource"] == PUBLIC
    assert answer.json()["authorization_servers"] == [issuer.url]


def test_the_metadata_is_not_there_under_a_foreign_name(resource: HttpServer) -> None:
    path = "/.well-known/oauth-protected-resource"
    assert resource.ask(None, verb="GET", path=path, host="evil.com").status == 403


BAD_CLAIMS: list[dict[str, Any]] = [
    {"aud": "http://other.test/mcp"},
    {"aud": None},
    {"aud": []},
    {"aud": f"{PUBLIC}/more"},
    {"iss": "http://other.test"},
    {"iss": None},
    {"exp": 1},
    {"exp": None},
    {"nbf": 4_000_000_000},
    {"sub": None},
]


@pytest.mark.parametrize("claims", BAD_CLAIMS, ids=str)
def test_a_token_that_is_not_for_us_is_refused(
    resource: HttpServer, issuer: Issuer, claims: dict[str, Any]
) -> None:
    #
    answer = resource.ask(*tool_call("echo", bearer(issuer.token(**claims)), text="hello"))
    assert answer.status == 401
    assert 'error="invalid_token"' in answer.fields["www-authenticate"]


def test_a_token_with_another_signature_is_refused(resource: HttpServer, issuer: Issuer) -> None:
    head, body, signature = issuer.token().split(".")
    unsigned = jwt.encode({"sub": "alice"}, "", "none").split(".")[0]
    mixed = signature[:-8] + ("A" * 8 if not signature.endswith("A" * 8) else "B" * 8)
    for token in (f"{head}.{body}.{mixed}", f"{head}.{body}.", f"{unsigned}.{body}.", f"{head}.{body}"):
        assert resource.ask(*tool_call("echo", bearer(token), text="hello")).status == 401


@pytest.mark.parametrize("scope", [None, "", "mcp:other", "mcp:used"])
def test_a_token_without_the_scope_is_not_enough(
    resource: HttpServer, issuer: Issuer, scope: str | None
) -> None:
    #
    answer = resource.ask(*tool_call("echo", bearer(issuer.token(scope=scope)), text="hello"))
    challenge = answer.fields["www-authenticate"]
    assert answer.status == 403
    assert ('error="insufficient_scope"' in challenge, 'scope="mcp:use"' in challenge) == (True, True)


def test_a_session_belongs_to_the_subject_of_the_token(resource: HttpServer, issuer: Issuer) -> None:
    session = open_session(resource, bearer(issuer.token()))
    assert resource.ask(ping(), [*session, bearer(issuer.token(sub="bob"))]).status == 404
    assert resource.ask(ping(), [*session, bearer(issuer.token(jti="another"))]).status == 200


def test_without_the_keys_of_the_issuer_nobody_is_let_in(issuer: Issuer) -> None:
    keys = ("--oauth-issuer", issuer.url, "--oauth-jwks", f"http://127.0.0.1:{free_port()}/keys")
    with HttpServer(*keys, "--public-url", PUBLIC, "--port", str(free_port())) as process:
        answer = process.ask(*tool_call("echo", bearer(issuer.token()), text="hello"))
        assert (answer.status, "retry-after" in answer.fields) == (503, True)
