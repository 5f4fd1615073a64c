"""Static tokens, for a server at home: a file that lists who may come in.

Only digests of the tokens are kept, and a token never appears in a message, a log line or a principal.
"""

import hmac
import logging
import os
import re
import stat
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from .access import Refused
from .bearer import read_token, write_challenge

MIN_TOKEN = 16  # characters
_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")  # what a bearer header can carry (RFC 6750)
_NAME = re.compile(r"[\w.@-]+")
_REALM = "mcp"

log = logging.getLogger("mcp_server_core")


class _Entry(NamedTuple):
    digest: bytes
    principal: str


class StaticTokens:
    """Lets in whoever knows one of the tokens."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[bytes, str]) -> None:
        """From the SHA-256 digest of each token to its principal."""
        self._entries = tuple(entries.items())

    @classmethod
    def from_file(cls, path: Path) -> "StaticTokens":
        """Tokens of a file; see from_text. Says so in the log when everybody on the machine can read it."""
        try:
            text = path.read_text("utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{path} is not UTF-8 text") from None
        if os.name == "posix" and path.stat().st_mode & stat.S_IROTH:
            log.warning("every user of this machine can read the tokens in %s: chmod 600 it", path)
        try:
            return cls.from_text(text)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    @classmethod
    def from_text(cls, text: str) -> "StaticTokens":
        """One token on each line, `name:token` or `token`; empty lines and lines with `#` in front are skipped.

        A name may have several tokens, so that one can be replaced by another without a gap.
        """
        entries: dict[bytes, str] = {}
        for entry in _read_entries(text):
            if entries.setdefault(entry.digest, entry.principal) != entry.principal:
                raise ValueError("the same token is listed under two names")
        if not entries:
            raise ValueError("there is no token in it")
        return cls(entries)

    async def check(self, authorization: bytes | None) -> str:
        """The principal whose token this is."""
        token = read_token(authorization)
        if token is None:
            raise Refused(401, write_challenge(realm=_REALM), "no token")
        digest = sha256(token).digest()
        principal = None
        for known, name in self._entries:  # to the end always: time says nothing about which one fitted
            if hmac.compare_digest(known, digest):
                principal = name
        if principal is None:
            raise Refused(401, write_challenge(realm=_REALM, error="invalid_token"), "unknown token")
        return principal

    def documents(self) -> Mapping[str, bytes]:
        """Nothing: there is no authorization server to find."""
        return {}

    async def aclose(self) -> None:
        """Nothing is open."""


def _read_entries(text: str) -> Iterator[_Entry]:
    for number, line in enumerate(text.splitlines(), 1):
        item = line.strip()
        if not item or item.startswith("#"):
            continue
        name, colon, token = item.rpartition(":")
        name, token = name.strip(), token.strip()
        if colon and _NAME.fullmatch(name) is None:
            raise ValueError(f"line {number}: a name consists of letters, digits and . _ @ -")
        if len(token) < MIN_TOKEN:
            raise ValueError(f"line {number}: a token has at least {MIN_TOKEN} characters")
        if _TOKEN.fullmatch(token) is None:
            raise ValueError(
                f"line {number}: a token consists of letters, digits and - . _ ~ + / (= at its end)"
            )
        digest = sha256(token.encode()).digest()
        # `#` cannot be in a name, so a token without one is never taken for somebody's.
        yield _Entry(digest, f"token:{name}" if name else f"token:#{digest.hex()[:12]}")
