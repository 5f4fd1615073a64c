"""What the HTTP transport asks before it lets a request in, and the two ways in which the answer is no.

Each request is judged on its own (A-1, A-13). Nothing here knows how a token looks.
"""

from collections.abc import Mapping
from typing import Literal, Protocol


class Refused(Exception):
    """This request may not pass: 401 for want of a good token, 403 for want of a scope (A-7)."""

    def __init__(self, status: Literal[401, 403], challenge: str, reason: str) -> None:
        super().__init__(reason)
        self.status: Literal[401, 403] = status
        self.challenge = challenge
        """The value of WWW-Authenticate. Nothing in it comes from the client."""


class Unavailable(Exception):
    """Nobody can say whether a token is good, because the issuer's keys cannot be had: 503."""


class Authorizer(Protocol):
    """Decides who is asking."""

    async def check(self, authorization: bytes | None) -> str:
        """The principal behind an Authorization header; raises Refused or Unavailable."""
        ...

    def documents(self) -> Mapping[str, bytes]:
        """What clients may read without a token: URL path to JSON text."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...
