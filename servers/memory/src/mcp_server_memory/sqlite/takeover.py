"""Taking over the file of the known memory server: once, as a whole, and without touching it."""

import logging
import sqlite3
import time
from collections.abc import Sequence
from os import strerror
from pathlib import Path

from .. import jsonl
from ..edits import Merged, merge
from ..store import GraphError, Source
from . import files, indexing
from .drafts import SqliteDraft
from .history import add_notice

log = logging.getLogger("mcp_server_memory")


def take_over(connection: sqlite3.Connection, paths: Sequence[str]) -> None:
    """Import each of these files that is there and was never imported."""
    for path in map(Path, paths):
        try:
            if path.is_file() and not _known(connection, path):
                _import(connection, path, path.read_bytes())
        except OSError as error:
            # Beginning an empty memory instead would look as if everything were forgotten.
            raise GraphError(
                f"{path.name} cannot be imported ({strerror(error.errno or 0)}). Ask the user to check the file."
            ) from None


def _known(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether a file was imported; one that changed since is said so in the log, and left alone."""
    row = connection.execute("SELECT size, modified FROM imported WHERE file = ?", (str(path),)).fetchone()
    if row is None:
        return False
    now = path.stat()
    if row != (now.st_size, now.st_mtime_ns):
        log.warning("%s changed after it was imported; import_graph adds what is new in it", path.name)
    return True


def _import(connection: sqlite3.Connection, path: Path, data: bytes) -> None:
    contents = jsonl.read(data)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _known(connection, path):  # another process may have been faster
            found = path.stat()
            draft = SqliteDraft(connection, Source(path.name, "import"))
            merged = merge(contents.entities, contents.relations, draft, stop=lambda: False)
            indexing.insert(connection, draft.take_rows())
            connection.execute(
                "INSERT INTO imported (file, size, modified, at) VALUES (?, ?, ?, ?)",
                (str(path), found.st_size, found.st_mtime_ns, int(time.time() * 1000)),
            )
            told = _tell(path, contents, merged)
            log.warning(told)
            if contents.rejected or merged.retyped:
                add_notice(connection, told)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _tell(path: Path, contents: jsonl.Contents, merged: Merged) -> str:
    told = (
        f"{path.name} was imported: {merged.entities} entities, {merged.observations} observations, "
        f"{merged.relations} relations. The file itself is unchanged."
    )
    if contents.rejected:
        kept = keep_rejected(str(path), contents.rejected)
        numbers = ", ".join(str(number) for number, _ in contents.rejected[:10])
        told += (
            f" {len(contents.rejected)} lines were not understood in full (line {numbers}"
            f"{', ...' if len(contents.rejected) > 10 else ''}); they are kept in {kept}."
        )
    if merged.retyped:
        told += f" Named twice with different types, the first was taken: {', '.join(merged.retyped[:10])}."
    return told


def keep_rejected(path: str, rejected: Sequence[tuple[int, str]]) -> str:
    """Write lines that were not understood into a file beside the one they came from; say its name."""
    target = Path(files.dated(path, "not-imported"))
    text = "\n".join(raw for _, raw in rejected) + "\n"
    target.write_bytes(text.encode(errors="surrogateescape"))
    return target.name
