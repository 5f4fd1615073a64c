"""How SQLite would go about a statement, without running it."""

from typing import Any, NamedTuple

from .database import Opener
from .guard import EXPLAINING
from .running import Session, run
from .statement import Bound


class Step(NamedTuple):
    """One step of a plan; `level` is how deep it is nested."""

    level: int
    detail: str


async def explain_plan(opener: Opener, sql: str, values: Bound, seconds: float) -> list[Step]:
    """The plan of a query, or of a statement that would change rows."""

    def plan(running: Session) -> list[Any]:
        running.guard.begin(EXPLAINING)
        return running.all(f"EXPLAIN QUERY PLAN {sql}", values)

    found = await run(opener, seconds, plan)
    levels: dict[int, int] = {0: -1}
    steps: list[Step] = []
    for number, parent, _, detail in found:
        levels[number] = levels.get(parent, -1) + 1
        steps.append(Step(level=levels[number], detail=detail))
    return steps
