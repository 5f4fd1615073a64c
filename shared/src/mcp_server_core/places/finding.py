"""Which place an absolute path leads into.

Only chooses the handle to start from; whether the rest may be followed is decided by opening it beneath. So it
may look at names, links and other spellings, and nothing it answers is trusted.
"""

# Paths here are text that somebody typed.
# ruff: noqa: PTH116, PTH118

import os
from collections.abc import Sequence

from mcp_server_core.places.handles import Place, identify

Found = tuple[Place, tuple[str, ...]]


def by_spelling(places: Sequence[Place], parts: tuple[str, ...], *, real: bool = False) -> Found | None:
    """The place whose own path the parts begin with; the longest, if there are several."""
    best: Found | None = None
    for place in places:
        for spelling in (place.real_parts,) if real else (place.parts, place.real_parts):
            rest = parts[len(spelling) :]
            if parts[: len(spelling)] == spelling and (best is None or len(rest) < len(best[1])):
                best = place, rest
    return best


def by_identity(places: Sequence[Place], path: str, parts: tuple[str, ...]) -> Found | None:
    """The place that some leading part of the path reaches, whatever links or spelling it goes through."""
    known = {place.identity: place for place in places}
    best: Found | None = None
    reached = os.path.splitdrive(path)[0] + os.sep
    for count in range(len(parts) + 1):
        try:
            identity = identify(os.stat(reached))
        except (OSError, ValueError):
            break
        if identity in known:
            best = known[identity], parts[count:]
        if count < len(parts):
            reached = os.path.join(reached, parts[count])
    return best
