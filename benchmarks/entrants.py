"""The servers that can take part: installed, started once, and asked which revisions they speak."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .child import ServerGoneError
from .contestants import Contestant
from .figures import Results
from .messages import HANDSHAKE, STATELESS, Revision, WrongAnswerError
from .peers import NotInstallableError, prepare

# Start the command once and agree on the revision; WrongAnswerError where it does not speak it.
Trial = Callable[[list[str], Revision], None]


@dataclass(frozen=True, slots=True)
class Entrant:
    """A contestant that starts here, and the revisions it agreed to."""

    contestant: Contestant
    command: list[str]
    revisions: tuple[Revision, ...]

    @property
    def key(self) -> str:
        return self.contestant.key


def gather(contestants: Iterable[Contestant], results: Results, attempt: Trial) -> list[Entrant]:
    """Install and try each contestant; whoever cannot take part is noted with the reason."""
    entrants: list[Entrant] = []
    for contestant in contestants:
        print(f"trying {contestant.key}", file=sys.stderr)
        try:
            command = prepare(contestant)
        except NotInstallableError as error:
            results.note(contestant.key, f"could not be installed: {error}")
            continue
        revisions = _ask(contestant, command, results, attempt)
        if revisions:
            entrants.append(Entrant(contestant, command, revisions))
        if revisions and contestant.remark:
            results.note(contestant.key, contestant.remark)
    return entrants


def _ask(
    contestant: Contestant, command: list[str], results: Results, attempt: Trial
) -> tuple[Revision, ...]:
    """The revisions the server speaks; also the start that fills the caches, so no figure is a cold one."""
    spoken: list[Revision] = []
    for revision in (HANDSHAKE, STATELESS):
        try:
            attempt(command, revision)
            spoken.append(revision)
        except WrongAnswerError:
            results.note(contestant.key, f"does not speak {revision}")
        except ServerGoneError as error:
            results.note(contestant.key, f"could not be started: {error}")
            break
    return tuple(spoken)
