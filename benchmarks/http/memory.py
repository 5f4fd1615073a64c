"""What many calls leave behind in our server's memory."""

from collections.abc import Sequence

from ..child import ServerGoneError
from ..entrants import Entrant
from ..figures import Results
from ..messages import HANDSHAKE, STATELESS, Revision, WrongAnswerError
from .calls import CONNECTIONS, Runner, call_at_once
from .wire import Site

WARM_UP = 10_000
BATCH = 1_600


def run(entrants: Sequence[Entrant], results: Results, *, calls: int) -> None:
    """Ours alone: a hundred thousand calls take some of the peers minutes, and the target is ours."""
    for entrant in entrants:
        for revision in (HANDSHAKE, STATELESS):
            if entrant.key == "ours" and revision in entrant.revisions:
                try:
                    _endure(entrant, revision, results, calls)
                except (ServerGoneError, WrongAnswerError) as error:
                    results.note(entrant.key, f"http memory, {revision}: {error}")


def _endure(entrant: Entrant, revision: Revision, results: Results, calls: int) -> None:
    with Site(entrant.command) as site:
        runner = Runner(entrant, revision, site)
        runner.open(CONNECTIONS)
        _call(runner, WARM_UP)
        before = site.resident_mib()
        _call(runner, calls)
        growth = site.resident_mib() - before
    results.add(revision, "http growth", entrant.key, growth)
    results.note("memory growth", f"{WARM_UP} calls to warm up, then {calls} on 16 connections")


def _call(runner: Runner, calls: int) -> None:
    """So many calls or a few more, in batches, so that the measuring side stays small."""
    queues = [runner.requests(client, BATCH // len(runner.clients)) for client in runner.clients]
    done = 0
    while done < calls:
        replies = call_at_once(runner.clients, queues)
        runner.check(replies)
        done += len(replies)
