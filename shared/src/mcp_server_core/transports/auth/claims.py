"""What a signed token says, and whether it says it to us. Plain checks over a dict; signatures are not seen here."""

from collections.abc import Mapping
from typing import Any

from .resource import canonical

LEEWAY = 30.0  # seconds by which the issuer's clock may be ahead of ours


class BadToken(Exception):
    """Why a token is not good enough: a sentence of ours, fit for an error_description."""


def check_claims(claims: Mapping[str, Any], *, issuer: str, audience: str, now: float) -> None:
    """Raise BadToken unless the token is from this issuer, for this audience (A-5), and valid now."""
    if claims.get("iss") != issuer:
        raise BadToken("The token is from another issuer")
    if not _is_for(claims.get("aud"), audience):
        raise BadToken("The token is for another resource")
    if expiry(claims) <= now:
        raise BadToken("The token has expired")
    for name in ("nbf", "iat"):
        if name in claims and _time(claims, name) > now + LEEWAY:
            raise BadToken("The token is not valid yet")


def expiry(claims: Mapping[str, Any]) -> float:
    """When the token ends."""
    return _time(claims, "exp")


def principal(claims: Mapping[str, Any], issuer: str) -> str:
    """Who holds the token: its subject, or the client that acts for itself."""
    match claims:
        case {"sub": str(subject)} if subject:
            return f"{issuer}|{subject}"
        case {"client_id": str(client)} if client and "sub" not in claims:
            # An issuer has no fragment: no subject can be spelled so that it becomes a client.
            return f"{issuer}#client|{client}"
        case _:
            raise BadToken("The token names nobody")


def _is_for(value: Any, audience: str) -> bool:
    names = value if isinstance(value, list) else [value]
    return any(isinstance(name, str) and canonical(name) == canonical(audience) for name in names)


def _time(claims: Mapping[str, Any], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadToken(
            f"The token needs {name} to be a time" if name in claims else f"The token has no {name}"
        )
    return value
