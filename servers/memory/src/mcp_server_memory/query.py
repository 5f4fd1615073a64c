"""What somebody typed to find something: words, phrases in quotes, and a few filters. Everything else is text.

`ada love` finds entities with words that begin so; `"analytical engine"` a phrase; `type:person`, `since:2026-01-31`
(or `since:7d`) and `before:2026-01-31` narrow it. No other sign has a meaning.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from .folding import fold

LONGEST_QUERY = 2_000
MOST_TERMS = 32
_TERM = re.compile(r'(?:(type|since|before):)?("[^"]*"|\S+)')
_DAYS = re.compile(r"(\d{1,5})d")


class Term(NamedTuple):
    """A word or phrase, folded. A word also stands for the words that begin with it."""

    text: str
    exact: bool

    @property
    def has_letters(self) -> bool:
        """Whether there is something in it that an index of words knows."""
        return any(char.isalnum() for char in self.text)


class Query(NamedTuple):
    """What to look for. Times are milliseconds."""

    text: str
    terms: tuple[Term, ...]
    type: str | None = None
    since: int | None = None
    before: int | None = None


class QueryError(ValueError):
    """The query cannot be used; the text says what to do instead."""


def parse_query(text: str, now: datetime | None = None) -> Query:
    """Read a query. Hardly anything is wrong in it, because hardly anything is syntax."""
    if len(text) > LONGEST_QUERY:
        raise QueryError(f"The query has {len(text)} characters; use at most {LONGEST_QUERY}.")
    terms: list[Term] = []
    filters: dict[str, str] = {}
    for key, value in _TERM.findall(text):
        quoted = len(value) > 1 and value[0] == value[-1] == '"'
        bare = value[1:-1] if quoted else value
        if key:
            filters[key] = bare
        else:
            terms.append(_term(bare, quoted=quoted))
    kind = filters.get("type")
    return Query(
        fold(text).strip(),
        _useful(terms),
        None if kind is None else fold(kind),
        _moment(filters, "since", now),
        _moment(filters, "before", now),
    )


def _term(text: str, *, quoted: bool) -> Term:
    if not quoted and len(text) > 1:
        text = text.removesuffix("*")  # what many write for "begins with", which is meant anyway
    return Term(" ".join(fold(text).split()), quoted)


def _useful(terms: list[Term]) -> tuple[Term, ...]:
    """Signs without letters count only when nothing else was typed: `a & b` means a and b."""
    worded = [term for term in terms if term.has_letters]
    chosen = worded or [term for term in terms if term.text]
    return tuple(dict.fromkeys(chosen))[:MOST_TERMS]


def _moment(filters: dict[str, str], key: str, now: datetime | None) -> int | None:
    value = filters.get(key)
    if value is None:
        return None
    days = _DAYS.fullmatch(value)
    try:
        if days:
            when = (now or datetime.now(UTC)) - timedelta(days=int(days[1]))
        else:
            when = datetime.fromisoformat(value)
            when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return int(when.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise QueryError(
            f"`{key}:` takes a date such as {key}:2026-01-31 or a number of days such as {key}:7d; "
            "put it in quotes to search for it as text."
        ) from None
