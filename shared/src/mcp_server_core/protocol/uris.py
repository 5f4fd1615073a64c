"""URI templates (RFC 6570, all four levels): a template and values to a URI, and a URI back to values.

This file must not know what a URI names: no scheme is special, no path is resolved, no file is opened.

How `Template.match` reads a URI back, where the RFC leaves it open:

- `{x}` takes one segment: at least one character, none of `/ ? #`, and no bare `,` in `{x,y}`.
  `{+x}` takes at least one character of any kind. Both are always in the result.
- `{.x}`, `{/x}`, `{;x}`, `{?x}`, `{&x}`, `{#x}` may be missing; they are then missing from the result.
  The parameters of one `{?a,b}` (or `;`, `&`) come in any order; one that is unknown or repeated is no match.
- An exploded variable (`{/x*}`) is a list, any other a string: `{x}` reads `a,b` as one string.
- Where several readings fit, what may be missing is found rather than missed, and then the variable further
  left takes as much as it can: `{name}{.ext}` reads `a.b.txt` as `a.b` and `txt`, `{a}{b}` reads `xyz` as `xy`
  and `z`.
- Clients escape less than the RFC does (`note:///a,b!`), or more (`file:///C%3A/x`). So there are two readings:
  strict, where a value holds what expanding would write, and only if that fails loose, where it may hold all
  but the stops above.
- A variable named twice has one value: that reading is checked, no other is searched for.
- `%41` and `A` are the same, `%2F` and `/` are not (RFC 3986, 6.2.2.2). A character outside ASCII stands for
  its escapes (RFC 3987). Values are decoded once. Bad escapes, escapes that are no UTF-8, `%00`, control
  characters and whatever else cannot stand in a URI are no match.

What is matched from an expansion expands to it again, except where a URI cannot tell what it was made of:
mappings, lists not exploded, nothing or "" for `{x}` and `{+x}`, and escapes given to `{+x}`, which the RFC
passes through: text that may hold a `%` belongs in `{x}` or `{/x*}`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = ["Template", "is_template", "valid_uri"]

_Value = str | Sequence[str] | Mapping[str, str]

_UNRESERVED = r"A-Za-z0-9\-._~"
_RESERVED = r":/?#\[\]@!$&'()*+,;="
_ESCAPE = "%[0-9A-Fa-f]{2}"
_SEGMENT = rf"{_UNRESERVED}:@!$&'()*+,;="

# By what is forbidden: a class that names characters beyond Latin-1 takes 4 ms to compile.
_TEXT = re.compile(rf"""(?:[^\x00-\x20"%<>\\^`{{|}}\x7f-\x9f]++|{_ESCAPE})*+""")
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.\-]*+:(?://(?:[{_SEGMENT}\[\]]++|{_ESCAPE})*+)?"
    rf"(?:[{_SEGMENT}/?]++|{_ESCAPE})*+(?:#(?:[{_SEGMENT}/?]++|{_ESCAPE})*+)?"
)
_PIECE = re.compile(r"\{([^{}]*)\}|[^{}]+")
_VARIABLE = re.compile(
    rf"((?:[A-Za-z0-9_]|{_ESCAPE})(?:\.?(?:[A-Za-z0-9_]|{_ESCAPE}))*+)(?:(\*)|:([1-9][0-9]{{0,3}}))?"
)
_ESCAPES = re.compile(f"(?:{_ESCAPE})+")
_NOT_UNRESERVED = re.compile(f"[^{_UNRESERVED}]+")
_NOT_RESERVED = re.compile(f"[^{_UNRESERVED}{_RESERVED}%]+|%(?![0-9A-Fa-f]{{2}})")


class _Operator(NamedTuple):
    """A column of the table in RFC 6570, appendix A. `stops` is ours: what no value holds, read loosely."""

    first: str
    between: str
    named: bool
    if_empty: str
    reserved: bool
    stops: str


