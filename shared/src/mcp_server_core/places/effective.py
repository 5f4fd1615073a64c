"""What the operator's and the client's words come to on this disk, now.

Opens the directories they name, lets policy.py decide, and says which are missing. A directory that was held
before keeps its meaning: no link may take its place.
"""

# Paths here are text that somebody typed.

import os
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from mcp_server_core.places.handles import Directory, Identity, Place
from mcp_server_core.places.patience import Patience
from mcp_server_core.places.policy import ClientRoot, Grant, RootsMode, ceilings, decide
from mcp_server_core.places.walk import Engine


class Terms(NamedTuple):
    """What was said, before anybody looked at a disk."""

    grants: tuple[Grant, ...]
    roots: tuple[ClientRoot, ...]
    mode: RootsMode
    read_only: bool


class Listed(NamedTuple):
    """An allowed directory as a user may see it; `problem` says why it cannot be used at the moment."""

    path: str
    writable: bool
    reason: str
    problem: str = ""


class Effective(NamedTuple):
    """The outcome of one decision. Replaced as a whole, never changed."""

    places: tuple[Place, ...]
    limits: dict[Identity, bool]  # whether each directory that somebody named may be written
    above: frozenset[Identity]  # directories that have a named one somewhere below them
    missing: tuple[Listed, ...]
    ignored: tuple[ClientRoot, ...]
    waiting: tuple[str, ...]  # named by somebody, not there yet

    def is_outdated(self, patience: Patience) -> bool:
        """Whether a missing directory has appeared, or one that is held was replaced."""
        return any(patience.ask(path, partial(os.path.isdir, path), False) for path in self.waiting) or any(
            patience.ask(place.path, place.directory.is_replaced, False) for place in self.places
        )

    def listing(self, patience: Patience) -> tuple[Listed, ...]:
        """Every directory, those that cannot be used included."""
        here = (
            Listed(
                place.path,
                place.writable,
                place.reason,
                patience.ask(place.path, partial(_problem, place.directory), SILENT),
            )
            for place in self.places
        )
        return (*here, *self.missing)


NOTHING = Effective((), {}, frozenset(), (), (), ())
SILENT = "does not answer"


def _problem(directory: Directory) -> str:
    return "does not exist" if directory.is_gone() else ""


def settle(terms: Terms, engine: Engine, known: dict[str, Directory], patience: Patience) -> Effective:
    """Look at the disk and decide. What was opened is kept in `known` for the next time."""
    configured: list[tuple[Grant, Directory]] = []
    roots: list[Directory] = []
    missing: list[Listed] = []
    ignored: list[ClientRoot] = []
    for grant in terms.grants:
        directory = patience.ask(
            grant.path, partial(_enter, grant.path, engine, known), _kept(grant.path, known)
        )
        if isinstance(directory, Directory):
            configured.append((grant, directory))
        else:
            writable = grant.writable and not terms.read_only
            missing.append(Listed(grant.path, writable, grant.reason, problem=directory))
    for root in terms.roots if terms.mode != "ignore" else ():
        directory = root.problem or patience.ask(
            root.path, partial(_enter, root.path, engine, known), _kept(root.path, known)
        )
        if isinstance(directory, Directory):
            roots.append(directory)
        else:
            ignored.append(root._replace(problem=directory))
    allowed = decide(
        configured,
        roots,
        mode=terms.mode,
        nothing_configured=not terms.grants,
        read_only=terms.read_only,
    )
    places = tuple(Place(entry.directory, writable=entry.writable, reason=entry.reason) for entry in allowed)
    limits = ceilings(configured)
    for place in places:
        limits[place.identity] = place.writable and limits.get(place.identity, True)
    waiting = [entry.path for entry in missing] + [root.path for root in ignored if root.path]
    ignored += _unused(terms.roots, roots, places)
    named = (*(directory for _, directory in configured), *(place.directory for place in places))
    above = frozenset(step for directory in named for step in directory.lineage[1:])
    return Effective(places, limits, above, tuple(missing), tuple(ignored), tuple(waiting))


def _kept(path: str, known: dict[str, Directory]) -> Directory | str:
    """What stands for a directory that does not answer: its handle, if it was ever opened."""
    return known.get(path) or SILENT


def _enter(path: str, engine: Engine, known: dict[str, Directory]) -> Directory | str:
    """Open a directory, or say why not."""
    before = known.get(path)
    try:
        if before is None:
            directory = engine.enter(path)
        elif before.is_replaced():
            directory = engine.enter_again(before)
        else:
            directory = before
    except FileNotFoundError:
        return before or "does not exist"
    except NotADirectoryError:
        return before or "is not a directory"
    except OSError:
        return before or "cannot be opened"
    known[path] = directory
    return directory


def _unused(
    said: Sequence[ClientRoot], roots: Sequence[Directory], places: Sequence[Place]
) -> list[ClientRoot]:
    used = {place.identity for place in places}
    elsewhere = {root.path for root in roots if root.identity not in used}
    return [
        root._replace(problem="is not inside a configured directory")
        for root in said
        if root.path in elsewhere
    ]
