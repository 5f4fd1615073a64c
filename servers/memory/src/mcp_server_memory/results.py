"""What tools answer: the shapes, and how what the graph says is put into them.

Comments in place of docstrings at the shapes: those would stand in every tool's schema.
"""

from collections.abc import Sequence
from typing import Any, NotRequired

from mcp_server_core import Result, write_cursor
from typing_extensions import TypedDict

from .echo import shortened
from .edits import shown
from .pages import Page
from .shapes import Detailed, Entity, Grown, Relation, Removal
from .store import Written


# A part of the graph.
class Subgraph(TypedDict):
    entities: list[Entity]
    relations: list[Relation]
    notice: NotRequired[str]
    truncated: NotRequired[bool]
    nextCursor: NotRequired[str]


# As above, with times and sources when they were asked for.
class Opened(TypedDict):
    entities: list[Detailed]
    relations: list[Relation]
    notice: NotRequired[str]
    truncated: NotRequired[bool]
    nextCursor: NotRequired[str]


class CreatedEntities(TypedDict):
    entities: list[Entity]
    ignored: NotRequired[list[str]]
    truncated: NotRequired[bool]
    change: NotRequired[int]


class CreatedRelations(TypedDict):
    relations: list[Relation]
    ignored: NotRequired[list[str]]
    truncated: NotRequired[bool]
    change: NotRequired[int]


class AddedObservations(TypedDict):
    results: list[Grown]
    ignored: NotRequired[list[str]]
    truncated: NotRequired[bool]
    change: NotRequired[int]


class Done(TypedDict):
    success: bool
    message: str
    change: NotRequired[int]


def page_result(page: Page, kind: str) -> Any:
    """A page as Subgraph or Opened; `kind` is what its cursor is good for."""
    made: Opened = {
        "entities": page.entities,
        "relations": [one.shown() for one in page.relations],
    }
    if page.notices:
        made["notice"] = " ".join(page.notices)[:2000]
    if page.next is not None:
        made["truncated"] = True
        made["nextCursor"] = write_cursor(kind, list(page.next))
    return made


def echo_result(
    field: str, new: Sequence[Any], ignored: Sequence[str], written: Written[Any], budget: int
) -> Any:
    """What was stored and what was not, said back as far as it fits. `truncated` is the answer, not the store."""
    kept, cut = shortened(new, budget // 2)
    left_out, cut_too = shortened(ignored, budget // 4)
    made: dict[str, Any] = {field: kept}
    if left_out:
        made["ignored"] = left_out
    if cut or cut_too:
        made["truncated"] = True
    return numbered(made, written)


def removal_result(written: Written[Removal]) -> Result[Done]:
    """How much went, and what was not there."""
    gone = written.result
    counts = {
        "entities": gone.entities,
        "observations": gone.observations,
        "relations": gone.relations,
    }
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    message = f"Deleted {told}." if told else "Nothing to delete."
    if gone.missing:
        message += f" Not found: {_listed(gone.missing)}."
    done: Done = {"success": True, "message": message}
    told = message if written.change is None else f"{message} (change {written.change})"
    return Result(numbered(done, written), told)


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - 10} more" if len(texts) > 10 else ""
    return ", ".join(map(shown, texts[:10])) + more


def numbered(made: Any, written: Written[Any]) -> Any:
    """Add the number of the change, by which it can be undone; a call that changed nothing has none."""
    if written.change is not None:
        made["change"] = written.change
    return made