_OPERATORS = {
    "": _Operator("", ",", False, "", False, "/?#"),
    "+": _Operator("", ",", False, "", True, ""),
    "#": _Operator("#", ",", False, "", True, ""),
    ".": _Operator(".", ".", False, "", False, "/?#"),
    "/": _Operator("/", "/", False, "", False, "/?#"),
    ";": _Operator(";", ";", True, "", False, ";/?#"),
    "?": _Operator("?", "&", True, "=", False, "&#"),
    "&": _Operator("&", "&", True, "=", False, "&#"),
}


class _Variable(NamedTuple):
    name: str
    folded: str  # the name as it stands in a folded URI
    limit: int | None  # 3 for {x:3}
    explode: bool
    stops: str  # the characters of a folded URI that end a value


class _Expression(NamedTuple):
    operator: _Operator
    variables: list[_Variable]


_Found = list[tuple[_Variable, str | list[str]]]


def is_template(text: str) -> bool:
    """Whether `text` is a template; any brace makes it one, since none can stand in a URI."""
    return "{" in text or "}" in text


def valid_uri(text: str) -> bool:
    """Whether `text` has a scheme, only characters that RFC 3986 allows where they stand, and whole escapes."""
    return _URI.fullmatch(text) is not None


class Template:
    """One URI template, parsed once. Raises ValueError if the text is malformed."""

    __slots__ = ("_head", "_parts", "_readings", "_tail", "text", "variables")

    text: str
    variables: tuple[str, ...]

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = _parse(text)
        specs = [spec for part in self._parts if not isinstance(part, str) for spec in part.variables]
        self.variables = tuple(dict.fromkeys(spec.name for spec in specs))
        middle = [_fold_literal(text, part) if isinstance(part, str) else part for part in self._parts]
        # The text at both ends is compared at once: most URIs that belong to another template go no further.
        self._head = self._tail = ""
        if middle and isinstance(head := middle[0], str):
            self._head = head
            del middle[0]
        if middle and isinstance(tail := middle[-1], str):
            self._tail = tail
            del middle[-1]
        strict = [part if isinstance(part, str) else _make_strict(part) for part in middle]
        self._readings = (strict, middle)

    def __repr__(self) -> str:
        return f"Template({self.text!r})"

    def expand(self, values: Mapping[str, _Value]) -> str:
        """The URI for these values; a variable without a value, or with an empty list, leaves nothing behind.

        Raises ValueError for a list where the template asks for a prefix, and for a lone surrogate.
        """
        return "".join(
            _encode(part, reserved=True) if isinstance(part, str) else _expand(part, values)
            for part in self._parts
        )

    def match(self, uri: str) -> dict[str, str | list[str]] | None:
        """The values that expand to this URI, or None if there are none.

        Passes over the URI a number of times that the template alone decides: there is nothing to backtrack
        into. 100 kB against eight variables took 5 to 25 ms, and 70 when it held 33 000 values.
        """
        folded = _fold(uri)
        if folded is None or not (folded.startswith(self._head) and folded.endswith(self._tail)):
            return None
        if len(folded) < len(self._head) + len(self._tail):
            return None
        tape = _Tape(folded[len(self._head) : len(folded) - len(self._tail)])
        for parts in self._readings:
            found = _read(tape, parts)
            if found is not None:
                return found
        return None


def _parse(text: str) -> list[str | _Expression]:
    parts: list[str | _Expression] = []
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


def _parse_expression(text: str, body: str) -> _Expression:
    symbol = body[:1] if body[:1] in _OPERATORS else ""
    operator = _OPERATORS[symbol]
    specs = body[len(symbol) :].split(",")
    variables: list[_Variable] = []
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
        folded = _fold_literal(text, name)
        variables.append(_Variable(name, folded, int(limit) if limit else None, bool(explode), stops))
    return _Expression(operator, variables)


