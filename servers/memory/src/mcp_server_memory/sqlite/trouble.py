"""What SQLite says when something goes wrong, in words for whoever asked."""

import sqlite3

from ..store import GraphError

_WORDS = {
    sqlite3.SQLITE_BUSY: "The memory is in use by another program that does not let go of it. Nothing was changed; try again in a moment.",
    sqlite3.SQLITE_LOCKED: "The memory is in use by another program that does not let go of it. Nothing was changed; try again in a moment.",
    sqlite3.SQLITE_FULL: "The disk is full. Nothing was changed and nothing is lost: free some space and try again.",
    sqlite3.SQLITE_READONLY: "The memory may not be written: its file or folder is read-only. Nothing was changed; ask the user to allow writing.",
    sqlite3.SQLITE_CANTOPEN: "The memory cannot be opened: its folder is missing or may not be used. Ask the user to check the permissions of the folder.",
    sqlite3.SQLITE_PERM: "The memory cannot be opened: permission denied. Ask the user to check the permissions of the folder.",
    sqlite3.SQLITE_IOERR: "The disk could not be read or written; it may be full. Nothing was changed; ask the user to check it, then try again.",
    sqlite3.SQLITE_TOOBIG: "The text is longer than the memory can hold (1,000,000,000 bytes). Nothing was changed; shorten it.",
    sqlite3.SQLITE_INTERRUPT: "The search was stopped. Ask for something narrower.",
    sqlite3.SQLITE_NOMEM: "There is not enough memory for this. Nothing was changed; try something smaller.",
}


class StoreError(GraphError):
    """Trouble with the store, in words; `code` is SQLite's."""

    def __init__(self, words: str, code: int) -> None:
        super().__init__(words)
        self.code = code

    @property
    def about_one_job(self) -> bool:
        """Whether other writes may succeed where this one failed."""
        return self.code in (
            sqlite3.SQLITE_FULL,
            sqlite3.SQLITE_TOOBIG,
            sqlite3.SQLITE_NOMEM,
            sqlite3.SQLITE_IOERR,
        )


class Damaged(Exception):
    """The store is not what SQLite wrote: it has to be set aside."""


def code_of(error: sqlite3.Error) -> int:
    """The primary result code; 0 when the error did not come from SQLite itself."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken."""
    # Python itself, and not SQLite, finds text that is none.
    not_text = isinstance(error, sqlite3.OperationalError) and "not decode to UTF-8" in str(error)
    return not_text or code_of(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def explain(error: sqlite3.Error) -> StoreError | None:
    """The sentence for an error that is not our own mistake; None for one that is."""
    words = _WORDS.get(code_of(error))
    return None if words is None else StoreError(words, code_of(error))
