"""Notices what changes on disk, for as long as somebody wants to know. Knows nothing of MCP.

The system's notices only say when to look. What is told comes from looking at the object through its allowed
place, as for a read: nothing outside can be watched, whatever a link leads to by now.
"""

# Paths here are for the system's watcher, which takes nothing else.
# ruff: noqa: PTH112, PTH118, PTH120

import os
import threading
from collections.abc import Callable, Iterable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import anyio
from anyio import from_thread, to_thread

if TYPE_CHECKING:
    from mcp_server_core.places import Places

DEBOUNCE = 200  # milliseconds in which changes are gathered
LOOK = 500  # milliseconds after which we look without being told: a network share tells nothing
MOST = 1_000  # things watched at once
_GRACE = 10.0  # seconds for a subscription to come after it was admitted

Mark = tuple[int, ...]  # equal as long as nothing has changed
GONE: Mark = ()


class Sight(NamedTuple):
    """What was seen of one thing, and where the system should watch for it."""

    mark: Mark
    root: str
    folders: frozenset[str]


class Thing:
    """Something that is watched."""

    __slots__ = ("admitted", "places", "sight", "uri")

    def __init__(self, uri: str, sight: Sight) -> None:
        self.uri = uri
        self.sight = sight
        self.admitted = monotonic()
        self.places: tuple[Places, ...] = ()


def look(places: "Places", path: str) -> Sight:
    """See what is there now. A ToolError when the path is outside, or leads there."""
    from mcp_server_core.places import Missing

    spot = places.resolve(path)
    real = os.path.join(spot.place.real, *spot.parts)
    folders = {os.path.dirname(real), real} if spot.parts else {real}
    try:
        found = spot.stat()
    except Missing:
        return Sight(GONE, spot.place.path, frozenset(folders))
    mark = (found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return Sight(mark, spot.place.path, frozenset(folders))


class Watcher:
    """Everything that is watched. One watch of the system for each allowed directory, while there is a need."""

    def __init__(self) -> None:
        self.things: dict[str, Thing] = {}
        self.watches = 0  # that run now

    def admit(self, uri: str, sight: Sight) -> None:
        """From here on no change is missed, once somebody asks for it with `keep`."""
        from mcp_server_core import ToolError

        if uri not in self.things:
            if len(self.things) >= MOST:
                raise ToolError(f"More than {MOST} resources are watched: unsubscribe from some.")
            self.things[uri] = Thing(uri, sight)
        self.things[uri].admitted = monotonic()

    def keep(self, wanted: "dict[str, tuple[Places, ...]]") -> dict[str, frozenset[str]]:
        """Forget what nobody wants any more. What is left to watch: folders, by allowed directory."""
        roots: dict[str, frozenset[str]] = {}
        for uri, thing in list(self.things.items()):
            thing.places = wanted.get(uri, ())
            if uri not in wanted and monotonic() - thing.admitted > _GRACE:
                del self.things[uri]
            elif thing.places:
                roots[thing.sight.root] = roots.get(thing.sight.root, frozenset()) | thing.sight.folders
        return roots

    def check(self, root: str) -> list[str]:
        """Look at everything below one allowed directory. Blocks; gives the URIs of what changed."""
        changed: list[str] = []
        for thing in [thing for thing in self.things.values() if thing.sight.root == root]:
            sight = _look_again(thing)
            if sight is not None and sight.mark != thing.sight.mark:
                thing.sight = thing.sight._replace(mark=sight.mark)
                changed.append(thing.uri)
        return changed


def _look_again(thing: Thing) -> Sight | None:
    """What those see who may; for them, what a link leads out of is gone."""
    from mcp_server_core import ToolError

    seen: Sight | None = None
    for places in thing.places:
        try:
            return look(places, thing.uri)
        except ToolError:
            seen = thing.sight._replace(mark=GONE)
    return seen


async def wait_for_changes(folders: Iterable[str], told: Callable[[], object]) -> None:
    """Call back whenever something may have changed in the folders, until cancelled."""
    stop = threading.Event()
    limiter = anyio.CapacityLimiter(1)
    try:
        await to_thread.run_sync(
            partial(_listen, sorted(folders), stop, told), abandon_on_cancel=True, limiter=limiter
        )
    finally:
        stop.set()


def _listen(folders: list[str], stop: threading.Event, told: Callable[[], object]) -> None:
    from watchfiles import watch

    def tell() -> None:
        if not stop.is_set():
            from_thread.run_sync(told)

    while not stop.is_set():
        present = [folder for folder in folders if os.path.isdir(folder)]
        tell()
        if not present:
            stop.wait(LOOK / 1000)
            continue
        try:
            for _ in watch(
                *present,
                watch_filter=None,
                debounce=DEBOUNCE,
                step=50,
                stop_event=stop,
                rust_timeout=LOOK,
                yield_on_timeout=True,
                raise_interrupt=False,
                recursive=False,
            ):
                tell()
                if [folder for folder in folders if os.path.isdir(folder)] != present:
                    break  # one came or went: watch anew
        except (
            OSError,
            RuntimeError,
        ):  # the folder vanished, or the system has no watches left: look by ourselves
            stop.wait(LOOK / 1000)