def _make_strict(expression: _Expression) -> _Expression:
    """The expression that takes only what expanding it would write."""
    operator, variables = expression
    stops = _ESCAPED_RESERVED if operator.reserved else _BARE_RESERVED
    separator = "" if operator.named else operator.between
    return _Expression(
        operator,
        [each._replace(stops=stops.replace(separator, "") if each.explode else stops) for each in variables],
    )


# Expanding


def _encode(text: str, *, reserved: bool) -> str:
    return (_NOT_RESERVED if reserved else _NOT_UNRESERVED).sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _expand(expression: _Expression, values: Mapping[str, _Value]) -> str:
    operator = expression.operator
    items: list[str] = []
    for variable in expression.variables:
        value = values.get(variable.name)
        if value is not None:
            items += _expand_variable(operator, variable, value)
    return operator.first + operator.between.join(items) if items else ""


def _expand_variable(operator: _Operator, variable: _Variable, value: _Value) -> list[str]:
    """What one variable adds to its expression: one item, or one for each member if it is exploded."""

    def encode(text: str) -> str:
        return _encode(text, reserved=operator.reserved)

    def pair(name: str, text: str) -> str:
        return f"{name}={text}" if text or not operator.named else name + operator.if_empty

    name = variable.name
    if isinstance(value, str):
        text = encode(value[: variable.limit])
        return [pair(name, text) if operator.named else text]
    if variable.limit:
        raise ValueError(f"{name!r} is a list or a mapping: {{{name}:{variable.limit}}} takes a string")
    if isinstance(value, Mapping):
        pairs = [(encode(key), encode(text)) for key, text in value.items()]
        if variable.explode:
            return [pair(key, text) for key, text in pairs]
        members = [text for both in pairs for text in both]
    else:
        members = [encode(text) for text in value]
        if variable.explode:
            return [pair(name, text) for text in members] if operator.named else members
    if not members:
        return []
    text = ",".join(members)
    return [pair(name, text) if operator.named else text]


# Folding: one character for each character a URI stands for
#
# An escaped character that means something else when bare (%2F) becomes a lone surrogate, which no URI holds.
# So lengths count characters, nothing can be cut inside an escape, and nothing is decoded twice.

_SET_APART = {code: 0xDC00 + code for code in range(128) if _NOT_UNRESERVED.match(chr(code))}
_PLAIN = {apart: code for code, apart in _SET_APART.items()}
_NUL = "\udc00"
_BARE_RESERVED = ":/?#[]@!$&'()*+,;="
_ESCAPED_RESERVED = _BARE_RESERVED.translate(_SET_APART)


def _fold(uri: str) -> str | None:
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


def _fold_literal(text: str, literal: str) -> str:
    folded = _fold(literal)
    if folded is None:
        raise ValueError(f"URI template {text!r}: {literal!r} is not UTF-8 once decoded")
    return folded


def _unfold(folded: str) -> str:
    return folded if folded.isascii() else folded.translate(_PLAIN)


# Matching: sets of positions as the bits of one integer
#
# Bit k is the position k characters before the end and, in a set of characters, the character left of it. A step
# to the left is a shift, and one addition runs a whole set through all runs of allowed characters at once (the
# carry does it; "MatchStar" in the Parabix papers). That is why the sets are built from right to left.


class _Tape:
    """A folded URI, and the sets of positions in it."""

    __slots__ = ("_marks", "size", "text")

    END = 1

    def __init__(self, text: str) -> None:
        self.text = text
        self.size = len(text)
        self._marks: dict[str, int] = {}

    def mark(self, char: str) -> int:
        """The set of all characters equal to this one."""
        marks = self._marks.get(char)
        if marks is None:
            marks = 0
            if char in self.text:
                marks = int("1".join(["0" * len(piece) for piece in self.text.split(char)]), 2)
            self._marks[char] = marks
        return marks

    def free(self, stops: str) -> int:
        """The set of all characters but these."""
        rest = (1 << self.size) - 1
        for char in stops:
            rest ^= self.mark(char)
        return rest

    def before(self, ends: int, literal: str) -> int:
        """The positions from which the literal leads to one of the ends."""
        for char in reversed(literal):
            if not ends:
                break
            ends = (ends & self.mark(char)) << 1
        return ends

    def holds(self, positions: int, position: int) -> bool:
        return bool(positions >> (self.size - position) & 1)

    def find(self, stops: str, start: int) -> int:
        """Where the first of these characters stands, or the end."""
        return min((at for char in stops if (at := self.text.find(char, start)) >= 0), default=self.size)

    def last(self, wanted: list[int], low: int, high: int) -> int | None:
        """The last position from low to high in the first set that has one."""
        for positions in wanted:
            left = positions >> (self.size - high)
            position = high + 1 - (left & -left).bit_length()
            if left and position >= low:
                return position
        return None


