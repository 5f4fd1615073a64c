"""Access tokens of an OAuth authorization server: signed JWTs, verified here with the issuer's public keys.

A token that was found good is remembered by its digest, so that a busy client costs one lookup. It is
forgotten when it expires and whenever the keys are fetched again.
"""

import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import jwt

from ...errors import ParseError
from ...protocol.codec import decode
from .access import Refused
from .bearer import read_token, write_challenge
from .claims import BadToken, check_claims, expiry, principal
from .issuer import PATIENCE, Issuer
from .keyring import Keyring
from .keys import ALGORITHMS, Key, find_key
from .resource import Resource
from .scopes import covers, granted_scopes, needed_scopes

MAX_TOKEN = 16 * 1024  # bytes
REMEMBERED = 1024  # tokens


class _Head(NamedTuple):
    algorithm: str
    kid: str | None


class _Verified(NamedTuple):
    principal: str
    until: float
    keys: Sequence[Key]


class JwtAuthorizer:
    """Lets in whoever has a token of the issuer, for this resource, with the scopes it takes."""

    def __init__(
        self,
        issuer: str,
        *,
        resource: str,
        audience: str | None = None,
        scopes: Iterable[str] = (),
        jwks_url: str | None = None,
        algorithms: Collection[str] = ALGORITHMS,
        patience: float = PATIENCE,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`resource` is the public address of the endpoint; `audience` is for issuers that write another one."""
        if not algorithms or not ALGORITHMS.issuperset(algorithms):
            raise ValueError(f"tokens can be signed with {', '.join(sorted(ALGORITHMS))}")
        self._resource = Resource(resource)
        self._audience = audience or self._resource.uri
        self._scopes = needed_scopes(scopes)
        self._algorithms = frozenset(algorithms)
        self._issuer = Issuer(issuer, jwks_url, patience=patience)
        self._keyring = Keyring(self._issuer.fetch_keys, now)
        self._now = now
        self._verified: dict[bytes, _Verified] = {}

    async def check(self, authorization: bytes | None) -> str:
        """The principal of the token; Refused, or Unavailable when there are no keys to judge it by."""
        token = read_token(authorization)
        if token is None:
            raise self._refuse_missing()
        try:
            return await self._verify(token)
        except BadToken as error:
            raise self._refuse_invalid(str(error)) from None

    def documents(self) -> Mapping[str, bytes]:
        """The metadata that leads a client to the issuer."""
        return self._resource.documents(self._issuer.name, self._scopes)

    async def aclose(self) -> None:
        """Close the connections to the issuer."""
        await self._issuer.aclose()

    async def _verify(self, token: bytes) -> str:
        head = _read_head(token)
        if head.algorithm not in self._algorithms:
            raise BadToken("The token is signed in a way that is not accepted")
        digest = sha256(token).digest()
        keys = await self._keyring.current()
        known = self._verified.get(digest)
        if known is not None and known.keys is keys and self._now() < known.until:
            return known.principal
        key = find_key(keys, head.kid, head.algorithm)
        if key is None:
            keys = await self._keyring.renewed()
            key = find_key(keys, head.kid, head.algorithm)
        if key is None:
            raise BadToken("The token is signed with an unknown key")
        claims = _read_claims(token, key, head.algorithm)
        check_claims(claims, issuer=self._issuer.name, audience=self._audience, now=self._now())
        verified = _Verified(principal(claims, self._issuer.name), expiry(claims), keys)
        self._check_scopes(claims)
        self._remember(digest, verified)
        return verified.principal

    def _check_scopes(self, claims: Mapping[str, Any]) -> None:
        granted = granted_scopes(claims)
        if not all(covers(granted, scope) for scope in self._scopes):
            raise self._refuse_scopes()

    def _remember(self, digest: bytes, verified: _Verified) -> None:
        self._verified.pop(digest, None)
        if len(self._verified) >= REMEMBERED:
            del self._verified[next(iter(self._verified))]  # the one that came first
        self._verified[digest] = verified

    def _refuse_missing(self) -> Refused:
        # RFC 6750 section 3.1: no error code for a client that did not know it needs a token.
        return Refused(401, self._challenge(), "no token")

    def _refuse_invalid(self, reason: str) -> Refused:
        return Refused(401, self._challenge(error="invalid_token", error_description=reason), reason)

    def _refuse_scopes(self) -> Refused:
        reason = "The token lacks a scope"
        return Refused(403, self._challenge(error="insufficient_scope", error_description=reason), reason)

    def _challenge(self, **error: str) -> str:
        # always where to ask, and for everything that is needed.
        return write_challenge(
            resource_metadata=self._resource.metadata_url, scope=" ".join(self._scopes), **error
        )


def _read_head(token: bytes) -> _Head:
    """What a token claims about its signature; nothing of it is believed yet."""
    if len(token) > MAX_TOKEN:
        raise BadToken("The token is too long")
    try:
        segment, _, _ = token.split(b".")
        head = decode(urlsafe_b64decode(segment + b"=" * (-len(segment) % 4)))
    except (ValueError, ParseError):
        raise BadToken("The token is malformed") from None
    match head:
        # An extension that a token calls critical must be understood (RFC 7515 section 4.1.11); we know none.
        case {"alg": str(algorithm)} if "crit" not in head and isinstance(head.get("kid"), str | None):
            return _Head(algorithm, head.get("kid"))
        case _:
            raise BadToken("The token is malformed")


def _read_claims(token: bytes, key: Key, algorithm: str) -> Mapping[str, Any]:
    """The claims of a token that this key signed."""
    try:
        signed = jwt.PyJWS().decode_complete(token, key.material, [algorithm])
        claims = decode(signed["payload"])
    except jwt.PyJWTError:
        raise BadToken("The signature of the token is not valid") from None
    except ParseError:
        raise BadToken("The token is malformed") from None
    if not isinstance(claims, dict):
        raise BadToken("The token is malformed")
    return claims
