"""Edits YAML as text: what is not meant to change keeps its comments, order, blanks and spelling.

ruamel.yaml says where each value stands; only the lines of one pair are cut out or written. A pair inside braces is
written as JSON, which YAML understands. Pure functions over text; knows nothing of hosts or files.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?(?=\n|$)")
_PLAIN = re.compile(r"[A-Za-z/][\w./@-]*", re.ASCII)
_NO_STRINGS = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}  # to one reader or another


class _Pair(NamedTuple):
    """A key and its value, where they stand, and whether braces are around them."""

    key: Any
    value: Any
    within_braces: bool

    @property
    def start(self) -> int:
        return self.key.start_mark.index

    @property
    def column(self) -> int:
        return self.key.start_mark.column


def parse(text: str) -> Any:
    """The value of a document; None where nothing but blanks and comments stands."""
    return _library().load(text)


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The document with a value at the path; mappings on the way there are made where they are missing."""
    node = _library().compose(text)
    if node is None:
        return _add_lines(text, len(text.rstrip("\n")), _lines(_nested(path, value), 0))
    for depth, key in enumerate(path):
        pairs = _pairs(node)
        rest = _nested(path[depth + 1 :], value)
        found = next((pair for pair in pairs if pair.key.value == key), None)
        if found is None:
            return _insert(text, node, pairs, {key: rest})
        if depth == len(path) - 1 or _is_empty(found.value):
            return _overwrite(text, found, rest)
        node = found.value
    raise ValueError("the path is empty")


def remove(text: str, path: Sequence[str]) -> str:
    """The document without the pair at the path; unchanged if there is none."""
    node, above = _library().compose(text), None
    for depth, key in enumerate(path):
        pairs = [] if node is None or _is_empty(node) else _pairs(node)
        at = next((number for number, pair in enumerate(pairs) if pair.key.value == key), None)
        if at is None:
            return text
        if depth == len(path) - 1:
            return _cut(text, pairs, at, above)
        above, node = pairs[at], pairs[at].value
    raise ValueError("the path is empty")


# --- reading -----------------------------------------------------------------------------------------------------


def _library() -> Any:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True)


def _pairs(node: Any) -> list[_Pair]:
    if node.id != "mapping":
        raise ValueError("a value on the way is no mapping")
    return [_Pair(key, value, bool(node.flow_style)) for key, value in node.value]


def _is_empty(node: Any) -> bool:
    return node.value == [] if node.id == "mapping" else node.tag.endswith(":null")


def _end(text: str, pair: _Pair) -> int:
    """Behind the last character of a pair."""
    key, node, item = pair.key, pair.value, False
    while node.id != "scalar" and not node.flow_style:
        last, item = node.value[-1], node.id == "sequence"
        key, node = (key, last) if item else last
    if node.start_mark.index < key.start_mark.index:
        raise ValueError("an alias stands there: change it by hand")
    if (
        node.start_mark.index == node.end_mark.index and not item
    ):  # nothing, said to stand where the next thing does
        return text.index(":", key.end_mark.index) + 1
    end = node.end_mark.index
    if node.id == "scalar" and node.style in ("|", ">"):
        return end - 1 if text[end - 1] == "\n" else end
    return end


def _line_end(text: str, at: int) -> int:
    """Behind what stands on the rest of the line, if it is nothing but a comment."""
    found = _REST_OF_LINE.match(text, at)
    return found.end() if found else at


# --- writing -----------------------------------------------------------------------------------------------------


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _insert(text: str, node: Any, pairs: list[_Pair], new: Mapping[str, Any]) -> str:
    """A new pair after the last one."""
    if not pairs:
        start, end = node.start_mark.index, node.end_mark.index
        return f"{text[:start]}{json.dumps(new, ensure_ascii=False)}{text[end:]}"
    end = _end(text, pairs[-1])
    if pairs[-1].within_braces:
        return f"{text[:end]}, {json.dumps(new, ensure_ascii=False)[1:-1]}{text[end:]}"
    return _add_lines(text, _line_end(text, end), _lines(new, pairs[-1].column))


def _add_lines(text: str, at: int, lines: Iterator[str]) -> str:
    shown = "\n".join(lines)
    return f"{text[:at]}\n{shown}{text[at:]}" if at else f"{shown}\n"


def _overwrite(text: str, pair: _Pair, value: Any) -> str:
    """Another value in the place of the one that a pair has."""
    colon, end = text.index(":", pair.key.end_mark.index) + 1, _end(text, pair)
    lines = "\n".join(_lines({"": value}, pair.column)).partition("\n")[2]
    if pair.within_braces or not lines:
        shown = json.dumps(value, ensure_ascii=False) if pair.within_braces else _scalar(value)
        return f"{text[:colon]} {shown}{text[end:]}"
    rest = _line_end(text, colon)  # a comment behind the colon stays there
    return f"{text[:rest]}\n{lines}{text[max(end, rest) :]}"


def _cut(text: str, pairs: list[_Pair], at: int, above: _Pair | None) -> str:
    """Without a pair and the lines it stands on; a mapping that had nothing else becomes an empty one."""
    pair, end = pairs[at], _end(text, pairs[at])
    if pair.within_braces:
        if at > 0:
            return text[: _end(text, pairs[at - 1])] + text[end:]
        return text[: pair.start] + text[pairs[1].start if len(pairs) > 1 else end :]
    line, end = text.rfind("\n", 0, pair.start) + 1, _line_end(text, end)
    if text[line : pair.start].strip():
        raise ValueError("something stands before it on its line: change it by hand")
    if line == 0:
        return text[end + 1 :]
    if len(pairs) == 1 and above is not None:
        colon = text.index(":", above.key.end_mark.index) + 1
        return text[:colon] + " {}" + text[colon : line - 1] + text[end:]
    return text[: line - 1] + text[end:]


def _lines(value: Mapping[str, Any], column: int) -> Iterator[str]:
    """A mapping, a pair a line."""
    blanks = " " * column
    for key, inner in value.items():
        shown = f"{blanks}{_scalar(key)}:"
        if isinstance(inner, Mapping) and inner:
            yield shown
            yield from _lines(inner, column + 2)
        elif isinstance(inner, list) and inner:
            yield shown
            yield from (f"{blanks}- {_scalar(item)}" for item in inner)
        else:
            yield f"{shown} {_scalar(inner)}"


def _scalar(value: Any) -> str:
    """Plain where every reader takes it for text; else as JSON writes it."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NO_STRINGS:
        return value
    return json.dumps(value, ensure_ascii=False)
