"""A fetched page: its formats, its sections, and slices of its text. Knows no network and no MCP."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .download import Document
from .sniff import Kind

_HEADING = re.compile(r"^(#{1,6}) +(.+?)\s*#*$", re.MULTILINE)
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1`*\s*$", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*_`]")


class Rendering(NamedTuple):
    """The page in one format, and how it came about."""

    text: str
    title: str = ""
    stage: str = ""
    coverage: float = 1.0
    encoding: str = ""


class Heading(NamedTuple):
    """A heading of a page in Markdown, and where it stands."""

    level: int
    text: str
    start: int


@dataclass(slots=True)
class Page:
    """A document, what it is, and the renderings made of it so far."""

    document: Document
    kind: Kind
    media_type: str
    renderings: dict[str, Rendering] = field(default_factory=dict[str, Rendering])
    checked: float = 0.0
    """When it was last known to be current."""

    @property
    def size(self) -> int:
        """What it takes in memory, about."""
        return len(self.document.body) + sum(2 * len(made.text) for made in self.renderings.values()) + 2000


def outline(markdown: str) -> list[Heading]:
    """The headings, without what looks like one inside code."""
    code = [found.span() for found in _FENCE.finditer(markdown)]
    headings: list[Heading] = []
    at = 0
    for found in _HEADING.finditer(markdown):
        while at < len(code) and code[at][1] <= found.start():
            at += 1
        if at < len(code) and code[at][0] <= found.start():
            continue
        text = _MARKUP.sub(lambda mark: mark.group(1) or "", found.group(2)).strip()
        if text:
            headings.append(Heading(len(found.group(1)), text, found.start()))
    return headings


def find_section(markdown: str, wanted: str) -> tuple[int, int] | None:
    """Where the section under a heading begins and ends. The best match: whole words, then a part of them."""
    headings = outline(markdown)
    index = _match(headings, " ".join(wanted.split()).lstrip("# ").casefold())
    if index is None:
        return None
    chosen = headings[index]
    after = (heading.start for heading in headings[index + 1 :] if heading.level <= chosen.level)
    return chosen.start, next(after, len(markdown))


def _match(headings: Sequence[Heading], wanted: str) -> int | None:
    if not wanted:
        return None
    folded = [heading.text.casefold() for heading in headings]
    for matching in (
        (index for index, text in enumerate(folded) if text == wanted),
        (index for index, text in enumerate(folded) if text.startswith(wanted)),
        (index for index, text in enumerate(folded) if wanted in text),
    ):
        found = next(matching, None)
        if found is not None:
            return found
    return None
