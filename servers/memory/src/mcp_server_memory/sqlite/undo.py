"""Taking a change back: what it made goes, what it took out returns. Taking that back does the change again.

A change is in force or not; an undo and the undo of an undo switch it off and on. So the rows of a change always name
that change, and `back` names the undo that brought them back.
"""

from typing import TYPE_CHECKING, Literal, NamedTuple

from ..store import GraphError, Told

if TYPE_CHECKING:
    from .drafts import SqliteDraft

_TABLES = ("entity", "observation", "relation")
# The statements below are put together from constants alone.
# ruff: noqa: S608


class _Switch(NamedTuple):
    """Which rows go and what takes their place: those whose `column` names `brought` go, those gone by `took` return."""

    column: Literal["made", "back"]
    brought: int
    took: int


def take_back(draft: "SqliteDraft", number: int | None) -> Told:
    """Undo one change, the newest that is still in force unless told which."""
    number, act, client = _choose(draft, number)
    root, steps = _root(draft, number)
    again = steps % 2 == 1  # what is taken back is itself an undo
    switch = _Switch("back", number, number) if again else _Switch("made", root, root)
    _refuse_what_others_built_on(draft, number, switch)
    _refuse_taken_names(draft, number, switch)
    mine = draft.change()
    gone = _end(draft, switch, by=root if again else mine)
    back = _restore(draft, switch, by=None if again else mine)
    draft.run(
        "INSERT OR IGNORE INTO touched (change, name) SELECT ?, name FROM touched WHERE change = ?",
        mine,
        root,
    )
    draft.run("UPDATE change SET undone = ? WHERE id = ?", None if again else mine, root)
    draft.run("UPDATE change SET undone = ? WHERE id = ?", mine, number)
    draft.run("UPDATE change SET undoes = ? WHERE id = ?", number, mine)
    return Told(number, f"Took back change {number} ({act} by {client}): {gone} facts out, {back} back in.")


def _choose(draft: "SqliteDraft", number: int | None) -> tuple[int, str, str]:
    if number is None:
        row = draft.connection.execute(
            "SELECT id, act, client FROM change WHERE undone IS NULL AND undoes IS NULL ORDER BY id DESC LIMIT 1"
        ).fetchone()
        if row is None:
            raise GraphError("There is nothing to undo.")
        return row
    row = None
    if number < 1 << 63:  # larger ones are no numbers to SQLite
        row = draft.connection.execute(
            "SELECT id, act, client, undone FROM change WHERE id = ?", (number,)
        ).fetchone()
    if row is None:
        raise GraphError(f"There is no change {number}; the results of writing tools name theirs.")
    if row[3] is not None:
        raise GraphError(f"Change {number} was taken back already, by change {row[3]}.")
    return row[:3]


def _root(draft: "SqliteDraft", number: int) -> tuple[int, int]:
    """The change that a row of undos began with, and how many there were."""
    steps = 0
    while True:
        (undoes,) = draft.connection.execute("SELECT undoes FROM change WHERE id = ?", (number,)).fetchone()
        if undoes is None:
            return number, steps
        number, steps = undoes, steps + 1


def _refuse_what_others_built_on(draft: "SqliteDraft", number: int, switch: _Switch) -> None:
    """An entity that other changes added to stays: taking it away would take their facts along."""
    for table, belongs in (
        ("observation", "fact.entity = entity.id"),
        ("relation", "(fact.source = entity.name OR fact.target = entity.name)"),
    ):
        row = draft.connection.execute(
            "SELECT name.text, max(fact.made, ifnull(fact.back, 0)) FROM entity"
            f" JOIN name ON name.id = entity.name JOIN {table} AS fact ON {belongs} AND fact.gone IS NULL"
            f" AND fact.{switch.column} IS NOT ?1 WHERE entity.{switch.column} = ?1 AND entity.gone IS NULL LIMIT 1",
            (switch.brought,),
        ).fetchone()
        if row is not None:
            raise GraphError(
                f"Change {number} brought {row[0]!r}, and change {row[1]} added to it ({table}). "
                f"Undo change {row[1]} first, or use delete_entities."
            )


def _refuse_taken_names(draft: "SqliteDraft", number: int, switch: _Switch) -> None:
    row = draft.connection.execute(
        "SELECT name.text, live.made FROM entity AS old JOIN name ON name.id = old.name"
        " JOIN entity AS live ON live.name = old.name AND live.gone IS NULL WHERE old.gone = ? LIMIT 1",
        (switch.took,),
    ).fetchone()
    if row is not None:
        raise GraphError(
            f"Change {number} took out {row[0]!r}, which change {row[1]} created anew. Undo change {row[1]} first."
        )


def _end(draft: "SqliteDraft", switch: _Switch, by: int) -> int:
    return sum(
        draft.run(
            f"UPDATE {table} SET gone = ?2, back = NULL WHERE {switch.column} = ?1 AND gone IS NULL",
            switch.brought,
            by,
        )
        for table in _TABLES
    )


def _restore(draft: "SqliteDraft", switch: _Switch, by: int | None) -> int:
    """Bring back what is not there again by another way."""
    _postpone_relations(draft, switch.took)
    same = {
        "entity": "0",
        "observation": "other.entity = it.entity AND other.sum = it.sum AND other.text = it.text",
        "relation": "other.source = it.source AND other.target = it.target AND other.type = it.type",
    }
    return sum(
        draft.run(
            f"UPDATE {table} AS it SET gone = NULL, back = ?2 WHERE gone = ?1"
            f" AND NOT EXISTS (SELECT 1 FROM {table} AS other WHERE {same[table]} AND other.gone IS NULL)",
            switch.took,
            by,
        )
        for table in _TABLES
    )


def _postpone_relations(draft: "SqliteDraft", took: int) -> None:
    """A relation to an entity that another change took out since comes back together with that entity."""
    for end in ("source", "target"):
        of_end = f"SELECT max(entity.gone) FROM entity WHERE entity.name = relation.{end}"
        draft.run(
            f"UPDATE relation SET gone = ({of_end}) WHERE gone = ?1 AND ({of_end}) IS NOT NULL"
            f" AND NOT EXISTS (SELECT 1 FROM entity WHERE entity.name = relation.{end}"
            " AND (entity.gone IS NULL OR entity.gone = ?1))",
            took,
        )
