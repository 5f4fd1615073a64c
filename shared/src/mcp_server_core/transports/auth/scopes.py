"""Scopes: which ones a server needs, which ones a token carries, and which cover which."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")  # RFC 6749 section 3.3
# between a client and its authorization server. It grants nothing here, so it is never asked for.
_NOT_OURS = "offline_access"


def needed_scopes(names: Iterable[str]) -> tuple[str, ...]:
    """The scopes to ask for, each once; ValueError if one could not be written in a challenge."""
    scopes = tuple(dict.fromkeys(name for name in names if name != _NOT_OURS))
    for scope in scopes:
        if _SCOPE.fullmatch(scope) is None:
            raise ValueError(
                f"{scope!r} is not a scope: no spaces, quotes, backslashes or control characters"
            )
    return scopes


def granted_scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """What a token carries: `scope` or `scp`, as one text or as a list, as issuers write them."""
    granted: set[str] = set()
    for value in (claims.get("scope"), claims.get("scp")):
        match value:
            case str():
                granted.update(value.split())
            case list():
                granted.update(item for item in value if isinstance(item, str))
            case _:
                pass
    return frozenset(granted)


def covers(granted: Iterable[str], needed: str) -> bool:
    """Whether one scope of a token is the needed one or a broader one (A-9): `mcp` and `mcp:*` over `mcp:read`."""
    return any(
        scope == needed or needed.startswith(scope.removesuffix(":*") + ":") for scope in granted if scope
    )
