"""From nothing to the first HTTP answer, one fresh process each time."""

import time
from collections.abc import Sequence

from ..child import ServerGoneError
from ..entrants import Entrant
from ..figures import Results
from ..messages import HANDSHAKE, STATELESS, Revision, WrongAnswerError
from .client import Client
from .wire import Site


def attempt(command: list[str], revision: Revision) -> None:
    """Open one conversation over HTTP and leave."""
    with Site(command) as site:
        Client(site, revision).open()


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
                    results.note(entrant.key, f"http start, {revision}: {error}")


def _start_once(entrant: Entrant, revision: Revision, results: Results) -> None:
    began = time.perf_counter()
    with Site(entrant.command) as site:
        Client(site, revision).open()
        cpu = site.cpu_seconds()
        wall = time.perf_counter() - began
        resident = site.resident_mib()
    results.add(revision, "http start cpu", entrant.key, cpu * 1e3)
    results.add(revision, "http start wall", entrant.key, wall * 1e3)
    results.add(revision, "http start rss", entrant.key, resident)
