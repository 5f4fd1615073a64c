"""The allowed places of one caller: which directories they are now, and which of them a path leads into.

Strings are compared here only to choose a handle to start from. Whether the path may be followed is decided by
opening it beneath that handle, in walk.py.
"""

# Paths here are text that somebody typed.
# ruff: noqa: PTH117, PTH118

import os
import stat
import threading
from collections.abc import Iterable
from typing import Self

from mcp_server_core.errors import ToolError
from mcp_server_core.places import openat2
from mcp_server_core.places.effective import NOTHING, Effective, Listed, Terms, settle
from mcp_server_core.places.finding import Found, by_identity, by_spelling
from mcp_server_core.places.handles import Directory, Place, identify
from mcp_server_core.places.landing import Landing
from mcp_server_core.places.patience import Patience
from mcp_server_core.places.policy import ClientRoot, Grant, RootsMode, innermost, parse_root
from mcp_server_core.places.refusals import Missing, Refused, nothing_allowed, outside, shown
from mcp_server_core.places.spelling import path_of_text, split
from mcp_server_core.places.spot import Spot
from mcp_server_core.places.walk import Engine, Kernel, Walk


def choose_engine() -> Engine:
    """The safest way this system has of opening beneath a directory."""
    if os.name == "nt":
        from mcp_server_core.places.windows import Paths

        return Paths()
    return Kernel() if openat2.available() else Walk()


class Places:
    """The directories one caller may use: what the operator configured, as the caller's roots narrow it.

    Cheap to make, safe to use from many threads. Directories are held open until `close()` or garbage collection;
    one that is missing is picked up when it appears, one that was re-created is opened again.
    """

    def __init__(
        self,
        grants: Iterable[Grant],
        roots: Iterable[str] = (),
        *,
        mode: RootsMode = "narrow",
        read_only: bool = False,
        engine: Engine | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.engine = engine or choose_engine()
        self._patience = patience or Patience()
        self._terms = Terms(tuple(grants), tuple(parse_root(uri) for uri in roots), mode, read_only)
        self._known: dict[str, Directory] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._effective = settle(self._terms, self.engine, self._known, self._patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the directories back. Spots of these places refuse from now on."""
        with self._lock:
            self._closed = True
            self._known.clear()
            self._effective = NOTHING

    def current(self) -> tuple[Place, ...]:
        """The places as they are now."""
        return self._refresh().places

    def listing(self) -> tuple[Listed, ...]:
        """Every allowed directory with the reason it is allowed, those that are missing included."""
        return self._refresh().listing(self._patience)

    def ignored(self) -> tuple[ClientRoot, ...]:
        """The client's roots that play no part, each with the reason."""
        return self._refresh().ignored

    def resolve(self, text: str) -> Spot:
        """The spot that a path names: absolute in any spelling, relative to a place, with `~`, or a file URI.

        A relative path means the place where it exists, else the first one.
        """
        now = self._refresh()
        if not now.places:
            raise nothing_allowed([(entry.path, entry.problem) for entry in now.missing])
        path = path_of_text(text, example=os.path.join(now.places[0].path, "file.txt"))
        if os.path.isabs(path):
            found = self.find(path)
            if found is None:
                raise outside(text, self.directories())
            return self._spot(text, *found)
        spots = [self._relative(text, place, split(path)) for place in now.places]
        known = [spot for spot in spots if spot]
        if not known:
            raise outside(text, self.directories())
        return known[0] if len(known) == 1 else next(filter(_is_there, known), known[0])

    def find(self, path: str) -> Found | None:
        """The place that an absolute path leads into, and the rest of the path there."""
        parts, places = split(path), self._effective.places
        if ".." not in parts:
            found = by_spelling(places, parts)
            if found:
                return found
        return by_identity(places, path, parts) or by_spelling(
            places, split(os.path.realpath(path)), real=True
        )

    def directories(self) -> list[str]:
        """The allowed directories, to be named in a refusal; as they were known last, without a look at the disk."""
        return [place.path for place in self._effective.places]

    def check_open(self, given: str) -> None:
        """Refuse a spot whose place has been taken back."""
        if self._closed:
            raise Refused(
                f"{shown(given)} is no longer in an allowed directory: list the allowed directories again."
            )

    def check_writable(self, place: Place, landing: Landing, given: str) -> None:
        """Refuse a write that ends in a read-only directory, by whatever way it got there.

        The innermost directory with a rule decides, and is found from the opened directory upwards.
        """
        limits = self._effective.limits
        if not place.writable or (
            not all(limits.values()) and not innermost(landing.lineage(), limits, otherwise=False)
        ):
            raise read_only(given)

    def check_movable(self, found: os.stat_result, given: str) -> None:
        """Refuse to take away an allowed directory, or one that it lies in: its path would lead to something else.

        A read-only directory that was moved along with its parent could be written under its new name.
        """
        identity = identify(found)
        if identity in self._effective.limits:
            raise Refused(f"{shown(given)} is itself an allowed directory: it cannot be moved or removed.")
        if identity in self._effective.above:
            raise Refused(
                f"{shown(given)} holds an allowed directory, which has to stay where it is: move what is beside it."
            )

    # --- what the places are -------------------------------------------------------------------------------------

    def _refresh(self) -> Effective:
        """Decide again when a missing directory has appeared or one was replaced."""
        now = self._effective
        if now.is_outdated(self._patience):
            settled = settle(self._terms, self.engine, self._known, self._patience)
            # Not around the decision: it looks at disks, and one of them may hang.
            with self._lock:
                if not self._closed:
                    self._effective = settled
        return self._effective

    # --- what a path means ---------------------------------------------------------------------------------------

    def _spot(self, given: str, place: Place, parts: tuple[str, ...]) -> Spot:
        """Take `..` out of the path. Behind a link it could mean two things, so there it is refused."""
        kept: list[str] = []
        for part in parts:
            if part != "..":
                kept.append(part)
                continue
            if not kept:
                raise outside(given, self.directories())
            if self._is_link(place, kept, given):
                raise ToolError(f"{shown(given)} goes up from a link with '..': name the path without '..'.")
            kept.pop()
        return Spot(self, place, tuple(kept), given)

    def _is_link(self, place: Place, parts: list[str], given: str) -> bool:
        try:
            return stat.S_ISLNK(Spot(self, place, tuple(parts), given).lstat().st_mode)
        except Missing:
            return False

    def _relative(self, given: str, place: Place, parts: tuple[str, ...]) -> Spot | None:
        if ".." not in parts:
            return Spot(self, place, parts, given)
        found = self.find(os.path.join(place.real, *parts))
        try:
            return self._spot(given, *found) if found else None
        except Refused:
            return None


def read_only(given: str) -> ToolError:
    return Refused(
        f"{shown(given)} is in a read-only directory: write to a directory that is allowed for writing."
    )


def _is_there(spot: Spot) -> bool:
    try:
        return spot.exists()
    except ToolError:
        return False
