"""Suite `start`: from nothing to the first answer and to the tool list, one fresh process each time."""

import time
from collections.abc import Sequence

from .child import ServerGoneError
from .entrants import Entrant
from .figures import Results
from .messages import (
    HANDSHAKE,
    INITIALIZED,
    STATELESS,
    Revision,
    WrongAnswerError,
    check_opening,
    check_tools,
    list_tools,
    opening,
)
from .wire import Process


def attempt(command: list[str], revision: Revision) -> None:
    """Open one conversation over stdio and leave."""
    with Process(command) as server:
        (answer,) = server.converse([opening(revision)])
        check_opening(answer, revision)


def run(entrants: Sequence[Entrant], results: Results, *, rounds: int) -> None:
    """Start every entrant once per round, so that a busy moment of the machine hits all alike."""
    for revision in (HANDSHAKE, STATELESS):
        able = [entrant for entrant in entrants if revision in entrant.revisions]
        for turn in range(rounds):
            shift = turn % len(able) if able else 0
            for entrant in able[shift:] + able[:shift]:
                try:
                    _start_once(entrant, revision, results)
                except (ServerGoneError, WrongAnswerError) as error:
                    results.note(entrant.key, f"start, {revision}: {error}")


def _start_once(entrant: Entrant, revision: Revision, results: Results) -> None:
    first, second = opening(revision), list_tools(1, revision)
    began = time.perf_counter()
    with Process(entrant.command) as server:
        (answer,) = server.converse([first])
        opened = _reading(server, began)
        check_opening(answer, revision)
        if revision == HANDSHAKE:
            server.tell(INITIALIZED)
        (answer,) = server.converse([second])
        listed = _reading(server, began)
        check_tools(answer)
    for moment, reading in (("opening", opened), ("list", listed)):
        for quantity, value in reading.items():
            results.add(revision, f"{moment} {quantity}", entrant.key, value)


def _reading(server: Process, began: float) -> dict[str, float]:
    """The clocks first: a server may go on working after its answer, and that is not part of it."""
    cpu = server.cpu_seconds()
    wall = time.perf_counter() - began
    return {"cpu": cpu * 1e3, "wall": wall * 1e3, "rss": server.resident_mib()}
