"""The servers that can take part: installed, started once, and asked which revisions they speak."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from .contestants import Contestant
from .figures import Results
from .messages import HANDSHAKE, STATELESS, Revision, WrongAnswerError, check_opening, opening
from .peers import NotInstallableError, prepare
from .wire import Process, ServerGoneError


@dataclass(frozen=True, slots=True)
class Entrant:
    """A contestant that starts here, and the revisions it agreed to."""

    contestant: Contestant
    command: list[str]
    revisions: tuple[Revision, ...]

    @property
    def key(self) -> str:
        return self.contestant.key


def gather(contestants: Iterable[Contestant], results: Results) -> list[Entrant]:
    """Install and try each contestant; whoever cannot take part is noted with the reason."""
    entrants: list[Entrant] = []
    for contestant in contestants:
        print(f"trying {contestant.key}", file=sys.stderr)
        try:
            command = prepare(contestant)
        except NotInstallableError as error:
            results.note(contestant.key, f"could not be installed: {error}")
            continue
        revisions = _ask(contestant, command, results)
        if revisions:
            entrants.append(Entrant(contestant, command, revisions))
        if revisions and contestant.remark:
            results.note(contestant.key, contestant.remark)
    return entrants


def _ask(contestant: Contestant, command: list[str], results: Results) -> tuple[Revision, ...]:
    """The revisions the server speaks; also the start that fills the caches, so no figure is a cold one."""
    spoken: list[Revision] = []
    for revision in (HANDSHAKE, STATELESS):
        try:
            with Process(command) as server:
                (answer,) = server.converse([opening(revision)])
                check_opening(answer, revision)
            spoken.append(revision)
        except WrongAnswerError:
            results.note(contestant.key, f"does not speak {revision}")
        except ServerGoneError as error:
            results.note(contestant.key, f"could not be started: {error}")
            break
    return tuple(spoken)
