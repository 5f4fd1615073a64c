"""Which databases there are: those the operator named, and where others may be. Light: loads SQLite with none of it."""

# Paths here are text that somebody typed.
# ruff: noqa: PTH100, PTH111, PTH112, PTH119, PTH120, PTH122

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .problems import Problem

if TYPE_CHECKING:
    from mcp_server_core.places import Grant, Places, Spot

    from .database import Opener

# The mark of a directory that is configured only because a database in it is: nothing else there is allowed.
FILE_ONLY = "holds a configured database"
_SUFFIXES = (".db", ".db3", ".sqlite", ".sqlite3")


class Named(NamedTuple):
    """A database file the operator named. It need not exist yet."""

    name: str
    path: str
    writable: bool


class Choice(NamedTuple):
    """What the operator said, before anybody looked at a disk."""

    files: tuple[Named, ...]
    directories: tuple[str, ...]
    read_only: bool

    def grants(self) -> "Sequence[Grant]":
        """The directories in which any database may be used. When there are files alone, their directories stand
        in, marked: so that a client's roots do not take the place of what the operator said.
        """
        from mcp_server_core.places import Grant, parse_grants

        if self.directories:
            return parse_grants(self.directories, read_only=self.read_only)
        return [Grant(os.path.dirname(file.path), file.writable, FILE_ONLY) for file in self.files]


def choose(paths: Sequence[str], *, read_only: bool = False) -> Choice:
    """Read the operator's paths: a directory, or a file, each with `:ro` behind it or not."""
    files: list[Named] = []
    directories: list[str] = []
    for text in paths:
        if not text or "\0" in text:
            raise ValueError("--db-path is the path of a database file or of a directory")
        bare, colon, rights = text.rpartition(":")
        path = bare if colon and rights in ("ro", "rw") and bare else text
        full = os.path.abspath(os.path.expanduser(path))
        if os.path.isdir(full) or path.endswith(("/", os.sep)):
            directories.append(text)
        elif full not in (file.path for file in files):
            writable = not read_only and not (path != text and rights == "ro")
            files.append(Named(_name(full, files), full, writable))
    return Choice(tuple(files), tuple(directories), read_only)


def _name(path: str, taken: Sequence[Named]) -> str:
    """A short name that no other database has: the file's without its ending, then with it, then its path."""
    names = {file.name for file in taken}
    base = os.path.basename(path)
    return next((name for name in (os.path.splitext(base)[0], base) if name not in names), path)


class Databases:
    """The databases of this server, for tools and resources alike."""

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self._own: dict[str, Places] = {}
        self._seen: dict[str, Spot] = {}

    def named(self, text: str | None) -> Named | None:
        """The database the operator named, by its name, its file's name or its path; the first one for nothing."""
        files = self.choice.files
        if text is None:
            return files[0] if files else None
        full = os.path.abspath(os.path.expanduser(text))
        known = {os.path.basename(file.path): file for file in reversed(files)}
        known |= {file.path: file for file in files} | {file.name: file for file in files}
        return known.get(text) or known.get(full)

    def spot(self, file: Named) -> "Spot":
        """Where a named database is. Blocks."""
        from mcp_server_core.places import Grant, Places

        places = self._own.get(file.path)
        if places is None:
            grant = Grant(os.path.dirname(file.path), file.writable)
            places = self._own[file.path] = Places([grant], mode="ignore")
        return places.resolve(file.path)

    def find(self, text: str | None, places: "Places | None") -> "Spot":
        """Where a database is, for one client. `places` are the directories it may use. Blocks."""
        file = self.named(text)
        if file is not None:
            return self.spot(file)
        if text is None or places is None:
            raise Problem(self._which(places))
        spot = places.resolve(text)
        if FILE_ONLY in spot.place.reason:
            raise Problem(f"There is no database {os.path.basename(text)!r} here. {self._which(None)}")
        self._remember(text, spot)
        return spot

    def seen(self, text: str) -> "Spot | None":
        """Where a database is that somebody used before under this name: for watching, where nobody asks. Blocks."""
        file = self.named(text)
        return self.spot(file) if file is not None else self._seen.get(text)

    def path(self, text: str) -> str | None:
        """The path of such a database, without looking."""
        file, spot = self.named(text), self._seen.get(text)
        return file.path if file else spot.path if spot else None

    def _remember(self, text: str, spot: "Spot") -> None:
        self._seen.pop(text, None)
        self._seen[text] = spot
        while len(self._seen) > 64:
            self._seen.pop(next(iter(self._seen)))

    def _which(self, places: "Places | None") -> str:
        if self.choice.files:
            return f"`database` is one of: {', '.join(file.name for file in self.choice.files)}."
        found = self.candidates(places) if places else []
        hint = f", for example {', '.join(found[:10])}" if found else ""
        return f"Say which database: pass `database`, a path inside an allowed directory{hint}."

    def candidates(self, places: "Places") -> list[str]:
        """Files directly in the allowed directories that look like databases. Blocks."""
        found: list[str] = []
        for place in places.current():
            names = places.resolve(place.path).listdir()
            found += [os.path.join(place.path, name) for name in sorted(names) if name.endswith(_SUFFIXES)]  # noqa: PTH118
        return found

    def opener(self, target: "Target", *, write: bool = False) -> "Opener":
        """What opens a database, when its time comes."""
        from .database import Opener

        return Opener(target.locate, write=write, create=not self.choice.read_only)


class Target(NamedTuple):
    """The database of one call: what to call it, and how to find it, which blocks."""

    name: str
    key: str  # the same for calls that mean the same file, as far as one can tell without looking
    locate: "Callable[[], Spot]"
