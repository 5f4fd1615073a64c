"""Access to a protected server: what it demands, and who provides the token. Knows no HTTP library."""

import logging
import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from ...errors import ConnectionLost

log = logging.getLogger("mcp_server_core.client")
ATTEMPTS = 3
"""How often a request is tried in all, with another token each time (A-24)."""

_SCHEME = re.compile(r"(?:^|,)\s*bearer(?=[\s,]|$)", re.IGNORECASE)
_PARAM = re.compile(r"""([A-Za-z0-9_\-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))""")
_TOKEN = re.compile(r"[\x21-\x7e]+")


class Challenge(NamedTuple):
    """Why a server refused a request, in the words of its `WWW-Authenticate` header."""

    status: int
    scope: str | None = None
    resource_metadata: str | None = None
    error: str | None = None

    @property
    def can_be_met(self) -> bool:
        """Whether another token may help: not when the server just forbids it."""
        return self.status == 401 or self.error == "insufficient_scope"


TokenProvider: TypeAlias = Callable[[Challenge | None], Awaitable[str | None]]
"""Gives the access token for the next request; after a refusal it is asked again, with the challenge."""


class Unauthorized(ConnectionLost):
    """The server wants an access token that nobody here has."""

    def __init__(self, message: str, challenge: Challenge) -> None:
        super().__init__(message)
        self.challenge = challenge


def read_challenge(status: int, header: str) -> Challenge:
    """The Bearer challenge in the `WWW-Authenticate` header of a response."""
    scheme = _SCHEME.search(header)
    if scheme is None:
        return Challenge(status)
    found = {
        name.lower(): _unquote(quoted) or plain for name, quoted, plain in _params(header[scheme.end() :])
    }
    return Challenge(status, found.get("scope"), found.get("resource_metadata"), found.get("error"))


def _params(text: str) -> list[tuple[str, str, str]]:
    return _PARAM.findall(text)


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


class Access:
    """Asks the provider for tokens, and checks that what it gives can stand in a header."""

    def __init__(self, provider: TokenProvider | None) -> None:
        self._provider = provider

    async def headers(self, challenge: Challenge | None) -> dict[str, str]:
        """The `Authorization` of the next attempt (A-11); Unauthorized when a challenge cannot be met."""
        token = await self._token(challenge)
        if token is None and challenge is not None:
            raise Unauthorized(_explain(challenge), challenge)
        return {} if token is None else {"Authorization": f"Bearer {token}"}

    async def _token(self, challenge: Challenge | None) -> str | None:
        if self._provider is None:
            return None
        try:
            token = await self._provider(challenge)
        except Exception as error:
            log.exception("the token provider failed")
            raise ConnectionLost(f"The token provider failed: {type(error).__name__}") from error
        if token is not None and not _TOKEN.fullmatch(token):
            # Said here, because an HTTP library would put the token into its own message.
            raise ConnectionLost("The token provider gave a text that cannot be an access token")
        return token


def _explain(challenge: Challenge) -> str:
    wanted = f" for the scope {challenge.scope!r}" if challenge.scope else ""
    return f"The server answered HTTP {challenge.status}: it wants an access token{wanted}"


def give_up(challenge: Challenge) -> Unauthorized:
    """The error after the last attempt."""
    return Unauthorized(f"{_explain(challenge)}, and refused the ones it got", challenge)
