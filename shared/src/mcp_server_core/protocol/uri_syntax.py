"""The grammar of URI templates: parsing them, and folding a URI into one character for each it stands for.

Used by uris.py, which is the public face, and by uri_match.py.
"""

import re
from typing import NamedTuple

UNRESERVED = r"A-Za-z0-9\-._~"
RESERVED = r":/?#\[\]@!$&'()*+,;="
ESCAPE = "%[0-9A-Fa-f]{2}"

# By what is forbidden: a class that names characters beyond Latin-1 takes 4 ms to compile.
_TEXT = re.compile(rf"""(?:[^\x00-\x20"%<>\\^`{{|}}\x7f-\x9f]++|{ESCAPE})*+""")
_PIECE = re.compile(r"\{([^{}]*)\}|[^{}]+")
_VARIABLE = re.compile(
    rf"((?:[A-Za-z0-9_]|{ESCAPE})(?:\.?(?:[A-Za-z0-9_]|{ESCAPE}))*+)(?:(\*)|:([1-9][0-9]{{0,3}}))?"
)
_ESCAPES = re.compile(f"(?:{ESCAPE})+")
NOT_UNRESERVED = re.compile(f"[^{UNRESERVED}]+")


class Operator(NamedTuple):
    """A column of the table in RFC 6570, appendix A. `stops` is ours: what no value holds, read loosely."""

    first: str
    between: str
    named: bool
    if_empty: str
    reserved: bool
    stops: str


OPERATORS = {
    "": Operator("", ",", False, "", False, "/?#"),
    "+": Operator("", ",", False, "", True, ""),
    "#": Operator("#", ",", False, "", True, ""),
    ".": Operator(".", ".", False, "", False, "/?#"),
    "/": Operator("/", "/", False, "", False, "/?#"),
    ";": Operator(";", ";", True, "", False, ";/?#"),
    "?": Operator("?", "&", True, "=", False, "&#"),
    "&": Operator("&", "&", True, "=", False, "&#"),
}


class Variable(NamedTuple):
    name: str
    folded: str  # the name as it stands in a folded URI
    limit: int | None  # 3 for {x:3}
    explode: bool
    stops: str  # the characters of a folded URI that end a value


class Expression(NamedTuple):
    operator: Operator
    variables: list[Variable]


# Folding: one character for each character a URI stands for
#
# An escaped character that means something else when bare (%2F) becomes a lone surrogate, which no URI holds.
# So lengths count characters, nothing can be cut inside an escape, and nothing is decoded twice.

_SET_APART = {code: 0xDC00 + code for code in range(128) if NOT_UNRESERVED.match(chr(code))}
_PLAIN = {apart: code for code, apart in _SET_APART.items()}
_NUL = "\udc00"
_BARE_RESERVED = ":/?#[]@!$&'()*+,;="
_ESCAPED_RESERVED = _BARE_RESERVED.translate(_SET_APART)


def fold(uri: str) -> str | None:
    if _TEXT.fullmatch(uri) is None:
        return None
    try:
        uri.encode()  # which finds lone surrogates
        folded = _ESCAPES.sub(_fold_escapes, uri)
    except UnicodeError:
        return None
    # RFC 3986, 7.3: a name that ends early in C. Nothing can be called that, so nothing is lost.
    return None if _NUL in folded else folded


def _fold_escapes(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("%", "")).decode().translate(_SET_APART)


def fold_literal(text: str, literal: str) -> str:
    folded = fold(literal)
    if folded is None:
        raise ValueError(f"URI template {text!r}: {literal!r} is not UTF-8 once decoded")
    return folded


def unfold(folded: str) -> str:
    return folded if folded.isascii() else folded.translate(_PLAIN)


def parse(text: str) -> list[str | Expression]:
    parts: list[str | Expression] = []
    position = 0
    while position < len(text):
        piece = _PIECE.match(text, position)
        if piece is None:
            raise ValueError(f"URI template {text!r}: the brace at {position} has no partner")
        if piece[0][0] == "{":
            parts.append(_parse_expression(text, piece[1]))
        elif (valid := _TEXT.match(piece[0])) and valid.end() < len(piece[0]):
            bad = position + valid.end()
            raise ValueError(f"URI template {text!r}: {text[bad]!r} at {bad} must be percent-encoded")
        else:
            parts.append(piece[0])
        position = piece.end()
    return parts


def _parse_expression(text: str, body: str) -> Expression:
    symbol = body[:1] if body[:1] in OPERATORS else ""
    operator = OPERATORS[symbol]
    specs = body[len(symbol) :].split(",")
    variables: list[Variable] = []
    for spec in specs:
        parsed = _VARIABLE.fullmatch(spec)
        if parsed is None:
            raise ValueError(
                f"URI template {text!r}: {spec!r} in {{{body}}} is no variable (name, name:3, name*)"
            )
        name, explode, limit = parsed.groups()
        stops = operator.stops
        if explode and not operator.named:
            stops = stops.replace(operator.between, "")
        elif symbol == "" and len(specs) > 1:
            stops += ","
        folded = fold_literal(text, name)
        variables.append(Variable(name, folded, int(limit) if limit else None, bool(explode), stops))
    return Expression(operator, variables)


def make_strict(expression: Expression) -> Expression:
    """The expression that takes only what expanding it would write."""
    operator, variables = expression
    stops = _ESCAPED_RESERVED if operator.reserved else _BARE_RESERVED
    separator = "" if operator.named else operator.between
    return Expression(
        operator,
        [each._replace(stops=stops.replace(separator, "") if each.explode else stops) for each in variables],
    )
