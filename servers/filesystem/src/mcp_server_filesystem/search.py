"""Finds files and directories by the pattern of their path. Knows nothing of MCP."""

from typing import TYPE_CHECKING, NamedTuple

from .globs import Matches, compile_exclusion, compile_glob
from .ignore import USUALLY_IGNORED
from .jobs import Job
from .naming import GROWTH, is_odd
from .walking import Skipping, Visit, open_walker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server_core.places import Spot

Position = list[str]  # the directory's parts, then the last name that was told


class Wanted(NamedTuple):
    """What to look for, and what to leave out."""

    pattern: str
    excluded: "Sequence[str]" = ()
    ignoring: bool = True


class Found(NamedTuple):
    """Paths relative to the start, directories with a slash at the end, in the order of the walk."""

    paths: list[str]
    next: Position | None  # where to go on, if this is not all
    why: str  # ... and why it is not all
    visited: int
    ignored: int
    unreadable: int
    too_deep: int


def search(
    top: "Spot", wanted: Wanted, job: Job, *, budget: int, each: int = 0, since: Position | None = None
) -> Found:
    """Every path below a directory that the pattern matches, as far as `budget` characters go.

    `each` is what every path takes besides its own characters.
    """
    glob = compile_glob(wanted.pattern)
    # Who names such a directory means it.
    usually = frozenset(name for name in USUALLY_IGNORED if name not in wanted.pattern)
    skipping = Skipping(wanted.ignoring, compile_exclusion(wanted.excluded), usually)
    start, last = (tuple(since[:-1]), since[-1]) if since else ((), "")
    paths: list[str] = []
    left = budget
    position: Position | None = None
    why = ""
    with open_walker(top, job, skipping) as walker:
        for visit in walker.depth_first(start):
            names = _matching(visit, glob.by_name, glob.by_path)
            if last and visit.parts == start:
                names = [name for name in names if name.removesuffix("/") > last]
            prefix = visit.prefix
            extra = len(prefix) + each + 4
            growth = GROWTH if is_odd(prefix + "".join(names)) else 1
            left -= (sum(map(len, names)) + len(names) * extra) * growth
            if left >= 0:
                paths += [prefix + name for name in names] if prefix else names
                why = job.exhausted
                if why:
                    position = _end_of(visit)
                    break
                continue
            fitting = _fit(names, left, extra, growth, at_least=not paths)
            paths += [prefix + name for name in names[:fitting]]
            why, position = "the result is full", _before(visit, names, fitting)
            break
        return Found(paths, position, why, job.count, walker.ignored, walker.unreadable, walker.too_deep)


def _matching(visit: Visit, by_name: Matches | None, by_path: Matches) -> list[str]:
    """The names in a directory that match, sorted, directories with a slash."""
    if by_name is not None:
        files = [entry.name for entry in visit.others if by_name(entry.name)]
        directories = [f"{name}/" for name in visit.directories if by_name(name)]
    else:
        prefix = visit.prefix
        files = [entry.name for entry in visit.others if by_path(prefix + entry.name)]
        directories = [f"{name}/" for name in visit.directories if by_path(prefix + name)]
    if not directories:
        return files
    return sorted(files + directories, key=_plain) if files else directories


def _plain(name: str) -> str:
    return name.removesuffix("/")


def _fit(names: list[str], left: int, extra: int, growth: int, *, at_least: bool) -> int:
    """How many of the names fit, when all of them together leave `left`, which is less than nothing."""
    count = len(names)
    while count > at_least and left < 0:
        count -= 1
        left += (len(names[count]) + extra) * growth
    return count


def _before(visit: Visit, names: list[str], told: int) -> Position:
    return [*visit.parts, _plain(names[told - 1]) if told else ""]


def _end_of(visit: Visit) -> Position:
    """Behind every name of the directory."""
    return [*visit.parts, "\U0010ffff"]
