"""One document over HTTP: hop by hop, counted and timed. Knows no robots.txt, no cache and no HTML.

Redirects are followed by hand, so that each hop is read, allowed and checked like the first address.
"""

import re
import ssl
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import NamedTuple, cast

import anyio
import httpcore
import httpx

from .client import REDIRECT_TO
from .decompress import ACCEPTED, Body
from .problems import BadStatus, TooMuch, Unreachable
from .settings import Limits
from .urls import origin_of, read_url

_REDIRECTS = (301, 302, 303, 307, 308)
_ACCEPT = "text/html,application/xhtml+xml,text/markdown;q=0.9,*/*;q=0.8"
_TYPE = re.compile(r"[a-z0-9.+-]{1,80}/[a-z0-9.+-]{1,80}")
_CHARSET = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)

Allow = Callable[[httpx.URL], Awaitable[None]]
"""Asked before each hop; raises to refuse it."""
Progress = Callable[[int, int | None], Awaitable[None]]
"""Told how many bytes of how many have come."""


class Validators(NamedTuple):
    """What a web server said about the version of a document, to ask whether there is a newer one."""

    etag: str | None = None
    last_modified: str | None = None

    def headers(self) -> dict[str, str]:
        """The headers of a conditional request."""
        named = {"if-none-match": self.etag, "if-modified-since": self.last_modified}
        return {name: value for name, value in named.items() if value}


NO_VALIDATORS = Validators()


@dataclass(frozen=True, slots=True)
class Document:
    """What came back. `body` is unpacked; a 304 has none."""

    asked: str
    url: str
    status: int
    media_type: str
    charset: str | None
    body: bytes
    validators: Validators
    max_age: float | None
    fetched: float
    whole: bool = True
    """False if the packing of the body ended too early."""


@dataclass(frozen=True, slots=True)
class Errand:
    """How to ask for a document."""

    agent: str
    allow: Allow
    validators: Validators = NO_VALIDATORS
    validators_of: str = ""
    """The URL that gave them: on the way there they mean nothing."""
    progress: Progress | None = None
    cut: int | None = None
    """Take no more than so many bytes, and leave the rest."""
    redirects: int | None = None
    failures: bool = False
    """Take a failure status as an answer."""


class Downloader:
    """Fetches documents with one client, within limits."""

    def __init__(self, client: httpx.AsyncClient, limits: Limits) -> None:
        self._client = client
        self._limits = limits

    async def get(self, url: httpx.URL, errand: Errand) -> Document:
        """The document at a URL, wherever it leads."""
        try:
            with anyio.fail_after(self._limits.total_time):
                return await self._follow(url, errand)
        except TimeoutError:
            raise TooMuch(
                f"{url} did not arrive within {self._limits.total_time:g} seconds; try again later."
            ) from None

    async def _follow(self, asked: httpx.URL, errand: Errand) -> Document:
        url, seen = asked, set[str]()
        redirects = self._limits.redirects if errand.redirects is None else errand.redirects
        for _ in range(redirects + 1):
            await errand.allow(url)
            seen.add(str(url))
            found = await self._hop(asked, url, errand)
            if isinstance(found, Document):
                return found
            if str(found) in seen:
                raise TooMuch(
                    f"{asked} redirects in a circle; it cannot be fetched without cookies or a login."
                )
            url = found
        raise TooMuch(f"{asked} redirects more than {redirects} times; fetch {url} itself.")

    async def _hop(self, asked: httpx.URL, url: httpx.URL, errand: Errand) -> Document | httpx.URL:
        try:
            response = await self._send(url, errand)
            try:
                return await self._read(asked, url, response, errand)
            finally:
                with anyio.move_on_after(2, shield=True):
                    await response.aclose()
        except (httpcore.TimeoutException, httpx.TimeoutException):
            raise TooMuch(f"{origin_of(url)} does not answer; try again later.") from None
        except httpcore.ProxyError as error:
            raise Unreachable(f"The proxy does not lead to {origin_of(url)}: {str(error)[:100]}.") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError, OSError) as error:
            raise Unreachable(f"{origin_of(url)} could not be reached: {_reason(error)}.") from None

    async def _send(self, url: httpx.URL, errand: Errand) -> httpx.Response:
        headers = {
            "user-agent": errand.agent,
            "accept": _ACCEPT,
            "accept-encoding": ACCEPTED,
            **(errand.validators.headers() if str(url) == errand.validators_of else {}),
        }
        request = self._client.build_request("GET", url, headers=headers)
        try:
            return await self._client.send(request, stream=True)
        except (httpcore.RemoteProtocolError, httpcore.ReadError, httpcore.WriteError):
            # A kept connection that the other side was just closing: once more, on a new one.
            return await self._client.send(request, stream=True)

    async def _read(
        self, asked: httpx.URL, url: httpx.URL, response: httpx.Response, errand: Errand
    ) -> Document | httpx.URL:
        status = response.status_code
        target = response.extensions.get(REDIRECT_TO)
        if status in _REDIRECTS and target:
            return read_url(target, url)
        if status >= 400 and not errand.failures:
            raise BadStatus(status, _status_message(url, response))
        body, whole = (b"", True) if status == 304 else await self._body(response, errand)
        media_type, charset = _content_type(response.headers.get("content-type", ""))
        return Document(
            asked=str(asked),
            url=str(url),
            status=status,
            media_type=media_type,
            charset=charset,
            body=body,
            validators=_validators(response),
            max_age=_max_age(response.headers.get("cache-control", "")),
            fetched=time.time(),
            whole=whole,
        )

    async def _body(self, response: httpx.Response, errand: Errand) -> tuple[bytes, bool]:
        body = Body(
            response.headers.get("content-encoding", ""),
            wire_limit=self._limits.wire_bytes,
            limit=self._limits.body_bytes if errand.cut is None else errand.cut,
            cut=errand.cut is not None,
        )
        announced = response.headers.get("content-length", "")
        total = int(announced) if announced.isdecimal() and len(announced) < 16 else None
        if total is not None and total > self._limits.wire_bytes and errand.cut is None:
            raise TooMuch(f"The body has {total} bytes; at most {self._limits.wire_bytes} are fetched.")
        done = 0
        async with aclosing(cast("AsyncGenerator[bytes]", response.aiter_raw())) as pieces:
            async for piece in pieces:
                body.add(piece)
                done += len(piece)
                if body.full:
                    break
                if errand.progress is not None:
                    await errand.progress(done, total)
        return body.bytes(), body.whole


