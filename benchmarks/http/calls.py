"""Calls to a warm server: one after another on one connection, and many connections at once."""

import gc
import select
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from ..child import ANSWER_LIMIT, ServerGoneError
from ..entrants import Entrant
from ..figures import Results
from ..messages import HANDSHAKE, STATELESS, Revision, WrongAnswerError, check_echo, is_structured
from ..placement import Name, Placement, placements, restored
from .client import Client, message
from .wire import Site

CONNECTIONS = 16
CROWD = 128
TEXT = "The quick brown fox jumps over the lazy dog."


@dataclass(frozen=True, slots=True)
class Effort:
    """Seconds to warm up, then rounds of about so many seconds for each figure."""

    warm_up: float
    rounds: int
    seconds: float


@dataclass(slots=True)
class Runner:
    """One warm server with its clients, each with a session of its own where there are sessions."""

    entrant: Entrant
    revision: Revision
    site: Site
    clients: list[Client] = field(default_factory=list[Client])
    in_turn: int = 50
    at_once: int = 50

    def open(self, connections: int = CROWD) -> None:
        for _ in range(connections):
            client = Client(self.site, self.revision)
            client.open()
            self.clients.append(client)

    def requests(self, client: Client, count: int) -> list[bytes]:
        arguments = self.entrant.contestant.arguments(TEXT)
        return [client.echo(number, arguments) for number in range(1, count + 1)]

    def call_in_turn(self, requests: Sequence[bytes]) -> list[bytes]:
        """One call after another on one connection; the replies as they came."""
        connection = self.clients[0].connection
        return [connection.ask(request) for request in requests]

    def check(self, replies: Sequence[bytes]) -> None:
        """Raise unless every reply holds the text."""
        for raw in replies:
            check_echo(message(raw), self.entrant.contestant.prefix + TEXT)


def run(entrants: Sequence[Entrant], results: Results, *, effort: Effort) -> None:
    for revision in (HANDSHAKE, STATELESS):
        with restored(), ExitStack() as stack:
            runners = [
                Runner(entrant, revision, stack.enter_context(Site(entrant.command)))
                for entrant in entrants
                if revision in entrant.revisions
            ]
            _race(runners, results, effort)


def call_at_once(clients: Sequence[Client], requests: Sequence[list[bytes]]) -> list[bytes]:
    """Each client works through its own list, one request on its way at a time, all of them side by side."""
    waiting = {client.connection.socket.fileno(): client for client in clients}
    queues = {
        client.connection.socket.fileno(): iter(queue)
        for client, queue in zip(clients, requests, strict=True)
    }
    replies: list[bytes] = []
    with select.epoll() as poll:
        for number, client in waiting.items():
            poll.register(number, select.EPOLLIN)
            client.connection.send(next(queues[number]))
        while waiting:
            ready = poll.poll(ANSWER_LIMIT)
            if not ready:
                raise ServerGoneError("no answer in time")
            for number, _ in ready:
                connection = waiting[number].connection
                if (raw := connection.receive()) is None:
                    continue
                replies.append(raw)
                if (request := next(queues[number], None)) is not None:
                    connection.send(request)
                else:
                    del waiting[number]
                    poll.unregister(number)
    return replies


def _race(runners: list[Runner], results: Results, effort: Effort) -> None:
    """All servers stay up while each in turn gets a short round; one that fails is noted and left out."""
    _each(runners, results, lambda runner: _warm_up(runner, results, effort))
    places = placements()
    for _ in range(effort.rounds):
        _each(runners, results, lambda runner: _measure(runner, results, places))


def _each(runners: list[Runner], results: Results, step: Callable[[Runner], None]) -> None:
    for runner in runners.copy():
        gc.collect()
        gc.disable()
        try:
            step(runner)
        except (ServerGoneError, WrongAnswerError) as error:
            results.note(runner.entrant.key, f"http calls, {runner.revision}: {error}")
            runners.remove(runner)
        finally:
            gc.enable()


def _warm_up(runner: Runner, results: Results, effort: Effort) -> None:
    """Open the conversations, call until the time is up, and size the rounds by the pace seen."""
    runner.open()
    one = runner.requests(runner.clients[0], 50)
    many = [runner.requests(client, 10) for client in runner.clients[:CONNECTIONS]]
    until = time.perf_counter() + effort.warm_up
    while time.perf_counter() < until:
        began = time.perf_counter()
        replies = runner.call_in_turn(one)
        halfway = time.perf_counter()
        call_at_once(runner.clients[:CONNECTIONS], many)
        ended = time.perf_counter()
        runner.in_turn = max(50, int(50 / (halfway - began) * effort.seconds))
        pace = 10 * CONNECTIONS / (ended - halfway)
        runner.at_once = max(10, int(pace * effort.seconds / CONNECTIONS))
        runner.check(replies)
        if is_structured(message(replies[0])):
            results.note(runner.entrant.key, "answers with the text twice: content and structuredContent")


def _measure(runner: Runner, results: Results, places: dict[Name, Placement]) -> None:
    for client in runner.clients:
        client.reconnect()
        runner.check([client.connection.ask(request) for request in runner.requests(client, 1)])
    one = runner.requests(runner.clients[0], runner.in_turn)
    for name, place in places.items():
        place.apply(runner.site)
        _take(runner, results, f"http {name}", 1, lambda: runner.call_in_turn(one))
    # Two cores from here on: the client must not take its share of the server's core.
    for quantity, connections in (("http many", CONNECTIONS), ("http crowd", CROWD)):
        clients = runner.clients[:connections]
        each = max(5, runner.at_once * CONNECTIONS // connections)
        many = [runner.requests(client, each) for client in clients]
        _take(runner, results, quantity, connections, lambda c=clients, m=many: call_at_once(c, m))


def _take(
    runner: Runner, results: Results, quantity: str, width: int, call: Callable[[], list[bytes]]
) -> None:
    cpu = runner.site.cpu_seconds()
    began = time.perf_counter()
    replies = call()
    wall = time.perf_counter() - began
    cpu = runner.site.cpu_seconds() - cpu
    runner.check(replies)
    figures = {
        "cpu": cpu / len(replies) * 1e6,
        "wall": wall / len(replies) * width * 1e6,
        "rate": len(replies) / wall,
    }
    for name, value in figures.items():
        results.add(runner.revision, f"{quantity} {name}", runner.entrant.key, value)
