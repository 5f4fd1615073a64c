"""Edits JSON with comments as text: what is not meant to change keeps its comments, order and blanks.

Takes what editors take: `//` and `/* */` comments and a comma after the last member. Pure functions over text with
plain newlines; knows nothing of hosts or files.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[ \t]|/\*.*?\*/)*(?://[^\n]*)?(?=\n|$)", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"[-+.\w]+")
_DEEPEST = 100
_PLAIN = json.JSONDecoder()


class Member(NamedTuple):
    """A key and its value inside an object."""

    key: str
    start: int
    value: "Node"


class Node(NamedTuple):
    """A value: where it stands in the text and what it is."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] | None = None  # of an object, if somebody wants to enter it

    def find(self, key: str) -> Member | None:
        """The member of that name; where it stands twice, the last, as readers have it."""
        return next((member for member in reversed(self.members or ()) if member.key == key), None)


def parse(text: str) -> Any:
    """The value of a document; None where nothing but blanks and comments stands. ValueError says what is wrong."""
    try:
        return json.loads(text)  # most are plain JSON, and this is fifty times as fast
    except (ValueError, RecursionError):
        node = _document(text, ())
        return None if node is None else node.value


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The document with a value at the path; objects on the way there are made where they are missing."""
    root = _document(text, path)
    if root is None:
        whole = json.dumps(_nested(path, value), indent=2, ensure_ascii=False)
        lead = text.rstrip()
        return f"{lead}\n{whole}\n" if lead else f"{whole}\n"
    node = root
    for depth, key in enumerate(path):
        _expect_object(node, path[:depth])
        member = node.find(key)
        if member is None:
            return _insert(text, root, node, key, _nested(path[depth + 1 :], value))
        if depth == len(path) - 1 or member.value.value is None:
            return _overwrite(text, root, member, _nested(path[depth + 1 :], value))
        node = member.value
    raise ValueError("the path is empty")


def remove(text: str, path: Sequence[str]) -> str:
    """The document without the member at the path; unchanged if there is none."""
    node = _document(text, path)
    if node is None:
        return text
    for depth, key in enumerate(path[:-1]):
        _expect_object(node, path[:depth])
        member = node.find(key)
        if member is None:
            return text
        node = member.value
    _expect_object(node, path[:-1])
    while node.find(path[-1]) is not None:
        text, node = _cut(text, node, path)
    return text


# --- reading -----------------------------------------------------------------------------------------------------


def _document(text: str, path: Sequence[str]) -> Node | None:
    """The document, read in detail along a path of keys."""
    start = _skip(text, 0)
    if start == len(text):
        return None
    node = _value(text, start, 0, path)
    if (end := _skip(text, node.end)) != len(text):
        raise _broken(text, end, "the end of the document")
    return node


def _value(text: str, at: int, depth: int, path: Sequence[str]) -> Node:
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    if not path:
        with suppress(ValueError, RecursionError):  # most values hold no comment, and this is far faster
            value, end = _PLAIN.raw_decode(text, at)
            return Node(at, end, value)
    match text[at : at + 1]:
        case "{":
            return _object(text, at, depth, path)
        case "[":
            return _array(text, at, depth)
        case '"':
            return _string(text, at)
        case _:
            return _word(text, at)


def _object(text: str, start: int, depth: int, path: Sequence[str]) -> Node:
    members: list[Member] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        key = _string(text, at)
        colon = _skip(text, key.end)
        if text[colon : colon + 1] != ":":
            raise _broken(text, colon, "':'")
        inner = path[1:] if path and key.value == path[0] else ()
        value = _value(text, _skip(text, colon + 1), depth + 1, inner)
        members.append(Member(key.value, key.start, value))
        at = _next(text, value.end, "}")
    return Node(start, at + 1, {member.key: member.value.value for member in members}, tuple(members))


def _array(text: str, start: int, depth: int) -> Node:
    items: list[Any] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        item = _value(text, at, depth + 1, ())
        items.append(item.value)
        at = _next(text, item.end, "]")
    return Node(start, at + 1, items)


def _next(text: str, end: int, closing: str) -> int:
    """Where the next member or item begins, or the closing bracket stands."""
    at = _skip(text, end)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != closing:
        raise _broken(text, at, f"',' or '{closing}'")
    return at


def _string(text: str, at: int) -> Node:
    found = _STRING.match(text, at)
    if found is None:
        raise _broken(text, at, "a string in double quotes")
    return Node(at, found.end(), json.loads(found[0]))


def _word(text: str, at: int) -> Node:
    found = _WORD.match(text, at)
    try:
        value = json.loads(found[0]) if found else None
    except ValueError:
        found = None
        value = None
    if found is None:
        raise _broken(text, at, "a value")
    return Node(at, found.end(), value)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _broken(text: str, at: int, expected: str) -> ValueError:
    line = text.count("\n", 0, at) + 1
    return ValueError(f"line {line}: {expected} is expected here")


def _expect_object(node: Node, path: Sequence[str]) -> None:
    if node.members is None:
        raise ValueError(f"{'.'.join(path) or 'the document'} is not an object")


# --- writing -----------------------------------------------------------------------------------------------------


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _insert(text: str, root: Node, node: Node, key: str, value: Any) -> str:
    """A new member after the last one, in the manner of its neighbours."""
    members = node.members or ()
    if members and "\n" not in text[node.start : node.end]:
        shown = f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"
        end = members[-1].value.end
        comma = _skip(text, end)
        if text[comma : comma + 1] == ",":
            return f"{text[: comma + 1]} {shown},{text[comma + 1 :]}"
        return f"{text[:end]}, {shown}{text[end:]}"
    unit = _unit(text, root)
    indent = _indent(text, members[-1].start) if members else _indent(text, node.start) + unit
    line = "\n" + indent + _shown(key, value, indent, unit)
    if not members:
        inner = text[node.start + 1 : node.end - 1].rstrip()
        closing = "\n" + _indent(text, node.start) + "}"
        return text[: node.start + 1] + inner + line + closing + text[node.end :]
    end = members[-1].value.end
    comma = _skip(text, end)
    if text[comma : comma + 1] == ",":  # one stands after the last member: so it does after ours
        at = _line_end(text, comma + 1)
        return text[:at] + line + "," + text[at:]
    at = _line_end(text, end)
    return text[:end] + "," + text[end:at] + line + text[at:]


def _overwrite(text: str, root: Node, member: Member, value: Any) -> str:
    of_one_line = "\n" not in text[root.start : root.end]
    shown = json.dumps(value, indent=None if of_one_line else _unit(text, root), ensure_ascii=False)
    shown = shown.replace("\n", "\n" + _indent(text, member.start))
    return text[: member.value.start] + shown + text[member.value.end :]


def _cut(text: str, node: Node, path: Sequence[str]) -> tuple[str, Node]:
    """Without the last member of that name, its comma, and the line it stood on; the object as it is then."""
    members = node.members or ()
    at = max(index for index, member in enumerate(members) if member.key == path[-1])
    start, end = members[at].start, members[at].value.end
    comma = _skip(text, end)
    if text[comma : comma + 1] == ",":
        end = comma + 1
    elif at > 0:  # the last one: the comma before it goes as well
        before = members[at - 1].value.end
        comma = _skip(text, before)
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    end = _line_end(text, end)
    while text[start - 1] in " \t":
        start -= 1
    if text[start - 1] == "\n" and text[end : end + 1] in ("", "\n", "}"):
        start -= 1
    text = text[:start] + text[end:]
    again = _document(text, path)
    assert again is not None
    for key in path[:-1]:
        member = again.find(key)
        assert member is not None
        again = member.value
    if not again.members and not text[again.start + 1 : again.end - 1].strip():
        text = text[: again.start] + "{}" + text[again.end :]
    return text, again


def _shown(key: str, value: Any, indent: str, unit: str) -> str:
    body = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", "\n" + indent)
    return f"{json.dumps(key, ensure_ascii=False)}: {body}"


def _line_end(text: str, at: int) -> int:
    """Behind what stands on the rest of the line, if it is nothing but a comment."""
    found = _REST_OF_LINE.match(text, at)
    return found.end() if found else at


def _indent(text: str, at: int) -> str:
    """The blanks at the beginning of the line."""
    line = text.rfind("\n", 0, at) + 1
    found = re.match(r"[ \t]*", text[line:at])
    return found[0] if found else ""


def _unit(text: str, root: Node) -> str:
    """One step of indentation, as the document has it."""
    for member in root.members or ():
        indent = _indent(text, member.start)
        if indent and "\n" in text[root.start : member.start]:
            return indent
    return "  "
