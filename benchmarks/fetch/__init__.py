"""Suite `fetch`: pages to Markdown, slices, many pages at once, and the quality of the text."""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from ..contestants import PYTHON, Contestant
from ..conversation import Conversation
from ..messages import HANDSHAKE, WrongAnswerError, call_tool
from ..peers import NotInstallableError, prepare
from ..sheet import Column, Goal, Growth, Line, Sheet
from . import pages, quality
from .site import Site, serving

PEER = Contestant(
    "peer",
    "mcp-server-fetch",
    "python",
    "-m",
    packages=("mcp-server-fetch==2026.10.24",),
    options=("mcp_server_fetch", "--allow-private-ips"),
)
OURS = (PYTHON, "-m", "mcp_server_fetch", "--allow-private-ips")
SLOW_PAGES = 20
ROUNDS = {"10 KB": 12, "200 KB": 4, "2 MB": 1}
LINES: tuple[Line, ...] = (
    *(Line(f"page {size}", f"page of {size} to Markdown, ms", (Goal(1.5, "floor"),)) for size in pages.SIZES),
    Line("slice", "second slice of the 200 KB page, ms", (Goal(5), Goal(0.05, "peer"))),
    Line(
        "gain",
        "first slice / second slice of the 200 KB page, times",
        (Goal(20, more=True),),
        more_is_better=True,
    ),
    Line("slow", f"{SLOW_PAGES} pages of a second each at once, s", (Goal(1.5),)),
    Line("failed", f"of these {SLOW_PAGES} pages failed", (Goal(0),), pick="worst"),
    Line("beside", "raw 10 KB page while the 2 MB page is converted, ms", (Goal(100),)),
    Line("recall", "recall of main text on the saved pages", (Goal(0.95, more=True),), more_is_better=True),
    Line("boilerplate", "boilerplate share on the saved pages", (Goal(0.1),)),
)
GROWTHS = (
    Growth("fetch a page", "ms", "bytes", {size: f"page {name}" for name, size in pages.SIZES.items()}),
)


def run(sheet: Sheet) -> None:
    made = {f"/{size.replace(' ', '')}": pages.make(count) for size, count in pages.SIZES.items()}
    with serving({**made, "/slow": pages.make(3000), **quality.saved_pages()}) as site, ExitStack() as stack:
        servers = _start(sheet, stack)
        for _ in range(2 if sheet.quick else 5):
            _measure_pages(sheet, site, made, servers)
            _measure_slices(sheet, site, servers)
            _measure_slow(sheet, site, servers)
            _measure_beside(sheet, site)
        quality.measure(sheet, site.url, servers)


def _start(sheet: Sheet, stack: ExitStack) -> dict[Column, Conversation]:
    servers: dict[Column, Conversation] = {"ours": stack.enter_context(Conversation(OURS))}
    try:
        command = prepare(PEER)
        # Without node on its path, which it starts twice for each page, it is ten times faster on short ones.
        without_node = {**os.environ, "PATH": str(Path(command[0]).parent)}
        servers["peer"] = stack.enter_context(Conversation(command, without_node))
        sheet.pins.append(f"peer: {PEER.packages[0]}, without node, which makes it faster")
    except NotInstallableError as error:
        sheet.note(f"peer: {error}")
    return servers


def _measure_pages(
    sheet: Sheet, site: Site, made: dict[str, bytes], servers: dict[Column, Conversation]
) -> None:
    for size in pages.SIZES:
        path = f"/{size.replace(' ', '')}"
        for _ in range(ROUNDS[size]):
            _floor(sheet, f"page {size}", made[path])
        for column, server in servers.items():
            # The peer takes minutes for the largest page: once is enough to know it.
            if column == "peer" and size == "2 MB" and (sheet.quick or sheet.samples[f"page {size}"]["peer"]):
                continue
            _try(sheet, column, partial(_fetch, sheet, column, server, size, site.url + path))
    if sheet.quick:
        sheet.note("quick: the peer is not asked for the 2 MB page, which takes it more than a minute")


def _fetch(sheet: Sheet, column: Column, server: Conversation, size: str, url: str) -> None:
    for _ in range(ROUNDS[size] if column == "ours" else 1):
        timed = server.call("fetch", {"url": url})
        if "article" not in timed.text:
            raise WrongAnswerError(f"the text of {url} did not arrive")
        sheet.add(f"page {size}", column, timed.wall * 1e3, cpu=timed.cpu * 1e3)


def _floor(sheet: Sheet, quantity: str, source: bytes) -> None:
    """The least it can cost: parse and convert, without network, extraction or protocol."""
    from bs4 import BeautifulSoup
    from markdownify import ATX, MarkdownConverter

    began = time.perf_counter()
    MarkdownConverter(heading_style=ATX).convert_soup(BeautifulSoup(source, "lxml"))
    sheet.add(quantity, "floor", (time.perf_counter() - began) * 1e3)


def _measure_slices(sheet: Sheet, site: Site, servers: dict[Column, Conversation]) -> None:
    for column, server in servers.items():
        _try(sheet, column, partial(_slice, sheet, column, server, f"{site.url}/200KB"))


def _slice(sheet: Sheet, column: Column, server: Conversation, url: str) -> None:
    first = server.call("fetch", {"url": url}).wall
    second = min(
        server.call("fetch", {"url": url, "start_index": at}).wall
        for at in ((5000,) if column == "peer" else (5000, 9000, 14_000))
    )
    sheet.add("slice", column, second * 1e3)
    sheet.add("gain", column, first / second)


def _measure_slow(sheet: Sheet, site: Site, servers: dict[Column, Conversation]) -> None:
    for column, server in servers.items():
        urls = [{"url": f"{site.url}/slow/{column}/{number}"} for number in range(SLOW_PAGES)]
        timed = server.calls("fetch", urls, window=SLOW_PAGES, refusals=True)
        sheet.add("slow", column, timed.wall)
        sheet.add("failed", column, sum(bool(result.get("isError")) for result in timed.results))


def _measure_beside(sheet: Sheet, site: Site) -> None:
    """A short page asked for right behind a long one: its answer must not wait."""
    with Conversation(OURS) as server:
        server.calls("fetch", [{"url": f"{site.url}/10KB"}, {"url": f"{site.url}/10KB", "raw": True}])
        server.tell(call_tool(900_001, "fetch", {"url": f"{site.url}/2MB"}, HANDSHAKE))
        time.sleep(0.2)  # now it is being converted, which takes a second
        began = time.perf_counter()
        (answer,) = server.converse(
            [call_tool(900_002, "fetch", {"url": f"{site.url}/10KB", "raw": True}, HANDSHAKE)]
        )
        took = time.perf_counter() - began
        if b"900002" not in answer[-60:] + answer[:60]:
            sheet.note("beside: the long page was faster than the short one, or the short one waited")
        sheet.add("beside", "ours", took * 1e3)


def _try(sheet: Sheet, column: Column, step: Callable[[], None]) -> None:
    try:
        step()
    except WrongAnswerError as error:
        sheet.note(f"{column}: {error}")
