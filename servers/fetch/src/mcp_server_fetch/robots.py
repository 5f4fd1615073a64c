"""May a robot fetch this? RFC 9309, with a memory for each site. Never shows what a robots.txt says."""

import re
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import anyio
import httpx

from .download import Downloader, Errand
from .problems import FetchProblem, Refused, UnknownHost, Unreachable
from .settings import Limits
from .urls import origin_of

if TYPE_CHECKING:
    from protego import Protego

_TOKEN = re.compile(r"[A-Za-z_-]+")


class Rules(NamedTuple):
    """What a site's robots.txt came to, and until when that counts. No parser: everything, or nothing."""

    until: float
    parser: "Protego | None"
    problem: str | None = None


class Robots:
    """The rules of the sites visited lately."""

    def __init__(
        self, downloader: Downloader, limits: Limits, agent: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._downloader = downloader
        self._limits = limits
        self._agent = agent
        # RFC 9309, 2.2.1: rules are written for the product's name, not for its version and comments.
        found = _TOKEN.match(agent)
        self._token = found.group() if found else agent
        self._clock = clock
        self._rules: OrderedDict[str, Rules] = OrderedDict()
        self._asking: dict[str, anyio.Lock] = {}

    async def check(self, url: httpx.URL) -> None:
        """Refused unless the site lets robots fetch this URL."""
        rules = await self._rules_of(url)
        if rules.problem is not None:
            raise Refused(rules.problem)
        if rules.parser is not None and not rules.parser.can_fetch(str(url), self._token):
            raise Refused(f"The robots.txt of {origin_of(url)} does not let robots fetch {url}. {_WAY_OUT}")

    async def _rules_of(self, url: httpx.URL) -> Rules:
        origin = origin_of(url)
        known = self._known(origin)
        if known is not None:
            return known
        lock = self._asking.setdefault(origin, anyio.Lock())
        try:
            async with lock:
                known = self._known(origin)
                return known if known is not None else await self._learn(origin, url)
        finally:
            if not lock.statistics().tasks_waiting and not lock.locked():
                self._asking.pop(origin, None)

    def _known(self, origin: str) -> Rules | None:
        rules = self._rules.get(origin)
        if rules is None or rules.until < self._clock():
            return None
        self._rules.move_to_end(origin)
        return rules

    async def _learn(self, origin: str, url: httpx.URL) -> Rules:
        rules = await self._ask(url.copy_with(raw_path=b"/robots.txt"))
        self._rules[origin] = rules
        self._rules.move_to_end(origin)
        while len(self._rules) > self._limits.robots_hosts:
            self._rules.popitem(last=False)
        return rules

    async def _ask(self, url: httpx.URL) -> Rules:
        limits = self._limits
        last = origin_of(url)

        async def note(hop: httpx.URL) -> None:
            nonlocal last
            last = origin_of(hop)

        errand = Errand(
            agent=self._agent,
            allow=note,
            cut=limits.robots_bytes,
            redirects=limits.robots_redirects,
            failures=True,
        )
        try:
            with anyio.fail_after(limits.robots_time):
                found = await self._downloader.get(url, errand)
        except TimeoutError:
            return self._failed(url, "does not arrive")
        except (Refused, UnknownHost):
            if last == origin_of(url):
                raise  # the page is on the same host, and cannot be had for the same reason
            return self._failed(url, "leads to an address that is not fetched from")
        except Unreachable as problem:
            if last == origin_of(url):
                # The page would fail like this too: a certificate, a proxy. That is what has to be mended.
                return Rules(self._clock() + limits.robots_failure_age, None, str(problem))
            return self._failed(url, "cannot be reached")
        except FetchProblem:
            return self._failed(url, "cannot be reached")
        if found.status >= 500:
            return self._failed(url, f"answers {found.status}")
        if found.status >= 400:
            return Rules(self._clock() + limits.robots_age, None)
        return Rules(self._clock() + limits.robots_age, _parse(found.body))

    def _failed(self, url: httpx.URL, what: str) -> Rules:
        return Rules(
            self._clock() + self._limits.robots_failure_age,
            None,
            f"{origin_of(url)}/robots.txt {what}, which means that robots must not fetch from there now. {_WAY_OUT}",
        )


_WAY_OUT = (
    "The user can fetch the page with the prompt `fetch`, or the operator can start the server "
    "with --ignore-robots-txt."
)


def _parse(body: bytes) -> "Protego":
    from protego import Protego

    return Protego.parse(body.decode("utf-8", "replace").removeprefix("\ufeff"))
