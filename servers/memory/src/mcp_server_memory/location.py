"""Where the memory is: which file is the store, and which files of the known server are taken over into it.

A path that names a text file (`memory.jsonl`, `memory.json`) stays what it is: the store stands beside it under the
same name with `.sqlite3` behind it, and the text file is imported once and never written.
"""

# Paths as the operator typed them; loaded at start, so no pathlib.
# ruff: noqa: PTH100, PTH111, PTH118, PTH123

import os
from typing import NamedTuple

_TEXT = (".json", ".jsonl", ".ndjson", ".txt")
_HEADER = b"SQLite format 3\0"


class Location(NamedTuple):
    """The store, and the files to import when they are there."""

    store: str
    imports: tuple[str, ...]


def locate(given: str | None) -> Location:
    """The place that was asked for, else the one for this user on this system."""
    if given:
        path = os.path.abspath(os.path.expanduser(given))
        if _is_text(path):
            return Location(f"{path}.sqlite3", (path,))
        return Location(path, ())
    from platformdirs import user_data_dir

    folder = user_data_dir("mcp-server-memory", appauthor=False)
    old = tuple(os.path.join(folder, name) for name in ("memory.jsonl", "memory.json"))
    return Location(os.path.join(folder, "memory.sqlite3"), old)


def _is_text(path: str) -> bool:
    """Whether a path names a file of JSON lines: by what is in it, else by its ending."""
    try:
        with open(path, "rb") as file:
            head = file.read(len(_HEADER))
    except OSError:
        head = b""
    if head == _HEADER:
        return False
    if head.lstrip()[:1] in (b"{", b"["):
        return True
    return path.lower().endswith(_TEXT)
