"""A host's configuration as text: reads it, and changes one entry of it while everything else stays as it is.

The three formats are edited by jsonc.py, toml_text.py and yaml_text.py. What they made is read again and compared
here, so that a document no editor understands is refused and not spoilt. Knows no files.
"""

import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from .hosts import Entry, Format

STARTS = ("type", "command", "cmd", "args")  # what says how a server is started: always ours
VARIABLES = ("env", "envs")


class Broken(Exception):
    """The document cannot be read; it is never changed then."""


def read_section(text: str, format: Format, section: str) -> dict[str, Any]:
    """The servers that a document names; none if it has no such section."""
    return _section(_read(text, format), section)


def put_entry(text: str, format: Format, section: str, name: str, entry: Entry) -> str:
    """The document with this entry. What else stands in an entry of that name stays: it is the user's."""
    document = _read(text, format)
    before = _started(_section(document, section).get(name))
    wanted = entry if before is None else _merged(before, entry)
    expected = {**document, section: {**_section(document, section), name: wanted}}
    editor = _editor(format)
    try:
        if before is None:
            return _checked(editor, editor.put(text, [section, name], wanted), expected)
        for key, value in wanted.items():
            if key not in before or before[key] != value:
                text = editor.put(text, [section, name, key], value)
        return _checked(editor, text, expected)
    except Broken:
        raise
    except Exception as error:  # noqa: BLE001 - each library has errors of its own
        raise Broken(_told(error)) from None


def drop_entry(text: str, format: Format, section: str, name: str) -> str:
    """The document without the entry; unchanged if there is none."""
    document = _read(text, format)
    if name not in _section(document, section):
        return text
    left = {key: value for key, value in document[section].items() if key != name}
    expected = {**document, section: left}
    editor = _editor(format)
    try:
        text = editor.remove(text, [section, name])
        # A section with nothing in it goes as well, but not from a file of nothing else: some hosts want it there.
        bare = rf'\b{section}"?[ \t]*:\s*\{{\s*\}}(?=[ \t]*(?:,?[ \t]*(?:\n|$)|\}}))'
        if not left and len(document) > 1 and re.search(bare, text):
            text = editor.remove(text, [section])
        return _checked(editor, text, expected, section)
    except Broken:
        raise
    except Exception as error:  # noqa: BLE001 - each library has errors of its own
        raise Broken(_told(error)) from None


def show(format: Format, section: str, name: str, entry: Entry) -> str:
    """A document with nothing but this entry, to be pasted."""
    return put_entry("", format, section, name, entry)


def _editor(format: Format) -> ModuleType:
    match format:
        case "json":
            from . import jsonc as editor
        case "toml":
            from . import toml_text as editor
        case "yaml":
            from . import yaml_text as editor
    return editor


def _read(text: str, format: Format) -> dict[str, Any]:
    try:
        document = _editor(format).parse(text)
    except Exception as error:  # noqa: BLE001 - each library has errors of its own
        raise Broken(_told(error)) from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise Broken("the document is not a table of names and values")
    return document


def _section(document: Mapping[str, Any], section: str) -> dict[str, Any]:
    found = document.get(section)
    if found is None:
        return {}  # a key without a value, as YAML has it
    if not isinstance(found, dict):
        raise Broken(f"{section} is not a table of names and values")
    return found


def _started(entry: Any) -> Entry | None:
    """An entry that starts a program, to be changed; any other, such as an address, gives way as a whole."""
    return entry if isinstance(entry, dict) and ("command" in entry or "cmd" in entry) else None


def _merged(before: Entry, entry: Entry) -> Entry:
    """Ours is how the server starts; the user's are limits, switches, and variables that we do not set."""
    merged = {**entry, **before}
    for key, value in entry.items():
        if key in STARTS:
            merged[key] = value
        elif key in VARIABLES and isinstance(before.get(key), dict):
            merged[key] = {**before[key], **value}
    return merged


def _checked(editor: ModuleType, text: str, expected: dict[str, Any], section: str | None = None) -> str:
    """The changed document, if it says what it said before and what was meant to change."""
    found = editor.parse(text) or {}
    if section is not None and not expected[section]:
        found = {**found, section: found.get(section) or {}}
    if found != expected:
        raise Broken("it is written in a way that cannot be changed safely")
    return text


def _told(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
