"""The one walker: says what is in each directory beneath a spot, ignored and excluded names apart.

Whoever uses it chooses the order. Knows nothing of patterns and results, and opens nothing but through its trail.
"""

import errno
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from .ignore import MAX_FILE, USUALLY_IGNORED, IgnoreFile
from .jobs import Job
from .trails import Parts, Trail, open_trail

if TYPE_CHECKING:
    from mcp_server_core.places import Spot

TRASH = ".mcp-trash"  # where deleted files wait to be restored: not part of the tree
MAX_DEPTH = 500  # directories below the start; deeper ones are not entered
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EMLINK)
_NO_MORE_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
Excluded = Callable[[str], object]


class Level(NamedTuple):
    """An ignore file in force. Its own paths are `lead`, and what follows the first `depth` parts of a directory."""

    rules: IgnoreFile
    depth: int
    lead: Parts = ()


class Visit(NamedTuple):
    """One directory: what is in it, sorted by name, and what was left out."""

    parts: Parts
    directories: list[str]
    others: "list[os.DirEntry[str]]"
    ignored: list[str]  # directories that an ignore file leaves out
    ignored_files: int
    levels: tuple[Level, ...]

    @property
    def prefix(self) -> str:
        """What stands before each name in a path relative to the start."""
        return f"{'/'.join(self.parts)}/" if self.parts else ""


class Skipping(NamedTuple):
    """What a walk leaves out."""

    ignoring: bool = True  # honour .gitignore, and the directories that everyone ignores
    excluded: Excluded | None = None
    usually: frozenset[str] = USUALLY_IGNORED


class Walker:
    """Reads one directory after the other."""

    def __init__(self, trail: Trail, job: Job, skipping: Skipping, above: tuple[Level, ...] = ()) -> None:
        self.trail = trail
        self.job = job
        self.unreadable = 0
        self.ignored = 0
        self.too_deep = 0
        self._skipping = skipping
        self._above = above

    def visit(self, parts: Parts, levels: tuple[Level, ...] | None = None) -> Visit | None:
        """What is in a directory; None when it is gone, closed to us, or no directory any more."""
        entries = self._scan(parts)
        if entries is None:
            return None
        self.job.step(len(entries) + 1)
        directories: list[str] = []
        others: list[os.DirEntry[str]] = []
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                directories.append(entry.name)
            else:
                others.append(entry)
        directories.sort()
        others.sort(key=_name)
        if TRASH in directories:
            directories.remove(TRASH)
        if self._skipping.excluded is not None:
            directories, others = self._without_excluded(parts, directories, others)
        levels = self._above if levels is None else levels
        if not self._skipping.ignoring:
            return Visit(parts, directories, others, [], 0, levels)
        return self._without_ignored(parts, directories, others, levels)

    def depth_first(self, since: Parts = ()) -> Iterator[Visit]:
        """Every directory before those in it, by name. With `since`, those before that one are passed over."""
        pending: list[tuple[Parts, tuple[Level, ...] | None]] = [((), None)]
        while pending:
            parts, levels = pending.pop()
            visit = self.visit(parts, levels)
            if visit is None:
                continue
            if parts >= since:
                yield visit
            if len(parts) >= MAX_DEPTH:
                self.too_deep += len(visit.directories)
            else:
                inner = visit.levels
                if parts >= since:
                    pending += [((*parts, name), inner) for name in reversed(visit.directories)]
                else:
                    # An ancestor of the place to go on from: what comes before that place is done.
                    first = since[len(parts)]
                    pending += [((*parts, n), inner) for n in reversed(visit.directories) if n >= first]

    def count(self, parts: Parts) -> int | None:
        """How many entries a directory has."""
        entries = self._scan(parts)
        self.job.step()
        return None if entries is None else len(entries)

    def _scan(self, parts: Parts) -> "list[os.DirEntry[str]] | None":
        try:
            return self.trail.scan(parts)
        except OSError as error:
            if error.errno in _NO_MORE_DESCRIPTORS:
                raise
            self.unreadable += error.errno not in _GONE
            return None

    def _without_excluded(
        self, parts: Parts, directories: list[str], others: "list[os.DirEntry[str]]"
    ) -> "tuple[list[str], list[os.DirEntry[str]]]":
        excluded, prefix = self._skipping.excluded, "".join([f"{part}/" for part in parts])
        assert excluded is not None
        return (
            [name for name in directories if not excluded(prefix + name)],
            [entry for entry in others if not excluded(prefix + entry.name)],
        )

    def _without_ignored(
        self,
        parts: Parts,
        directories: list[str],
        others: "list[os.DirEntry[str]]",
        levels: tuple[Level, ...],
    ) -> Visit:
        if any(entry.name == ".gitignore" for entry in others):
            rules = IgnoreFile(_read_rules(lambda: self.trail.open(parts, ".gitignore")))
            levels = (*levels, Level(rules, len(parts))) if rules else levels
        usually = self._skipping.usually
        ignored = [
            name
            for name in directories
            if name in usually or (levels and _is_ignored(parts, name, levels, is_directory=True))
        ]
        kept = others
        if levels:
            kept = [e for e in others if not _is_ignored(parts, e.name, levels, is_directory=False)]
        if ignored:
            left_out = set(ignored)
            directories = [name for name in directories if name not in left_out]
        self.ignored += len(ignored) + len(others) - len(kept)
        return Visit(parts, directories, kept, ignored, len(others) - len(kept), levels)


def _name(entry: "os.DirEntry[str]") -> str:
    return entry.name


def _is_ignored(parts: Parts, name: str, levels: tuple[Level, ...], *, is_directory: bool) -> bool:
    """What the innermost ignore file with an opinion says."""
    for rules, depth, lead in reversed(levels):
        below = (*lead, *parts[depth:])
        path = f"{'/'.join(below)}/{name}" if below else name
        verdict = rules.verdict(name, path, is_directory=is_directory)
        if verdict is not None:
            return verdict
    return False


def _read_rules(opened: Callable[[], int]) -> str:
    """The text of an ignore file, or the lines of its beginning; empty when it cannot be read."""
    from mcp_server_core import ToolError

    try:
        fd = opened()
    except (OSError, ToolError):
        return ""
    try:
        data = os.read(fd, MAX_FILE)
    except OSError:
        return ""
    finally:
        os.close(fd)
    if len(data) == MAX_FILE:
        data = data[: data.rfind(b"\n") + 1]
    return data.decode("utf-8", "surrogateescape")


@contextmanager
def open_walker(top: "Spot", job: Job, skipping: Skipping = Skipping()) -> Generator[Walker]:  # noqa: B008 - does not change
    """A walker that starts at a directory; a ToolError says why there is none."""
    with open_trail(top) as trail:
        above = _levels_above(top) if skipping.ignoring else ()
        yield Walker(trail, job, skipping, above)


def _levels_above(top: "Spot") -> tuple[Level, ...]:
    """The ignore files between the root of the place and the start."""
    levels: list[Level] = []
    for depth in range(len(top.parts)):
        rules = IgnoreFile(_read_rules(top.at(*top.parts[:depth], ".gitignore").open))
        if rules:
            levels.append(Level(rules, 0, top.parts[depth:]))
    return tuple(levels)
