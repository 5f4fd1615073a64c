"""A handshake client of one server on raw pipes, for the suites of single servers. Times calls, checks little."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .messages import HANDSHAKE, INITIALIZED, WrongAnswerError, call_tool, check_opening, opening
from .wire import Process


class Timed(NamedTuple):
    """The results of some calls, in the order they were asked for, and what they took."""

    results: list[dict[str, Any]]
    wall: float
    cpu: float

    @property
    def text(self) -> str:
        """The text half of the first result."""
        return self.results[0]["content"][0]["text"]


class Conversation(Process):
    """A server that has shaken hands and takes tool calls."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        super().__init__(command, env)
        self._number = 0
        (answer,) = self.converse([opening(HANDSHAKE)])
        check_opening(answer, HANDSHAKE)
        self.tell(INITIALIZED)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Timed:
        """One call; a refusal or a tool error is a WrongAnswerError."""
        return self.calls(name, [arguments])

    def calls(
        self,
        name: str,
        arguments: Sequence[Mapping[str, Any]],
        *,
        window: int = 1,
        refusals: bool = False,
        seconds: float = 300,
    ) -> Timed:
        """Several calls, at most `window` unanswered. `refusals` takes tool errors as results."""
        first = self._number + 1
        self._number += len(arguments)
        requests = [call_tool(first + at, name, given, HANDSHAKE) for at, given in enumerate(arguments)]
        cpu = self.cpu_seconds()
        began = time.perf_counter()
        answers = self.converse(requests, window=window, seconds=seconds)
        wall = time.perf_counter() - began
        cpu = self.cpu_seconds() - cpu
        by_id = {message["id"]: message for message in map(json.loads, answers)}
        results = [_result(by_id[first + at], refusals=refusals) for at in range(len(arguments))]
        return Timed(results, wall, cpu)


def _result(message: dict[str, Any], *, refusals: bool) -> dict[str, Any]:
    result = message.get("result")
    if result is None or (result.get("isError") and not refusals):
        raise WrongAnswerError(f"refused: {str(message)[:300]}")
    return result
