"""What was deleted, kept where it can be found again: a hidden directory at the top of its allowed place.

An entry is a directory named by the moment, and in it the deleted thing under the path it had:
`.mcp-trash/20261118T170312.123456-ab12/notes/old.txt`. Nothing is ever removed from there by itself.
"""

import os
import stat
import time
from contextlib import suppress

from mcp_server_core import ToolError
from mcp_server_core.places import Missing, Refused, Spot, Taken, create_exclusive, shown

from .entries import Step, remove
from .moving import move

TRASH = ".mcp-trash"


def discard(spot: Spot, step: Step) -> Spot | None:
    """Move something to the trash, and say where it is; None if it was there, and is gone for good now."""
    spot.lstat()
    if spot.parts[:1] == (TRASH,):
        remove(spot, step)
        return None
    if not spot.parts:
        raise Refused(f"{shown(spot.given)} is itself an allowed directory: it cannot be deleted.")
    _open_trash(spot)
    kept = spot.at(TRASH, _moment(), *spot.parts)
    parent = spot.at(*kept.parts[:-1])
    parent.mkdir()
    try:
        move(spot, kept, step)
    except BaseException:
        _prune(parent)
        raise
    return kept


def restore(spot: Spot, step: Step) -> Spot:
    """Bring back what was last deleted at this path, and say where it lay."""
    for kept in _deleted_at(spot):
        spot.at(*spot.parts[:-1]).mkdir()
        move(kept, spot, step)
        _prune(spot.at(*kept.parts[:-1]))
        return kept
    raise Missing(f"Nothing that was at {shown(spot.given)} is in the trash.")


def _deleted_at(spot: Spot) -> list[Spot]:
    """The things in the trash that had this path, the latest first."""
    try:
        moments = sorted(spot.at(TRASH).listdir(), reverse=True)
    except Missing:
        return []
    found: list[Spot] = []
    for moment in moments:
        with suppress(ToolError):
            kept = spot.at(TRASH, moment, *spot.parts)
            kept.lstat()
            found.append(kept)
    return found


def _open_trash(spot: Spot) -> None:
    """Make the trash. Only its owner looks into it, whoever could see what is put there; git does not at all."""
    trash = spot.at(TRASH)
    if not trash.mkdir():
        return
    fd = trash.open(os.O_RDONLY)
    try:
        if hasattr(os, "fchmod"):
            os.fchmod(fd, stat.S_IRWXU)
    finally:
        os.close(fd)
    with suppress(Taken):
        create_exclusive(trash.child(".gitignore"), b"*\n")


def _moment() -> str:
    now = time.time_ns()
    return (
        time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 10**9)) + f".{now % 10**9:09}-{os.urandom(2).hex()}"
    )


def _prune(spot: Spot) -> None:
    """Remove directories of an entry that are empty now."""
    while len(spot.parts) > 1:
        try:
            spot.rmdir()
        except ToolError:
            return
        spot = spot.at(*spot.parts[:-1])
