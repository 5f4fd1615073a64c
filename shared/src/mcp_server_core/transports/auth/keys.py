"""The public keys of an issuer (JWK sets, RFC 7517), and which algorithms each of them may verify.

The algorithm belongs to the key: a token can only choose among those that its key allows.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import jwt

_RSA = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_BY_CURVE = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512", "Ed25519": "EdDSA", "Ed448": "EdDSA"}
# Asymmetric ones only: with HS256, whoever can read a public key could sign.
ALGORITHMS = _RSA | set(_BY_CURVE.values())
MIN_RSA = 2048  # bits


class Key(NamedTuple):
    """One key that may verify tokens."""

    kid: str | None
    algorithms: frozenset[str]
    material: Any


def read_keys(document: Any) -> tuple[Key, ...]:
    """The keys of a JWK set that can be used; odd ones are passed over, as RFC 7517 section 5 asks."""
    match document:
        case {"keys": list(items)}:
            return tuple(key for key in map(_read_key, items) if key is not None)
        case _:
            return ()


def find_key(keys: Iterable[Key], kid: str | None, algorithm: str) -> Key | None:
    """The one key that a token's header means; None when there is none, or more than one."""
    fitting: Sequence[Key] = [
        key for key in keys if algorithm in key.algorithms and (kid is None or key.kid == kid)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _read_key(item: Any) -> Key | None:
    # A key whose private half ("d") is published proves nothing about who signed.
    if not isinstance(item, dict) or "d" in item or item.get("use", "sig") != "sig":
        return None
    algorithms = _allowed(item)
    if not algorithms:
        return None
    try:
        material: Any = jwt.PyJWK(item, min(algorithms)).key
    except (jwt.PyJWTError, ValueError, TypeError, AttributeError, KeyError):
        return None
    if item["kty"] == "RSA" and material.key_size < MIN_RSA:
        return None
    kid = item.get("kid")
    return Key(kid if isinstance(kid, str) else None, algorithms, material)


def _allowed(item: dict[str, Any]) -> frozenset[str]:
    match item:
        case {"kty": "RSA"}:
            fitting = _RSA
        case {"kty": "EC" | "OKP", "crv": str(curve)} if curve in _BY_CURVE:
            fitting = frozenset({_BY_CURVE[curve]})
        case _:
            fitting = frozenset[str]()
    named = item.get("alg")
    return fitting if named is None else frozenset(fitting & {named} if isinstance(named, str) else ())
