"""How much text stands where: one pass over a parsed page, from the leaves to the root."""

import re
from typing import NamedTuple

from lxml.html import HtmlElement

_PROSE = {
    "p",
    "pre",
    "blockquote",
    "td",
    "th",
    "dd",
    "dt",
    "li",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "figcaption",
    "summary",
}


_SENTENCE_ENDS = (".", "!", "?", "\u2026", "\u3002", "\uff01", "\uff1f", "\u061f", "\u06d4", "\u0964")
# A character of these scripts says about as much as three letters.
_DENSE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")


def weigh(text: str) -> int:
    """How much a piece of text says, in letters."""
    text = text.strip()
    return len(text) if text.isascii() else len(text) + 2 * len(_DENSE.findall(text))


def _ends_a_sentence(element: HtmlElement) -> bool:
    """Whether the text that stands in an element itself is one that a writer has finished."""
    text = (element[-1].tail if len(element) else element.text) or ""
    return text.rstrip()[-1:] in _SENTENCE_ENDS


class Measure(NamedTuple):
    """Characters of text, of text inside links, number of links, and characters of prose."""

    text: int = 0
    linked: int = 0
    links: int = 0
    prose: int = 0

    @property
    def link_share(self) -> float:
        """Which part of the text is links."""
        return self.linked / self.text if self.text else 0.0


class Measures:
    """The measure of every element below a root. Valid until the tree is changed."""

    def __init__(self, root: HtmlElement) -> None:
        self._found: dict[HtmlElement, tuple[int, int, int, int]] = {}
        found = self._found
        # Reversed document order: children come before their parents.
        for element in reversed(list(root.iter())):
            text = weigh(element.text) if element.text else 0
            own = text
            linked = links = prose = 0
            for child in element:
                a, b, c, d = found[child]
                text += a
                linked += b
                links += c
                prose += d
                if child.tail:
                    length = weigh(child.tail)
                    text += length
                    own += length
            tag = element.tag
            if tag == "a":
                linked, links = text, links + 1
            if tag in _PROSE:
                prose = max(prose, text - linked)
            elif own >= 80 or (own >= 25 and _ends_a_sentence(element)):
                prose += own  # text that stands in a bare div is prose too
            found[element] = (text, linked, links, prose)

    def prose(self, element: HtmlElement) -> int:
        """Characters of prose in an element."""
        return self._found[element][3]

    def of(self, element: HtmlElement) -> Measure:
        """What was measured for an element."""
        return Measure(*self._found[element])
