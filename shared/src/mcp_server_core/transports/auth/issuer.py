"""The authorization server, as far as a resource server needs it: where it publishes its keys, and fetching them.

The address of the keys is given, or found by RFC 8414 and OpenID Connect discovery (A-21).
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx

from ...errors import ParseError
from ...protocol.codec import decode
from .keyring import Unanswered
from .keys import Key, read_keys

PATIENCE = 5.0  # seconds for everything that one request has to wait for
MAX_DOCUMENT = 256 * 1024  # bytes
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Issuer:
    """One authorization server, asked over HTTPS."""

    __slots__ = ("_found", "_given", "_http", "_patience", "name")

    def __init__(self, name: str, jwks_url: str | None = None, *, patience: float = PATIENCE) -> None:
        """`name` is the issuer identifier, exactly as tokens spell it."""
        if not is_safe(name) or "?" in name or "#" in name:
            raise ValueError(f"{name!r} is not an issuer: https://host, without a query")
        if jwks_url is not None and not is_safe(jwks_url):
            raise ValueError(f"{jwks_url!r} is not an address for keys: it starts with https://")
        self.name = name
        self._given = jwks_url
        self._found: str | None = None
        self._patience = patience
        self._http: httpx.AsyncClient | None = None

    async def fetch_keys(self) -> Sequence[Key]:
        """The keys that the issuer publishes now; Unanswered when there are none to be had."""
        try:
            with anyio.fail_after(self._patience):
                url = self._given or self._found or await self._discover()
                keys = read_keys(await self._fetch(url))
        except TimeoutError:
            self._found = None
            raise Unanswered("it took too long") from None
        except Unanswered:
            self._found = None  # the keys may have moved: look for them anew
            raise
        if not keys:
            raise Unanswered(f"{url} holds no key that can be used")
        return keys

    async def aclose(self) -> None:
        """Close connections."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def _discover(self) -> str:
        for url in discovery_urls(self.name):
            try:
                document = await self._fetch(url)
            except Unanswered:
                continue
            match document:
                # Another issuer's document says nothing about this one.
                case {"issuer": str(issuer), "jwks_uri": str(keys)} if issuer == self.name and is_safe(keys):
                    self._found = keys
                    return keys
                case _:
                    continue
        raise Unanswered(f"no metadata of {self.name} names its keys")

    async def _fetch(self, url: str) -> Any:
        if self._http is None:
            self._http = httpx.AsyncClient(follow_redirects=False, timeout=self._patience)
        # Compressed, a small answer could grow into a large one.
        headers = {"accept": "application/json", "accept-encoding": "identity"}
        body = bytearray()
        try:
            async with self._http.stream("GET", url, headers=headers) as answer:
                if answer.status_code != 200:
                    raise Unanswered(f"{url} answered with status {answer.status_code}")
                _check_size(url, int(answer.headers.get("content-length", "0")))
                async for chunk in answer.aiter_raw():
                    body += chunk
                    _check_size(url, len(body))
            return decode(body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unanswered(f"{url}: {type(error).__name__}") from None
        except ParseError:
            raise Unanswered(f"{url} did not answer with JSON") from None


def _check_size(url: str, size: int) -> None:
    if size > MAX_DOCUMENT:
        raise Unanswered(f"{url} answered with more than {MAX_DOCUMENT} bytes")


def discovery_urls(issuer: str) -> Sequence[str]:
    """Where an issuer's metadata can be, in the order of A-21."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.removesuffix("/")
    urls = (
        f"{origin}/.well-known/oauth-authorization-server{path}",
        f"{origin}/.well-known/openid-configuration{path}",
        f"{origin}{path}/.well-known/openid-configuration",
    )
    return tuple(dict.fromkeys(urls))


def is_safe(url: str) -> bool:
    """Whether nobody on the way can change what this address answers: HTTPS, or this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if not host or "@" in parts.netloc or not url.isascii() or not url.isprintable() or " " in url:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
