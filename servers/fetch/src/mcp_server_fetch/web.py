"""The web, as the server sees it: robots.txt, download, cache and conversion put together. Knows no MCP."""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Literal, NamedTuple

import anyio
from anyio import to_thread
from httpx import URL

from . import __version__
from .cache import Cache
from .charset import clean, decode
from .client import open_client
from .converting import Converters, open_converters
from .download import NO_VALIDATORS, Downloader, Errand, Progress
from .pages import Page, Rendering, View, outline
from .problems import Refused, Unconvertible
from .robots import Robots
from .settings import Settings
from .sniff import sniff
from .urls import is_under, read_url

Freshness = Literal["new", "unchanged", "copy"]


class Visit(NamedTuple):
    """A page, and where it came from: the web now, the web confirming our copy, or our copy alone."""

    page: Page
    freshness: Freshness


class Errands(NamedTuple):
    """On whose behalf, and how far, pages are fetched."""

    by_user: bool = False
    """A person asked for this very page: robots.txt is for robots."""
    prefixes: tuple[str, ...] | None = None
    """Where the client wants us to stay; None for anywhere."""
    progress: Progress | None = None


AUTONOMOUS = Errands()


class Web:
    """Fetches pages, keeps the latest, and renders them."""

    def __init__(self, settings: Settings, downloader: Downloader, converters: Converters) -> None:
        name = f"mcp-server-fetch/{__version__}"
        self._settings = settings
        self._agent = settings.user_agent or f"{name} (autonomous; Model Context Protocol)"
        self._agent_for_users = settings.user_agent or f"{name} (user-specified; Model Context Protocol)"
        self._downloader = downloader
        self._converters = converters
        self._robots = Robots(downloader, settings.limits, self._agent)
        self._places = anyio.Semaphore(settings.limits.pages_at_once)
        self.limits = settings.limits
        self.cache = Cache(settings.limits)
        self.news = anyio.Event()
        """Set when a page is kept that was not known before; a new one is put in its place."""

    async def visit(self, text: str, how: Errands = AUTONOMOUS, *, known: Page | None = None) -> Visit:
        """The page as it is now. A copy that the web server confirms is not downloaded again."""
        url = read_url(text)
        self._stay(url, how.prefixes)
        key = _key(url, how)
        known = known or self.cache.get(key)
        async with self._places:
            document = await self._downloader.get(url, self._errand(how, known))
        if document.status == 304 and known is not None:
            known.checked = time.time()
            self.cache.put(key, known)
            return Visit(known, "unchanged")
        kind, media_type = sniff(document.body, document.media_type, document.charset)
        page = Page(document, kind, media_type, checked=time.time())
        if known is not None:
            page.earlier = {view: hash(made.text) for view, made in known.renderings.items()}
        self._keep(key, page)
        return Visit(page, "new")

    async def revisit(self, text: str, how: Errands = AUTONOMOUS) -> Visit:
        """The copy kept of a page, so that slices of it fit together; the page itself if there is none."""
        url = read_url(text)
        self._stay(url, how.prefixes)
        page = self.cache.get(_key(url, how))
        if page is None:
            return await self.visit(text, how)
        self._stay(URL(page.document.url), how.prefixes)
        return Visit(page, "copy")

    def peek(self, text: str) -> Page | None:
        """The copy kept of a page, if there is one."""
        return self.cache.get(_key(read_url(text), AUTONOMOUS))

    async def render(self, page: Page, view: View) -> Rendering:
        """The page as text; made once for each view."""
        form = page.form(view)
        made = page.renderings.get(form)
        if made is None:
            made = await self._make(page, form)
            # Looking for headings takes a moment in a long text, and others must not wait for it.
            headings = await to_thread.run_sync(outline, made.text, abandon_on_cancel=True)
            made = page.renderings[form] = made._replace(headings=headings)
            self.cache.shrink()
        return made

    async def _make(self, page: Page, view: View) -> Rendering:
        document = page.document
        if view == "raw":
            decoded = await to_thread.run_sync(
                decode, document.body, document.charset, abandon_on_cancel=True
            )
            return Rendering(clean(decoded.text), encoding=f"{decoded.encoding} by {decoded.said_by}")
        if page.kind == "pdf" and not _has_pypdf():
            raise Unconvertible(
                f"{document.url} is a PDF of {len(document.body)} bytes; its text can be read if the server "
                "is installed with the extra `pdf`."
            )
        kind = "pdf" if page.kind == "pdf" else "html"
        made = await self._converters.convert(
            {"kind": kind, "format": view, "url": document.url, "charset": document.charset}, document.body
        )
        return Rendering(made["text"], made["title"], made["stage"], made["coverage"], made["encoding"])

    def warm_up(self) -> None:
        """A page is about to come: get ready to convert it."""
        self._converters.warm_up()

    def _keep(self, key: str, page: Page) -> None:
        is_new = self.cache.get(key) is None
        self.cache.put(key, page)
        if is_new:
            self.news.set()
            self.news = anyio.Event()

    def _errand(self, how: Errands, known: Page | None) -> Errand:
        async def allow(url: URL) -> None:
            self._stay(url, how.prefixes)
            if not how.by_user and not self._settings.ignore_robots_txt:
                await self._robots.check(url)

        errand = Errand(
            agent=self._agent_for_users if how.by_user else self._agent, allow=allow, progress=how.progress
        )
        if known is None or known.document.validators == NO_VALIDATORS:
            return errand
        return replace(errand, validators=known.document.validators, validators_of=known.document.url)

    def _stay(self, url: URL, prefixes: Sequence[str] | None) -> None:
        if prefixes is not None and not any(is_under(url, prefix) for prefix in prefixes):
            raise Refused(f"{url} lies outside the places the client allows: {', '.join(prefixes)[:500]}.")


def _key(url: URL, how: Errands) -> str:
    return f"{'user' if how.by_user else 'robot'} {url}"


def _has_pypdf() -> bool:
    from importlib.util import find_spec

    return find_spec("pypdf") is not None


@asynccontextmanager
async def open_web(settings: Settings) -> AsyncGenerator[Web]:
    """Everything that stays open while the server runs: connections, converting processes."""
    async with open_client(settings) as client, open_converters(settings.limits) as converters:
        yield Web(settings, Downloader(client, settings.limits), converters)
