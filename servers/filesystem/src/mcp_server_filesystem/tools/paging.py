"""Arguments and sentences that the tools with long results share."""

from typing import Annotated, Any

from mcp_server_core import Arg, InvalidCursor, ToolError, read_cursor

from ..walking import MAX_DEPTH

Cursor = Annotated[str | None, Arg("nextCursor of the page before")]
Excluded = Annotated[
    list[str] | None, Arg("Globs to leave out; one without a slash means a name at any depth")
]
Ignored = Annotated[bool, Arg("Also what .gitignore leaves out, .git, node_modules, __pycache__")]
ROOM = 600  # characters for what is said besides the items


def position(kind: str, cursor: str | None) -> Any:
    """The position in a cursor; None at the start."""
    if cursor is None:
        return None
    try:
        return read_cursor(kind, cursor)
    except InvalidCursor:
        raise ToolError("This `cursor` is not of this list: take nextCursor from the page before.") from None


def unread(count: int, too_deep: int = 0) -> list[str]:
    """What is said of directories and files that could not be read, and of directories that were not entered."""
    notes = [f"[{count} could not be read]"] if count else []
    if too_deep:
        notes.append(f"[{too_deep} directories more than {MAX_DEPTH} levels down were not entered]")
    return notes
