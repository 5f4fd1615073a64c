"""An authorization server on a real socket, keys to sign with, and a clock that a test sets."""

import json
from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import anyio
import jwt
from anyio.abc import SocketAttribute, SocketStream
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from mcp_server_core.transports.auth.jwt import JwtAuthorizer

NOW = 1_800_000_000.0
RESOURCE = "https://mcp.example.com/mcp"
METADATA_URL = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
JWKS = "/keys"


class Clock:
    """The time, as a test says it is."""

    def __init__(self) -> None:
        self.time = NOW

    def __call__(self) -> float:
        return self.time


@cache
def private_key(algorithm: str, name: str = "one", bits: int = 2048) -> Any:
    """A key for an algorithm; the same one for the same name."""
    match algorithm[:2]:
        case "RS" | "PS":
            return rsa.generate_private_key(65537, bits)
        case "ES":
            curves = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}
            return ec.generate_private_key(curves[algorithm])
        case _:
            return ed25519.Ed25519PrivateKey.generate()


class Signer:
    """One key pair of an issuer."""

    def __init__(self, kid: str | None = "one", algorithm: str = "ES256", bits: int = 2048) -> None:
        self.kid = kid
        self.algorithm = algorithm
        self.private = private_key(algorithm, kid or "", bits)

    @property
    def jwk(self) -> dict[str, Any]:
        """The public half, as an issuer publishes it."""
        public: Any = jwt.get_algorithm_by_name(self.algorithm).to_jwk(
            self.private.public_key(), as_dict=True
        )
        public.pop("key_ops", None)
        return public if self.kid is None else {**public, "kid": self.kid}

    def sign(self, claims: Any, **header: Any) -> str:
        """A token with these claims; None in the header takes a field away."""
        head = {"alg": self.algorithm, "typ": "JWT", "kid": self.kid, **header}
        return compact(
            {name: value for name, value in head.items() if value is not None}, claims, self._signature
        )

    def _signature(self, data: bytes) -> bytes:
        return jwt.get_algorithm_by_name(self.algorithm).sign(data, self.private)


def compact(head: Any, claims: Any, sign: Callable[[bytes], bytes]) -> str:
    """A token put together by hand, so that it can be wrong in any way."""
    signed = f"{_base64(json.dumps(head).encode())}.{_base64(json.dumps(claims).encode())}"
    return f"{signed}.{_base64(sign(signed.encode()))}"


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def key_set(*signers: Signer) -> bytes:
    """An answer that publishes these keys."""
    return answer({"keys": [signer.jwk for signer in signers]})


def answer(document: Any, status: str = "200 OK", *fields: str) -> bytes:
    """A whole HTTP answer."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    head = "\r\n".join((f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *fields))
    return head.encode() + b"\r\n\r\n" + body


def bearer(token: str) -> bytes:
    """The header that carries a token."""
    return f"Bearer {token}".encode()


class AuthorizationServer:
    """What it answers is up to the test; what it was asked is there to look at."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.clock = Clock()
        self.answers: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.was_asked = anyio.Event()
        self.gate = anyio.Event()
        self.gate.set()

    def publish(self, *signers: Signer) -> None:
        """Offer these keys and no others."""
        self.publish_raw([signer.jwk for signer in signers])

    def publish_raw(self, keys: list[dict[str, Any]]) -> None:
        """Offer keys as they are, in whatever state."""
        self.answers[JWKS] = answer({"keys": keys})

    def claims(self, **changes: Any) -> dict[str, Any]:
        """What a good token says, but for the changes; None takes a claim away."""
        good: dict[str, Any] = {
            "iss": self.url,
            "aud": RESOURCE,
            "sub": "alice",
            "exp": NOW + 3600,
            "iat": NOW,
            "nbf": NOW,
            "scope": "mcp:read mcp:write",
        }
        return {name: value for name, value in (good | changes).items() if value is not None}

    @asynccontextmanager
    async def authorizer(self, **options: Any) -> AsyncGenerator[JwtAuthorizer]:
        """Whoever judges tokens by this server's keys."""
        given: dict[str, Any] = {
            "resource": RESOURCE,
            "jwks_url": self.url + JWKS,
            "scopes": ["mcp:read"],
            "now": self.clock,
        }
        authorizer = JwtAuthorizer(self.url, **(given | options))
        try:
            with anyio.fail_after(5):
                yield authorizer
        finally:
            await authorizer.aclose()

    async def serve(self, stream: SocketStream) -> None:
        """Answer one question."""
        async with stream:
            request = b""
            while b"\r\n\r\n" not in request:
                try:
                    request += await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    return
            path = request.split(b" ", 2)[1].decode()
            self.asked.append(path)
            self.was_asked.set()
            await self.gate.wait()
            try:
                await stream.send(self.answers.get(path, answer(b"", "404 Not Found")))
            except anyio.BrokenResourceError:
                return  # the other side had enough


@asynccontextmanager
async def authorization_server(*signers: Signer) -> AsyncGenerator[AuthorizationServer]:
    """A server that publishes these keys."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    server = AuthorizationServer(f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}")
    server.publish(*signers)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server.serve)
        try:
            yield server
        finally:
            tasks.cancel_scope.cancel()
