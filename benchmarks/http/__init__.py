"""Suite `http`: starts, warm calls on one and on sixteen connections, memory over many calls, idle listeners."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..entrants import Entrant
from ..figures import Results
from . import calls, listeners, memory, starts
from .calls import Effort
from .starts import attempt

__all__ = ["Effort", "Plan", "attempt", "run"]


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything one run takes."""

    starts: int
    calls: Effort
    endurance: int
    changes: int


def run(entrants: Sequence[Entrant], results: Results, plan: Plan) -> None:
    starts.run(entrants, results, rounds=plan.starts)
    calls.run(entrants, results, effort=plan.calls)
    memory.run(entrants, results, calls=plan.endurance)
    listeners.run(entrants, results, changes=plan.changes)
