"""Notices that a page changed, by asking now and then whether there is a newer version. Knows no MCP.

What counts is the text a reader sees: pages put new numbers into their source at every visit.
"""

from collections.abc import AsyncGenerator
from hashlib import sha256

import anyio

from .pages import Page
from .problems import BadStatus, FetchProblem, Refused, Unconvertible
from .web import Web

_LONGEST = 3600.0


class Watched:
    """One page, and what it was like when last seen."""

    def __init__(self, web: Web, url: str) -> None:
        self._web = web
        self._url = url
        self._page: Page | None = None
        self._seen = b""
        self._failures = 0

    async def changes(self) -> AsyncGenerator[None]:
        """Yields each time the page has changed. Ends only if there can be no such page."""
        try:
            # Whoever subscribes has read the copy, if there is one: a change since then is news.
            self._page = self._web.peek(self._url)
            if self._page is not None:
                self._seen = await self._digest(self._page)
        except Unconvertible:
            pass
        except Refused:
            return  # not a URL: there is nothing to watch
        if not self._seen:
            await self._look()
        while True:
            await anyio.sleep(self.interval)
            if await self._look():
                yield

    @property
    def interval(self) -> float:
        """Seconds until the next look: what the web server asks for, longer after failures, at most an hour."""
        base = self._web.limits.watch_interval
        asked = (self._page.document.max_age if self._page else None) or 0.0
        # A longest interval that is shorter than the configured one would not be polite.
        return min(max(base, asked) * 2 ** min(self._failures, 10), max(_LONGEST, base))

    async def _look(self) -> bool:
        """Look once; whether the page differs from what was seen before."""
        try:
            visit = await self._web.visit(self._url, known=self._page)
            self._page, digest = visit.page, await self._digest(visit.page)
        except BadStatus as problem:
            if problem.status not in (404, 410):
                self._failures += 1
                return False
            digest = b"gone"
        except FetchProblem:
            self._failures += 1
            return False
        self._failures = 0
        before, self._seen = self._seen, digest
        return before not in (b"", digest)

    async def _digest(self, page: Page) -> bytes:
        if page.kind != "html":
            return sha256(page.document.body).digest()
        return sha256((await self._web.render(page, "markdown")).text.encode()).digest()
