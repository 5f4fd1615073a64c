"""Suite `stdio`: calls to a warm server, one after another, pipelined, and one of a megabyte."""

import gc
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from .child import ServerGoneError
from .entrants import Entrant
from .figures import Results
from .messages import (
    HANDSHAKE,
    INITIALIZED,
    STATELESS,
    Revision,
    WrongAnswerError,
    call_echo,
    check_echo,
    check_opening,
    is_structured,
    opening,
)
from .placement import Name, Placement, placements, restored
from .wire import Process

WINDOW = 64
TEXT = "The quick brown fox jumps over the lazy dog."
# Prose as tools return it: lines, quotes and a letter outside ASCII here and there.
PARAGRAPH = 'She said "yes", and the café on the corner stayed open for another hour that evening.\n'
LARGE = (PARAGRAPH * 20_000).encode()[:1_000_000].decode(errors="ignore")


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to try: seconds to warm up, then rounds of about so many seconds each.

    Node compiles while it runs: its calls cost three times as much in the first second as after two.
    """

    warm_up: float
    rounds: int
    seconds: float


@dataclass(slots=True)
class Runner:
    """One warm server of one entrant, and how many calls fill a round."""

    entrant: Entrant
    revision: Revision
    server: Process
    sequential: int = 50
    pipelined: int = 50

    def requests(self, count: int, text: str = TEXT) -> list[bytes]:
        arguments = self.entrant.contestant.arguments(text)
        return [call_echo(number, arguments, self.revision) for number in range(1, count + 1)]

    def check(self, answers: Sequence[bytes], text: str = TEXT) -> None:
        """Raise unless every request was answered once and with the right text."""
        expected = self.entrant.contestant.prefix + text
        ids = sorted(check_echo(answer, expected) for answer in answers)
        if ids != list(range(1, len(answers) + 1)):
            raise WrongAnswerError("some requests were answered twice, others never")


def run(entrants: Sequence[Entrant], results: Results, *, effort: Effort) -> None:
    for revision in (HANDSHAKE, STATELESS):
        with restored(), ExitStack() as stack:
            runners: list[Runner] = []
            for entrant in entrants:
                if revision in entrant.revisions:
                    server = stack.enter_context(Process(entrant.command))
                    runners.append(Runner(entrant, revision, server))
            _race(runners, results, effort)


def _race(runners: list[Runner], results: Results, effort: Effort) -> None:
    """All servers stay up while each in turn gets a short round; one that fails is noted and left out."""
    _each(runners, results, lambda runner: _warm_up(runner, results, effort))
    places = placements()
    if places["one core"] == places["two cores"]:
        results.note("stdio", "this machine has one core: the rows for two cores were taken on one")
    for _ in range(effort.rounds):
        _each(runners, results, lambda runner: _measure(runner, results, places))


def _each(runners: list[Runner], results: Results, step: Callable[[Runner], None]) -> None:
    for runner in runners.copy():
        gc.collect()
        gc.disable()
        try:
            step(runner)
        except (ServerGoneError, WrongAnswerError) as error:
            results.note(runner.entrant.key, f"stdio, {runner.revision}: {error}")
            runners.remove(runner)
        finally:
            gc.enable()


def _warm_up(runner: Runner, results: Results, effort: Effort) -> None:
    """Open the conversation, call until the time is up, and size the rounds by the pace seen."""
    (answer,) = runner.server.converse([opening(runner.revision)])
    check_opening(answer, runner.revision)
    if runner.revision == HANDSHAKE:
        runner.server.tell(INITIALIZED)
    batch = runner.requests(50)
    until = time.perf_counter() + effort.warm_up
    while time.perf_counter() < until:
        began = time.perf_counter()
        answers = runner.server.converse(batch)
        halfway = time.perf_counter()
        runner.server.converse(batch, window=WINDOW)
        ended = time.perf_counter()
        runner.sequential = _fitting(len(batch), halfway - began, effort.seconds)
        runner.pipelined = _fitting(len(batch), ended - halfway, effort.seconds)
        if is_structured(answers[0]):
            results.note(runner.entrant.key, "answers with the text twice: content and structuredContent")


def _fitting(calls: int, took: float, seconds: float) -> int:
    return max(50, min(20_000, int(calls / took * seconds)))


def _measure(runner: Runner, results: Results, places: dict[Name, Placement]) -> None:
    for name, place in places.items():
        place.apply(runner.server)
        _call_in_turn(runner, results, name)
    # Two cores from here on: reading, writing and serving at once is the point.
    _call_pipelined(runner, results)
    _call_large(runner, results)


def _call_in_turn(runner: Runner, results: Results, place: Name) -> None:
    requests = runner.requests(runner.sequential)
    answers: list[bytes] = []
    cpu = runner.server.cpu_seconds()
    began = time.perf_counter()
    for request in requests:
        answers += runner.server.converse([request])
    wall = time.perf_counter() - began
    cpu = runner.server.cpu_seconds() - cpu
    runner.check(answers)
    results.add(runner.revision, f"{place} wall", runner.entrant.key, wall / len(requests) * 1e6)
    results.add(runner.revision, f"{place} cpu", runner.entrant.key, cpu / len(requests) * 1e6)


def _call_pipelined(runner: Runner, results: Results) -> None:
    requests = runner.requests(runner.pipelined)
    cpu = runner.server.cpu_seconds()
    began = time.perf_counter()
    answers = runner.server.converse(requests, window=WINDOW)
    wall = time.perf_counter() - began
    cpu = runner.server.cpu_seconds() - cpu
    runner.check(answers)
    results.add(runner.revision, "pipelined rate", runner.entrant.key, len(requests) / wall)
    results.add(runner.revision, "pipelined cpu", runner.entrant.key, cpu / len(requests) * 1e6)


def _call_large(runner: Runner, results: Results) -> None:
    requests = runner.requests(1, LARGE)
    for _ in range(3):
        cpu = runner.server.cpu_seconds()
        began = time.perf_counter()
        answers = runner.server.converse(requests)
        wall = time.perf_counter() - began
        cpu = runner.server.cpu_seconds() - cpu
        runner.check(answers, LARGE)
        results.add(runner.revision, "large wall", runner.entrant.key, wall * 1e3)
        results.add(runner.revision, "large cpu", runner.entrant.key, cpu * 1e3)
