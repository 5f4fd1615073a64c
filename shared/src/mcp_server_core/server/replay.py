"""The second half of a question to a stateless client: its retry brings the answer.

The handler runs again from the top and finds its answers in place; answers of earlier rounds travel in the sealed
request state (MR-15). Loaded only when somebody asks: sealing needs cryptography.
"""

from hashlib import sha256
from typing import Any, TypeVar

from ..errors import InvalidParams
from ..protocol.codec import canonical
from ..protocol.messages import Json
from ..protocol.scope import Scope
from ..protocol.sealing import Sealer, bind
from .asking import InputRequired, Question

A = TypeVar("A")


class Replay:
    """The answers a stateless request brought with it, and the questions it still has.

    An answer counts only for the very question it was given to: if the question changed since (another file,
    another number of rows), it is asked again.
    """

    __slots__ = ("_answers", "_asked", "_binding", "_now", "_sealer")

    def __init__(self, scope: Scope, sealer: Sealer, principal: str, now: float) -> None:
        self._sealer = sealer
        self._now = now
        self._binding = bind(scope.method, scope.params, principal)
        self._answers: dict[str, Json] = {}
        self._asked: dict[str, str] = {}
        state = scope.params.get("requestState")
        responses = scope.params.get("inputResponses", {})
        if state is not None:
            if type(state) is not str:
                raise InvalidParams("`requestState` is a string")
            payload = sealer.open(state, binding=self._binding, now=now)
            self._answers.update(payload["answers"])
            self._asked.update(payload["asked"])
        if type(responses) is not dict or any(type(item) is not dict for item in responses.values()):
            raise InvalidParams("`inputResponses` is an object of objects")  # MR-11
        for key, response in responses.items():
            # A key that was never asked is ignored. Without a state there is nothing to compare with.
            if state is None or key in self._asked:
                self._answers.setdefault(key, response)

    def find(self, key: str, question: Question[A]) -> Json | None:
        """The answer that was given to this question, if it was."""
        answer = self._answers.get(key)
        if answer is None or self._asked.get(key, _digest(question)) != _digest(question):
            return None
        return answer

    def result(self, signal: InputRequired) -> Json:
        """The result that asks the client (MR-2, MR-3)."""
        for key, question in signal.questions.items():
            self._asked[key] = _digest(question)
            self._answers.pop(key, None)
        kept = {key: self._asked[key] for key in (*self._answers, *signal.questions) if key in self._asked}
        payload: Json = {"answers": self._answers, "asked": kept}
        return {
            "resultType": "input_required",
            "inputRequests": {key: question.input_request() for key, question in signal.questions.items()},
            "requestState": self._sealer.seal(payload, binding=self._binding, now=self._now),
        }


def _digest(question: Question[Any]) -> str:
    return sha256(canonical([question.method, question.params])).hexdigest()[:32]