def _reason(error: Exception) -> str:
    """What went wrong, in words; never more than a line, and never the other side's own words."""
    text = " ".join(str(error).split())
    if isinstance(error, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in text:
        detail = re.sub(r"^.*certificate verify failed:? ?|\s*\(_ssl.*$", "", text)
        return f"its certificate is not trusted ({detail or 'unknown issuer'}); --ca-file adds an authority"
    if (
        "ERR_RESOURCE" in text
        or "Receive buffer too long" in text
        or ("header" in text and "chunk" not in text)
    ):
        return "its headers are too large or malformed"
    if isinstance(error, httpcore.ProtocolError):
        if "disconnected" in text:
            return "it hung up without an answer"
        return (
            "it hung up in the middle"
            if "complete message" in text
            else "it does not speak HTTP as it should"
        )
    return text[:200].rstrip(".") or "the connection failed"


def _status_message(url: httpx.URL, response: httpx.Response) -> str:
    status = response.status_code
    phrase = httpx.codes.get_reason_phrase(status) or "a failure"
    said = f"{url} answered {status} {phrase}"
    match status:
        case 401 | 407:
            return f"{said}: it wants a login, which this server does not have."
        case 403:
            return f"{said}: the site does not let this server in; use another source."
        case 404 | 410:
            return f"{said}: there is no such page; check the URL or start at {origin_of(url)}/."
        case 429 | 503:
            wait = response.headers.get("retry-after", "")
            after = f"in {wait} seconds" if wait.isdecimal() and len(wait) < 7 else "later"
            return f"{said}: try again {after}."
        case _:
            return f"{said}; try again later or use another source." if status >= 500 else f"{said}."


def _content_type(header: str) -> tuple[str, str | None]:
    """Type and charset, if they look like one: the header is the web server's own text."""
    media_type = header.partition(";")[0].strip().lower()
    charset = _CHARSET.search(header)
    return media_type if _TYPE.fullmatch(media_type) else "", charset.group(1) if charset else None


def _validators(response: httpx.Response) -> Validators:
    etag, modified = response.headers.get("etag"), response.headers.get("last-modified")
    return Validators(
        etag if etag and len(etag) <= 1000 else None, modified if modified and len(modified) <= 100 else None
    )


def _max_age(header: str) -> float | None:
    found = re.search(r"max-age=(\d{1,9})", header)
    return float(found.group(1)) if found else None
