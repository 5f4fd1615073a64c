"""Finds text in the files below a directory, or in one file. Knows nothing of MCP."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from .globs import Glob, compile_glob
from .jobs import Job
from .lines import Line, find_lines
from .naming import GROWTH, is_odd
from .needles import Expression, Needle, Plain
from .walking import Skipping, Visit, Walker, open_walker

if TYPE_CHECKING:
    from collections.abc import Generator

    from mcp_server_core.places import Spot

# Files that a cloud folder fetches when they are read: a search must not download a whole drive.
_DATALESS = 0x40000000  # macOS, st_flags
_RECALL = 0x00400000 | 0x00040000  # Windows, st_file_attributes: on data access, on open
_PASSING = (errno.ENOENT, errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.ENODEV, errno.EAGAIN)

_LAST_LINE = 1 << 53  # behind every line of a file
Position = list[str | int]  # path relative to the start, number of the last line that was told


class Query(NamedTuple):
    """What to look for, and where."""

    pattern: str
    regex: bool = False
    glob: str | None = None
    context: int = 0
    ignoring: bool = True

    def needle(self) -> Needle:
        return Expression(self.pattern) if self.regex else Plain(self.pattern)


class Hit(NamedTuple):
    """One line in one file."""

    path: str  # relative to the start; empty if the start is the file
    line: Line

    def size(self, each: int) -> int:
        """About how many characters it takes to tell, when every path takes `each` besides its own."""
        around = self.line.before + self.line.after
        path = len(self.path) * (GROWTH if is_odd(self.path) else 1)
        return sum(map(len, around)) + len(self.line.text) + (path + each + 16) * (len(around) + 1) + 40


class Hits(NamedTuple):
    """What was found, and what was not looked at."""

    hits: list[Hit]
    files: int
    next: Position | None
    why: str
    ignored: int
    unreadable: int
    too_deep: int


def search_text(
    top: "Spot", query: Query, job: Job, *, limit: int, budget: int, since: Position | None = None
) -> Hits:
    """The lines that match, in the order of the walk, as far as limit and budget go."""
    needle = query.needle()
    glob = _compile_file_glob(query.glob)
    tally = _Tally(limit, budget, len(top.path), since)
    if stat.S_ISREG(top.stat().st_mode):
        return _in_one_file(top, needle, query, job, tally)
    with open_walker(top, job, Skipping(query.ignoring)) as walker:
        start = tuple(str(since[0]).split("/")[:-1]) if since else ()
        for visit in walker.depth_first(start):
            for name in _names(visit, glob):
                path = visit.prefix + name
                job.step()
                if tally.is_done(path):
                    continue
                for line in _lines(walker, visit, name, needle, query.context):
                    if not tally.take(Hit(path, line)):
                        return tally.hits(walker)
                tally.files += 1
                if why := job.exhausted:
                    tally.stop(path, why)
                    return tally.hits(walker)
            if why := job.exhausted:
                tally.stop(f"{visit.prefix}\U0010ffff", why)
                break
        return tally.hits(walker)


class _Tally:
    """What is collected, until it is enough."""

    def __init__(self, limit: int, budget: int, each: int, since: Position | None) -> None:
        self.files = 0
        self._each = each
        self._hits: list[Hit] = []
        self._limit = limit
        self._left = budget
        self._since = (_order(str(since[0])), int(since[1])) if since else None
        self._next: Position | None = None
        self._why = ""

    def is_done(self, path: str) -> bool:
        """Whether an earlier search was beyond this file."""
        return self._since is not None and (_order(path), _LAST_LINE) <= self._since

    def take(self, hit: Hit) -> bool:
        """Add a line; False when there is no room for it."""
        if self._since is not None and (_order(hit.path), hit.line.number) <= self._since:
            return True
        self._left -= hit.size(self._each)
        full = f"{self._limit} lines were found" if len(self._hits) == self._limit else ""
        full = full or ("the result is full" if self._left < 0 and self._hits else "")
        if full:
            before = self._hits[-1]
            self._next, self._why = [before.path, before.line.number], full
            return False
        self._hits.append(hit)
        return True

    def stop(self, path: str, why: str) -> None:
        """Come back with what there is; go on behind this path."""
        self._next, self._why = [path, _LAST_LINE], why

    def hits(self, walker: Walker | None = None) -> Hits:
        left_out = (walker.ignored, walker.unreadable, walker.too_deep) if walker else (0, 0, 0)
        return Hits(self._hits, self.files, self._next, self._why, *left_out)


def _order(path: str) -> tuple[tuple[str, ...], str]:
    """Files of a directory come before those of the directories in it."""
    *directories, name = path.split("/")
    return tuple(directories), name


def _compile_file_glob(pattern: str | None) -> Glob | None:
    """A pattern without a slash means a name at any depth."""
    if pattern is None:
        return None
    return compile_glob(pattern if "/" in pattern else f"**/{pattern}")


def _names(visit: Visit, glob: Glob | None) -> list[str]:
    files = [entry.name for entry in visit.others if entry.is_file(follow_symlinks=False)]
    if glob is None:
        return files
    if glob.by_name is not None:
        return [name for name in files if glob.by_name(name)]
    return [name for name in files if glob.by_path(visit.prefix + name)]


def _lines(walker: Walker, visit: Visit, name: str, needle: Needle, context: int) -> Iterator[Line]:
    try:
        fd = walker.trail.open(visit.parts, name)
    except OSError as error:
        walker.unreadable += error.errno not in _PASSING
        return
    try:
        if _COULD_BE_AWAY and is_away(os.fstat(fd)):
            walker.unreadable += 1
            return
        yield from find_lines(fd, needle, context, walker.job)
    except OSError as error:
        walker.unreadable += error.errno not in _PASSING
    finally:
        os.close(fd)


_COULD_BE_AWAY = hasattr(os.stat_result, "st_flags") or hasattr(os.stat_result, "st_file_attributes")


def is_away(found: os.stat_result) -> bool:
    """Whether reading the file would fetch it from a cloud first."""
    flags: int = getattr(found, "st_flags", 0)
    attributes: int = getattr(found, "st_file_attributes", 0)
    return bool(flags & _DATALESS or attributes & _RECALL)


@contextmanager
def _opened(spot: "Spot") -> "Generator[int]":
    fd = spot.open(os.O_RDONLY)
    try:
        yield fd
    finally:
        os.close(fd)


def _in_one_file(top: "Spot", needle: Needle, query: Query, job: Job, tally: _Tally) -> Hits:
    with top.explained(), _opened(top) as fd:
        for line in find_lines(fd, needle, query.context, job):
            if not tally.take(Hit("", line)):
                return tally.hits()
    tally.files = 1
    return tally.hits()
