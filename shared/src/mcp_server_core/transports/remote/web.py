"""One HTTP exchange after another with one origin: authorization, redirects, limits, and errors in our own words.

The only module of the client's side that knows the HTTP library.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

import anyio
import httpx

from ...errors import ConnectionLost, ParseError
from .access import ATTEMPTS, Access, Challenge, give_up, read_challenge

_MAX_REDIRECTS = 5
_KEPT = 20  # idle connections
_REST = 0.5
_PLAIN = {"Accept-Encoding": "identity"}
"""Compressed, a few bytes could grow into more than there is room for before anybody can count them."""


class Answer:
    """An HTTP response whose body is still to be read."""

    def __init__(self, response: httpx.Response, limit: int) -> None:
        self._response = response
        self.limit = limit
        self._body: AsyncIterator[bytes] = response.aiter_raw()
        self.status = response.status_code
        self.type = response.headers.get("content-type", "").partition(";")[0].strip().lower()

    def header(self, name: str) -> str | None:
        """A header of the response."""
        return self._response.headers.get(name)

    @property
    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        return self._body

    async def read(self) -> bytes:
        """The whole body; ParseError when it is larger than the limit."""
        data = bytearray()
        async for chunk in self._body:
            data += chunk
            if len(data) > self.limit:
                raise ParseError(f"Parse error: the reply is longer than {self.limit} bytes")
        return bytes(data)

    async def finish(self) -> None:
        """Read what is left, if it comes soon: then the connection can be used again."""
        with anyio.move_on_after(_REST), suppress(httpx.HTTPError):
            async for _ in self._body:
                pass

    async def leave(self) -> None:
        """Close the response, read or not: a server sees the end of an unfinished one at once."""
        with anyio.CancelScope(shield=True):
            await self._response.aclose()
            with suppress(httpx.HTTPError, httpx.StreamError):
                # The library reads through nested generators, and trio minds if they are dropped half-way.
                async for _ in self._body:
                    pass


class Web:
    """Exchanges with one server; nothing is ever sent to another origin."""

    def __init__(
        self, client: httpx.AsyncClient, url: str, access: Access, headers: Mapping[str, str], limit: int
    ) -> None:
        self._client = client
        self.url = httpx.URL(url)
        self._access = access
        self._headers = dict(headers)
        self.limit = limit

    def resolve(self, reference: str) -> httpx.URL | None:
        """A URL the server named, if it lies on the server's own origin."""
        with suppress(httpx.InvalidURL):
            url = self.url.join(reference)
            if _origin(url) == _origin(self.url):
                return url
        return None

    @asynccontextmanager
    async def exchange(
        self,
        verb: str,
        headers: Mapping[str, str],
        content: bytes | None = None,
        *,
        url: httpx.URL | None = None,
    ) -> AsyncGenerator[Answer]:
        """Send one HTTP request; the response is open as long as the block runs.

        ConnectionLost when there is no response or it breaks off, Unauthorized when it demands a token we lack.
        """
        try:
            answer = await self._authorized(verb, url or self.url, headers, content)
            try:
                yield answer
            finally:
                await answer.leave()
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise ConnectionLost(f"The connection to {_show(self.url)} failed: {reason}") from error

    async def _authorized(
        self, verb: str, url: httpx.URL, headers: Mapping[str, str], content: bytes | None
    ) -> Answer:
        challenge: Challenge | None = None
        for _ in range(ATTEMPTS):
            access = await self._access.headers(challenge)
            answer = await self._redirected(
                verb, url, {**self._headers, **_PLAIN, **headers, **access}, content
            )
            if answer.status not in (401, 403):
                return answer
            challenge = read_challenge(answer.status, answer.header("www-authenticate") or "")
            if not challenge.can_be_met:
                return answer
            await answer.leave()
        assert challenge is not None
        raise give_up(challenge)

    async def _redirected(
        self, verb: str, url: httpx.URL, headers: Mapping[str, str], content: bytes | None
    ) -> Answer:
        for _ in range(_MAX_REDIRECTS):
            # Names in one spelling: what comes later replaces what the user gave, and is not sent beside it.
            sent = {name.lower().encode("ascii"): value.encode("utf-8") for name, value in headers.items()}
            request = self._client.build_request(verb, url, headers=sent, content=content)
            answer = Answer(await self._client.send(request, stream=True), self.limit)
            if answer.header("content-encoding") not in (None, "identity"):
                await answer.leave()
                raise ConnectionLost(f"{_show(self.url)} compresses its answers, which nobody asked for")
            location = answer.header("location")
            # 301 to 303 may turn a POST into a GET: only those that keep the request are followed.
            if answer.status not in (307, 308) or location is None:
                return answer
            await answer.leave()
            target = self.resolve(str(url.join(location)))
            if target is None:
                raise ConnectionLost(f"{_show(self.url)} redirects to another origin, which is not followed")
            url = target
        raise ConnectionLost(f"{_show(self.url)} redirects too often")


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    default = {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host, url.port or default


def _show(url: httpx.URL) -> str:
    """A URL for messages: without a query or user, which may hold secrets."""
    return str(url.copy_with(query=None, username="", password="", fragment=None))


@asynccontextmanager
async def open_web(
    url: str, access: Access, headers: Mapping[str, str], limit: int, timeout: float
) -> AsyncGenerator[Web]:
    """A connection pool for one server. Reading has no clock: whoever asked knows how long to wait."""
    async with httpx.AsyncClient(
        timeout=httpx.Timeout(timeout, read=None, pool=None),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=_KEPT),
        follow_redirects=False,
    ) as client:
        yield Web(client, url, access, headers, limit)
