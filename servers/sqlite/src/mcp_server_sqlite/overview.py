"""The whole schema at a glance, cut to size: as much detail as fits, and the names of the rest."""

from functools import partial
from itertools import accumulate
from typing import Any, NotRequired

from typing_extensions import TypedDict

from . import catalogue
from .database import Opener
from .rows import encoder
from .running import Session, run


class Overview(TypedDict):
    """Tables as lines of their columns; `omitted` names those that did not fit."""

    tables: list[dict[str, Any]]
    omitted: NotRequired[list[str]]


async def overview(opener: Opener, seconds: float, budget: int) -> Overview:
    """Every table with columns, keys, relations, indexes and row counts, of one state of the database."""
    return await run(opener, seconds, partial(_overview, budget))


def _overview(budget: int, running: Session) -> Overview:
    shown: list[dict[str, Any]] = []
    omitted: list[str] = []
    room = budget * 9 // 10
    running.command("BEGIN")
    for table in catalogue.tables(running):
        entry = _short(catalogue.describe(running, table)) if room > 0 else {}
        room -= len(encoder()(entry)) + 1
        if room >= 0:
            shown.append(entry)
        else:
            omitted.append(table["name"])
    found = Overview(tables=shown)
    if omitted:
        found["omitted"] = _fit_names(omitted, budget // 10 - 200)
    return found


def _short(table: catalogue.Description) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": table["name"]}
    if table["type"] != "table":
        entry["type"] = table["type"]
    if "rows" in table:
        entry["rows"] = f"more than {table['rows']}" if table.get("more_rows") else table["rows"]
    entry["columns"] = [_column(column) for column in table["columns"]]
    if table["foreign_keys"]:
        entry["foreign_keys"] = [_relation(key) for key in table["foreign_keys"]]
    if table["indexes"]:
        entry["indexes"] = [_index(index) for index in table["indexes"]]
    return entry


def _column(column: catalogue.Column) -> str:
    words = [column["name"], column["type"]]
    words += ["PRIMARY KEY"] * bool(column["pk"]) + ["NOT NULL"] * column["notnull"]
    return " ".join(filter(None, words))


def _relation(key: catalogue.Relation) -> str:
    target = ", ".join(name for name in key["to"] if name)
    return f"({', '.join(key['columns'])}) -> {key['table']}" + (f"({target})" if target else "")


def _index(index: catalogue.Index) -> str:
    over = ", ".join(column or "an expression" for column in index["columns"])
    return f"{index['name']} ({over})" + (" UNIQUE" if index["unique"] else "")


def _fit_names(names: list[str], room: int) -> list[str]:
    ends = accumulate(2 * len(name) + 3 for name in names)
    return [name for name, end in zip(names, ends, strict=True) if end <= room]
