"""What is in one directory: names and kinds, with sizes and times where they are asked for. Knows nothing of MCP."""

import os
import stat
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

from .naming import written_name
from .walking import TRASH

if TYPE_CHECKING:
    from mcp_server_core.places import Spot

Kind = Literal["file", "directory", "link", "other"]
Order = Literal["name", "size"]
Key = tuple[int, str]


class Entry(NamedTuple):
    """One name in a directory. A link is never followed: what it leads to is not said."""

    name: str
    kind: Kind
    size: int = 0
    modified: float = 0.0


class Totals(NamedTuple):
    """The whole directory, however much of it is shown."""

    files: int
    directories: int
    size: int


def list_names(spot: "Spot") -> list[Entry]:
    """The entries by name."""
    with spot.scandir() as entries:
        found = [Entry(entry.name, kind_of(entry)) for entry in entries]
    return sorted(entry for entry in found if entry.name != TRASH)


def list_sizes(spot: "Spot") -> list[Entry]:
    """The entries by name, with size and time. One that vanishes meanwhile is left out."""
    found: list[Entry] = []
    with spot.scandir() as entries:
        for entry in entries:
            try:
                seen = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            kind = kind_of_mode(seen.st_mode)
            size = 0 if kind == "directory" else seen.st_size
            found.append(Entry(entry.name, kind, size, seen.st_mtime))
    return sorted(entry for entry in found if entry.name != TRASH)


def written(entries: list[Entry], folder: str) -> list[Entry]:
    """The entries by name, with names that a result can carry."""
    if all(entry.name.isprintable() for entry in entries):
        return entries
    return sorted(entry._replace(name=written_name(folder, entry.name)) for entry in entries)


def sort_key(order: Order, entry: Entry) -> Key:
    """Where an entry stands: by name, or the largest first."""
    return (-entry.size if order == "size" else 0, entry.name)


def sum_up(entries: Iterable[Entry]) -> Totals:
    """How much there is."""
    files = directories = size = 0
    for entry in entries:
        if entry.kind == "directory":
            directories += 1
        else:
            files += 1
            size += entry.size
    return Totals(files, directories, size)


def kind_of(entry: "os.DirEntry[str]") -> Kind:
    """The kind of an entry, mostly without asking the disk again."""
    if entry.is_file(follow_symlinks=False):
        return "file"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "link" if entry.is_symlink() else "other"


def kind_of_mode(mode: int) -> Kind:
    """The kind of what a stat found."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "other"


def size_in_words(size: int) -> str:
    """A size as people read it."""
    if size < 1024:
        return f"{size} B"
    scaled = float(size)
    for unit in ("KiB", "MiB", "GiB"):
        scaled /= 1024
        if scaled < 1024:
            return f"{scaled:.1f} {unit}"
    return f"{scaled / 1024:.1f} TiB"
