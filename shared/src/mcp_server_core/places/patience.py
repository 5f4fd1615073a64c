"""Asking a disk that may never answer, such as a network share that went away.

A question about one directory is asked by one thread at a time. While it hangs, other threads go on without the
answer: one dead directory costs one thread, and the calls about all the others their peace for a moment at most.
"""

import threading
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 2.0  # seconds; a disk that sleeps answers within a few, and is waited for by those who need it


def ask_briefly(question: Callable[[], T], otherwise: T, seconds: float = PATIENCE) -> T:
    """The answer, or `otherwise` when there is none in time. A thread that hangs is left behind."""
    answers: list[T] = []
    asking = threading.Thread(target=lambda: answers.append(question()), daemon=True)
    asking.start()
    asking.join(seconds)
    return answers[0] if answers else otherwise


class _Turn:
    __slots__ = ("lock", "since")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.since = 0.0


class Patience:
    """Whose turn it is to ask about which directory."""

    __slots__ = ("_seconds", "_turns")

    def __init__(self, seconds: float = PATIENCE) -> None:
        self._seconds = seconds
        self._turns: dict[str, _Turn] = {}

    def ask(self, path: str, question: Callable[[], T], otherwise: T) -> T:
        """The answer, or `otherwise` when somebody else has waited for one for too long."""
        turn = self._turns.setdefault(path, _Turn())
        if not turn.lock.acquire(blocking=False):
            left = turn.since + self._seconds - monotonic()
            if left <= 0 or not turn.lock.acquire(timeout=left):
                return otherwise
        try:
            turn.since = monotonic()
            return question()
        finally:
            turn.lock.release()
