"""Five hundred idle `subscriptions/listen` streams: what each costs, and how soon one change has reached all."""

import select
import time
from collections.abc import Sequence

from ..child import ANSWER_LIMIT, ServerGoneError
from ..entrants import Entrant
from ..figures import Results
from ..messages import STATELESS, WrongAnswerError
from ..placement import placements, restored
from .client import Client, message
from .wire import Connection, Site

LISTENERS = 500
FEW = 20
SETTLE = 1.0  # seconds; what a server sets up for a stream that stays, or clears away, is done by then
NOTE = "bench:///note"
ACKNOWLEDGED = b"notifications/subscriptions/acknowledged"
UPDATED = b"notifications/resources/updated"


def run(entrants: Sequence[Entrant], results: Results, *, changes: int) -> None:
    """One server after another, in the stateless form: the only one with such a stream."""
    for entrant in entrants:
        if STATELESS not in entrant.revisions or entrant.contestant.watched is None:
            continue
        try:
            with restored(), Site([*entrant.command, *entrant.contestant.watched]) as site:
                placements()["two cores"].apply(site)
                _measure(entrant, site, results, changes)
        except (ServerGoneError, WrongAnswerError) as error:
            results.note(entrant.key, f"http listeners: {error}")


def _measure(entrant: Entrant, site: Site, results: Results, changes: int) -> None:
    # A few that come and go first: the code they need is loaded then, and not counted.
    _reach_all(site, _listen(site, FEW))
    site.hang_up()
    time.sleep(SETTLE)
    before = site.resident_mib()
    streams = _listen(site, LISTENERS)
    time.sleep(SETTLE)
    each = (site.resident_mib() - before) / LISTENERS * 1024
    results.add(STATELESS, "http listener rss", entrant.key, each)
    for _ in range(changes):
        results.add(STATELESS, "http spread wall", entrant.key, _reach_all(site, streams) * 1e3)


def _listen(site: Site, count: int) -> list[Connection]:
    """So many streams, each acknowledged."""
    streams: list[Connection] = []
    for _ in range(count):
        client = Client(site, STATELESS)
        client.connection.send(client.listen(NOTE))
        said = b""
        while ACKNOWLEDGED not in said:
            said += client.connection.read()
            if b"\r\n\r\n" in said and not said.startswith(b"HTTP/1.1 200 "):
                raise WrongAnswerError(f"refused to be listened to: {said[-200:].decode(errors='replace')}")
        streams.append(client.connection)
    return streams


def _reach_all(site: Site, streams: Sequence[Connection]) -> float:
    """Change the note once; seconds until the last stream has said so."""
    changer = Client(site, STATELESS)
    waiting = {stream.socket.fileno(): stream for stream in streams}
    with select.epoll() as poll:
        for number in waiting:
            poll.register(number, select.EPOLLIN)
        touch = changer.touch(1)
        began = time.perf_counter()
        changer.connection.send(touch)
        while waiting:
            ready = poll.poll(ANSWER_LIMIT)
            if not ready:
                raise ServerGoneError(f"{len(waiting)} of {len(streams)} listeners never heard of the change")
            for number, _ in ready:
                if UPDATED in waiting[number].read():
                    poll.unregister(number)
                    del waiting[number]
        took = time.perf_counter() - began
    while (raw := changer.connection.receive()) is None:
        pass
    message(raw)
    return took
