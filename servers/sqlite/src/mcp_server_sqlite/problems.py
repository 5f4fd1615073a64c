"""What went wrong, in one sentence that a model can act on. Knows SQLite's error codes and no protocol."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


class Problem(Exception):
    """A sentence for whoever asked; nothing in it comes from outside the database and the query."""


class Consent(Exception):
    """Not done yet: the user has to agree first. Says what would happen."""


_HALF_DONE = "A program ended in the middle of a change, which must be undone first: that takes write access to the database."
# What SQLite's own words leave open. The code is compared by its beginning: SQLITE_BUSY_SNAPSHOT is SQLITE_BUSY.
_SENTENCES = {
    "SQLITE_BUSY": "The database is locked by another program: nothing was changed, try again in a moment.",
    "SQLITE_LOCKED": "The database is locked by another call: nothing was changed, try again in a moment.",
    "SQLITE_READONLY_ROLLBACK": _HALF_DONE,
    "SQLITE_READONLY_RECOVERY": _HALF_DONE,
    "SQLITE_READONLY": "The database cannot be written: its file or directory is read-only.",
    "SQLITE_NOTADB": "The file is not an SQLite database, or it is encrypted.",
    "SQLITE_CORRUPT": "The database file is damaged: restore it from a backup.",
    "SQLITE_FULL": "Nothing was changed, because the disk is full.",
    "SQLITE_TOOBIG": "A value is longer than the 64 MiB allowed: ask for a part of it.",
    "SQLITE_NOMEM": "The query needs more memory than it may have: ask for less at once.",
    "SQLITE_CANTOPEN": "The database file, or a file SQLite needs beside it, could not be opened.",
    "SQLITE_IOERR": "The disk reported an error while the database was read or written.",
}


def explain(error: "sqlite3.Error") -> Problem:
    """The sentence for an error of SQLite."""
    code = getattr(error, "sqlite_errorname", "")
    for name, sentence in _SENTENCES.items():
        if code == name or code.startswith(f"{name}_"):
            return Problem(sentence)
    text = str(error)
    if "one statement at a time" in text:
        return Problem("Give exactly one statement: run the others in calls of their own.")
    return Problem(f"SQLite says: {text.rstrip('.')}.")


def timed_out(seconds: float) -> Problem:
    """The sentence for a statement that took too long."""
    return Problem(
        f"Stopped after {seconds:g} seconds: nothing was changed. "
        "Ask for less, add an index (explain_query shows the plan), or start the server with a longer --timeout."
    )
