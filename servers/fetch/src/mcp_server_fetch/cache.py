"""Pages fetched lately, for going on where a slice ended: bounded in number, size and age."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator

from .pages import Page
from .settings import Limits


class Cache:
    """The latest pages by what was asked for."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.time) -> None:
        self._limits = limits
        self._clock = clock
        self._pages: OrderedDict[str, Page] = OrderedDict()

    def get(self, key: str) -> Page | None:
        """A page that is not too old; using it keeps it from being pushed out."""
        page = self._pages.get(key)
        if page is None:
            return None
        if self._clock() - page.checked > self._limits.cached_age:
            del self._pages[key]
            return None
        self._pages.move_to_end(key)
        return page

    def put(self, key: str, page: Page) -> None:
        """Keep a page, in place of those not used for longest."""
        self._pages[key] = page
        self._pages.move_to_end(key)
        self.shrink()

    def shrink(self) -> None:
        """Drop what is too much. A page that grew by a new rendering counts with it."""
        size = sum(page.size for page in self._pages.values())
        while self._pages and (
            len(self._pages) > self._limits.cached_pages or size > self._limits.cached_bytes
        ):
            _, dropped = self._pages.popitem(last=False)
            size -= dropped.size

    def __iter__(self) -> Iterator[Page]:
        """The pages that are not too old, the latest first."""
        oldest = self._clock() - self._limits.cached_age
        return iter([page for page in reversed(self._pages.values()) if page.checked >= oldest])