class _Step(NamedTuple):
    """Where a variable may start with the first prefix or the one between, and may end; or a group of named ones."""

    first: int
    later: int
    ends: list[int]  # the most wanted first


def _union(sets: list[int]) -> int:
    union = 0
    for positions in sets:
        union |= positions
    return union


def _flood(ends: int, free: int, limit: int | None) -> int:
    """The positions from which free characters, `limit` of them at most, lead to an end."""
    if limit is None:
        return (((ends & free) + free) ^ free) | ends
    done = 0
    while done < limit:
        step = min(done + 1, limit - done)
        ends |= (ends & _runs(free, step)) << step
        done += step
    return ends


def _runs(free: int, length: int) -> int:
    """The characters that end a run of this length."""
    done = 1
    while done < length:
        step = min(done, length - done)
        free &= free >> step
        done += step
    return free


def _read(tape: _Tape, parts: list[str | _Expression]) -> dict[str, str | list[str]] | None:
    # From right to left, everything at once: where can each part start so that the rest fits?
    wanted = [tape.END]
    plans: list[list[_Step]] = []
    for part in reversed(parts):
        if isinstance(part, str):
            plan, wanted = [], [tape.before(ends, part) for ends in wanted]
        else:
            make_plan = _plan_named if part.operator.named else _plan_values
            plan, wanted = make_plan(tape, part, wanted)
        plans.append(plan)
    if not tape.holds(_union(wanted), 0):
        return None
    # From left to right, one by one: each part takes the best end that leaves the rest possible.
    found: _Found = []
    position = 0
    for part, plan in zip(parts, reversed(plans), strict=True):
        if isinstance(part, str):
            position += len(part)
        else:
            read = _read_named if part.operator.named else _read_values
            end = read(tape, part, plan, position, found)
            if end is None:
                return None
            position = end
    return _settle(found)


def _plan_values(tape: _Tape, expression: _Expression, after: list[int]) -> tuple[list[_Step], list[int]]:
    """One step for each variable, and where the whole expression may start."""
    operator = expression.operator
    plan: list[_Step] = []
    wanted = later = after
    for variable in reversed(expression.variables):
        free = tape.free(variable.stops)
        ends = later
        if operator.first:  # the prefix says that it is there, so it may be empty, or be missing
            values = [_flood(each, free, variable.limit) for each in (ends[0], _union(ends))]
            firsts = [tape.before(each, operator.first) for each in values]
            laters = [tape.before(each, operator.between) for each in values]
            wanted = firsts + wanted
            later = laters + later
        else:
            rests = [
                _flood(each, free, variable.limit and variable.limit - 1) for each in (*ends, _union(ends))
            ]
            firsts = [(each & free) << 1 for each in rests]
            laters = [tape.before(each, operator.between) for each in firsts]
            wanted, later = firsts[:-1], laters[:-1]
        plan.append(_Step(firsts[-1], laters[-1], ends))
    return plan[::-1], wanted


