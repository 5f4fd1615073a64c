"""One SQL statement as text: its tokens, and the values bound to it. Decides nothing about what is allowed."""

import re
from base64 import b64decode
from binascii import Error as BadBase64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from .problems import Problem

Value: TypeAlias = str | int | float | bytes | None
Bound: TypeAlias = "Sequence[Value] | Mapping[str, Value]"

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
    |(?P<parameter>\?\d*|[:@$][^\W\d][\w$]*)
    |(?P<word>[\w$]+)
    |(?P<other>.)
    """,
    re.DOTALL | re.VERBOSE,
)
_KINDS = 'text, a number, true, false, null, {"$blob": base64} or {"$int": digits}'


class Token(NamedTuple):
    """A piece of a statement; `depth` counts the brackets around it."""

    kind: str
    text: str
    start: int
    depth: int


def tokens(sql: str) -> Iterator[Token]:
    """The pieces of a statement, in SQLite's own reading of quotes and comments."""
    depth = 0
    for found in _TOKEN.finditer(sql):
        text = found[0]
        depth -= text == ")"
        yield Token(found.lastgroup or "other", text, found.start(), depth)
        depth += text == "("


def has_where(sql: str) -> bool:
    """Whether the statement itself has a WHERE, outside of brackets. It is a reserved word: no name is spelled so."""
    return any(
        token.kind == "word" and token.depth == 0 and token.text.upper() == "WHERE" for token in tokens(sql)
    )


def bare(sql: str) -> str:
    """The statement up to its last word, without semicolons and comments behind it."""
    end = 0
    for token in tokens(sql):
        if token.kind != "space" and token.text != ";":
            end = token.start + len(token.text)
    return sql[:end]


def without_parameters(sql: str) -> str:
    """The statement with NULL where values would be bound."""
    return "".join("NULL" if token.kind == "parameter" else token.text for token in tokens(sql))


def bind(params: object) -> Bound:
    """The values of a call as SQLite takes them: a list for `?`, an object for `:name`."""
    match params:
        case None:
            return ()
        case str():
            return bind(_parse(params))
        case list():
            return [_value(item) for item in params]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {str(name).lstrip(":@$"): _value(item) for name, item in params.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case _:
            raise Problem('`params` is a list of values for `?`, or an object {"name": value} for `:name`.')


def _parse(text: str) -> object:
    """Some clients send a list as the text of one."""
    import json

    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return [text] if isinstance(value, str) else value


def _value(item: Any) -> Value:
    match item:
        case None | str() | int() | float():
            return item
        case {"$blob": str(text), **rest} if not rest:
            try:
                return b64decode(text, validate=True)
            except (BadBase64, ValueError):
                raise Problem('{"$blob": ...} holds no base64.') from None
        case {"$int": str(text), **rest} if not rest and re.fullmatch(r"-?\d{1,19}", text):
            return int(text)
        case {"$real": "Infinity" | "-Infinity" as text, **rest} if not rest:
            return float(text)
        case _:
            raise Problem(f"Each of `params` is {_KINDS}.")
