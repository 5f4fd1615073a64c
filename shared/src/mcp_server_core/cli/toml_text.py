"""Edits TOML and keeps what is not meant to change: tomlkit where a table is changed, plain text where one is added.

Reads with the standard library. Pure functions over text; knows nothing of hosts or files.
"""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any


def parse(text: str) -> Any:
    """The value of a document."""
    return tomllib.loads(text)


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The document with a value at the path; tables on the way there are made where they are missing."""
    return _append(text, path, value) or _change(text, path, value)


def remove(text: str, path: Sequence[str]) -> str:
    """The document without the value at the path; unchanged if there is none."""
    import tomlkit

    value = _find(parse(text), path)
    if value is None:
        return text
    for table in (shown := _table(path, value), shown.removesuffix("\n")):
        if text == table or text.endswith(f"\n\n{table}"):  # it stands where `put` put it
            return text.removesuffix(table).removesuffix("\n" if table == shown else "\n\n")
    document = tomlkit.parse(text)
    holder: Any = document
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    return tomlkit.dumps(document)


def _append(text: str, path: Sequence[str], value: Any) -> str | None:
    """A new table at the end, where it changes nothing before it; None if the document does not let us."""
    if not isinstance(value, Mapping) or _find(parse(text), path) is not None:
        return None
    table = _table(path, value)
    if not text:
        return table
    changed = f"{text}\n{table}" if text.endswith("\n") else f"{text}\n\n{table}".removesuffix("\n")
    try:
        parse(changed)
    except tomllib.TOMLDecodeError:  # one of the tables above is written in braces, which closes it
        return None
    return changed


def _change(text: str, path: Sequence[str], value: Any) -> str:
    import tomlkit
    from tomlkit.items import InlineTable

    document = tomlkit.parse(text)
    holder: Any = document
    for key in path[:-1]:
        holder = holder[key] if key in holder else holder.setdefault(key, {})
    if isinstance(holder, InlineTable) and isinstance(value, Mapping):
        braces = tomlkit.inline_table()
        braces.update(value)
        value = braces
    holder[path[-1]] = value
    return tomlkit.dumps(document)


def _find(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _table(path: Sequence[str], value: Any) -> str:
    """The lines of a table of its own."""
    import tomlkit

    table = tomlkit.table()
    table.update(value)
    for key in reversed(path[1:]):
        inner, table = table, tomlkit.table(is_super_table=True)
        table[key] = inner
    document = tomlkit.document()
    document[path[0]] = table
    return tomlkit.dumps(document)