def _read_values(
    tape: _Tape, expression: _Expression, plan: list[_Step], start: int, found: _Found
) -> int | None:
    """Add the values found from `start` on, and tell where they end."""
    operator = expression.operator
    begun = False
    for variable, step in zip(expression.variables, plan, strict=True):
        if not tape.holds(step.later if begun else step.first, start):
            continue
        start += len(operator.between if begun else operator.first)
        begun = True
        high = tape.find(variable.stops, start)
        if variable.limit is not None:
            high = min(high, start + variable.limit)
        end = tape.last(step.ends, start if operator.first else start + 1, high)
        if end is None:
            return None
        text = tape.text[start:end]
        if variable.explode:
            found.append((variable, [_unfold(piece) for piece in text.split(operator.between)]))
        else:
            found.append((variable, _unfold(text)))
        start = end
    return start


def _plan_named(tape: _Tape, expression: _Expression, after: list[int]) -> tuple[list[_Step], list[int]]:
    """One step for the whole group. It leaves repeats and prefix lengths to the reading."""
    operator = expression.operator
    free = tape.free(expression.variables[0].stops)
    everywhere = (2 << tape.size) - 1
    closed = everywhere ^ ((free | tape.mark("=")) << 1)  # `;x` alone is an empty x: no value can follow
    names = [variable.folded for variable in expression.variables]
    # `&name=` is run through like the characters of a value, but only as a whole: nothing may end inside it.
    crossings = inside = 0
    for name in names:
        for head, ends in ((f"{operator.between}{name}=", everywhere), (operator.between + name, closed)):
            heads = tape.before(ends, head)
            if heads:
                crossings |= heads >> 1 | heads >> len(head)
                for width in range(1, len(head)):
                    inside |= heads >> width
    ends = [positions & ~inside for positions in after]
    starts = [0, 0]
    for index, wanted in enumerate((ends[0], _union(ends))):
        values = _flood(wanted, free | crossings, None)
        for name in names:
            starts[index] |= tape.before(values, f"{operator.first}{name}=")
            starts[index] |= tape.before(values & closed, operator.first + name)
    return [_Step(starts[-1], 0, ends)], starts + after


def _read_named(
    tape: _Tape, expression: _Expression, plan: list[_Step], start: int, found: _Found
) -> int | None:
    """Add the parameters found from `start` on, and tell where they end."""
    (step,) = plan
    if not tape.holds(step.first, start):
        return start
    operator = expression.operator
    stops = expression.variables[0].stops
    others = stops.replace(operator.between, "").replace("=", "")
    region = tape.text[start + 1 : tape.find(others, start + 1)]
    unread: dict[str, list[_Variable]] = {}
    for variable in expression.variables:
        unread.setdefault(variable.folded, []).append(variable)
    spans: list[tuple[_Variable, int, int]] = []
    high = start
    for piece in region.split(operator.between):
        name, equals, text = piece.partition("=")
        candidates = unread.get(name)
        if not candidates:
            break
        variable = candidates[0] if candidates[0].explode else candidates.pop(0)
        low = high + 1 + len(name) + len(equals)
        value = text.partition("=")[0] if "=" in stops else text
        high = low + len(value[: variable.limit])
        spans.append((variable, low, high))
        if len(text) > high - low:
            break
    end = tape.last(step.ends, spans[0][1], high)
    if end is None:
        return None
    lists: dict[str, list[str]] = {}
    for variable, low, high in spans:
        if low > end:
            break
        text = _unfold(tape.text[low : min(high, end)])
        if not variable.explode:
            found.append((variable, text))
        elif variable.name in lists:
            lists[variable.name].append(text)
        else:
            lists[variable.name] = [text]
            found.append((variable, lists[variable.name]))
    return end


def _settle(found: _Found) -> dict[str, str | list[str]] | None:
    """One value for each name. What {x} took goes before what {x:3} took, and must begin with it."""
    values: dict[str, str | list[str]] = {}
    for variable, value in sorted(found, key=lambda each: -(each[0].limit or 10_000)):
        whole = values.setdefault(variable.name, value)
        if whole[: variable.limit] != value:
            return None
    return values
