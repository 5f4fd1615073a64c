"""A fetched page: its formats, its sections, and slices of its text. Knows no network and no MCP."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from .conversion import Format
from .download import Document
from .sniff import Kind

View = Literal["raw"] | Format
# None of these can be made to look at the same text twice: a page is free to try.
_LANDMARK = re.compile(r"^(?:#{1,6} |`{3,}|~{3,})[^\n]*", re.MULTILINE)
_FENCE = re.compile(r"`{3,}|~{3,}")
_MARKUP = re.compile(r"\[([^\[\]]*)\]\([^()]*\)|[*_`]")
_MAX_HEADINGS = 5000
_MAX_HEADING = 1000


class Heading(NamedTuple):
    """A heading of a page in Markdown, and where it stands."""

    level: int
    text: str
    start: int


class Rendering(NamedTuple):
    """The page in one format, and how it came about."""

    text: str
    title: str = ""
    stage: str = ""
    coverage: float = 1.0
    encoding: str = ""
    headings: Sequence[Heading] = ()


@dataclass(slots=True)
class Page:
    """A document, what it is, and the renderings made of it so far."""

    document: Document
    kind: Kind
    media_type: str
    renderings: dict[View, Rendering] = field(default_factory=dict[View, Rendering])
    checked: float = 0.0
    """When it was last known to be current."""
    earlier: dict[View, int] = field(default_factory=dict[View, int])
    """What the texts of the copy before this one hashed to: somebody may have read its first slice."""

    def form(self, view: View) -> View:
        """The view that is made for the one asked for: text is text, and a PDF has no other form."""
        return "raw" if self.kind == "text" else "markdown" if self.kind == "pdf" else view

    def differs(self, view: View) -> bool:
        """Whether the copy before this one had another text."""
        form = self.form(view)
        known = self.earlier.get(form)
        return known is not None and known != hash(self.renderings[form].text)

    @property
    def size(self) -> int:
        """What it takes in memory, about."""
        return len(self.document.body) + sum(2 * len(made.text) for made in self.renderings.values()) + 2000


def outline(markdown: str) -> list[Heading]:
    """The headings, without what looks like one inside code."""
    headings: list[Heading] = []
    fence = ""
    for found in _LANDMARK.finditer(markdown):
        line = found.group()
        if line[0] != "#":
            fence = _fence_after(line, fence)
        elif not fence:
            marks, _, rest = line[:_MAX_HEADING].partition(" ")
            text = _MARKUP.sub(lambda mark: mark.group(1) or "", _without_end_marks(rest)).strip()
            if text:
                headings.append(Heading(len(marks), text, found.start()))
                if len(headings) == _MAX_HEADINGS:
                    break
    return headings


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open behind a line: a block of code ends at one as long as that which began it."""
    found = _FENCE.match(line)
    marks = found.group() if found else ""
    if not fence:
        return marks
    ends = marks.startswith(fence) and not line[len(marks) :].strip()
    return "" if ends else fence


def _without_end_marks(text: str) -> str:
    """A heading may be closed by marks of its own: `## Title ##`. `## C#` is not."""
    bare = text.rstrip()
    ended = bare.rstrip("#")
    return ended if not ended or ended.endswith(" ") else bare


def find_section(made: Rendering, wanted: str) -> tuple[int, int] | None:
    """Where the section under a heading begins and ends. The best match: whole words, then a part of them."""
    headings = made.headings
    index = _match(headings, " ".join(wanted.split()).lstrip("# ").casefold())
    if index is None:
        return None
    chosen = headings[index]
    after = (heading.start for heading in headings[index + 1 :] if heading.level <= chosen.level)
    return chosen.start, next(after, len(made.text))


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
